// Public ids: their form, their order, and that no two are alike.
#include "registry/ownership/terms.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace truce {
namespace ids_test {

TEST(RandomIdsTest, AreThirteenCharactersAndGrow) {
  const IdSource ids = RandomIds();
  const IdSource others = RandomIds();
  PublicId before;
  for (int i = 0; i < 10'000; ++i) {
    const PublicId one = i % 2 == 0 ? ids() : others();
    EXPECT_EQ(one.text.size(), 13U);
    EXPECT_EQ(one.text.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567"), std::string::npos);
    EXPECT_LT(before, one);
    before = one;
  }
}

TEST(RandomIdsTest, DifferBetweenThreads) {
  constexpr std::size_t kEach = 10'000;
  std::array<std::vector<PublicId>, 4> made;
  {
    std::vector<std::jthread> threads;
    for (std::vector<PublicId>& mine : made) {
      threads.emplace_back([&mine] {
        const IdSource ids = RandomIds();
        for (std::size_t i = 0; i < kEach; ++i) mine.push_back(ids());
      });
    }
  }
  std::set<PublicId> all;
  for (const std::vector<PublicId>& mine : made) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), made.size() * kEach);
}

}  // namespace ids_test
}  // namespace truce
