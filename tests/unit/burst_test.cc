// Bursts of notifications.
#include "registry/base/threads.h"

#include <gtest/gtest.h>

#include <memory>

namespace truce {
namespace burst_test {

std::shared_ptr<const Waker> Counting(int& count) {
  return std::make_shared<const Waker>([&count] { ++count; });
}

TEST(Burst, WakesEachOnceAtItsEnd) {
  int of_one = 0;
  int of_other = 0;
  const auto one = Counting(of_one);
  const auto other = Counting(of_other);
  {
    const Burst burst;
    for (int i = 0; i < 3; ++i) WakeAfterBurst(one);
    WakeAfterBurst(other);
    EXPECT_EQ(of_one, 0);
  }
  EXPECT_EQ(of_one, 1);
  EXPECT_EQ(of_other, 1);
}

TEST(Burst, WithoutOneWakesAtOnce) {
  int count = 0;
  const auto waker = Counting(count);
  WakeAfterBurst(waker);
  WakeAfterBurst(waker);
  EXPECT_EQ(count, 2);
}

TEST(Burst, OutlivesThoseWhoAskedForIt) {
  int count = 0;
  auto waker = Counting(count);
  const std::weak_ptr<const Waker> watched = waker;
  {
    const Burst burst;
    WakeAfterBurst(waker);
    waker.reset();
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

}  // namespace burst_test
}  // namespace truce
