// Histories of grants declared in Git: given, changed, withdrawn, void, and never said twice.
#include <gtest/gtest.h>

#include <string>

#include "registry/ownership/declared_grant.h"
#include "registry/ownership/ledger.h"
#include "tests/model/scene.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace declared_grants_test {

using scene::BucketKey;
using scene::ManagedBucket;
using scene::SlotOf;

class DeclaredGrants : public ::testing::Test {
 protected:
  DeclaredGrants() {
    grant_.actor = kDeclaredActor;
    grant_.actor += "local/team-a/files";
    grant_.party = {"ns:local/team-a"};
    grant_.reason = "declared";
    grant_.transfer_mark = "grant.said.1";
  }

  static ResourceId K(const Ledger& ledger) { return scene::IdNamed(BucketKey("k"), ledger); }

  ObjectFacts Live(const Slot& slot, const std::string& uid) {
    return registry_.Live(slot, uid, "k");
  }
  GrantOutcome Out(const DeclaredGrant& grant) {
    GrantOutcome outcome;
    registry_.Run([&](Ledger& ledger) { outcome = CarryOut(K(ledger), grant, ledger); });
    return outcome;
  }
  void Back(const DeclaredGrant& grant) {
    registry_.Run([&](Ledger& ledger) { TakeBack(K(ledger), grant.actor, grant.party, ledger); });
  }
  std::vector<Agreement> All() const { return registry_.Contents().agreements; }
  std::size_t AuditLines() const { return registry_.Contents().audit.size(); }

  const PartyId team_b_{"ns:local/team-b"};
  const PartyId team_c_{"ns:local/team-c"};
  DeclaredGrant grant_;
  testing::StrictStore store_;
  scene::Registry registry_{store_};
};

TEST_F(DeclaredGrants, SharesAreGivenOnceChangedAndTakenBack) {
  Live(SlotOf("Bucket", "team-a", "a"), "u1");
  grant_.shares = {{{team_b_, ShareLevel::kObserve, {}}, "reads"},
                   {{team_c_, ShareLevel::kAttach, {}}, "policy"}};
  EXPECT_EQ(Out(grant_),
            (GrantOutcome{true, "shared with namespace team-b; shared with namespace team-c"}));
  const std::size_t lines = AuditLines();
  EXPECT_TRUE(Out(grant_).accepted);
  EXPECT_EQ(AuditLines(), lines) << "carried out again: nothing happens";
  grant_.shares.pop_back();
  grant_.shares[0].terms.level = ShareLevel::kAttach;
  EXPECT_TRUE(Out(grant_).accepted);
  ASSERT_EQ(All().size(), 1U);
  EXPECT_EQ(All()[0].level, ShareLevel::kAttach);
  Back(grant_);
  EXPECT_TRUE(All().empty());
}

TEST_F(DeclaredGrants, SharesOfOthersStay) {
  Live(SlotOf("Bucket", "team-a", "a"), "u1");
  registry_.Run([&](Ledger& ledger) {
    EXPECT_TRUE(
        GiveShare(K(ledger), {team_c_, ShareLevel::kObserve, {}}, {"ann", "by hand"}, ledger).ok());
  });
  DeclaredGrant other = grant_;
  other.actor += "-2";
  other.shares = {{{team_b_, ShareLevel::kAttach, {}}, "r"}};
  EXPECT_TRUE(Out(other).accepted);
  grant_.shares = {{{team_b_, ShareLevel::kObserve, {}}, "r"}};
  const GrantOutcome refused = Out(grant_);
  EXPECT_FALSE(refused.accepted);
  EXPECT_NE(refused.message.find("by OwnershipGrant local/team-a/files-2 already"),
            std::string::npos)
      << refused.message;
  Back(grant_);
  EXPECT_EQ(All().size(), 2U);
}

TEST_F(DeclaredGrants, AShareThatEndedIsNotGivenAgain) {
  Live(SlotOf("Bucket", "team-a", "a"), "u1");
  grant_.shares = {{{team_b_, ShareLevel::kObserve, registry_.now()}, "r"}};
  EXPECT_EQ(Out(grant_), (GrantOutcome{true, "the share with namespace team-b has ended"}));
  EXPECT_TRUE(All().empty());
}

TEST_F(DeclaredGrants, AProtectionIsGivenOnceChangedAndTakenBack) {
  Live(SlotOf("Bucket", "team-a", "a"), "u1");
  grant_.protection = "customer data";
  EXPECT_EQ(Out(grant_), (GrantOutcome{true, "protected against deletion"}));
  const std::size_t lines = AuditLines();
  EXPECT_TRUE(Out(grant_).accepted);
  EXPECT_EQ(AuditLines(), lines) << "carried out again: nothing happens";
  grant_.protection = "audited";
  EXPECT_TRUE(Out(grant_).accepted);
  ASSERT_EQ(All().size(), 1U);
  EXPECT_EQ(All()[0].kind, AgreementKind::kProtection);
  EXPECT_EQ(All()[0].reason, "audited");
  registry_.Run([&](Ledger& ledger) {
    EXPECT_TRUE(Unprotect(K(ledger), {"ann", "by hand"}, ledger).ok());
  });
  EXPECT_TRUE(Out(grant_).accepted);
  EXPECT_EQ(All().size(), 1U) << "what is declared is given again";
  grant_.protection.reset();
  grant_.shares = {{{team_b_, ShareLevel::kObserve, {}}, "reads"}};
  EXPECT_EQ(Out(grant_), (GrantOutcome{true, "shared with namespace team-b"}));
  ASSERT_EQ(All().size(), 1U);
  EXPECT_EQ(All()[0].kind, AgreementKind::kShare);
}

TEST_F(DeclaredGrants, AProtectionOfOthersStays) {
  Live(SlotOf("Bucket", "team-a", "a"), "u1");
  registry_.Run([&](Ledger& ledger) {
    EXPECT_TRUE(Protect(K(ledger), {"ann", "by hand"}, ledger).ok());
  });
  grant_.protection = "customer data";
  EXPECT_EQ(Out(grant_), (GrantOutcome{true,
                                       "already protected against deletion, by command; this "
                                       "object leaves that as it is"}));
  Back(grant_);
  ASSERT_EQ(All().size(), 1U);
  EXPECT_EQ(All()[0].reason, "by hand") << "whoever may write grants takes no mark away";
}

TEST_F(DeclaredGrants, AProtectionEndsWithItsObjectWhileThePartyOwns) {
  const Slot slot = SlotOf("Bucket", "team-a", "a");
  const ObjectFacts old = Live(slot, "u1");
  grant_.protection = "customer data";
  EXPECT_TRUE(Out(grant_).accepted);
  const std::optional<Owner> owner = registry_.OwnerOf("k");
  ASSERT_TRUE(owner);
  EXPECT_EQ(DeclaringObject(All().at(0), *owner), "OwnershipGrant team-a/files");
  Owner other = *owner;
  other.root.ns = "team-b";
  EXPECT_EQ(DeclaringObject(All().at(0), other), "") << "it says nothing about what team-b owns";
  DeclaredGrant theft = grant_;
  theft.actor = std::string(kDeclaredActor) + "local/team-b/theft";
  theft.party = team_b_;
  EXPECT_FALSE(Out(theft).accepted);
  Back(theft);
  EXPECT_EQ(All().size(), 1U);
  Back(grant_);
  EXPECT_TRUE(All().empty());
}

TEST_F(DeclaredGrants, IsVoidWhileAnotherPartyOwns) {
  grant_.shares = {{{team_b_, ShareLevel::kObserve, {}}, "r"}};
  grant_.protection = "customer data";
  grant_.transfer = TransferTerms{team_b_, "Bucket/team-b/b"};
  EXPECT_FALSE(Out(grant_).accepted);
  Live(SlotOf("Bucket", "team-c", "c"), "u1");
  const GrantOutcome refused = Out(grant_);
  EXPECT_EQ(refused.message,
            "nothing of it is in force: the resource is not owned by namespace team-a");
  EXPECT_TRUE(All().empty());
  Back(grant_);
}

TEST_F(DeclaredGrants, AHandOverIsSaidOnce) {
  const ObjectFacts old = Live(SlotOf("Bucket", "team-a", "a"), "u1");
  grant_.transfer = TransferTerms{team_b_, "Bucket/team-b/b"};
  EXPECT_EQ(Out(grant_).message, "offered to namespace team-b");
  EXPECT_EQ(Out(grant_).message, "offered to namespace team-b");
  ASSERT_EQ(All().size(), 1U);
  const PublicId offer = All()[0].id;
  registry_.Run([&](Ledger& ledger) {
    EXPECT_TRUE(AcceptTransfer(offer, "", {"bob", "thanks"}, ledger).ok());
  });
  EXPECT_EQ(Out(grant_).message, "being handed over to Bucket/team-b/b");
  ObjectFacts observing = old;
  observing.version = 12;
  observing.resources = {scene::Bucket("k", Intent::kObserves)};
  registry_.See(observing);
  const Slot successor = SlotOf("Bucket", "team-b", "b");
  EXPECT_TRUE(registry_.Create(ManagedBucket(successor, "u2", "k", Intent::kDeletes, 20)).allowed);
  EXPECT_EQ(registry_.OwnerOf("k")->root, successor);
  EXPECT_EQ(Out(grant_).message, "handed over; this object says nothing any more");
  EXPECT_TRUE(All().empty());
}

TEST_F(DeclaredGrants, AHandOverThatWasDeclinedIsNotRepeated) {
  Live(SlotOf("Bucket", "team-a", "a"), "u1");
  grant_.transfer = TransferTerms{team_b_, ""};
  EXPECT_TRUE(Out(grant_).accepted);
  const PublicId offer = All()[0].id;
  registry_.Run([&](Ledger& ledger) {
    EXPECT_TRUE(EndTransfer(offer, "declined", {"bob", "no room"}, ledger).ok());
  });
  const GrantOutcome outcome = Out(grant_);
  EXPECT_NE(outcome.message.find("said once and is not repeated"), std::string::npos);
  EXPECT_TRUE(All().empty());
}

TEST_F(DeclaredGrants, AnOpenOfferFollowsWhatIsDeclared) {
  Live(SlotOf("Bucket", "team-a", "a"), "u1");
  grant_.transfer = TransferTerms{team_b_, ""};
  EXPECT_TRUE(Out(grant_).accepted);
  grant_.transfer = TransferTerms{team_c_, ""};
  grant_.transfer_mark = "grant.said.2";
  EXPECT_TRUE(Out(grant_).accepted);
  ASSERT_EQ(All().size(), 1U);
  EXPECT_EQ(All()[0].party, team_c_);
  Back(grant_);
  EXPECT_TRUE(All().empty()) << "withdrawn with the object";
}

}  // namespace declared_grants_test
}  // namespace truce
