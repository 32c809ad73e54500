#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "registry/base/one_line.h"
#include "webhook/api/described.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/output.h"
#include "webhook/cli/server/named_resource.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

void PrintConflict(const Json& conflict, CommandIo& io) {
  io.out << OneLine(TextIn(conflict, "name")) << " is managed by more than one owner. "
         << OneLine(TextIn(conflict, "effect")) << "\n\n";
  std::map<std::string, int> called;
  for (const Json& side : conflict.value("sides", Json::array()))
    ++called[ObjectText(side, "root")];
  // Objects of one name differ by their groups.
  const auto shown = [&](const Json& side) {
    std::string text = ObjectText(side, "root");
    const std::string group = TextIn(side.value("root", Json::object()), "group");
    const std::size_t end = text.find(' ');
    if (called[text] < 2 || group.empty() || end == std::string::npos) return text;
    return text.substr(0, end) + "." + group + text.substr(end);
  };
  TableRows rows = {{"OWNER", "SERVICE", "CONTACT", "SINCE", "RECORD"}};
  for (const Json& side : conflict.value("sides", Json::array())) {
    const std::string record = TextIn(side, "record");
    const bool is_list = record == "imported";
    const std::string root =
        is_list ? "list " + OneLine(TextIn(side.value("root", Json::object()), "name"))
                : shown(side) + (record == "none" ? "" : " (left it orphaned)");
    rows.push_back({root, OrDash(TextIn(side, "service")), OrDash(TextIn(side, "contact")),
                    TextIn(side, "since"), side.value("incumbent", false) ? "owner" : "conflict"});
  }
  PrintTable(rows, io.out);
  io.out << "\nIn this order, so that the resource is never without a manager and never deleted:\n";
  int number = 0;
  for (const Json& step : conflict.value("steps", Json::array())) {
    if (step.is_string()) {
      io.out << "  " << ++number << ". " << OneLine(step.get<std::string>()) << "\n";
    }
  }
}

}  // namespace

CommandAction DeclareResolve(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto named = AddNamedResource(app);
  const auto form = AddForm(app);
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
    TRUCE_ASSIGN_OR_RETURN(const Json resource, FindOne(*flags, *named, io));
    if (!resource.value("contested", false)) {
      io.out << TypeAndName(resource) << " has one manager; there is nothing to resolve\n";
      return ExitCode::kOk;
    }
    Json conflict;
    const ApiList list{.question = {"/api/v1/conflicts"}, .counted = nullptr};
    const ExitCode code = AskForEach(*flags, list, io, [&](const nlohmann::ordered_json& each) {
      conflict = Json(each);
      const bool is_it = IdOf(conflict.value("resource", Json::object())) == IdOf(resource);
      if (!is_it) conflict.clear();
      return !is_it;
    });
    if (code != ExitCode::kOk) return code;
    if (!conflict.empty()) {
      if (form->for_people()) {
        PrintConflict(conflict, io);
        return ExitCode::kNo;
      }
      const Listed listed{HeadingsOf<ConflictView>(), "resource.id"};
      const ExitCode printed = PrintList(*form, listed, Json::array({conflict}), io);
      return printed == ExitCode::kOk ? ExitCode::kNo : printed;
    }
    return Complain(io, "the conflict is not worked out yet; ask again in a moment", ExitCode::kNo);
  };
}

}  // namespace truce
