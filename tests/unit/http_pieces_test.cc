// Replies whose bodies are sent piece by piece.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/http_fixture.h"

namespace truce {
namespace http_pieces_test {

// Says its pieces, then nothing.
class Pieces final : public HttpBody {
 public:
  Pieces(std::vector<std::string> pieces, std::uint64_t size, std::atomic<int>& alive)
      : pieces_(std::move(pieces)), size_(size), alive_(alive) {
    ++alive_;
  }
  ~Pieces() override { --alive_; }

  std::uint64_t size() const override { return size_; }
  std::optional<std::string> Next() override {
    if (next_ == pieces_.size()) return std::nullopt;
    return pieces_[next_++];
  }

 private:
  const std::vector<std::string> pieces_;
  const std::uint64_t size_;
  std::atomic<int>& alive_;
  std::size_t next_ = 0;
};

struct Served {
  std::atomic<int> alive{0};
  std::unique_ptr<HttpServer> server;
};

// GET /pieces answers those, said to be `size` bytes.
std::unique_ptr<Served> Serve(std::vector<std::string> pieces, std::uint64_t size,
                              HttpServerOptions options = LoopbackOptions()) {
  auto served = std::make_unique<Served>();
  std::vector<HttpRoute> routes = EchoRoutes();
  routes.push_back(MakeRoute("GET", "/pieces", [=, &alive = served->alive](HttpRequest&) {
    HttpResponse response;
    response.pieces = std::make_shared<Pieces>(pieces, size, alive);
    return response;
  }));
  served->server = StartServer(std::move(options), std::move(routes));
  return served;
}

TEST(HttpPieces, ComeAsOneBodyAndTheConnectionGoesOn) {
  const std::vector<std::string> pieces(40, std::string(256 * 1024, 'x'));
  const std::uint64_t size = pieces.size() * pieces[0].size();
  auto served = Serve(pieces, size);
  auto client = HttpClient::Connect(served->server->port());
  for (int i = 0; i < 2; ++i) {
    const auto reply = client->Ask(Request("GET", "/pieces"));
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->headers.at("content-length"), std::to_string(size));
    EXPECT_EQ(reply->body.size(), size);
    const auto next = client->Ask(Request("GET", "/ok"));
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(next->body, "ok\n");
  }
  EXPECT_TRUE(Eventually([&] { return served->alive == 0; }));
}

TEST(HttpPieces, TheLastReplyOfAConnectionIsWhole) {
  auto served = Serve({"one", "two", "three"}, 11);
  auto client = HttpClient::Connect(served->server->port());
  const auto reply = client->Ask("GET /pieces HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->body, "onetwothree");
  EXPECT_TRUE(client->WaitForEnd());
}

TEST(HttpPieces, AHeadIsGivenNone) {
  auto served = Serve({"one"}, 3);
  auto client = HttpClient::Connect(served->server->port());
  ASSERT_TRUE(client->Send(Request("HEAD", "/pieces") + Request("GET", "/ok")));
  const auto head = client->Receive(true);
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->headers.at("content-length"), "3");
  EXPECT_EQ(client->Receive()->body, "ok\n");
}

// Nobody takes a part for the whole: too few, too many, an empty one.
TEST(HttpPieces, OneThatDoesNotFitEndsTheConnection) {
  for (const std::vector<std::string>& pieces :
       {std::vector<std::string>{"one"}, {"one", "more than was said"}, {"one", ""}, {}}) {
    auto served = Serve(pieces, 6);
    auto client = HttpClient::Connect(served->server->port());
    EXPECT_FALSE(client->Ask(Request("GET", "/pieces")).has_value()) << pieces.size();
    EXPECT_TRUE(Eventually([&] { return served->alive == 0; }));
  }
}

TEST(HttpPieces, WhoReadsNothingIsNotWaitedFor) {
  HttpServerOptions options = LoopbackOptions();
  options.limits.write_timeout = std::chrono::milliseconds(200);
  auto served = Serve(std::vector<std::string>(200, std::string(256 * 1024, 'x')),
                      std::uint64_t{200} * 256 * 1024, std::move(options));
  auto client = HttpClient::Connect(served->server->port());
  ASSERT_TRUE(client->Send(Request("GET", "/pieces")));
  EXPECT_TRUE(
      Eventually([&] { return served->server->Counters().Rejected(HttpRejection::kSlow) == 1; }));
  EXPECT_TRUE(Eventually([&] { return served->alive == 0; }));
}

TEST(HttpPieces, WhoHangsUpLetsGoOfThem) {
  auto served = Serve(std::vector<std::string>(200, std::string(256 * 1024, 'x')),
                      std::uint64_t{200} * 256 * 1024);
  auto client = HttpClient::Connect(served->server->port());
  ASSERT_TRUE(client->Send(Request("GET", "/pieces")));
  ASSERT_TRUE(Eventually([&] { return served->alive == 1; }));
  client.reset();
  EXPECT_TRUE(Eventually([&] { return served->alive == 0; }));
}

}  // namespace http_pieces_test
}  // namespace truce
