// Rule status-names behind /validate-status: only providers and restorers say what a status shows.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/admission_fixture.h"

namespace truce {
namespace status_guard_test {

constexpr std::string_view kVelero = "system:serviceaccount:velero:velero";
constexpr std::string_view kOwn = "arn:aws:sqs:eu-west-1:111111111111:jobs";
constexpr std::string_view kForeign = "arn:aws:sqs:eu-west-1:222222222222:jobs";

class StatusGuard : public AdmissionFixture {
 protected:
  StatusGuard() {
    ChangePolicy([](AdmissionPolicy& policy) { policy.restorers.emplace_back(kVelero); });
    write_ = Managed("sqs", "Queue", "jobs", R"({"region":"eu-west-1"})");
    write_.operation = "UPDATE";
    write_.sub_resource = "status";
    write_.old_status = Shows(kOwn);
    write_.status = Shows(kForeign);
  }

  static std::string Shows(std::string_view arn) {
    return R"({"atProvider":{"arn":")" + std::string(arn) + R"("},"conditions":[]})";
  }

  Answered By(std::string_view user) {
    write_.user = user;
    return Status(write_);
  }

  Sent write_;
};

TEST_F(StatusGuard, RefusesATenantsArn) {
  const Answered answer = By("ann");
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.code, 403);
  EXPECT_EQ(OnlyFinding().cause,
            "User \"ann\" may not change status.atProvider.arn of Queue jobs: it tells which cloud "
            "resource the object has, and only its provider knows that.");
  EXPECT_EQ(OnlyFinding().remedy,
            "Leave it to the provider, which writes it at its next look. If the user is a provider "
            "or restores backups, an operator adds it to the setting providers or restorers.");
  EXPECT_EQ(Found(), "status-names enforce");
  EXPECT_EQ(sink_.last().verdict, Verdict::kDenied);
  EXPECT_TRUE(Contents().owners.empty());
}

TEST_F(StatusGuard, RefusesAnArnThatComesOrGoes) {
  write_.old_status = R"({"conditions":[]})";
  EXPECT_FALSE(By("ann").allowed);
  std::swap(write_.status, write_.old_status);
  EXPECT_FALSE(By("ann").allowed);
  // Other forms than a text, which nobody reads, are changes too; null is none.
  write_.old_status = Shows(kOwn);
  write_.status = R"({"atProvider":{"arn":["x"]}})";
  EXPECT_FALSE(By("ann").allowed);
  write_.status = R"({"atProvider":{"arn":null}})";
  write_.old_status = "{}";
  EXPECT_TRUE(By("ann").allowed);
}

// Ids and URLs tell names as ARNs do.
TEST_F(StatusGuard, RefusesATenantsIdOrUrl) {
  const auto shows = [](const std::string& field, const std::string& text) {
    return R"({"atProvider":{")" + field + R"(":")" + text + R"("}})";
  };
  const std::string url = "https://sqs.eu-west-1.amazonaws.com/222222222222/jobs";
  for (const char* field : {"id", "url"}) {
    write_.old_status = shows(field, "https://sqs.eu-west-1.amazonaws.com/111111111111/jobs");
    write_.status = shows(field, url);
    EXPECT_FALSE(By("ann").allowed) << field;
    EXPECT_EQ(OnlyFinding().cause,
              "User \"ann\" may not change status.atProvider." + std::string(field) +
                  " of Queue jobs: it tells which cloud resource the object has, and only its "
                  "provider knows that.");
    EXPECT_TRUE(By(kProvider).allowed) << field;
  }
  write_ = Managed("ec2", "SecurityGroup", "web", R"({"region":"eu-west-1","name":"web"})");
  write_.operation = "UPDATE";
  write_.sub_resource = "status";
  write_.old_status = "{}";
  write_.status = shows("id", "sg-0a1b2c3d4e5f60718");
  EXPECT_FALSE(By("ann").allowed);
  // Of a bucket nothing else than its ARN is read.
  write_ = Bucket("logs", "logs");
  write_.operation = "UPDATE";
  write_.sub_resource = "status";
  write_.old_status = "{}";
  write_.status = shows("id", "logs");
  EXPECT_TRUE(By("ann").allowed);
}

TEST_F(StatusGuard, LetsProvidersAndRestorersWrite) {
  EXPECT_TRUE(By(kProvider).allowed);
  EXPECT_TRUE(By(kVelero).allowed);
  // Not the composite controller, nor whoever only looks like one of them.
  EXPECT_FALSE(By(kCrossplane).allowed);
  EXPECT_FALSE(By("system:serviceaccount:team-a:provider-aws-s3").allowed);
  EXPECT_FALSE(By("system:serviceaccount:velero:velero2").allowed);
}

TEST_F(StatusGuard, LetsEverythingElseThrough) {
  write_.status = R"({"atProvider":{"arn":")" + std::string(kOwn) +
                  R"(","tags":{"a":"b"}},"conditions":[{"type":"Ready","status":"False"}]})";
  EXPECT_TRUE(By("ann").allowed);
  write_.status = Shows(kForeign);
  write_.kind = "Unheard";
  EXPECT_TRUE(By("ann").allowed);
  write_.kind = "Queue";
  write_.sub_resource = "scale";
  EXPECT_TRUE(By("ann").allowed);
  write_.sub_resource.clear();  // such a status is not stored
  EXPECT_TRUE(By("ann").allowed);
  write_.sub_resource = "status";
  write_.operation = "CREATE";
  EXPECT_TRUE(By("ann").allowed);
}

TEST_F(StatusGuard, FollowsTheModeOfTheTypeOverridesAndRecovery) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.types["sqs/Queue"] = Mode::kWarn; });
  const Answered warned = By("ann");
  EXPECT_TRUE(warned.allowed);
  ASSERT_EQ(warned.warnings.size(), 1U);
  EXPECT_EQ(warned.warnings[0],
            "truce: status.atProvider.arn of Queue jobs is its provider's to write");
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.types["sqs/Queue"] = Mode::kOff; });
  EXPECT_TRUE(By("ann").warnings.empty());
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.types.clear(); });
  EXPECT_FALSE(By("ann").allowed);
  ChangePolicy([](AdmissionPolicy& policy) { policy.recovery = "restored"; });
  EXPECT_EQ(By("ann").warnings.size(), 1U);
  ChangePolicy([&](AdmissionPolicy& policy) {
    policy.recovery.clear();
    policy.modes.overrides = {
        {"", "jobs", "", "", *ParseTimestamp("2026-11-21T09:00:00Z"), "provider is away"}};
  });
  EXPECT_TRUE(By("ann").allowed);
  EXPECT_EQ(Found(), "status-names audit");
}

// The last version that an object shows decides what its end frees.
TEST_F(StatusGuard, HoldsForWhatTerminates) {
  write_.metadata = R"(,"deletionTimestamp":"2026-11-21T07:59:30Z")";
  write_.old_metadata = write_.metadata;
  EXPECT_FALSE(By("ann").allowed);
}

TEST_F(StatusGuard, NeedsNoRegistryAndJudgesDryRunsAlike) {
  service_.SetReady(false);
  EXPECT_FALSE(By("ann").allowed);
  EXPECT_TRUE(By(kProvider).allowed);
  write_.dry_run = true;
  EXPECT_FALSE(By("ann").allowed);
  EXPECT_EQ(Status(Bucket("x", "y")).status, 200);
}

}  // namespace status_guard_test
}  // namespace truce
