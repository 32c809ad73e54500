#include "webhook/http/router.h"

#include <algorithm>
#include <tuple>
#include <utility>

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

}  // namespace truce
