// Router: a complete request in, the bytes of its reply out; the seam to cpp-httplib.
#ifndef TRUCE_WEBHOOK_HTTP_ROUTER_H_
#define TRUCE_WEBHOOK_HTTP_ROUTER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/result.h"
#include "webhook/http/http.h"
#include "webhook/http/request_head.h"
#include "webhook/http/server.h"

namespace truce {

// The reply to one request.
struct WrittenReply {
  std::string bytes;                       // status line, fields, body
  std::shared_ptr<HttpBody> pieces;        // of the body, instead: those still to come
  std::uint64_t pieces_left = 0;           // bytes of it
  std::optional<HttpRejection> rejection;  // when no handler answered, or it threw
};

// Immutable, hence thread-safe. cpp-httplib decodes path and query and knows the reasons of status
// codes; it sees neither header fields nor bodies nor sockets.
class Router final {
 public:
  // Errors: kInvalidArgument (a route without handler, method or leading '/', or given twice).
  static Result<Router> Make(std::vector<HttpRoute> routes);

  struct Match {
    const HttpRoute* route = nullptr;  // null: nobody answers this method here
    std::string allow;                 // then: the methods that somebody answers; empty: none (404)
  };
  Match Find(std::string_view method, std::string_view path) const;
  // The same for a whole head; sets method, path and query of `request`.
  Match Find(const RequestHead& head, HttpRequest& request) const;

 private:
  explicit Router(std::vector<HttpRoute> routes) : routes_(std::move(routes)) {}

  std::vector<HttpRoute> routes_;  // the first that matches wins
};

// Lets the route's handler answer, or says why none does. Nothing: the handler returned without an
// answer. A field that could not be sent (a line end in it) is left out.
std::optional<WrittenReply> Answer(const Router::Match& match, const RequestHead& head,
                                   HttpRequest& request);

// The same for an answer that was left for later.
WrittenReply Answer(const HttpContinuation& answer, const RequestHead& head);

// The reply to a request that is not routed: malformed ones, and overload.
WrittenReply Answer(const HeadRefusal& refusal, const RequestHead& head);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_ROUTER_H_
