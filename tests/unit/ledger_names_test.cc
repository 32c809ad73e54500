// Further names in a decision's ledger: what it sees, and what it leaves of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "registry/store/memory/memory_store.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace ledger_names_test {

class LedgerNames : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Write(store_, SampleNamedCreate("a", "u1")).ok());
    ASSERT_TRUE(Write(store_, SampleCreate("b", "u2")).ok());
  }

  // Runs `act` on a ledger, writes what it leaves, and gives that.
  Changes Decide(const std::function<void(Ledger&)>& act) {
    Changes changes;
    const auto decide = [&](const Facts& facts) {
      Ledger ledger(facts, At(9), ids_, parties_);
      // Whatever ends here is allowed to.
      for (const char* name : {"a", "b", "c"}) {
        if (const auto owner = ledger.OwnerOf(SampleKey(name))) ledger.MayFree(owner->id);
      }
      for (const char* uid : {"u1", "u2", "u3"}) ledger.MayEnd({uid});
      act(ledger);
      changes = ledger.Take();
      return changes;
    };
    const Result<void> applied = store_.Apply({}, decide, Soon());
    EXPECT_TRUE(applied.ok()) << applied.error().message;
    return changes;
  }
  std::vector<ResourceName> Names() { return std::move(ContentsOf(store_)).value().names; }

  static ResourceName NameOf(std::string_view name, std::string_view key) {
    ResourceName further = SampleName(name);
    further.sort = NameSort::kDeclared;  // of located ones a resource has one at most
    further.key = SampleKey(key);
    return further;
  }

  MemoryStore store_;
  const IdSource ids_ = [] { return PublicId{"0123456789abc"}; };
  const PartyRules parties_ = {};
};

TEST_F(LedgerNames, ReadsSeeWhatItPutAndDropped) {
  const ResourceName put = NameOf("x", "a");
  const ResourceName moved = NameOf("a", "b");
  const Changes changes = Decide([&](Ledger& ledger) {
    EXPECT_EQ(ledger.FurtherName(SampleName("a").name), SampleName("a"));
    EXPECT_EQ(ledger.FurtherName(put.name), std::nullopt);
    ledger.PutName(put);
    EXPECT_EQ(ledger.FurtherName(put.name), put);
    EXPECT_EQ(ledger.FurtherNamesOf(SampleKey("a")), (std::vector{SampleName("a"), put}));
    ledger.DropName(SampleName("a").name);
    EXPECT_EQ(ledger.FurtherName(SampleName("a").name), std::nullopt);
    EXPECT_EQ(ledger.FurtherNamesOf(SampleKey("a")), std::vector{put});
    ledger.PutName(moved);
    EXPECT_EQ(ledger.FurtherNamesOf(SampleKey("a")), std::vector{put});
    EXPECT_EQ(ledger.FurtherNamesOf(SampleKey("b")), std::vector{moved});
  });
  EXPECT_EQ(changes.put_names, (std::vector{moved, put}));
  EXPECT_TRUE(changes.drop_names.empty());
  EXPECT_EQ(Names(), (std::vector{moved, put}));
}

TEST_F(LedgerNames, FormerIdsAreBoundedAndEndWithTheResource) {
  const auto id = [](std::size_t i) { return PublicId{"former" + std::to_string(i)}; };
  for (std::size_t i = 0; i < kFormerIdsMax + 2; ++i) {
    const auto decide = [&](const Facts& facts) {
      Ledger ledger(facts, At(static_cast<int>(20 + i)), ids_, parties_);
      KeepFormerId(id(i), SampleKey("a"), ledger);
      return ledger.Take();
    };
    ASSERT_TRUE(store_.Apply({}, decide, Soon()).ok());
  }
  std::vector<PublicId> kept;
  for (const ResourceName& name : Names()) {
    if (const auto former = FormerIdOf(name)) kept.push_back(*former);
  }
  EXPECT_EQ(kept.size(), kFormerIdsMax);
  const auto has = [&](std::size_t i) {
    return std::find(kept.begin(), kept.end(), id(i)) != kept.end();
  };
  EXPECT_FALSE(has(0) || has(1)) << "the oldest went";
  EXPECT_TRUE(has(kFormerIdsMax + 1));
  Decide([](Ledger& ledger) {
    ledger.Audit({.action = AuditAction::kReleased,
                  .key = SampleKey("a"),
                  .id = ledger.OwnerOf(SampleKey("a"))->id,
                  .cause = "test"});
    for (const Row& row : ledger.RowsOfKey(SampleKey("a"))) ledger.DropRow(row.id);
    ledger.DropOwner(SampleKey("a"));
  });
  EXPECT_TRUE(Names().empty());
}

TEST_F(LedgerNames, WhatIsKnownOrWasNeverThereIsNoChange) {
  ResourceName again = SampleName("a");
  again.at = At(1);
  const Changes none = Decide([&](Ledger& ledger) {
    ledger.PutName(again);
    ledger.DropName(NameOf("x", "a").name);
    ledger.PutName(NameOf("y", "a"));
    ledger.DropName(NameOf("y", "a").name);
  });
  EXPECT_TRUE(none.empty());
  again.observed = false;
  EXPECT_EQ(Decide([&](Ledger& ledger) { ledger.PutName(again); }).put_names, std::vector{again});
}

TEST_F(LedgerNames, GoWithTheResourceAllAtOnce) {
  Decide([](Ledger& ledger) { ledger.PutName(NameOf("x", "a")); });
  // Its rows go, a record keeps it: the names stay.
  Decide([](Ledger& ledger) {
    Owner owner = *ledger.OwnerOf(SampleKey("a"));
    owner.record = Record::kOrphaned;
    ledger.PutOwner(owner);
    ledger.DropRow(SampleRow("a", "u1").id);
  });
  EXPECT_EQ(Names().size(), 2U);
  const Changes changes = Decide([](Ledger& ledger) {
    ledger.PutName(NameOf("y", "a"));  // seen in the same decision that ends it
    ledger.DropOwner(SampleKey("a"));
  });
  EXPECT_EQ(changes.drop_names, (std::vector{SampleName("a").name, SampleName("x").name}));
  EXPECT_TRUE(changes.put_names.empty());
  EXPECT_TRUE(Names().empty());
}

TEST_F(LedgerNames, StayWhileSomebodyObserves) {
  Row observer = SampleRow("a", "u3");
  observer.intent = Intent::kObserves;
  Decide([&](Ledger& ledger) { ledger.PutRow(observer); });
  Decide([](Ledger& ledger) {
    ledger.DropRow(SampleRow("a", "u1").id);
    ledger.DropOwner(SampleKey("a"));
  });
  EXPECT_EQ(Names(), std::vector{SampleName("a")});
  Decide([&](Ledger& ledger) { ledger.DropRow(observer.id); });
  EXPECT_TRUE(Names().empty());
}

TEST_F(LedgerNames, WhoMovesAKeyTakesItsNamesAlong) {
  const KeyText target = SampleKey("c");
  ResourceName old_key = NameOf("x", "c");
  old_key.name = SampleKey("a");
  Decide([&](Ledger& ledger) {
    Owner owner = *ledger.OwnerOf(SampleKey("a"));
    Row row = SampleRow("a", "u1");
    ledger.DropOwner(owner.key);
    ledger.DropRow(row.id);
    owner.key = row.id.key = target;
    ledger.Audit(
        {.action = AuditAction::kMoved, .key = target, .id = owner.id, .cause = "a test's"});
    ledger.PutOwner(owner);
    ledger.PutRow(row);
    ledger.PutName(NameOf("a", "c"));
    ledger.PutName(old_key);
  });
  EXPECT_EQ(Names(), (std::vector{NameOf("a", "c"), old_key}));
}

}  // namespace ledger_names_test
}  // namespace truce::testing
