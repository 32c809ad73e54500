// The one way in which commands ask a running server: over the network or beside it.
#ifndef TRUCE_WEBHOOK_CLI_SERVER_API_CALL_H_
#define TRUCE_WEBHOOK_CLI_SERVER_API_CALL_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/cli/command.h"
#include "webhook/cli/config_flags.h"
#include "webhook/kube/server_settings.h"

namespace truce {

class CommandLine;

// The server, and the caller's credentials for it (FindServer in server_finder.h): an address with
// a token and an authority, a Service behind the API server, or DIR/truce.sock of --data-dir, which
// needs no token.
struct ApiFlags {
  std::shared_ptr<ConfigFlags> config;
  bool beside_only = false;  // of a command that only an operator has: never over the network
  std::string server = {};
  std::string token_file = {};
  std::string ca_file = {};
  std::string via = {};
  std::string account = {};
  std::string kubeconfig = {};
  std::string context = {};
  std::string as = {};                      // whom the API server is to take the caller for
  std::vector<std::string> as_groups = {};  // in place of that user's own
};
// With the flags of the settings `settings`, which must hold dataDir.
std::shared_ptr<ApiFlags> AddApiFlags(CommandLine& app,
                                      std::initializer_list<std::string_view> settings = {
                                          "dataDir"});
// The same without the flags that lead over the network.
std::shared_ptr<ApiFlags> AddOperatorFlags(CommandLine& app,
                                           std::initializer_list<std::string_view> settings = {
                                               "dataDir"});

using Parameters = std::vector<std::pair<std::string, std::string>>;

// One call: path and parameters, which are encoded here.
struct ApiQuestion {
  std::string path;
  Parameters parameters = {};  // empty values are left out
  std::string body = {};       // JSON; empty: none
  std::string method = {};     // empty: GET, with a body POST
  std::string if_match = {};   // an entity tag; empty: none
  Parameters headers = {};     // further fields, in place of Content-Type too
  std::string list = "items";  // the member that AskForList demands of the answer
  std::chrono::seconds within{30};
  // Given the body of a 200 as it comes, instead of ApiResponse::body; false: no more.
  std::function<bool(std::string_view)> receive = {};
};

// An answer of the API.
struct ApiResponse {
  int status = 0;
  std::string body;
  std::optional<std::chrono::milliseconds> retry_after;
  std::vector<std::string> warnings = {};  // of an API server, one line each
  std::string content_type = {};
  Parameters headers = {};  // those of the answer that no other member has, names lower-case
};

// The server that the flags name. Thread-safe when it comes from Open, else external
// synchronization.
class ApiConnection {
 public:
  virtual ~ApiConnection() = default;
  // Blocks for at most 30 s. Errors: kInvalidArgument: an address that is none, a file of token or
  // authority that cannot be read, nothing to show; kConflict, kUnavailable: the API server gives
  // no token, by its status.
  static Result<std::unique_ptr<ApiConnection>> Open(const ApiFlags& flags, const CommandIo& io);

  // The address, or the path of the socket.
  virtual const std::string& name() const = 0;
  // The prefix of every path on the way: of a Service behind the API server; else nothing.
  virtual std::string_view prefix() const { return {}; }
  // Blocks at most until `deadline`.
  // Errors: kUnavailable; kNotFound: there is no such socket; kInvalidArgument: its certificate is
  // not accepted, with what to do. After the last two another attempt will not help.
  virtual Result<ApiResponse> Send(const ApiQuestion& question, Deadline deadline) = 0;
};

// Detail and remedy of a problem (RFC 9457), or the message of an API server's Status, on one line.
std::string ProblemText(const std::string& body, int status);

// With status 200 or 201 `answer` is the body and the code is kOk; otherwise a message was written
// and the code says what it means. Blocks for at most `question.within`.
struct ApiReply {
  ExitCode code = ExitCode::kOk;
  std::string answer;
  int status = 0;  // of HTTP; 0: no answer
};
ApiReply AskApi(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io);

// The answer; else what the command ends with, after a complaint.
using Asked = Result<nlohmann::json, ExitCode>;

// Says that the answer is not what such a question is answered with: kUnreachable.
ExitCode NoServer(CommandIo& io);
// Asks for a JSON object; an answer that is none is NoServer.
Asked AskForObject(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io);
// Asks for an object with the list `question.list`.
Asked AskForList(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io);

// A list that comes page by page.
struct ApiList {
  ApiQuestion question = {};
  std::size_t items_max = 100'000;
  const char* counted = "found";  // the unit of a line of progress; null: there is none
};
// Hands on each item as it comes, until `take` says false.
ExitCode AskForEach(const ApiFlags& flags, const ApiList& list, CommandIo& io,
                    const std::function<bool(const nlohmann::ordered_json&)>& take);
// All items.
Asked AskForItems(const ApiFlags& flags, const ApiList& list, CommandIo& io);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_SERVER_API_CALL_H_
