// Named histories of catalogues that compute other keys.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "registry/ownership/ledger.h"
#include "registry/ownership/rekey.h"
#include "tests/model/scene.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace histories_rekey_test {

using scene::ManagedBucket;
using scene::SlotOf;

class Rekeyed : public ::testing::Test {
 protected:
  ~Rekeyed() override {
    for (const std::string& breach : CheckInvariants(registry_.Contents())) ADD_FAILURE() << breach;
  }

  testing::StrictStore store_;
  scene::Registry registry_{store_};
  const Slot a_ = SlotOf("Bucket", "team-a", "a");
  const Slot b_ = SlotOf("Bucket", "team-b", "b");
};

TEST_F(Rekeyed, ACatalogueThatChangesKeysMergesAndSplits) {
  // Merge: names become case-insensitive. The older ownership stays, the other is a conflict.
  registry_.Live(a_, "u1", "Data");
  registry_.Advance(std::chrono::seconds{1});
  registry_.Live(b_, "u2", "data");
  const NewKey lower = [](const ResourceIdentity& identity) -> std::optional<KeyText> {
    std::string name = identity.parts.front().second;
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return scene::BucketKey(name);
  };
  registry_.RunOnAll([&](const AllFacts& facts, Ledger& ledger) {
    EXPECT_EQ(Rekey(facts.KeysAfter({}, 10), lower, "catalogue 2", ledger), 2U);
  });
  ASSERT_FALSE(registry_.OwnerOf("Data"));
  EXPECT_EQ(registry_.OwnerOf("data")->root, a_);
  EXPECT_TRUE(registry_.OwnerOf("data")->contested);
  // Split: back again. Each name goes to whoever declares it.
  const NewKey exact = [](const ResourceIdentity& identity) -> std::optional<KeyText> {
    return scene::BucketKey(identity.parts.front().second);
  };
  registry_.RunOnAll([&](const AllFacts& facts, Ledger& ledger) {
    Rekey(facts.KeysAfter({}, 10), exact, "catalogue 3", ledger);
  });
  EXPECT_EQ(registry_.OwnerOf("Data")->root, a_);
  EXPECT_EQ(registry_.OwnerOf("data")->root, b_);
  EXPECT_FALSE(registry_.OwnerOf("data")->contested);
}

// A catalogue that says now that a type's names are each account's own, not the partition's.
class NamesGetAccounts : public Rekeyed {
 protected:
  // As the new catalogue reads it.
  static ObjectFacts In(ObjectFacts object, const std::string& account) {
    for (DeclaredResource& resource : object.resources) {
      resource.identity.account = account;
      resource.key = {"s3/Bucket|aws|" + account + "||name=" + resource.name};
    }
    return object;
  }
  std::optional<Owner> OwnerIn(const std::string& account, const std::string& name) const {
    return registry_.OwnerNamed({"s3/Bucket|aws|" + account + "||name=" + name});
  }

  // Nobody knows in which account what is kept is: no key can be made of it.
  void Rekey() {
    const NewKey new_key = [](const ResourceIdentity&) { return std::optional<KeyText>(); };
    registry_.RunOnAll([&](const AllFacts& facts, Ledger& ledger) {
      EXPECT_EQ(truce::Rekey(facts.KeysAfter({}, 10), new_key, "catalogue 2", ledger), 0U);
    });
  }
};

TEST_F(NamesGetAccounts, WhatIsKeptHoldsItsNameInEachAccountUntilItsOwnIsKnown) {
  const ObjectFacts first = registry_.Live(a_, "u1", "k");
  Rekey();
  const ObjectFacts other = ManagedBucket(b_, "u2", "k", Intent::kDeletes, 11);
  for (const std::string account : {"?prod", "111111111111"}) {
    EXPECT_FALSE(registry_.Create(In(other, account)).allowed) << account;
  }
  // Seen in the cluster, it is kept where its account says, and nowhere else.
  registry_.See(In(first, "?prod"));
  EXPECT_EQ(OwnerIn("?prod", "k")->root, a_);
  EXPECT_FALSE(registry_.OwnerOf("k"));
  EXPECT_FALSE(OwnerIn("?prod", "k")->contested);
  EXPECT_FALSE(registry_.Create(In(other, "?prod")).allowed);
  EXPECT_TRUE(registry_.Create(In(other, "?dev")).allowed);
}

TEST_F(NamesGetAccounts, ItsOwnDeclarantTellsTheAccount) {
  const ObjectFacts first = In(registry_.Live(a_, "u1", "k"), "111111111111");
  Rekey();
  ObjectFacts changed = first;
  changed.contact = "someone";
  EXPECT_TRUE(registry_.Update(first, changed).allowed);
  changed.version = 12;
  registry_.See(changed);
  EXPECT_EQ(OwnerIn("111111111111", "k")->root, a_);
  EXPECT_FALSE(registry_.OwnerOf("k"));
}

TEST_F(NamesGetAccounts, ARecordKeepsItsNameForItsParty) {
  registry_.SeeDeleted(registry_.Live(a_, "u1", "k"));
  ASSERT_EQ(registry_.OwnerOf("k")->record, Record::kOrphaned);
  Rekey();
  EXPECT_FALSE(
      registry_.Create(In(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 11), "?dev")).allowed);
  EXPECT_TRUE(
      registry_.Create(In(ManagedBucket(a_, "u3", "k", Intent::kDeletes, 12), "?dev")).allowed);
  EXPECT_EQ(OwnerIn("?dev", "k")->root, a_);
  EXPECT_FALSE(registry_.OwnerOf("k"));
}

}  // namespace histories_rekey_test
}  // namespace truce
