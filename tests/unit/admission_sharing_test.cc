// Rules that rest on agreements, on the way of a review: attachments and observers with and without
// share, and deletions of what is protected or in use.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "registry/ownership/rows.h"
#include "tests/support/admission_fixture.h"

namespace truce {
namespace admission_sharing_test {

constexpr std::chrono::hours kDay{24};

class AdmissionSharingTest : public AdmissionFixture {
 protected:
  void Judge(Rule rule, Mode mode = Mode::kEnforce) {
    ChangePolicy([&](AdmissionPolicy& policy) {
      policy.modes.rules[static_cast<std::size_t>(rule)] = {{mode, {}, {}, {}, "truce.yaml:1"}};
    });
  }

  // A namespaced bucket of `ns`.
  static Sent BucketIn(const std::string& ns, const std::string& object) {
    Sent sent = Bucket(object, "prod-artifacts");
    sent.group = "s3.aws.m.upbound.io";
    sent.ns = ns;
    sent.uid = "uid-" + object;
    sent.review = "review-" + object;
    return sent;
  }
  static Sent Observer(const std::string& ns) {
    Sent sent = BucketIn(ns, "observer-" + ns);
    sent.spec = R"({"managementPolicies":["Observe"],"forProvider":{"region":"us-west-2"}})";
    return sent;
  }
  static Sent Deletion(Sent sent) {
    sent.operation = "DELETE";
    sent.review = "delete";
    return sent;
  }

  void Agree(AgreementKind kind, ShareLevel level, std::optional<Timestamp> until,
             const std::string& actor = "ann") {
    Agreement agreement;
    agreement.id = {"aaaaaaaaaaaaa"};
    agreement.kind = kind;
    agreement.key = Contents().owners.at(0).key;
    if (kind == AgreementKind::kShare) agreement.party = {"ns:local/team-b"};
    agreement.level = level;
    agreement.until = until;
    agreement.reason = "customer data";
    agreement.actor = actor;
    Changes changes;
    changes.put_agreements = {agreement};
    const auto decide = [&](const Facts&) { return changes; };
    ASSERT_TRUE(memory_.Apply({}, decide, Deadline::max()).ok());
  }
};

TEST_F(AdmissionSharingTest, ObserversNeedAShareWhereTheRuleIsOn) {
  ASSERT_TRUE(Send(BucketIn("team-a", "mine")).allowed);
  EXPECT_TRUE(Send(Observer("team-d")).allowed) << "off until configured";
  Judge(Rule::kObserverWithoutShare);
  const Answered refused = Send(Observer("team-b"));
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(Found(), "observer-without-share enforce");
  EXPECT_TRUE(Send(Observer("team-a")).allowed) << "one's own";
  Agree(AgreementKind::kShare, ShareLevel::kObserve, {});
  EXPECT_TRUE(Send(Observer("team-b")).allowed);
  EXPECT_TRUE(sink_.last().findings.empty());
  EXPECT_FALSE(Send(Observer("team-c")).allowed);
}

TEST_F(AdmissionSharingTest, AShareWarnsBeforeItEndsAndBreaksNothingThatRuns) {
  ASSERT_TRUE(Send(BucketIn("team-a", "mine")).allowed);
  Judge(Rule::kObserverWithoutShare);
  Agree(AgreementKind::kShare, ShareLevel::kObserve, clock_.Now() + kDay);
  const Sent observer = Observer("team-b");
  const Answered soon = Send(observer);
  EXPECT_TRUE(soon.allowed);
  ASSERT_EQ(soon.warnings.size(), 1U);
  EXPECT_EQ(soon.warnings[0],
            "truce: the share of S3 bucket prod-artifacts ends on 2026-11-22T08:00:00Z");
  clock_.Advance(kDay);
  Sent update = observer;
  update.operation = "UPDATE";
  update.review = "update";
  update.old_spec = observer.spec;
  update.spec =
      R"({"managementPolicies":["Observe"],"forProvider":{"region":"us-west-2","tags":{"a":"b"}}})";
  update.old_metadata = update.metadata;
  const Answered goes_on = Send(update);
  EXPECT_TRUE(goes_on.allowed) << "a running consumer is never broken by time alone";
  EXPECT_EQ(goes_on.warnings.size(), 1U);
  Sent anew = observer;
  anew.uid = "another-life";
  anew.review = "anew";
  EXPECT_FALSE(Send(anew).allowed);
}

TEST_F(AdmissionSharingTest, AProtectionFromGitIsLiftedThere) {
  const Sent bucket = BucketIn("team-a", "mine");
  ASSERT_TRUE(Send(bucket).allowed);
  Agree(AgreementKind::kProtection, ShareLevel::kObserve, {},
        "OwnershipGrant local/team-a/artifacts");
  EXPECT_FALSE(Send(Deletion(bucket)).allowed);
  EXPECT_EQ(OnlyFinding().remedy,
            "To delete it, remove spec.protection from OwnershipGrant team-a/artifacts. To keep it "
            "in AWS, first set spec.managementPolicies: [\"Observe\"] on its managed resource.");
}

TEST_F(AdmissionSharingTest, AProtectedResourceIsNotDeleted) {
  const Sent bucket = BucketIn("team-a", "mine");
  ASSERT_TRUE(Send(bucket).allowed);
  Agree(AgreementKind::kProtection, ShareLevel::kObserve, {});
  const Answered refused = Send(Deletion(bucket));
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(OnlyFinding().cause,
            "The deletion of Bucket team-a/mine would delete S3 bucket \"prod-artifacts\", which "
            "is protected: customer data.");
  EXPECT_EQ(OnlyFinding().remedy,
            "To delete it, lift the protection: `truce protect s3/Bucket/prod-artifacts --off "
            "--reason '…'`. To keep it in AWS, first set spec.managementPolicies: [\"Observe\"] on "
            "its managed resource.");
  Sent going = Deletion(bucket);
  going.metadata += R"(,"deletionTimestamp":"2026-11-21T07:59:30Z")";
  EXPECT_TRUE(Send(going).allowed) << "I10";
  Judge(Rule::kDeletionProtection, Mode::kWarn);
  EXPECT_FALSE(Send(Deletion(bucket)).allowed) << "whatever the mode of the rule";
  Sent other = BucketIn("team-a", "other");
  EXPECT_TRUE(Send(Deletion(other)).allowed) << "unknown objects delete nothing known";
}

TEST_F(AdmissionSharingTest, OverridesAndExemptionsAreAboveAMark) {
  const Sent bucket = BucketIn("team-a", "mine");
  ASSERT_TRUE(Send(bucket).allowed);
  Agree(AgreementKind::kProtection, ShareLevel::kObserve, {});
  ChangePolicy([&](AdmissionPolicy& policy) {
    policy.modes.overrides = {{"prod-artifacts", {}, {}, {}, clock_.Now() + kDay, "moved"}};
  });
  EXPECT_TRUE(Send(Deletion(bucket)).allowed);
  clock_.Advance(kDay);
  EXPECT_FALSE(Send(Deletion(bucket)).allowed) << "it is over";
  ChangePolicy([&](AdmissionPolicy& policy) {
    Exemption exemption;
    exemption.rule = Rule::kDeletionProtection;
    exemption.scope.ns = "team-a";
    policy.modes.exemptions = {exemption};
  });
  EXPECT_TRUE(Send(Deletion(bucket)).allowed);
}

// What is marked is known to the registry alone: nobody waits for it (I10).
TEST_F(AdmissionSharingTest, DeletionsWaitForTheRegistryOnlyWhereTheRuleIsOn) {
  const Sent bucket = BucketIn("team-a", "mine");
  service_.SetReady(false);
  EXPECT_TRUE(Send(Deletion(bucket)).allowed);
}

TEST_F(AdmissionSharingTest, WhatKeepsTheResourceMayBeDeleted) {
  Sent bucket = BucketIn("team-a", "mine");
  bucket.spec = R"({"managementPolicies":["Create","Update","Observe"],)"
                R"("forProvider":{"region":"us-west-2"}})";
  ASSERT_TRUE(Send(bucket).allowed);
  Agree(AgreementKind::kProtection, ShareLevel::kObserve, {});
  Judge(Rule::kDeletionProtection);
  EXPECT_TRUE(Send(Deletion(bucket)).allowed);
}

TEST_F(AdmissionSharingTest, SharedAndObservedResourcesAreProtectedToo) {
  const Sent bucket = BucketIn("team-a", "mine");
  ASSERT_TRUE(Send(bucket).allowed);
  Judge(Rule::kDeletionProtection);
  EXPECT_TRUE(Send(Deletion(bucket)).allowed);
  Agree(AgreementKind::kShare, ShareLevel::kAttach, clock_.Now() + kDay);
  EXPECT_FALSE(Send(Deletion(bucket)).allowed);
  EXPECT_EQ(OnlyFinding().cause,
            "The deletion of Bucket team-a/mine would delete S3 bucket \"prod-artifacts\", which "
            "is shared with namespace team-b.");
  clock_.Advance(kDay);
  EXPECT_TRUE(Send(Deletion(bucket)).allowed) << "the share has ended";
  ASSERT_TRUE(Send(Observer("team-b")).allowed);
  EXPECT_FALSE(Send(Deletion(bucket)).allowed);
  EXPECT_EQ(OnlyFinding().cause,
            "The deletion of Bucket team-a/mine would delete S3 bucket \"prod-artifacts\", which "
            "is observed by 1 declaration of others.");
}

// Who deletes a claim learns what others lose with it, before any configuration.
TEST_F(AdmissionSharingTest, TheDeletionOfAClaimWhoseResourceOthersUseIsWarnedOf) {
  const Sent claim = Claim("team-a", "files", "prod-artifacts", "orders");
  ASSERT_TRUE(Send(claim).allowed);
  EXPECT_TRUE(Send(Deletion(claim)).warnings.empty());
  Agree(AgreementKind::kShare, ShareLevel::kObserve, clock_.Now() + kDay);
  Answered answer = Send(Deletion(claim));
  EXPECT_TRUE(answer.allowed);
  ASSERT_EQ(answer.warnings.size(), 1U);
  EXPECT_EQ(answer.warnings[0],
            "truce: would delete S3 bucket prod-artifacts, which is protected or in use");
  EXPECT_EQ(sink_.last().findings, std::vector<std::string>{"deletion-protection warn"});
  Sent collector = Deletion(claim);
  collector.user = kCrossplane;
  EXPECT_TRUE(Send(collector).warnings.empty()) << "it was told to whoever deleted what is above";
  clock_.Advance(kDay);
  EXPECT_TRUE(Send(Deletion(claim)).warnings.empty()) << "the share has ended";
  ASSERT_TRUE(Send(Observer("team-b")).allowed);
  EXPECT_EQ(Send(Deletion(claim)).warnings.size(), 1U) << "observed";
  Judge(Rule::kDeletionProtection);
  EXPECT_FALSE(Send(Deletion(claim)).allowed);
  Judge(Rule::kDeletionProtection, Mode::kOff);
  EXPECT_TRUE(Send(Deletion(claim)).warnings.empty());
}

TEST_F(AdmissionSharingTest, AClaimThatKeepsItsResourceIsNot) {
  Sent bucket = BucketIn("team-a", "mine");
  bucket.spec = R"({"managementPolicies":["Create","Update","Observe"],)"
                R"("forProvider":{"region":"us-west-2"}})";
  ASSERT_TRUE(Send(bucket).allowed);
  Agree(AgreementKind::kShare, ShareLevel::kObserve, clock_.Now() + kDay);
  EXPECT_TRUE(Send(Deletion(bucket)).warnings.empty());
}

}  // namespace admission_sharing_test
}  // namespace truce
