// Bursts of notifications.
#include "registry/base/threads.h"

#include <gtest/gtest.h>

#include <memory>

namespace truce {
namespace burst_test {

class CountingWaker final : public Waker {
 public:
  void Wake() noexcept override { ++count; }
  int count = 0;
};

TEST(Burst, WakesEachOnceAtItsEnd) {
  const auto one = std::make_shared<CountingWaker>();
  const auto other = std::make_shared<CountingWaker>();
  {
    const Burst burst;
    for (int i = 0; i < 3; ++i) WakeAfterBurst(one);
    WakeAfterBurst(other);
    EXPECT_EQ(one->count, 0);
  }
  EXPECT_EQ(one->count, 1);
  EXPECT_EQ(other->count, 1);
}

TEST(Burst, WithoutOneWakesAtOnce) {
  const auto waker = std::make_shared<CountingWaker>();
  WakeAfterBurst(waker);
  WakeAfterBurst(waker);
  EXPECT_EQ(waker->count, 2);
}

TEST(Burst, OutlivesThoseWhoAskedForIt) {
  auto waker = std::make_shared<CountingWaker>();
  const std::weak_ptr<CountingWaker> watched = waker;
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
