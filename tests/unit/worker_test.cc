// One thread that takes turns.
#include "registry/base/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace truce {
namespace worker_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

Deadline Soon() { return In(seconds(20)); }

TEST(Worker, TakesATurnAtOnceAndThenWhenItIsWoken) {
  std::atomic<int> turns{0};
  Worker worker([&]() -> Worker::Rest {
    ++turns;
    return {};
  });
  EXPECT_FALSE(worker.Settle(In(milliseconds(0)))) << "it has not begun";
  worker.Start();
  ASSERT_TRUE(worker.Settle(Soon()));
  EXPECT_EQ(turns, 1);
  worker.Wake();
  ASSERT_TRUE(worker.Settle(Soon()));
  EXPECT_EQ(turns, 2);
}

TEST(Worker, TakesATurnWhenItIsDue) {
  std::atomic<int> turns{0};
  Worker worker([&]() -> Worker::Rest {
    ++turns;
    return {In(milliseconds(1))};
  });
  worker.Start();
  while (turns < 5) std::this_thread::yield();
  worker.Stop();
}

TEST(Worker, HeedsNobodyBeforeTheEarliestMoment) {
  std::atomic<int> turns{0};
  Worker worker([&]() -> Worker::Rest {
    ++turns;
    return {Deadline::max(), In(seconds(60))};
  });
  worker.Start();
  ASSERT_TRUE(worker.Settle(Soon()));
  worker.Wake();
  EXPECT_FALSE(worker.Settle(In(milliseconds(20)))) << "a turn is asked for and may not begin";
  EXPECT_EQ(turns, 1);
  const auto begun = std::chrono::steady_clock::now();
  worker.Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, seconds(30)) << "Stop waits for no rest";
}

TEST(Worker, AWakeDuringATurnBringsAnother) {
  std::atomic<int> turns{0};
  std::atomic<bool> is_inside{false};
  std::atomic<bool> may_leave{false};
  Worker worker([&]() -> Worker::Rest {
    ++turns;
    is_inside = true;
    while (!may_leave) std::this_thread::yield();
    return {};
  });
  worker.Start();
  while (!is_inside) std::this_thread::yield();
  worker.Wake();
  EXPECT_FALSE(worker.Settle(In(milliseconds(0))));
  may_leave = true;
  ASSERT_TRUE(worker.Settle(Soon()));
  EXPECT_EQ(turns, 2);
}

TEST(Worker, StopWaitsForTheTurnUnderWayAndIsHeardInIt) {
  std::atomic<bool> is_inside{false};
  std::atomic<bool> has_left{false};
  Worker* self = nullptr;
  Worker worker([&]() -> Worker::Rest {
    is_inside = true;
    while (!self->is_stopping()) std::this_thread::yield();
    has_left = true;
    return {};
  });
  self = &worker;
  worker.Start();
  while (!is_inside) std::this_thread::yield();
  worker.Stop();
  EXPECT_TRUE(has_left);
  worker.Stop();
  worker.Wake();
  EXPECT_FALSE(worker.Settle(Soon())) << "nobody takes the turn any more";
}

TEST(Worker, MayBeStoppedBeforeItBegan) {
  std::atomic<int> turns{0};
  {
    Worker worker([&]() -> Worker::Rest {
      ++turns;
      return {};
    });
    worker.Stop();
  }
  EXPECT_EQ(turns, 0);
}

}  // namespace worker_test
}  // namespace truce
