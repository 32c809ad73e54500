#include "webhook/http/router.h"

#include <httplib.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::size_t kTargetBytesMax = 8192;

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

// Whether `content_type` is the media type `wanted` (lower-case), whatever its parameters.
bool HasMediaType(std::string_view content_type, std::string_view wanted) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return std::equal(type.begin(), type.end(), wanted.begin(), wanted.end(),
                    [](char a, char b) { return Lower(a) == b; });
}

// The documentation of the listeners tells their paths.
constexpr std::string_view kPathRemedy =
    "check the path and the port; /openapi.yaml of the API's port lists its paths";

// A plain reply for requests that no handler answers.
HttpResponse Refuse(WrittenReply& reply, HttpRejection rejection, HttpResponse response) {
  reply.rejection = rejection;
  return response;
}

HttpResponse NotFound(WrittenReply& reply, const std::string& allow) {
  if (allow.empty()) {
    return Refuse(reply, HttpRejection::kNotFound,
                  RouteProblem(404, "nothing is at this path", kPathRemedy));
  }
  HttpResponse response = RouteProblem(405, "this path does not take the method", "use " + allow);
  response.headers.emplace_back("Allow", allow);
  return Refuse(reply, HttpRejection::kNotFound, std::move(response));
}

std::string_view TargetOf(const RequestHead& head) {
  const std::size_t begin = head.method.size() + 1;
  return head.line.substr(begin, head.line.rfind(' ') - begin);
}

// Splits the target into path and query, and decodes them.
void ReadTarget(std::string_view target, HttpRequest& request) {
  const std::size_t mark = std::min(target.find('?'), target.size());
  request.path = httplib::decode_path_component(std::string(target.substr(0, mark)));
  for (std::size_t begin = mark + 1; begin < target.size();) {
    const std::size_t end = std::min(target.find('&', begin), target.size());
    const std::string_view parameter = target.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    if (equals == 0) continue;
    const std::string_view value = parameter.substr(std::min(equals + 1, parameter.size()));
    request.query.emplace_back(
        httplib::decode_query_component(std::string(parameter.substr(0, equals))),
        httplib::decode_query_component(std::string(value)));
  }
}

void AppendField(std::string_view name, std::string_view value, std::string& out) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void AppendReply(const HttpResponse& response, const RequestHead& head, WrittenReply& reply) {
  std::string& out = reply.bytes;
  constexpr std::size_t kUsualHeadBytes = 256;
  out.reserve(out.size() + kUsualHeadBytes + response.body.size());
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
  if (!reply.keep_alive) AppendField("Connection", "close", out);
  if (reply.keep_alive && head.minor_version_0) AppendField("Connection", "keep-alive", out);
  out.append("\r\n");
  if (head.method == "HEAD") return;
  out.append(response.body);
  if (!is_pieces || size == 0) return;
  reply.pieces = response.pieces;
  reply.pieces_left = size;
}

// The answer of a handler, or that it failed.
template <typename Handler>
std::optional<HttpResponse> AnswerOrFailure(const Handler& handler, WrittenReply& reply) {
  reply.bytes.clear();
  reply.pieces.reset();
  reply.rejection.reset();
  try {
    return handler();
  } catch (...) {
    HttpResponse failed =
        Refuse(reply, HttpRejection::kHandlerFailed, PlainText(503, "internal error"));
    failed.headers.emplace_back("Retry-After", "1");
    return failed;
  }
}

}  // namespace

Result<Router> Router::Make(std::vector<HttpRoute> routes) {
  for (const HttpRoute& route : routes) {
    const bool has_one_handler = bool(route.handler) != bool(route.deferring);
    if (!has_one_handler || route.method.empty() || route.path.empty() ||
        route.path.front() != '/') {
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

bool Router::Answer(const RequestHead& head, HttpRequest& request, const HttpDefer& defer,
                    WrittenReply& reply) const {
  const auto response = AnswerOrFailure([&] { return Route(head, request, defer, reply); }, reply);
  if (response.has_value()) AppendReply(*response, head, reply);
  return response.has_value();
}

uint64_t Router::BodyBytesMax(const RequestHead& head) const {
  HttpRequest request;
  ReadTarget(TargetOf(head), request);
  const HttpRoute* route = Find(head.method, request.path).route;
  const bool is_limited = route != nullptr && route->body_bytes_max > 0;
  return is_limited ? route->body_bytes_max : std::numeric_limits<uint64_t>::max();
}

void Router::Resume(const HttpContinuation& answer, const RequestHead& head, WrittenReply& reply) {
  AppendReply(*AnswerOrFailure(answer, reply), head, reply);
}

std::optional<HttpResponse> Router::Route(const RequestHead& head, HttpRequest& request,
                                          const HttpDefer& defer, WrittenReply& reply) const {
  const std::string_view target = TargetOf(head);
  if (target.size() > kTargetBytesMax) {
    return Refuse(reply, HttpRejection::kBadRequest, PlainText(414, "request target too long"));
  }
  request.method = head.method;
  ReadTarget(target, request);
  const Match match = Find(request.method, request.path);
  if (match.route == nullptr) return NotFound(reply, match.allow);
  // Nobody unpacks: a few bytes could become any number, behind the limit of the body.
  const std::string_view coding = request.Header("content-encoding");
  if (!coding.empty() && coding != "identity") {
    return Refuse(reply, HttpRejection::kMediaType,
                  RouteProblem(415, "a Content-Encoding is not supported",
                               "send the body without Content-Encoding"));
  }
  const std::string& media_type = match.route->media_type;
  if (!media_type.empty() && !HasMediaType(request.Header("content-type"), media_type)) {
    return Refuse(reply, HttpRejection::kMediaType,
                  RouteProblem(415, "the Content-Type is missing or another one",
                               "send Content-Type: " + media_type));
  }
  if (match.route->handler) return match.route->handler(request);
  return match.route->deferring(request, defer);
}

std::string ShortReply(int status, std::string_view line, bool keep_alive) {
  HttpResponse response = PlainText(status, line);
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  WrittenReply reply;
  reply.keep_alive = keep_alive;
  AppendReply(response, {}, reply);
  return std::move(reply.bytes);
}

}  // namespace truce
