// A decision that would break an invariant comes back as a breach, whatever led to it.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "registry/ownership/ledger.h"
#include "tests/support/ledger_samples.h"
#include "tests/support/memory_store.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace ledger_checks_test {

class LedgerChecks : public ::testing::Test {
 protected:
  void SetUp() override {
    Changes changes = SampleNamedCreate("a", "u1");
    changes.put_owners.front().real = true;
    ASSERT_TRUE(WriteDecided(store_, changes).ok());
    ASSERT_TRUE(WriteDecided(store_, SampleCreate("b", "u2")).ok());
  }

  // What Take says of `act`; that the store refuses it, and is as before.
  std::string BreachOf(const std::function<void(Ledger&)>& act) {
    std::string breach;
    const auto decide = [&](const Facts& facts) {
      Ledger ledger(facts, At(9), ids_, parties_);
      act(ledger);
      Changes changes = ledger.Take();
      breach = changes.breach;
      return changes;
    };
    const StoreContents before = ContentsOf(store_).value();
    const Result<void> applied = store_.Apply({}, decide, Soon());
    if (breach.empty()) return breach;
    EXPECT_FALSE(applied.ok());
    EXPECT_EQ(applied.error().code, ErrorCode::kInternal);
    EXPECT_EQ(applied.error().message, breach);
    EXPECT_EQ(ContentsOf(store_).value(), before);
    constexpr std::string_view kBegin = "invariant ";
    EXPECT_TRUE(breach.starts_with(kBegin)) << breach;
    return breach.substr(kBegin.size(), breach.find(' ', kBegin.size()) - kBegin.size());
  }

  static void Say(AuditAction action, const Owner& owner, Ledger& ledger) {
    ledger.Audit({.action = action, .key = owner.key, .id = owner.id, .cause = "a test's"});
  }
  static Owner OwnerOf(const char* name, const Ledger& ledger) {
    return ledger.OwnerOf(SampleId(name)).value();
  }
  // The rows of the resource, by whoever asks.
  static void EndRows(const char* name, Ledger& ledger) {
    for (const Row& row : ledger.RowsOf(SampleId(name))) {
      ledger.MayEnd(row.id.uid);
      ledger.DropRow(row.id);
    }
  }

  MemoryStore store_;
  const IdSource ids_ = [] { return PublicId{"0123456789abc"}; };
  const PartyRules parties_ = {};
};

TEST_F(LedgerChecks, AnOwnerHasRowsOrARecord) {
  EXPECT_EQ(BreachOf([](Ledger& ledger) { EndRows("a", ledger); }), "I1");
  EXPECT_EQ(BreachOf([](Ledger& ledger) {
              Owner owner = OwnerOf("a", ledger);
              owner.record = Record::kOrphaned;
              ledger.PutOwner(owner);
            }),
            "I1");
  EXPECT_EQ(BreachOf([](Ledger& ledger) {
              Owner owner = OwnerOf("a", ledger);
              owner.id = {};
              owner.record = Record::kOrphaned;
              ledger.PutOwner(owner);
            }),
            "I1")
      << "and an id";
}

TEST_F(LedgerChecks, WhatIsPromisedHasNoOtherOwner) {
  const auto add = [](bool promises) {
    return [promises](Ledger& ledger) {
      const Row row = SampleRow("a", "u3");
      if (promises) ledger.Promises(row.id);
      ledger.PutRow(row);
    };
  };
  EXPECT_EQ(BreachOf(add(true)), "I2");
  EXPECT_EQ(BreachOf(add(false)), "");
}

TEST_F(LedgerChecks, AManagedResourceHasAnOwner) {
  EXPECT_EQ(BreachOf([](Ledger& ledger) {
              ledger.MayFree(OwnerOf("a", ledger).id);
              ledger.DropOwner(SampleId("a"));
            }),
            "I14");
}

TEST_F(LedgerChecks, ALifeEndsItsOwnRowsOnly) {
  EXPECT_EQ(BreachOf([](Ledger& ledger) {
              ledger.MayEnd({"u2"});
              Owner owner = OwnerOf("a", ledger);
              owner.record = Record::kOrphaned;
              for (const Row& row : ledger.RowsOf(owner.id)) ledger.DropRow(row.id);
              ledger.PutOwner(owner);
            }),
            "I7");
}

TEST_F(LedgerChecks, GrantAndReleaseHaveACause) {
  EXPECT_EQ(BreachOf([](Ledger& ledger) {
              Owner owner = OwnerOf("a", ledger);
              owner.root = OwnerOf("b", ledger).root;
              owner.record = Record::kOrphaned;
              EndRows("a", ledger);
              ledger.PutOwner(owner);
            }),
            "I12");
  EXPECT_EQ(BreachOf([](Ledger& ledger) {
              EndRows("b", ledger);
              ledger.DropOwner(SampleId("b"));
            }),
            "I12");
}

TEST_F(LedgerChecks, APartyChangesByATransfer) {
  EXPECT_EQ(BreachOf([](Ledger& ledger) {
              Owner owner = OwnerOf("a", ledger);
              owner.party = {"ns:local/thief"};
              Say(AuditAction::kGranted, owner, ledger);
              ledger.PutOwner(owner);
            }),
            "I15");
  EXPECT_EQ(BreachOf([](Ledger& ledger) {
              Owner owner = OwnerOf("a", ledger);
              owner.party = {"ns:local/successor"};
              Say(AuditAction::kTransferred, owner, ledger);
              ledger.PutOwner(owner);
            }),
            "");
}

TEST_F(LedgerChecks, ARealResourceIsFreedByAWitnessOnly) {
  const auto release = [](bool witnessed) {
    return [witnessed](Ledger& ledger) {
      EndRows("a", ledger);
      Say(AuditAction::kReleased, OwnerOf("a", ledger), ledger);
      if (witnessed) ledger.MayFree(OwnerOf("a", ledger).id);
      ledger.DropOwner(SampleId("a"));
    };
  };
  EXPECT_EQ(BreachOf(release(false)), "I16");
  EXPECT_EQ(BreachOf(release(true)), "");
}

TEST_F(LedgerChecks, ANameBelongsToOneResource) {
  const auto put = [](const char* name, const char* resource) {
    return [=](Ledger& ledger) {
      ResourceName other = SampleKeyName(name);
      other.resource = SampleId(resource);
      ledger.PutName(other);
    };
  };
  EXPECT_EQ(BreachOf(put("x", "nothing")), "") << "it goes with what is not there";
  EXPECT_EQ(BreachOf(put("x", "a")), "");
  EXPECT_EQ(BreachOf(put("x", "b")), "") << "it moves";
}

TEST_F(LedgerChecks, NoNameIsLostWhileItsResourceLives) {
  const auto drop = [](const ResourceName& name, bool may_lose) {
    return [=](Ledger& ledger) {
      if (may_lose) ledger.MayLose(name.name);
      ledger.DropName(IdOf(name));
    };
  };
  EXPECT_EQ(BreachOf(drop(SampleName("a"), false)), "I14");
  EXPECT_EQ(BreachOf(drop(SampleName("a"), true)), "");
  EXPECT_EQ(BreachOf(drop(SampleKeyName("b"), true)), "I14") << "it has no other";
  EXPECT_EQ(BreachOf([](Ledger& ledger) {
              ResourceName taken = SampleKeyName("b");
              taken.resource = SampleId("a");
              ledger.PutName(taken);
            }),
            "I14")
      << "nor by being taken";
}

TEST_F(LedgerChecks, AResourceHasOneLocatedName) {
  EXPECT_EQ(BreachOf([](Ledger& ledger) {
              ResourceName second = SampleName("x");
              second.resource = SampleId("a");
              ledger.PutName(second);
            }),
            "I17");
}

}  // namespace ledger_checks_test
}  // namespace truce::testing
