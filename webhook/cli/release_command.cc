#include <nlohmann/json.hpp>
#include <ostream>

#include "webhook/cli/api_call.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/named_resource.h"
#include "webhook/cli/operator_call.h"
#include "webhook/cli/output.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;
using Parameters = std::vector<std::pair<std::string, std::string>>;

struct ReleaseArguments {
  std::string type;
  std::string name;
  std::string account;
  std::string region;
  std::string key;
  std::string id;
  std::string reason;
  std::string service;
  std::string ns;
  bool orphaned = false;
  bool yes = false;
  bool each = false;
};

// The key of the resource of that id, asked of the server; empty after a complaint.
std::string KeyOfId(const ConfigFlags& flags, const std::string& id, CommandIo& io,
                    ExitCode& code) {
  const OperatorReply reply = CallOperator(flags, {"/api/v1/resources/" + id, {}}, io);
  code = reply.code;
  const auto resource = ParseJson(reply.answer);
  if (!resource.is_object() || !resource.contains("key") || !resource["key"].is_string()) return {};
  return resource["key"].get<std::string>();
}

bool IsWord(const std::string& id) {
  return id.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567") == std::string::npos;
}

// One line about the resource as it was.
std::string Released(const std::string& answer) {
  const Json parsed = ParseJson(answer);
  if (!parsed.is_object() || !parsed.contains("released") || !parsed["released"].is_object()) {
    return "released";
  }
  const Json& released = parsed["released"];
  return OnOneLine("released " + TextIn(released, "type") + " " + TextIn(released, "name") +
                   ", was " + TextIn(released, "state") + " by " + TextIn(released, "service"));
}

// Over the network: the id says which, and it must not change between the two questions.
ExitCode ReleaseById(const ApiFlags& flags, const ReleaseArguments& given, CommandIo& io) {
  Parameters which = {{"key", given.key},
                      {"type", given.type},
                      {"name", given.name},
                      {"account", given.account},
                      {"region", given.region}};
  std::string id = given.id;
  if (id.empty()) {
    Json found;
    const ExitCode code = AskForObject(flags, {"/api/v1/resources:lookup", which}, io, found);
    if (code != ExitCode::kOk) return code;
    const Json resources = found.value("resources", Json::array());
    if (resources.empty()) return Complain(io, "nobody owns it", ExitCode::kNo);
    if (resources.size() > 1) {
      return Complain(io, "several fit; add --account and --region", ExitCode::kNo);
    }
    id = TextIn(resources[0], "id");
    if (id.empty()) return Complain(io, "you may not read the ownership", ExitCode::kNo);
  }
  ApiQuestion question{"/api/v1/resources/" + id + ":release", {}};
  question.body = BodyOf({{"reason", given.reason}});
  question.if_match = "*";
  const ApiReply reply = AskApi(flags, question, io);
  if (reply.code == ExitCode::kOk) io.out << Released(reply.answer) << "\n";
  return reply.code;
}

// Beside the server, which looks the resource up itself.
ExitCode ReleaseBesideServer(const ApiFlags& flags, const ReleaseArguments& given, CommandIo& io) {
  std::string key = given.key;
  if (!given.id.empty()) {
    ExitCode code = ExitCode::kOk;
    key = KeyOfId(*flags.config, given.id, io, code);
    if (code != ExitCode::kOk) return code;
  }
  const std::string body = BodyOf({{"type", given.type},
                                   {"name", given.name},
                                   {"account", given.account},
                                   {"region", given.region},
                                   {"key", key},
                                   {"reason", given.reason}});
  const OperatorReply reply = CallOperator(*flags.config, {"/api/v1/release", body}, io);
  if (reply.code == ExitCode::kOk) io.out << Released(reply.answer) << "\n";
  return reply.code;
}

void PrintPlan(const Json& plan, const std::string& output, CommandIo& io) {
  if (output == "json" || output == "yaml") {
    const std::string text = Dump(plan);
    output == "json" ? PrintJson(text, io.out) : PrintYaml(text, io.out);
    return;
  }
  std::vector<std::vector<std::string>> rows = {
      {"RESULT", "TYPE", "NAME", "SERVICE", "SINCE", "ORPHANED BECAUSE"}};
  for (const Json& item : plan["items"]) {
    const Json resource = item.value("resource", Json::object());
    if (output == "name") {
      io.out << OnOneLine(TextIn(resource, "type") + "/" + TextIn(resource, "name")) << "\n";
      continue;
    }
    std::vector<std::string> row = {TextIn(item, "result")};
    for (const char* name : {"type", "name", "service", "since", "reason"}) {
      const std::string text = OnOneLine(TextIn(resource, name));
      row.push_back(text.empty() ? "-" : text);
    }
    if (const std::string detail = TextIn(item, "detail"); !detail.empty()) {
      row.back() = OnOneLine(detail);
    }
    rows.push_back(std::move(row));
  }
  if (output != "name" && rows.size() > 1) PrintTable(rows, io.out);
}

ExitCode ReleaseOrphaned(const ApiFlags& flags, const ReleaseArguments& given,
                         const std::string& output, CommandIo& io) {
  ApiQuestion question{"/api/v1/releases", {}};
  question.body = BodyOf({{"service", given.service},
                          {"type", given.type},
                          {"name", given.name},
                          {"account", given.account},
                          {"region", given.region},
                          {"namespace", given.ns},
                          {"reason", given.reason},
                          {"apply", !given.yes   ? ""
                                    : given.each ? "each"
                                                 : "whole"}});
  if (given.yes) question.if_match = "*";
  Json plan;
  const ExitCode code = AskForObject(flags, question, io, plan);
  if (code != ExitCode::kOk) return code;
  if (!plan.contains("items") || !plan["items"].is_array()) {
    return Complain(io, "what answers is not a Truce server", ExitCode::kUnreachable);
  }
  PrintPlan(plan, output, io);
  const std::size_t count = plan["items"].size();
  const auto released = plan.value("released", std::size_t{0});
  if (output == "table" || output == "wide") {
    io.out << (given.yes ? std::to_string(released) + " of " : std::string()) << count
           << (given.yes ? " released\n" : " orphaned\n");
    if (!plan.value("complete", true)) io.out << "there are more: repeat it when these are gone\n";
    if (!given.yes && count > 0) {
      io.out << "nothing is released yet: whoever declares one of them next becomes its owner; "
                "repeat it with --yes and --reason\n";
    }
  }
  return given.yes && released < count ? ExitCode::kNo : ExitCode::kOk;
}

}  // namespace

CommandAction DeclareRelease(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto output = AddOutputFlag(app);
  const auto given = std::make_shared<ReleaseArguments>();
  app.AddOption("TYPE,--type", given->type, "Type of the resource, as s3/Bucket");
  app.AddOption("NAME,--name", given->name, "Name of the resource");
  app.AddOption("--account", given->account, "Its account, when the name is not enough");
  app.AddOption("--region", given->region, "Its region, when the name is not enough");
  app.AddOption("--key", given->key, "Its key, instead of type and name");
  app.AddOption("--id", given->id, "Its id, instead of type and name");
  app.AddOption("--reason", given->reason, "Why; stands in the audit log");
  app.AddFlag("--orphaned", given->orphaned, "All orphaned ownerships that fit, by a plan");
  app.AddOption("--service", given->service, "With --orphaned: only what that service owned");
  app.AddOption("-n,--namespace", given->ns, "With --orphaned: only roots of that namespace");
  app.AddFlag("--yes", given->yes, "With --orphaned: do it, all or none; else the plan is shown");
  app.AddFlag("--each", given->each, "With --yes: each by itself, with a result each");
  app.Footer(
      "Ends an ownership: whoever declares the resource next becomes its owner.\n\n"
      "Examples:\n"
      "  truce release s3/Bucket prod-artifacts --reason 'service A gave it up'\n"
      "  truce release --orphaned --service my-srv-one\n"
      "  truce release --orphaned --service my-srv-one --yes --reason 'deleted by hand'\n\n"
      "Exit code 1: nobody owns it, you may not, or not all of the plan was released.");
  return [=](CommandIo& io) {
    if (given->reason.empty() && (!given->orphaned || given->yes)) {
      return Complain(io, "say why with --reason", ExitCode::kUsage);
    }
    if (given->orphaned) return ReleaseOrphaned(*flags, *given, *output, io);
    const bool has_name = !given->type.empty() && !given->name.empty();
    const int named =
        (has_name ? 1 : 0) + (given->key.empty() ? 0 : 1) + (given->id.empty() ? 0 : 1);
    if (named != 1 || !IsWord(given->id)) {
      return Complain(io,
                      "name either type and name, as s3/Bucket prod-artifacts, a --key, an --id, "
                      "or --orphaned",
                      ExitCode::kUsage);
    }
    return IsRemote(*flags, io) ? ReleaseById(*flags, *given, io)
                                : ReleaseBesideServer(*flags, *given, io);
  };
}

}  // namespace truce
