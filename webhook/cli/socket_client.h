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

struct SocketCall {
  std::string_view method;    // empty: GET, with a body POST
  std::string_view path;      // with the query, encoded
  std::string_view body;      // JSON; empty: none
  std::string_view if_match;  // an entity tag; empty: none
};

// Sends it to the Unix socket `socket`.
// Errors: kUnavailable (no server listens there, it closed early, or the answer is no HTTP);
//   kDeadlineExceeded (the outcome is unknown); kInvalidArgument (path of the socket too long).
// Blocks at most until `deadline`.
Result<SocketAnswer> AskSocket(const std::string& socket, const SocketCall& call,
                               Deadline deadline);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_SOCKET_CLIENT_H_
