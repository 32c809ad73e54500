// Which route answers a request.
#ifndef TRUCE_WEBHOOK_HTTP_ROUTER_H_
#define TRUCE_WEBHOOK_HTTP_ROUTER_H_

#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"
#include "webhook/http/http.h"

namespace truce {

// Immutable, hence thread-safe. Matches without regular expressions: no recursion over input.
class Router final {
 public:
  // Errors: kInvalidArgument (a route without handler or with both kinds, without method or leading
  // '/', or given twice).
  static Result<Router> Make(std::vector<HttpRoute> routes);

  struct Match {
    const HttpRoute* route = nullptr;  // null: nobody answers this method here
    std::string allow;                 // then: the methods that somebody answers; empty: none (404)
  };
  Match Find(std::string_view method, std::string_view path) const;

 private:
  explicit Router(std::vector<HttpRoute> routes) : routes_(std::move(routes)) {}

  std::vector<HttpRoute> routes_;  // exact ones first, then prefixes, longest first
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_ROUTER_H_
