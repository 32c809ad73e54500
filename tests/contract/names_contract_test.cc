// The contract of further names (I13: a name belongs to one resource), on every store.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/contract/every_store.h"
#include "tests/support/last_run.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace names_contract_test {

using NamesContract = StoreContract;

ResourceName NameOf(std::string_view name, std::string_view key) {
  ResourceName further = SampleName(name);
  further.key = SampleKey(key);
  return further;
}

Changes End(std::string_view name, std::string_view uid) {
  Changes end;
  end.drop_rows = {SampleRow(name, uid).id};
  end.drop_owners = {SampleKey(name)};
  end.drop_objects = {Uid{std::string(uid)}};
  return end;
}

TEST_P(NamesContract, KeepsEveryFieldAndFindsThemByNameAndByKey) {
  Changes changes = SampleCreate("a", "u1");
  ResourceName odd = NameOf("1", "a");
  odd.name.text = "quote'\"|%25 \xC3\xBC";
  odd.sort = NameSort::kDeclared;
  odd.observed = false;
  odd.at = At(-7);
  ResourceName assigned = NameOf("2", "a");
  assigned.name.text = "ec2/VPC|aws|123456789012|us-west-2|id=vpc-0123456789abcdef0";
  assigned.sort = NameSort::kAssigned;
  ResourceName former = NameOf("3", "a");
  former.name.text = "id:k3j5x7q2m4n6p";
  former.sort = NameSort::kFormerId;
  const ResourceName located = NameOf(std::string(300, 'n'), "a");
  changes.put_names = {located, odd, assigned, former};
  WriteAll(changes);
  WriteAll(SampleNamedCreate("b", "u2"));
  std::vector<ResourceName> of_a = {assigned, odd, located, former};
  std::sort(of_a.begin(), of_a.end(),
            [](const ResourceName& a, const ResourceName& b) { return a.name < b.name; });
  std::vector<ResourceName> all = of_a;
  all.push_back(SampleName("b"));
  std::sort(all.begin(), all.end(),
            [](const ResourceName& a, const ResourceName& b) { return a.name < b.name; });
  const auto check = [&] {
    EXPECT_EQ(Contents().names, all);
    // Alone, and after something that memory does not answer.
    for (const bool from_tables : {false, true}) {
      OnFacts([&](const Facts& facts) {
        if (from_tables) static_cast<void>(facts.RowsOfUid(Uid{"u1"}));
        for (const ResourceName& name : of_a) EXPECT_EQ(facts.FurtherName(name.name), name);
        EXPECT_EQ(facts.FurtherNamesOf(SampleKey("a")), of_a);
        EXPECT_EQ(facts.FurtherNamesOf(SampleKey("b")), std::vector{SampleName("b")});
        EXPECT_TRUE(facts.FurtherNamesOf(SampleKey("c")).empty());
        EXPECT_EQ(facts.FurtherName(SampleKey("a")), std::nullopt) << "a key is no further name";
        EXPECT_EQ(facts.FurtherName(KeyText{}), std::nullopt);
      });
    }
  };
  check();
  if (kind_->Reopen()) check();
}

TEST_P(NamesContract, TellsWhichNamesAreTaken) {
  WriteAll(SampleNamedCreate("a", "u1"));
  Changes observed = SampleCreate("b", "u2");
  observed.put_owners.clear();
  observed.put_rows[0].intent = Intent::kObserves;
  WriteAll(observed);
  const auto check = [](const AllFacts& facts) {
    EXPECT_TRUE(facts.IsTaken(SampleKey("a")));
    EXPECT_TRUE(facts.IsTaken(SampleName("a").name));
    EXPECT_FALSE(facts.IsTaken(SampleKey("b"))) << "who observes owns nothing";
    EXPECT_FALSE(facts.IsTaken(SampleKey("c")));
    EXPECT_FALSE(facts.IsTaken({std::string(5000, 'n')}));
    EXPECT_FALSE(facts.IsTaken({std::string("n\0n", 3)}));
  };
  OnFacts(check);
  LastRun hinted;
  Locks hints;
  hints.proposed = {SampleKey("c"), SampleKey("a"), SampleName("a").name};
  const ReadFn look = [&](const AllFacts& facts) { hinted.Of([&] { check(facts); }); };
  ASSERT_TRUE(store().Read(hints, look, Soon()).ok());
  hinted.Report();
}

TEST_P(NamesContract, PutsReplaceByNameAndDropsComeFirst) {
  WriteAll(SampleNamedCreate("a", "u1"));
  WriteAll(SampleCreate("b", "u2"));
  Changes again;
  again.drop_names = {SampleName("a").name, SampleName("unknown").name};
  again.put_names = {NameOf("a", "unknown"), NameOf("a", "b"), NameOf("x", "b")};
  again.put_names[1].observed = false;  // of two puts of one name the last one counts
  WriteAll(again);
  EXPECT_EQ(Contents().names, (std::vector{again.put_names[1], again.put_names[2]}));
  OnFacts([&](const Facts& facts) {
    EXPECT_EQ(facts.FurtherName(SampleName("a").name), again.put_names[1]);
    EXPECT_TRUE(facts.FurtherNamesOf(SampleKey("a")).empty());
    EXPECT_EQ(facts.FurtherNamesOf(SampleKey("b")).size(), 2U);
  });
  Changes drop;
  drop.drop_names = {SampleName("a").name};
  WriteAll(drop);
  WriteAll(drop);  // dropping what is not there changes nothing
  EXPECT_EQ(Contents().names, std::vector{again.put_names[2]});
  WriteAll(End("a", "u1"));
  Changes last = End("b", "u2");
  last.drop_names = {SampleName("x").name};
  WriteAll(last);
  EXPECT_TRUE(Contents().names.empty());
}

TEST_P(NamesContract, I13ANameBelongsToOneResourceThatExists) {
  Changes observed;  // "c" has rows alone
  observed.put_rows = {SampleRow("c", "u3")};
  observed.put_rows[0].intent = Intent::kObserves;
  WriteAll(SampleNamedCreate("a", "u1"));
  WriteAll(SampleCreate("b", "u2"));
  WriteAll(observed);
  const auto named = [](KeyText name, KeyText key) {
    Changes changes;
    changes.put_names = {SampleName("x")};
    changes.put_names[0].name = std::move(name);
    changes.put_names[0].key = std::move(key);
    return changes;
  };
  const KeyText name_of_a = SampleName("a").name;
  Changes owned_name = SampleCreate("d", "u4");
  owned_name.put_owners[0].key = name_of_a;
  Changes observed_name = observed;
  observed_name.put_rows[0].id.key = name_of_a;
  Changes of_what_ends = End("b", "u2");
  of_what_ends.put_names = {NameOf("x", "b")};
  struct Case {
    const char* reason;
    Changes changes;
  };
  const std::vector<Case> broken = {
      {"a name is not empty", named({}, SampleKey("a"))},
      {"a name has a key", named(SampleName("x").name, {})},
      {"its key has an owner or rows", named(SampleName("x").name, SampleKey("x"))},
      {"a name is not another's key", named(SampleKey("b"), SampleKey("a"))},
      {"a name is not its own key", named(SampleKey("a"), SampleKey("a"))},
      {"a name is not the key of rows", named(SampleKey("c"), SampleKey("a"))},
      {"a name does not become an owned key", owned_name},
      {"a name does not become the key of rows", observed_name},
      {"a name does not stay without its resource", End("a", "u1")},
      {"a name does not come as its resource goes", of_what_ends},
  };
  const StoreContents before = Contents();
  for (const Case& each : broken) {
    SCOPED_TRACE(each.reason);
    const Result<void> refused = Write(store(), each.changes);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kInternal);
    EXPECT_EQ(Contents(), before);
    OnFacts([&](const Facts& facts) {
      EXPECT_EQ(facts.FurtherName(name_of_a), SampleName("a"));
      EXPECT_EQ(facts.FurtherName(SampleName("x").name), std::nullopt);
    });
  }
  WriteAll(named(SampleName("c").name, SampleKey("c")));  // rows alone are enough
}

// What a resource does that becomes known under one of its further names.
TEST_P(NamesContract, AKeyAndANameChangePlacesInOneChange) {
  WriteAll(SampleNamedCreate("a", "u1"));
  Changes move = End("a", "u1");
  move.drop_objects.clear();
  const KeyText target = SampleName("a").name;
  move.put_owners = {SampleOwner("a", "u1")};
  move.put_rows = {SampleRow("a", "u1")};
  move.put_owners[0].key = target;
  move.put_rows[0].id.key = target;
  ResourceName old_key = SampleName("a");
  old_key.name = SampleKey("a");
  old_key.key = target;
  ResourceName more = NameOf("x", "a");
  more.key = target;
  move.drop_names = {target};
  move.put_names = {old_key, more};
  WriteAll(move);
  const auto check = [&] {
    EXPECT_EQ(Contents().owners, move.put_owners);
    EXPECT_EQ(Contents().rows, move.put_rows);
    OnFacts([&](const Facts& facts) {
      EXPECT_EQ(facts.FurtherNamesOf(target).size(), 2U);
      EXPECT_EQ(facts.FurtherName(SampleKey("a")), old_key);
      EXPECT_EQ(facts.FurtherName(target), std::nullopt);
      EXPECT_TRUE(facts.FurtherNamesOf(SampleKey("a")).empty());
      EXPECT_EQ(facts.OwnerOf(SampleKey("a")), std::nullopt);
    });
  };
  check();
  if (kind_->Reopen()) check();
}

// Decisions that run in one batch see each other's names, else two would take the same.
TEST_P(NamesContract, I13ConcurrentTakersOfOneNameHaveExactlyOneWinner) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 25;
  std::atomic<int> winners = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::latch start(kThreads);
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        const std::string own = std::to_string(round) + "-" + std::to_string(thread);
        ResourceName name = SampleName(std::to_string(round));
        name.key = SampleKey(own);
        bool won = false;
        std::optional<ResourceName> holder;
        std::vector<ResourceName> names;
        const DecideFn decide = [&](const Facts& facts) {
          holder = facts.FurtherName(name.name);
          won = !holder;
          if (!holder) {
            Changes changes = SampleCreate(own, own);
            changes.put_names = {name};
            return changes;
          }
          names = facts.FurtherNamesOf(holder->key);
          return Changes{};
        };
        start.arrive_and_wait();
        const Result<void> applied = store().Apply({}, decide, Soon());
        EXPECT_TRUE(applied.ok()) << applied.error().message;
        EXPECT_TRUE(!holder || names == std::vector{*holder});
        if (won) ++winners;
      });
    }
  }
  EXPECT_EQ(winners, kRounds);
  EXPECT_EQ(Contents().names.size(), std::size_t{kRounds});
  EXPECT_EQ(Contents().owners.size(), std::size_t{kRounds});
}

INSTANTIATE_TEST_SUITE_P(Stores, NamesContract, EveryStore(), NameOfStore);

}  // namespace names_contract_test
}  // namespace truce::testing
