// What a browser on this machine may ask by `truce page`, and the token that it is shown for it.
#include "webhook/cli/server/page_proxy.h"

#include <gtest/gtest.h>

#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/fake_clock.h"
#include "webhook/cli/server/forwarded_token.h"
#include "webhook/http/router.h"

namespace truce {
namespace page_proxy_test {

using namespace std::chrono_literals;

const Timestamp kNow = *ParseTimestamp("2026-11-21T08:00:00Z");
constexpr Deadline kNever = Deadline::max();

// Keeps what it is asked.
class Server final : public ApiConnection {
 public:
  const std::string& name() const override { return name_; }
  std::string_view prefix() const override { return path; }
  Result<ApiResponse> Send(const ApiQuestion& question, Deadline) override {
    asked.push_back(question);
    if (is_gone) return Error{ErrorCode::kUnavailable, "connection refused"};
    return answer;
  }

  std::string path;
  bool is_gone = false;
  ApiResponse answer{200, "{}", {}, {}, "application/json"};
  std::vector<ApiQuestion> asked;

 private:
  const std::string name_ = "fake";
};

class PageProxyTest : public ::testing::Test {
 protected:
  PageProxyTest() { proxy_.SetPort(8123); }

  using Fields = std::vector<std::pair<std::string_view, std::string_view>>;
  HttpResponse Ask(const std::string& method, const std::string& path, const Fields& fields = {},
                   std::vector<std::pair<std::string, std::string>> query = {}) {
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.query = std::move(query);
    bool has_host = false;
    for (const auto& [name, value] : fields) {
      has_host = has_host || name == "host";
      request.headers.push_back({name, value});
    }
    if (!has_host) request.headers.push_back({"host", "127.0.0.1:8123"});
    return *router_.Find(method, path).route->handler(request);
  }
  static std::string HeaderOf(const HttpResponse& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return "";
  }

  static constexpr std::string_view kCookie = "a=b; truce-page-8123=sss; c=d";

  Server server_;
  PageProxy proxy_{server_, {"kkk", "sss"}};
  const Router router_ = Router::Make(proxy_.Routes()).value();
};

TEST_F(PageProxyTest, TheAddressHoldsOnce) {
  EXPECT_EQ(proxy_.AddressOf("/r/k3j5?x=1"), "http://127.0.0.1:8123/r/k3j5?x=1&key=kkk");
  const HttpResponse first = Ask("GET", "/r/k3j5", {}, {{"x", "1 2"}, {"key", "kkk"}});
  EXPECT_EQ(first.status, 303);
  EXPECT_EQ(HeaderOf(first, "Location"), "/r/k3j5?x=1%202");
  EXPECT_EQ(HeaderOf(first, "Set-Cookie"),
            "truce-page-8123=sss; Path=/; HttpOnly; SameSite=Strict");
  EXPECT_EQ(HeaderOf(first, "Cache-Control"), "no-store");
  EXPECT_EQ(Ask("GET", "/", {}, {{"key", "kkk"}}).status, 403);
  EXPECT_TRUE(server_.asked.empty()) << "nothing was passed on";
}

TEST_F(PageProxyTest, AWrongKeyLeavesTheGoodOneAlone) {
  EXPECT_EQ(Ask("GET", "/", {}, {{"key", "kk"}}).status, 403);
  EXPECT_EQ(Ask("POST", "/", {{"origin", "http://127.0.0.1:8123"}}, {{"key", "kkk"}}).status, 403);
  EXPECT_EQ(Ask("GET", "/", {}, {{"key", "kkk"}}).status, 303);
}

TEST_F(PageProxyTest, WithoutTheCookieNothingIsPassedOn) {
  for (const std::string_view cookie :
       {"", "truce-page-8123=", "truce-page-8123=ss", "truce-page-9=sss", "x-truce-page-8123=sss",
        "truce-page-8123=sssx"}) {
    EXPECT_EQ(Ask("GET", "/api/v1/resources", {{"cookie", cookie}}).status, 403) << cookie;
  }
  EXPECT_TRUE(server_.asked.empty());
}

TEST_F(PageProxyTest, ANameThatPointsHereIsRefused) {
  for (const std::string_view host : {"evil.example.org:8123", "127.0.0.1:80", "localhost:8123"}) {
    EXPECT_EQ(Ask("GET", "/", {{"host", host}, {"cookie", kCookie}}).status, 421) << host;
    EXPECT_EQ(Ask("GET", "/", {{"host", host}}, {{"key", "kkk"}}).status, 421) << host;
  }
  EXPECT_TRUE(server_.asked.empty());
}

TEST_F(PageProxyTest, AnotherPageOfThisMachineMayNotWrite) {
  EXPECT_EQ(Ask("POST", "/api/v1/checks", {{"cookie", kCookie}}).status, 403);
  for (const std::string_view origin : {"http://127.0.0.1:9000", "null", "https://evil.example"}) {
    for (const char* method : {"GET", "POST", "DELETE"}) {
      EXPECT_EQ(Ask(method, "/api/v1/x", {{"cookie", kCookie}, {"origin", origin}}).status, 403);
    }
  }
  EXPECT_TRUE(server_.asked.empty());
  const Fields own = {{"cookie", kCookie}, {"origin", "http://127.0.0.1:8123"}};
  EXPECT_EQ(Ask("POST", "/api/v1/checks", own).status, 200);
}

TEST_F(PageProxyTest, FewFieldsGoToAndFro) {
  server_.answer = {200,
                    "body",
                    1500ms,
                    {},
                    "text/javascript; charset=utf-8",
                    {{"etag", "\"t\""},
                     {"content-security-policy", "default-src 'none'"},
                     {"set-cookie", "stolen=1"},
                     {"access-control-allow-origin", "*"}}};
  const HttpResponse response = Ask("GET", "/api/v1/resources/a b",
                                    {{"cookie", kCookie},
                                     {"authorization", "Bearer pasted"},
                                     {"x-truce-authorization", "Bearer forged"},
                                     {"x-remote-user", "admin"},
                                     {"accept-encoding", "gzip"},
                                     {"accept", "*/*"},
                                     {"if-none-match", "\"t\""}},
                                    {{"name", "a/b&c"}});
  ASSERT_EQ(server_.asked.size(), 1U);
  EXPECT_EQ(server_.asked[0].method, "GET");
  EXPECT_EQ(server_.asked[0].path, "/api/v1/resources/a%20b?name=a%2Fb%26c");
  const Parameters there = {{"accept", "*/*"}, {"if-none-match", "\"t\""}};
  EXPECT_EQ(server_.asked[0].headers, there);
  EXPECT_EQ(response.content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(HeaderOf(response, "etag"), "\"t\"");
  EXPECT_EQ(HeaderOf(response, "content-security-policy"), "default-src 'none'");
  EXPECT_EQ(HeaderOf(response, "Retry-After"), "2");
  EXPECT_EQ(HeaderOf(response, "set-cookie"), "");
  EXPECT_EQ(HeaderOf(response, "access-control-allow-origin"), "");
}

TEST_F(PageProxyTest, ThePathOfTheApiServersProxyIsTakenOut) {
  server_.path = "/api/v1/namespaces/t/services/https:s:api/proxy";
  server_.answer.content_type = "text/html; charset=utf-8";
  server_.answer.body =
      "<script src=\"" + server_.path + "/page/app.js\"><a href=\"" + server_.path + "/\">";
  const HttpResponse response = Ask("GET", "/", {{"cookie", kCookie}});
  EXPECT_EQ(response.body, "<script src=\"/page/app.js\"><a href=\"/\">");
  Ask("GET", server_.path + "/page/app.js", {{"cookie", kCookie}});
  EXPECT_EQ(server_.asked.back().path, "/page/app.js");
  server_.answer.content_type = "application/json";
  EXPECT_EQ(Ask("GET", "/", {{"cookie", kCookie}}).body, server_.answer.body);
}

TEST_F(PageProxyTest, AServerThatIsGoneIsSaid) {
  server_.is_gone = true;
  const HttpResponse response = Ask("GET", "/", {{"cookie", kCookie}});
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(HeaderOf(response, "Retry-After"), "2");
}

// Gives the tokens of a list; an error where one is empty.
struct Tokens {
  std::list<FreshToken> left;
  int asked = 0;

  ForwardedToken::Fetch Fetch() {
    return [this](Deadline) -> Result<FreshToken> {
      ++asked;
      FreshToken next = left.front();
      left.pop_front();
      if (next.text.empty()) return Error{ErrorCode::kUnavailable, "no answer"};
      return next;
    };
  }
};

TEST(ForwardedTokenTest, IsRenewedAMinuteBeforeItEnds) {
  FakeClock clock(kNow);
  Tokens tokens{{{"one", kNow + 600s}, {"two", kNow + 1200s}}};
  ForwardedToken token(tokens.Fetch(), clock);
  EXPECT_EQ(token.Current(kNever).value(), "one");
  clock.Set(kNow + 539s);
  EXPECT_EQ(token.Current(kNever).value(), "one");
  EXPECT_EQ(tokens.asked, 1);
  clock.Set(kNow + 540s);
  EXPECT_EQ(token.Current(kNever).value(), "two");
  clock.Set(kNow + 1139s);
  EXPECT_EQ(token.Current(kNever).value(), "two");
  EXPECT_EQ(tokens.asked, 2);
}

TEST(ForwardedTokenTest, AShortLifeIsRenewedInItsMiddle) {
  FakeClock clock(kNow);
  Tokens tokens{{{"one", kNow + 40s}, {"two", {}}}};
  ForwardedToken token(tokens.Fetch(), clock);
  EXPECT_EQ(token.Current(kNever).value(), "one");
  clock.Set(kNow + 19s);
  EXPECT_EQ(token.Current(kNever).value(), "one");
  clock.Set(kNow + 20s);
  EXPECT_EQ(token.Current(kNever).value(), "two");
  clock.Set(kNow + 24h);
  EXPECT_EQ(token.Current(kNever).value(), "two") << "one without an end is kept";
}

TEST(ForwardedTokenTest, WhileAnOldOneHoldsAFailureChangesNothing) {
  FakeClock clock(kNow);
  Tokens tokens{{{"one", kNow + 600s}, {""}, {""}, {"two", kNow + 1200s}}};
  ForwardedToken token(tokens.Fetch(), clock);
  EXPECT_EQ(token.Current(kNever).value(), "one");
  clock.Set(kNow + 541s);
  EXPECT_EQ(token.Current(kNever).value(), "one");
  clock.Set(kNow + 545s);
  EXPECT_EQ(token.Current(kNever).value(), "one");
  EXPECT_EQ(tokens.asked, 2) << "not tried again at once";
  clock.Set(kNow + 601s);
  EXPECT_FALSE(token.Current(kNever).ok()) << "it has ended";
  EXPECT_EQ(token.Current(kNever).value(), "two");
}

TEST(ForwardedTokenTest, WithoutAFirstOneThereIsNone) {
  FakeClock clock(kNow);
  Tokens tokens{{{""}}};
  ForwardedToken token(tokens.Fetch(), clock);
  const auto none = token.Current(kNever);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kUnavailable);
}

}  // namespace page_proxy_test
}  // namespace truce
