// Histories of agreements: shares, hand-overs and protections, with the invariants checked after
// every step.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "registry/identity/successors.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/ledger.h"
#include "tests/model/scene.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace agreements_test {

using scene::BucketKey;
using scene::ManagedBucket;
using scene::SlotOf;

constexpr std::chrono::hours kDay{24};

class Agreements : public ::testing::Test {
 protected:
  ObjectFacts Live(const Slot& slot, const std::string& uid) {
    return registry_.Live(slot, uid, "k");
  }

  static ResourceId K(const Ledger& ledger) { return scene::IdNamed(BucketKey("k"), ledger); }

  template <typename Act>
  Result<Agreement> Do(const Act& act) {
    std::optional<Result<Agreement>> out;
    registry_.Run([&](Ledger& ledger) { out = act(ledger); });
    return *std::move(out);
  }
  Result<Agreement> Give(TransferTerms terms, bool forced = false) {
    terms.forced = forced;
    return Do([&](Ledger& ledger) {
      return OfferTransfer(K(ledger), terms, {"ann", "moving"}, ledger);
    });
  }
  Result<Agreement> Accept(const PublicId& id, const std::string& successor) {
    return Do([&](Ledger& ledger) {
      return AcceptTransfer(id, successor, {"bob", "thanks"}, ledger);
    });
  }
  Result<Agreement> End(const PublicId& id, const char* how) {
    return Do([&](Ledger& ledger) { return EndTransfer(id, how, {"bob", "no room"}, ledger); });
  }
  Result<Agreement> Share(const ShareTerms& terms) {
    return Do([&](Ledger& ledger) {
      return GiveShare(K(ledger), terms, {"ann", "reads it"}, ledger);
    });
  }

  // The same object, turned to observing.
  static ObjectFacts Observing(ObjectFacts object) {
    object.version = 12;
    object.resources = {scene::Bucket("k", Intent::kObserves)};
    return object;
  }
  std::vector<Step> Steps() {
    std::vector<Step> steps;
    registry_.Run([&](Ledger& ledger) {
      const auto owner = ledger.OwnerOf(K(ledger));
      ASSERT_TRUE(owner);
      steps = StepsOf(*owner, ledger.RowsOf(owner->id), TransferOf(owner->id, ledger));
    });
    return steps;
  }
  std::vector<Agreement> All() const { return registry_.Contents().agreements; }
  std::string LastCause() const { return registry_.Contents().audit.back().cause; }

  const PartyId team_b_{"ns:local/team-b"};
  const PartyId team_c_{"ns:local/team-c"};
  const Slot a_ = SlotOf("Bucket", "team-a", "a");
  const Slot b_ = SlotOf("Bucket", "team-b", "b");
  testing::StrictStore store_;
  scene::Registry registry_{store_};
};

TEST_F(Agreements, AShareIsGivenChangedAndEnded) {
  Live(a_, "u1");
  const auto given = Share({team_b_, ShareLevel::kObserve, registry_.now() + kDay});
  ASSERT_TRUE(given.ok());
  EXPECT_NE(LastCause().find("shared with namespace team-b at level observe until"),
            std::string::npos)
      << LastCause();
  const auto changed = Share({team_b_, ShareLevel::kAttach, {}});
  ASSERT_TRUE(changed.ok());
  EXPECT_EQ(changed.value().id, given.value().id);
  const std::vector<Agreement> all = All();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_NE(ShareFor(all, team_b_, ShareLevel::kObserve, {}), nullptr) << "attach includes observe";
  EXPECT_EQ(ShareFor(all, team_c_, ShareLevel::kObserve, {}), nullptr);
  const auto end = [&](Ledger& ledger) {
    return EndShare(given.value().id, {"ann", "done"}, ledger);
  };
  EXPECT_TRUE(Do(end).ok());
  EXPECT_EQ(Do(end).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(All().empty());
}

TEST_F(Agreements, ShareRefusesWhatMakesNoSense) {
  EXPECT_EQ(Share({team_b_, ShareLevel::kAttach, {}}).error().code, ErrorCode::kNotFound);
  Live(a_, "u1");
  const PartyId own = registry_.OwnerOf("k")->party;
  EXPECT_EQ(Share({own, ShareLevel::kAttach, {}}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(Share({team_b_, ShareLevel::kAttach, registry_.now()}).error().code,
            ErrorCode::kInvalidArgument);
  for (std::size_t i = 0; i < kSharesMax; ++i) {
    const PartyId party{"ns:local/n" + std::to_string(i)};
    ASSERT_TRUE(Share({party, ShareLevel::kAttach, {}}).ok());
  }
  EXPECT_EQ(Share({team_b_, ShareLevel::kAttach, {}}).error().code, ErrorCode::kResourceExhausted);
}

TEST_F(Agreements, EndWithTheOwnership) {
  Live(a_, "u1");
  ASSERT_TRUE(Share({team_b_, ShareLevel::kAttach, {}}).ok());
  ASSERT_TRUE(Do([](Ledger& ledger) { return Protect(K(ledger), {"ann", "prod"}, ledger); }).ok());
  EXPECT_EQ(All().size(), 2U);
  const ReleaseOutcome kept = registry_.Release(BucketKey("k"), false);
  EXPECT_FALSE(kept.done);
  ASSERT_TRUE(kept.mark);
  EXPECT_EQ(kept.mark->reason, "prod");
  EXPECT_EQ(All().size(), 2U);
  ASSERT_TRUE(Do([](Ledger& ledger) {
                return Unprotect(K(ledger), {"ann", "gone"}, ledger);
              }).ok());
  EXPECT_TRUE(registry_.Release(BucketKey("k"), false).done);
  EXPECT_TRUE(All().empty());
}

TEST_F(Agreements, ProtectionIsAMark) {
  Live(a_, "u1");
  registry_.Run([&](Ledger& ledger) {
    const auto first = Protect(K(ledger), {"ann", "prod"}, ledger);
    const auto second = Protect(K(ledger), {"bob", "prod data"}, ledger);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first.value().id, second.value().id);
    const std::vector<Agreement> present = ledger.AgreementsOf(K(ledger));
    ASSERT_NE(ProtectionIn(present), nullptr);
    EXPECT_EQ(ProtectionIn(present)->reason, "prod data");
    EXPECT_TRUE(Unprotect(K(ledger), {"ann", "test"}, ledger).ok());
    EXPECT_EQ(Unprotect(K(ledger), {"ann", ""}, ledger).error().code, ErrorCode::kNotFound);
  });
}

TEST_F(Agreements, AHandOverToAnotherTeam) {
  const ObjectFacts old = Live(a_, "u1");
  ASSERT_TRUE(Share({team_b_, ShareLevel::kAttach, {}}).ok());
  const auto offer = Give({team_b_, ""});
  ASSERT_TRUE(offer.ok());
  const ObjectFacts next = ManagedBucket(b_, "u2", "k", Intent::kDeletes, 20);
  EXPECT_EQ(registry_.Create(next).denied.at(0).reason, ClashReason::kOwned)
      << "an offer gives nothing";
  EXPECT_EQ(Accept(offer.value().id, "Bucket/team-c/b").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(Accept(offer.value().id, "").error().code, ErrorCode::kInvalidArgument);
  ASSERT_TRUE(Accept(offer.value().id, "Bucket/team-b/b").ok());
  EXPECT_TRUE(Accept(offer.value().id, "Bucket/team-b/b").ok()) << "again";
  EXPECT_EQ(Accept(offer.value().id, "Bucket/team-b/c").error().code, ErrorCode::kConflict);
  const Decision waiting = registry_.Create(next);
  ASSERT_FALSE(waiting.allowed) << "two managers must never be";
  EXPECT_EQ(waiting.denied[0].reason, ClashReason::kTransferring);
  ASSERT_EQ(Steps().size(), 4U);
  EXPECT_TRUE(Steps()[1].done);
  EXPECT_FALSE(Steps()[2].done);
  EXPECT_NE(Steps()[2].text.find("[\"Observe\"]"), std::string::npos);
  ObjectFacts renamed = old;  // some other change of the old root leaves the word alone
  renamed.service = "other";
  ASSERT_TRUE(registry_.Update(old, renamed).allowed);
  EXPECT_EQ(registry_.OwnerOf("k")->successor, "Bucket/team-b/b");
  registry_.See(Observing(old));
  EXPECT_EQ(registry_.OwnerOf("k")->record, Record::kTransferring);
  EXPECT_TRUE(Steps()[2].done);
  ASSERT_TRUE(registry_.Create(next).allowed);
  EXPECT_EQ(registry_.OwnerOf("k")->root, b_);
  EXPECT_TRUE(All().empty()) << "the transfer is done, and the receiver needs no share";
}

TEST_F(Agreements, WithinOnePartyNobodyNeedsToAccept) {
  const ObjectFacts old = Live(a_, "u1");
  const PartyId own = registry_.OwnerOf("k")->party;
  EXPECT_EQ(Give({own, ""}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(Give({own, "Bucket/team-a/a"}).error().code, ErrorCode::kInvalidArgument);
  const auto offer = Give({own, "Bucket/team-a/a2"});
  ASSERT_TRUE(offer.ok());
  EXPECT_TRUE(offer.value().accepted);
  registry_.See(Observing(old));
  const Slot next = SlotOf("Bucket", "team-a", "a2");
  ASSERT_TRUE(registry_.Create(ManagedBucket(next, "u2", "k", Intent::kDeletes, 20)).allowed);
  EXPECT_TRUE(All().empty());
}

TEST_F(Agreements, DeclinedAndWithdrawnOffersLeaveTheOwner) {
  const ObjectFacts old = Live(a_, "u1");
  const auto first = Give({team_b_, "Bucket/team-b/b"});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(Give({team_c_, ""}).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(End(first.value().id, "declined").ok());
  EXPECT_EQ(LastCause(), "offer to namespace team-b declined: no room");
  EXPECT_EQ(End(first.value().id, "declined").error().code, ErrorCode::kNotFound);
  const auto second = Give({team_b_, "Bucket/team-b/b"});
  ASSERT_TRUE(Accept(second.value().id, "").ok());
  registry_.See(Observing(old));
  ASSERT_TRUE(End(second.value().id, "withdrawn").ok());
  EXPECT_EQ(registry_.OwnerOf("k")->record, Record::kOrphaned);
  EXPECT_EQ(registry_.OwnerOf("k")->successor, "");
  EXPECT_FALSE(registry_.Create(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 20)).allowed);
}

TEST_F(Agreements, AnAdministratorForcesItButNotTwoManagers) {
  const ObjectFacts old = Live(a_, "u1");
  ASSERT_TRUE(Give({team_c_, ""}).ok());
  const auto forced = Give({team_b_, "Bucket/team-b/b"}, true);
  ASSERT_TRUE(forced.ok());
  EXPECT_TRUE(forced.value().accepted);
  EXPECT_NE(LastCause().find("transfer forced to namespace team-b"), std::string::npos);
  EXPECT_EQ(All().size(), 1U);
  const ObjectFacts next = ManagedBucket(b_, "u2", "k", Intent::kDeletes, 20);
  EXPECT_FALSE(registry_.Create(next).allowed);
  registry_.See(Observing(old));
  EXPECT_TRUE(registry_.Create(next).allowed);
}

TEST_F(Agreements, AnAnnotationAndAnOfferDoNotContradict) {
  const ObjectFacts old = Live(a_, "u1");
  ObjectFacts named = old;
  named.transfer_to = "Bucket/team-b/b";
  ASSERT_TRUE(registry_.Update(old, named).allowed);
  registry_.See(named);
  EXPECT_EQ(Give({team_c_, "Bucket/team-c/c"}).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(Give({team_c_, "Bucket/team-c/c"}, true).ok());
  ASSERT_TRUE(registry_.Update(named, old).allowed);
  registry_.See(old);
  EXPECT_TRUE(All().empty()) << "the owner's newer word ends the transfer";
}

TEST_F(Agreements, ASecondManagerThatIsTheSuccessorInherits) {
  const ObjectFacts old = Live(a_, "u1");
  ObjectFacts next = ManagedBucket(b_, "u2", "k", Intent::kDeletes, 20);
  ASSERT_TRUE(registry_.Create(next, "dev", Mode::kWarn).allowed) << "a recorded conflict";
  next.real = true;
  next.version = 21;
  registry_.See(next);
  ASSERT_TRUE(Give({team_b_, "Bucket/team-b/b"}, true).ok());
  registry_.See(Observing(old));
  EXPECT_EQ(registry_.OwnerOf("k")->root, b_);
  EXPECT_FALSE(registry_.OwnerOf("k")->contested);
  EXPECT_TRUE(All().empty());
}

TEST_F(Agreements, AClaimNamesTheSuccessorOfWhatItIsComposedOf) {
  const Slot claim_slot = SlotOf("Storage", "team-a", "c");
  const Slot composite_slot = SlotOf("XStorage", "", "c-1");
  const Slot leaf_slot = SlotOf("Bucket", "", "c-1-x");
  const ObjectFacts claim = scene::Composite(claim_slot, "u1", "", 1);
  ObjectFacts composite = scene::Composite(composite_slot, "u2", "", 2);
  ObjectFacts leaf = ManagedBucket(leaf_slot, "u3", "k", Intent::kDeletes, 3);
  composite.lineage.claim = scene::RefTo(claim_slot, "u1");
  leaf.lineage.controller = scene::RefTo(composite_slot, "u2");
  ASSERT_TRUE(registry_.Create(claim).allowed);
  ASSERT_TRUE(registry_.Create(composite, scene::kCrossplane).allowed);
  ASSERT_TRUE(registry_.Create(leaf, scene::kCrossplane).allowed);
  ASSERT_EQ(registry_.OwnerOf("k")->root, claim_slot);
  ObjectFacts named = claim;
  named.transfer_to = "Storage/team-b/c";
  ASSERT_TRUE(registry_.Update(claim, named).allowed);
  EXPECT_EQ(registry_.OwnerOf("k")->successor, "") << "counts when the watch shows it";
  registry_.See(named);
  EXPECT_EQ(registry_.OwnerOf("k")->successor, "Storage/team-b/c");
}

TEST_F(Agreements, ASuccessorWithAGroupIsNobodyOfAnotherGroup) {
  const Slot upjet{"local", "s3.aws.upbound.io", "Bucket", "", "b"};
  const Slot stranger{"local", "s3.aws.crossplane.io", "Bucket", "", "b"};
  EXPECT_TRUE(NamesSuccessor("Bucket.s3.aws.upbound.io/b", "local", upjet));
  EXPECT_FALSE(NamesSuccessor("Bucket.s3.aws.upbound.io/b", "local", stranger));
  EXPECT_TRUE(NamesSuccessor("Bucket/b", "local", stranger)) << "without a group: any";
  const Slot scoped{"local", "s3.aws.m.upbound.io", "Bucket", "team-b", "b"};
  EXPECT_TRUE(NamesSuccessor("Bucket.s3.aws.m.upbound.io/team-b/b", "local", scoped));
  EXPECT_FALSE(NamesSuccessor("Bucket.s3.aws.m.upbound.io/b", "local", scoped));
  EXPECT_FALSE(NamesSuccessor("Bucket.s3/team-b/b", "local", scoped));
}

// Two clusters in one registry: namespaces and objects have the same names in both.
TEST_F(Agreements, ASuccessorIsNotItsNamesakeOfAnotherCluster) {
  const Slot theirs{"other", a_.group, "Bucket", "team-b", "b"};
  const auto taken = [&](const Slot& slot) {
    return registry_.Create(ManagedBucket(slot, "u-" + slot.cluster, "k", Intent::kDeletes, 20))
        .allowed;
  };
  ObjectFacts named = Live(a_, "u1");
  named.transfer_to = "Bucket/team-b/b";
  registry_.See(named);
  named = Observing(named);
  named.transfer_to = "Bucket/team-b/b";
  registry_.See(named);
  ASSERT_EQ(registry_.OwnerOf("k")->record, Record::kTransferring);
  EXPECT_FALSE(taken(theirs)) << "the word is about the owner's own cluster";
  named.version = 13;
  named.transfer_to = "other:Bucket/team-b/b";
  registry_.See(named);
  EXPECT_FALSE(taken(b_));
  EXPECT_TRUE(taken(theirs));
}

TEST_F(Agreements, AnOfferToAnotherClusterIsForItsObjectThere) {
  const ObjectFacts old = Live(a_, "u1");
  const Slot theirs{"other", a_.group, "Bucket", "team-b", "b"};
  const PartyId party{"ns:other/team-b"};
  EXPECT_FALSE(Give({party, "local:Bucket/team-b/b"}).ok());
  const auto offer = Give({party, ""});
  ASSERT_TRUE(offer.ok());
  const auto accepted = Accept(offer.value().id, "Bucket/team-b/b");
  ASSERT_TRUE(accepted.ok());
  EXPECT_EQ(accepted.value().successor, "other:Bucket/team-b/b");
  EXPECT_TRUE(Accept(offer.value().id, "Bucket/team-b/b").ok()) << "said twice";
  registry_.See(Observing(old));
  const auto taken = [&](const Slot& slot) {
    return registry_.Create(ManagedBucket(slot, "u-" + slot.cluster, "k", Intent::kDeletes, 20))
        .allowed;
  };
  EXPECT_FALSE(taken(b_)) << "the offer was not for this one";
  EXPECT_TRUE(taken(theirs));
}

TEST_F(Agreements, AnObjectThatAcceptsIsNotItsNamesakeOfAnotherGroup) {
  const ObjectFacts old = Live(a_, "u1");
  const Slot upjet{"local", "s3.aws.upbound.io", "Bucket", "", "b"};
  const Slot stranger{"local", "s3.aws.crossplane.io", "Bucket", "", "b"};
  const PartyId party{"slot:" + ToText(upjet)};
  const auto offer = Give({party, ""});
  ASSERT_TRUE(offer.ok());
  const auto accepted = Accept(offer.value().id, "Bucket/b");
  ASSERT_TRUE(accepted.ok());
  EXPECT_EQ(accepted.value().successor, "Bucket.s3.aws.upbound.io/b");
  registry_.See(Observing(old));
  const auto taken = [&](const Slot& slot) {
    return registry_.Create(ManagedBucket(slot, "u-" + slot.group, "k", Intent::kDeletes, 20))
        .allowed;
  };
  EXPECT_FALSE(taken(stranger)) << "the offer was not for this one";
  EXPECT_TRUE(taken(upjet));
}

}  // namespace agreements_test
}  // namespace truce
