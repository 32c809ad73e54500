// The order in which a loop of one thread calls what was posted.
#include "webhook/http/event_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace truce {
namespace event_loop_test {

class Sink final : public EventSink {
 public:
  explicit Sink(std::function<void(Report)> call) : call_(std::move(call)) {}
  void OnEvent(Report report) override { call_(report); }

 private:
  const std::function<void(Report)> call_;
};

TEST(EventLoopTest, WhoGoesBehindOthersIsCalledAfterThem) {
  auto started = EventLoop::Start({.name = "test", .tick = std::chrono::hours(1)}, [] {});
  ASSERT_TRUE(started.ok());
  EventLoop& loop = *started.value();
  std::vector<std::string> calls;
  std::promise<void> begun;
  std::promise<void> go_on;
  std::promise<void> done;
  // Holds the only thread up until all of them wait.
  Sink gate([&](Report) {
    begun.set_value();
    go_on.get_future().wait();
  });
  Sink first([&](Report report) {
    if (report == Report::kReady) {
      calls.emplace_back("first");
      EXPECT_TRUE(loop.PostBehindOthers(first));
      return;
    }
    calls.emplace_back("first again");
    EXPECT_FALSE(loop.PostBehindOthers(first)) << "nobody waits";
    done.set_value();
  });
  Sink second([&](Report report) {
    EXPECT_EQ(report, Report::kHungUp);
    calls.emplace_back("second");
  });
  loop.Post(gate, Report::kNothing);
  begun.get_future().wait();
  loop.Post(first, Report::kReady);
  loop.Post(second, Report::kHungUp);
  go_on.set_value();
  done.get_future().wait();
  loop.Stop();
  EXPECT_EQ(calls, (std::vector<std::string>{"first", "second", "first again"}));
}

// Threads that compute are not stuck, however long they take; those that wait are.
TEST(EventLoopTest, LongComputingIsNotMistakenForWaiting) {
  constexpr int kPlaces = 2;
  std::atomic<int> ticks = 0;
  auto started = EventLoop::Start(
      {.name = "test", .running_max = kPlaces, .tick = std::chrono::milliseconds(5)},
      [&] { ++ticks; });
  ASSERT_TRUE(started.ok());
  EventLoop& loop = *started.value();
  std::atomic<int> computing = 0;
  std::atomic<bool> enough = false;
  Sink compute([&](Report) {
    ++computing;
    while (!enough) {
    }
  });
  // As many sinks as calls: one sink may be called by several threads.
  for (int i = 0; i < 40; ++i) loop.Post(compute, Report::kNothing);
  while (computing < kPlaces) std::this_thread::yield();
  const int begin = ticks;
  while (ticks < begin + 20) std::this_thread::yield();
  const int threads = loop.threads();
  enough = true;
  EXPECT_LE(threads, kPlaces + 1) << "34 were seen";

  std::promise<void> go_on;
  const std::shared_future<void> gone_on = go_on.get_future().share();
  std::atomic<int> waiting = 0;
  Sink wait([&](Report) {
    ++waiting;
    gone_on.wait();
  });
  for (int i = 0; i < 8; ++i) loop.Post(wait, Report::kNothing);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (waiting < 8 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(waiting, 8);
  go_on.set_value();
  loop.Stop();
}

}  // namespace event_loop_test
}  // namespace truce
