// The contract of names (I13: a name belongs to one resource), on every store.
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

ResourceName NameOf(std::string_view name, std::string_view resource) {
  ResourceName located = SampleName(name);
  located.resource = SampleId(resource);
  return located;
}

bool ById(const ResourceName& a, const ResourceName& b) { return IdOf(a) < IdOf(b); }

TEST_P(NamesContract, KeepsEveryFieldAndFindsThemByNameAndByResource) {
  Changes changes = SampleCreate("a", "u1");
  ResourceName odd = NameOf("1", "a");
  odd.name.text = "quote'\"|%25 \xC3\xBC";
  odd.sort = NameSort::kDeclared;
  odd.observed = false;
  odd.at = At(-7);
  ResourceName assigned = NameOf("2", "a");
  assigned.name.text = "ec2/VPC|aws|123456789012|us-west-2|id=vpc-0123456789abcdef0";
  assigned.sort = NameSort::kAssigned;
  assigned.spelling = ~std::uint32_t{0};
  ResourceName former = NameOf("3", "a");
  former.name.text = "id:k3j5x7q2m4n6p";
  former.sort = NameSort::kFormerId;
  const ResourceName located = NameOf(std::string(300, 'n'), "a");
  std::vector<ResourceName> of_a = {SampleKeyName("a"), located, odd, assigned, former};
  changes.put_names = of_a;
  WriteAll(changes);
  WriteAll(SampleNamedCreate("b", "u2"));
  std::sort(of_a.begin(), of_a.end(), ById);
  const std::vector<ResourceName> of_b = {SampleName("b"), SampleKeyName("b")};
  std::vector<ResourceName> all = of_a;
  all.insert(all.end(), of_b.begin(), of_b.end());
  std::sort(all.begin(), all.end(), ById);
  const auto check = [&] {
    EXPECT_EQ(Contents().names, all);
    OnFacts([&](const Facts& facts) {
      for (const ResourceName& name : of_a) EXPECT_EQ(facts.Named(name.name), name);
      EXPECT_EQ(facts.NamesOf(SampleId("a")), of_a);
      EXPECT_EQ(facts.NamesOf(SampleId("b")), of_b);
      EXPECT_TRUE(facts.NamesOf(SampleId("c")).empty());
      EXPECT_EQ(facts.Named(KeyText{"id:k3j5x7q2m4n6"}), std::nullopt);
      EXPECT_EQ(facts.Named(KeyText{}), std::nullopt);
    });
  };
  check();
  if (kind_->Reopen()) check();
}

// As a pass over all resources brings them while another catalogue spells names anew.
TEST_P(NamesContract, OfTwoSpellingsTheNewerOneCounts) {
  WriteAll(SampleNamedCreate("a", "u1"));
  WriteAll(SampleCreate("b", "u2"));
  const KeyText text = SampleName("a").name;
  ResourceName newer = NameOf("a", "b");
  newer.spelling = 10;
  ResourceName newest = NameOf("a", "a");
  newest.spelling = 200;
  Changes pass;
  pass.put_names = {newest, newer};
  WriteAll(pass);
  const auto check = [&] {
    OnFacts([&](const Facts& facts) {
      EXPECT_EQ(facts.Spelt(text), (std::vector{newest, newer, SampleName("a")}));
      EXPECT_EQ(facts.Named(text), newest);
      EXPECT_EQ(facts.NamesOf(SampleId("a")),
                (std::vector{SampleName("a"), newest, SampleKeyName("a")}));
      EXPECT_EQ(facts.NamesOf(SampleId("b")), (std::vector{newer, SampleKeyName("b")}));
    });
  };
  check();
  if (kind_->Reopen()) check();
  Changes drop;
  drop.drop_names = {IdOf(newest), {text, 7}};
  WriteAll(drop);
  OnFacts([&](const Facts& facts) { EXPECT_EQ(facts.Named(text), newer); });
  drop.drop_names = {IdOf(newer)};
  WriteAll(drop);
  OnFacts([&](const Facts& facts) {
    EXPECT_EQ(facts.Named(text), SampleName("a"));
    EXPECT_EQ(facts.Spelt(text), std::vector{SampleName("a")});
    EXPECT_EQ(facts.NamesOf(SampleId("b")), std::vector{SampleKeyName("b")});
  });
}

TEST_P(NamesContract, TellsWhichNamesAreTaken) {
  WriteAll(SampleNamedCreate("a", "u1"));
  WriteAll(SampleObserve("b", "u2"));
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
  const ResourceName key_of_a = SampleKeyName("a");
  const ResourceName key_of_b = SampleKeyName("b");
  Changes again;
  again.drop_names = {IdOf(SampleName("a")), IdOf(SampleName("unknown"))};
  again.put_names = {NameOf("a", "unknown"), NameOf("a", "b"), NameOf("x", "b")};
  again.put_names[1].observed = false;  // of two puts of one name the last one counts
  const ResourceName moved = again.put_names[1];
  const ResourceName more = again.put_names[2];
  WriteAll(again);
  EXPECT_EQ(Contents().names, (std::vector{moved, more, key_of_a, key_of_b}));
  OnFacts([&](const Facts& facts) {
    EXPECT_EQ(facts.Named(SampleName("a").name), moved);
    EXPECT_EQ(facts.NamesOf(SampleId("a")), std::vector{key_of_a});
    EXPECT_EQ(facts.NamesOf(SampleId("b")), (std::vector{moved, more, key_of_b}));
  });
  Changes drop;
  drop.drop_names = {IdOf(moved)};
  WriteAll(drop);
  WriteAll(drop);  // dropping what is not there changes nothing
  EXPECT_EQ(Contents().names, (std::vector{more, key_of_a, key_of_b}));
  WriteAll(SampleEnd("a", "u1"));
  Changes last = SampleEnd("b", "u2");
  last.drop_names.push_back(IdOf(more));
  WriteAll(last);
  EXPECT_TRUE(Contents().names.empty());
}

TEST_P(NamesContract, I13ANameBelongsToOneResourceThatExists) {
  WriteAll(SampleNamedCreate("a", "u1"));
  WriteAll(SampleCreate("b", "u2"));
  WriteAll(SampleObserve("c", "u3"));
  const auto named = [](std::string_view name, std::string_view resource) {
    Changes changes;
    changes.put_names = {NameOf(name, resource)};
    return changes;
  };
  Changes empty = named("x", "a");
  empty.put_names[0].name = {};
  Changes of_nothing = named("x", "a");
  of_nothing.put_names[0].resource = {};
  Changes leaves_one = SampleEnd("a", "u1");
  leaves_one.drop_names.pop_back();
  Changes leaves_another_spelling = SampleEnd("a", "u1");
  leaves_another_spelling.drop_names.back().spelling = 1;
  Changes of_what_is_unobserved = SampleEnd("c", "u3");
  of_what_is_unobserved.drop_names.clear();
  Changes of_what_ends = SampleEnd("b", "u2");
  of_what_ends.put_names = {NameOf("x", "b")};
  struct Case {
    const char* reason;
    Changes changes;
  };
  const std::vector<Case> broken = {
      {"a name is not empty", empty},
      {"a name has a resource", of_nothing},
      {"its resource has an owner or rows", named("x", "x")},
      {"a name does not stay without its resource", leaves_one},
      {"nor does one of another spelling", leaves_another_spelling},
      {"nor one of what is only observed", of_what_is_unobserved},
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
      EXPECT_EQ(facts.Named(SampleName("a").name), SampleName("a"));
      EXPECT_EQ(facts.Named(SampleName("x").name), std::nullopt);
    });
  }
  WriteAll(named("c", "c"));  // rows alone are enough
}

// What becomes of two resources that turn out to be one.
TEST_P(NamesContract, NamesMoveToAnotherResourceAsTheirOwnEnds) {
  WriteAll(SampleNamedCreate("a", "u1"));
  WriteAll(SampleCreate("b", "u2"));
  Changes merge = SampleEnd("a", "u1");
  merge.drop_objects.clear();
  merge.drop_names.clear();
  merge.put_rows = {SampleRow("b", "u1")};
  ResourceName declared = SampleKeyName("a");
  declared.resource = SampleId("b");
  merge.put_names = {declared, NameOf("a", "b")};
  WriteAll(merge);
  const auto check = [&] {
    EXPECT_EQ(Contents().owners, std::vector{SampleOwner("b", "u2")});
    OnFacts([&](const Facts& facts) {
      EXPECT_EQ(facts.Named(SampleKey("a")), declared);
      EXPECT_EQ(facts.NamesOf(SampleId("b")).size(), 3U);
      EXPECT_TRUE(facts.NamesOf(SampleId("a")).empty());
      EXPECT_EQ(facts.OwnerOf(SampleId("a")), std::nullopt);
      EXPECT_EQ(facts.RowsOf(SampleId("b")).size(), 2U);
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
        name.resource = SampleId(own);
        bool won = false;
        std::optional<ResourceName> holder;
        std::vector<ResourceName> names;
        const DecideFn decide = [&](const Facts& facts) {
          holder = facts.Named(name.name);
          won = !holder;
          if (!holder) {
            Changes changes = SampleCreate(own, own);
            changes.put_names = {name};
            return changes;
          }
          names = facts.NamesOf(holder->resource);
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
