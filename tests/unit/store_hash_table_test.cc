#include "registry/store/sqlite/hash_table.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace truce {
namespace store_hash_table_test {

std::vector<int> ValuesUnder(const HashTable<int>& table, TextHash hash) {
  std::vector<int> values;
  table.Find(hash, [&](int value) {
    values.push_back(value);
    return false;
  });
  std::sort(values.begin(), values.end());
  return values;
}

// Few hashes that crowd the ends of the places, so that probes wrap around and push one another.
TextHash CrowdedHash(std::mt19937_64& random) {
  const auto low =
      static_cast<TextHash>(random() % 40 < 20 ? random() % 5 : 0xFFFFFF - random() % 5);
  return low | static_cast<TextHash>(random() % 3) << 24U;
}

TEST(HashTable, AgreesWithAMultimap) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  HashTable<int> table;
  std::multimap<TextHash, int> expected;
  for (int step = 0; step < 20'000; ++step) {
    const TextHash hash = CrowdedHash(random);
    const int value = static_cast<int>(random() % 20) + 1;
    const auto is_it = [&](int each) { return each == value; };
    const auto range = expected.equal_range(hash);
    const auto found = std::find_if(range.first, range.second,
                                    [&](const auto& each) { return is_it(each.second); });
    ASSERT_EQ(table.Find(hash, is_it) != nullptr, found != range.second);
    // Grows and shrinks in turns.
    if (random() % 10 < (step / 2000 % 2 == 0 ? 7U : 3U)) {
      table.Insert(hash, value);
      expected.emplace(hash, value);
    } else {
      table.Erase(hash, is_it);
      if (found != range.second) expected.erase(found);
    }
    ASSERT_EQ(table.size(), expected.size());
    std::vector<int> values;
    for (auto [it, end] = expected.equal_range(hash); it != end; ++it) values.push_back(it->second);
    std::sort(values.begin(), values.end());
    ASSERT_EQ(ValuesUnder(table, hash), values);
  }
}

// A value that counts how often one is moved.
struct Counted {
  int value = 0;
  static inline int moves = 0;

  Counted() = default;
  explicit Counted(int number) : value(number) {}
  Counted(Counted&& other) noexcept : value(std::exchange(other.value, 0)) { ++moves; }
  Counted& operator=(Counted&& other) noexcept {
    value = std::exchange(other.value, 0);
    ++moves;
    return *this;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() = default;
  bool operator==(const Counted& other) const { return value == other.value; }
};

// Reviews and commits wait for a change: it may not move all that is there.
TEST(HashTable, NoInsertMovesMoreThanAHundredth) {
  constexpr int kValues = 500'000;
  HashTable<Counted> table;
  int most = 0;
  for (int i = 1; i <= kValues; ++i) {
    Counted::moves = 0;
    table.Insert(HashOf(std::to_string(i)), Counted(i));
    most = std::max(most, Counted::moves);
  }
  EXPECT_LT(most, kValues / 100);
}

TEST(HashTable, WhatWasAppendedIsFoundOnceItIsSettled) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  HashTable<int> table;
  std::multimap<TextHash, int> expected;
  // Also beside what is there already, and values that nothing was appended to.
  for (const int count : {1, 0, 5'000}) {
    for (int i = 1; i <= count; ++i) {
      const TextHash hash = CrowdedHash(random);
      table.Append(hash, i);
      expected.emplace(hash, i);
    }
    table.Settle();
    table.Insert(7, count + 1);
    expected.emplace(7, count + 1);
    ASSERT_EQ(table.size(), expected.size());
    for (auto it = expected.begin(); it != expected.end(); it = expected.upper_bound(it->first)) {
      std::vector<int> values;
      const auto range = expected.equal_range(it->first);
      for (auto each = range.first; each != range.second; ++each) values.push_back(each->second);
      std::sort(values.begin(), values.end());
      ASSERT_EQ(ValuesUnder(table, it->first), values);
    }
  }
}

}  // namespace store_hash_table_test
}  // namespace truce
