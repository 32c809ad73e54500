// The order in which a loop calls what was posted, and who leads it.
#include "webhook/http/event_loop.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "registry/base/threads.h"

namespace truce {
namespace event_loop_test {

using Call = std::pair<std::uint64_t, Report>;

TEST(EventLoopTest, WhoGoesBehindOthersIsCalledAfterThem) {
  std::unique_ptr<EventLoop> loop;
  std::vector<Call> calls;
  std::promise<void> begun;
  std::promise<void> go_on;
  std::promise<void> done;
  const auto on_event = [&](std::uint64_t id, Report report) {
    if (id == 1) {  // holds the leader up until all of them wait
      begun.set_value();
      go_on.get_future().wait();
      return;
    }
    calls.emplace_back(id, report);
    if (calls.size() == 1) loop->Again(id);
    if (calls.size() == 3) done.set_value();
  };
  auto started = EventLoop::Start("test", 1, on_event);
  ASSERT_TRUE(started.ok());
  loop = std::move(started).value();
  loop->Post(1, Report::kNothing);
  begun.get_future().wait();
  loop->Post(2, Report::kReadable);
  loop->Post(3, Report::kHungUp);
  go_on.set_value();
  done.get_future().wait();
  loop->Stop();
  EXPECT_EQ(calls, (std::vector<Call>{
                       {2, Report::kReadable}, {3, Report::kHungUp}, {2, Report::kNothing}}));
}

TEST(EventLoopTest, WhoWaitsHandsTheLeadOnAndTheNextGoesOnWhereItStopped) {
  std::unique_ptr<EventLoop> loop;
  std::promise<void> go_on;
  std::promise<bool> led_before;
  std::promise<bool> led_after;
  std::promise<void> called;
  const auto on_event = [&](std::uint64_t id, Report) {
    if (id == 2) return called.set_value();
    if (id != 1) return;
    loop->Again(2);
    led_before.set_value(loop->IsLed());
    {
      const BlockingRegion blocking;
      go_on.get_future().wait();
    }
    led_after.set_value(loop->IsLed());
  };
  auto started = EventLoop::Start("test", 2, on_event);
  ASSERT_TRUE(started.ok());
  loop = std::move(started).value();
  loop->Post(1, Report::kNothing);
  called.get_future().wait();
  EXPECT_EQ(loop->threads(), 2);
  go_on.set_value();
  EXPECT_TRUE(led_before.get_future().get());
  EXPECT_FALSE(led_after.get_future().get());
}

}  // namespace event_loop_test
}  // namespace truce
