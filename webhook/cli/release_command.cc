#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "webhook/cli/command.h"
#include "webhook/cli/operator_call.h"

namespace truce {
namespace {

struct ReleaseArguments {
  std::string type;
  std::string name;
  std::string account;
  std::string region;
  std::string key;
  std::string reason;
};

void SetUnlessEmpty(nlohmann::json& body, const char* member, const std::string& text) {
  if (!text.empty()) body[member] = text;
}

// One line about the resource as it was.
std::string Released(const std::string& answer) {
  const auto parsed = nlohmann::json::parse(answer, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("released") || !parsed["released"].is_object()) {
    return "released";
  }
  const auto text = [&](const char* member) {
    const auto& released = parsed["released"];
    return released.contains(member) && released[member].is_string()
               ? released[member].get<std::string>()
               : std::string();
  };
  return "released " + text("type") + " " + text("name") + ", was " + text("state") + " by " +
         text("service");
}

}  // namespace

CommandAction DeclareRelease(CLI::App& app) {
  const auto flags = AddConfigFlags(app, {"dataDir"});
  const auto arguments = std::make_shared<ReleaseArguments>();
  app.add_option("TYPE", arguments->type, "Type of the resource, as s3/Bucket");
  app.add_option("NAME", arguments->name, "Name of the resource");
  app.add_option("--account", arguments->account, "Its account, when the name is not enough");
  app.add_option("--region", arguments->region, "Its region, when the name is not enough");
  app.add_option("--key", arguments->key, "Its key, instead of type and name");
  app.add_option("--reason", arguments->reason, "Why; stands in the audit log")->required();
  return [flags, arguments](CommandIo& io) {
    const bool has_name = !arguments->type.empty() && !arguments->name.empty();
    if (has_name == !arguments->key.empty()) {
      return Complain(io, "name either type and name, as s3/Bucket prod-artifacts, or a --key",
                      ExitCode::kUsage);
    }
    nlohmann::json body;
    SetUnlessEmpty(body, "type", arguments->type);
    SetUnlessEmpty(body, "name", arguments->name);
    SetUnlessEmpty(body, "account", arguments->account);
    SetUnlessEmpty(body, "region", arguments->region);
    SetUnlessEmpty(body, "key", arguments->key);
    body["reason"] = arguments->reason;
    const std::string text = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    const OperatorReply reply = CallOperator(*flags, {"/api/v1/release", text}, io);
    if (reply.code != ExitCode::kOk) return reply.code;
    io.out << Released(reply.answer) << "\n";
    return ExitCode::kOk;
  };
}

}  // namespace truce
