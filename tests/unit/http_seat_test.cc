// A seat that the next connection takes before the thread that closed the last one has left it.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "webhook/http/connection.h"
#include "webhook/http/engine.h"
#include "webhook/http/event_loop.h"
#include "webhook/http/http.h"
#include "webhook/http/router.h"
#include "webhook/http/server.h"

namespace truce {
namespace http_seat_test {

constexpr std::string_view kRequest = "GET /slow HTTP/1.1\r\nHost: test\r\n\r\n";

class Sink final : public EventSink {
 public:
  explicit Sink(std::function<void()> call) : call_(std::move(call)) {}
  void OnEvent(Report /*report*/) override { call_(); }

 private:
  const std::function<void()> call_;
};

// The first belongs to the server.
std::array<int, 2> ConnectedPair() {
  std::array<int, 2> pair{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.data()), 0);
  return pair;
}

std::string AnswerAt(int descriptor) {
  std::array<char, 1024> bytes{};
  const ssize_t size = ::read(descriptor, bytes.data(), bytes.size());
  return size > 0 ? std::string(bytes.data(), static_cast<std::size_t>(size)) : std::string();
}

void Ask(int descriptor) {
  EXPECT_EQ(::write(descriptor, kRequest.data(), kRequest.size()),
            static_cast<ssize_t>(kRequest.size()));
}

// One seat of a server with one route, and a loop whose only thread is held up: each report is
// made by the test.
class HttpSeat : public ::testing::Test {
 protected:
  void Serve(HttpRoute route) {
    route.method = "GET";
    route.path = "/slow";
    auto router = Router::Make({std::move(route)});
    ASSERT_TRUE(router.ok());
    engine_.emplace(std::move(router).value());
    auto started = EventLoop::Start({.name = "test", .tick = std::chrono::hours(1)}, [] {});
    ASSERT_TRUE(started.ok());
    loop_ = std::move(started).value();
    loop_->Post(gate_, Report::kNothing);
    held_.get_future().wait();
    HttpServerOptions options;
    options.name = "test";
    context_.reset(new ConnectionContext{.options = options, .engine = *engine_});
    context_->loop = loop_.get();
    context_->on_close = [](HttpConnection&) {};
    seat_.emplace(*context_);
  }

  void TearDown() override {
    if (context_ != nullptr) context_->on_close = [](HttpConnection&) {};
    let_go_.set_value();
    if (loop_ != nullptr) loop_->Stop();
  }

  std::promise<void> held_;
  std::promise<void> let_go_;
  Sink gate_{[this] {
    held_.set_value();
    let_go_.get_future().wait();
  }};
  std::optional<HttpEngine> engine_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<ConnectionContext> context_;
  std::optional<HttpConnection> seat_;
  const std::array<int, 2> first_ = ConnectedPair();
  const std::array<int, 2> second_ = ConnectedPair();
};

TEST_F(HttpSeat, WhoClosedAConnectionLeavesTheNextOneAlone) {
  std::promise<void> entered;
  std::promise<void> leave;
  std::atomic<int> calls = 0;
  Serve({.handler = [&](HttpRequest&) {
    if (++calls == 1) {
      entered.set_value();
      leave.get_future().wait();
    }
    return PlainText(200, "done");
  }});
  std::thread other;
  int closed = 0;
  context_->on_close = [&](HttpConnection&) {
    if (++closed > 1) return;
    seat_->Open(second_[0], nullptr, {});
    Ask(second_[1]);
    other = std::thread([&] { seat_->OnEvent(Report::kReady); });
    entered.get_future().wait();
  };
  seat_->Open(first_[0], nullptr, {});
  ::close(first_[1]);
  seat_->OnEvent(Report::kHungUp);
  ASSERT_EQ(closed, 1);

  // The thread in the handler has the turn.
  seat_->OnEvent(Report::kReady);
  EXPECT_EQ(calls, 1);
  leave.set_value();
  other.join();
  EXPECT_TRUE(AnswerAt(second_[1]).starts_with("HTTP/1.1 200"));
  EXPECT_EQ(context_->requests, 1U);
  ::close(second_[1]);
}

TEST_F(HttpSeat, ALateReportOfAHangUpEndsNoStranger) {
  std::shared_ptr<HttpDeferred> deferred;
  Serve({.deferring = [&](HttpRequest&, HttpDeferral& deferral) -> std::optional<HttpResponse> {
    deferred = deferral.Defer(
        std::chrono::steady_clock::now() + std::chrono::hours(1),
        [] { return PlainText(503, "late"); }, WhenHungUp::kForget);
    return std::nullopt;
  }});
  seat_->Open(first_[0], nullptr, {});
  ::close(first_[1]);
  seat_->OnEvent(Report::kHungUp);
  ASSERT_TRUE(seat_->IsFree());
  seat_->Open(second_[0], nullptr, {});
  Ask(second_[1]);
  seat_->OnEvent(Report::kReady);
  ASSERT_NE(deferred, nullptr);

  seat_->OnEvent(Report::kHungUp);
  ASSERT_FALSE(seat_->IsFree());
  deferred->Resume([] { return PlainText(200, "done"); });
  for (int step = 0; step < 2; ++step) seat_->OnEvent(Report::kNothing);  // to take it, to send it
  EXPECT_TRUE(AnswerAt(second_[1]).starts_with("HTTP/1.1 200"));

  // Its own ends it.
  Ask(second_[1]);
  seat_->OnEvent(Report::kReady);
  ::close(second_[1]);
  seat_->OnEvent(Report::kHungUp);
  EXPECT_TRUE(seat_->IsFree());
}

}  // namespace http_seat_test
}  // namespace truce
