#include <nlohmann/json.hpp>
#include <ostream>

#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/operator_call.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

struct BrakeArguments {
  std::string verb = "status";
  std::string kind;
  std::string reason;
};

std::string Field(const nlohmann::json& json, const char* name) {
  return json.is_object() ? json.value(name, std::string()) : std::string();
}

std::string BrakeText(const std::string& answer) {
  const auto json = ParseJson(answer);
  if (!json.is_object()) return "unknown\n";
  std::string out = std::to_string(json.value("nominated", 0)) +
                    " objects are missing from their lists, " +
                    std::to_string(json.value("heldBack", 0)) + " of them are held back\n";
  for (const auto& frozen : json.value("frozen", nlohmann::json::array())) {
    out += "frozen   " + Field(frozen, "kind") + ": " + Field(frozen, "reason") + "\n";
  }
  for (const auto& waiting : json.value("waiting", nlohmann::json::array())) {
    out += "waiting  " + Field(waiting, "kind") + ": " +
           std::to_string(waiting.value("objects", 0)) + " objects since " +
           Field(waiting, "since") + ", for a second list\n";
  }
  return out;
}

}  // namespace

CommandAction DeclareBrake(CommandLine& app) {
  const auto flags = AddConfigFlags(app, {"dataDir"});
  const auto arguments = std::make_shared<BrakeArguments>();
  app.AddOption("VERB", arguments->verb, "status (the default) or release")
      .OneOf({"status", "release"});
  app.AddOption("--kind", arguments->kind,
                "release: only this kind, as Bucket.s3.aws.upbound.io; default all");
  app.AddOption("--reason", arguments->reason, "release: why; stands in the audit log");
  app.Footer(
      "Examples:\n"
      "  truce brake\n"
      "  truce brake release --reason 'the namespace was deleted on purpose'\n");
  return [flags, arguments](CommandIo& io) {
    const bool releases = arguments->verb == "release";
    if (!releases) {
      const OperatorReply reply = CallOperator(*flags, {"/api/v1/brake", {}}, io);
      if (reply.code == ExitCode::kOk) io.out << BrakeText(reply.answer);
      return reply.code;
    }
    if (arguments->reason.empty()) return Complain(io, "say why with --reason", ExitCode::kUsage);
    nlohmann::json body{{"reason", arguments->reason}};
    if (!arguments->kind.empty()) body["kind"] = arguments->kind;
    const std::string text = Dump(body);
    const OperatorReply reply = CallOperator(*flags, {"/api/v1/brake/release", text}, io);
    if (reply.code != ExitCode::kOk) return reply.code;
    const auto json = ParseJson(reply.answer);
    const int released = json.is_object() ? json.value("released", 0) : 0;
    io.out << "the brake lets " << released
           << " objects go; each is released after it was looked at once more\n";
    return ExitCode::kOk;
  };
}

}  // namespace truce
