// simulate: what `enforce` would have refused, from what rules in audit and warn have found.
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/duration.h"
#include "webhook/cli/output.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct Group {
  std::uint64_t count = 0;
  std::set<std::string> objects;
  std::string last;
  std::vector<std::string> texts;
};

std::string ObjectOf(const OrderedJson& item) {
  const std::string ns = TextIn(item, "namespace");
  return TextIn(item, "kind") + " " + (ns.empty() ? "" : ns + "/") + TextIn(item, "name");
}

void PrintGroups(const OrderedJson& items, const std::string& since, std::ostream& out) {
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const OrderedJson& item : items) {
    const std::string service = TextIn(item, "service");
    Group& group = groups[{service.empty() ? "-" : service, TextIn(item, "rule")}];
    const std::string object = ObjectOf(item);
    const auto count = item.find("count");
    if (count != item.end() && count->is_number_unsigned()) {
      group.count += count->get<std::uint64_t>();
    }
    group.objects.insert(object);
    group.last = std::max(group.last, TextIn(item, "last"));
    group.texts.push_back(object + ": " + TextIn(item, "text"));
  }
  if (groups.empty()) {
    out << "Since " << since << " enforce would have refused nothing.\n";
    return;
  }
  out << "Since " << since << " enforce would have refused:\n\n";
  TableRows rows = {{"SERVICE", "RULE", "REQUESTS", "OBJECTS", "LAST"}};
  for (const auto& [place, group] : groups) {
    rows.push_back({place.first, place.second, std::to_string(group.count),
                    std::to_string(group.objects.size()), group.last});
  }
  PrintTable(rows, out);
  for (const auto& [place, group] : groups) {
    out << "\n" << place.first << ", " << place.second << ":\n";
    for (const std::string& text : group.texts) out << "  " << text << "\n";
  }
}

}  // namespace

CommandAction DeclareSimulate(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto since = std::make_shared<std::string>("7d");
  const auto mode = std::make_shared<std::string>("enforce");
  const auto output = std::make_shared<std::string>("text");
  app.AddOption("--since", *since, "How far back, as 90m, 24h or 7d");
  app.AddOption("--mode", *mode, "The mode to try: enforce").OneOf({"enforce"});
  app.AddOption("-o,--output", *output, "Form of the report; default text").OneOf({"text", "json"});
  app.Footer(
      "What the rules in audit and warn found and enforce would have refused, per service and "
      "rule:\n"
      "the evidence on which a team switches a rule on. The server keeps 500 findings, each "
      "counted.\n"
      "Exit code 1 when something would have been refused.\n\n"
      "Example:\n  truce simulate --since 7d --mode enforce\n");
  return [=](CommandIo& io) {
    const auto duration = DurationFrom(*since);
    if (!duration) {
      return Complain(io, "--since '" + *since + "' is not a time; write it as 90m, 24h or 7d",
                      ExitCode::kUsage);
    }
    const std::string from = FormatTimestamp(SystemClock().Now() - *duration);
    const ApiReply reply = AskApi(*flags, {"/api/v1/trial", {{"since", from}}}, io);
    if (reply.code != ExitCode::kOk) return reply.code;
    const OrderedJson json = ParseOrderedJson(reply.answer);
    if (!json.is_object() || !json.contains("items") || !json["items"].is_array()) {
      return NoServer(io);
    }
    const OrderedJson& items = json["items"];
    if (*output == "json") {
      io.out << DumpIndented(items) << "\n";
    } else {
      PrintGroups(items, from, io.out);
    }
    return items.empty() ? ExitCode::kOk : ExitCode::kNo;
  };
}

}  // namespace truce
