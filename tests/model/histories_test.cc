// Named histories in which a bucket was once lost, or a name blocked for ever, in some design or
// product. Each says what must happen instead. Names of the cases: issue list and design section 4.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "registry/ownership/brake.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/lists/import.h"
#include "tests/model/scene.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace histories_test {

using scene::Composite;
using scene::ManagedBucket;
using scene::RefTo;
using scene::SlotOf;

constexpr std::chrono::seconds kTtl{180};

class Histories : public ::testing::Test {
 protected:
  ~Histories() override {
    for (const std::string& breach : CheckInvariants(registry_.Contents())) ADD_FAILURE() << breach;
  }

  // Admitted, created and seen; `real` when the provider made the bucket.
  ObjectFacts Live(const Slot& slot, const std::string& uid, const std::string& bucket,
                   std::uint64_t version) {
    ObjectFacts object = ManagedBucket(slot, uid, bucket, Intent::kDeletes, version);
    EXPECT_TRUE(registry_.Create(object).allowed);
    object.real = true;
    registry_.See(object);
    return object;
  }

  RowId Reserved(const std::string& bucket, const std::string& uid) {
    return {registry_.IdOf(bucket), {uid}, RowState::kReserved};
  }

  // The last state of an object whose bucket its provider deleted.
  static ObjectFacts Finished(ObjectFacts object) {
    object.terminating = true;
    object.deleting = true;
    *object.version += 5;
    return object;
  }

  testing::StrictStore store_;
  scene::Registry registry_{store_};
  const Slot a_ = SlotOf("Bucket", "team-a", "a");
  const Slot b_ = SlotOf("Bucket", "team-b", "b");
};

TEST_F(Histories, ADuplicateIsRefusedAndNamesTheOwner) {
  Live(a_, "u1", "k", 1);
  const Decision decision = registry_.Create(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 2));
  ASSERT_FALSE(decision.allowed);
  ASSERT_EQ(decision.denied.size(), 1U);
  EXPECT_EQ(decision.denied[0].reason, ClashReason::kOwned);
  EXPECT_EQ(decision.denied[0].holder.root, a_);
  EXPECT_FALSE(decision.denied[0].same_party);
}

TEST_F(Histories, AReservationIsNotConfirmedByAnOlderVersion) {
  ObjectFacts old = Live(a_, "u1", "k", 10);
  ObjectFacts renamed = ManagedBucket(a_, "u1", "l", Intent::kDeletes, 10);
  ASSERT_TRUE(registry_.Update(old, renamed).allowed);
  // A lagging event of version 9 that happened to name `l`, before it was renamed to `k`.
  ObjectFacts lagging = ManagedBucket(a_, "u1", "l", Intent::kDeletes, 9);
  registry_.See(lagging);
  const auto rows = registry_.RowsOf("l");
  EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const Row& row) {
    return row.id.state == RowState::kReserved;
  })) << "only a version later than the one judged on confirms";
  // Version 11 declares `k` still: the reservation of `l` must outlive the end of the lagging
  // sight.
  old.version = 11;
  registry_.See(old);
  EXPECT_EQ(registry_.OwnerOf("l")->root, a_);
  EXPECT_FALSE(registry_.Create(ManagedBucket(b_, "u2", "l", Intent::kDeletes, 12)).allowed);
}

TEST_F(Histories, RenameThereAndBackUnderALaggingWatchKeepsTheName) {
  const ObjectFacts at_k = Live(a_, "u1", "k", 10);
  ObjectFacts at_l = ManagedBucket(a_, "u1", "l", Intent::kDeletes, 11);
  at_l.real = true;
  ObjectFacts back = ManagedBucket(a_, "u1", "k", Intent::kDeletes, 12);
  back.real = true;
  ASSERT_TRUE(registry_.Update(at_k, ManagedBucket(a_, "u1", "l", Intent::kDeletes, 10)).allowed);
  ASSERT_TRUE(registry_.Update(at_l, ManagedBucket(a_, "u1", "k", Intent::kDeletes, 11)).allowed);
  registry_.See(at_l);  // lags: drops what was seen of k, not what was reserved at version 11
  ASSERT_TRUE(registry_.OwnerOf("k"));
  EXPECT_EQ(registry_.OwnerOf("k")->record, Record::kNone);
  EXPECT_FALSE(registry_.Create(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 13)).allowed);
  registry_.See(back);
  EXPECT_EQ(registry_.OwnerOf("k")->root, a_);
  EXPECT_EQ(registry_.OwnerOf("l")->record, Record::kOrphaned)
      << "the bucket l exists and nobody declares it";
}

// Its status says Ready, of the name that it had: the name in between is real only once it was
// made.
TEST_F(Histories, WhatAStatusShowsOfTheOldNameMakesNoOtherOneReal) {
  for (const int each : {0, 1, 2, 3}) {
    SCOPED_TRACE(each);
    const bool marked = each > 1;
    const bool made = (each & 1) != 0;
    const std::string k = "k" + std::to_string(each);
    const std::string l = "l" + std::to_string(each);
    const Slot slot = SlotOf("Bucket", "team-a", k);
    const auto as = [&](const std::string& name, std::uint64_t version) {
      ObjectFacts object = ManagedBucket(slot, k, name, Intent::kDeletes, version);
      object.real = true;
      if (marked) object.created_marks = "made";
      if (name != k) object.shown_key = scene::BucketKey(k);
      return object;
    };
    ASSERT_TRUE(registry_.Create(as(k, 10)).allowed);
    registry_.See(as(k, 11));
    ASSERT_TRUE(registry_.Update(as(k, 11), as(l, 11)).allowed);
    ObjectFacts last = as(l, 12);
    registry_.See(last);
    EXPECT_EQ(registry_.OwnerOf(k)->record, Record::kOrphaned);
    EXPECT_EQ(registry_.OwnerOf(l)->root, slot);
    if (made) {  // its provider makes it, and says so
      ObjectFacts next = as(l, 13);
      next.created_marks = "made anew";
      ASSERT_TRUE(registry_.Update(last, next, scene::kProvider).allowed);
      last = next;
    }
    ObjectFacts back = as(k, 14);
    back.created_marks = last.created_marks;
    ASSERT_TRUE(registry_.Update(last, back).allowed);
    registry_.See(back);
    EXPECT_EQ(registry_.OwnerOf(k)->record, Record::kNone);
    EXPECT_TRUE(registry_.OwnerOf(k)->real);
    ASSERT_EQ(registry_.OwnerOf(l).has_value(), made);
    if (made) {
      EXPECT_EQ(registry_.OwnerOf(l)->record, Record::kOrphaned);
    }
  }
}

// Two CREATEs of one place, of which the API server answers one with 409.
TEST_F(Histories, ACreationInATakenPlaceWasNeverMadeAlsoOverAGap) {
  const ObjectFacts first = Live(a_, "u1", "k", 10);
  const auto second = [&](const std::string& uid, const std::string& name) {
    registry_.Advance(kTtl);
    EXPECT_TRUE(registry_.Create(ManagedBucket(a_, uid, name, Intent::kDeletes, 1)).allowed);
    registry_.Run([&](Ledger& ledger) { OutOfSight({uid}, ledger); });
  };
  second("u2", "l");
  registry_.See(first, true);
  registry_.Prove(Reserved("l", "u2"), {Proof::Answer::kLive, first});
  EXPECT_FALSE(registry_.OwnerOf("l")) << "the first one had the place all along";
  EXPECT_EQ(registry_.OwnerOf("k")->record, Record::kNone);

  second("u3", "m");
  registry_.Prove(Reserved("m", "u3"), {Proof::Answer::kGone, std::nullopt});
  EXPECT_EQ(registry_.OwnerOf("m")->record, Record::kOrphaned) << "it may have lived in between";

  second("u4", "n");
  registry_.Prove(Reserved("n", "u4"),
                  {Proof::Answer::kLive, ManagedBucket(a_, "u5", "k", Intent::kDeletes, 30)});
  EXPECT_EQ(registry_.OwnerOf("n")->record, Record::kOrphaned) << "another one has the place";

  second("u6", "o");
  registry_.See(ManagedBucket(a_, "u6", "o", Intent::kDeletes, 40));
  EXPECT_TRUE(registry_.OwnerOf("o")->real) << "it came, and its kind was out of sight";
}

TEST_F(Histories, AnUpdateRefusedElsewhereLeavesNoClaimOnTheName) {
  const ObjectFacts object = Live(a_, "u1", "k", 10);
  ASSERT_TRUE(registry_.Update(object, ManagedBucket(a_, "u1", "l", Intent::kDeletes, 10)).allowed);
  registry_.Advance(kTtl);
  registry_.Prove(Reserved("l", "u1"), {Proof::Answer::kUnknown, std::nullopt});
  EXPECT_TRUE(registry_.OwnerOf("l")) << "an unclear answer keeps the reservation";
  registry_.Prove(Reserved("l", "u1"), {Proof::Answer::kLive, object});
  EXPECT_FALSE(registry_.OwnerOf("l")) << "never real: free again";
  EXPECT_EQ(registry_.OwnerOf("k")->root, a_);
}

TEST_F(Histories, ACreateThatFailedAfterAdmissionIsDroppedByProof) {
  ASSERT_TRUE(registry_.Create(ManagedBucket(a_, "u1", "k", Intent::kDeletes, 1)).allowed);
  EXPECT_FALSE(registry_.Create(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 2)).allowed);
  registry_.Advance(kTtl);
  const Decision late = registry_.Create(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 2));
  EXPECT_EQ(late.prove, std::vector<RowId>{Reserved("k", "u1")})
      << "a denial asks for the proof at once";
  registry_.Prove(Reserved("k", "u1"), {Proof::Answer::kGone, std::nullopt});
  EXPECT_TRUE(registry_.Create(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 3)).allowed);
}

TEST_F(Histories, AFreedKeyGoesToTheOldestLivingConflict) {
  const ObjectFacts first = Live(a_, "u1", "k", 10);
  ObjectFacts second = ManagedBucket(b_, "u2", "k", Intent::kDeletes, 11);  // created unseen
  second.real = true;
  registry_.Advance(std::chrono::seconds{1});
  registry_.See(second);
  EXPECT_TRUE(registry_.OwnerOf("k")->contested);
  registry_.SeeDeleted(Finished(first));
  ASSERT_TRUE(registry_.OwnerOf("k"));
  EXPECT_EQ(registry_.OwnerOf("k")->root, b_);
  EXPECT_FALSE(registry_.OwnerOf("k")->contested);
  EXPECT_EQ(registry_.Contents().audit.back().action, AuditAction::kPassed);
}

TEST_F(Histories, ObserveRaisedToManageIsJudged) {
  Live(a_, "u1", "k", 10);
  const ObjectFacts observer = ManagedBucket(b_, "u2", "k", Intent::kObserves, 11);
  ASSERT_TRUE(registry_.Create(observer).allowed);
  registry_.See(observer);
  const Decision raised =
      registry_.Update(observer, ManagedBucket(b_, "u2", "k", Intent::kManages, 11));
  EXPECT_FALSE(raised.allowed);
  EXPECT_EQ(raised.denied.size(), 1U);
}

TEST_F(Histories, ATerminatingObjectCannotBePointedAtAVictim) {
  Live(a_, "u1", "victim", 10);
  ObjectFacts own = Live(b_, "u2", "mine", 11);
  own.terminating = true;
  registry_.See(own);
  ObjectFacts pointed = own;
  pointed.resources = {scene::Bucket("victim", Intent::kDeletes)};
  EXPECT_FALSE(registry_.Update(own, pointed).allowed)
      << "its finalizer would delete the victim's bucket";
  ObjectFacts relabelled = own;
  relabelled.service = "other";
  EXPECT_TRUE(registry_.Update(own, relabelled).allowed) << "I10: adds no managed pair";
}

TEST_F(Histories, AnOwnerThatIsBeingDeletedStillOwns) {
  ObjectFacts own = Live(a_, "u1", "k", 10);
  own.terminating = true;
  registry_.See(own);
  EXPECT_EQ(registry_.OwnerOf("k")->state, HolderState::kTerminating);
  EXPECT_FALSE(registry_.Create(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 12)).allowed);
  registry_.SeeDeleted(Finished(own));
  EXPECT_TRUE(registry_.Create(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 13)).allowed);
}

struct EndCase {
  const char* reason;
  bool terminating, deleting, crd_terminating;
  Intent intent;
  bool real;
  bool becomes_free;
};

TEST_F(Histories, OnlyAWitnessedEndFreesARealKey) {
  const EndCase cases[] = {
      {"deleted by its provider", true, true, false, Intent::kDeletes, true, true},
      {"deletion policy keeps the bucket", true, true, false, Intent::kManages, true, false},
      {"never said Deleting", true, false, false, Intent::kDeletes, true, false},
      {"vanished without deletionTimestamp", false, true, false, Intent::kDeletes, true, false},
      {"its CRD is going", true, true, true, Intent::kDeletes, true, false},
      {"the bucket never was", true, false, false, Intent::kDeletes, false, true},
  };
  int n = 0;
  for (const EndCase& test : cases) {
    const std::string bucket = "bucket-" + std::to_string(++n);
    ObjectFacts object =
        ManagedBucket(SlotOf("Bucket", "team-a", bucket), "u-" + bucket, bucket, test.intent, 10);
    ASSERT_TRUE(registry_.Create(object).allowed);
    object.real = test.real;
    registry_.See(object);
    object.terminating = test.terminating;
    object.deleting = test.deleting;
    registry_.SeeDeleted(object, {.crd_terminating = test.crd_terminating, .before = {}});
    EXPECT_EQ(!registry_.OwnerOf(bucket).has_value(), test.becomes_free) << test.reason;
  }
}

TEST_F(Histories, AStrippedFinalizerIsNoProofOfDeletion) {
  ObjectFacts object = Live(a_, "u1", "k", 10);
  object.finalizers = {"finalizer.managedresource.crossplane.io"};
  object.terminating = true;
  object.deleting = true;
  registry_.See(object);
  ObjectFacts stripped = object;
  stripped.finalizers.clear();
  ASSERT_TRUE(registry_.Update(object, stripped, "dev").allowed);
  registry_.SeeDeleted(stripped);
  ASSERT_TRUE(registry_.OwnerOf("k"));
  EXPECT_EQ(registry_.OwnerOf("k")->record, Record::kOrphaned);
  // The party may declare it again, another may not.
  EXPECT_FALSE(registry_.Create(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 12)).allowed);
  EXPECT_TRUE(registry_
                  .Create(ManagedBucket(SlotOf("Bucket", "team-a", "again"), "u3", "k",
                                        Intent::kDeletes, 13))
                  .allowed);
  EXPECT_EQ(registry_.OwnerOf("k")->record, Record::kNone);
}

TEST_F(Histories, AClaimItsCompositesAndItsBucketAreOneOwner) {
  const Slot claim_slot = SlotOf("ObjectStorage", "team-a", "artifacts");
  const Slot outer_slot = SlotOf("XObjectStorage", "", "artifacts-h9fnb");
  const Slot inner_slot = SlotOf("XInner", "", "artifacts-h9fnb-x");
  const Slot leaf_slot = SlotOf("Bucket", "", "artifacts-h9fnb-y");
  const ObjectFacts claim = Composite(claim_slot, "claim", "k", 1);
  ASSERT_TRUE(registry_.Create(claim).allowed);
  ObjectFacts outer = Composite(outer_slot, "outer", "k", 2);
  outer.lineage.claim = RefTo(claim_slot, "");
  ASSERT_TRUE(registry_.Create(outer, scene::kCrossplane).allowed);
  ObjectFacts inner = Composite(inner_slot, "inner", "", 3);
  inner.lineage.controller = RefTo(outer_slot, "outer");
  ASSERT_TRUE(registry_.Create(inner, scene::kCrossplane).allowed);
  ObjectFacts leaf = ManagedBucket(leaf_slot, "leaf", "k", Intent::kDeletes, 4);
  leaf.lineage.controller = RefTo(inner_slot, "inner");
  const Decision decision = registry_.Create(leaf, scene::kCrossplane);
  ASSERT_TRUE(decision.allowed);
  EXPECT_EQ(decision.root, claim_slot);
  EXPECT_EQ(registry_.OwnerOf("k")->root, claim_slot);
  EXPECT_EQ(registry_.OwnerOf("k")->leaf, leaf_slot);
  EXPECT_FALSE(registry_.OwnerOf("k")->contested);
  // A provider's update keeps the link, whoever it is.
  ObjectFacts updated = leaf;
  updated.service = "later";
  EXPECT_EQ(registry_.Update(leaf, updated, scene::kProvider).root, claim_slot);
  // The same link in an ordinary user's object is a forgery.
  ObjectFacts forged =
      ManagedBucket(SlotOf("Bucket", "", "forged"), "forged", "k", Intent::kDeletes, 5);
  forged.lineage.controller = RefTo(inner_slot, "inner");
  EXPECT_FALSE(registry_.Create(forged, "dev").allowed);
  // A second bucket object below the same root is a second manager.
  ObjectFacts twin = ManagedBucket(SlotOf("Bucket", "", "twin"), "twin", "k", Intent::kDeletes, 6);
  twin.lineage.controller = RefTo(outer_slot, "outer");
  const Decision second = registry_.Create(twin, scene::kCrossplane);
  ASSERT_FALSE(second.allowed);
  EXPECT_EQ(second.denied[0].reason, ClashReason::kSibling);
}

TEST_F(Histories, AComposedResourceRenamedHealsWhenTheOldOneIsGone) {
  const Slot composite_slot = SlotOf("XObjectStorage", "", "x");
  ASSERT_TRUE(registry_.Create(Composite(composite_slot, "x", "", 1), scene::kCrossplane).allowed);
  ObjectFacts old = ManagedBucket(SlotOf("Bucket", "", "x-old"), "old", "k", Intent::kDeletes, 2);
  old.lineage.controller = RefTo(composite_slot, "x");
  ASSERT_TRUE(registry_.Create(old, scene::kCrossplane).allowed);
  old.real = true;
  registry_.See(old);
  old.terminating = true;
  registry_.See(old);
  ObjectFacts renamed =
      ManagedBucket(SlotOf("Bucket", "", "x-new"), "new", "k", Intent::kDeletes, 3);
  renamed.lineage.controller = RefTo(composite_slot, "x");
  EXPECT_FALSE(registry_.Create(renamed, scene::kCrossplane).allowed)
      << "the old one will delete the bucket";
  registry_.SeeDeleted(Finished(old));
  EXPECT_TRUE(registry_.Create(renamed, scene::kCrossplane).allowed)
      << "Crossplane tries again: healed";
  EXPECT_EQ(registry_.OwnerOf("k")->root, composite_slot);
}

TEST_F(Histories, HelmRenameNewBeforeOldByTransfer) {
  ObjectFacts old = Live(a_, "u1", "k", 10);
  const Slot successor = SlotOf("Bucket", "team-a", "a2");
  const ObjectFacts next = ManagedBucket(successor, "u2", "k", Intent::kDeletes, 20);
  const Decision refused = registry_.Create(next);
  ASSERT_FALSE(refused.allowed);
  EXPECT_TRUE(refused.denied[0].same_party);
  ObjectFacts names = old;
  names.transfer_to = "Bucket/team-a/a2";
  ASSERT_TRUE(registry_.Update(old, names).allowed);
  registry_.See(names);
  const Decision waiting = registry_.Create(next);
  ASSERT_FALSE(waiting.allowed) << "two managers must never be";
  EXPECT_EQ(waiting.denied[0].reason, ClashReason::kTransferring);
  EXPECT_NE(waiting.denied[0].step.find("Observe"), std::string::npos) << waiting.denied[0].step;
  ObjectFacts observing = names;
  observing.version = 12;
  observing.resources = {scene::Bucket("k", Intent::kObserves)};
  registry_.See(observing);
  EXPECT_EQ(registry_.OwnerOf("k")->record, Record::kTransferring) << "still owned between the two";
  EXPECT_FALSE(registry_.Create(ManagedBucket(b_, "u3", "k", Intent::kDeletes, 21)).allowed);
  ASSERT_TRUE(registry_.Create(next).allowed);
  EXPECT_EQ(registry_.OwnerOf("k")->root, successor);
  EXPECT_TRUE(registry_.OwnerOf("k")->real) << "what was made stays real";
}

TEST_F(Histories, ATerminatingOwnerWithOrphaningPolicyMayBeSucceeded) {
  ObjectFacts old = ManagedBucket(a_, "u1", "k", Intent::kManages, 10);
  ASSERT_TRUE(registry_.Create(old).allowed);
  old.real = true;
  old.terminating = true;
  old.transfer_to = "Bucket/team-b/b";
  registry_.See(old);
  EXPECT_TRUE(registry_.Create(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 20)).allowed);
  EXPECT_EQ(registry_.OwnerOf("k")->root, b_);
  registry_.SeeDeleted(old);
  EXPECT_EQ(registry_.OwnerOf("k")->root, b_)
      << "I7: the old life ends without touching the successor";
}

TEST_F(Histories, AnEtcdRestoreReturnsOldUidsAndKeepsIncumbents) {
  const ObjectFacts first = Live(a_, "u1", "k", 100);
  registry_.SeeDeleted(Finished(first));
  const ObjectFacts second = Live(b_, "u2", "k", 200);
  // The restored cluster has the first object again, with its old uid and an old version, and lost
  // the second.
  ObjectFacts returned = first;
  returned.version = 90;
  registry_.See(returned, true);
  EXPECT_EQ(registry_.OwnerOf("k")->root, b_) << "the recorded incumbent stays";
  EXPECT_TRUE(registry_.OwnerOf("k")->contested);
  registry_.Absent({registry_.IdOf("k"), {"u2"}, RowState::kSeen});
  EXPECT_EQ(registry_.OwnerOf("k")->record, Record::kOrphaned) << "absence is no proof of deletion";
  EXPECT_FALSE(
      registry_
          .Create(ManagedBucket(SlotOf("Bucket", "team-c", "c"), "u3", "k", Intent::kDeletes, 1))
          .allowed);
}

TEST_F(Histories, AForceReplaceKeepsItsOwnName) {
  const ObjectFacts first = Live(a_, "u1", "k", 10);
  // CREATE of an existing slot: reviewed, then 409; DELETE; CREATE again with a third uid.
  ASSERT_TRUE(registry_.Create(ManagedBucket(a_, "u2", "k", Intent::kDeletes, 11)).allowed);
  registry_.SeeDeleted(Finished(first));
  ASSERT_TRUE(registry_.OwnerOf("k"));
  ASSERT_TRUE(registry_.Create(ManagedBucket(a_, "u3", "k", Intent::kDeletes, 12)).allowed);
  ObjectFacts live = ManagedBucket(a_, "u3", "k", Intent::kDeletes, 13);
  registry_.See(live);
  registry_.Advance(kTtl);
  registry_.Prove(Reserved("k", "u2"), {Proof::Answer::kLive, live});
  registry_.Prove(Reserved("k", "u3"), {Proof::Answer::kLive, live});
  EXPECT_EQ(registry_.OwnerOf("k")->root, a_);
  EXPECT_EQ(registry_.RowsOf("k").size(), 1U);
}

TEST_F(Histories, ALateNameIsAllowedAndRecordedAsConflict) {
  Live(a_, "u1", "k", 10);
  ObjectFacts before = ManagedBucket(b_, "u2", "", Intent::kDeletes, 11);
  ASSERT_TRUE(registry_.Create(before).allowed);
  ObjectFacts after = before;
  after.resources = {scene::Bucket("k", Intent::kDeletes)};
  after.resources[0].late = true;
  EXPECT_FALSE(registry_.Update(before, after, "dev").allowed) << "from anyone else it is judged";
  const Decision late = registry_.Update(before, after, scene::kProvider);
  ASSERT_TRUE(late.allowed) << "denying it would leak the cloud resource";
  ASSERT_EQ(late.conflicts.size(), 1U);
  EXPECT_TRUE(late.conflicts[0].late);
  EXPECT_EQ(registry_.OwnerOf("k")->root, a_);
}

TEST_F(Histories, ObjectsAlreadyInConflictCanBeChangedElsewhereAndDeleted) {
  const ObjectFacts first = Live(a_, "u1", "k", 10);
  ObjectFacts second = ManagedBucket(b_, "u2", "k", Intent::kDeletes, 11);
  registry_.See(second);  // created while the webhook was down
  for (const ObjectFacts& object : {first, second}) {
    ObjectFacts changed = object;
    changed.contact = "someone";
    EXPECT_TRUE(registry_.Update(object, changed).allowed);
    EXPECT_TRUE(registry_.Delete(object).allowed);
  }
  registry_.SeeDeleted(second);
  EXPECT_EQ(registry_.OwnerOf("k")->root, a_);
  EXPECT_FALSE(registry_.OwnerOf("k")->contested);
}

TEST_F(Histories, EqualButForAnUnknownAccountIsAWarning) {
  const auto queue = [](const std::string& account) {
    DeclaredResource resource;
    resource.identity = {"sqs/Queue", "aws", account, "us-west-2", {{"name", "jobs"}}};
    resource.names = {{KeyText{"sqs/Queue|aws|" + account + "|us-west-2|name=jobs"}, false}};
    resource.intent = Intent::kDeletes;
    return resource;
  };
  ObjectFacts first = ManagedBucket(a_, "u1", "", Intent::kDeletes, 10);
  first.resources = {queue("?prod")};
  ObjectFacts other = ManagedBucket(b_, "u2", "", Intent::kDeletes, 11);
  other.resources = {queue("?dev")};
  ASSERT_TRUE(registry_.Create(first).allowed);
  const Decision warned = registry_.Create(other);
  ASSERT_TRUE(warned.allowed);
  ASSERT_EQ(warned.elsewhere.size(), 1U) << "equal but for an unknown account: a warning";
}

TEST_F(Histories, TheRootOfRecordMayReturnInItsSlot) {
  const Slot claim_slot = SlotOf("ObjectStorage", "team-a", "artifacts");
  const Slot composite_slot = SlotOf("XObjectStorage", "", "x");
  ObjectFacts claim = Composite(claim_slot, "claim-1", "k", 1);
  ASSERT_TRUE(registry_.Create(claim).allowed);
  registry_.See(claim);
  ObjectFacts composite = Composite(composite_slot, "x", "", 2);
  composite.lineage.claim = RefTo(claim_slot, "");
  ASSERT_TRUE(registry_.Create(composite, scene::kCrossplane).allowed);
  ObjectFacts leaf = ManagedBucket(SlotOf("Bucket", "", "x-1"), "leaf", "k", Intent::kDeletes, 3);
  leaf.lineage.controller = RefTo(composite_slot, "x");
  leaf.real = true;
  ASSERT_TRUE(registry_.Create(leaf, scene::kCrossplane).allowed);
  registry_.See(leaf);
  registry_.SeeDeleted(claim);  // orphaned composite: the bucket lives on
  EXPECT_EQ(registry_.OwnerOf("k")->root, claim_slot) << "a descendant lives";
  EXPECT_TRUE(registry_.Create(Composite(claim_slot, "claim-2", "k", 9)).allowed);
  EXPECT_FALSE(registry_.Create(ManagedBucket(b_, "u9", "k", Intent::kDeletes, 9)).allowed);
}

TEST_F(Histories, AnOrphanedKeyIsOwnedAgainWhenALivingChainComesUnderItsRoot) {
  const Slot claim_slot = SlotOf("ObjectStorage", "team-a", "artifacts");
  const Slot composite_slot = SlotOf("XObjectStorage", "", "x");
  ObjectFacts claim = Composite(claim_slot, "claim-1", "k", 1);
  claim.real = true;
  registry_.See(claim);
  ObjectFacts composite = Composite(composite_slot, "x", "k", 2);
  composite.lineage.claim = RefTo(claim_slot, "");
  registry_.See(composite);  // the claim does not name it: a chain of its own, in conflict
  registry_.SeeDeleted(claim);
  ASSERT_EQ(registry_.OwnerOf("k")->record, Record::kOrphaned);
  ObjectFacts returned = Composite(claim_slot, "claim-2", "another", 3);
  returned.lineage.composite = RefTo(composite_slot, "");
  registry_.See(returned);
  EXPECT_EQ(registry_.OwnerOf("k")->root, claim_slot);
  EXPECT_EQ(registry_.OwnerOf("k")->record, Record::kNone);
}

TEST_F(Histories, AnOrphanedKeyIsOwnedAgainWhenALivingChainComesUnderItsParty) {
  const Slot claim_slot = SlotOf("ObjectStorage", "team-a", "artifacts");
  const Slot composite_slot = SlotOf("XObjectStorage", "", "x");
  const ObjectFacts first = Live(a_, "u1", "k", 1);
  registry_.SeeDeleted(first);
  ASSERT_EQ(registry_.OwnerOf("k")->record, Record::kOrphaned);
  ObjectFacts composite = Composite(composite_slot, "x", "k", 2);
  composite.lineage.claim = RefTo(claim_slot, "");
  registry_.See(composite);  // the claim is not known yet: a party of its own
  ASSERT_EQ(registry_.OwnerOf("k")->record, Record::kOrphaned);
  ObjectFacts claim = Composite(claim_slot, "claim-1", "another", 3);
  claim.lineage.composite = RefTo(composite_slot, "");
  registry_.See(claim);
  EXPECT_EQ(registry_.OwnerOf("k")->root, claim_slot) << "as a sight of the composite would";
  EXPECT_EQ(registry_.OwnerOf("k")->record, Record::kNone);
}

TEST_F(Histories, AnEndWithoutWitnessPassesToAnotherChainOfTheSameParty) {
  ObjectFacts first = Live(a_, "u1", "k", 1);
  const Slot other = SlotOf("Bucket", "team-a", "c");
  registry_.See(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 2));
  registry_.See(ManagedBucket(other, "u3", "k", Intent::kDeletes, 3));
  registry_.SeeDeleted(first);
  EXPECT_EQ(registry_.OwnerOf("k")->root, other) << "its party declares it still";
  EXPECT_EQ(registry_.OwnerOf("k")->record, Record::kNone);
}

TEST_F(Histories, ACompositeFoundLaterBecomesTheAncestor) {
  const Slot composite_slot = SlotOf("XObjectStorage", "", "x");
  ObjectFacts leaf = ManagedBucket(SlotOf("Bucket", "", "x-1"), "leaf", "k", Intent::kDeletes, 3);
  leaf.lineage.controller = RefTo(composite_slot, "x");
  registry_.See(leaf);  // before its composite was seen: its own root for now
  EXPECT_EQ(registry_.OwnerOf("k")->root, leaf.slot);
  ObjectFacts composite = Composite(composite_slot, "x", "", 2);
  composite.lineage.resources = {RefTo(leaf.slot, "")};
  registry_.See(composite);
  EXPECT_EQ(registry_.OwnerOf("k")->root, composite_slot)
      << "each names the other: the chain moves whole";
}

TEST_F(Histories, TheBrakeHoldsMassReleases) {
  Timestamp first = registry_.now();
  std::vector<BrakeVerdict> verdicts;
  const auto ask = [&](BrakeQuestion question) {
    question.cluster = "local";
    question.seen_rows = 100;
    question.first_absent = first;
    BrakeVerdict verdict = BrakeVerdict::kRelease;
    registry_.Run([&](Ledger& ledger) { verdict = AskBrake(question, ledger); });
    return verdict;
  };
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ask({}), BrakeVerdict::kRelease) << i;
  EXPECT_EQ(ask({}), BrakeVerdict::kNeedsSecondList);
  EXPECT_EQ(ask({.second_list = true}), BrakeVerdict::kNeedsSecondList)
      << "ten minutes have not passed";
  registry_.Advance(std::chrono::minutes{10});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ask({.second_list = true}), BrakeVerdict::kRelease) << i;
  EXPECT_EQ(ask({.second_list = true}), BrakeVerdict::kNeedsCommand);
  EXPECT_EQ(ask({.commanded = true}), BrakeVerdict::kRelease);
  registry_.Advance(std::chrono::hours{1});
  EXPECT_EQ(ask({}), BrakeVerdict::kRelease) << "a new hour";
  EXPECT_EQ(BrakeLimit(10'000), 500U);
}

TEST_F(Histories, AnOperatorConfirmsAndReleasesWithoutACluster) {
  ASSERT_TRUE(registry_.Create(ManagedBucket(a_, "u1", "k", Intent::kDeletes, 1)).allowed);
  registry_.Run([&](Ledger& ledger) {
    EXPECT_EQ(ConfirmByOperator(a_, "operator", ledger), 1U);
    EXPECT_EQ(ConfirmByOperator(a_, "operator", ledger), 0U);
  });
  EXPECT_EQ(registry_.OwnerOf("k")->state, HolderState::kHeld);
  EXPECT_FALSE(registry_.Release(scene::BucketKey("none"), false).done);
  EXPECT_TRUE(registry_.Release(scene::BucketKey("k"), false).done);
  EXPECT_FALSE(registry_.OwnerOf("k"));
  EXPECT_TRUE(registry_.Create(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 2)).allowed);
}

// A name that is free while its resource lives goes to the next stranger.
TEST_F(Histories, WhatTheWatchShowsIsNotReleased) {
  const KeyText key = scene::BucketKey("k");
  ASSERT_TRUE(registry_.Create(ManagedBucket(a_, "u1", "k", Intent::kDeletes, 1)).allowed);
  ObjectFacts bucket = ManagedBucket(a_, "u1", "k", Intent::kManages, 2);
  bucket.real = true;
  registry_.See(bucket);
  const StoreContents before = registry_.Contents();
  ReleaseOutcome outcome = registry_.Release(key);
  EXPECT_FALSE(outcome.done);
  ASSERT_TRUE(outcome.living);
  EXPECT_EQ(outcome.living->slot, a_);
  EXPECT_TRUE(outcome.living->managed);
  EXPECT_FALSE(outcome.living->terminating);
  EXPECT_EQ(registry_.Contents(), before);
  EXPECT_FALSE(registry_.Create(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 2)).allowed);
  // Who names a successor lives until it has stepped back.
  bucket.transfer_to = "Bucket/team-c/heir";
  bucket.version = 3;
  registry_.See(bucket);
  EXPECT_FALSE(registry_.Release(key).done);
  bucket.terminating = true;
  bucket.version = 4;
  registry_.See(bucket);
  outcome = registry_.Release(key);
  ASSERT_TRUE(outcome.living);
  EXPECT_TRUE(outcome.living->terminating);
  registry_.SeeDeleted(bucket);
  ASSERT_TRUE(registry_.OwnerOf("k"));
  ASSERT_NE(registry_.OwnerOf("k")->record, Record::kNone);
  EXPECT_TRUE(registry_.Release(key).done) << "a record is released";
  EXPECT_FALSE(registry_.OwnerOf("k"));
}

TEST_F(Histories, WhatIsOnlyReservedIsReleased) {
  ASSERT_TRUE(registry_.Create(ManagedBucket(a_, "u1", "k", Intent::kDeletes, 1)).allowed);
  EXPECT_TRUE(registry_.Release(scene::BucketKey("k")).done);
  EXPECT_FALSE(registry_.OwnerOf("k"));
}

// The chain of a claim lives as long as anything of it: told is the managed resource, which acts.
TEST_F(Histories, AChainThatLivesIsNotReleased) {
  const Slot claim_slot = SlotOf("Storage", "team-a", "c");
  ObjectFacts claim = Composite(claim_slot, "c", "k", 1);
  registry_.See(claim);
  ReleaseOutcome outcome = registry_.Release(scene::BucketKey("k"));
  ASSERT_TRUE(outcome.living);
  EXPECT_EQ(outcome.living->slot, claim_slot);
  EXPECT_FALSE(outcome.living->managed);
  // Beside a conflict, too: what lives of the owner's chain is not passed on.
  registry_.See(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 2));
  outcome = registry_.Release(scene::BucketKey("k"));
  ASSERT_TRUE(outcome.living);
  EXPECT_EQ(outcome.living->slot, claim_slot);
  registry_.SeeDeleted(claim);
  EXPECT_EQ(registry_.OwnerOf("k")->root, b_);
}

TEST_F(Histories, AnImportedResourceIsRefusedToEverybody) {
  Owner imported;
  imported.root = SlotOf("Terraform", "", "network");
  imported.party = {"imported"};
  imported.record_reason = "terraform: network";
  registry_.Run([&](Ledger& ledger) {
    EXPECT_TRUE(Import(scene::BucketKey("k"), imported, "operator", ledger));
  });
  const Decision decision = registry_.Create(ManagedBucket(a_, "u1", "k", Intent::kDeletes, 1));
  ASSERT_FALSE(decision.allowed);
  EXPECT_EQ(decision.denied[0].reason, ClashReason::kImported);
}

TEST_F(Histories, ALivingManagerInheritsWhatAListOnlyReserved) {
  Owner reserved;
  reserved.root = ImportRoot("terraform:net");
  reserved.party = PartyOf(reserved.root);
  reserved.record_reason = "terraform:net";
  reserved.until = Timestamp::max();
  registry_.Run(
      [&](Ledger& ledger) { EXPECT_TRUE(Import(scene::BucketKey("k"), reserved, "ci", ledger)); });
  EXPECT_FALSE(registry_.OwnerOf("k")->real);
  EXPECT_FALSE(registry_.Create(ManagedBucket(a_, "u1", "k", Intent::kDeletes, 1)).allowed);
  registry_.See(ManagedBucket(a_, "u1", "k", Intent::kDeletes, 1));
  const ResourceId id = registry_.OwnerOf("k")->id;
  EXPECT_EQ(registry_.OwnerOf("k")->root, reserved.root) << "what is seen takes nothing";
  registry_.Run([&](Ledger& ledger) {
    EXPECT_FALSE(EndReservation(id, ledger)) << "before its time";
    EXPECT_FALSE(EndReservation(id, "cdk:other", "ci", ledger)) << "another source's";
    EXPECT_TRUE(EndReservation(id, "terraform:net", "ci", ledger));
  });
  EXPECT_EQ(registry_.OwnerOf("k")->root, a_);
  EXPECT_TRUE(registry_.OwnerOf("k")->real);
  EXPECT_FALSE(registry_.OwnerOf("k")->until);
}

}  // namespace histories_test
}  // namespace truce
