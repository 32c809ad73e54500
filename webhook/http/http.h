// HTTP as handlers see it: requests, responses, routes. No sockets, no TLS, no third-party types.
#ifndef TRUCE_WEBHOOK_HTTP_HTTP_H_
#define TRUCE_WEBHOOK_HTTP_HTTP_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/clock.h"

namespace truce {

// One header field. The name is lower-case; the value is trimmed and otherwise as it was sent (it
// is never percent-decoded, and holds no control character but a tab).
struct HttpField {
  std::string_view name;
  std::string_view value;

  bool operator==(const HttpField&) const = default;
};

// A body that is sent piece by piece, for what is too large for memory. One thread at a time.
class HttpBody {
 public:
  virtual ~HttpBody() = default;
  virtual std::uint64_t size() const = 0;  // bytes of the whole, said before
  // The next piece, not empty; the pieces are `size` bytes together. Nothing: it cannot be read,
  // and the connection ends, so that nobody takes a part for the whole. Waits are marked by a
  // BlockingRegion.
  virtual std::optional<std::string> Next() = 0;
};

// A handler's answer. Content-Length and Connection are the server's business. A field with a
// control character in name or value is left out.
struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  // Instead of `body`; lives until it is sent or the connection has ended.
  std::shared_ptr<HttpBody> pieces = {};

  bool operator==(const HttpResponse&) const = default;
};

// The work that is left for an answer.
using HttpContinuation = std::function<HttpResponse()>;

// Gives the answer to a request whose handler has returned without one: a thread of the server
// calls `answer` and sends what it returns. Thread-safe; never blocks. Without effect when the
// deadline came first, the connection is gone, or it was called before.
using HttpResume = std::function<void(HttpContinuation answer)>;

// The fate of a deferred answer when the caller hangs up.
enum class WhenHungUp {
  kAnswer,  // it is made all the same: making it is worth something by itself
  kForget,  // the connection ends at once
};

// Leaves the answer of a request for later, at most once. Of `at_deadline` and the continuation
// that the result gets exactly one is called, after the handler has returned; none when the
// connection ends before. Exceptions: as of handlers.
using HttpDefer =
    std::function<HttpResume(Deadline deadline, HttpContinuation at_deadline, WhenHungUp hung_up)>;

// A whole request: head and body have arrived and were checked (DESIGN.md, "Bad requests").
// Belongs to one handler call: views in it end with that call. External synchronization.
struct HttpRequest {
  std::string method;  // upper-case; one of the methods of RFC 9110, or PATCH
  std::string path;    // percent-decoded, without query; begins with '/'
  std::vector<std::pair<std::string, std::string>> query;  // decoded; equal names in their order
  std::vector<HttpField> headers;                          // in order of arrival
  // The body may be moved away. Its capacity exceeds its size by at least kBodyPadding bytes, so a
  // parser that reads past the end (simdjson) needs no copy.
  std::string body;
  // The name by which a verified client certificate was allowed (a DNS or URI name of the SAN, or
  // the common name); nothing when the client showed none or none of its names is allowed.
  std::optional<std::string> client_name;
  std::string remote_address;  // "192.0.2.7", "2001:db8::7"; "unix" on a Unix socket
  // Set by handlers to whom the caller has shown the right secret or token: its connection gives
  // way to no other from then on.
  bool caller_proven = false;
  Deadline arrival{};   // when the first byte of the request was read
  Deadline deadline{};  // when the answer is worthless: arrival + HttpLimits::handler_timeout
  HttpDefer defer;      // for the time of the call

  static constexpr size_t kBodyPadding = 64;  // SIMDJSON_PADDING

  // The value of the first field of that (lower-case) name, or an empty view.
  std::string_view Header(std::string_view name) const;
  // The value of the first query parameter of that name, or nothing.
  std::optional<std::string_view> Query(std::string_view name) const;
};

// Answers one request; or nothing, having deferred the answer. Called by several threads at once;
// computes, and marks its waits by a BlockingRegion (registry/base/threads.h). An exception becomes
// 503 with Retry-After: 1, and its text is not sent.
using HttpHandler = std::function<std::optional<HttpResponse>(HttpRequest&)>;

enum class RouteMatch {
  kExact,   // the path is `path`
  kPrefix,  // the path begins with `path`
};

// One method at one path. An exact route wins over a prefix, a longer prefix over a shorter one.
// A GET route answers HEAD too. A path known with other methods only is 405 with Allow, else 404.
struct HttpRoute {
  std::string method;  // upper-case
  std::string path;    // begins with '/'
  RouteMatch match = RouteMatch::kExact;
  // When set, a request whose Content-Type is not this media type (parameters ignored) is 415.
  std::string media_type;
  HttpHandler handler;
  // Body bytes; beyond: 413, refused from the header. 0: the listener's limit, which holds anyway.
  size_t body_bytes_max = 0;
};

// X-Request-Id of an answer: the caller's own, when it fits in a header and a log, at most 64
// letters, digits, '-', '_' and '.'; else a fresh one.
std::string RequestIdOf(const HttpRequest& request);
// The routes with that field in each answer that has none yet and is not deferred.
std::vector<HttpRoute> WithRequestIds(std::vector<HttpRoute> routes);

// The answer to a request that no route takes (404, 405, 415), as application/problem+json, in the
// same form as the API's problems. `detail` and `remedy` must hold nothing that JSON escapes.
HttpResponse RouteProblem(int status, std::string_view detail, std::string_view remedy);

// A response with a one-line text body, e.g. PlainText(404, "no such path").
HttpResponse PlainText(int status, std::string_view line);

// The number of requests without a valid proof of their sender, by the missing proof. Thread-safe.
struct RefusedCallers {
  enum Cause : std::size_t {
    kPath,         // of the admission listener: the path's secret
    kCertificate,  // the client certificate
    kBearer,       // the admission listener's bearer token
    kToken,  // of the API: a token or certificate that is no good; a missing one is no attempt
    kCauses
  };
  static constexpr std::array<std::string_view, kCauses> kNames = {"path", "certificate", "bearer",
                                                                   "token"};

  std::array<std::atomic<std::uint64_t>, kCauses> counts{};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_HTTP_H_
