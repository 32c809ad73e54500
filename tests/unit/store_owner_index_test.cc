#include "registry/store/sqlite/known.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/support/bytes_in_use.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace store_owner_index_test {

std::optional<Owner> Find(const OwnerIndex& index, const KeyText& key) {
  std::optional<Owner> owner;
  EXPECT_TRUE(index.Find(key.text, owner).ok());
  return owner;
}

TEST(OwnerIndex, UnpacksWhatItPacked) {
  OwnerIndex index;
  Owner plain = SampleOwner("prod-artifacts", "u1");
  Owner full = SampleOwner("b", "u2");
  full.shape = "s3/Bucket|aws|name=b";
  full.real = true;
  full.since = At(-1);
  full.record = Record::kTransferring;
  full.record_reason = std::string(300, 'r');  // a length of two bytes
  full.successor = "Bucket/team-b/b";
  full.state = HolderState::kTerminating;
  full.leaf = full.root;
  Owner empty;
  empty.key = KeyText{"k"};
  for (const Owner& owner : {plain, full, empty}) {
    index.Put(owner);
    EXPECT_EQ(Find(index, owner.key), owner);
  }
  EXPECT_EQ(index.size(), 3U);
  const auto counts = index.CountsAs(full.key.text);
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->record, Record::kTransferring);
  EXPECT_EQ(counts->state, HolderState::kTerminating);
  EXPECT_FALSE(counts->contested);
  EXPECT_FALSE(index.CountsAs("unknown"));
}

TEST(OwnerIndex, ExpectingAKeyChangesNothing) {
  OwnerIndex index;
  const Owner owner = SampleOwner("prod-artifacts", "u1");
  index.Expect(owner.key.text);
  EXPECT_EQ(Find(index, owner.key), std::nullopt);
  index.Put(owner);
  for (const char* key : {owner.key.text.c_str(), "unknown"}) index.Expect(key);
  EXPECT_EQ(Find(index, owner.key), owner);
}

TEST(OwnerIndex, FindsKeysByShapeWhateverBecomesOfTheirOwners) {
  OwnerIndex index;
  const auto with = [](const std::string& name, const std::string& shape) {
    Owner owner = SampleOwner(name, "u1");
    owner.shape = shape;
    return owner;
  };
  using Keys = std::vector<KeyText>;
  for (const char* name : {"c", "a", "b"}) index.Put(with(name, "x"));
  index.Put(with("d", ""));
  EXPECT_EQ(index.KeysOfShape("x", 9), (Keys{SampleKey("a"), SampleKey("b"), SampleKey("c")}));
  EXPECT_EQ(index.KeysOfShape("x", 2), (Keys{SampleKey("a"), SampleKey("b")}));
  EXPECT_EQ(index.KeysOfShape("y", 9), Keys());
  EXPECT_EQ(index.KeysOfShape("", 9), Keys());
  index.Put(with("a", "y"));
  index.Put(with("b", ""));
  index.Put(with("c", "x"));  // as before, at another place in memory
  EXPECT_EQ(index.KeysOfShape("x", 9), Keys{SampleKey("c")});
  EXPECT_EQ(index.KeysOfShape("y", 9), Keys{SampleKey("a")});
  index.Erase(SampleKey("c").text);
  index.Erase(SampleKey("d").text);
  EXPECT_EQ(index.KeysOfShape("x", 9), Keys());
  EXPECT_EQ(index.KeysOfShape("y", 9), Keys{SampleKey("a")});
}

TEST(OwnerIndex, AgreesWithAMapWhileItGrowsAndShrinks) {
  OwnerIndex index;
  std::map<KeyText, Owner> expected;
  std::mt19937_64 random(7);
  for (int step = 0; step < 30'000; ++step) {
    const std::string name = std::to_string(random() % 3000);
    const KeyText key = SampleKey(name);
    if (random() % 5 < 3) {
      Owner owner = SampleOwner(name, std::to_string(step));
      owner.key = key;
      index.Put(owner);
      expected.insert_or_assign(key, owner);
    } else {
      index.Erase(key.text);
      expected.erase(key);
    }
    ASSERT_EQ(index.size(), expected.size());
    const KeyText other = SampleKey(std::to_string(random() % 3000));
    ASSERT_EQ(index.Contains(other.text), expected.contains(other));
  }
  for (int i = 0; i < 3000; ++i) {
    const KeyText key = SampleKey(std::to_string(i));
    const auto found = expected.find(key);
    ASSERT_EQ(Find(index, key),
              found == expected.end() ? std::nullopt : std::optional<Owner>(found->second));
  }
}

TEST(RotatingOwnerIndex, TakesAtMost200BytesForABucket) {
  constexpr std::size_t kBytesMax = 200;
  constexpr std::size_t kCount = 100'000;
  OwnerIndex index;
  const std::size_t before = BytesInUse();
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::string name = "service-100-prod-bucket-" + std::to_string(1'000'000 + i);
    Owner owner = SampleOwner(name, "u" + std::to_string(i));
    owner.root = {"local", "s3.aws.upbound.io", "Bucket", "team-a", "prod-artifacts-" + name};
    owner.party = PartyId{"ns:local/team-a"};
    index.Put(owner);
  }
  const std::size_t bytes = (BytesInUse() - before) / kCount;
  RecordProperty("bytes", std::to_string(bytes));
  EXPECT_LE(bytes, kBytesMax);
}

}  // namespace store_owner_index_test
}  // namespace truce::testing
