#include <nlohmann/json.hpp>
#include <ostream>

#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/operator_call.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

struct RecoveryArguments {
  std::string verb = "status";
  std::string reason;
  bool force = false;
};

std::string RecoveryText(const std::string& answer) {
  const auto json = ParseJson(answer);
  if (!json.is_object()) return "unknown\n";
  if (!json.value("active", false)) return "not in recovery mode: conflicts are denied\n";
  return "in recovery mode since " + json.value("since", std::string()) + ": " +
         json.value("reason", std::string()) + "\nconflicts only warn; a full resync is " +
         (json.value("resynced", false)
              ? "done: look at `truce conflicts`, then `truce recovery finish`\n"
              : "still running\n");
}

}  // namespace

CommandAction DeclareRecovery(CommandLine& app) {
  const auto flags = AddConfigFlags(app, {"dataDir"});
  const auto arguments = std::make_shared<RecoveryArguments>();
  app.AddOption("VERB", arguments->verb, "status (the default), start or finish")
      .OneOf({"status", "start", "finish"});
  app.AddOption("--reason", arguments->reason, "start: why; stands in the audit log");
  app.AddFlag("--force", arguments->force, "finish: also before a full resync is done");
  app.Footer(
      "Examples:\n"
      "  truce recovery\n"
      "  truce recovery start --reason 'restored from yesterday'\n"
      "  truce recovery finish\n");
  return [flags, arguments](CommandIo& io) {
    const bool starts = arguments->verb == "start";
    if (starts && arguments->reason.empty()) {
      return Complain(io, "say why with --reason", ExitCode::kUsage);
    }
    std::string path = "/api/v1/recovery";
    nlohmann::json body;
    if (starts) body["reason"] = arguments->reason;
    if (arguments->verb == "finish") body["force"] = arguments->force;
    if (!body.is_null()) path += "/" + arguments->verb;
    const std::string text = body.is_null() ? std::string() : Dump(body);
    const OperatorReply reply = CallOperator(*flags, {path, text}, io);
    if (reply.code != ExitCode::kOk) return reply.code;
    io.out << RecoveryText(reply.answer);
    return ExitCode::kOk;
  };
}

}  // namespace truce
