#include "webhook/http/router.h"

#include <httplib.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "registry/base/text.h"

namespace truce {
namespace {

bool MatchesPath(const HttpRoute& route, std::string_view path) {
  if (route.match == RouteMatch::kExact) return path == route.path;
  return path.substr(0, route.path.size()) == route.path;
}

bool MatchesMethod(const HttpRoute& route, std::string_view method) {
  return route.method == method || (method == "HEAD" && route.method == "GET");
}

void Append(std::string& list, std::string_view method) {
  if (!list.empty()) list += ", ";
  list += method;
}

// The documentation of the listeners tells their paths.
constexpr std::string_view kPathRemedy =
    "check the path and the port; /openapi.yaml of the API's port lists its paths";

// Splits the target into path and query, and decodes them.
void ReadTarget(std::string_view target, HttpRequest& request) {
  request.path = httplib::decode_path_component(std::string(TakeUntil(target, '?')));
  while (!target.empty()) {
    std::string_view value = TakeUntil(target, '&');
    const std::string name(TakeUntil(value, '='));
    if (name.empty()) continue;
    request.query.emplace_back(httplib::decode_query_component(name),
                               httplib::decode_query_component(std::string(value)));
  }
}

void AppendField(std::string_view name, std::string_view value, std::string& out) {
  out.append(name).append(": ").append(value).append("\r\n");
}

WrittenReply Written(const HttpResponse& response, const RequestHead& head) {
  WrittenReply reply;
  std::string& out = reply.bytes;
  constexpr std::size_t kUsualHeadBytes = 256;
  out.reserve(kUsualHeadBytes + response.body.size());
  out.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  out.append(httplib::status_message(response.status)).append("\r\n");
  for (const auto& [name, value] : response.headers) {
    // A line end that a caller wrote into one would end the head (CVE-2023-26130).
    if (IsFieldName(name) && IsFieldValue(value)) AppendField(name, value, out);
  }
  if (IsFieldValue(response.content_type)) AppendField("Content-Type", response.content_type, out);
  const bool is_pieces = response.pieces != nullptr;
  const std::uint64_t size = is_pieces ? response.pieces->size() : response.body.size();
  AppendField("Content-Length", std::to_string(size), out);
  if (!head.keep_alive) AppendField("Connection", "close", out);
  if (head.keep_alive && head.minor_version_0) AppendField("Connection", "keep-alive", out);
  out.append("\r\n");
  if (head.method == "HEAD") return reply;
  out.append(response.body);
  if (!is_pieces || size == 0) return reply;
  reply.pieces = response.pieces;
  reply.pieces_left = size;
  return reply;
}

// The answer to a request that no handler gets.
std::optional<HttpResponse> RefusalOf(const Router::Match& match, const HttpRequest& request) {
  if (match.route == nullptr && match.allow.empty()) {
    return RouteProblem(404, "nothing is at this path", kPathRemedy);
  }
  if (match.route == nullptr) {
    HttpResponse response =
        RouteProblem(405, "this path does not take the method", "use " + match.allow);
    response.headers.emplace_back("Allow", match.allow);
    return response;
  }
  // Nobody unpacks: a few bytes could become any number, behind the limit of the body.
  const std::string_view coding = request.Header("content-encoding");
  if (!coding.empty() && coding != "identity") {
    return RouteProblem(415, "a Content-Encoding is not supported",
                        "send the body without Content-Encoding");
  }
  const std::string& media_type = match.route->media_type;
  std::string_view given = request.Header("content-type");
  if (!media_type.empty() && !EqualsIgnoringCase(Trimmed(TakeUntil(given, ';')), media_type)) {
    return RouteProblem(415, "the Content-Type is missing or another one",
                        "send Content-Type: " + media_type);
  }
  return std::nullopt;
}

// The reply of a handler, or that it failed.
template <typename Handler>
std::optional<WrittenReply> ReplyOf(const Handler& handler, const RequestHead& head) {
  try {
    const std::optional<HttpResponse> response = handler();
    if (!response) return std::nullopt;
    return Written(*response, head);
  } catch (...) {
    return Answer({503, "internal error", HttpRejection::kHandlerFailed}, head);
  }
}

}  // namespace

Result<Router> Router::Make(std::vector<HttpRoute> routes) {
  for (const HttpRoute& route : routes) {
    if (!route.handler || route.method.empty() || route.path.empty() || route.path.front() != '/') {
      return Error{ErrorCode::kInvalidArgument, "malformed route \"" + route.path + "\""};
    }
  }
  std::stable_sort(routes.begin(), routes.end(), [](const HttpRoute& a, const HttpRoute& b) {
    if (a.match != b.match) return a.match == RouteMatch::kExact;
    if (a.path.size() != b.path.size()) return a.path.size() > b.path.size();
    return std::tie(a.path, a.method) < std::tie(b.path, b.method);
  });
  const auto twice =
      std::adjacent_find(routes.begin(), routes.end(), [](const HttpRoute& a, const HttpRoute& b) {
        return a.match == b.match && a.path == b.path && a.method == b.method;
      });
  if (twice != routes.end()) {
    return Error{ErrorCode::kInvalidArgument,
                 "route \"" + twice->method + " " + twice->path + "\" is given twice"};
  }
  return Router(std::move(routes));
}

Router::Match Router::Find(std::string_view method, std::string_view path) const {
  Match match;
  std::string_view known_path;  // the most specific path that matched, for its methods
  for (const HttpRoute& route : routes_) {
    if (!MatchesPath(route, path)) continue;
    if (!known_path.empty() && known_path != route.path) break;
    if (MatchesMethod(route, method)) return {&route, {}};
    known_path = route.path;
    Append(match.allow, route.method);
    if (route.method == "GET") Append(match.allow, "HEAD");
  }
  return match;
}

Router::Match Router::Find(const RequestHead& head, HttpRequest& request) const {
  request.method = head.method;
  const std::size_t begin = head.method.size() + 1;
  ReadTarget(head.line.substr(begin, head.line.rfind(' ') - begin), request);
  return Find(request.method, request.path);
}

std::optional<WrittenReply> Answer(const Router::Match& match, const RequestHead& head,
                                   HttpRequest& request) {
  if (const auto refusal = RefusalOf(match, request)) {
    WrittenReply reply = Written(*refusal, head);
    const bool is_media = refusal->status == 415;
    reply.rejection = is_media ? HttpRejection::kMediaType : HttpRejection::kNotFound;
    return reply;
  }
  return ReplyOf([&] { return match.route->handler(request); }, head);
}

WrittenReply Answer(const HttpContinuation& answer, const RequestHead& head) {
  return *ReplyOf(answer, head);
}

WrittenReply Answer(const HeadRefusal& refusal, const RequestHead& head) {
  HttpResponse response = PlainText(refusal.status, refusal.reason);
  if (refusal.status == 503) response.headers.emplace_back("Retry-After", "1");
  WrittenReply reply = Written(response, head);
  reply.rejection = refusal.rejection;
  return reply;
}

}  // namespace truce
