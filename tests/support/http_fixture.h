// A server on any free port, for tests of webhook/http.
#ifndef TRUCE_TESTS_SUPPORT_HTTP_FIXTURE_H_
#define TRUCE_TESTS_SUPPORT_HTTP_FIXTURE_H_

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/http_client.h"
#include "webhook/http/server.h"

namespace truce {

// A plain listener on loopback; set further options before starting.
inline HttpServerOptions LoopbackOptions() {
  HttpServerOptions options;
  options.address = "127.0.0.1:0";
  options.name = "test";
  return options;
}

inline std::unique_ptr<HttpServer> StartServer(HttpServerOptions options,
                                               std::vector<HttpRoute> routes) {
  std::signal(SIGPIPE, SIG_IGN);
  auto server = HttpServer::Start(std::move(options), std::move(routes));
  if (!server.ok()) {
    ADD_FAILURE() << server.error().message;
    return nullptr;
  }
  return std::move(server).value();
}

inline HttpRoute MakeRoute(std::string method, std::string path, HttpHandler handler) {
  HttpRoute route;
  route.method = std::move(method);
  route.path = std::move(path);
  route.handler = std::move(handler);
  return route;
}

// POST /echo answers the body; GET /ok answers "ok".
inline std::vector<HttpRoute> EchoRoutes() {
  return {MakeRoute("POST", "/echo",
                    [](HttpRequest& request) {
                      HttpResponse response;
                      response.content_type = "application/json";
                      response.body = std::move(request.body);
                      return response;
                    }),
          MakeRoute("GET", "/ok", [](HttpRequest&) { return PlainText(200, "ok"); })};
}

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_HTTP_FIXTURE_H_
