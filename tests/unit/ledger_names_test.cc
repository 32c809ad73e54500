// Names in a decision's ledger: what it sees, and what it leaves of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "tests/support/ledger_samples.h"
#include "tests/support/memory_store.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace ledger_names_test {

class LedgerNames : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(WriteDecided(store_, SampleNamedCreate("a", "u1")).ok());
    ASSERT_TRUE(WriteDecided(store_, SampleCreate("b", "u2")).ok());
  }

  // Runs `act` on a ledger, writes what it leaves, and gives that.
  Changes Decide(const std::function<void(Ledger&)>& act) {
    Changes changes;
    const auto decide = [&](const Facts& facts) {
      Ledger ledger(facts, At(9), ids_, parties_);
      // Whatever ends here is allowed to.
      for (const char* name : {"a", "b"}) ledger.MayFree(SampleId(name));
      for (const char* uid : {"u1", "u2", "u3"}) ledger.MayEnd({uid});
      act(ledger);
      changes = ledger.Take();
      return changes;
    };
    const Result<void> applied = store_.Apply({}, decide, Soon());
    EXPECT_TRUE(applied.ok()) << applied.error().message;
    return changes;
  }
  StoreContents Contents() { return std::move(ContentsOf(store_)).value(); }
  std::vector<ResourceName> Names() { return Contents().names; }
  Owner OwnerOf(const char* name) { return OwnerIn(store_, SampleId(name)).value(); }

  // Another name of the resource, by which it is declared.
  static ResourceName NameOf(std::string_view name, std::string_view resource) {
    ResourceName other = SampleKeyName(name);
    other.resource = SampleId(resource);
    return other;
  }

  MemoryStore store_;
  const ResourceId fresh_{"0123456789abc"};
  const IdSource ids_ = [this] { return PublicId{fresh_.text}; };
  const PartyRules parties_ = {};
};

TEST_F(LedgerNames, ReadsSeeWhatItPutAndDropped) {
  const ResourceName put = NameOf("x", "a");
  ResourceName moved = SampleName("a");
  moved.resource = SampleId("b");
  const Changes changes = Decide([&](Ledger& ledger) {
    EXPECT_EQ(ledger.Named(SampleName("a").name), SampleName("a"));
    EXPECT_EQ(ledger.Named(put.name), std::nullopt);
    ledger.PutName(put);
    EXPECT_EQ(ledger.Named(put.name), put);
    EXPECT_EQ(ledger.NamesOf(SampleId("a")),
              (std::vector{SampleName("a"), SampleKeyName("a"), put}));
    ledger.DropName(IdOf(SampleName("a")));
    EXPECT_EQ(ledger.Named(SampleName("a").name), std::nullopt);
    EXPECT_EQ(ledger.NamesOf(SampleId("a")), (std::vector{SampleKeyName("a"), put}));
    ledger.PutName(moved);
    EXPECT_EQ(ledger.NamesOf(SampleId("a")), (std::vector{SampleKeyName("a"), put}));
    EXPECT_EQ(ledger.NamesOf(SampleId("b")), (std::vector{moved, SampleKeyName("b")}));
  });
  EXPECT_EQ(changes.put_names, (std::vector{moved, put}));
  EXPECT_TRUE(changes.drop_names.empty());
  EXPECT_EQ(Names(), (std::vector{moved, SampleKeyName("a"), SampleKeyName("b"), put}));
}

TEST_F(LedgerNames, OfTwoSpellingsTheNewerOneCounts) {
  ResourceName newer = NameOf("a", "b");
  newer.spelling = 2;
  for (const bool stored : {false, true}) {
    Decide([&](Ledger& ledger) {
      ledger.Respells(2);
      if (!stored) ledger.PutName(newer);
      EXPECT_EQ(ledger.Named(newer.name), newer) << stored;
      EXPECT_EQ(ledger.NamesOf(SampleId("a")), (std::vector{SampleName("a"), SampleKeyName("a")}));
      EXPECT_EQ(ledger.NamesOf(SampleId("b")), (std::vector{newer, SampleKeyName("b")}));
    });
  }
  Decide([&](Ledger& ledger) {
    ledger.Respells(2);
    ledger.DropName(IdOf(SampleKeyName("a")));
    EXPECT_EQ(ledger.Named(newer.name), newer);
    EXPECT_EQ(ledger.NamesOf(SampleId("a")), std::vector{SampleName("a")});
  });
  EXPECT_EQ(Names(), (std::vector{SampleName("a"), newer, SampleKeyName("b")}));
}

TEST_F(LedgerNames, PeopleAreShownTheBest) {
  EXPECT_EQ(OwnerOf("a").key, SampleName("a").name) << "located";
  EXPECT_EQ(OwnerOf("a").shape, ShapeOf(SampleName("a").name));
  EXPECT_EQ(OwnerOf("b").key, SampleKey("b")) << "declared";
  Decide([](Ledger& ledger) { ledger.PutName(SampleName("b")); });
  EXPECT_EQ(OwnerOf("b").key, SampleName("b").name);
  Decide([](Ledger& ledger) {
    ledger.MayLose(SampleName("b").name);
    ledger.DropName(IdOf(SampleName("b")));
  });
  EXPECT_EQ(OwnerOf("b").key, SampleKey("b"));
  EXPECT_EQ(OwnerOf("b").shape, "");
}

TEST_F(LedgerNames, WhatIsOnlyObservedIsShownByItsBestToo) {
  Row observer = SampleRow("c", "u3");
  observer.intent = Intent::kObserves;
  const auto observe = [&](Ledger& ledger) {
    Object object = SampleObject("u3");
    object.slot = object.root = observer.slot;
    ledger.PutObject(object);
    ledger.PutRow(observer);
    ledger.PutName(SampleKeyName("c"));
  };
  EXPECT_EQ(Decide(observe).put_observed,
            (std::vector{ObservedResource{SampleId("c"), SampleKey("c")}}));
  EXPECT_TRUE(Decide(observe).empty());
  EXPECT_EQ(Decide([](Ledger& ledger) { ledger.PutName(SampleName("c")); }).put_observed,
            (std::vector{ObservedResource{SampleId("c"), SampleName("c").name}}));
}

TEST_F(LedgerNames, FormerIdsAreBoundedAndEndWithTheResource) {
  const auto id = [](std::size_t i) { return ResourceId{"former" + std::to_string(i)}; };
  for (std::size_t i = 0; i < kFormerIdsMax + 2; ++i) {
    const auto decide = [&](const Facts& facts) {
      Ledger ledger(facts, At(static_cast<int>(20 + i)), ids_, parties_);
      KeepFormerId(id(i), SampleId("a"), ledger);
      return ledger.Take();
    };
    ASSERT_TRUE(store_.Apply({}, decide, Soon()).ok());
  }
  std::vector<ResourceId> kept;
  for (const ResourceName& name : Names()) {
    if (const auto former = FormerIdOf(name)) kept.push_back(*former);
  }
  EXPECT_EQ(kept.size(), kFormerIdsMax);
  const auto has = [&](std::size_t i) {
    return std::find(kept.begin(), kept.end(), id(i)) != kept.end();
  };
  EXPECT_FALSE(has(0) || has(1)) << "the oldest went";
  EXPECT_TRUE(has(kFormerIdsMax + 1));
  EXPECT_EQ(OwnerOf("a").key, SampleName("a").name) << "nobody is shown a former id";
  Decide([](Ledger& ledger) {
    for (const Row& row : ledger.RowsOf(SampleId("a"))) ledger.DropRow(row.id);
    ledger.DropOwner(SampleId("a"));
  });
  EXPECT_EQ(Names(), std::vector{SampleKeyName("b")});
}

TEST_F(LedgerNames, WhatIsKnownOrWasNeverThereIsNoChange) {
  ResourceName again = SampleName("a");
  again.at = At(2);
  const Changes none = Decide([&](Ledger& ledger) {
    ledger.PutName(again);
    ledger.DropName(IdOf(NameOf("x", "a")));
    ledger.PutName(NameOf("y", "a"));
    ledger.DropName(IdOf(NameOf("y", "a")));
  });
  EXPECT_TRUE(none.empty());
  again.observed = false;
  EXPECT_EQ(Decide([&](Ledger& ledger) { ledger.PutName(again); }).put_names, std::vector{again});
}

TEST_F(LedgerNames, GoWithTheResourceAllAtOnce) {
  Decide([](Ledger& ledger) { ledger.PutName(NameOf("x", "a")); });
  // Its rows go, a record keeps it: the names stay.
  Decide([](Ledger& ledger) {
    Owner owner = *ledger.OwnerOf(SampleId("a"));
    owner.record = Record::kOrphaned;
    ledger.PutOwner(owner);
    ledger.DropRow(SampleRow("a", "u1").id);
  });
  EXPECT_EQ(Names().size(), 4U);
  const Changes changes = Decide([](Ledger& ledger) {
    ledger.PutName(NameOf("y", "a"));  // seen in the same decision that ends it
    ledger.DropOwner(SampleId("a"));
  });
  EXPECT_EQ(changes.drop_names,
            (std::vector{IdOf(SampleName("a")), IdOf(SampleKeyName("a")), IdOf(NameOf("x", "a"))}));
  EXPECT_TRUE(changes.put_names.empty());
  EXPECT_EQ(Names(), std::vector{SampleKeyName("b")});
}

// What people know by the id was of the ownership: what is observed still has another one.
TEST_F(LedgerNames, StayUnderAnotherIdWhileSomebodyObserves) {
  Row observer = SampleRow("a", "u3");
  observer.intent = Intent::kObserves;
  Decide([&](Ledger& ledger) {
    Object object = SampleObject("u3");
    object.slot = object.root = observer.slot;
    ledger.PutObject(object);
    ledger.PutRow(observer);
  });
  Decide([](Ledger& ledger) {
    KeepFormerId({"former"}, SampleId("a"), ledger);
    ledger.DropRow(SampleRow("a", "u1").id);
    ledger.DropOwner(SampleId("a"));
  });
  ResourceName located = SampleName("a");
  ResourceName declared = SampleKeyName("a");
  located.resource = declared.resource = fresh_;
  EXPECT_EQ(Names(), (std::vector{located, declared, SampleKeyName("b")}));
  EXPECT_EQ(Contents().observed, (std::vector{ObservedResource{fresh_, located.name}}));
  observer.id.resource = fresh_;
  Decide([&](Ledger& ledger) { ledger.DropRow(observer.id); });
  EXPECT_EQ(Names(), std::vector{SampleKeyName("b")});
  EXPECT_TRUE(Contents().observed.empty());
}

TEST_F(LedgerNames, GoAlongToTheResourceWithWhichTheirsMerges) {
  Decide([](Ledger& ledger) {
    Row row = SampleRow("a", "u1");
    ledger.DropRow(row.id);
    row.id.resource = SampleId("b");
    ledger.PutRow(row);
    for (ResourceName name : ledger.NamesOf(SampleId("a"))) {
      name.resource = SampleId("b");
      ledger.PutName(name);
    }
    ledger.DropOwner(SampleId("a"));
  });
  ResourceName located = SampleName("a");
  located.resource = SampleId("b");
  EXPECT_EQ(Names(), (std::vector{located, NameOf("a", "b"), SampleKeyName("b")}));
  EXPECT_EQ(OwnerOf("b").key, located.name);
}

}  // namespace ledger_names_test
}  // namespace truce::testing
