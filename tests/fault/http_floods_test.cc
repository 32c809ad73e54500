// Who comes with too many connections, too large bodies or endless key updates is the one who
// loses.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "registry/base/descriptor.h"
#include "tests/support/http_fixture.h"
#include "tests/support/temporary_folder.h"

namespace truce {
namespace http_floods_test {

using std::chrono::milliseconds;
using Clients = std::vector<std::unique_ptr<HttpClient>>;

// GET /prove: the caller has shown who it is.
std::vector<HttpRoute> ProvingRoutes() {
  std::vector<HttpRoute> routes = EchoRoutes();
  routes.push_back(MakeRoute("GET", "/prove", [](HttpRequest& request) {
    request.caller_proven = true;
    return PlainText(200, "proven");
  }));
  return routes;
}

// Whether the server has closed it; never waits.
bool HasEnded(HttpClient& client) {
  char byte = 0;
  return ::recv(client.descriptor(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

TEST(HttpFloods, ASourceHasAShareAndItsOldestUnfinishedGoesFirst) {
  HttpServerOptions options = LoopbackOptions();
  options.limits.connections_max = 40;
  options.limits.connections_per_source_max = 8;
  auto server = StartServer(options, ProvingRoutes());
  auto other = HttpClient::ConnectFrom("127.0.0.2", server->port());
  Clients flood;
  for (int i = 0; i < 30; ++i) {
    flood.push_back(HttpClient::Connect(server->port()));
    // One after the other: their age counts from what they sent.
    const auto accepted = static_cast<std::uint64_t>(i) + 2;
    ASSERT_TRUE(Eventually([&] { return server->Counters().connections_accepted == accepted; }));
  }
  for (int i = 0; i < 22; ++i) EXPECT_TRUE(flood[static_cast<size_t>(i)]->WaitForEnd()) << i;
  for (size_t i = 22; i < 30; ++i) EXPECT_FALSE(HasEnded(*flood[i])) << i;
  EXPECT_EQ(server->Counters().Rejected(HttpRejection::kConnections), 22U);
  EXPECT_EQ(other->Ask(Request("GET", "/ok"))->status, 200) << "another source has its own share";
  auto same = HttpClient::Connect(server->port());
  EXPECT_EQ(same->Ask(Request("GET", "/ok"))->status, 200) << "a newcomer goes before the silent";
}

TEST(HttpFloods, ProvenCallersCountForNoShareAndGiveWayToNobody) {
  HttpServerOptions options = LoopbackOptions();
  options.limits.connections_max = 12;
  options.limits.connections_per_source_max = 4;
  auto server = StartServer(options, ProvingRoutes());
  Clients proven;
  for (int i = 0; i < 10; ++i) {
    proven.push_back(HttpClient::Connect(server->port()));
    ASSERT_EQ(proven.back()->Ask(Request("GET", "/prove"))->status, 200) << i;
  }
  Clients flood;
  for (int i = 0; i < 50; ++i) flood.push_back(HttpClient::Connect(server->port()));
  ASSERT_TRUE(Eventually([&] { return server->Counters().connections_accepted == 60; }));
  for (auto& each : proven) EXPECT_EQ(each->Ask(Request("GET", "/ok"))->status, 200);
}

TEST(HttpFloods, WhenAllIsFullTheOldestUnfinishedOfAnySourceGoes) {
  HttpServerOptions options = LoopbackOptions();
  options.limits.connections_max = 12;
  options.limits.connections_per_source_max = 4;
  auto server = StartServer(options, ProvingRoutes());
  Clients flood;
  for (const char* source : {"127.0.0.2", "127.0.0.3", "127.0.0.4"}) {
    for (int i = 0; i < 4; ++i) flood.push_back(HttpClient::ConnectFrom(source, server->port()));
  }
  ASSERT_TRUE(Eventually([&] { return server->Counters().connections_open == 12; }));
  auto caller = HttpClient::Connect(server->port());
  EXPECT_EQ(caller->Ask(Request("GET", "/ok"))->status, 200);
  EXPECT_TRUE(flood.front()->WaitForEnd());
  for (size_t i = 1; i < flood.size(); ++i) EXPECT_FALSE(HasEnded(*flood[i])) << i;
}

// Connects, and waits until that is accepted: so each is older than the next.
std::unique_ptr<HttpClient> ConnectInTurn(const HttpServer& server) {
  const std::uint64_t before = server.Counters().connections_accepted;
  auto client = HttpClient::Connect(server.port());
  EXPECT_TRUE(Eventually([&] { return server.Counters().connections_accepted == before + 1; }));
  return client;
}

sockaddr_in AddressOf(const HttpServer& server) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(server.port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// UBSan reads an object of a type that it has not met yet by a pipe, and takes it for none where no
// descriptor is left for that. It meets what wakes a loop when a server with a connection stops.
void StopServersWithConnections() {
  for (int i = 0; i < 5; ++i) {
    auto server = StartServer(LoopbackOptions(), ProvingRoutes());
    const auto idle = ConnectInTurn(*server);
    server.reset();
  }
}

// Lets no further descriptor be opened, until its end.
class NoDescriptorLeft {
 public:
  NoDescriptorLeft() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(0);
    ::close(next);
    const rlimit none{static_cast<rlim_t>(next), before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptorLeft() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(HttpFloods, WithoutADescriptorForANewOneTheOldestUnfinishedGoes) {
  StopServersWithConnections();
  HttpServerOptions options = LoopbackOptions();
  options.limits.request_timeout = 2 * HttpClient::kPatience;
  auto server = StartServer(options, ProvingRoutes());
  auto proven = HttpClient::Connect(server->port());
  ASSERT_EQ(proven->Ask(Request("GET", "/prove"))->status, 200);
  Clients silent;
  for (int i = 0; i < 3; ++i) silent.push_back(ConnectInTurn(*server));
  const sockaddr_in address = AddressOf(*server);
  const Descriptor caller(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  {
    const NoDescriptorLeft none;
    ASSERT_EQ(::connect(caller.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    EXPECT_TRUE(Eventually([&] { return server->Counters().connections_accepted == 5; }));
  }
  EXPECT_TRUE(silent[0]->WaitForEnd());
  EXPECT_FALSE(HasEnded(*silent[1]));
  EXPECT_FALSE(HasEnded(*silent[2]));
  EXPECT_EQ(proven->Ask(Request("GET", "/ok"))->status, 200);
}

// Nobody may go: who waits is accepted as soon as somebody does.
TEST(HttpFloods, WithoutADescriptorNoProvenCallerGoes) {
  StopServersWithConnections();
  HttpServerOptions options = LoopbackOptions();
  auto server = StartServer(options, ProvingRoutes());
  Clients proven;
  for (int i = 0; i < 2; ++i) {
    proven.push_back(HttpClient::Connect(server->port()));
    ASSERT_EQ(proven.back()->Ask(Request("GET", "/prove"))->status, 200);
  }
  const sockaddr_in address = AddressOf(*server);
  const Descriptor caller(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const NoDescriptorLeft none;
  ASSERT_EQ(::connect(caller.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
            0);
  for (auto& each : proven) EXPECT_EQ(each->Ask(Request("GET", "/ok"))->status, 200);
  EXPECT_EQ(server->Counters().connections_accepted, 2U);
  proven.pop_back();
  EXPECT_TRUE(Eventually([&] { return server->Counters().connections_accepted == 3; }));
}

// Whoever was accepted is heard before all are that wait to be.
TEST(HttpFloods, WhoIsAcceptedDoesNotWaitForTheWholeQueue) {
  HttpServerOptions options = LoopbackOptions();
  options.limits.connections_max = 40;
  options.limits.connections_per_source_max = 40;
  std::atomic<bool> is_held = false;
  std::atomic<bool> may_go = false;
  const HttpServer* listener = nullptr;
  std::vector<HttpRoute> routes = EchoRoutes();
  routes.push_back(MakeRoute("GET", "/hold", [&](HttpRequest&) {
    is_held = true;
    while (!may_go) std::this_thread::yield();
    return PlainText(200, "held");
  }));
  routes.push_back(MakeRoute("GET", "/accepted", [&](HttpRequest&) {
    return PlainText(200, std::to_string(listener->Counters().connections_accepted));
  }));
  auto server = StartServer(options, std::move(routes));
  listener = server.get();
  auto holder = HttpClient::Connect(server->port());
  ASSERT_TRUE(holder->Send(Request("GET", "/hold")));
  ASSERT_TRUE(Eventually([&] { return is_held.load(); }));
  auto first = HttpClient::Connect(server->port());
  ASSERT_TRUE(first->Send(Request("GET", "/accepted")));
  Clients flood;
  for (int i = 0; i < 800; ++i) flood.push_back(HttpClient::Connect(server->port()));
  may_go = true;
  const auto reply = first->Receive();
  ASSERT_TRUE(reply.has_value());
  EXPECT_LT(std::stoi(reply->body), 40);
  EXPECT_TRUE(Eventually([&] { return server->Counters().connections_accepted == 802; }));
}

// ---- Large bodies

// Counts who is inside, and lets nobody out before it is opened.
class Turnstile final {
 public:
  void Pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    most_ = std::max(most_, ++inside_);
    ++entered_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    --inside_;
  }
  void Open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  bool WaitForEntered(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, HttpClient::kPatience, [&] { return entered_ >= count; });
  }
  int most() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return most_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  int entered_ = 0;
  int most_ = 0;
  bool open_ = false;
};

std::vector<HttpRoute> TurnstileRoutes(Turnstile& turnstile) {
  std::vector<HttpRoute> routes = EchoRoutes();
  routes.push_back(MakeRoute("POST", "/pass", [&turnstile](HttpRequest& request) {
    turnstile.Pass();
    return PlainText(200, std::to_string(request.body.size()));
  }));
  return routes;
}

TEST(HttpFloods, LargeBodiesAreHandledAFewAtATimeAndDelayNobody) {
  Turnstile turnstile;
  HttpServerOptions options = LoopbackOptions();
  options.limits.large_bodies_max = 2;
  auto server = StartServer(options, TurnstileRoutes(turnstile));
  const std::string large(HttpLimits::kSmallBodyBytes + 1, 'x');
  Clients senders;
  for (int i = 0; i < 8; ++i) {
    senders.push_back(HttpClient::Connect(server->port()));
    ASSERT_TRUE(senders.back()->Send(Request("POST", "/pass", large)));
  }
  ASSERT_TRUE(turnstile.WaitForEntered(2));
  // Both threads that compute are inside, and yet:
  auto small = HttpClient::Connect(server->port());
  EXPECT_EQ(small->Ask(Request("POST", "/echo", "small"))->status, 200);
  turnstile.Open();
  for (auto& each : senders) EXPECT_EQ(each->Receive()->body, std::to_string(large.size()) + "\n");
  EXPECT_EQ(turnstile.most(), 2);
}

TEST(HttpFloods, WhoWaitsTooLongForItsTurnIsToldSo) {
  Turnstile turnstile;
  HttpServerOptions options = LoopbackOptions();
  options.limits.large_bodies_max = 1;
  options.limits.handler_timeout = milliseconds(200);
  auto server = StartServer(options, TurnstileRoutes(turnstile));
  const std::string large = Request("POST", "/pass", std::string(100'000, 'x'));
  auto first = HttpClient::Connect(server->port());
  ASSERT_TRUE(first->Send(large));
  ASSERT_TRUE(turnstile.WaitForEntered(1));
  auto gone = HttpClient::Connect(server->port());
  ASSERT_TRUE(gone->Send(large));
  auto second = HttpClient::Connect(server->port());
  const auto refused = second->Ask(large);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 503);
  EXPECT_EQ(refused->headers.at("retry-after"), "1");
  turnstile.Open();
  EXPECT_EQ(first->Receive()->status, 200);
  auto third = HttpClient::Connect(server->port());
  EXPECT_EQ(third->Ask(large)->status, 200) << "the turn goes on";
}

TEST(HttpFloods, ARouteMayTakeLessThanTheListener) {
  std::vector<HttpRoute> routes = EchoRoutes();
  routes.front().body_bytes_max = 100'000;
  auto server = StartServer(LoopbackOptions(), std::move(routes));
  auto fits = HttpClient::Connect(server->port());
  EXPECT_EQ(fits->Ask(Request("POST", "/echo", std::string(100'000, 'x')))->status, 200);
  auto client = HttpClient::Connect(server->port());
  // From the header: the body does not even come.
  const auto reply =
      client->Ask("POST /echo?a=b HTTP/1.1\r\nHost: a\r\nContent-Length: 100001\r\n\r\n");
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status, 413);
}

// ---- TLS 1.3 key updates

class HttpKeyUpdates : public testing::Test {
 protected:
  HttpKeyUpdates() {
    CertificateStoreOptions certificates;
    certificates.self_signed = SelfSignedOptions{.directory = folder_.path() / "certs"};
    store_ = std::move(CertificateStore::Open(certificates, clock_)).value();
    HttpServerOptions options = LoopbackOptions();
    options.certificates = store_.get();
    server_ = StartServer(std::move(options), EchoRoutes());
    tls_.authority_file = folder_.path() / "certs" / "ca.crt";
    client_ = HttpClient::ConnectTls(server_->port(), tls_);
  }

  SystemClock clock_;
  TemporaryFolder folder_;
  std::unique_ptr<CertificateStore> store_;
  std::unique_ptr<HttpServer> server_;
  ClientTls tls_;
  std::unique_ptr<HttpClient> client_;
};

TEST_F(HttpKeyUpdates, SomeBetweenRequestsAreInOrder) {
  ASSERT_NE(client_, nullptr);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client_->UpdateKeys(32, i % 2 == 0));
    const auto reply = client_->Ask(Request("GET", "/ok"));
    ASSERT_TRUE(reply.has_value()) << i;
    EXPECT_EQ(reply->status, 200);
  }
}

TEST_F(HttpKeyUpdates, MoreThanSomeWithoutARequestEndTheConnection) {
  for (const bool both_sides : {false, true}) {
    auto client = HttpClient::ConnectTls(server_->port(), tls_);
    ASSERT_NE(client, nullptr);
    client->UpdateKeys(33, both_sides);
    EXPECT_TRUE(client->WaitForEnd()) << both_sides;
  }
}

TEST_F(HttpKeyUpdates, WhatTheyCallForIsBounded) {
  ASSERT_NE(client_, nullptr);
  ASSERT_TRUE(client_->Send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n"));
  // Each of them is answered by a record, which nobody reads: the socket holds them, never the
  // server.
  bool alive = true;
  for (int i = 0; alive && i < 200; ++i)
    alive = client_->UpdateKeys(30, true) && client_->Send("x");
  EXPECT_TRUE(client_->WaitForEnd());
  EXPECT_TRUE(Eventually([&] { return server_->Counters().connections_open == 0; }));
}

}  // namespace http_floods_test
}  // namespace truce
