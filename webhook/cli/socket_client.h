// A client for the operator socket: one request, one answer.
#ifndef TRUCE_WEBHOOK_CLI_SOCKET_CLIENT_H_
#define TRUCE_WEBHOOK_CLI_SOCKET_CLIENT_H_

#include <string>
#include <string_view>

#include "registry/base/clock.h"
#include "registry/base/result.h"

namespace truce {

struct SocketAnswer {
  int status = 0;
  std::string body;
};

// POSTs the JSON text `body` to `path` at the Unix socket `socket`; GETs it when `body` is empty.
// Errors: kUnavailable (no server listens there, it closed early, or the answer is no HTTP);
//   kDeadlineExceeded (the outcome is unknown); kInvalidArgument (path of the socket too long).
// Blocks at most until `deadline`.
Result<SocketAnswer> AskSocket(const std::string& socket, std::string_view path,
                               std::string_view body, Deadline deadline);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_SOCKET_CLIENT_H_
