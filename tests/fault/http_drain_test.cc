// Going away without losing an answer.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "registry/base/threads.h"
#include "tests/support/http_fixture.h"

namespace truce {
namespace http_drain_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(HttpDrain, RepliesSayCloseAndNewConnectionsAreStillServed) {
  auto server = StartServer(LoopbackOptions(), EchoRoutes());
  auto client = HttpClient::Connect(server->port());
  EXPECT_EQ(client->Ask(Request("GET", "/ok"))->headers.count("connection"), 0U);
  server->BeginDrain();
  EXPECT_EQ(client->Ask(Request("GET", "/ok"))->headers.at("connection"), "close");
  EXPECT_TRUE(client->WaitForEnd());
  auto newcomer = HttpClient::Connect(server->port());
  EXPECT_EQ(newcomer->Ask(Request("GET", "/ok"))->headers.at("connection"), "close");
  EXPECT_TRUE(server->Stop(In(seconds(20))));
  EXPECT_EQ(HttpClient::Connect(server->port()), nullptr);
}

TEST(HttpDrain, NothingThatWasBegunIsLostUnderLoad) {
  auto server = StartServer(LoopbackOptions(), EchoRoutes());
  const int port = server->port();
  std::atomic<int> answered = 0;
  std::atomic<int> lost = 0;
  std::atomic<bool> refused = false;
  std::vector<std::jthread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      std::unique_ptr<HttpClient> client;
      while (!refused) {
        const bool fresh = client == nullptr;
        if (fresh) client = HttpClient::Connect(port);
        if (client == nullptr) {
          refused = true;
          return;
        }
        const auto reply = client->Ask(Request("POST", "/echo", "hello"));
        if (reply.has_value()) {
          ++answered;
          if (reply->headers.count("connection") != 0) client.reset();
          continue;
        }
        // A connection that was accepted but had sent nothing yet may be closed by the stop.
        if (!refused && HttpClient::Connect(port) != nullptr) ++lost;
        client.reset();
      }
    });
  }
  ASSERT_TRUE(Eventually([&] { return answered > 200; }));
  server->BeginDrain();
  const int at_drain = answered;
  ASSERT_TRUE(Eventually([&] { return answered > at_drain + 200; }));
  EXPECT_EQ(lost, 0) << "while draining";
  EXPECT_TRUE(server->Stop(In(seconds(20))));
  refused = true;
  callers.clear();
  EXPECT_EQ(lost, 0);
}

TEST(HttpDrain, StopWaitsForHandlersAndHalfSentRequests) {
  std::mutex mutex;
  std::condition_variable changed;
  bool entered = false;
  bool open = false;
  auto server = StartServer(LoopbackOptions(), {MakeRoute("POST", "/slow", [&](HttpRequest&) {
                              const BlockingRegion blocking;
                              std::unique_lock<std::mutex> lock(mutex);
                              entered = true;
                              changed.notify_all();
                              changed.wait(lock, [&] { return open; });
                              return PlainText(200, "done");
                            })});
  auto in_handler = HttpClient::Connect(server->port());
  ASSERT_TRUE(in_handler->Send(Request("POST", "/slow", "x")));
  auto half_sent = HttpClient::Connect(server->port());
  const std::string request = Request("POST", "/slow", "hello");
  ASSERT_TRUE(half_sent->Send(request.substr(0, request.size() - 2)));
  auto idle = HttpClient::Connect(server->port());
  ASSERT_EQ(idle->Ask(Request("GET", "/nowhere"))->status, 404);
  {
    std::unique_lock<std::mutex> lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, HttpClient::kPatience, [&] { return entered; }));
  }
  std::atomic<bool> whole = false;
  std::jthread stopper([&] { whole = server->Stop(In(seconds(20))); });
  EXPECT_TRUE(idle->WaitForEnd());
  ASSERT_TRUE(half_sent->Send(request.substr(request.size() - 2)));
  {
    const std::lock_guard<std::mutex> lock(mutex);
    open = true;
    changed.notify_all();
  }
  for (auto* client : {in_handler.get(), half_sent.get()}) {
    const auto reply = client->Receive();
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->body, "done\n");
  }
  stopper.join();
  EXPECT_TRUE(whole);
}

TEST(HttpDrain, TheDeadlineCutsOffWhoNeverFinishes) {
  auto server = StartServer(LoopbackOptions(), EchoRoutes());
  auto half_sent = HttpClient::Connect(server->port());
  ASSERT_TRUE(half_sent->Send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello"));
  ASSERT_TRUE(Eventually([&] { return server->Counters().connections_open == 1; }));
  auto done = HttpClient::Connect(server->port());
  ASSERT_EQ(done->Ask(Request("GET", "/ok"))->status, 200);  // by now the other one was read
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(server->Stop(In(milliseconds(100))));
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
  EXPECT_TRUE(half_sent->WaitForEnd());
  EXPECT_TRUE(server->Stop(In(milliseconds(0)))) << "nothing is left to cut off";
}

}  // namespace http_drain_test
}  // namespace truce
