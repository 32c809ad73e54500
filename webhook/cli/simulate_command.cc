// simulate: what `enforce` would have refused, from what rules in audit and warn have found.
#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "webhook/cli/command.h"
#include "webhook/cli/operator_call.h"
#include "webhook/cli/output.h"

namespace truce {
namespace {

using Json = nlohmann::ordered_json;

// "90m", "2h", "7d"; nothing for what is not, or longer than a year.
std::optional<std::chrono::minutes> DurationFrom(const std::string& text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number < 1 || number > 525'600 || rest + 1 != end) {
    return std::nullopt;
  }
  switch (*rest) {
    case 'm': return std::chrono::minutes(number);
    case 'h': return std::chrono::hours(number);
    case 'd': return std::chrono::hours(24 * number);
    default: return std::nullopt;
  }
}

std::string TextOf(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

struct Group {
  std::uint64_t count = 0;
  std::set<std::string> objects;
  std::string last;
  std::vector<std::string> texts;
};

std::string ObjectOf(const Json& item) {
  const std::string ns = TextOf(item, "namespace");
  return TextOf(item, "kind") + " " + (ns.empty() ? "" : ns + "/") + TextOf(item, "name");
}

void PrintGroups(const Json& items, const std::string& since, std::ostream& out) {
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const Json& item : items) {
    const std::string service = TextOf(item, "service");
    Group& group = groups[{service.empty() ? "-" : service, TextOf(item, "rule")}];
    const std::string object = ObjectOf(item);
    const auto count = item.find("count");
    if (count != item.end() && count->is_number_unsigned()) {
      group.count += count->get<std::uint64_t>();
    }
    group.objects.insert(object);
    group.last = std::max(group.last, TextOf(item, "last"));
    group.texts.push_back(object + ": " + TextOf(item, "text"));
  }
  if (groups.empty()) {
    out << "Since " << since << " enforce would have refused nothing.\n";
    return;
  }
  out << "Since " << since << " enforce would have refused:\n\n";
  std::vector<std::vector<std::string>> rows = {{"SERVICE", "RULE", "REQUESTS", "OBJECTS", "LAST"}};
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

CommandAction DeclareSimulate(CLI::App& app) {
  const auto flags = AddConfigFlags(app, {"dataDir"});
  const auto since = std::make_shared<std::string>("7d");
  const auto mode = std::make_shared<std::string>("enforce");
  const auto output = std::make_shared<std::string>("text");
  app.add_option("--since", *since, "How far back, as 90m, 24h or 7d");
  app.add_option("--mode", *mode, "The mode to try: enforce")->check(CLI::IsMember({"enforce"}));
  app.add_option("-o,--output", *output, "text or json")->check(CLI::IsMember({"text", "json"}));
  app.footer(
      "What the rules in audit and warn found and enforce would have refused, per service and "
      "rule:\n"
      "the evidence on which a team switches a rule on. The server keeps 500 findings, each "
      "counted.\n"
      "Exit code 1 when something would have been refused.\n\n"
      "Example:\n  truce simulate --since 7d --mode enforce\n");
  return [=](CommandIo& io) {
    const auto duration = DurationFrom(*since);
    if (!duration) {
      return Complain(io, "--since '" + *since + "' is no time; write it as 90m, 24h or 7d",
                      ExitCode::kUsage);
    }
    const std::string from = FormatTimestamp(SystemClock().Now() - *duration);
    const std::string path = "/api/v1/trial?since=" + from;
    const OperatorReply reply = CallOperator(*flags, {path, {}}, io);
    if (reply.code != ExitCode::kOk) return reply.code;
    const Json json = Json::parse(reply.answer, nullptr, false);
    if (!json.is_object() || !json.contains("items") || !json["items"].is_array()) {
      return Complain(io, "the server's answer is no trial; is it of this version?",
                      ExitCode::kUnreachable);
    }
    const Json& items = json["items"];
    if (*output == "json") {
      io.out << items.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    } else {
      PrintGroups(items, from, io.out);
    }
    return items.empty() ? ExitCode::kOk : ExitCode::kNo;
  };
}

}  // namespace truce
