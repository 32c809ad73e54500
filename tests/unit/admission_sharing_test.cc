// Rules that rest on agreements, on the way of a review: attachments and observers with and without
// share, and deletions of what is protected or in use.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "registry/ownership/ledger.h"
#include "registry/ownership/lists/import.h"
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
    agreement.resource = Contents().owners.at(0).id;
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

// Two managers of one bucket: the deletion of either takes it from both.
TEST_F(AdmissionSharingTest, TheDeletionOfOneOfTwoManagersIsToldOrRefused) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kWarn; });
  const Sent first = Bucket("a", "shared");
  const Sent second = Bucket("b", "shared");
  ASSERT_TRUE(Send(first).allowed);
  ASSERT_TRUE(Send(second).allowed);
  for (const Mode global : {Mode::kAudit, Mode::kWarn, Mode::kEnforce}) {
    ChangePolicy([&](AdmissionPolicy& policy) { policy.modes.global = global; });
    const Answered warned = Send(Deletion(second));
    EXPECT_TRUE(warned.allowed) << "until the rule itself is set";
    ASSERT_EQ(warned.warnings.size(), 1U);
    EXPECT_EQ(warned.warnings[0], "truce: would delete S3 bucket shared, which others manage too");
    EXPECT_EQ(Send(Deletion(first)).warnings.size(), 1U) << "the owner's as well";
  }
  Judge(Rule::kDeletionProtection);
  EXPECT_FALSE(Send(Deletion(first)).allowed);
  EXPECT_EQ(OnlyFinding().cause,
            "The deletion of Bucket a would delete S3 bucket \"shared\", which is managed by "
            "Bucket b, too.");
  EXPECT_FALSE(Send(Deletion(second)).allowed);
  EXPECT_EQ(OnlyFinding().cause,
            "The deletion of Bucket b would delete S3 bucket \"shared\", which is managed by "
            "Bucket a as its owner of record, too.");
  EXPECT_EQ(OnlyFinding().remedy,
            "To leave it to them, first `kubectl patch bucket.s3.aws.upbound.io b --type merge -p "
            "'{\"spec\":{\"managementPolicies\":[\"Observe\"]}}'`, then delete it; `truce resolve "
            "s3/Bucket/shared` tells all steps.");
  // Who steps back may go, at once: the watch shows it later.
  Sent back = Deletion(second);
  back.spec = R"({"managementPolicies":["Observe"],"forProvider":{"region":"us-west-2"}})";
  const Answered gone = Send(back);
  EXPECT_TRUE(gone.allowed);
  EXPECT_TRUE(gone.warnings.empty());
  Sent going = Deletion(second);
  going.metadata += R"(,"deletionTimestamp":"2026-11-21T07:59:30Z")";
  EXPECT_TRUE(Send(going).allowed) << "I10";
  Judge(Rule::kDeletionProtection, Mode::kOff);
  EXPECT_TRUE(Send(Deletion(second)).warnings.empty());
}

TEST_F(AdmissionSharingTest, ManagersThatAreNoOthersAreNotCounted) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kWarn; });
  Sent keeps = Bucket("a", "shared");
  keeps.spec = R"({"managementPolicies":["Create","Update","Observe"],)"
               R"("forProvider":{"region":"us-west-2"}})";
  ASSERT_TRUE(Send(keeps).allowed);
  ASSERT_TRUE(Send(Bucket("b", "shared")).allowed);
  Judge(Rule::kDeletionProtection);
  EXPECT_TRUE(Send(Deletion(keeps)).allowed) << "its deletion deletes nothing";
  EXPECT_FALSE(Send(Deletion(Bucket("b", "shared"))).allowed) << "of which the other loses it";
  const Sent alone = Bucket("c", "alone");
  ASSERT_TRUE(Send(alone).allowed);
  EXPECT_TRUE(Send(Deletion(alone)).allowed);
}

// A record is a side: what a list names, what somebody left orphaned.
TEST_F(AdmissionSharingTest, TheDeletionOfWhatAListOwnsIsTold) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kWarn; });
  const Sent bucket = Bucket("a", "shared");
  ASSERT_TRUE(Send(bucket).allowed);
  const Owner owner = Contents().owners.at(0);
  const auto import = [&](const AllFacts& facts) {
    const PartyRules parties;
    const IdSource ids = RandomIds();
    Ledger ledger(facts, clock_.Now(), ids, parties);
    ImportedResource item;
    item.resource.names = {{owner.key, false}};
    item.resource.identity = owner.identity;
    const ImportList list{"terraform:net", {item}};
    ApplyImport(list, PlanImport(list, facts), "ann", ledger);
    return ledger.Take();
  };
  ASSERT_TRUE(memory_.Apply({}, import, Deadline::max()).ok());
  const Answered warned = Send(Deletion(bucket));
  EXPECT_TRUE(warned.allowed);
  ASSERT_EQ(warned.warnings.size(), 1U);
  EXPECT_EQ(OnlyFinding().cause,
            "The deletion of Bucket a would delete S3 bucket \"shared\", which is managed by list "
            "\"terraform:net\" of what is owned outside, too.");
  Judge(Rule::kDeletionProtection);
  EXPECT_FALSE(Send(Deletion(bucket)).allowed);
}

// A status shows a queue of another account, which another party has there.
TEST_F(AdmissionSharingTest, TheDeletionOfWhatShowsAnothersArnIsTold) {
  const std::string one = "111111111111";
  const std::string two = "222222222222";
  ChangePolicy([&](AdmissionPolicy& policy) {
    for (const char* ns : {"team-a", "team-b"}) {
      policy.identity.accounts[{"aws.m.upbound.io", "ProviderConfig", ns, "one"}] =
          ns == std::string("team-a") ? one : two;
    }
  });
  const Sent others = QueueOf("team-b", "jobs");
  Sent own = QueueOf("team-a", "jobs");
  ASSERT_TRUE(Send(others).allowed);
  ASSERT_TRUE(Send(own).allowed);
  EXPECT_TRUE(Send(Deletion(own)).warnings.empty());
  own.status = R"({"atProvider":{"arn":"arn:aws:sqs:eu-west-1:222222222222:jobs"}})";
  ASSERT_EQ(Send(Deletion(own)).warnings.size(), 1U);
  EXPECT_EQ(
      OnlyFinding().cause,
      "The deletion of Queue team-a/jobs would delete SQS queue \"jobs\", which is managed by "
      "Queue team-b/jobs as its owner of record, too.");
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
