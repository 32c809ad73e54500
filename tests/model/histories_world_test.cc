// What the world of cascades (CascadeWorld) found, each as a history of its own.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "registry/ownership/agreements.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/lists/import.h"
#include "registry/ownership/names.h"
#include "tests/model/scene.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace histories_world_test {

using scene::ManagedQueue;
using scene::Queue;
using scene::QueueName;
using scene::SlotOf;

constexpr const char* kOne = "111111111111";
constexpr const char* kTwo = "222222222222";

class HistoriesOfTheWorld : public ::testing::Test {
 protected:
  ~HistoriesOfTheWorld() override {
    for (const std::string& breach : CheckInvariants(registry_.Contents())) ADD_FAILURE() << breach;
  }

  // The account of the ProviderConfig of `queue` was read.
  void Learn(const Queue& queue, const std::string& account) {
    registry_.RunOnAll([&](const AllFacts& facts, Ledger& ledger) {
      const std::vector<ResourceId> ids = facts.ResourcesAfter({}, 100);
      (void)LocateResources(ids, {queue.ProvisionalAccount(), account}, ledger);
    });
  }
  bool IsAs(const KeyText& name, const Slot& root) {
    const auto owner = registry_.OwnerNamed(name);
    return owner && owner->root == root && owner->record == Record::kNone;
  }

  testing::StrictStore store_;
  scene::Registry registry_{store_};
  const Slot a_ = SlotOf("Queue", "team-a", "a");
  const Slot b_ = SlotOf("Queue", "team-b", "b");
  const Slot c_ = SlotOf("Queue", "team-c", "c");
};

// Its provider lets go of what it is to keep; another finalizer holds the object, and the policy is
// edited after that.
TEST_F(HistoriesOfTheWorld, APolicyThatIsEditedOnceItsProviderLetGoDeletesNothing) {
  for (const bool shown : {true, false}) {
    const std::string name = shown ? "shown" : "missed";
    const auto see = [&](Intent intent, std::uint64_t version, bool deleting) {
      ObjectFacts bucket = scene::ManagedBucket(SlotOf("Bucket", "team-a", name), "u-" + name, name,
                                                intent, version);
      bucket.real = true;
      bucket.terminating = bucket.deleting = deleting;
      registry_.See(bucket);
      return bucket;
    };
    see(Intent::kDeletes, 10, false);
    see(Intent::kManages, 11, false);
    if (shown) see(Intent::kManages, 12, true);
    registry_.SeeDeleted(see(Intent::kDeletes, 13, true));
    ASSERT_TRUE(registry_.OwnerOf(name)) << name;
    EXPECT_EQ(registry_.OwnerOf(name)->record, Record::kOrphaned) << name;
  }
}

// Somebody declared it past Truce while Terraform owned it: when Terraform's word ends, it is
// theirs.
TEST_F(HistoriesOfTheWorld, AnImportEndsBesideALivingDeclaration) {
  registry_.Run([](Ledger& ledger) {
    Owner owner;
    owner.root = {"", "truce.dev", "Import", "", "terraform:network"};
    owner.party = PartyOf(owner.root);
    ASSERT_TRUE(Import(scene::BucketKey("k"), owner, "operator", ledger));
  });
  const Slot slot = SlotOf("Bucket", "team-b", "b");
  registry_.See(scene::ManagedBucket(slot, "b", "k", Intent::kDeletes, 10));
  EXPECT_TRUE(registry_.Release(scene::BucketKey("k")).done);
  ASSERT_TRUE(registry_.OwnerOf("k"));
  EXPECT_EQ(registry_.OwnerOf("k")->root, slot);
  EXPECT_EQ(registry_.OwnerOf("k")->record, Record::kNone);
}

// A list that finds its resource declared claims it beside the owner, and inherits it.
class HistoriesOfLists : public HistoriesOfTheWorld {
 protected:
  ImportPlan Give(const ImportList& list) {
    ImportPlan plan;
    registry_.RunOnAll([&](const AllFacts& facts, Ledger& ledger) {
      plan = PlanImport(list, facts);
      ApplyImport(list, plan, "operator", ledger);
    });
    return plan;
  }
  std::vector<Row> Claims() {
    std::vector<Row> rows = registry_.Contents().rows;
    std::erase_if(rows, [](const Row& row) { return row.root != ImportRoot("terraform:net"); });
    return rows;
  }
  std::size_t Objects() { return registry_.Contents().objects.size(); }

  const ImportList list_{"terraform:net", {{scene::Bucket("k", Intent::kDeletes), "", "", "a.b"}}};
  const Slot slot_ = SlotOf("Bucket", "team-b", "b");
};

TEST_F(HistoriesOfLists, AnImportThatComesSecondIsAConflict) {
  ObjectFacts bucket = scene::ManagedBucket(slot_, "b", "k", Intent::kDeletes, 10);
  bucket.real = true;
  registry_.See(bucket);
  EXPECT_EQ(Give(list_).lines.at(0).action, ImportAction::kConflicting);
  EXPECT_TRUE(registry_.OwnerOf("k")->contested);
  EXPECT_EQ(registry_.OwnerOf("k")->root, slot_);
  ASSERT_EQ(Claims().size(), 1U);
  const StoreContents before = registry_.Contents();
  Give(list_);
  EXPECT_EQ(registry_.Contents(), before) << "said twice it is the same";
  Give({"terraform:net", {}});
  EXPECT_EQ(Claims().size(), 1U) << "a list that does not retire takes nothing back";
  // The owner's party goes on as before; nobody else comes in.
  EXPECT_TRUE(registry_.Update(bucket, bucket).allowed);
  const Slot other = SlotOf("Bucket", "team-c", "c");
  EXPECT_FALSE(
      registry_.Create(scene::ManagedBucket(other, "c", "k", Intent::kDeletes, 11)).allowed);
  const ImportPlan plan = Give({"terraform:net", {}, true});
  EXPECT_EQ(plan.unclaimed.size(), 1U);
  EXPECT_TRUE(Claims().empty());
  EXPECT_FALSE(registry_.OwnerOf("k")->contested);
  EXPECT_EQ(Objects(), 1U);
}

TEST_F(HistoriesOfLists, AReservationTakesNoImportBack) {
  EXPECT_EQ(Give(list_).lines.at(0).action, ImportAction::kNew);
  const StoreContents before = registry_.Contents();
  ImportList reserves = list_;
  reserves.until = registry_.now() + kReservedMin;
  EXPECT_EQ(Give(reserves).lines.at(0).action, ImportAction::kOwned);
  EXPECT_EQ(registry_.Contents(), before) << "its end would free what is real";
}

TEST_F(HistoriesOfLists, AListInheritsWhatItClaims) {
  for (const bool witnessed : {true, false}) {
    const std::string name = witnessed ? "gone" : "kept";
    const ImportList list{"terraform:net", {{scene::Bucket(name, Intent::kDeletes), "", "", ""}}};
    ObjectFacts bucket = scene::ManagedBucket(slot_, name, name, Intent::kDeletes, 10);
    bucket.real = true;
    registry_.See(bucket);
    Give(list);
    bucket.terminating = true;
    bucket.deleting = witnessed;
    bucket.version = 11;
    registry_.See(bucket);
    bucket.version = 12;
    registry_.SeeDeleted(bucket);
    if (!witnessed) {
      // Not known to be gone it is its party's, until an operator lets it go.
      EXPECT_EQ(registry_.OwnerOf(name)->record, Record::kOrphaned);
      EXPECT_TRUE(registry_.OwnerOf(name)->contested);
      EXPECT_TRUE(registry_.Release(scene::BucketKey(name)).done);
    }
    ASSERT_TRUE(registry_.OwnerOf(name));
    const Owner owner = *registry_.OwnerOf(name);
    EXPECT_EQ(SourceOf(owner), "terraform:net");
    EXPECT_EQ(owner.record, Record::kImported);
    EXPECT_FALSE(owner.contested);
    EXPECT_TRUE(Claims().empty());
    EXPECT_EQ(Objects(), 0U);
    EXPECT_EQ(Give(list).lines.at(0).action, ImportAction::kOwned);
    EXPECT_FALSE(
        registry_.Create(scene::ManagedBucket(slot_, "again", name, Intent::kDeletes, 20)).allowed);
  }
}

// The account of what is declared is not known when the list comes.
TEST_F(HistoriesOfLists, AClaimWaitsForTheAccount) {
  for (const char* account : {"111111111111", "222222222222"}) {
    const std::string name = std::string("jobs-") + account[0];
    DeclaredResource resource;
    resource.identity = {"sqs/Queue", "aws", "111111111111", "eu-west-1", {{"name", name}}};
    resource.names = {{scene::QueueName(name, "111111111111"), false}};
    resource.name = name;
    const ImportList list{"terraform:net", {{resource, "", "", ""}}};
    const scene::Queue queue{name, "default", "", ""};
    registry_.See(
        scene::ManagedQueue(SlotOf("Queue", "team-b", name), name, queue, Intent::kDeletes, 10));
    EXPECT_EQ(Give(list).lines.at(0).action, ImportAction::kConflicting);
    EXPECT_TRUE(
        registry_.OwnerNamed(scene::QueueName(name, queue.ProvisionalAccount()))->contested);
    registry_.Run([&](Ledger& ledger) {
      const std::vector<ResourceId> ids = {
          scene::IdNamed(scene::QueueName(name, queue.ProvisionalAccount()), ledger)};
      (void)LocateResources(ids, {queue.ProvisionalAccount(), account}, ledger);
    });
    const ImportAction action = Give(list).lines.at(0).action;
    const bool same = account == std::string("111111111111");
    EXPECT_EQ(action, same ? ImportAction::kConflicting : ImportAction::kNew);
    EXPECT_EQ(registry_.OwnerNamed(scene::QueueName(name, account))->contested, same);
  }
}

// The API server saw no answer and asks again.
TEST_F(HistoriesOfTheWorld, ARestoreIsAskedTwice) {
  const Slot slot = SlotOf("Bucket", "", "x-y");
  const Slot claim = SlotOf("Storage", "team-a", "c");
  ObjectFacts top = scene::Composite(claim, "c", "", 1);
  ObjectFacts composite = scene::Composite(SlotOf("XStorage", "", "x"), "x", "", 2);
  ObjectFacts bucket = scene::ManagedBucket(slot, "b", "k", Intent::kDeletes, 3);
  top.lineage.composite = scene::RefTo(composite.slot, "");
  composite.lineage.claim = scene::RefTo(claim, "");
  composite.lineage.resources = {scene::RefTo(slot, "")};
  bucket.lineage.controller = scene::RefTo(composite.slot, "x");
  for (ObjectFacts* object : {&top, &composite, &bucket}) {
    ASSERT_TRUE(registry_.Create(*object, scene::kCrossplane).allowed);
    object->real = true;
    registry_.See(*object);
  }
  for (ObjectFacts* object : {&top, &composite, &bucket}) registry_.SeeDeleted(*object);
  ObjectFacts restored = scene::ManagedBucket(slot, "again", "k", Intent::kDeletes, 30);
  restored.lineage.composed = true;
  restored.lineage.label = "x";
  ASSERT_TRUE(registry_.Create(restored, scene::kRestorer).allowed);
  const StoreContents once = registry_.Contents();
  EXPECT_TRUE(registry_.Ask(registry_.last_request()).allowed);
  EXPECT_TRUE(registry_.Contents() == once);
}

// A composite that comes back names a place: who lives there counts, not whose end is not told yet.
class HistoriesOfAPlace : public HistoriesOfTheWorld {
 protected:
  HistoriesOfAPlace() {
    composite_.lineage.resources = {scene::RefTo(slot_, "")};
    restored_.lineage.composed = true;
    restored_.lineage.label = "x";
  }
  const Slot slot_ = SlotOf("Bucket", "team-a", "x-y");
  const Slot top_ = SlotOf("XStorage", "team-a", "x");
  ObjectFacts composite_ = scene::Composite(top_, "x", "k", 9);
  ObjectFacts restored_ = scene::ManagedBucket(slot_, "restored", "k", Intent::kDeletes, 3);
  ObjectFacts own_ = scene::ManagedBucket(slot_, "own", "k", Intent::kDeletes, 5);
};

TEST_F(HistoriesOfAPlace, OneThatWasThereBeforeHoldsNothingBack) {
  ASSERT_TRUE(registry_.Create(own_).allowed);
  registry_.See(own_);
  registry_.Advance(std::chrono::seconds{1});
  ASSERT_TRUE(registry_.Create(restored_, scene::kRestorer).allowed);
  registry_.Advance(std::chrono::seconds{1});
  EXPECT_TRUE(registry_.Create(composite_, scene::kRestorer).allowed);
  EXPECT_EQ(registry_.OwnerOf("k")->root, top_);
  registry_.SeeDeleted(own_);
  EXPECT_EQ(registry_.OwnerOf("k")->root, top_);
}

TEST_F(HistoriesOfAPlace, ALateVersionOfTheOneBeforeBringsItBackNowhere) {
  ASSERT_TRUE(registry_.Create(restored_, scene::kRestorer).allowed);
  registry_.Advance(std::chrono::seconds{1});
  ASSERT_TRUE(registry_.Create(own_).allowed);
  registry_.Advance(std::chrono::seconds{1});
  restored_.service = "late";
  registry_.See(restored_);
  EXPECT_FALSE(registry_.Create(composite_, scene::kRestorer).allowed);
  EXPECT_EQ(registry_.OwnerOf("k")->root, slot_);
}

TEST_F(HistoriesOfAPlace, OneWhoseEndWasProvedAndThatIsSeenAgainBreaksNothing) {
  ASSERT_TRUE(registry_.Create(restored_, scene::kRestorer).allowed);
  registry_.Advance(std::chrono::seconds{1});
  ASSERT_TRUE(registry_.Create(own_).allowed);
  registry_.Prove({registry_.IdOf("k"), {"restored"}, RowState::kReserved},
                  {Proof::Answer::kGone, std::nullopt});
  registry_.Advance(std::chrono::seconds{1});
  registry_.See(restored_);
  (void)registry_.Create(composite_, scene::kRestorer);
  registry_.SeeDeleted(restored_);
  registry_.See(own_);
  EXPECT_EQ(registry_.OwnerOf("k")->record, Record::kNone);
}

// Two declarations of one queue, one of which ended: the last version of the other makes them one.
TEST_F(HistoriesOfTheWorld, TheLastVersionShowsThatTwoAreOne) {
  const Slot other = SlotOf("Queue", "team-a", "other");
  const Queue by_account{"jobs", "stage", kOne, ""};
  const ObjectFacts first = ManagedQueue(other, "o", by_account, Intent::kManages, 10);
  ASSERT_TRUE(registry_.Create(first).allowed);
  registry_.See(first);
  ObjectFacts last = ManagedQueue(a_, "a", {"jobs", "prod", "", ""}, Intent::kDeletes, 11);
  last.real = true;
  ASSERT_TRUE(registry_.Create(last).allowed);
  registry_.See(last);
  registry_.Advance(std::chrono::seconds{1});
  last = ManagedQueue(a_, "a", {"jobs", "prod", "", kOne}, Intent::kDeletes, 12);
  last.real = last.terminating = last.deleting = true;
  registry_.See(last);
  registry_.SeeDeleted(first);
  ASSERT_TRUE(IsAs(QueueName("jobs", kOne), a_));
  registry_.SeeDeleted(last);
  EXPECT_TRUE(registry_.Contents().owners.empty());
}

// A's reference went to another account and back, each queue was made, and the status of between
// joined the two. The ProviderConfig tells them apart again: each stays A's.
TEST_F(HistoriesOfTheWorld, WhatAnOldStatusJoinedExistsTwice) {
  ObjectFacts made = ManagedQueue(a_, "a", {"jobs", "prod", "", ""}, Intent::kDeletes, 10);
  ASSERT_TRUE(registry_.Create(made).allowed);
  made.real = true;
  registry_.See(made);
  const auto there = ManagedQueue(a_, "a", {"jobs", "stage", kOne, ""}, Intent::kDeletes, 11);
  ASSERT_TRUE(registry_.Update(made, there).allowed);
  const auto back = ManagedQueue(a_, "a", {"jobs", "prod", "", kOne}, Intent::kDeletes, 12);
  ASSERT_TRUE(registry_.Update(there, back).allowed);
  ASSERT_EQ(registry_.Contents().owners.size(), 1U);
  for (const Row& row : registry_.Contents().rows) {
    if (row.id.state == RowState::kSeen) registry_.Absent(row.id);
  }
  Learn({"jobs", "prod", "", ""}, kTwo);
  for (const Row& row : registry_.Contents().rows) {
    registry_.Prove(row.id, {Proof::Answer::kGone, std::nullopt});
  }
  for (const char* account : {kOne, kTwo}) {
    const auto owner = registry_.OwnerNamed(QueueName("jobs", account));
    ASSERT_TRUE(owner) << account;
    EXPECT_EQ(owner->root, a_) << account;
  }
}

// A declares by a ProviderConfig whose account becomes known what others observe there.
TEST_F(HistoriesOfTheWorld, WhatOthersObserveBecomesTheDeclarantsAtOnce) {
  const Queue observed{"jobs", "stage", kOne, ""};
  registry_.See(ManagedQueue(b_, "b", observed, Intent::kObserves, 10));
  ObjectFacts declared = ManagedQueue(a_, "a", {"jobs", "prod", "", ""}, Intent::kDeletes, 11);
  ASSERT_TRUE(registry_.Create(declared).allowed);
  declared = ManagedQueue(a_, "a", {"jobs", "prod", kOne, ""}, Intent::kDeletes, 12);
  registry_.See(declared);
  const StoreContents once = registry_.Contents();
  EXPECT_EQ(once.owners.size(), 1U);
  registry_.See(declared);
  EXPECT_TRUE(registry_.Contents() == once);
}

// B only observes by the account what A declared without it.
TEST_F(HistoriesOfTheWorld, AnAccountBecomesKnownThatOthersObserve) {
  const Queue declared{"jobs", "prod", "", ""};
  ASSERT_TRUE(registry_.Create(ManagedQueue(a_, "a", declared, Intent::kDeletes, 10)).allowed);
  const Queue observed{"jobs", "stage", kOne, ""};
  ASSERT_TRUE(registry_.Create(ManagedQueue(b_, "b", observed, Intent::kObserves, 11)).allowed);
  Learn(declared, kOne);
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_));
  EXPECT_TRUE(IsAs(QueueName("jobs", declared.ProvisionalAccount()), a_));
}

// B observed in the account where the ProviderConfig led before: that is no resource of anybody's.
TEST_F(HistoriesOfTheWorld, WhatIsOnlyObservedElsewhereStandsInNobodysWay) {
  const Queue before{"jobs", "prod", kOne, ""};
  const Queue now{"jobs", "prod", kTwo, ""};
  ASSERT_TRUE(registry_.Create(ManagedQueue(b_, "b", before, Intent::kObserves, 10)).allowed);
  ASSERT_TRUE(registry_.Create(ManagedQueue(a_, "a", now, Intent::kDeletes, 11)).allowed);
  EXPECT_TRUE(IsAs(QueueName("jobs", kTwo), a_));
  EXPECT_TRUE(IsAs(QueueName("jobs", now.ProvisionalAccount()), a_))
      << "an observer brings one name";
}

// C only observes by the ProviderConfig whose account is still being applied.
TEST_F(HistoriesOfTheWorld, WhatIsOnlyObservedIsNotAwaited) {
  const Queue moving{"jobs", "prod", "", ""};
  const Queue queue{"jobs", "stage", kOne, ""};
  ASSERT_TRUE(registry_.Create(ManagedQueue(c_, "c", moving, Intent::kObserves, 10)).allowed);
  ASSERT_TRUE(registry_.Create(ManagedQueue(b_, "b", queue, Intent::kObserves, 11)).allowed);
  registry_.moving = {{kOne, {moving.ProvisionalAccount()}}};
  ASSERT_TRUE(registry_.Create(ManagedQueue(a_, "a", queue, Intent::kDeletes, 12)).allowed);
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_));
}

// B managed it in one account, then only observes it; the ProviderConfig leads to another one.
TEST_F(HistoriesOfTheWorld, WhatIsOnlyObservedKeepsItsAccount) {
  Queue queue{"jobs", "prod", "", ""};
  ObjectFacts b = ManagedQueue(b_, "b", queue, Intent::kDeletes, 10);
  ASSERT_TRUE(registry_.Create(b).allowed);
  registry_.See(b);
  queue.account = kTwo;
  registry_.See(ManagedQueue(b_, "b", queue, Intent::kDeletes, 11));
  registry_.See(ManagedQueue(b_, "b", queue, Intent::kObserves, 12));
  queue.account = kOne;
  ASSERT_TRUE(registry_.Create(ManagedQueue(a_, "a", queue, Intent::kDeletes, 13)).allowed);
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_));
  EXPECT_TRUE(IsAs(QueueName("jobs", queue.ProvisionalAccount()), a_));
}

// A moves its queue to another ProviderConfig and back: its status still shows the account between.
TEST_F(HistoriesOfTheWorld, AnOldStatusDoesNotProvisionalAccountTheOwnersWay) {
  const auto by_one = [&](const char* shown, std::uint64_t version) {
    return ManagedQueue(a_, "a", {"jobs", "prod", "", shown}, Intent::kDeletes, version);
  };
  ASSERT_TRUE(registry_.Create(by_one("", 10)).allowed);
  registry_.See(by_one(kTwo, 11));
  ObjectFacts moved = ManagedQueue(a_, "a", {"jobs", "stage", kOne, ""}, Intent::kDeletes, 12);
  ASSERT_TRUE(registry_.Update(by_one(kTwo, 11), moved).allowed);
  registry_.See(moved);
  EXPECT_TRUE(registry_.Update(moved, by_one(kOne, 13)).allowed);
  EXPECT_EQ(registry_.OwnerNamed(QueueName("jobs", kTwo))->record, Record::kOrphaned);
  EXPECT_FALSE(
      registry_.Create(ManagedQueue(b_, "b", {"jobs", "prod", "", ""}, Intent::kDeletes, 14))
          .allowed);
}

// The successor's turn comes in the decision that takes a name from the resource.
TEST_F(HistoriesOfTheWorld, ATransferThatIsDoneEndsWhateverItsResourceIsCalled) {
  Queue queue{"jobs", "prod", "", kTwo};
  ASSERT_TRUE(
      registry_.Create(ManagedQueue(a_, "a", {"jobs", "prod", "", ""}, Intent::kDeletes, 10))
          .allowed);
  registry_.See(ManagedQueue(a_, "a", queue, Intent::kDeletes, 11));
  registry_.Run([&](Ledger& ledger) {
    const ResourceId id = scene::IdNamed(QueueName("jobs", queue.ProvisionalAccount()), ledger);
    const TransferTerms terms{{"ns:local/team-b"}, "Queue/team-b/b", true};
    ASSERT_TRUE(OfferTransfer(id, terms, {"admin", "asked for"}, ledger).ok());
  });
  registry_.See(ManagedQueue(b_, "b", {"jobs", "stage", kTwo, ""}, Intent::kDeletes, 12));
  queue.observed = kOne;
  registry_.See(ManagedQueue(a_, "a", queue, Intent::kDeletes, 13));
  EXPECT_TRUE(IsAs(QueueName("jobs", kTwo), b_));
  EXPECT_TRUE(registry_.Contents().agreements.empty());
}

// The observer's row moves with its ProviderConfig at the first sight, as at any later one.
TEST_F(HistoriesOfTheWorld, AnObserverOfAnotherAccountIsSeenTwice) {
  Queue queue{"jobs", "prod", kOne, ""};
  ObjectFacts object = ManagedQueue(a_, "a", queue, Intent::kDeletes, 10);
  ASSERT_TRUE(registry_.Create(object).allowed);
  object.real = true;
  registry_.See(object);
  queue.account = kTwo;
  object = ManagedQueue(a_, "a", queue, Intent::kObserves, 11);
  registry_.See(object);
  const StoreContents once = registry_.Contents();
  registry_.See(object);
  EXPECT_TRUE(registry_.Contents() == once);
  EXPECT_EQ(registry_.OwnerNamed(QueueName("jobs", kOne))->record, Record::kOrphaned);
}

// The last version is read when the ProviderConfig leads elsewhere already, where nothing was made:
// what it takes along to there goes back to the queue that may live on.
TEST_F(HistoriesOfTheWorld, ANameThatOnlyPassesThroughStays) {
  Queue queue{"jobs", "prod", kOne, ""};
  ObjectFacts a = ManagedQueue(a_, "a", queue, Intent::kDeletes, 10);
  ASSERT_TRUE(registry_.Create(a).allowed);
  a.real = true;
  registry_.See(a);
  queue.account = kTwo;
  registry_.SeeDeleted(ManagedQueue(a_, "a", queue, Intent::kDeletes, 11));
  for (const std::string& account : {std::string(kOne), queue.ProvisionalAccount()}) {
    const auto owner = registry_.OwnerNamed(QueueName("jobs", account));
    ASSERT_TRUE(owner) << account;
    EXPECT_EQ(owner->key, QueueName("jobs", kOne));
    EXPECT_EQ(owner->root, a_);
    EXPECT_EQ(owner->record, Record::kOrphaned);
  }
  EXPECT_FALSE(registry_.OwnerNamed(QueueName("jobs", kTwo)));
}

// The same, and a second object of the team was admitted by the name: it is reserved at both ends.
TEST_F(HistoriesOfTheWorld, ANameThatPassesThroughStaysTheSeconds) {
  Queue queue{"jobs", "prod", kOne, ""};
  ASSERT_TRUE(registry_.Create(ManagedQueue(a_, "first", queue, Intent::kDeletes, 10)).allowed);
  registry_.See(ManagedQueue(a_, "first", queue, Intent::kDeletes, 10));
  ASSERT_TRUE(registry_.Create(ManagedQueue(a_, "second", queue, Intent::kDeletes, 11)).allowed);
  queue.account = kTwo;
  registry_.SeeDeleted(ManagedQueue(a_, "first", queue, Intent::kDeletes, 12));
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_)) << "reserved by the second";
  EXPECT_TRUE(IsAs(QueueName("jobs", queue.ProvisionalAccount()), a_));
}

TEST_F(HistoriesOfTheWorld, ANameThatIsTakenAndFreedAtOnceGoesBack) {
  registry_.status_guarded = false;  // else nothing takes it
  ASSERT_TRUE(
      registry_.Create(ManagedQueue(b_, "b", {"jobs", "prod", "", ""}, Intent::kDeletes, 10))
          .allowed);
  registry_.See(ManagedQueue(b_, "b", {"jobs", "prod", "", kTwo}, Intent::kDeletes, 11));
  Queue queue{"jobs", "stage", kOne, ""};
  ObjectFacts a = ManagedQueue(a_, "a", queue, Intent::kDeletes, 12);
  ASSERT_TRUE(registry_.Create(a).allowed);
  registry_.See(a);
  queue.account = kTwo;
  registry_.SeeDeleted(ManagedQueue(a_, "a", queue, Intent::kDeletes, 13));
  EXPECT_TRUE(IsAs(QueueName("jobs", kTwo), b_));
}

// Replaced by force after its status had told another account; a proof is ahead of the watch. What
// the watch still shows of the old one takes the provisional account from nobody.
TEST_F(HistoriesOfTheWorld, AnOldStatusOfWhatWasReplacedMovesNoProvisionalAccount) {
  const Queue queue{"jobs", "prod", "", ""};
  const Slot other = SlotOf("Queue", "team-a", "other");
  const auto first = ManagedQueue(other, "o", {"jobs", "stage", kOne, ""}, Intent::kDeletes, 9);
  const auto old = ManagedQueue(a_, "old", queue, Intent::kDeletes, 10);
  for (const ObjectFacts& object : {first, old}) {
    ASSERT_TRUE(registry_.Create(object).allowed);
    registry_.See(object);
  }
  registry_.Advance(std::chrono::minutes{1});
  ASSERT_TRUE(registry_.Create(ManagedQueue(a_, "new", queue, Intent::kDeletes, 13)).allowed);
  registry_.See(ManagedQueue(a_, "new", {"jobs", "prod", "", kTwo}, Intent::kDeletes, 14));
  ASSERT_TRUE(IsAs(QueueName("jobs", kTwo), a_));
  auto last = ManagedQueue(a_, "old", {"jobs", "prod", "", kOne}, Intent::kDeletes, 11);
  registry_.See(last);
  EXPECT_TRUE(IsAs(QueueName("jobs", queue.ProvisionalAccount()), a_));
  last.terminating = true;
  registry_.SeeDeleted(last);
  EXPECT_TRUE(IsAs(QueueName("jobs", queue.ProvisionalAccount()), a_));
  EXPECT_EQ(registry_.OwnerNamed(QueueName("jobs", queue.ProvisionalAccount())),
            registry_.OwnerNamed(QueueName("jobs", kTwo)));
}

// The same, and an object that was admitted in its place and never came is the youngest there.
TEST_F(HistoriesOfTheWorld, WhatNeverCameHidesNobodyInItsPlace) {
  const Queue queue{"jobs", "prod", "", ""};
  const Slot other = SlotOf("Queue", "team-a", "other");
  const auto first = ManagedQueue(other, "o", {"jobs", "stage", kOne, ""}, Intent::kDeletes, 9);
  ASSERT_TRUE(registry_.Create(first).allowed);
  for (const char* uid : {"old", "new"}) {
    registry_.Advance(std::chrono::minutes{1});
    const auto object = ManagedQueue(a_, uid, queue, Intent::kDeletes, 10);
    ASSERT_TRUE(registry_.Create(object).allowed);
    registry_.See(object);
  }
  registry_.Advance(std::chrono::minutes{1});
  ASSERT_TRUE(registry_.Create(ManagedQueue(a_, "taken", queue, Intent::kDeletes, 13)).allowed);
  registry_.See(ManagedQueue(a_, "new", {"jobs", "prod", "", kTwo}, Intent::kDeletes, 14));
  registry_.See(ManagedQueue(a_, "old", {"jobs", "prod", "", kOne}, Intent::kDeletes, 11));
  ASSERT_TRUE(IsAs(QueueName("jobs", kTwo), a_));
  EXPECT_EQ(registry_.IdNamed(QueueName("jobs", queue.ProvisionalAccount())),
            registry_.IdNamed(QueueName("jobs", kTwo)));
}

// A left its queue in one account to B, whose own queue an administrator gives to A; then the
// ProviderConfig of B's leads to that account, too. One queue, of which the last word counts.
TEST_F(HistoriesOfTheWorld, OfTwoWordsThatBecomeOneTheLivingOwnersCounts) {
  const Slot b = SlotOf("Queue", "team-a", "b");
  const Queue left{"jobs", "stage", kOne, ""};
  const Queue lives{"jobs", "prod", "", ""};
  ObjectFacts a = ManagedQueue(a_, "a", left, Intent::kDeletes, 10);
  ASSERT_TRUE(registry_.Create(a).allowed);
  a.real = true;
  a.transfer_to = "Queue/team-a/b";
  registry_.See(a);
  ASSERT_TRUE(registry_.Create(ManagedQueue(b, "b", lives, Intent::kDeletes, 11)).allowed);
  registry_.See(ManagedQueue(b, "b", lives, Intent::kDeletes, 11));
  const KeyText provisional_account = QueueName("jobs", lives.ProvisionalAccount());
  registry_.Run([&](Ledger& ledger) {
    const TransferTerms terms{{"ns:local/team-a"}, "Queue/team-a/a", true};
    const ResourceId id = scene::IdNamed(provisional_account, ledger);
    ASSERT_TRUE(OfferTransfer(id, terms, {"admin", "asked for"}, ledger).ok());
  });
  a = ManagedQueue(a_, "a", left, Intent::kObserves, 12);
  a.transfer_to = "Queue/team-a/b";
  registry_.See(a);
  ASSERT_EQ(registry_.OwnerNamed(QueueName("jobs", kOne))->record, Record::kTransferring);
  Learn(lives, kOne);
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), b));
  EXPECT_EQ(registry_.OwnerNamed(provisional_account)->successor, "Queue/team-a/a");
  EXPECT_EQ(registry_.Contents().agreements.size(), 1U) << "the hand-over stays open";
}

// A chain with a nested composite is restored, but for the composite at its top, which is deleted
// again meanwhile. The nested one has a label, no parent: it takes nothing along to a party of its
// own. Made anew, the composite joins what is left.
TEST_F(HistoriesOfTheWorld, ANestedCompositeWithoutItsOwnTakesNothingAlong) {
  const Slot claim = SlotOf("Storage", "team-a", "c");
  ObjectFacts top = scene::Composite(claim, "c", "", 1);
  ObjectFacts composite = scene::Composite(SlotOf("XStorage", "", "x"), "x", "", 2);
  ObjectFacts nested = scene::Composite(SlotOf("XStorage", "", "x-n"), "n", "", 3);
  ObjectFacts bucket =
      scene::ManagedBucket(SlotOf("Bucket", "", "x-n-y"), "b", "k", Intent::kDeletes, 4);
  top.lineage.composite = scene::RefTo(composite.slot, "");
  composite.lineage.claim = scene::RefTo(claim, "");
  composite.lineage.resources = {scene::RefTo(nested.slot, "")};
  nested.lineage.controller = scene::RefTo(composite.slot, "x");
  nested.lineage.resources = {scene::RefTo(bucket.slot, "")};
  bucket.lineage.controller = scene::RefTo(nested.slot, "n");
  for (ObjectFacts* object : {&nested, &bucket}) {
    object->lineage.composed = true;
    object->lineage.label = "x";
  }
  for (ObjectFacts* object : {&top, &composite, &nested, &bucket}) {
    ASSERT_TRUE(registry_.Create(*object, scene::kCrossplane).allowed);
    object->real = true;
    registry_.See(*object);
  }
  for (ObjectFacts* object : {&top, &composite, &nested, &bucket}) registry_.SeeDeleted(*object);

  const auto again = [&](ObjectFacts& object, const char* uid, const std::string& user) {
    object.uid = {uid};
    object.lineage.controller.reset();
    *object.version += 10;
    EXPECT_TRUE(registry_.Create(object, user).allowed) << uid;
    registry_.See(object);
  };
  again(composite, "x2", scene::kRestorer);
  again(top, "c2", scene::kRestorer);
  again(bucket, "b2", scene::kRestorer);
  registry_.SeeDeleted(composite);
  again(nested, "n2", scene::kRestorer);
  const auto linked = [&](ObjectFacts& object, const ObjectFacts& parent) {
    const ObjectFacts old = object;
    object.lineage.controller = scene::RefTo(parent.slot, parent.uid.text);
    *object.version += 10;
    EXPECT_TRUE(registry_.Update(old, object, scene::kCrossplane).allowed);
    registry_.See(object);
  };
  linked(bucket, nested);
  const auto root = [&](const ObjectFacts& object) {
    for (const Object& each : registry_.Contents().objects) {
      if (each.uid == object.uid) return each.root;
    }
    return Slot{};
  };
  EXPECT_TRUE(IsAs(scene::BucketKey("k"), claim));
  EXPECT_EQ(root(bucket), claim);
  EXPECT_EQ(root(nested), nested.slot) << "a label alone makes nobody's chain";

  again(composite, "x3", scene::kCrossplane);
  linked(nested, composite);
  registry_.See(bucket);
  for (const ObjectFacts& object : {composite, nested, bucket}) EXPECT_EQ(root(object), claim);
  EXPECT_TRUE(IsAs(scene::BucketKey("k"), claim));
  EXPECT_FALSE(registry_.OwnerOf("k")->contested);
}

// Replaced by force while a status of before told another account: the true one takes the
// provisional account along, and with it what was admitted by it and is not seen yet.
TEST_F(HistoriesOfTheWorld, WhatWasAdmittedByAProvisionalAccountGoesWhereThatGoes) {
  const auto by_prod = [&](const char* uid, const char* shown, std::uint64_t version) {
    return ManagedQueue(a_, uid, {"jobs", "prod", "", shown}, Intent::kDeletes, version);
  };
  ASSERT_TRUE(registry_.Create(by_prod("old", "", 10)).allowed);
  registry_.See(by_prod("old", "", 10));
  registry_.See(by_prod("old", kOne, 11));
  registry_.Advance(std::chrono::minutes{1});
  ASSERT_TRUE(registry_.Create(by_prod("new", "", 13)).allowed);
  ObjectFacts last = by_prod("old", kTwo, 12);
  registry_.See(last);
  ASSERT_EQ(registry_.OwnerNamed(QueueName("jobs", Queue{"", "prod", "", ""}.ProvisionalAccount())),
            registry_.OwnerNamed(QueueName("jobs", kTwo)));
  last.terminating = true;
  registry_.SeeDeleted(last);
  EXPECT_TRUE(IsAs(QueueName("jobs", kTwo), a_)) << "the new one is to come";
  const Slot sibling = SlotOf("Queue", "team-a", "sibling");
  EXPECT_FALSE(
      registry_.Create(ManagedQueue(sibling, "s", {"jobs", "prod", "", ""}, Intent::kDeletes, 14))
          .allowed);
}

// Restored before anything knows whose it is, a bucket joins its composite, which is deleted again
// and leaves it: it stays with that root of record, whose composite may return in its place.
TEST_F(HistoriesOfTheWorld, WhatJoinedARestoredCompositeStaysWhenThatIsGone) {
  ObjectFacts bucket =
      scene::ManagedBucket(SlotOf("Bucket", "", "x-y"), "b", "k", Intent::kDeletes, 1);
  bucket.lineage.composed = true;
  bucket.lineage.label = "x";
  bucket.real = true;
  ASSERT_TRUE(registry_.Create(bucket, scene::kRestorer).allowed);
  registry_.See(bucket);
  ObjectFacts composite = scene::Composite(SlotOf("XStorage", "", "x"), "x", "k", 2);
  composite.lineage.resources = {scene::RefTo(bucket.slot, "")};
  ASSERT_TRUE(registry_.Create(composite, scene::kRestorer).allowed);
  registry_.See(composite);
  registry_.SeeDeleted(composite);
  *bucket.version += 10;
  registry_.See(bucket);
  EXPECT_TRUE(IsAs(scene::BucketKey("k"), composite.slot));
  const Slot stranger = SlotOf("Bucket", "team-b", "b");
  EXPECT_FALSE(
      registry_.Create(scene::ManagedBucket(stranger, "s", "k", Intent::kDeletes, 20)).allowed);
  composite.uid = {"again"};
  EXPECT_TRUE(registry_.Create(composite).allowed);
}

// --- found by the sketch of the rules about names, at the seeds that each story names
// --------------

// A claim, its composite and what that composes, as a restore brings them: no owner references.
struct RestoredChain {
  explicit RestoredChain(const std::string& ns)
      : claim(scene::Composite(SlotOf("Storage", ns, "c"), "claim", "k", 30)),
        composite(scene::Composite(SlotOf("XStorage", "", "c-x"), "composite", "k", 31)),
        bucket(scene::ManagedBucket(SlotOf("Bucket", "", "c-x-y"), "bucket", "k", Intent::kManages,
                                    32)) {
    claim.lineage.composite = scene::RefTo(composite.slot, "");
    composite.lineage.claim = scene::RefTo(claim.slot, "");
    composite.lineage.resources = {scene::RefTo(bucket.slot, "")};
    bucket.lineage.composed = true;
    bucket.lineage.label = composite.slot.name;
  }
  ObjectFacts claim;
  ObjectFacts composite;
  ObjectFacts bucket;
};

// Seed 2058: nobody remembers the chain, which is restored from below: its party is that of its
// top, as far as it stands.
TEST_F(HistoriesOfTheWorld, AChainIsRestoredFromBelowIntoAnEmptyRegistry) {
  RestoredChain chain("team-a");
  ASSERT_TRUE(registry_.Create(chain.bucket, scene::kRestorer).allowed);
  chain.bucket.real = true;
  chain.bucket.version = 33;
  registry_.See(chain.bucket);
  ObjectFacts stranger = scene::Composite(SlotOf("XStorage", "", "s"), "stranger", "", 34);
  stranger.lineage.resources = {scene::RefTo(chain.bucket.slot, "")};
  ASSERT_TRUE(registry_.Create(stranger).allowed);
  registry_.See(stranger);
  EXPECT_EQ(registry_.OwnerOf("k")->root, chain.bucket.slot) << "a stranger's word binds nothing";
  ASSERT_TRUE(registry_.Create(chain.composite, scene::kRestorer).allowed);
  registry_.See(chain.composite);
  EXPECT_EQ(registry_.OwnerOf("k")->root, chain.composite.slot);
  ASSERT_TRUE(registry_.Create(chain.claim, scene::kRestorer).allowed);
  registry_.See(chain.claim);
  EXPECT_EQ(registry_.OwnerOf("k")->root, chain.claim.slot);
  EXPECT_EQ(registry_.OwnerOf("k")->party.text, "ns:local/team-a");
}

// Seed 4738: a claim past Truce beside a living bucket. A registry that is rebuilt reads its lists
// oldest first, so that the elder one owns it, and what that leaves is not the claim's.
TEST_F(HistoriesOfTheWorld, WhatTheElderOfARebuiltConflictLeavesIsNotTheYoungers) {
  RestoredChain young("team-b");
  ObjectFacts old =
      scene::ManagedBucket(SlotOf("Bucket", "team-a", "a"), "old", "k", Intent::kManages, 10);
  old.real = true;
  registry_.See(old, true);
  registry_.See(young.claim, true);
  EXPECT_EQ(registry_.OwnerOf("k")->root, old.slot);
  registry_.SeeDeleted(old);
  EXPECT_EQ(registry_.OwnerOf("k")->record, Record::kOrphaned);
  EXPECT_FALSE(registry_.Create(young.composite, scene::kCrossplane).allowed);
  young.bucket.lineage.controller = scene::RefTo(young.composite.slot, "composite");
  EXPECT_FALSE(registry_.Create(young.bucket, scene::kCrossplane).allowed);
  EXPECT_EQ(registry_.OwnerOf("k")->party.text, "ns:local/team-a");
}

// Seeds 8271, 9976, 22567: of a composed bucket whose chain is gone a rebuilt registry cannot know
// whose it was. A claim or a stranger's composite that names it does not tell: it is its slot's.
TEST_F(HistoriesOfTheWorld, WhatLostItsChainIsItsSlotsWhoeverNamesIt) {
  RestoredChain chain("team-a");
  chain.claim.resources.clear();
  chain.claim.lineage.composite = scene::RefTo(chain.bucket.slot, "");
  ObjectFacts stranger = scene::Composite(SlotOf("XStorage", "", "s"), "stranger", "", 34);
  stranger.lineage.resources = {scene::RefTo(chain.bucket.slot, "")};
  chain.bucket.real = true;
  for (const ObjectFacts& object : {chain.claim, chain.bucket, stranger}) {
    registry_.Run([&](Ledger& ledger) { Meet(object, ledger); });
  }
  for (const ObjectFacts& object : {chain.claim, chain.bucket, stranger}) {
    registry_.See(object, true);
  }
  EXPECT_EQ(registry_.OwnerOf("k")->root, chain.bucket.slot);
  registry_.SeeDeleted(chain.bucket);
  EXPECT_EQ(registry_.OwnerOf("k")->record, Record::kOrphaned);
  ObjectFacts again =
      scene::ManagedBucket(SlotOf("Bucket", "team-a", "a"), "again", "k", Intent::kManages, 40);
  EXPECT_FALSE(registry_.Create(again).allowed) << "a claim's word binds nothing";
  again.slot = chain.bucket.slot;
  EXPECT_TRUE(registry_.Create(again).allowed);
}

// Seeds 19650, 22624: a name that an object had is that of another's record, as its account becomes
// known; the watch, which lags, gives it a row there. That row excuses no declaration (R1).
TEST_F(HistoriesOfTheWorld, ARowBesideARecordIsNotHeldBefore) {
  const Queue left{"jobs", "stage", kOne, ""};
  ObjectFacts a = ManagedQueue(a_, "a", left, Intent::kManages, 10);
  ASSERT_TRUE(registry_.Create(a).allowed);
  a.real = true;
  a.version = 11;
  registry_.See(a);
  registry_.SeeDeleted(a);
  ASSERT_EQ(registry_.OwnerNamed(QueueName("jobs", kOne))->record, Record::kOrphaned);
  Queue mine{"jobs", "prod", "", ""};
  const ObjectFacts first = ManagedQueue(b_, "b", mine, Intent::kManages, 20);
  ASSERT_TRUE(registry_.Create(first).allowed);
  registry_.See(first);
  mine.name = "mails";
  const ObjectFacts renamed = ManagedQueue(b_, "b", mine, Intent::kManages, 21);
  ASSERT_TRUE(registry_.Update(first, renamed).allowed);
  mine.name = "jobs";
  Learn(mine, kOne);
  mine.account = kOne;
  registry_.See(ManagedQueue(b_, "b", mine, Intent::kManages, 20));
  const ObjectFacts back = ManagedQueue(b_, "b", mine, Intent::kManages, 22);
  Queue other = mine;
  other.name = "mails";
  const Decision decision =
      registry_.Update(ManagedQueue(b_, "b", other, Intent::kManages, 21), back);
  ASSERT_FALSE(decision.allowed);
  EXPECT_EQ(decision.denied[0].reason, ClashReason::kOrphaned);
}

}  // namespace histories_world_test
}  // namespace truce
