// Commands that ask a running server through its operator socket.
#ifndef TRUCE_WEBHOOK_CLI_OPERATOR_CALL_H_
#define TRUCE_WEBHOOK_CLI_OPERATOR_CALL_H_

#include <string>
#include <string_view>

#include "webhook/cli/command.h"
#include "webhook/cli/config_flags.h"

namespace truce {

// One call; `body` is JSON text, or empty for a GET.
struct OperatorCall {
  std::string_view path;
  std::string body;
  std::string_view method = {};    // empty: GET, with a body POST
  std::string_view if_match = {};  // an entity tag; empty: none
  bool with_remedy = false;        // a message says what to do, too
};

// Sends it to DIR/truce.sock of the configured data directory. With status 200 or 201 `answer` is
// the body and the code is kOk; otherwise a message was written and the code says what it means.
struct OperatorReply {
  ExitCode code = ExitCode::kOk;
  std::string answer;
  int status = 0;  // of HTTP; 0: no answer
};
OperatorReply CallOperator(const ConfigFlags& flags, const OperatorCall& call, CommandIo& io);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_OPERATOR_CALL_H_
