// A complete request in, the bytes of its reply out; the seam to cpp-httplib.
#ifndef TRUCE_WEBHOOK_HTTP_ENGINE_H_
#define TRUCE_WEBHOOK_HTTP_ENGINE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "webhook/http/http.h"
#include "webhook/http/request_head.h"
#include "webhook/http/router.h"
#include "webhook/http/server.h"

namespace truce {

// What became of one request.
struct EngineReply {
  bool keep_alive = false;                 // set beforehand: what the Connection field says
  std::string bytes;                       // status line, fields, body
  std::shared_ptr<HttpBody> pieces;        // of the body, instead: what is still to come
  std::uint64_t pieces_left = 0;           // bytes of it
  std::optional<HttpRejection> rejection;  // when no handler answered, or it threw
};

// Routes a request and writes its reply, without the fields of it that could not be sent (a line
// end in one). cpp-httplib decodes path and query and knows the reasons of status codes; it sees
// neither header fields nor bodies nor sockets. Thread-safe.
class HttpEngine final {
 public:
  explicit HttpEngine(Router router) : router_(std::move(router)) {}
  HttpEngine(const HttpEngine&) = delete;
  HttpEngine& operator=(const HttpEngine&) = delete;

  // Lets the route's handler answer. `request` holds everything but method, path and query, which
  // are set here. The bytes of `reply` are replaced, its storage reused. False: the handler
  // returned without an answer, and `reply` is empty.
  bool Answer(const RequestHead& head, HttpRequest& request, HttpDeferral& deferral,
              EngineReply& reply) const;

  // How many bytes of body the route of that head takes; without one, whatever the listener takes.
  uint64_t BodyBytesMax(const RequestHead& head) const;

  // The same for an answer that was left for later.
  void Resume(const HttpContinuation& answer, const RequestHead& head, EngineReply& reply) const;

 private:
  std::optional<HttpResponse> Route(const RequestHead& head, HttpRequest& request,
                                    HttpDeferral& deferral, EngineReply& reply) const;

  const Router router_;
};

// A reply to a request that is not routed: malformed ones, and overload.
std::string ShortReply(int status, std::string_view line, bool keep_alive);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_ENGINE_H_
