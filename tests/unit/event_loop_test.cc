// The order in which a loop of one thread calls what was posted.
#include "webhook/http/event_loop.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
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

}  // namespace event_loop_test
}  // namespace truce
