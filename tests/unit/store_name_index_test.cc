#include "registry/store/sqlite/known.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "tests/support/bytes_in_use.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace store_name_index_test {

TEST(NameIndex, UnpacksWhatItPacked) {
  NameIndex index;
  ResourceName plain = SampleName("prod-artifacts");
  ResourceName assigned = SampleName("b");
  assigned.name = KeyText{"ec2/VPC|aws|123456789012|us-west-2|id=" + std::string(600, 'v')};
  assigned.sort = NameSort::kAssigned;
  assigned.observed = false;
  assigned.at = At(-1);
  ResourceName short_one = {KeyText{"n"}, KeyText{std::string(600, 'k')}};
  for (const ResourceName& name : {plain, assigned, short_one}) {
    index.Put(name);
    EXPECT_EQ(index.Find(name.name.text), name);
    EXPECT_EQ(index.OfKey(name.key.text), std::vector{name});
  }
  EXPECT_EQ(index.size(), 3U);
  EXPECT_EQ(index.Find("unknown"), std::nullopt);
  EXPECT_TRUE(index.OfKey("unknown").empty());
}

TEST(NameIndex, AgreesWithAMapWhileItGrowsAndShrinks) {
  constexpr std::uint64_t kNames = 3000;
  constexpr std::uint64_t kKeys = 500;
  NameIndex index;
  std::map<KeyText, ResourceName> expected;
  std::mt19937_64 random(7);
  const auto check_key = [&](const KeyText& key) {
    std::vector<ResourceName> of_key;
    for (const auto& [text, name] : expected) {
      if (name.key == key) of_key.push_back(name);
    }
    ASSERT_EQ(index.OfKey(key.text), of_key);
  };
  for (int step = 0; step < 30'000; ++step) {
    ResourceName name = SampleName(std::to_string(random() % kNames));
    if (random() % 5 < 3) {
      name.key = SampleKey(std::to_string(random() % kKeys));
      index.Put(name);
      expected.insert_or_assign(name.name, name);
    } else {
      index.Erase(name.name.text);
      expected.erase(name.name);
    }
    ASSERT_EQ(index.size(), expected.size());
  }
  for (std::uint64_t i = 0; i < kNames; ++i) {
    const KeyText name = SampleName(std::to_string(i)).name;
    const auto found = expected.find(name);
    ASSERT_EQ(index.Find(name.text),
              found == expected.end() ? std::nullopt : std::optional<ResourceName>(found->second));
  }
  for (std::uint64_t i = 0; i < kKeys; ++i) check_key(SampleKey(std::to_string(i)));
}

TEST(RotatingNameIndex, TakesAtMost200BytesForAName) {
  constexpr std::size_t kBytesMax = 200;
  constexpr std::size_t kCount = 100'000;
  const auto measured = [](const auto& name_of) {
    const std::size_t before = BytesInUse();
    NameIndex index;
    for (std::size_t i = 0; i < kCount; ++i) index.Put(name_of(i));
    return (BytesInUse() - before) / kCount;
  };
  const std::size_t located = measured([](std::size_t i) {
    const std::string rest = "us-west-2|name=prod-artifacts-" + std::to_string(100'000 + i);
    return ResourceName{KeyText{"rds/Instance|aws|123456789012|" + rest},
                        KeyText{"rds/Instance|aws|prod-credentials|" + rest}};
  });
  const std::size_t assigned = measured([](std::size_t i) {
    const std::string number = std::to_string(100'000 + i);
    return ResourceName{
        KeyText{"ec2/SecurityGroup|aws|123456789012|us-west-2|id=sg-0123456789a" + number},
        KeyText{"ec2/SecurityGroup|aws|123456789012|us-west-2|name=prod-db|vpc=vpc-012345" +
                number}};
  });
  RecordProperty("located_bytes", std::to_string(located));
  RecordProperty("assigned_bytes", std::to_string(assigned));
  EXPECT_LE(located, kBytesMax);
  EXPECT_LE(assigned, kBytesMax);
}

}  // namespace store_name_index_test
}  // namespace truce::testing
