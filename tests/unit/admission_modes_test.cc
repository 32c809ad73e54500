// AdmissionService: what the modes, overrides and unsure types of a policy change of an answer.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/support/admission_fixture.h"

namespace truce {
namespace admission_modes_test {

using AdmissionModesTest = AdmissionFixture;

TEST_F(AdmissionModesTest, WarnModeAllowsWarnsAndRecordsTheConflict) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kWarn; });
  Send(Bucket("one", "prod-artifacts"));
  const Answered answer = Send(Bucket("two", "prod-artifacts"));
  EXPECT_TRUE(answer.allowed);
  ASSERT_EQ(answer.warnings.size(), 1U);
  EXPECT_EQ(answer.warnings[0],
            "truce: S3 bucket prod-artifacts belongs to Bucket one; both will fight over it");
  EXPECT_EQ(sink_.last().findings, (std::vector<std::string>{"duplicate-ownership warn"}));
  EXPECT_EQ(memory_.Counts().conflicts, 1U);
}

TEST_F(AdmissionModesTest, AuditModeTellsTheLogOnly) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.types["s3/Bucket"] = Mode::kAudit; });
  Send(Bucket("one", "prod-artifacts"));
  const Answered answer = Send(Bucket("two", "prod-artifacts"));
  EXPECT_TRUE(answer.allowed);
  EXPECT_TRUE(answer.warnings.empty());
  EXPECT_EQ(sink_.last().findings, (std::vector<std::string>{"duplicate-ownership audit"}));
}

TEST_F(AdmissionModesTest, ModeOffKeepsRowsAndFindsNothing) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kOff; });
  Send(Bucket("one", "prod-artifacts"));
  EXPECT_TRUE(Send(Bucket("two", "prod-artifacts")).allowed);
  EXPECT_TRUE(sink_.last().findings.empty());
  EXPECT_EQ(Contents().rows.size(), 2U);
}

struct OverrideRow {
  const char* reason;
  Override rule;
  bool allowed;
};

TEST_F(AdmissionModesTest, ATimedOverrideAuditsWhatItNames) {
  const Timestamp later = clock_.Now() + std::chrono::minutes(5);
  const Timestamp past = clock_.Now();
  const std::vector<OverrideRow> rows = {
      {"name of the resource", {.name = "prod-artifacts", .until = later, .reason = "r"}, true},
      {"name of the object, as a resource's",
       {.name = "artifacts", .until = later, .reason = "r"},
       false},
      {"name of the object", {.object = "artifacts", .until = later, .reason = "r"}, true},
      {"name of the resource, as an object's",
       {.object = "prod-artifacts", .until = later, .reason = "r"},
       false},
      {"another name", {.name = "prod", .until = later, .reason = "r"}, false},
      {"namespace", {.ns = "team-b", .until = later, .reason = "r"}, true},
      {"namespace of the owner", {.ns = "team-a", .until = later, .reason = "r"}, false},
      {"group", {.group = "platform.example.org", .until = later, .reason = "r"}, true},
      {"another group", {.group = "s3.aws.upbound.io", .until = later, .reason = "r"}, false},
      {"ended this moment", {.ns = "team-b", .until = past, .reason = "r"}, false},
      {"names nothing", {.until = later, .reason = "r"}, false},
  };
  Send(Claim("team-a", "first", "prod-artifacts", "service-a"));
  for (const OverrideRow& row : rows) {
    ChangePolicy([&](AdmissionPolicy& policy) { policy.modes.overrides = {row.rule}; });
    Sent claim = Claim("team-b", "artifacts", "prod-artifacts", "service-b");
    claim.dry_run = true;
    EXPECT_EQ(Send(claim).allowed, row.allowed) << row.reason;
    EXPECT_EQ(sink_.last().override_reason, row.allowed ? "r" : "") << row.reason;
  }
}

TEST_F(AdmissionModesTest, AnOverrideOfANamespaceReachesWhatItsClaimsCompose) {
  Send(Bucket("one", "prod-artifacts"));
  ChangePolicy([&](AdmissionPolicy& policy) {
    policy.modes.overrides = {
        {.ns = "team-b", .until = clock_.Now() + std::chrono::hours(1), .reason = "migration"}};
  });
  Sent composite;
  composite.group = "platform.example.org";
  composite.version = "v1alpha1";
  composite.kind = "XObjectStorage";
  composite.name = "artifacts-x";
  composite.uid = "uid-x";
  composite.review = "review-x";
  composite.user = kCrossplane;
  composite.spec =
      R"({"claimRef":{"apiVersion":"platform.example.org/v1alpha1","kind":"ObjectStorage","namespace":"team-b","name":"artifacts"}})";
  ASSERT_TRUE(Send(Claim("team-b", "artifacts", "prod-artifacts", "service-b")).allowed);
  ASSERT_TRUE(Send(composite).allowed);
  Sent composed = Bucket("artifacts-x-1", "prod-artifacts");
  composed.user = kCrossplane;
  composed.metadata +=
      R"(,"ownerReferences":[{"apiVersion":"platform.example.org/v1alpha1","kind":"XObjectStorage","name":"artifacts-x","uid":"uid-x","controller":true}])";
  EXPECT_TRUE(Send(composed).allowed);
  EXPECT_EQ(sink_.last().override_reason, "migration");
  composed.name = "stray";
  composed.uid = "uid-stray";
  composed.review = "review-stray";
  composed.metadata = Bucket("stray", "prod-artifacts").metadata;
  EXPECT_FALSE(Send(composed).allowed);
}

TEST_F(AdmissionModesTest, UnsureTypesWarnUntilTheOperatorSaysDeny) {
  // The first type of the catalogue that is not researched and is named by its external name.
  const TypeSpec* unsure = nullptr;
  const KindSpec* kind = nullptr;
  for (const TypeSpec& type : present_.catalogue->types()) {
    if (type.certainty == Certainty::kResearched || type.parts.size() != 1 || type.attachment ||
        type.scope != Scope::kAccountRegion ||
        type.parts[0].source != KeyPart::Source::kExternalName) {
      continue;
    }
    for (const KindSpec& candidate : type.kinds) {
      if (candidate.flavour == Flavour::kUpjetCluster) kind = &candidate;
    }
    if (kind == nullptr) continue;
    unsure = &type;
    break;
  }
  ASSERT_NE(unsure, nullptr);
  const auto declare = [&](const std::string& name) {
    Sent sent = Managed("x", kind->kind, name, R"({"region":"us-west-2"})");
    sent.group = kind->group;
    sent.metadata = R"(,"annotations":{"crossplane.io/external-name":"shared-name"})";
    return sent;
  };
  ASSERT_TRUE(Send(declare("one")).allowed);
  Sent second = declare("two");
  second.dry_run = true;
  const Answered warned = Send(second);
  EXPECT_TRUE(warned.allowed);
  EXPECT_EQ(warned.warnings.size(), 1U) << warned.body << unsure->name;
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.unsure = UnsureAction::kDeny; });
  EXPECT_FALSE(Send(second).allowed);
  ChangePolicy([&](AdmissionPolicy& policy) {
    policy.modes.unsure_types[unsure->name] = UnsureAction::kWarn;
  });
  EXPECT_TRUE(Send(second).allowed);
}

}  // namespace admission_modes_test
}  // namespace truce
