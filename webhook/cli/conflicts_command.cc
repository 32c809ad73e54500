#include <nlohmann/json.hpp>
#include <ostream>

#include "registry/identity/values.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/operator_call.h"
#include "webhook/cli/report_call.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

constexpr char kPage[] = "/api/v1/conflicts?limit=1000";

// All pages as one list.
ExitCode PrintAllAsJson(const ConfigFlags& flags, CommandIo& io) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  std::string path = kPage;
  while (!path.empty()) {
    const OperatorReply reply = CallOperator(flags, {path, {}}, io);
    if (reply.code != ExitCode::kOk) return reply.code;
    const auto page = ParseOrderedJson(reply.answer);
    if (!page.is_object() || !page.contains("items") || !page["items"].is_array()) {
      return Complain(io, "unexpected answer to conflicts; is the server of this version?",
                      ExitCode::kUnreachable);
    }
    for (const auto& item : page["items"]) all.push_back(item);
    path.clear();
    const bool has_more = page.contains("nextCursor") && page["nextCursor"].is_string();
    if (has_more) {
      // A key is percent-encoded in itself; its signs would be read as the query's.
      path = std::string(kPage) + "&cursor=" + PercentEncode(page["nextCursor"].get<std::string>());
    }
  }
  const bool is_empty = all.empty();
  io.out << DumpIndented(nlohmann::ordered_json{{"items", std::move(all)}}) << "\n";
  return is_empty ? ExitCode::kOk : ExitCode::kNo;
}

}  // namespace

CommandAction DeclareConflicts(CommandLine& app) {
  const auto flags = AddConfigFlags(app, {"dataDir"});
  const auto output = std::make_shared<std::string>("text");
  app.AddOption("-o,--output", *output, "text, wide (with the steps that end each) or json")
      .OneOf({"text", "wide", "json"});
  app.Footer(
      "Examples:\n"
      "  truce conflicts\n"
      "  truce conflicts -o wide\n");
  return [flags, output](CommandIo& io) {
    if (*output == "json") return PrintAllAsJson(*flags, io);
    std::uint64_t count = 0;
    const ExitCode code = PrintReport(*flags, "/api/v1/conflicts?output=" + *output, io, count);
    if (code != ExitCode::kOk) return code;
    return count == 0 ? ExitCode::kOk : ExitCode::kNo;
  };
}

}  // namespace truce
