// The contract of the store port (registry/store/store.h), run on every store.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <tuple>

#include "tests/contract/every_store.h"
#include "tests/support/memory_store.h"
#include "tests/support/recount.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace store_contract_test {

TEST_P(StoreContract, StartsEmptyAndHealthy) {
  EXPECT_EQ(Contents(), StoreContents{});
  EXPECT_EQ(store().Counts(), StoreCounts{});
  EXPECT_TRUE(store().Health().ok());
}

TEST_P(StoreContract, KeepsEveryFieldOfWhatItWrites) {
  Changes changes = SampleCreate("a", "u1");
  changes.put_rows[0].base = ~std::uint64_t{0};
  changes.put_rows[0].created = At(-5);
  changes.put_rows[0].terminating = true;
  changes.put_rows[0].managed = false;
  changes.put_rows[0].intent = Intent::kManages;
  changes.put_owners[0].shape = "s3/Bucket|aws";
  changes.put_owners[0].real = true;
  changes.put_owners[0].record = Record::kTransferring;
  changes.put_owners[0].record_reason = "deletion policy Orphan";
  changes.put_owners[0].successor = "Bucket/team-b/artifacts";
  changes.put_owners[0].state = HolderState::kTerminating;
  changes.put_owners[0].leaf = SampleSlot("leaf");
  changes.put_objects[0].parent = SampleSlot("parent");
  changes.put_objects[0].parent_uid = Uid{"u9"};
  changes.put_objects[0].link = "d1";
  changes.put_objects[0].stripped = 7;
  changes.put_settings.emplace_back("brake", "3");
  WriteAll(changes);
  const StoreContents contents = Contents();
  EXPECT_EQ(contents.rows, changes.put_rows);
  EXPECT_EQ(contents.owners, changes.put_owners);
  EXPECT_EQ(contents.objects, changes.put_objects);
  EXPECT_EQ(contents.names, changes.put_names);
  EXPECT_TRUE(contents.observed.empty());
  EXPECT_EQ(contents.audit, changes.audit);
  EXPECT_EQ(contents.settings, changes.put_settings);
  OnFacts([&](const Facts& facts) {
    EXPECT_EQ(facts.OwnerOf(SampleId("a")), changes.put_owners[0]);
    EXPECT_EQ(facts.RowsOf(SampleId("a")), changes.put_rows);
    EXPECT_EQ(facts.RowsOfUid(Uid{"u1"}), changes.put_rows);
    EXPECT_EQ(facts.ObjectByUid(Uid{"u1"}), changes.put_objects[0]);
    EXPECT_EQ(facts.Setting("brake"), "3");
  });
}

TEST_P(StoreContract, AnswersNothingForWhatIsUnknown) {
  OnFacts([](const AllFacts& facts) {
    EXPECT_EQ(facts.Named(SampleKey("a")), std::nullopt);
    EXPECT_TRUE(facts.NamesOf(SampleId("a")).empty());
    EXPECT_EQ(facts.OwnerOf(SampleId("a")), std::nullopt);
    EXPECT_TRUE(facts.RowsOf(SampleId("a")).empty());
    EXPECT_TRUE(facts.AgreementsOf(SampleId("a")).empty());
    EXPECT_TRUE(facts.RowsOfUid(Uid{"u1"}).empty());
    EXPECT_EQ(facts.ObjectByUid(Uid{"u1"}), std::nullopt);
    EXPECT_EQ(facts.ObjectBySlot(SampleSlot("a")), std::nullopt);
    EXPECT_TRUE(facts.ChildrenOf(SampleSlot("a")).empty());
    EXPECT_EQ(facts.CountReserved({.ns = "ns"}, {}, 9), 0U);
    EXPECT_TRUE(facts.OwnersOfShape("x", 9).empty());
    EXPECT_TRUE(facts.OwnersOfShape("", 9).empty());
    EXPECT_TRUE(facts.ResourcesAfter({}, 9).empty());
    EXPECT_TRUE(facts.KeysAfter({}, 9).empty());
    EXPECT_TRUE(facts.ObjectsOfKind(SampleSlot(""), {}, 9).objects.empty());
    EXPECT_TRUE(facts.ReservedBefore(At(1), {}, 9).empty());
    EXPECT_EQ(facts.CountSeen("local"), 0U);
    EXPECT_TRUE(facts.OwnersIn(OwnerList::kAll, {}, 9).empty());
    EXPECT_EQ(facts.Setting("brake"), std::nullopt);
  });
}

TEST_P(StoreContract, RefusesADecisionThatWouldBreakAnInvariant) {
  Changes changes = SampleCreate("a", "u1");
  changes.breach = "invariant I0 would be broken: a test's";
  const Result<void> refused = Write(store(), changes);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInternal);
  EXPECT_EQ(refused.error().message, changes.breach);
  OnFacts([](const Facts& facts) { EXPECT_EQ(facts.OwnerOf(SampleId("a")), std::nullopt); });
  EXPECT_TRUE(Write(store(), SampleCreate("b", "u1")).ok()) << "and goes on";
}

TEST_P(StoreContract, PutReplacesAndDropForgets) {
  WriteAll(SampleCreate("a", "u1"));
  Changes replace = SampleCreate("a", "u1");
  replace.audit.clear();
  replace.put_rows[0].intent = Intent::kManages;
  replace.put_owners[0].service = "another";
  replace.put_objects[0].stripped = 8;
  replace.put_settings = {{"n", "1"}};
  WriteAll(replace);
  StoreContents contents = Contents();
  EXPECT_EQ(contents.rows, replace.put_rows);
  EXPECT_EQ(contents.owners, replace.put_owners);
  EXPECT_EQ(contents.objects, replace.put_objects);
  Changes drop = SampleEnd("a", "u1");
  drop.put_settings = {{"n", "2"}};
  WriteAll(drop);
  WriteAll(drop);  // dropping what is not there changes nothing
  contents = Contents();
  EXPECT_TRUE(contents.rows.empty());
  EXPECT_TRUE(contents.owners.empty());
  EXPECT_TRUE(contents.objects.empty());
  EXPECT_TRUE(contents.names.empty());
  EXPECT_EQ(contents.audit.size(), 1U);
  EXPECT_EQ(contents.settings, drop.put_settings);
  EXPECT_EQ(OwnerIn(store(), SampleId("a")), std::nullopt);
}

TEST_P(StoreContract, DropsBeforeItPuts) {
  WriteAll(SampleCreate("a", "u1"));
  Changes changes = SampleCreate("a", "u2");
  changes.drop_owners = {SampleId("a")};
  changes.drop_names = {IdOf(SampleKeyName("a"))};
  changes.drop_rows = {SampleRow("a", "u1").id, SampleRow("a", "u2").id};
  changes.drop_objects = {Uid{"u1"}, Uid{"u2"}};
  WriteAll(changes);
  const StoreContents contents = Contents();
  EXPECT_EQ(contents.rows, changes.put_rows);
  EXPECT_EQ(contents.owners, changes.put_owners);
  EXPECT_EQ(contents.objects, changes.put_objects);
  EXPECT_EQ(contents.names, changes.put_names);
}

TEST_P(StoreContract, AReservationStandsBesideTheSeenRow) {
  Changes changes = SampleCreate("a", "u1");
  Row seen = changes.put_rows[0];
  seen.id.state = RowState::kSeen;
  seen.review = {};
  changes.put_rows.push_back(seen);
  WriteAll(changes);
  EXPECT_EQ(Contents().rows, changes.put_rows);
}

TEST_P(StoreContract, CountsOwnershipsByStateAndConflicts) {
  Changes changes;
  const auto add = [&](const char* name, Record record, HolderState state) {
    changes.put_owners.push_back(SampleOwner(name, "u1"));
    changes.put_owners.back().record = record;
    changes.put_owners.back().state = state;
  };
  add("a", Record::kNone, HolderState::kReserved);
  add("b", Record::kNone, HolderState::kHeld);
  add("c", Record::kNone, HolderState::kTerminating);
  add("d", Record::kOrphaned, HolderState::kReserved);
  add("e", Record::kTransferring, HolderState::kHeld);
  add("f", Record::kImported, HolderState::kReserved);
  // Of a record the rows tell one side alone.
  changes.put_owners[0].contested = changes.put_owners[3].contested = true;
  changes.put_rows = {SampleRow("a", "u1"), SampleRow("a", "u2"), SampleRow("b", "u1")};
  Row observer = SampleRow("b", "u2");
  observer.intent = Intent::kObserves;
  changes.put_rows.push_back(observer);
  WriteAll(changes);
  StoreCounts counts;
  counts.owners = 6;
  counts.reserved = 1;
  counts.held = 2;
  counts.orphaned = 2;
  counts.imported = 1;
  counts.conflicts = 2;
  EXPECT_EQ(store().Counts(), counts);
  Changes end;
  end.drop_rows = {SampleRow("a", "u2").id};
  end.put_owners = {changes.put_owners[0]};
  end.put_owners[0].contested = false;
  end.drop_owners = {SampleId("d"), SampleId("f")};
  WriteAll(end);
  counts.owners = 4;
  counts.orphaned = 1;
  counts.imported = 0;
  counts.conflicts = 0;
  EXPECT_EQ(store().Counts(), counts);
}

TEST_P(StoreContract, I1AManagingReservationNeedsAnOwner) {
  Changes orphan;
  orphan.put_rows = {SampleRow("a", "u1")};
  orphan.put_objects = {SampleObject("u1")};
  const Result<void> refused = Write(store(), orphan);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInternal);
  EXPECT_EQ(Contents(), StoreContents{});
  orphan.put_observed = {{SampleId("a"), SampleKey("a")}};
  EXPECT_FALSE(Write(store(), orphan).ok());
  EXPECT_EQ(Contents(), StoreContents{});
  WriteAll(SampleCreate("a", "u1"));
  const StoreContents before = Contents();
  Changes drop;
  drop.drop_owners = {SampleId("a")};
  const Result<void> kept = Write(store(), drop);
  ASSERT_FALSE(kept.ok());
  EXPECT_EQ(kept.error().code, ErrorCode::kInternal);
  EXPECT_EQ(Contents(), before);
  EXPECT_EQ(OwnerIn(store(), SampleId("a")), before.owners[0]);
}

TEST_P(StoreContract, WhatIsOnlyObservedHasAnIdAndAKey) {
  const auto shown = [&] {
    std::vector<KeyText> keys;
    EXPECT_TRUE(
        store().Read([&](const AllFacts& facts) { keys = facts.KeysAfter({}, 10); }, Soon()).ok());
    return keys;
  };
  const auto by = [](const char* key) {
    Changes changes;
    changes.put_observed = {{SampleId("a"), SampleKey(key)}};
    return changes;
  };
  Changes observe = SampleObserve("a", "u1");
  for (const char* key : {"b", "c"}) {
    observe.put_names.push_back(SampleKeyName(key));
    observe.put_names.back().resource = SampleId("a");
  }
  WriteAll(observe);
  EXPECT_EQ(shown(), std::vector{SampleKey("a")});
  WriteAll(by("b"));
  EXPECT_EQ(shown(), std::vector{SampleKey("b")});
  const StoreContents before = Contents();
  EXPECT_TRUE(before.owners.empty());
  EXPECT_EQ(before.rows, observe.put_rows);
  EXPECT_EQ(store().Counts(), StoreCounts{});
  if (kind_->Reopen()) {
    EXPECT_EQ(Contents(), before);
    EXPECT_EQ(shown(), std::vector{SampleKey("b")});
  }
  Changes owned;
  owned.put_owners = {SampleOwner("a", "u2")};
  WriteAll(owned);
  WriteAll(by("b"));  // what has an owner stays owned
  EXPECT_EQ(Contents().owners, owned.put_owners);
  EXPECT_TRUE(Contents().observed.empty());
  Changes left;
  left.drop_owners = {SampleId("a")};
  WriteAll(left);
  EXPECT_EQ(shown(), std::vector{SampleKey("a")}) << "by the key that its owner had";
  Changes with_owner = owned;
  with_owner.put_observed = by("b").put_observed;
  WriteAll(with_owner);
  EXPECT_EQ(Contents().owners, owned.put_owners);
  left.put_observed = by("c").put_observed;
  WriteAll(left);
  EXPECT_EQ(shown(), std::vector{SampleKey("c")});
  Changes end = SampleEnd("a", "u1");
  for (const ResourceName& name : observe.put_names) end.drop_names.push_back(IdOf(name));
  WriteAll(end);
  WriteAll(by("b"));  // without rows it is not there
  EXPECT_TRUE(Contents().observed.empty());
}

TEST_P(StoreContract, ARowHasItsResource) {
  Changes row;
  row.put_rows = SampleObserve("a", "u1").put_rows;
  const Result<void> refused = Write(store(), row);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInternal);
  EXPECT_EQ(Contents(), StoreContents{});
}

TEST_P(StoreContract, RefusesNamelessThingsAndWritesNothing) {
  std::vector<Changes> broken(9, SampleCreate("a", "u1"));
  broken[0].put_rows.push_back(SampleRow("a", ""));
  broken[1].put_rows.push_back(SampleRow("a", "u2"));
  broken[1].put_rows.back().id.resource = {};
  broken[2].put_owners.push_back(SampleOwner("b", "u1"));
  broken[2].put_owners.back().id = {};
  broken[3].put_owners.push_back(SampleOwner("b", "u1"));
  broken[3].put_owners.back().key = {};
  broken[4] = broken[5] = SampleObserve("a", "u1");
  broken[4].put_observed.push_back({{}, SampleKey("a")});
  broken[5].put_observed[0].key = {};
  broken[6].put_objects.push_back({});
  broken[7].put_settings.emplace_back("", "x");
  broken[8].put_names.push_back(SampleName("a"));
  broken[8].put_names.back().name = {};
  for (const Changes& changes : broken) {
    const Result<void> refused = Write(store(), changes);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kInternal);
    EXPECT_EQ(Contents(), StoreContents{});
    EXPECT_EQ(store().Counts(), StoreCounts{});
  }
  WriteAll(SampleCreate("a", "u1"));  // a refused call spoils nothing for the next one
}

TEST_P(StoreContract, APassedDeadlineWritesNothing) {
  Changes changes = SampleCreate("a", "u1");
  const Result<void> late = store().Apply(
      {}, [&](const Facts& /*facts*/) { return changes; }, Past());
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(Contents(), StoreContents{});
  const Result<void> look = store().Read([](const Facts& /*facts*/) {}, Past());
  ASSERT_FALSE(look.ok());
  EXPECT_EQ(look.error().code, ErrorCode::kDeadlineExceeded);
}

// What it refers to lives in the caller's frame.
TEST_P(StoreContract, ADecisionThatRunsPastTheDeadlineEndsBeforeApplyReturns) {
  std::atomic<int> running = 0;
  const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  const DecideFn slow = [&](const Facts& /*facts*/) {
    ++running;
    while (std::chrono::steady_clock::now() < deadline + std::chrono::milliseconds(50)) {
    }
    --running;
    return SampleCreate("a", "u1");
  };
  const Result<void> applied = store().Apply({}, slow, deadline);
  EXPECT_EQ(running, 0);
  EXPECT_TRUE(applied.ok() || applied.error().code == ErrorCode::kDeadlineExceeded);
}

TEST_P(StoreContract, ADecisionWhoseTurnComesTooLateNeverRuns) {
  Locks same;  // without it a store that locks by thing has no reason to let it wait
  same.resources = {SampleId("a")};
  std::atomic<bool> busy = false;
  std::atomic<bool> release = false;
  std::atomic<bool> ran = false;
  std::jthread writer([&] {
    const DecideFn block = [&](const Facts& /*facts*/) {
      busy = true;
      while (!release) {
      }
      return Changes{};
    };
    EXPECT_TRUE(store().Apply(same, block, Soon()).ok());
  });
  while (!busy) std::this_thread::yield();
  const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  std::jthread caller([&] {
    const DecideFn decide = [&](const Facts& /*facts*/) {
      ran = true;
      return Changes{};
    };
    const Result<void> late = store().Apply(same, decide, deadline);
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().code, ErrorCode::kDeadlineExceeded);
  });
  while (std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  release = true;
  caller.join();
  WriteAll(SampleCreate("a", "u1"));  // the turn of all that was queued before is over
  EXPECT_FALSE(ran);
}

// Waits for what was submitted.
class Told {
 public:
  OnDone Teller() {
    return [this](Result<void> result) {
      const std::lock_guard lock(mutex_);
      results_.push_back(std::move(result));
      told_.notify_all();
    };
  }
  std::vector<Result<void>> Wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(told_.wait_until(lock, Soon(), [&] { return results_.size() >= count; }));
    return results_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable told_;
  std::vector<Result<void>> results_;
};

TEST_P(StoreContract, WhatIsSubmittedIsToldWhatApplyReturns) {
  Told told;
  store().Submit(
      {}, [](const Facts&) { return SampleCreate("a", "u1"); }, Soon(), told.Teller());
  ASSERT_TRUE(told.Wait(1)[0].ok());
  EXPECT_EQ(Contents().owners, SampleCreate("a", "u1").put_owners);
  Changes nameless;
  nameless.put_settings.emplace_back("", "x");
  store().Submit(
      {}, [&](const Facts&) { return nameless; }, Soon(), told.Teller());
  EXPECT_EQ(told.Wait(2)[1].error().code, ErrorCode::kInternal);
}

TEST_P(StoreContract, WhatIsSubmittedTooLateWritesNothing) {
  Told told;
  store().Submit(
      {}, [](const Facts&) { return SampleCreate("a", "u1"); }, Past(), told.Teller());
  EXPECT_EQ(told.Wait(1)[0].error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(Contents(), StoreContents{});
}

// Its caller may have gone: what both hold lives until `done` was called, and no longer than the
// store needs it.
TEST_P(StoreContract, WhatIsSubmittedIsKeptUntilItIsTold) {
  Told told;
  std::weak_ptr<int> held;
  {
    const auto owned = std::make_shared<int>(7);
    held = owned;
    store().Submit(
        {},
        [owned](const Facts&) {
          EXPECT_EQ(*owned, 7);
          return SampleCreate("a", "u1");
        },
        Soon(),
        [owned, teller = told.Teller()](Result<void> result) {
          EXPECT_EQ(*owned, 7);
          teller(std::move(result));
        });
  }
  ASSERT_TRUE(told.Wait(1)[0].ok());
  kind_->Reopen();
  EXPECT_TRUE(held.expired());
}

TEST_P(StoreContract, WhatIsSubmittedIsWrittenBeforeTheStoreCloses) {
  constexpr std::size_t kCount = 50;
  Told told;
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::string name = "n" + std::to_string(i);
    store().Submit(
        {}, [name](const Facts&) { return SampleCreate(name, "u-" + name); }, Soon(),
        told.Teller());
  }
  kind_->Reopen();
  const auto results = told.Wait(kCount);
  EXPECT_EQ(results.size(), kCount);
  EXPECT_TRUE(std::all_of(results.begin(), results.end(), [](const auto& r) { return r.ok(); }));
  EXPECT_EQ(Contents().owners.size(), kCount);
}

TEST_P(StoreContract, ADecisionSeesWhatEarlierOnesWrote) {
  for (int i = 0; i < 3; ++i) {
    const DecideFn once = [](const Facts& facts) {
      return facts.OwnerOf(SampleId("a")).has_value() ? Changes{} : SampleCreate("a", "u1");
    };
    ASSERT_TRUE(store().Apply({}, once, Soon()).ok());
  }
  EXPECT_EQ(Contents().audit.size(), 1U);
}

TEST_P(StoreContract, I1ConcurrentCreatesOfOneResourceHaveExactlyOneWinner) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 40;
  std::atomic<int> winners = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string name = "race" + std::to_string(round);
    std::latch start(kThreads);
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        const std::string uid = std::to_string(round) + "-" + std::to_string(thread);
        bool won = false;
        const DecideFn decide = [&](const Facts& facts) {
          won = !facts.OwnerOf(SampleId(name)) && facts.RowsOf(SampleId(name)).empty();
          return won ? SampleCreate(name, uid) : Changes{};
        };
        start.arrive_and_wait();
        if (store().Apply({}, decide, Soon()).ok() && won) ++winners;
      });
    }
  }
  EXPECT_EQ(winners, kRounds);
  const StoreContents contents = Contents();
  EXPECT_EQ(contents.owners.size(), std::size_t{kRounds});
  EXPECT_EQ(contents.audit.size(), std::size_t{kRounds});
  EXPECT_EQ(store().Counts().conflicts, 0U);
}

TEST_P(StoreContract, AReaderSeesWholeDecisionsOnly) {
  constexpr int kSteps = 150;
  std::atomic<bool> done = false;
  std::jthread writer([&] {
    for (int i = 1; i <= kSteps; ++i) {
      Changes changes;
      for (const char* name : {"a", "b"}) {
        Owner owner = SampleOwner(name, "u1");
        owner.since = At(i);
        changes.put_owners.push_back(owner);
        Row row = SampleRow(name, "u1");
        row.at = At(i);
        changes.put_rows.push_back(row);
        changes.put_names.push_back(SampleName(name));
        changes.put_names.back().at = At(i);
      }
      EXPECT_TRUE(Write(store(), changes).ok());
    }
    done = true;
  });
  while (!done) {
    std::vector<Timestamp> times;
    const ReadFn look = [&times](const Facts& facts) {
      times.clear();
      const std::optional<Owner> a = facts.OwnerOf(SampleId("a"));
      if (!a) return;
      times.push_back(a->since);
      for (const Row& row : facts.RowsOf(SampleId("b"))) times.push_back(row.at);
      const std::optional<ResourceName> of_a = facts.Named(SampleName("a").name);
      times.push_back(of_a ? of_a->at : Timestamp{});
      for (const ResourceName& name : facts.NamesOf(SampleId("b"))) times.push_back(name.at);
      const std::optional<Owner> b = facts.OwnerOf(SampleId("b"));
      times.push_back(b ? b->since : Timestamp{});
    };
    ASSERT_TRUE(store().Read(look, Soon()).ok());
    EXPECT_TRUE(std::equal(times.begin() + (times.empty() ? 0 : 1), times.end(), times.begin()));
  }
}

std::vector<ResourceName> NamesIn(const Store& store, const ResourceId& id) {
  std::vector<ResourceName> names;
  const ReadFn look = [&](const Facts& facts) { names = facts.NamesOf(id); };
  EXPECT_TRUE(store.Read(look, Soon()).ok());
  return names;
}

std::optional<ResourceName> NamedIn(const Store& store, const KeyText& name) {
  std::optional<ResourceName> named;
  const ReadFn look = [&](const Facts& facts) { named = facts.Named(name); };
  EXPECT_TRUE(store.Read(look, Soon()).ok());
  return named;
}

TEST_P(StoreContract, SurvivesReopening) {
  WriteAll(SampleNamedCreate("a", "u1"));
  WriteAll(SampleObserve("c", "u4"));
  Changes more = SampleCreate("b", "u2");
  more.put_rows.push_back(SampleRow("b", "u3"));
  more.put_settings.emplace_back("catalogue", "2");
  WriteAll(more);
  const StoreContents before = Contents();
  const StoreCounts counts = store().Counts();
  if (!kind_->Reopen()) return;
  EXPECT_EQ(Contents(), before);
  EXPECT_EQ(store().Counts(), counts);
  EXPECT_EQ(OwnerIn(store(), SampleId("a")), before.owners[0]);
  EXPECT_EQ(NamesIn(store(), SampleId("a")).size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, EveryStore(), NameOfStore);

// Whatever is written, a store holds what the reference holds, refuses what it refuses, and counts
// alike.
class RandomChangesContract : public ::testing::TestWithParam<std::tuple<Named, std::uint64_t>> {};

TEST_P(RandomChangesContract, AgreesWithTheReference) {
  const auto& [named, seed] = GetParam();
  const std::unique_ptr<StoreKind> kind = named.make();
  MemoryStore reference;
  std::mt19937_64 random(seed);
  for (int step = 0; step < 120; ++step) {
    const Changes changes = RandomChanges(random);
    const Result<void> expected = Write(reference, changes);
    const Result<void> actual = Write(kind->store(), changes);
    ASSERT_EQ(actual.ok(), expected.ok()) << "step " << step;
    if (!expected.ok()) {
      ASSERT_EQ(actual.error().code, expected.error().code);
    }
    ASSERT_EQ(ContentsOf(kind->store()).value(), ContentsOf(reference).value()) << "step " << step;
    ASSERT_EQ(kind->store().Counts(), reference.Counts()) << "step " << step;
    ASSERT_EQ(Miscounts(kind->store()), std::vector<std::string>()) << "step " << step;
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      const ResourceId id = SampleId(name);
      ASSERT_EQ(OwnerIn(kind->store(), id), OwnerIn(reference, id)) << "step " << step;
      ASSERT_EQ(NamesIn(kind->store(), id), NamesIn(reference, id)) << "step " << step;
      const KeyText text = SampleName(name).name;
      ASSERT_EQ(NamedIn(kind->store(), text), NamedIn(reference, text)) << "step " << step;
    }
  }
  if (!kind->Reopen()) return;
  ASSERT_EQ(ContentsOf(kind->store()).value(), ContentsOf(reference).value());
  ASSERT_EQ(kind->store().Counts(), reference.Counts());
  ASSERT_EQ(Miscounts(kind->store()), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(Rotating, RandomChangesContract,
                         ::testing::Combine(EveryStore(), ::testing::Range<std::uint64_t>(1, 7)),
                         [](const auto& tested) {
                           return std::get<0>(tested.param).name + "_" +
                                  std::to_string(std::get<1>(tested.param));
                         });

}  // namespace store_contract_test
}  // namespace truce::testing
