// The layer over SQLite's page cache by random operations: its bound against a set, its pages
// against what SQLite asks of a cache.
#include "registry/store/sqlite/layers.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>

namespace truce::testing {
namespace page_cache_test {

constexpr unsigned kFar = 1'000'000;  // as the number that SQLite lends pages while it splits

TEST(NumberBoundTest, IsNeverBelowTheHighest) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::set<unsigned> numbers;
    NumberBound bound;
    for (int step = 0; step < 300; ++step) {
      const auto number = static_cast<unsigned>(random() % 20 + 1);
      switch (random() % 5) {
        case 0:
        case 1:
          numbers.insert(number);
          bound.Add(number);
          break;
        case 2:
          if (numbers.erase(number) == 1) bound.Remove(number);
          break;
        case 3: numbers.erase(number); break;  // a page that was dropped untold
        default:
          if (random() % 8 != 0) break;
          numbers.erase(numbers.lower_bound(number), numbers.end());
          bound.Cut(number);
      }
      const unsigned highest = numbers.empty() ? 0 : *numbers.rbegin();
      ASSERT_TRUE(highest == 0 || bound.MayReach(highest)) << "step " << step;
    }
  }
}

TEST(NumberBoundTest, ForgetsAMoment) {
  NumberBound bound;
  for (const unsigned number : {3U, 9U, 5U}) bound.Add(number);
  for (int i = 0; i < 3; ++i) {
    bound.Add(kFar);
    EXPECT_TRUE(bound.MayReach(10));
    bound.Remove(kFar);
    EXPECT_FALSE(bound.MayReach(10));
    EXPECT_TRUE(bound.MayReach(9));
  }
}

// The layer's methods: SQLite tells them only before it is in use.
const sqlite3_pcache_methods2 kLayered = [] {
  LayerPageCache();
  sqlite3_pcache_methods2 methods{};
  sqlite3_config(SQLITE_CONFIG_GETPCACHE2, &methods);
  return methods;
}();

TEST(PageCacheTest, WhatIsCutOffIsGone) {
  ASSERT_EQ(sqlite3_initialize(), SQLITE_OK);
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    sqlite3_pcache* const cache = kLayered.xCreate(512, 64, 1);
    ASSERT_NE(cache, nullptr);
    kLayered.xCachesize(cache, 1000);  // more than there are numbers: nothing is dropped untold
    std::set<unsigned> numbers;
    const auto fetch = [&](unsigned number, int create) {
      sqlite3_pcache_page* const page = kLayered.xFetch(cache, number, create);
      EXPECT_EQ(page != nullptr, create != 0 || numbers.contains(number)) << number;
      if (page != nullptr) numbers.insert(number);
      return page;
    };
    for (int step = 0; step < 300; ++step) {
      const auto number = static_cast<unsigned>(random() % 60 + 1);
      const auto other = static_cast<unsigned>(random() % 60 + 1);
      switch (random() % 5) {
        case 0: kLayered.xUnpin(cache, fetch(number, 2), 0); break;
        case 1:
          kLayered.xUnpin(cache, fetch(number, 2), 1);  // and drop it
          numbers.erase(number);
          break;
        case 2: {  // two pages change places, as after a split
          if (number == other) break;
          sqlite3_pcache_page* const one = fetch(number, 2);
          sqlite3_pcache_page* const two = fetch(other, 2);
          kLayered.xRekey(cache, one, number, kFar);
          kLayered.xRekey(cache, two, other, number);
          kLayered.xRekey(cache, one, kFar, other);
          kLayered.xUnpin(cache, one, 0);
          kLayered.xUnpin(cache, two, 0);
          break;
        }
        case 3:
          kLayered.xTruncate(cache, number);
          numbers.erase(numbers.lower_bound(number), numbers.end());
          break;
        default:
          if (sqlite3_pcache_page* const page = fetch(number, 0)) kLayered.xUnpin(cache, page, 0);
      }
      ASSERT_EQ(kLayered.xPagecount(cache), static_cast<int>(numbers.size())) << "step " << step;
    }
    kLayered.xDestroy(cache);
  }
}

}  // namespace page_cache_test
}  // namespace truce::testing
