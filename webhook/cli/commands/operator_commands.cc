// confirm, recovery, brake: only for an operator beside the server.
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "registry/base/counted.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

struct ConfirmArguments {
  std::string kind;  // KIND.GROUP
  std::string name;  // [NAMESPACE/]NAME
  std::string cluster;
  std::string key;
};

// The request's body, or nothing when the arguments name neither an object nor a key.
std::optional<std::string> ConfirmBody(const ConfirmArguments& arguments) {
  Json body;
  if (!arguments.key.empty()) {
    if (!arguments.kind.empty()) return std::nullopt;
    body["key"] = arguments.key;
    return Dump(body);
  }
  const std::size_t dot = arguments.kind.find('.');
  if (dot == std::string::npos || dot == 0 || arguments.name.empty()) return std::nullopt;
  const std::size_t slash = arguments.name.find('/');
  const bool has_namespace = slash != std::string::npos;
  Json object;
  object["group"] = arguments.kind.substr(dot + 1);
  object["kind"] = arguments.kind.substr(0, dot);
  object["namespace"] = has_namespace ? arguments.name.substr(0, slash) : "";
  object["name"] = has_namespace ? arguments.name.substr(slash + 1) : arguments.name;
  if (!arguments.cluster.empty()) object["cluster"] = arguments.cluster;
  body["object"] = std::move(object);
  return Dump(body);
}

struct RecoveryArguments {
  std::string verb = "status";
  std::string reason;
  bool force = false;
};

std::string RecoveryText(const Json& answer) {
  if (!answer.value("active", false)) return "not in recovery mode: conflicts are denied\n";
  std::string out = "in recovery mode since " + TextIn(answer, "since") + ": " +
                    TextIn(answer, "reason") + "\nconflicts only warn; a full resync is ";
  if (answer.value("resynced", false)) {
    return out + "done: look at `truce conflicts`, then `truce recovery finish`\n";
  }
  out += "still running\n";
  for (const Json& each : answer.value("waiting", Json::array())) {
    out += "waiting  " + TextIn(each, "kind") + ": " + TextIn(each, "why") + "\n";
  }
  return out;
}

struct BrakeArguments {
  std::string verb = "status";
  std::string kind;
  std::string reason;
};

std::string BrakeText(const Json& answer) {
  std::string out =
      Counted(answer.value("nominated", 0), "object is missing from its list, ",
              "objects are missing from their lists, ") +
      Counted(answer.value("heldBack", 0), "of them is held back\n", "of them are held back\n");
  for (const Json& frozen : answer.value("frozen", Json::array())) {
    out += "frozen   " + TextIn(frozen, "kind") + ": " + TextIn(frozen, "reason") + "\n";
  }
  for (const Json& waiting : answer.value("waiting", Json::array())) {
    out += "waiting  " + TextIn(waiting, "kind") + ": " +
           Counted(waiting.value("objects", 0), "object") + " since " + TextIn(waiting, "since") +
           ", for a second list\n";
  }
  return out;
}

}  // namespace

CommandAction DeclareConfirm(CommandLine& app) {
  const auto flags = AddOperatorFlags(app);
  const auto arguments = std::make_shared<ConfirmArguments>();
  app.AddOption("KIND", arguments->kind, "KIND.GROUP, as Bucket.s3.aws.upbound.io");
  app.AddOption("NAME", arguments->name, "[NAMESPACE/]NAME of the object");
  app.AddOption("--cluster", arguments->cluster, "Cluster of the object; default the server's own");
  app.AddOption("--key", arguments->key, "Key of the resource, instead of an object");
  app.Footer(
      "Example:\n"
      "  truce confirm ObjectStorage.platform.example.org team-a/artifacts\n");
  return [flags, arguments](CommandIo& io) {
    const std::optional<std::string> body = ConfirmBody(*arguments);
    if (!body.has_value()) {
      return Complain(io, "name either an object, as Bucket.s3.aws.upbound.io NAME, or a --key",
                      ExitCode::kUsage);
    }
    TRUCE_ASSIGN_OR_RETURN(
        const Json answer,
        AskForObject(*flags, {.path = "/api/v1/reservations:confirm", .body = *body}, io));
    io.out << "confirmed " << answer.value("confirmed", 0) << "\n";
    return ExitCode::kOk;
  };
}

CommandAction DeclareRecovery(CommandLine& app) {
  const auto flags = AddApiFlags(app);
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
    ApiQuestion question{"/api/v1/recovery"};
    if (arguments->verb != "status") question.path += "/" + arguments->verb;
    if (starts) question.body = Dump(Json{{"reason", arguments->reason}});
    if (arguments->verb == "finish") question.body = Dump(Json{{"force", arguments->force}});
    TRUCE_ASSIGN_OR_RETURN(const Json answer, AskForObject(*flags, question, io));
    io.out << Lines(RecoveryText(answer));
    return ExitCode::kOk;
  };
}

CommandAction DeclareBrake(CommandLine& app) {
  const auto flags = AddApiFlags(app);
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
    if (releases && arguments->reason.empty()) {
      return Complain(io, "say why with --reason", ExitCode::kUsage);
    }
    ApiQuestion question{"/api/v1/brake"};
    if (releases) {
      question.path += "/release";
      Json body{{"reason", arguments->reason}};
      if (!arguments->kind.empty()) body["kind"] = arguments->kind;
      question.body = Dump(body);
    }
    TRUCE_ASSIGN_OR_RETURN(const Json answer, AskForObject(*flags, question, io));
    if (releases) {
      io.out << "the brake lets " << Counted(answer.value("released", 0), "object")
             << " go; each is released after it was looked at once more\n";
    } else {
      io.out << Lines(BrakeText(answer));
    }
    return ExitCode::kOk;
  };
}

}  // namespace truce
