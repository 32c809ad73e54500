#include "registry/store/numbers.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace truce {
namespace store_numbers_test {

using Model = std::map<std::uint32_t, std::multiset<std::int64_t>>;

std::vector<std::int64_t> Expected(const Model& model, std::uint32_t hash, std::int64_t after,
                                   std::size_t limit) {
  std::vector<std::int64_t> expected;
  const auto found = model.find(hash);
  if (found == model.end()) return expected;
  for (const std::int64_t number : found->second) {
    const bool again = !expected.empty() && expected.back() == number;
    if (number > after && !again && expected.size() < limit) expected.push_back(number);
  }
  return expected;
}

TEST(Numbers, AgreeWithAMultiset) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  Numbers numbers;
  Model model;
  std::int64_t last = 0;
  for (int step = 0; step < 30'000; ++step) {
    const auto hash = static_cast<std::uint32_t>(random() % 3);
    // Mostly the next one, now and then an older one; in turns more of them come and more go.
    last += static_cast<std::int64_t>(random() % 3 == 0 ? random() % 90 : 0);
    const std::int64_t number =
        random() % 4 == 0 ? static_cast<std::int64_t>(random() % 500) : last;
    if (random() % 10 < (step / 3000 % 2 == 0 ? 7U : 3U)) {
      numbers.Insert(hash, number);
      model[hash].insert(number);
    } else {
      auto& of_hash = model[hash];
      // Of those that stand there, or one that does not.
      auto gone = of_hash.lower_bound(number / 2);
      if (gone == of_hash.end() || random() % 5 == 0) gone = of_hash.find(number);
      numbers.Erase(hash, gone == of_hash.end() ? number : *gone);
      if (gone != of_hash.end()) of_hash.erase(gone);
    }
    const auto after = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last + 2));
    const std::size_t limit = random() % 8;
    ASSERT_EQ(numbers.After(hash, after, limit), Expected(model, hash, after, limit)) << step;
  }
  for (std::uint32_t hash = 0; hash < 4; ++hash) {
    ASSERT_EQ(numbers.After(hash, -1, 100'000), Expected(model, hash, -1, 100'000));
  }
}

TEST(Numbers, ThatStandTwiceGoTwice) {
  Numbers numbers;
  numbers.Insert(1, 64);
  numbers.Insert(1, 64);
  numbers.Erase(1, 64);
  EXPECT_EQ(numbers.After(1, 0, 9), (std::vector<std::int64_t>{64}));
  numbers.Erase(1, 64);
  EXPECT_TRUE(numbers.After(1, 0, 9).empty());
  numbers.Erase(1, 64);
  numbers.Insert(1, 65);
  EXPECT_EQ(numbers.After(1, 0, 9), (std::vector<std::int64_t>{65}));
}

}  // namespace store_numbers_test
}  // namespace truce
