// Answers that come after the handler has returned.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "registry/base/threads.h"
#include "tests/support/http_fixture.h"

namespace truce {
namespace http_deferral_test {

constexpr std::chrono::seconds kPatience{20};

HttpContinuation Says(int status, std::string line) {
  return [status, line = std::move(line)] { return PlainText(status, line); };
}

std::vector<HttpRoute> With(HttpHandler handler) {
  std::vector<HttpRoute> routes = EchoRoutes();
  routes.push_back(MakeRoute("POST", "/later", std::move(handler)));
  return routes;
}

// Keeps what it is given, for the test to answer.
class Kept {
 public:
  void Add(HttpResume deferred) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(deferred));
    added_.notify_all();
  }
  // All of them, once there are `count`.
  std::vector<HttpResume> Take(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(added_.wait_for(lock, kPatience, [&] { return all_.size() >= count; }));
    return std::exchange(all_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<HttpResume> all_;
};

// Leaves every answer to the test.
HttpHandler KeepIn(Kept& kept) {
  return [&kept](HttpRequest& request) {
    kept.Add(request.defer(In(kPatience), Says(503, "too late"), WhenHungUp::kAnswer));
    return std::optional<HttpResponse>();
  };
}

TEST(HttpDeferral, AnAnswerComesFromAnotherThreadAndTheConnectionGoesOn) {
  Kept kept;
  auto server = StartServer(LoopbackOptions(), With(KeepIn(kept)));
  auto client = HttpClient::Connect(server->port());
  ASSERT_TRUE(client->Send(Request("POST", "/later", "one") + Request("GET", "/ok")));
  const auto waiting = kept.Take(1);
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(server->Counters().in_flight, 1U);
  waiting[0](Says(201, "made"));
  waiting[0](Says(500, "a second answer is none"));
  const auto reply = client->Receive();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status, 201);
  EXPECT_EQ(reply->body, "made\n");
  EXPECT_EQ(client->Receive()->body, "ok\n") << "what was sent meanwhile is answered next";
  EXPECT_EQ(server->Counters().in_flight, 0U);
  EXPECT_EQ(server->Counters().requests, 2U);
}

TEST(HttpDeferral, AnAnswerBeforeTheHandlerReturnsCounts) {
  auto server = StartServer(LoopbackOptions(), With([](HttpRequest& request) {
                              request.defer(In(kPatience), Says(503, "too late"),
                                            WhenHungUp::kAnswer)(Says(200, "at once"));
                              return std::optional<HttpResponse>();
                            }));
  auto client = HttpClient::Connect(server->port());
  EXPECT_EQ(client->Ask(Request("POST", "/later", ""))->body, "at once\n");
}

TEST(HttpDeferral, AHandlerThatDefersMayStillAnswerItself) {
  Kept kept;
  auto server = StartServer(
      LoopbackOptions(), With([&](HttpRequest& request) {
        kept.Add(request.defer(In(kPatience), Says(503, "too late"), WhenHungUp::kAnswer));
        if (request.body == "throw") throw std::runtime_error("broken");
        return std::optional(PlainText(200, "itself"));
      }));
  auto client = HttpClient::Connect(server->port());
  EXPECT_EQ(client->Ask(Request("POST", "/later", ""))->body, "itself\n");
  EXPECT_EQ(client->Ask(Request("POST", "/later", "throw"))->status, 503);
  for (const auto& deferred : kept.Take(2)) {
    deferred([]() -> HttpResponse {
      ADD_FAILURE() << "nobody waits any more";
      return {};
    });
  }
  EXPECT_EQ(client->Ask(Request("GET", "/ok"))->body, "ok\n");
}

TEST(HttpDeferral, AtTheDeadlineTheOtherAnswerIsSent) {
  Kept kept;
  auto server = StartServer(LoopbackOptions(), With([&](HttpRequest& request) {
                              kept.Add(request.defer(In(std::chrono::milliseconds(30)),
                                                     Says(503, "too late"), WhenHungUp::kAnswer));
                              return std::optional<HttpResponse>();
                            }));
  auto client = HttpClient::Connect(server->port());
  const auto reply = client->Ask(Request("POST", "/later", ""));
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->body, "too late\n");
  kept.Take(1)[0](Says(500, "after the deadline"));
  EXPECT_EQ(client->Ask(Request("GET", "/ok"))->body, "ok\n");
  EXPECT_EQ(server->Counters().in_flight, 0U);
}

TEST(HttpDeferral, AnAnswerThatThrowsIsA503) {
  auto server =
      StartServer(LoopbackOptions(), With([](HttpRequest& request) {
                    request.defer(In(kPatience), Says(503, "too late"), WhenHungUp::kAnswer)(
                        []() -> HttpResponse { throw std::runtime_error("a secret"); });
                    return std::optional<HttpResponse>();
                  }));
  auto client = HttpClient::Connect(server->port());
  const auto reply = client->Ask(Request("POST", "/later", ""));
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status, 503);
  EXPECT_EQ(reply->headers.at("retry-after"), "1");
  EXPECT_EQ(reply->body, "internal error\n");
  EXPECT_EQ(server->Counters().Rejected(HttpRejection::kHandlerFailed), 1U);
}

TEST(HttpDeferral, AServerThatStopsWaitsForAnswersUntilItsDeadline) {
  Kept kept;
  auto server = StartServer(LoopbackOptions(), With(KeepIn(kept)));
  auto answered = HttpClient::Connect(server->port());
  ASSERT_TRUE(answered->Send(Request("POST", "/later", "")));
  const auto first = kept.Take(1);
  auto stopped = std::async(std::launch::async, [&] { return server->Stop(In(kPatience)); });
  first[0](Says(200, "last words"));
  const auto reply = answered->Receive();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->body, "last words\n");
  EXPECT_TRUE(stopped.get());
}

TEST(HttpDeferral, AServerThatIsGoneHasForgottenItsRequests) {
  Kept kept;
  const auto life = std::make_shared<int>();
  auto server = StartServer(
      LoopbackOptions(), With([&](HttpRequest& request) {
        kept.Add(request.defer(
            In(kPatience), [life] { return PlainText(503, "too late"); }, WhenHungUp::kAnswer));
        return std::optional<HttpResponse>();
      }));
  auto client = HttpClient::Connect(server->port());
  ASSERT_TRUE(client->Send(Request("POST", "/later", "")));
  const auto cut_off = kept.Take(1);
  server.reset();
  EXPECT_EQ(life.use_count(), 1) << "what was left to say has ended";
  cut_off[0]([life] { return PlainText(200, "to nobody"); });
  EXPECT_EQ(life.use_count(), 1);
}

TEST(HttpDeferral, WhoHangsUpIsForgottenWhereTheAnswerIsWorthNothingByItself) {
  for (const WhenHungUp hung_up : {WhenHungUp::kForget, WhenHungUp::kAnswer}) {
    Kept kept;
    std::promise<void> ended;
    std::shared_ptr<int> life(new int(), [&](const int* value) {
      delete value;
      ended.set_value();
    });
    auto server = StartServer(
        LoopbackOptions(), With([&](HttpRequest& request) {
          kept.Add(request.defer(
              In(kPatience), [held = std::exchange(life, nullptr)] { return PlainText(200, ""); },
              hung_up));
          return std::optional<HttpResponse>();
        }));
    auto client = HttpClient::Connect(server->port());
    ASSERT_TRUE(client->Send(Request("POST", "/later", "")));
    const auto deferred = kept.Take(1);
    client.reset();
    if (hung_up == WhenHungUp::kForget) {
      EXPECT_EQ(ended.get_future().wait_for(kPatience), std::future_status::ready);
      deferred[0](Says(200, "to nobody"));
      continue;
    }
    std::promise<void> made;
    deferred[0]([&] {
      made.set_value();
      return PlainText(200, "to nobody");
    });
    EXPECT_EQ(made.get_future().wait_for(kPatience), std::future_status::ready);
  }
}

TEST(HttpDeferral, ManyWaitWithoutAThreadEach) {
  constexpr std::size_t kClients = 100;
  Kept kept;
  HttpServerOptions options = LoopbackOptions();
  auto server = StartServer(std::move(options), With(KeepIn(kept)));
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.push_back(HttpClient::Connect(server->port()));
    ASSERT_TRUE(clients.back()->Send(Request("POST", "/later", "")));
  }
  const auto waiting = kept.Take(kClients);
  EXPECT_EQ(waiting.size(), kClients);
  EXPECT_EQ(server->Counters().threads, 1U);
  {
    const Burst burst;
    for (const auto& deferred : waiting) deferred(Says(200, "together"));
  }
  for (const auto& client : clients) {
    const auto reply = client->Receive();
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->body, "together\n");
  }
}

}  // namespace http_deferral_test
}  // namespace truce
