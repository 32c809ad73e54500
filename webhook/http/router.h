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
  bool keep_alive = false;                 // set beforehand, by the Connection field
  std::string bytes;                       // status line, fields, body
  std::shared_ptr<HttpBody> pieces;        // of the body, instead: those still to come
  std::uint64_t pieces_left = 0;           // bytes of it
  std::optional<HttpRejection> rejection;  // when no handler answered, or it threw
};

// Immutable, hence thread-safe. cpp-httplib decodes path and query and knows the reasons of status
// codes; it sees neither header fields nor bodies nor sockets.
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

  // How many bytes of body the route of that head takes; without one, whatever the listener takes.
  std::uint64_t BodyBytesMax(const RequestHead& head) const;

  // Lets the route's handler answer. `request` holds everything but method, path and query, which
  // are set here. The bytes of `reply` are replaced, its storage reused; a field that could not be
  // sent (a line end in it) is left out. False: the handler returned without an answer, and `reply`
  // is empty.
  bool Answer(const RequestHead& head, HttpRequest& request, const HttpDefer& defer,
              WrittenReply& reply) const;

  // The same for an answer that was left for later.
  static void Resume(const HttpContinuation& answer, const RequestHead& head, WrittenReply& reply);

 private:
  explicit Router(std::vector<HttpRoute> routes) : routes_(std::move(routes)) {}

  std::optional<HttpResponse> Route(const RequestHead& head, HttpRequest& request,
                                    const HttpDefer& defer, WrittenReply& reply) const;

  std::vector<HttpRoute> routes_;  // the first that matches wins
};

// A reply to a request that is not routed: malformed ones, and overload.
std::string ShortReply(int status, std::string_view line, bool keep_alive);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_ROUTER_H_
