// The seam to cpp-httplib: a complete request in, the bytes of its reply out.
#ifndef TRUCE_WEBHOOK_HTTP_ENGINE_H_
#define TRUCE_WEBHOOK_HTTP_ENGINE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "webhook/http/http.h"
#include "webhook/http/request_head.h"
#include "webhook/http/router.h"
#include "webhook/http/server.h"

namespace truce {

// What became of one request.
struct EngineReply {
  std::string bytes;                       // status line, fields, body
  std::optional<HttpRejection> rejection;  // when no handler answered, or it threw
};

// cpp-httplib reads the request line, decodes path and query, and writes the reply; routes are
// matched in its pre-routing hook. It sees neither header fields nor bodies nor sockets.
// Thread-safe.
class HttpEngine final {
 public:
  explicit HttpEngine(Router router);
  ~HttpEngine();
  HttpEngine(const HttpEngine&) = delete;
  HttpEngine& operator=(const HttpEngine&) = delete;

  // Lets the route's handler answer. `request` holds everything but method, path and query, which
  // are set here; `keep_alive` decides the reply's Connection field. The bytes of `reply` are
  // replaced, its storage reused.
  void Answer(const RequestHead& head, HttpRequest& request, bool keep_alive,
              EngineReply& reply) const;

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

// A reply made without the library, for requests that it must not see and for overload.
std::string ShortReply(int status, std::string_view line, bool keep_alive);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_ENGINE_H_
