#include <nlohmann/json.hpp>
#include <ostream>

#include "webhook/cli/command_line.h"
#include "webhook/cli/named_resource.h"
#include "webhook/cli/output.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

std::string ObjectIn(const Json& side) {
  const Json root = side.value("root", Json::object());
  const std::string ns = TextIn(root, "namespace");
  return OnOneLine(TextIn(root, "kind") + " " + (ns.empty() ? "" : ns + "/") +
                   TextIn(root, "name"));
}

void Print(const Json& conflict, CommandIo& io) {
  io.out << OnOneLine(TextIn(conflict, "name")) << " is managed by more than one owner. "
         << OnOneLine(TextIn(conflict, "effect")) << "\n\n";
  std::vector<std::vector<std::string>> rows = {{"OWNER", "SERVICE", "CONTACT", "SINCE", "RECORD"}};
  for (const Json& side : conflict.value("sides", Json::array())) {
    const std::string contact = TextIn(side, "contact");
    const std::string service = TextIn(side, "service");
    rows.push_back({ObjectIn(side), service.empty() ? "-" : service,
                    contact.empty() ? "-" : contact, TextIn(side, "since"),
                    side.value("incumbent", false) ? "owner" : "conflict"});
  }
  PrintTable(rows, io.out);
  io.out << "\nIn this order, so that the resource is never without a manager and never deleted:\n";
  int number = 0;
  for (const Json& step : conflict.value("steps", Json::array())) {
    if (step.is_string()) {
      io.out << "  " << ++number << ". " << OnOneLine(step.get<std::string>()) << "\n";
    }
  }
}

}  // namespace

CommandAction DeclareResolve(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto named = AddNamedResource(app);
  const auto output = AddOutputFlag(app);
  app.Footer(
      "Says who of several managers of RESOURCE must step back, in which order, without losing "
      "it.\n\n"
      "Example:\n"
      "  truce resolve s3/Bucket/prod-artifacts\n\n"
      "Exit code 1: it has more than one manager.");
  return [=](CommandIo& io) {
    if (named->resource.empty()) {
      return Complain(io, "name the resource, as s3/Bucket/prod-artifacts", ExitCode::kUsage);
    }
    Json resource;
    ExitCode code = FindOne(*flags, *named, io, resource);
    if (code != ExitCode::kOk) return code;
    if (!resource.value("contested", false)) {
      io.out << TypeAndName(resource) << " has one manager; there is nothing to resolve\n";
      return ExitCode::kOk;
    }
    Json answer;
    code = AskForObject(*flags, {"/api/v1/conflicts", {}}, io, answer);
    if (code != ExitCode::kOk) return code;
    const std::string id = TextIn(resource, "id");
    for (const Json& conflict : answer.value("items", Json::array())) {
      if (TextIn(conflict.value("resource", Json::object()), "id") != id) continue;
      if (*output == "table" || *output == "wide") {
        Print(conflict, io);
      } else {
        PrintForm(*output, Json::array({conflict}), {}, io);
      }
      return ExitCode::kNo;
    }
    return Complain(io, "the conflict is not worked out yet; ask again in a moment", ExitCode::kNo);
  };
}

}  // namespace truce
