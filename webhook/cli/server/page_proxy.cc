#include "webhook/cli/server/page_proxy.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "registry/base/text.h"
#include "registry/base/threads.h"

namespace truce {
namespace {

constexpr std::string_view kKeyParameter = "key";
constexpr std::chrono::seconds kPassOnWithin{60};

// Fields that go on to the server, and those that come back. No others: a cookie, Authorization or
// a field that names a caller is no business of the other side.
constexpr std::array<std::string_view, 5> kFieldsThere = {"accept", "if-match", "if-none-match",
                                                          "x-request-id", "content-type"};
constexpr std::array<std::string_view, 11> kFieldsBack = {"etag",
                                                          "cache-control",
                                                          "vary",
                                                          "content-security-policy",
                                                          "cross-origin-opener-policy",
                                                          "cross-origin-resource-policy",
                                                          "referrer-policy",
                                                          "x-content-type-options",
                                                          "x-frame-options",
                                                          "content-disposition",
                                                          "x-request-id"};

template <std::size_t N>
bool Has(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// A path as a request line has it: segments encoded, their slashes not.
std::string EncodedPath(std::string_view path) {
  std::string out;
  while (true) {
    const std::size_t slash = path.find('/');
    out += UriEncoded(path.substr(0, slash));
    if (slash == std::string_view::npos) return out;
    out += '/';
    path.remove_prefix(slash + 1);
  }
}

std::string ForwardedTarget(std::string_view path, const HttpRequest& request) {
  std::string target = EncodedPath(path);
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    target += separator;
    target.append(UriEncoded(name)).append("=").append(UriEncoded(value));
    separator = '&';
  }
  return target;
}

void RemoveAll(std::string_view what, std::string& text) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.erase(at, what.size());
  }
}

// For people: they read it in the browser.
HttpResponse Refusal(int status, std::string_view line) {
  HttpResponse response = PlainText(status, line);
  response.headers = {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}};
  return response;
}

}  // namespace

std::string PageProxy::Origin() const { return "http://127.0.0.1:" + std::to_string(port_); }

// Cookies of a host are shared by its ports.
std::string PageProxy::CookieName() const { return "truce-page-" + std::to_string(port_); }

std::string PageProxy::AddressOf(const std::string& path) const {
  const char separator = path.find('?') == std::string::npos ? '?' : '&';
  return Origin() + path + separator + std::string(kKeyParameter) + "=" + secrets_.key;
}

std::vector<HttpRoute> PageProxy::Routes() {
  std::vector<HttpRoute> routes;
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    HttpRoute route;
    route.method = method;
    route.path = "/";
    route.match = RouteMatch::kPrefix;
    route.handler = [this](HttpRequest& request) { return Answer(request); };
    routes.push_back(std::move(route));
  }
  return routes;
}

bool PageProxy::HasCookie(const HttpRequest& request) const {
  const std::string wanted = CookieName() + "=" + secrets_.session;
  std::string_view cookies = request.Header("cookie");
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view cookie = cookies.substr(0, end);
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    cookie.remove_prefix(std::min(cookie.find_first_not_of(' '), cookie.size()));
    if (cookie == wanted) return true;
  }
  return false;
}

HttpResponse PageProxy::TakeKey(const HttpRequest& request, std::string_view key) {
  const bool is_good = key == secrets_.key && !is_used_.exchange(true);
  if (!is_good) {
    return Refusal(403, "This address was used already; run `truce page` again for another one.");
  }
  HttpRequest bare = {};
  for (const auto& [name, value] : request.query) {
    if (name != kKeyParameter) bare.query.emplace_back(name, value);
  }
  HttpResponse response = Refusal(303, "Go on.");
  response.headers.emplace_back("Location", ForwardedTarget(request.path, bare));
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back(
      "Set-Cookie", CookieName() + "=" + secrets_.session + "; Path=/; HttpOnly; SameSite=Strict");
  return response;
}

HttpResponse PageProxy::Answer(const HttpRequest& request) {
  const std::string host = "127.0.0.1:" + std::to_string(port_);
  if (request.Header("host") != host) {
    return Refusal(421, "Open the address that `truce page` printed.");
  }
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  // The cookie alone says enough: SameSite=Strict. A port beside this one is the same site.
  const std::string_view origin = request.Header("origin");
  if ((!is_read || !origin.empty()) && origin != Origin()) {
    return Refusal(403, "Another page may not ask this one.");
  }
  const auto key = request.Query(kKeyParameter);
  if (HasCookie(request)) return PassOn(request);
  if (key && is_read) return TakeKey(request, *key);
  return Refusal(403, "Open the address that `truce page` printed; it holds once.");
}

HttpResponse PageProxy::PassOn(const HttpRequest& request) {
  // The API server's proxy puts its own path before those of links in documents.
  const std::string prefix(server_.prefix());
  std::string_view path = request.path;
  if (!prefix.empty() && path.starts_with(prefix + "/")) path.remove_prefix(prefix.size());
  ApiQuestion question{ForwardedTarget(path, request)};
  question.method = request.method;
  question.body = request.body;
  for (const HttpField& field : request.headers) {
    if (Has(kFieldsThere, field.name)) {
      question.headers.emplace_back(field.name, field.value);
    }
  }
  const BlockingRegion blocking;
  Result<ApiResponse> reply =
      server_.Send(question, std::chrono::steady_clock::now() + kPassOnWithin);
  if (!reply.ok()) {
    HttpResponse response = RouteProblem(503, "the server cannot be reached",
                                         "Look at the terminal in which `truce page` runs.");
    response.headers.emplace_back("Retry-After", "2");
    return response;
  }
  ApiResponse& got = reply.value();
  HttpResponse response;
  response.status = got.status;
  response.content_type = got.content_type;
  response.body = std::move(got.body);
  if (!prefix.empty() && response.content_type.starts_with("text/html")) {
    RemoveAll(prefix, response.body);
  }
  for (auto& [name, value] : got.headers) {
    if (Has(kFieldsBack, name)) response.headers.emplace_back(name, std::move(value));
  }
  if (got.retry_after) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*got.retry_after);
    response.headers.emplace_back("Retry-After", std::to_string(seconds.count()));
  }
  return response;
}

}  // namespace truce
