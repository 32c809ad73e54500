// Named histories of resources with several names: accounts that become known, change or lie.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "registry/ownership/agreements.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "tests/model/scene.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace histories_names_test {

using scene::ManagedQueue;
using scene::Queue;
using scene::QueueName;
using scene::SlotOf;

constexpr const char* kOne = "111111111111";
constexpr const char* kTwo = "222222222222";

class HistoriesOfNames : public ::testing::Test {
 protected:
  ~HistoriesOfNames() override {
    for (const std::string& breach : CheckInvariants(registry_.Contents())) ADD_FAILURE() << breach;
  }

  // Created, and seen with its status.
  ObjectFacts Live(const Slot& slot, const std::string& uid, const Queue& queue,
                   Intent intent = Intent::kDeletes) {
    Queue fresh = queue;
    fresh.observed.clear();
    EXPECT_TRUE(registry_.Create(ManagedQueue(slot, uid, fresh, intent, 10)).allowed);
    ObjectFacts object = ManagedQueue(slot, uid, queue, intent, 11);
    object.real = true;
    registry_.See(object);
    return object;
  }

  // Deleted, and its provider said that the queue is gone.
  void End(ObjectFacts last) {
    last.terminating = last.deleting = true;
    registry_.SeeDeleted(last);
  }

  bool Refused(const Queue& queue) {
    return !registry_.Create(ManagedQueue(b_, "u-b", queue, Intent::kDeletes, 20)).allowed;
  }

  bool IsAs(const KeyText& name, const Slot& root) {
    const auto owner = registry_.OwnerNamed(name);
    return owner && owner->root == root;
  }

  // The watch read the account of a ProviderConfig, and all portions are through.
  std::size_t Learn(const Queue& queue, const std::string& account) {
    std::size_t changed = 0;
    registry_.RunOnAll([&](const AllFacts& facts, Ledger& ledger) {
      changed = LocateResources(facts.ResourcesAfter({}, 100),
                                {queue.ProvisionalAccount(), account}, ledger);
    });
    registry_.moving.clear();
    return changed;
  }

  // The same, and one portion is through: the resources that have these names.
  void LearnOf(const std::vector<KeyText>& names, const Queue& queue, const std::string& account) {
    registry_.Run([&](Ledger& ledger) {
      std::vector<ResourceId> ids;
      for (const KeyText& name : names) ids.push_back(scene::IdNamed(name, ledger));
      LocateResources(ids, {queue.ProvisionalAccount(), account}, ledger);
    });
    registry_.moving[account] = {queue.ProvisionalAccount()};
  }

  testing::StrictStore store_;
  scene::Registry registry_{store_};
  const Slot a_ = SlotOf("Queue", "team-a", "a");
  const Slot b_ = SlotOf("Queue", "team-b", "b");
  const Queue declared_{"jobs", "prod", "", ""};
  const Queue observed_{"jobs", "prod", "", kOne};
  const Queue configured_{"jobs", "prod", kOne, ""};
};

// 1: the ARN in A's status takes nothing of its protection away.
TEST_F(HistoriesOfNames, AStatusAddsANameAndTakesNoneAway) {
  const ObjectFacts live = Live(a_, "u-a", observed_);
  EXPECT_TRUE(IsAs(QueueName("jobs", declared_.ProvisionalAccount()), a_));
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_));
  EXPECT_EQ(registry_.Contents().owners.front().identity.account, kOne) << "for people";
  EXPECT_TRUE(Refused(declared_));
  EXPECT_TRUE(Refused({"jobs", "other", kOne, ""})) << "by another one of that account";
  EXPECT_FALSE(Refused({"jobs", "other", kTwo, ""}));
}

TEST_F(HistoriesOfNames, AStatusHoldsWhenItIsOrphaned) {
  const ObjectFacts live = Live(a_, "u-a", observed_, Intent::kManages);
  End(live);
  ASSERT_EQ(registry_.Contents().owners.front().record, Record::kOrphaned);
  EXPECT_TRUE(Refused(declared_));
  EXPECT_TRUE(Refused({"jobs", "other", kOne, ""}));
  EXPECT_TRUE(registry_
                  .Create(ManagedQueue(SlotOf("Queue", "team-a", "again"), "u-2", declared_,
                                       Intent::kDeletes, 30))
                  .allowed)
      << "its party";
}

TEST_F(HistoriesOfNames, AKnownAccountStandsBesideTheProvisionalAccount) {
  const ObjectFacts live = Live(a_, "u-a", configured_);
  EXPECT_TRUE(IsAs(QueueName("jobs", declared_.ProvisionalAccount()), a_));
  EXPECT_TRUE(Refused(configured_));
  EXPECT_TRUE(Refused(declared_)) << "by a process that does not know the account yet";
  End(live);
  EXPECT_TRUE(registry_.Contents().owners.empty());
  EXPECT_TRUE(registry_.Contents().names.empty()) << "the names go with the resource";
}

// 2: A's providerConfigRef moves to another account.
TEST_F(HistoriesOfNames, AMovedReferenceLeavesTheOldQueueWithItsOwner) {
  const ObjectFacts live = Live(a_, "u-a", observed_);
  const KeyText old_name = QueueName("jobs", kOne);
  const ResourceId id = registry_.IdNamed(old_name);
  registry_.Run([&](Ledger& ledger) { ASSERT_TRUE(Protect(id, {"a", "keep"}, ledger).ok()); });
  const Queue other{"jobs", "stage", "", kOne};  // the status is that of before
  ASSERT_TRUE(registry_.Update(live, ManagedQueue(a_, "u-a", other, Intent::kDeletes, 11)).allowed);
  registry_.See(ManagedQueue(a_, "u-a", other, Intent::kDeletes, 12));
  EXPECT_EQ(registry_.OwnerNamed(old_name)->id, id) << "nothing ends while the account stays";
  const Queue moved{"jobs", "stage", "", kTwo};
  const ObjectFacts there = ManagedQueue(a_, "u-a", moved, Intent::kDeletes, 13);
  registry_.See(there);
  const auto old_queue = registry_.OwnerNamed(old_name);
  ASSERT_TRUE(old_queue);
  EXPECT_EQ(old_queue->id, id);
  EXPECT_EQ(old_queue->record, Record::kOrphaned);
  EXPECT_EQ(registry_.Contents().agreements.size(), 1U) << "a protection stays";
  EXPECT_TRUE(IsAs(QueueName("jobs", kTwo), a_));
  EXPECT_NE(registry_.OwnerNamed(QueueName("jobs", kTwo))->id, id);
  EXPECT_TRUE(Refused({"jobs", "x", kOne, ""}));
  EXPECT_TRUE(Refused(declared_)) << "the old provisional account is the old queue's";
  // 23: the second one is deleted, the first one stays A's.
  End(there);
  EXPECT_FALSE(registry_.OwnerNamed(QueueName("jobs", kTwo)));
  EXPECT_TRUE(IsAs(old_name, a_));
}

// 22: the ProviderConfig is sent to another account; what A left there stays A's.
TEST_F(HistoriesOfNames, AnEditedProviderConfigGivesNothingAway) {
  End(Live(a_, "u-a", configured_, Intent::kManages));
  const Queue edited{"jobs", "prod", kTwo, ""};
  EXPECT_FALSE(Refused(edited)) << "another queue, in the new account";
  EXPECT_TRUE(IsAs(QueueName("jobs", kTwo), b_));
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_));
  EXPECT_TRUE(IsAs(QueueName("jobs", declared_.ProvisionalAccount()), b_))
      << "the provisional account moved along";
}

TEST_F(HistoriesOfNames, AProvisionalAccountStaysWithTheOtherWhoDeclaresByIt) {
  const ObjectFacts live = Live(a_, "u-a", observed_);
  const ObjectFacts stranger =
      ManagedQueue(b_, "u-b", {"jobs", "prod", "", kTwo}, Intent::kDeletes, 20);
  registry_.See(stranger);  // it came past the webhook, and its status names another account
  EXPECT_TRUE(IsAs(QueueName("jobs", declared_.ProvisionalAccount()), a_));
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_));
  EXPECT_TRUE(IsAs(QueueName("jobs", kTwo), b_));
  EXPECT_TRUE(registry_.OwnerNamed(QueueName("jobs", kOne))->contested);
}

// 3, last sentence.
TEST_F(HistoriesOfNames, TwoStatusesWithOneArnAreAConflict) {
  const ObjectFacts live = Live(a_, "u-a", observed_);
  const Queue other{"jobs", "other", "", ""};
  ASSERT_FALSE(Refused(other)) << "nothing tells yet that it is the same";
  const Queue shown{"jobs", "other", "", kOne};
  registry_.See(ManagedQueue(b_, "u-b", shown, Intent::kDeletes, 21));
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_)) << "who held the name stays owner";
  EXPECT_TRUE(registry_.OwnerNamed(QueueName("jobs", kOne))->contested);
  EXPECT_TRUE(IsAs(QueueName("jobs", other.ProvisionalAccount()), b_));
}

// Two resources that turn out to be one, each marked against deletion; the merged one's mark.
class MergedMarks : public HistoriesOfNames {
 protected:
  std::string MarkOf(const ByWhom& elder, const ByWhom& younger) {
    const auto mark = [&](const KeyText& name, const ByWhom& by) {
      const ResourceId id = registry_.IdNamed(name);
      registry_.Run([&](Ledger& ledger) { EXPECT_TRUE(Protect(id, by, ledger).ok()); });
    };
    ObjectFacts first = ManagedQueue(a_, "u-a", declared_, Intent::kManages, 10);
    first.slot = SlotOf("Queue", "team-a", "leaf");
    EXPECT_TRUE(registry_.Create(first).allowed);
    first.version = 11;
    first.real = true;
    registry_.See(first);
    mark(QueueName("jobs", declared_.ProvisionalAccount()), elder);
    End(first);
    registry_.Advance(std::chrono::seconds{5});
    EXPECT_TRUE(
        registry_.Create(ManagedQueue(a_, "u-2", {"jobs", "stage", kOne, ""}, Intent::kManages, 20))
            .allowed);
    mark(QueueName("jobs", kOne), younger);
    EXPECT_EQ(registry_.Contents().agreements.size(), 2U);
    EXPECT_EQ(Learn(declared_, kOne), 1U);
    const std::vector<Agreement> left = registry_.Contents().agreements;
    EXPECT_EQ(left.size(), 1U) << registry_.Contents().owners.size() << " owners";
    return left.empty() ? "none" : left[0].reason;
  }
  const ByWhom command_{"ann", "by command"};
  const ByWhom object_{"OwnershipGrant local/team-a/files", "by an object"};
};

TEST_F(MergedMarks, WhatACommandSaidOfTheElderOutlivesAnObject) {
  EXPECT_EQ(MarkOf(command_, object_), "by command");
}

TEST_F(MergedMarks, WhatACommandSaidOfTheYoungerOutlivesAnObject) {
  EXPECT_EQ(MarkOf(object_, command_), "by command");
}

TEST_F(HistoriesOfNames, ResourcesOfOneOwnerMerge) {
  const Slot claim = SlotOf("Storage", "team-a", "data");
  const auto below = [&](ObjectFacts object) {
    object.slot = {object.slot.cluster, object.slot.group, object.slot.kind, "team-a", "leaf"};
    return object;
  };
  const ObjectFacts first = below(ManagedQueue(a_, "u-a", declared_, Intent::kManages, 10));
  ASSERT_TRUE(registry_.Create(first).allowed);
  ObjectFacts live = first;
  live.version = 11;
  live.real = true;
  registry_.See(live);
  const ResourceId elder = registry_.IdNamed(QueueName("jobs", declared_.ProvisionalAccount()));
  End(live);
  registry_.Advance(std::chrono::seconds{5});
  // Declared again by another ProviderConfig of what turns out to be the same account.
  const Queue again{"jobs", "stage", kOne, ""};
  ASSERT_TRUE(registry_.Create(ManagedQueue(a_, "u-2", again, Intent::kManages, 20)).allowed);
  ASSERT_EQ(registry_.Contents().owners.size(), 2U);
  const ResourceId younger = registry_.IdNamed(QueueName("jobs", kOne));
  EXPECT_EQ(Learn(declared_, kOne), 1U);
  const StoreContents merged = registry_.Contents();
  ASSERT_EQ(merged.owners.size(), 1U);
  EXPECT_EQ(merged.owners.front().id, elder);
  EXPECT_EQ(merged.owners.front().record, Record::kNone) << "a living row ends a record";
  EXPECT_EQ(merged.names.size(), 4U) << "two provisional accounts, one account, and the other id";
  const auto former = std::find_if(merged.names.begin(), merged.names.end(),
                                   [](const ResourceName& name) { return FormerIdOf(name); });
  ASSERT_NE(former, merged.names.end()) << "the younger id still finds it";
  EXPECT_EQ(FormerIdOf(*former), younger);
  EXPECT_EQ(former->resource, elder);
  EXPECT_EQ(Learn(declared_, kOne), 0U) << "again: nothing changes";
}

TEST_F(HistoriesOfNames, AnAccountThatBecomesKnownNamesLivingAndOrphaned) {
  const ObjectFacts live = Live(a_, "u-a", declared_);
  End(Live(SlotOf("Queue", "team-a", "old"), "u-o", {"old", "prod", "", ""}, Intent::kManages));
  EXPECT_EQ(Learn(declared_, kOne), 2U);
  EXPECT_TRUE(Refused({"jobs", "x", kOne, ""}));
  EXPECT_TRUE(Refused({"old", "x", kOne, ""}));
  EXPECT_TRUE(Refused(configured_));
  EXPECT_TRUE(Refused(declared_));
  registry_.See(ManagedQueue(a_, "u-a", configured_, Intent::kDeletes, 12));
  EXPECT_EQ(registry_.Contents().owners.size(), 2U);
  EXPECT_EQ(registry_.Contents().rows.size(), 1U);
}

TEST_F(HistoriesOfNames, AnAccountThatShowsTwoOwnersIsAConflict) {
  const ObjectFacts a = Live(a_, "u-a", declared_);
  const ObjectFacts b = Live(b_, "u-b", {"jobs", "other", kOne, ""});
  EXPECT_EQ(Learn(declared_, kOne), 1U);
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), b_));
  EXPECT_TRUE(registry_.OwnerNamed(QueueName("jobs", kOne))->contested);
  EXPECT_TRUE(IsAs(QueueName("jobs", declared_.ProvisionalAccount()), a_));
}

// 25: until the last portion B is refused by another ProviderConfig of the account, records too.
TEST_F(HistoriesOfNames, APortionThatIsNotThroughIsAwaited) {
  const Slot a2 = SlotOf("Queue", "team-a", "a2");
  Live(a_, "u-a", {"a-jobs", "prod", "", ""});
  Live(a2, "u-a2", {"jobs", "prod", "", ""});
  End(Live(SlotOf("Queue", "team-a", "old"), "u-o", {"old", "prod", "", ""}, Intent::kManages));
  LearnOf({QueueName("a-jobs", declared_.ProvisionalAccount())}, declared_, kOne);
  ASSERT_EQ(registry_.OwnerNamed(QueueName("a-jobs", kOne))->root, a_) << "the first portion";
  ASSERT_FALSE(registry_.OwnerNamed(QueueName("jobs", kOne)));
  EXPECT_TRUE(Refused({"a-jobs", "other", kOne, ""}));
  EXPECT_TRUE(Refused({"jobs", "other", kOne, ""}));
  EXPECT_TRUE(Refused({"old", "other", kOne, ""}));
  EXPECT_FALSE(Refused({"mail", "other", kOne, ""}));
  EXPECT_FALSE(Refused({"jobs", "other", kTwo, ""})) << "in another account";
  const ObjectFacts before = ManagedQueue(b_, "u-b2", {"b", "x", kOne, ""}, Intent::kDeletes, 30);
  ASSERT_TRUE(registry_.Create(before).allowed);
  ObjectFacts after = ManagedQueue(b_, "u-b2", {"jobs", "x", kOne, ""}, Intent::kDeletes, 31);
  EXPECT_FALSE(registry_.Update(before, after).allowed) << "nor by an update";
  EXPECT_EQ(Learn(declared_, kOne), 2U) << "after a restart all of it once more";
  EXPECT_TRUE(Refused({"jobs", "other", kOne, ""}));
  EXPECT_TRUE(Refused({"old", "other", kOne, ""}));
  EXPECT_EQ(Learn(declared_, kOne), 0U);
}

// 25, with what its party does meanwhile: one queue, whichever ProviderConfig it is declared by.
TEST_F(HistoriesOfNames, ItsPartyDeclaresAgainWhatIsAwaited) {
  Live(a_, "u-a", declared_);
  const ResourceId id = registry_.IdNamed(QueueName("jobs", declared_.ProvisionalAccount()));
  End(ManagedQueue(a_, "u-a", declared_, Intent::kManages, 12));
  registry_.moving[kOne] = {declared_.ProvisionalAccount()};
  const Slot again = SlotOf("Queue", "team-a", "again");
  const Queue other{"jobs", "other", kOne, ""};
  ASSERT_TRUE(registry_.Create(ManagedQueue(again, "u-2", other, Intent::kDeletes, 20)).allowed);
  const auto owner = registry_.OwnerNamed(QueueName("jobs", kOne));
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->id, id);
  EXPECT_EQ(owner->record, Record::kNone);
  EXPECT_TRUE(IsAs(QueueName("jobs", declared_.ProvisionalAccount()), again));
  EXPECT_EQ(Learn(declared_, kOne), 0U);
  EXPECT_EQ(registry_.Contents().owners.size(), 1U);
}

// 25: what an outdated sight of the ProviderConfig admitted becomes a conflict.
TEST_F(HistoriesOfNames, WhatWasAdmittedBeforeTheAccountWasKnownIsAConflict) {
  Live(a_, "u-a", declared_);
  ASSERT_FALSE(Refused({"jobs", "other", kOne, ""})) << "nobody knows it yet";
  EXPECT_EQ(Learn(declared_, kOne), 1U);
  EXPECT_TRUE(registry_.OwnerNamed(QueueName("jobs", kOne))->contested);
  EXPECT_TRUE(IsAs(QueueName("jobs", declared_.ProvisionalAccount()), a_));
  const std::vector<AuditEntry> audit = registry_.Contents().audit;
  EXPECT_EQ(audit.back().action, AuditAction::kConflict);
  EXPECT_EQ(audit.back().slot, a_);
}

// 2 and 25: the ProviderConfig of what lives is sent to another account.
TEST_F(HistoriesOfNames, AnEditedProviderConfigMovesWhatLivesInPortions) {
  const ObjectFacts live = Live(a_, "u-a", configured_);
  const ResourceId id = registry_.IdNamed(QueueName("jobs", kOne));
  LearnOf({}, declared_, kTwo);
  const Queue there{"jobs", "other", kTwo, ""};
  EXPECT_TRUE(Refused(there)) << "A is about to declare it";
  EXPECT_TRUE(Refused({"jobs", "other", kOne, ""})) << "A's still";
  EXPECT_EQ(Learn(declared_, kTwo), 1U);
  EXPECT_TRUE(Refused(there));
  const auto old_queue = registry_.OwnerNamed(QueueName("jobs", kOne));
  ASSERT_TRUE(old_queue);
  EXPECT_EQ(old_queue->id, id);
  EXPECT_EQ(old_queue->record, Record::kOrphaned);
  const auto moved = ReadMovedReason(old_queue->record_reason);
  ASSERT_TRUE(moved) << old_queue->record_reason;
  EXPECT_EQ(moved->from, declared_.ProvisionalAccount());
  EXPECT_EQ(moved->to, kTwo);
  EXPECT_TRUE(IsAs(QueueName("jobs", kTwo), a_));
  EXPECT_TRUE(IsAs(QueueName("jobs", declared_.ProvisionalAccount()), a_));
  EXPECT_NE(registry_.OwnerNamed(QueueName("jobs", declared_.ProvisionalAccount()))->id, id);
  EXPECT_EQ(Learn(declared_, kTwo), 0U);
  // What the object shows next is what is there already.
  const StoreContents before = registry_.Contents();
  registry_.See(ManagedQueue(a_, "u-a", {"jobs", "prod", kTwo, "", ""}, Intent::kDeletes, 12));
  EXPECT_EQ(registry_.Contents().owners, before.owners);
  EXPECT_EQ(registry_.Contents().names, before.names);
  EXPECT_EQ(registry_.Contents().rows, before.rows);
}

TEST_F(HistoriesOfNames, AConflictMovesWithItsProviderConfigToo) {
  Live(a_, "u-a", configured_);
  const ObjectFacts beside = ManagedQueue(b_, "u-b", configured_, Intent::kDeletes, 20);
  ASSERT_TRUE(registry_.Create(beside, "dev", Mode::kWarn).allowed);
  registry_.See(beside);
  const ObjectFacts reserved = ManagedQueue(SlotOf("Queue", "team-a", "new"), "u-n",
                                            {"new", "prod", kOne, ""}, Intent::kDeletes, 21);
  ASSERT_TRUE(registry_.Create(reserved).allowed);
  EXPECT_EQ(Learn(declared_, kTwo), 2U);
  const auto there = registry_.OwnerNamed(QueueName("jobs", kTwo));
  ASSERT_TRUE(there);
  EXPECT_EQ(there->root, a_);
  EXPECT_TRUE(there->contested);
  const auto old_queue = registry_.OwnerNamed(QueueName("jobs", kOne));
  ASSERT_TRUE(old_queue);
  EXPECT_EQ(old_queue->record, Record::kOrphaned);
  EXPECT_EQ(old_queue->root, a_);
  EXPECT_TRUE(Refused({"new", "other", kTwo, ""})) << "what is only reserved moves, too";
}

// 16: without reviewed status writes a status warns, and denies nobody.
TEST_F(HistoriesOfNames, AForgedStatusTakesNoName) {
  registry_.status_guarded = false;
  const Queue forged{"jobs", "mine", "", kOne};
  const ObjectFacts live = Live(b_, "u-b", forged);
  const Decision decision =
      registry_.Create(ManagedQueue(a_, "u-a", configured_, Intent::kDeletes, 30));
  EXPECT_TRUE(decision.allowed);
  ASSERT_EQ(decision.conflicts.size(), 1U);
  EXPECT_EQ(decision.conflicts.front().mode, Mode::kWarn);
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_)) << "configuration is stronger";
  EXPECT_TRUE(IsAs(QueueName("jobs", declared_.ProvisionalAccount()), a_));
  EXPECT_TRUE(IsAs(live.resources.front().key(), b_));
  registry_.See(live);  // the status says it again
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_));
  const Slot again = SlotOf("Queue", "team-a", "again");
  ObjectFacts seen = ManagedQueue(a_, "u-a", configured_, Intent::kManages, 31);
  seen.real = true;
  registry_.See(seen);
  End(seen);
  EXPECT_TRUE(
      registry_.Create(ManagedQueue(again, "u-2", configured_, Intent::kDeletes, 40)).allowed)
      << "its party declares it again";
}

// With the guard a provider wrote it: a ProviderConfig that is edited once its object is admitted
// takes no more than one that led there before, which is refused.
TEST_F(HistoriesOfNames, AProvidersWordIsNotTakenByAnEditedProviderConfig) {
  const ObjectFacts live = Live(a_, "u-a", observed_);
  EXPECT_TRUE(Refused({"jobs", "mine", kOne, ""}));
  const Queue mine{"jobs", "mine", "", ""};
  Live(b_, "u-b", mine);
  Learn(mine, kOne);
  registry_.See(ManagedQueue(b_, "u-b", {"jobs", "mine", kOne, ""}, Intent::kDeletes, 12));
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_));
  EXPECT_TRUE(registry_.OwnerNamed(QueueName("jobs", kOne))->contested);
  EXPECT_EQ(registry_.OwnerNamed(QueueName("jobs", kOne))->identity.account, kOne);
  EXPECT_TRUE(Refused({"jobs", "other", kOne, ""})) << "by its account";
}

// 16, said twice: what a status showed before is no more than what it shows now.
TEST_F(HistoriesOfNames, AForgedStatusThatChangesTakesNoName) {
  registry_.status_guarded = false;
  Live(b_, "u-b", {"jobs", "mine", "", kOne});
  registry_.See(ManagedQueue(b_, "u-b", {"jobs", "mine", "", kTwo}, Intent::kDeletes, 12));
  for (const char* account : {kOne, kTwo}) {
    const Slot slot = SlotOf("Queue", "team-a", account);
    const Queue rightful{"jobs", account, account, ""};
    const ObjectFacts object =
        ManagedQueue(slot, std::string("u-") + account, rightful, Intent::kDeletes, 30);
    EXPECT_TRUE(registry_.Create(object).allowed) << account;
    EXPECT_TRUE(IsAs(QueueName("jobs", account), slot)) << account;
  }
}

// 16, by the ProviderConfig of who forges: it is edited after the status was written.
TEST_F(HistoriesOfNames, AForgedStatusTakesNoNameWhenItsProviderConfigIsEdited) {
  registry_.status_guarded = false;
  const Queue forged{"jobs", "mine", "", kOne};
  Live(b_, "u-b", forged);
  Learn(forged, kTwo);
  registry_.See(ManagedQueue(b_, "u-b", {"jobs", "mine", kTwo, ""}, Intent::kDeletes, 12));
  EXPECT_TRUE(registry_.Create(ManagedQueue(a_, "u-a", configured_, Intent::kDeletes, 30)).allowed);
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_));
  EXPECT_TRUE(IsAs(QueueName("jobs", kTwo), b_));
}

// A queue known by its id alone turns out to be called as an orphaned one of its owner's, in
// another account.
TEST_F(HistoriesOfNames, AnIdInAnotherAccountIsAnotherQueue) {
  const KeyText id{"sqs/Queue|aws|||@id=q-1"};
  End(Live(a_, "u-a", observed_, Intent::kManages));
  const Slot slot = SlotOf("Queue", "team-a", "again");
  const Queue there{"jobs", "prod", "", kTwo};
  ObjectFacts bare = ManagedQueue(slot, "u-2", declared_, Intent::kDeletes, 20);
  bare.resources.front().names = {{id, false}};
  bare.resources.front().identity.parts.clear();
  ASSERT_TRUE(registry_.Create(bare).allowed);
  ObjectFacts told = ManagedQueue(slot, "u-2", there, Intent::kDeletes, 21);
  told.real = true;
  told.resources.front().names.push_back({id, false});
  registry_.See(told);
  EXPECT_TRUE(IsAs(QueueName("jobs", kTwo), slot));
  EXPECT_TRUE(IsAs(id, slot));
  const auto old_queue = registry_.OwnerNamed(QueueName("jobs", kOne));
  ASSERT_TRUE(old_queue);
  EXPECT_EQ(old_queue->record, Record::kOrphaned);
  EXPECT_NE(old_queue->id, registry_.OwnerNamed(id)->id);
}

// 16, by two roots that use one ProviderConfig: what the first left behind is not the second's.
TEST_F(HistoriesOfNames, AForgedStatusTakesNoNameBesideWhatAnotherRootLeft) {
  registry_.status_guarded = false;
  Live(b_, "u-b", {"jobs", "mine", "", kOne});
  registry_.See(ManagedQueue(b_, "u-b", {"jobs", "mine", "", kTwo}, Intent::kDeletes, 12));
  const ObjectFacts rightful = Live(a_, "u-a", configured_);
  End(rightful);
  const Slot c = SlotOf("Queue", "team-c", "c");
  registry_.See(ManagedQueue(c, "u-c", {"jobs", "mine", "", kOne}, Intent::kDeletes, 20));
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), c)) << "the name is free, and a status tells it";
  const ObjectFacts again = ManagedQueue(a_, "u-2", configured_, Intent::kDeletes, 30);
  EXPECT_TRUE(registry_.Create(again).allowed);
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_));
}

// The status of before excuses nothing: it shows another account only because it is old.
TEST_F(HistoriesOfNames, AnOldStatusOpensNoRecord) {
  End(Live(a_, "u-a", {"jobs", "prod", "", kTwo}, Intent::kManages));
  const ObjectFacts live = Live(b_, "u-b", {"jobs", "other", "", kOne});
  const Queue stolen{"jobs", "prod", "", kOne};
  EXPECT_FALSE(
      registry_.Update(live, ManagedQueue(b_, "u-b", stolen, Intent::kDeletes, 21)).allowed);
}

// 30: the provider was sent elsewhere while it deleted, found nothing there and let go.
TEST_F(HistoriesOfNames, AnEndInAnotherAccountFreesNothing) {
  Live(a_, "u-a", observed_);
  End(ManagedQueue(a_, "u-a", {"jobs", "prod", "", kTwo}, Intent::kDeletes, 12));
  const auto owner = registry_.OwnerNamed(QueueName("jobs", kOne));
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->record, Record::kOrphaned);
  EXPECT_TRUE(Refused(declared_));
}

// 22 and 30, for a type whose status names no account: only a ProviderConfig that was the same all
// along tells which queue the provider deleted.
TEST_F(HistoriesOfNames, AnEndUnderAProviderConfigThatChangedFreesNothing) {
  struct Case {
    const char* what;
    std::vector<std::pair<std::string, bool>> versions;  // fields, and whether it says Deleting
    bool free;
  };
  const Case cases[] = {
      {"the same", {{"1", false}, {"1", true}}, true},
      {"another secret while it lived", {{"1", false}, {"2", false}, {"2", true}}, false},
      {"to and fro", {{"1", false}, {"2", false}, {"1", false}, {"1", true}}, false},
      {"between Deleting and the end", {{"1", false}, {"1", true}, {"2", true}}, false},
      {"with the end", {{"1", false}, {"2", true}}, false},
      {"not known", {{"", false}, {"", true}}, false},
      {"known later", {{"", false}, {"1", false}, {"1", true}}, true},
      {"not known for a while", {{"1", false}, {"", false}, {"1", true}}, true},
      {"changed while not known", {{"1", false}, {"", false}, {"2", true}}, false},
      {"not known at the end", {{"1", false}, {"", true}}, false},
      {"first seen Deleting", {{"1", true}, {"1", true}}, false},
  };
  std::uint64_t version = 10;
  for (const Case& test : cases) {
    const std::string name = "q" + std::to_string(version);
    const Slot slot = SlotOf("Queue", "team-a", name);
    const Queue queue{name, "prod", "", ""};
    const ObjectFacts created = ManagedQueue(slot, "u-" + name, queue, Intent::kDeletes, version);
    ASSERT_TRUE(registry_.Create(created).allowed);
    ObjectFacts last;
    for (const auto& [fields, deleting] : test.versions) {
      last = ManagedQueue(slot, "u-" + name, {name, "prod", "", "", fields}, Intent::kDeletes,
                          ++version);
      last.real = true;
      last.deleting = last.terminating = deleting;
      if (&fields != &test.versions.back().first || !deleting) registry_.See(last);
    }
    registry_.SeeDeleted(last);
    EXPECT_EQ(!IsAs(QueueName(name, queue.ProvisionalAccount()), slot), test.free) << test.what;
  }
}

// 23: the second queue's end says nothing of the first.
TEST_F(HistoriesOfNames, AnotherAccountsEndLeavesTheFirstQueue) {
  Live(a_, "u-a", observed_);
  ObjectFacts moved = ManagedQueue(a_, "u-a", {"jobs", "prod", "", kTwo}, Intent::kDeletes, 12);
  moved.real = true;
  registry_.See(moved);
  End(moved);
  const auto first = registry_.OwnerNamed(QueueName("jobs", kOne));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->record, Record::kOrphaned);
  EXPECT_FALSE(registry_.OwnerNamed(QueueName("jobs", kTwo))) << "that one is really gone";
}

TEST_F(HistoriesOfNames, WhatIsInConflictMayChangeTheRest) {
  Live(a_, "u-a", configured_);
  const Queue beside{"jobs", "other", kOne, ""};
  const ObjectFacts conflict = ManagedQueue(b_, "u-b", beside, Intent::kDeletes, 20);
  ASSERT_TRUE(registry_.Create(conflict, "dev", Mode::kWarn).allowed);
  const Queue again{"jobs", "third", kOne, ""};
  EXPECT_TRUE(
      registry_.Update(conflict, ManagedQueue(b_, "u-b", again, Intent::kDeletes, 21)).allowed)
      << "it named the queue before, by the same located name";
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_));
}

TEST_F(HistoriesOfNames, OneDenialNamesTwoForeignOwners) {
  Live(a_, "u-a", declared_);
  const Slot c = SlotOf("Queue", "team-c", "c");
  Live(c, "u-c", {"jobs", "other", kOne, ""});
  const Decision decision =
      registry_.Create(ManagedQueue(b_, "u-b", configured_, Intent::kDeletes, 30));
  EXPECT_FALSE(decision.allowed);
  ASSERT_EQ(decision.denied.size(), 2U);
  EXPECT_EQ(decision.denied[0].holder.root, c);
  EXPECT_EQ(decision.denied[1].holder.root, a_);
}

// One object declares the queue twice, once by a name that is free: what it reserves so is no
// answer that an earlier review gave, and excuses nothing.
TEST_F(HistoriesOfNames, AReviewIsNoReplayOfItself) {
  Live(a_, "u-a", {"jobs", "other", kOne, ""});
  ObjectFacts twice = ManagedQueue(b_, "u-b", declared_, Intent::kDeletes, 30);
  twice.resources.push_back(
      ManagedQueue(b_, "u-b", configured_, Intent::kDeletes, 30).resources.front());
  const Decision decision = registry_.Create(twice);
  EXPECT_FALSE(decision.allowed);
  ASSERT_EQ(decision.denied.size(), 1U);
  EXPECT_EQ(decision.denied.front().holder.root, a_);
}

TEST_F(HistoriesOfNames, ANameToAndFroIsReservedAnew) {
  const ObjectFacts first = ManagedQueue(a_, "u-a", declared_, Intent::kDeletes, 10);
  ASSERT_TRUE(registry_.Create(first).allowed);
  ObjectFacts other = ManagedQueue(a_, "u-a", {"mail", "prod", "", ""}, Intent::kDeletes, 11);
  ASSERT_TRUE(registry_.Update(first, other).allowed);
  ASSERT_TRUE(registry_.Update(other, first).allowed);
  registry_.See(first);
  EXPECT_TRUE(Refused(declared_));
}

}  // namespace histories_names_test
}  // namespace truce
