#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/operator_call.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

struct ConfirmArguments {
  std::string kind;  // KIND.GROUP
  std::string name;  // [NAMESPACE/]NAME
  std::string cluster;
  std::string key;
};

// The request's body, or nothing when the arguments name neither an object nor a key.
std::optional<std::string> ConfirmBody(const ConfirmArguments& arguments) {
  nlohmann::json body;
  if (!arguments.key.empty()) {
    if (!arguments.kind.empty()) return std::nullopt;
    body["key"] = arguments.key;
    return Dump(body);
  }
  const std::size_t dot = arguments.kind.find('.');
  if (dot == std::string::npos || dot == 0 || arguments.name.empty()) return std::nullopt;
  const std::size_t slash = arguments.name.find('/');
  const bool has_namespace = slash != std::string::npos;
  nlohmann::json object;
  object["group"] = arguments.kind.substr(dot + 1);
  object["kind"] = arguments.kind.substr(0, dot);
  object["namespace"] = has_namespace ? arguments.name.substr(0, slash) : "";
  object["name"] = has_namespace ? arguments.name.substr(slash + 1) : arguments.name;
  if (!arguments.cluster.empty()) object["cluster"] = arguments.cluster;
  body["object"] = std::move(object);
  return Dump(body);
}

}  // namespace

CommandAction DeclareConfirm(CommandLine& app) {
  const auto flags = AddConfigFlags(app, {"dataDir"});
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
    const OperatorReply reply = CallOperator(*flags, {"/api/v1/confirm", *body}, io);
    if (reply.code != ExitCode::kOk) return reply.code;
    const auto answer = ParseJson(reply.answer);
    const bool is_known = answer.is_object() && answer.value("confirmed", 0) > 0;
    io.out << "confirmed " << (is_known ? answer.value("confirmed", 0) : 0) << "\n";
    return ExitCode::kOk;
  };
}

}  // namespace truce
