// OwnershipChecks that exist: what their status says, and when they go.
#include "webhook/publish/ownership_checks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/admission_fixture.h"
#include "tests/support/fake_cluster_api.h"

namespace truce {
namespace ownership_checks_test {

class OwnershipChecksTest : public AdmissionFixture {
 protected:
  OwnObject CheckOf(const std::string& ns, const std::string& bucket) const {
    OwnObject out;
    out.kind = checks_.kinds().front();
    out.ns = ns;
    out.name = "before";
    out.uid = "uid-" + ns + "-" + bucket;
    out.generation = 1;
    out.created = FormatTimestamp(clock_.Now());
    out.spec = ParseYaml("declarations: [{type: s3/Bucket, name: " + bucket + "}]", "t").value();
    return out;
  }

  OwnVerdict Take(const OwnObject& object) { return checks_.Take(std::vector{object}).front(); }

  FakeClusterApi api_;
  bool is_ready_ = true;
  const InForce<AdmissionPolicy>& policy_ = service_.in_force();
  OwnershipChecks checks_{{store_, clock_, policy_, [this] { return is_ready_; }, api_}};
};

TEST_F(OwnershipChecksTest, WhatWasReviewedSaysWhatWasChecked) {
  const OwnObject check = CheckOf("team-a", "reports");
  checks_.NoteAdmitted(Uid{check.uid});
  const OwnVerdict verdict = Take(check);
  EXPECT_EQ(verdict.outcome, "allowed");
  EXPECT_TRUE(verdict.accepted);
  EXPECT_EQ(verdict.message, "1 declaration checked, nothing prevents it");
  EXPECT_TRUE(Contents().owners.empty());
}

TEST_F(OwnershipChecksTest, WhatNobodyAskedAboutIsNeverAllowed) {
  const OwnVerdict free = Take(CheckOf("team-a", "reports"));
  EXPECT_EQ(free.outcome, "unverified");
  EXPECT_FALSE(free.accepted);
  EXPECT_EQ(free.message,
            "Truce was not asked when this check was created: its webhook configuration is missing "
            "or leaves checks out, or Truce was restarted that moment; create the check again. "
            "What it would say: 1 declaration checked, nothing prevents it");
  ASSERT_TRUE(Send(Claim("team-b", "files", "taken", "reporting")).allowed);
  const OwnVerdict taken = Take(CheckOf("team-a", "taken"));
  EXPECT_EQ(taken.outcome, "unverified");
  EXPECT_EQ(taken.message,
            "Truce was not asked when this check was created: its webhook configuration is missing "
            "or leaves checks out, or Truce was restarted that moment; create the check again. "
            "What it would say: S3 bucket \"taken\" is owned by service \"reporting\", declared by "
            "ObjectStorage team-b/files.\nChoose another name, for example \"taken-team-a\". "
            "To take it over, ask service \"reporting\" to run: `truce transfer s3/Bucket/taken "
            "--to team-a --reason '…'` [duplicate-ownership]");
}

// What was admitted, as a duplicate is while the webhook only warns, and is refused by now.
TEST_F(OwnershipChecksTest, CauseAndRemedyStandOnLinesOfTheirOwn) {
  ASSERT_TRUE(Send(Claim("team-b", "files", "taken", "reporting")).allowed);
  const OwnObject check = CheckOf("team-a", "taken");
  checks_.NoteAdmitted(Uid{check.uid});
  const OwnVerdict verdict = Take(check);
  EXPECT_EQ(verdict.outcome, "denied");
  EXPECT_EQ(
      verdict.message,
      "S3 bucket \"taken\" is owned by service \"reporting\", declared by ObjectStorage "
      "team-b/files.\nChoose another name, for example \"taken-team-a\". To take it over, ask "
      "service \"reporting\" to run: `truce transfer s3/Bucket/taken --to team-a --reason "
      "'…'` [duplicate-ownership]");
}

// I8: nobody knows who wrote it, so its status tells nothing of others in their own name.
TEST_F(OwnershipChecksTest, WhatNobodyAskedAboutTellsNothingOfOtherNamespaces) {
  ASSERT_TRUE(Send(Claim("team-a", "files", "reports", "reporting")).allowed);
  OwnObject check = CheckOf("team-b", "free");
  check.spec = ParseYaml(
                   "manifests: [{apiVersion: platform.example.org/v1alpha1, "
                   "kind: ObjectStorage, metadata: {name: copy, namespace: team-a}, "
                   "spec: {parameters: {name: reports}}}]",
                   "t")
                   .value();
  const OwnVerdict verdict = Take(check);
  EXPECT_EQ(verdict.outcome, "unverified");
  EXPECT_EQ(verdict.message.find("files"), std::string::npos) << verdict.message;
  EXPECT_EQ(verdict.message.find("reporting"), std::string::npos) << verdict.message;
}

TEST_F(OwnershipChecksTest, WhatWasSaidStays) {
  OwnObject check = CheckOf("team-a", "reports");
  check.said = OwnVerdict{true, "1 declaration checked", "allowed"};
  EXPECT_EQ(Take(check), *check.said);
  check.uid = "uid-other";
  check.said->outcome = "unknown";
  EXPECT_EQ(Take(check).outcome, "unverified");
}

TEST_F(OwnershipChecksTest, WhatCannotBeToldYetIsLookedAtSoonAgain) {
  const OwnObject check = CheckOf("team-a", "reports");
  checks_.NoteAdmitted(Uid{check.uid});
  is_ready_ = false;
  EXPECT_EQ(Take(check).outcome, "unknown");
  EXPECT_LE(*checks_.again(), std::chrono::seconds(5));
  is_ready_ = true;
  EXPECT_EQ(Take(check).outcome, "allowed");
  EXPECT_GE(*checks_.again(), std::chrono::seconds(30));
}

// Which checks another server reviewed is heard of a moment later.
TEST_F(OwnershipChecksTest, OfSeveralServersAnotherOneMayHaveBeenAsked) {
  OwnershipChecks checks{
      {store_, clock_, policy_, [] { return true; }, api_, std::chrono::seconds(5)}};
  const std::vector<OwnObject> both = {CheckOf("team-a", "one"), CheckOf("team-a", "two")};
  for (const OwnVerdict& verdict : checks.Take(both)) EXPECT_EQ(verdict.outcome, "unknown");
  EXPECT_LE(*checks.again(), std::chrono::seconds(5));
  clock_.Advance(std::chrono::seconds(2));
  checks.NoteAdmitted(Uid{both.front().uid});
  EXPECT_EQ(checks.Take(both).front().outcome, "allowed");
  EXPECT_EQ(checks.Take(both).back().outcome, "unknown");
  clock_.Advance(std::chrono::seconds(3));
  EXPECT_EQ(checks.Take(both).front().outcome, "allowed");
  EXPECT_EQ(checks.Take(both).back().outcome, "unverified");
}

TEST_F(OwnershipChecksTest, OldOnesAreDeletedAFewAtOnce) {
  std::vector<OwnObject> many;
  for (int i = 0; i < 150; ++i) many.push_back(CheckOf("team-a", "b-" + std::to_string(i)));
  const auto deleted = [&] {
    return api_.deleted.With([](const auto& all) { return all.size(); });
  };
  checks_.Take(many);
  EXPECT_EQ(deleted(), 0U);
  clock_.Advance(kOwnershipCheckLife + std::chrono::seconds(1));
  many.push_back(CheckOf("team-a", "young"));
  checks_.Take(many);
  EXPECT_EQ(deleted(), 100U);
}

}  // namespace ownership_checks_test
}  // namespace truce
