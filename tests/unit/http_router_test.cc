// Which route answers.
#include <gtest/gtest.h>

#include "webhook/http/router.h"

namespace truce {
namespace http_router_test {

HttpRoute Route(const char* method, const char* path, RouteMatch match = RouteMatch::kExact) {
  HttpRoute route;
  route.method = method;
  route.path = path;
  route.match = match;
  route.handler = [](HttpRequest&) { return HttpResponse{}; };
  return route;
}

TEST(Router, ExactWinsOverPrefixAndLongerOverShorter) {
  auto made = Router::Make({Route("GET", "/a", RouteMatch::kPrefix), Route("GET", "/a/b"),
                            Route("GET", "/a/", RouteMatch::kPrefix), Route("POST", "/a/b")});
  ASSERT_TRUE(made.ok());
  const Router& router = made.value();
  const auto path = [&](const char* method, const char* target) {
    const Router::Match match = router.Find(method, target);
    return match.route == nullptr ? std::string("-") + match.allow : match.route->path;
  };
  EXPECT_EQ(path("GET", "/a/b"), "/a/b");
  EXPECT_EQ(path("HEAD", "/a/b"), "/a/b");
  EXPECT_EQ(path("GET", "/a/bc"), "/a/");
  EXPECT_EQ(path("GET", "/ab"), "/a");
  EXPECT_EQ(path("GET", "/b"), "-");
  EXPECT_EQ(path("PUT", "/a/b"), "-GET, HEAD, POST");
  EXPECT_EQ(path("POST", "/a/c"), "-GET, HEAD");
}

TEST(Router, RefusesMalformedRoutes) {
  HttpRoute without_handler = Route("GET", "/a");
  without_handler.handler = nullptr;
  EXPECT_FALSE(Router::Make({without_handler}).ok());
  EXPECT_FALSE(Router::Make({Route("", "/a")}).ok());
  EXPECT_FALSE(Router::Make({Route("GET", "a")}).ok());
  EXPECT_FALSE(Router::Make({Route("GET", "/a"), Route("GET", "/a")}).ok());
}

TEST(RequestIds, EachAnswerHasTheCallersOrAFreshOne) {
  HttpRoute named = Route("GET", "/named");
  named.handler = [](HttpRequest&) {
    HttpResponse response;
    response.headers.emplace_back("X-Request-Id", "its-own");
    return response;
  };
  const std::vector<HttpRoute> routes = WithRequestIds({Route("GET", "/a"), named});
  const auto id = [&](std::size_t route, std::string_view given) {
    HttpRequest request;
    if (!given.empty()) request.headers.push_back({"x-request-id", given});
    const HttpResponse response = *routes[route].handler(request);
    EXPECT_EQ(response.headers.size(), 1U);
    return response.headers.at(0).second;
  };
  EXPECT_EQ(id(0, "mine-1.a_B"), "mine-1.a_B");
  EXPECT_EQ(id(0, "").size(), 13U);
  EXPECT_NE(id(0, ""), id(0, ""));
  EXPECT_EQ(id(0, "a b<script>").size(), 13U);
  EXPECT_EQ(id(0, std::string(65, 'a')).size(), 13U);
  EXPECT_EQ(id(1, "mine"), "its-own");
}

}  // namespace http_router_test
}  // namespace truce
