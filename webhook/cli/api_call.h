// Commands that use a running server's REST API, over the network or beside it.
#ifndef TRUCE_WEBHOOK_CLI_API_CALL_H_
#define TRUCE_WEBHOOK_CLI_API_CALL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "webhook/cli/command.h"
#include "webhook/cli/config_flags.h"

namespace truce {

// Where the server is and what the caller shows it. With --server (else TRUCE_SERVER) it is the API
// at that address, with the token of --token-file (else TRUCE_TOKEN_FILE) and the authority of
// --ca-file (else TRUCE_CA_FILE, else the system's); otherwise DIR/truce.sock of --data-dir, which
// needs no token.
struct ApiFlags {
  std::shared_ptr<ConfigFlags> config;
  std::string server;
  std::string token_file;
  std::string ca_file;
};
std::shared_ptr<ApiFlags> AddApiFlags(CLI::App& app);

// One call: path and parameters, which are encoded here.
struct ApiQuestion {
  std::string path;
  std::vector<std::pair<std::string, std::string>> parameters;  // empty values are left out
  std::string body = {};                                        // JSON; empty: none
  std::string method = {};                                      // empty: GET, with a body POST
  std::string if_match = {};                                    // an entity tag; empty: none
};

// With status 200 or 201 `answer` is the body and the code is kOk; otherwise a message was written
// and the code says what it means. Blocks for at most 30 s.
struct ApiReply {
  ExitCode code = ExitCode::kOk;
  std::string answer;
};
ApiReply AskApi(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_API_CALL_H_
