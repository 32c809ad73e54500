// One HTTP call at a time on a pooled connection: cpp-httplib's client over ServerConnection.
#ifndef TRUCE_WEBHOOK_KUBE_HTTP_CALL_H_
#define TRUCE_WEBHOOK_KUBE_HTTP_CALL_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "webhook/kube/cluster_api.h"
#include "webhook/kube/response_reader.h"
#include "webhook/kube/session.h"

namespace truce {

struct HttpCall {
  std::string method = "GET";
  std::string target;  // path and query, without the server's prefix
  std::string accept = "application/json";
  std::string content_type;  // of the body; empty: there is none
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};  // further ones
  // Given the body of a 200 as it comes, instead of HttpReply::body, however long it is; false:
  // no more. It also gets the bytes that came before an error.
  std::function<bool(std::string_view)> receive = {};
};

struct HttpReply {
  ResponseHead head;
  std::string body;  // its capacity exceeds its size by at least kJsonPadding
};

struct HttpPoolOptions {
  std::size_t calls_max = 8;
  std::size_t response_bytes_max = 64 * 1024 * 1024;
};

// Thread-safe.
class HttpPool final {
 public:
  HttpPool(std::shared_ptr<ServerSession> session, HttpPoolOptions options);
  ~HttpPool();
  HttpPool(const HttpPool&) = delete;
  HttpPool& operator=(const HttpPool&) = delete;

  // The server's answer of whatever status, asked for as `state` says. A GET on a kept connection
  // that turns out to be dead is repeated on a new one. Errors: kUnreachable, kTimeout, kMalformed
  // (not HTTP, cut, too large, compressed, not wanted by `receive`). Blocks at most until
  // `deadline`.
  ApiResult<HttpReply> Do(const HttpCall& call, std::shared_ptr<const SessionState> state,
                          Deadline deadline);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_HTTP_CALL_H_
