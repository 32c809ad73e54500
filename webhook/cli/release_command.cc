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
  std::string id;
  std::string reason;
};

// The key of the resource of that id, asked of the server; empty after a complaint.
std::string KeyOfId(const ConfigFlags& flags, const std::string& id, CommandIo& io,
                    ExitCode& code) {
  const OperatorReply reply = CallOperator(flags, {"/api/v1/resources/" + id, {}}, io);
  code = reply.code;
  const auto resource = nlohmann::json::parse(reply.answer, nullptr, false);
  if (!resource.is_object() || !resource.contains("key") || !resource["key"].is_string()) return {};
  return resource["key"].get<std::string>();
}

bool IsWord(const std::string& id) {
  return id.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567") == std::string::npos;
}

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
  app.add_option("--id", arguments->id, "Its id, instead of type and name");
  app.add_option("--reason", arguments->reason, "Why; stands in the audit log")->required();
  return [flags, arguments](CommandIo& io) {
    const bool has_name = !arguments->type.empty() && !arguments->name.empty();
    const int named =
        (has_name ? 1 : 0) + (arguments->key.empty() ? 0 : 1) + (arguments->id.empty() ? 0 : 1);
    if (named != 1 || !IsWord(arguments->id)) {
      return Complain(io,
                      "name either type and name, as s3/Bucket prod-artifacts, a --key or an --id",
                      ExitCode::kUsage);
    }
    if (!arguments->id.empty()) {
      ExitCode code = ExitCode::kOk;
      arguments->key = KeyOfId(*flags, arguments->id, io, code);
      if (code != ExitCode::kOk) return code;
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
