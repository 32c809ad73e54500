// The server over real sockets: routes, replies, framing, keep-alive, addresses.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "registry/base/descriptor.h"
#include "tests/support/http_fixture.h"
#include "tests/support/temporary_folder.h"

namespace truce {
namespace http_server_test {

TEST(HttpServer, HandlersSeeTheWholeRequest) {
  HttpRequest seen;
  std::string header;
  auto server = StartServer(
      LoopbackOptions(), {MakeRoute("POST", "/a b", [&](HttpRequest& request) {
        EXPECT_GE(request.body.capacity(), request.body.size() + HttpRequest::kBodyPadding);
        header = request.Header("x-one");
        EXPECT_EQ(request.Header("x-none"), "");
        seen = request;
        HttpResponse response = PlainText(201, "made");
        response.headers = {{"Location", "/x"}, {"X-Bad", "a\r\nX-Injected: b"}};
        return response;
      })});
  auto client = HttpClient::Connect(server->port());
  const auto reply = client->Ask(
      "POST /a%20b?timeout=3s&x=%26&x=2&flag HTTP/1.1\r\nHost: a\r\nX-One:  1%20 \r\n"
      "Content-Length: 5\r\n\r\nhello");
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status, 201);
  EXPECT_EQ(reply->body, "made\n");
  EXPECT_EQ(reply->headers.at("content-length"), "5");
  EXPECT_EQ(reply->headers.at("location"), "/x");
  EXPECT_EQ(reply->headers.count("x-injected"), 0U) << "a field with a line end is left out";
  EXPECT_EQ(reply->headers.count("connection"), 0U);
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.path, "/a b");
  EXPECT_EQ(seen.Query("timeout"), "3s");
  EXPECT_EQ(seen.Query("x"), "&");
  EXPECT_EQ(seen.Query("flag"), "");
  EXPECT_EQ(seen.Query("none"), std::nullopt);
  EXPECT_EQ(seen.body, "hello");
  EXPECT_EQ(header, "1%20") << "values are trimmed, and never percent-decoded";
  EXPECT_EQ(seen.remote_address, "127.0.0.1");
  EXPECT_FALSE(seen.client_name.has_value());
  EXPECT_EQ(seen.deadline - seen.arrival, std::chrono::seconds(10));
}

TEST(HttpServer, UnknownPathsAndMethodsAreToldApartAndKeepTheConnection) {
  auto server = StartServer(LoopbackOptions(), EchoRoutes());
  auto client = HttpClient::Connect(server->port());
  const auto missing = client->Ask(Request("GET", "/nowhere"));
  EXPECT_EQ(missing->status, 404);
  EXPECT_EQ(missing->headers.at("content-type"), "application/problem+json");
  EXPECT_EQ(nlohmann::json::parse(missing->body).at("type"), "/problems/not-found");
  const auto reply = client->Ask(Request("GET", "/echo"));
  EXPECT_EQ(reply->status, 405);
  EXPECT_EQ(reply->headers.at("content-type"), "application/problem+json");
  EXPECT_EQ(nlohmann::json::parse(reply->body).at("remedy"), "use POST");
  EXPECT_EQ(reply->headers.at("allow"), "POST");
  EXPECT_EQ(client->Ask(Request("GET", "/ok"))->status, 200);
  EXPECT_EQ(server->Counters().Rejected(HttpRejection::kNotFound), 2U);
  EXPECT_EQ(server->Counters().requests, 1U);
  EXPECT_EQ(server->Counters().connections_accepted, 1U);
}

TEST(HttpServer, HeadIsAnsweredWithoutBody) {
  auto server = StartServer(LoopbackOptions(), EchoRoutes());
  auto client = HttpClient::Connect(server->port());
  ASSERT_TRUE(client->Send(Request("HEAD", "/ok")));
  const auto reply = client->Receive(true);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->headers.at("content-length"), "3");
  EXPECT_EQ(client->Ask(Request("GET", "/ok"))->body, "ok\n") << "nothing lies in between";
}

TEST(HttpServer, NothingOfTheRequestChangesTheReply) {
  constexpr const char* kUpgrade =
      "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
  auto server = StartServer(LoopbackOptions(), EchoRoutes());
  for (const char* field : {"Range: bytes=0-0", "Accept-Encoding: gzip, br", "If-None-Match: *",
                            kUpgrade, "Accept: ;;;=", "Range: bytes=z", "X-Forwarded-For: ,",
                            "REMOTE_ADDR: 1.2.3.4", "Expect: 100-continue"}) {
    auto client = HttpClient::Connect(server->port());
    const auto reply =
        client->Ask(std::string("GET /ok HTTP/1.1\r\nHost: a\r\n") + field + "\r\n\r\n");
    ASSERT_TRUE(reply.has_value()) << field;
    EXPECT_EQ(reply->status, 200) << field;
    EXPECT_EQ(reply->body, "ok\n") << field;
    EXPECT_EQ(reply->headers.count("content-encoding"), 0U) << field;
  }
}

TEST(HttpServer, MediaTypeIsARouteOptionAndEncodedBodiesAreRefused) {
  std::vector<HttpRoute> routes = EchoRoutes();
  routes[0].media_type = "application/json";
  auto server = StartServer(LoopbackOptions(), std::move(routes));
  struct Row {
    const char* fields;
    int status;
  };
  for (const Row& row :
       {Row{"Content-Type: application/json", 200},
        Row{"Content-Type: Application/JSON ; charset=utf-8", 200},
        Row{"Content-Type: text/json", 415}, Row{"Content-Type: application/jsonx", 415},
        Row{"X: y", 415}, Row{"Content-Type: application/json\r\nContent-Encoding: gzip", 415},
        Row{"Content-Type: application/json\r\nContent-Encoding: identity", 200}}) {
    auto client = HttpClient::Connect(server->port());
    const auto reply = client->Ask(std::string("POST /echo HTTP/1.1\r\nHost: a\r\n") + row.fields +
                                   "\r\nContent-Length: 2\r\n\r\n{}");
    ASSERT_TRUE(reply.has_value()) << row.fields;
    EXPECT_EQ(reply->status, row.status) << row.fields;
    if (row.status != 415) continue;
    EXPECT_EQ(reply->headers.at("content-type"), "application/problem+json");
    EXPECT_EQ(nlohmann::json::parse(reply->body).at("status"), 415);
  }
  EXPECT_EQ(server->Counters().Rejected(HttpRejection::kMediaType), 4U);
}

TEST(HttpServer, BodiesOfAllSizesComeWholeInAnyPieces) {
  auto server = StartServer(LoopbackOptions(), EchoRoutes());
  auto client = HttpClient::Connect(server->port());
  for (const size_t size :
       {0UL, 1UL, 4301UL, 16384UL, 65536UL, 65537UL, 200000UL, 3UL << 20, 8UL << 20}) {
    std::string body(size, 'x');
    for (size_t i = 0; i < size; i += 1000) body[i] = static_cast<char>('a' + i / 1000 % 26);
    const auto reply = client->Ask(Request("POST", "/echo", body));
    ASSERT_TRUE(reply.has_value()) << size;
    EXPECT_TRUE(reply->body == body) << size;
  }
  const std::string request = Request("POST", "/echo", "hello");
  for (size_t cut = 1; cut < request.size(); cut += 7) {
    ASSERT_TRUE(client->Send(request.substr(0, cut)));
    const auto reply = client->Ask(request.substr(cut));
    ASSERT_TRUE(reply.has_value()) << cut;
    EXPECT_EQ(reply->body, "hello") << cut;
  }
}

TEST(HttpServer, PipelinedRequestsAreAnsweredInOrder) {
  auto server = StartServer(LoopbackOptions(), EchoRoutes());
  auto client = HttpClient::Connect(server->port());
  std::string all;
  for (int i = 0; i < 50; ++i) all += Request("POST", "/echo", std::to_string(i));
  ASSERT_TRUE(client->Send(all));
  for (int i = 0; i < 50; ++i) {
    const auto reply = client->Receive();
    ASSERT_TRUE(reply.has_value()) << i;
    EXPECT_EQ(reply->body, std::to_string(i));
  }
}

TEST(HttpServer, MoreBodyThanAnnouncedIsTheNextRequestAndRefused) {
  auto server = StartServer(LoopbackOptions(), EchoRoutes());
  auto client = HttpClient::Connect(server->port());
  const auto first =
      client->Ask("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}\x01\x02");
  EXPECT_EQ(first->body, "{}");
  const auto second = client->Receive();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->status, 400);
  EXPECT_EQ(second->headers.at("connection"), "close");
  EXPECT_TRUE(client->WaitForEnd());
}

TEST(HttpServer, ClientsThatWaitForContinueGetIt) {
  auto server = StartServer(LoopbackOptions(), EchoRoutes());
  auto client = HttpClient::Connect(server->port());
  const auto go_on = client->Ask(
      "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  ASSERT_TRUE(go_on.has_value());
  EXPECT_EQ(go_on->status, 100);
  EXPECT_EQ(client->Ask("hello")->body, "hello");
}

TEST(HttpServer, ConnectionCloseIsKeptBothWays) {
  auto server = StartServer(LoopbackOptions(), EchoRoutes());
  auto client = HttpClient::Connect(server->port());
  const auto reply = client->Ask("GET /ok HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(reply->headers.at("connection"), "close");
  EXPECT_TRUE(client->WaitForEnd());
  auto old = HttpClient::Connect(server->port());
  EXPECT_EQ(old->Ask("GET /ok HTTP/1.0\r\n\r\n")->headers.at("connection"), "close");
  EXPECT_TRUE(old->WaitForEnd());
  auto kept = HttpClient::Connect(server->port());
  const std::string again = "GET /ok HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
  EXPECT_EQ(kept->Ask(again)->headers.at("connection"), "keep-alive");
  EXPECT_EQ(kept->Ask(again)->status, 200);
}

TEST(HttpServer, AClientThatStopsSendingStillGetsItsReply) {
  auto server = StartServer(LoopbackOptions(), EchoRoutes());
  auto client = HttpClient::Connect(server->port());
  ASSERT_TRUE(client->Send(Request("POST", "/echo", "hello")));
  client->FinishSending();
  EXPECT_EQ(client->Receive()->body, "hello");
  EXPECT_TRUE(client->WaitForEnd());
  EXPECT_TRUE(Eventually([&] { return server->Counters().connections_open == 0; }))
      << "the end that came with the request is not forgotten";
}

TEST(HttpServer, ExceptionsBecome503AndTheirTextStaysHere) {
  auto server = StartServer(
      LoopbackOptions(),
      {MakeRoute("GET", "/throw",
                 [](HttpRequest&) -> HttpResponse { throw std::runtime_error("secret"); }),
       MakeRoute("GET", "/throw-int", [](HttpRequest&) -> HttpResponse { throw 1; })});
  auto client = HttpClient::Connect(server->port());
  for (const char* path : {"/throw", "/throw-int"}) {
    const auto reply = client->Ask(Request("GET", path));
    ASSERT_TRUE(reply.has_value()) << path;
    EXPECT_EQ(reply->status, 503) << path;
    EXPECT_EQ(reply->headers.at("retry-after"), "1") << path;
    EXPECT_EQ(reply->body, "internal error\n") << path;
    for (const auto& [name, value] : reply->headers) {
      EXPECT_EQ(value.find("secret"), value.npos) << name << " (CVE-2026-28434)";
    }
  }
  EXPECT_EQ(server->Counters().Rejected(HttpRejection::kHandlerFailed), 2U);
}

TEST(HttpServer, UnixSocketIsPrivateAndReplacesADeadOne) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "truce.sock";
  HttpServerOptions options = LoopbackOptions();
  options.address = "unix:" + path;
  auto server = StartServer(options, EchoRoutes());
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  auto client = HttpClient::ConnectUnix(path);
  ASSERT_NE(client, nullptr);
  EXPECT_EQ(client->Ask(Request("GET", "/ok"))->body, "ok\n");
  EXPECT_EQ(server->port(), 0);

  auto second = HttpServer::Start(options, EchoRoutes());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  EXPECT_NE(HttpClient::ConnectUnix(path), nullptr) << "the first one was not disturbed";
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(path));

  // What a killed process leaves: a socket file at which nobody listens.
  const std::string copy = path + ".old";
  auto first = StartServer(options, EchoRoutes());
  std::filesystem::rename(path, copy);
  first.reset();
  std::filesystem::rename(copy, path);
  EXPECT_NE(StartServer(options, EchoRoutes()), nullptr);

  std::ofstream(path) << "precious";
  auto refused = HttpServer::Start(options, EchoRoutes());
  EXPECT_FALSE(refused.ok());
  EXPECT_TRUE(std::filesystem::exists(path)) << "a file that is no socket is not replaced";
}

TEST(HttpServer, AddressesInUseOrMalformedAreClearErrors) {
  auto server = StartServer(LoopbackOptions(), EchoRoutes());
  HttpServerOptions options = LoopbackOptions();
  options.address = "127.0.0.1:" + std::to_string(server->port());
  auto taken = HttpServer::Start(options, EchoRoutes());
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code, ErrorCode::kConflict);
  EXPECT_EQ(taken.error().message,
            "listen on \"" + options.address +
                "\": the address is already in use; choose another, or end what has it");
  for (const char* address : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536",
                              "::1:80", "127.0.0.1:-1", "unix:", "no such host:80"}) {
    options.address = address;
    auto refused = HttpServer::Start(options, EchoRoutes());
    ASSERT_FALSE(refused.ok()) << address;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument) << address;
  }
  options.address = "unix:/" + std::string(200, 'x');
  EXPECT_EQ(HttpServer::Start(options, EchoRoutes()).error().code, ErrorCode::kInvalidArgument);
  options.address = "unix:/no/such/folder/truce.sock";
  EXPECT_EQ(HttpServer::Start(options, EchoRoutes()).error().code, ErrorCode::kUnavailable);
  options.address = "[::1]:0";
  EXPECT_GT(StartServer(options, EchoRoutes())->port(), 0);
  options.address = ":0";
  EXPECT_GT(StartServer(options, EchoRoutes())->port(), 0);
}

TEST(HttpServer, AllAddressesAreOfBothFamilies) {
  for (const char* address : {"[::]:0", ":0"}) {
    HttpServerOptions options = LoopbackOptions();
    options.address = address;
    const auto server = StartServer(options, EchoRoutes());
    EXPECT_NE(HttpClient::Connect(server->port()), nullptr) << address;
    sockaddr_in6 loopback{};
    loopback.sin6_family = AF_INET6;
    loopback.sin6_addr = in6addr_loopback;
    loopback.sin6_port = htons(static_cast<std::uint16_t>(server->port()));
    const Descriptor client(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto* generic = reinterpret_cast<const sockaddr*>(&loopback);
    EXPECT_EQ(::connect(client.get(), generic, sizeof loopback), 0) << address;
  }
}

TEST(HttpServer, ImpossibleOptionsAreRefused) {
  HttpServerOptions options = LoopbackOptions();
  options.client_auth = ClientAuth::kRequired;
  EXPECT_EQ(HttpServer::Start(options, {}).error().code, ErrorCode::kInvalidArgument);
  options = LoopbackOptions();
  options.limits.in_flight_max = 0;
  EXPECT_EQ(HttpServer::Start(options, {}).error().code, ErrorCode::kInvalidArgument);
  options = LoopbackOptions();
  options.name = "";
  EXPECT_EQ(HttpServer::Start(options, {}).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace http_server_test
}  // namespace truce
