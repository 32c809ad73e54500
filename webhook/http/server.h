// One listener: sockets, TLS, limits and threads of its own, so that none can starve another.
#ifndef TRUCE_WEBHOOK_HTTP_SERVER_H_
#define TRUCE_WEBHOOK_HTTP_SERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "certs/certificate_store.h"
#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/http/http.h"

namespace truce {

// Everything a client can make the server hold is bounded here.
struct HttpLimits {
  size_t head_bytes_max = 16 * 1024;        // request line and header block; beyond: 431
  size_t field_count_max = 64;              // header fields; beyond: 431
  size_t body_bytes_max = 8 * 1024 * 1024;  // one body; beyond: 413, refused from the header
  // Of all bodies over kSmallBodyBytes, what has come, waits or is handled; beyond: 503.
  size_t body_bytes_in_flight_max = 64 * 1024 * 1024;
  // Bodies over kSmallBodyBytes inside handlers at once; further ones wait, in their order, until
  // handler_timeout (503).
  int large_bodies_max = 2;
  // Beyond, and where the process can open no more files: the oldest unfinished handshake or
  // request gives way, then what has been idle for longest, else the new one is closed. Proven
  // callers never give way.
  int connections_max = 1024;
  // Connections from one address whose caller has not proven who it is (HttpRequest::caller_proven,
  // or an allowed certificate); beyond, one of them gives way.
  int connections_per_source_max = 512;
  int in_flight_max = 128;  // requests inside handlers; beyond: 503 with Retry-After: 1
  // TLS handshake, and head with body from the first byte of the request; beyond: closed or 408.
  std::chrono::milliseconds request_timeout{5000};
  // A connection between two requests. Longer than the 90 s of the API server, which must be the
  // one that closes, or a request on its way meets a closed connection.
  std::chrono::milliseconds idle_timeout{120000};
  std::chrono::milliseconds write_timeout{5000};     // a whole reply; beyond: closed
  std::chrono::milliseconds handler_timeout{10000};  // advice to handlers: HttpRequest::deadline

  static constexpr size_t kSmallBodyBytes = 64 * 1024;
};

enum class ClientAuth {
  kNone,      // no certificate is asked for
  kOptional,  // asked for and, when shown, verified; handlers look at HttpRequest::client_name
  kRequired,  // no handshake without a verified one; a name that is not allowed is answered 403
};

struct HttpServerOptions {
  // Where to listen: "HOST:PORT", "[::1]:8443", ":8080" (all addresses), port 0 for any free one;
  // or "unix:PATH" for a socket of mode 0600.
  std::string address;
  std::string name;  // for messages and thread names: "admission"; at most 10 characters
  const CertificateStore* certificates = nullptr;  // null: plain HTTP; else must outlive the server
  ClientAuth client_auth = ClientAuth::kNone;  // other than kNone needs a client CA in the store
  HttpLimits limits;
};

// Why something was refused; the label values of a metric.
enum class HttpRejection {
  kConnections,    // more than connections_max, or connections_per_source_max
  kInFlight,       // more than in_flight_max: 503
  kBodyBytes,      // body_bytes_in_flight_max, or no turn for a large body in time: 503
  kHandshake,      // TLS handshake failed
  kSlow,           // request_timeout or write_timeout passed
  kBadRequest,     // 400, 411, 431, 501, 505
  kBodyTooLarge,   // 413
  kMediaType,      // 415
  kNotFound,       // 404, 405
  kClientName,     // 403: client certificate with no allowed name
  kHandlerFailed,  // a handler threw
};
inline constexpr size_t kHttpRejectionCount = 11;

// The rejection's stable name ("in_flight").
std::string_view Name(HttpRejection rejection);

struct HttpCounters {
  uint64_t connections_open = 0;
  uint64_t connections_accepted = 0;
  uint64_t requests = 0;  // handled by a route, whatever the status
  uint64_t in_flight = 0;
  uint64_t threads = 0;
  uint64_t rejections[kHttpRejectionCount] = {};

  uint64_t Rejected(HttpRejection rejection) const {
    return rejections[static_cast<size_t>(rejection)];
  }
};

// An HTTP/1.1 server on one address. The process must ignore SIGPIPE. Thread-safe.
class HttpServer final {
 public:
  // Listens and serves `routes` until stopped. On return the address accepts connections.
  // Errors: kInvalidArgument (address, options or routes malformed); kConflict (address in use;
  // names
  //   it); kUnavailable (the system refused a socket or thread).
  static Result<std::unique_ptr<HttpServer>> Start(HttpServerOptions options,
                                                   std::vector<HttpRoute> routes);

  // Stops at once, and waits for handlers that still run.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The TCP port listened on; 0 on a Unix socket.
  int port() const;

  // From now on every reply carries `Connection: close`; connections are still accepted.
  // Idempotent.
  void BeginDrain();

  // Accepts no more, closes idle connections, and lets requests that have begun finish. True when
  // all were answered; false when `deadline` cut some off. Blocks at most until `deadline`, and
  // longer only for handlers that ignore theirs. Idempotent.
  bool Stop(Deadline deadline);

  HttpCounters Counters() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_SERVER_H_
