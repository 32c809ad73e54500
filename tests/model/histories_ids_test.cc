// Named histories of resources that keep their id while names come, move and go.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "registry/ownership/places.h"
#include "tests/model/scene.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace histories_ids_test {

using scene::ManagedQueue;
using scene::Queue;
using scene::QueueName;
using scene::SlotOf;

constexpr const char* kOne = "111111111111";
constexpr const char* kTwo = "222222222222";

class HistoriesOfResources : public ::testing::Test {
 protected:
  ~HistoriesOfResources() override {
    for (const std::string& breach : CheckInvariants(registry_.Contents())) ADD_FAILURE() << breach;
  }

  static KeyText IdName(const std::string& id) { return {"sqs/Queue|aws|||@id=" + id}; }
  static KeyText Provisional(const std::string& name, const std::string& config) {
    return QueueName(name, Queue{name, config, "", ""}.ProvisionalAccount());
  }
  static ObjectFacts WithId(ObjectFacts object, const std::string& id) {
    object.resources.front().names.push_back({IdName(id), false});
    return object;
  }

  ObjectFacts Seen(ObjectFacts object) {
    object.real = true;
    registry_.See(object);
    return object;
  }
  // Created and seen.
  ObjectFacts Live(const ObjectFacts& object) {
    EXPECT_TRUE(registry_.Create(object).allowed);
    return Seen(object);
  }
  // Its party leaves it: nobody says that it is gone.
  void Leave(const ObjectFacts& last) { registry_.SeeDeleted(last); }
  // Its provider deleted it.
  void End(ObjectFacts last) {
    last.terminating = last.deleting = true;
    registry_.SeeDeleted(last);
  }

  std::size_t Learn(const std::string& config, const std::string& account) {
    std::size_t changed = 0;
    registry_.RunOnAll([&](const AllFacts& facts, Ledger& ledger) {
      const Queue queue{"", config, "", ""};
      changed = LocateResources(facts.ResourcesAfter({}, 100),
                                {queue.ProvisionalAccount(), account}, ledger);
    });
    return changed;
  }

  bool IsAs(const KeyText& name, const Slot& root) const {
    const auto owner = registry_.OwnerNamed(name);
    return owner && owner->root == root;
  }
  bool HasRow(const KeyText& name, const std::string& uid, RowState state) const {
    const std::vector<Row> rows = registry_.RowsNamed(name);
    return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
      return row.id.uid.text == uid && row.id.state == state;
    });
  }

  testing::StrictStore store_;
  scene::Registry registry_{store_};
  const Slot a_ = SlotOf("Queue", "team-a", "a");
  const Slot b_ = SlotOf("Queue", "team-b", "b");
  const Slot c_ = SlotOf("Queue", "team-c", "c");
  const Queue declared_{"jobs", "prod", "", ""};
  const Queue configured_{"jobs", "prod", kOne, ""};
};

// --- names that move -----------------------------------------------------------------------------

// The ProviderConfig leads to another account before the second life, which was admitted by it, is
// seen: both of its resources are held for it.
TEST_F(HistoriesOfResources, AProvisionalAccountThatMovesTakesItsReservationsAlong) {
  Live(ManagedQueue(a_, "u-1", configured_, Intent::kDeletes, 10));
  const ResourceId first = registry_.IdNamed(QueueName("jobs", kOne));
  ASSERT_TRUE(registry_.Create(ManagedQueue(a_, "u-2", declared_, Intent::kDeletes, 11)).allowed);
  const ObjectFacts moved =
      Seen(ManagedQueue(a_, "u-1", {"jobs", "prod", kTwo, ""}, Intent::kDeletes, 12));
  const ResourceId second = registry_.IdNamed(QueueName("jobs", kTwo));
  ASSERT_NE(second, first);
  EXPECT_EQ(registry_.IdNamed(Provisional("jobs", "prod")), second);
  EXPECT_EQ(registry_.IdNamed(QueueName("jobs", kOne)), first);
  for (const char* account : {kOne, kTwo}) {
    EXPECT_TRUE(HasRow(QueueName("jobs", account), "u-2", RowState::kReserved)) << account;
  }
  End(moved);
  EXPECT_TRUE(IsAs(QueueName("jobs", kTwo), a_)) << "the second one is to come";
}

// Statuses are not reviewed. B's status told two accounts, one after the other, and its provisional
// account went to the latter. The former belongs to A, who configures it: nothing is left of B's.
TEST_F(HistoriesOfResources, AResourceWithoutNamesEnds) {
  registry_.status_guarded = false;
  Live(ManagedQueue(b_, "u-b", declared_, Intent::kDeletes, 10));
  Seen(ManagedQueue(b_, "u-b", {"jobs", "prod", "", kOne}, Intent::kDeletes, 11));
  ASSERT_TRUE(registry_.Create(ManagedQueue(b_, "u-2", declared_, Intent::kDeletes, 12)).allowed);
  Seen(ManagedQueue(b_, "u-b", {"jobs", "prod", "", kTwo}, Intent::kDeletes, 13));
  const ResourceId nameless = registry_.IdNamed(QueueName("jobs", kOne));
  ASSERT_EQ(registry_.NamesOf(nameless).size(), 1U);
  ASSERT_TRUE(HasRow(QueueName("jobs", kOne), "u-2", RowState::kReserved));

  const Queue rightful{"jobs", "rightful", kOne, ""};
  const Decision decision =
      registry_.Create(ManagedQueue(a_, "u-a", rightful, Intent::kDeletes, 20));
  ASSERT_TRUE(decision.allowed);
  ASSERT_EQ(decision.conflicts.size(), 1U);
  EXPECT_EQ(decision.conflicts.front().mode, Mode::kWarn);
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_));
  EXPECT_NE(registry_.IdNamed(QueueName("jobs", kOne)), nameless);
  const StoreContents contents = registry_.Contents();
  EXPECT_TRUE(std::ranges::none_of(contents.rows,
                                   [&](const Row& row) { return row.id.resource == nameless; }));
  EXPECT_TRUE(std::ranges::any_of(contents.audit, [&](const AuditEntry& entry) {
    return entry.id == nameless && entry.action == AuditAction::kMoved &&
           entry.cause == "only a status gave it the name " + QueueName("jobs", kOne).text;
  }));
  EXPECT_TRUE(IsAs(QueueName("jobs", kTwo), b_)) << "the other one stays";

  Seen(ManagedQueue(b_, "u-2", {"jobs", "prod", "", kOne}, Intent::kDeletes, 21));
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_));
  EXPECT_TRUE(registry_.OwnerNamed(QueueName("jobs", kOne))->contested) << "and the row is there";
}

// The same of a record, which has no rows.
TEST_F(HistoriesOfResources, ARecordWithoutNamesEnds) {
  registry_.status_guarded = false;
  Live(ManagedQueue(b_, "u-b", declared_, Intent::kDeletes, 10));
  for (const char* account : {kOne, kTwo}) {
    Seen(ManagedQueue(b_, "u-b", {"jobs", "prod", "", account}, Intent::kDeletes, 11));
  }
  const auto record = registry_.OwnerNamed(QueueName("jobs", kOne));
  ASSERT_TRUE(record);
  ASSERT_EQ(record->record, Record::kOrphaned);
  const Queue rightful{"jobs", "rightful", kOne, ""};
  EXPECT_TRUE(registry_.Create(ManagedQueue(a_, "u-a", rightful, Intent::kDeletes, 20)).allowed);
  const StoreContents contents = registry_.Contents();
  EXPECT_EQ(contents.owners.size(), 2U);
  EXPECT_TRUE(std::ranges::none_of(contents.owners,
                                   [&](const Owner& owner) { return owner.id == record->id; }));
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_));
}

// People see where it lies, its quota counts there, and it is nobody's elsewhere any more.
TEST_F(HistoriesOfResources, AccountQuotaAndElsewhereChangeWithTheLocatedName) {
  Live(ManagedQueue(a_, "u-a", declared_, Intent::kDeletes, 10));
  const ResourceId id = registry_.IdNamed(Provisional("jobs", "prod"));
  const auto count_in = [&](const std::string& account) {
    std::uint64_t count = 0;
    registry_.Run([&](Ledger& ledger) {
      count = ledger.facts().CountOwned({"sqs/Queue", account, "", {}});
    });
    return count;
  };
  const auto elsewhere = [&](const std::string& uid) {
    const Slot slot = SlotOf("Queue", "team-b", uid);
    const Queue queue{"jobs", uid, kTwo, ""};
    return registry_.Create(ManagedQueue(slot, uid, queue, Intent::kDeletes, 20)).elsewhere.size();
  };
  EXPECT_EQ(registry_.OwnerNamed(Provisional("jobs", "prod"))->key, Provisional("jobs", "prod"));
  EXPECT_EQ(count_in(kOne), 0U);
  EXPECT_EQ(elsewhere("before"), 1U) << "it may be the same";
  Leave(ManagedQueue(SlotOf("Queue", "team-b", "before"), "before", {"jobs", "before", kTwo, ""},
                     Intent::kDeletes, 21));
  EXPECT_EQ(Learn("prod", kOne), 1U);
  const auto owner = registry_.OwnerNamed(Provisional("jobs", "prod"));
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->id, id);
  EXPECT_EQ(owner->key, QueueName("jobs", kOne));
  EXPECT_EQ(owner->identity.account, kOne);
  EXPECT_EQ(count_in(kOne), 1U);
  EXPECT_EQ(elsewhere("after"), 0U);
}

// --- what an UPDATE is spared --------------------------------------------------------------------

// The old object named a resource of its own. The new one names A's too: by that name the old one
// did not.
TEST_F(HistoriesOfResources, HeldBeforeAsksTheNamesThatFoundIt) {
  Live(ManagedQueue(a_, "u-a", configured_, Intent::kDeletes, 10));
  const ObjectFacts own =
      Live(ManagedQueue(b_, "u-b", {"jobs", "other", "", ""}, Intent::kDeletes, 20));
  const ObjectFacts both =
      ManagedQueue(b_, "u-b", {"jobs", "other", kOne, ""}, Intent::kDeletes, 21);
  const Decision refused = registry_.Update(own, both);
  EXPECT_FALSE(refused.allowed);
  ASSERT_EQ(refused.denied.size(), 1U);
  EXPECT_EQ(refused.denied.front().holder.root, a_);
  // In warn mode it came to stand beside A. What it named before it may name with something more.
  ASSERT_TRUE(registry_.Update(own, both, "dev", Mode::kWarn).allowed);
  Seen(both);
  EXPECT_TRUE(registry_.Update(both, WithId(both, "q-1")).allowed);
  // Not by an id that finds another one of A's.
  Live(WithId(ManagedQueue(SlotOf("Queue", "team-a", "a2"), "u-a2", {"mail", "prod", kOne, ""},
                           Intent::kDeletes, 30),
              "q-2"));
  EXPECT_FALSE(registry_.Update(both, WithId(both, "q-2")).allowed);
}

// --- ids that AWS gave ---------------------------------------------------------------------------

TEST_F(HistoriesOfResources, AnIdTakesNobodysFieldsHome) {
  Live(WithId(ManagedQueue(a_, "u-a", declared_, Intent::kDeletes, 10), "q-1"));
  const ResourceId id = registry_.IdNamed(IdName("q-1"));
  const ObjectFacts beside =
      WithId(ManagedQueue(b_, "u-b", {"mail", "other", "", ""}, Intent::kDeletes, 20), "q-1");
  EXPECT_FALSE(registry_.Create(beside).allowed);
  Seen(beside);  // past Truce
  EXPECT_EQ(registry_.IdNamed(IdName("q-1")), id);
  EXPECT_TRUE(registry_.OwnerNamed(IdName("q-1"))->contested);
  EXPECT_TRUE(IsAs(Provisional("mail", "other"), b_));
  EXPECT_NE(registry_.IdNamed(Provisional("mail", "other")), id);
  EXPECT_FALSE(registry_.OwnerNamed(Provisional("mail", "other"))->contested);
  EXPECT_EQ(registry_.NamesOf(id).size(), 2U);
}

TEST_F(HistoriesOfResources, TwoIdsAreTwo) {
  const Slot other = SlotOf("Queue", "team-a", "other");
  const Slot both = SlotOf("Queue", "team-a", "both");
  Leave(Live(WithId(ManagedQueue(a_, "u-1", declared_, Intent::kManages, 10), "q-1")));
  ObjectFacts by_id = ManagedQueue(other, "u-2", declared_, Intent::kManages, 11);
  by_id.resources.front().names = {{IdName("q-2"), false}};
  by_id.resources.front().identity.parts.clear();
  Leave(Live(by_id));
  const ResourceId first = registry_.IdNamed(IdName("q-1"));
  const ResourceId second = registry_.IdNamed(IdName("q-2"));
  ASSERT_NE(first, second);
  Live(WithId(ManagedQueue(both, "u-3", declared_, Intent::kDeletes, 12), "q-2"));
  EXPECT_EQ(registry_.IdNamed(IdName("q-1")), first);
  EXPECT_EQ(registry_.IdNamed(IdName("q-2")), second);
  EXPECT_EQ(registry_.IdNamed(Provisional("jobs", "prod")), first);
  EXPECT_EQ(registry_.Contents().owners.size(), 2U);
  for (const char* id : {"q-1", "q-2"}) {
    EXPECT_TRUE(HasRow(IdName(id), "u-3", RowState::kSeen)) << id;
    EXPECT_EQ(registry_.OwnerNamed(IdName(id))->record, Record::kNone) << id;
  }
}

// --- observers -----------------------------------------------------------------------------------

TEST_F(HistoriesOfResources, ObserversBringOneName) {
  Seen(ManagedQueue(b_, "u-b", configured_, Intent::kObserves, 10));
  ASSERT_EQ(registry_.Contents().names.size(), 1U);
  EXPECT_FALSE(registry_.IdNamed(QueueName("jobs", kOne)).empty());
  // What A declares by the ProviderConfig alone is another one to anybody who knows no account.
  Live(ManagedQueue(a_, "u-a", declared_, Intent::kDeletes, 11));
  EXPECT_NE(registry_.IdNamed(Provisional("jobs", "prod")),
            registry_.IdNamed(QueueName("jobs", kOne)));
  // And who observes something known adds no name to it.
  Seen(ManagedQueue(c_, "u-c", {"jobs", "prod", kTwo, ""}, Intent::kObserves, 12));
  EXPECT_TRUE(HasRow(Provisional("jobs", "prod"), "u-c", RowState::kSeen));
  EXPECT_TRUE(registry_.IdNamed(QueueName("jobs", kTwo)).empty());
}

TEST_F(HistoriesOfResources, WhatIsObservedBecomesTheDeclarantsAndKeepsItsNames) {
  Seen(ManagedQueue(b_, "u-b", configured_, Intent::kObserves, 10));
  const ResourceId observed = registry_.IdNamed(QueueName("jobs", kOne));
  Live(ManagedQueue(a_, "u-a", {"jobs", "stage", kOne, ""}, Intent::kDeletes, 11));
  EXPECT_EQ(registry_.IdNamed(QueueName("jobs", kOne)), observed);
  EXPECT_EQ(registry_.IdNamed(Provisional("jobs", "stage")), observed);
  EXPECT_TRUE(IsAs(QueueName("jobs", kOne), a_));
  EXPECT_FALSE(registry_.OwnerNamed(QueueName("jobs", kOne))->contested);
  EXPECT_TRUE(HasRow(QueueName("jobs", kOne), "u-b", RowState::kSeen));
}

// Who holds an old link is not led to a stranger's ownership.
TEST_F(HistoriesOfResources, AnOwnershipAfterAReleaseHasAnotherId) {
  for (const bool released : {false, true}) {
    SCOPED_TRACE(released);
    const std::string name = released ? "released" : "ended";
    const Slot slot = SlotOf("Queue", "team-a", name);
    const Queue queue{name, "prod", kOne, ""};
    const ObjectFacts live = Live(ManagedQueue(slot, "u-" + name, queue, Intent::kDeletes, 10));
    Seen(ManagedQueue(SlotOf("Queue", "team-b", name), "observer-" + name, queue, Intent::kObserves,
                      11));
    const ResourceId before = registry_.IdNamed(QueueName(name, kOne));
    if (released) {
      EXPECT_TRUE(registry_.Release(QueueName(name, kOne), false).done);
    } else {
      End(live);
    }
    ASSERT_FALSE(registry_.OwnerNamed(QueueName(name, kOne)));
    const ResourceId observed = registry_.IdNamed(QueueName(name, kOne));
    ASSERT_FALSE(observed.empty());
    EXPECT_NE(observed, before);
    EXPECT_TRUE(HasRow(QueueName(name, kOne), "observer-" + name, RowState::kSeen));
    EXPECT_TRUE(registry_.NamesOf(before).empty());
    const Slot stranger = SlotOf("Queue", "team-c", name);
    Live(ManagedQueue(stranger, "u-c-" + name, queue, Intent::kDeletes, 20));
    EXPECT_TRUE(IsAs(QueueName(name, kOne), stranger));
    EXPECT_EQ(registry_.OwnerNamed(QueueName(name, kOne))->id, observed);
  }
}

// --- bad input -----------------------------------------------------------------------------------

// Sets of names that overlap in a chain: a with b, b with c, c with d.
class ChainsOfNames : public HistoriesOfResources {
 protected:
  static KeyText Name(char letter) { return Provisional("jobs", std::string(1, letter)); }

  // An object that declares each of the sets: "ab" by two names.
  static ObjectFacts Declaring(const Slot& slot, const std::vector<std::string>& sets) {
    ObjectFacts object = ManagedQueue(slot, "u-" + slot.ns + "-" + slot.name, {"jobs", "a", "", ""},
                                      Intent::kManages, 10);
    const DeclaredResource any = object.resources.front();
    object.resources.clear();
    for (const std::string& set : sets) {
      DeclaredResource& resource = object.resources.emplace_back(any);
      resource.names.clear();
      for (const char letter : set) resource.names.push_back({Name(letter), false});
      resource.identity.account = AccountIn(resource.key());
    }
    return object;
  }

  void ExpectOne(const Slot& root) const {
    const ResourceId id = registry_.IdNamed(Name('a'));
    for (const char letter : {'a', 'b', 'c', 'd'}) {
      EXPECT_EQ(registry_.IdNamed(Name(letter)), id) << letter;
      EXPECT_TRUE(IsAs(Name(letter), root)) << letter;
    }
    EXPECT_EQ(registry_.Contents().owners.size(), 1U);
  }
};

TEST_F(ChainsOfNames, OfOneOwnerInOneReview) {
  const ObjectFacts object = Declaring(a_, {"ab", "bc", "cd"});
  ASSERT_TRUE(registry_.Create(object).allowed);
  ExpectOne(a_);
  Seen(object);
  ExpectOne(a_);
}

TEST_F(ChainsOfNames, OfOneOwnerTheEndsFirst) {
  const ObjectFacts object = Declaring(a_, {"ab", "cd", "bc"});
  ASSERT_TRUE(registry_.Create(object).allowed);
  Seen(object);
  ExpectOne(a_);
}

TEST_F(ChainsOfNames, OfOnePartyOverManyReviews) {
  const Slot last = SlotOf("Queue", "team-a", "last");
  Leave(Live(Declaring(SlotOf("Queue", "team-a", "first"), {"ab"})));
  const ResourceId elder = registry_.IdNamed(Name('a'));
  registry_.Advance(std::chrono::seconds{1});
  Leave(Live(Declaring(SlotOf("Queue", "team-a", "second"), {"cd"})));
  const ResourceId younger = registry_.IdNamed(Name('d'));
  registry_.Advance(std::chrono::seconds{1});
  Live(Declaring(last, {"bc"}));
  ExpectOne(last);
  EXPECT_EQ(registry_.IdNamed(Name('a')), elder);
  EXPECT_EQ(registry_.IdNamed(FormerIdName(younger)), elder);
}

TEST_F(ChainsOfNames, OfStrangersOverManyReviews) {
  Live(Declaring(a_, {"ab"}));
  Live(Declaring(b_, {"cd"}));
  const ObjectFacts between = Declaring(c_, {"bc"});
  const Decision decision = registry_.Create(between);
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.denied.size(), 2U);
  Seen(between);  // past Truce
  for (const char letter : {'a', 'b'}) EXPECT_TRUE(IsAs(Name(letter), a_)) << letter;
  for (const char letter : {'c', 'd'}) EXPECT_TRUE(IsAs(Name(letter), b_)) << letter;
  for (const char letter : {'a', 'd'}) {
    EXPECT_TRUE(registry_.OwnerNamed(Name(letter))->contested) << letter;
  }
}

// A set of its own excuses none beside it: what it shares a name with is A's.
TEST_F(ChainsOfNames, OfStrangersInOneReview) {
  Live(Declaring(a_, {"d"}));
  for (const std::vector<std::string>& sets :
       {std::vector<std::string>{"ab", "bc", "cd"}, {"cd", "ab"}, {"ab", "bd"}}) {
    const Decision decision = registry_.Create(Declaring(b_, sets));
    EXPECT_FALSE(decision.allowed) << sets.back();
    ASSERT_EQ(decision.denied.size(), 1U) << sets.back();
    EXPECT_EQ(decision.denied.front().holder.root, a_) << sets.back();
  }
  EXPECT_EQ(registry_.Contents().names.size(), 1U);
}

TEST_F(HistoriesOfResources, AnothersFormerIdIsNoNameToDeclare) {
  Leave(Live(ManagedQueue(a_, "u-1", declared_, Intent::kManages, 10)));
  registry_.Advance(std::chrono::seconds{1});
  const Slot other = SlotOf("Queue", "team-a", "other");
  Live(ManagedQueue(other, "u-2", {"jobs", "stage", kOne, ""}, Intent::kManages, 11));
  const ResourceId younger = registry_.IdNamed(QueueName("jobs", kOne));
  ASSERT_EQ(Learn("prod", kOne), 1U);
  const ResourceId elder = registry_.IdNamed(FormerIdName(younger));
  ASSERT_FALSE(elder.empty());
  const StoreContents before = registry_.Contents();
  for (const bool further : {false, true}) {
    ObjectFacts thief = ManagedQueue(b_, "u-b", {"mail", "mine", "", ""}, Intent::kDeletes, 20);
    DeclaredResource& resource = thief.resources.front();
    if (!further) resource.names.clear();
    resource.names.push_back({FormerIdName(younger), false});
    const Decision decision = registry_.Create(thief);
    EXPECT_FALSE(decision.allowed);
    ASSERT_EQ(decision.denied.size(), 1U);
    EXPECT_EQ(decision.denied.front().holder.id, elder);
  }
  EXPECT_EQ(registry_.Contents(), before);
}

// No declaration has so many; a resource may, of so many ProviderConfigs.
TEST_F(HistoriesOfResources, SixteenNames) {
  ObjectFacts crowded = ManagedQueue(b_, "u-b", {"mail", "0", "", ""}, Intent::kDeletes, 10);
  for (int i = 1; i < 16; ++i) {
    crowded.resources.front().names.push_back({Provisional("mail", std::to_string(i)), false});
  }
  Live(crowded);
  EXPECT_EQ(registry_.Contents().names.size(), 16U);

  ObjectFacts last = Live(ManagedQueue(a_, "u-a", {"jobs", "0", kOne, ""}, Intent::kDeletes, 11));
  const ResourceId id = registry_.IdNamed(QueueName("jobs", kOne));
  for (int i = 1; i < 15; ++i) {
    const ObjectFacts next = ManagedQueue(a_, "u-a", {"jobs", std::to_string(i), kOne, ""},
                                          Intent::kDeletes, 11 + static_cast<std::uint64_t>(i));
    ASSERT_TRUE(registry_.Update(last, next).allowed) << i;
    last = Seen(next);
  }
  EXPECT_EQ(registry_.NamesOf(id).size(), 16U);
  for (int i = 0; i < 15; ++i) {
    const Queue stranger{"jobs", std::to_string(i), "", ""};
    const Decision decision =
        registry_.Create(ManagedQueue(c_, "u-c", stranger, Intent::kDeletes, 50));
    EXPECT_FALSE(decision.allowed) << i;
  }
  End(last);
  EXPECT_TRUE(registry_.NamesOf(id).empty()) << "they go all at once";
}

}  // namespace histories_ids_test
}  // namespace truce
