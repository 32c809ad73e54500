// conflicts, baseline, coverage, quotas: reports that the server writes.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <ostream>

#include "webhook/cli/command_line.h"
#include "webhook/cli/output.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

struct ReportQuestion {
  std::string path;
  std::string output;   // "json", else a form for people
  const char* counted;  // in JSON: a list or a number of what is counted
  std::string ns = {};  // empty: of all
};

// Prints a report, and sets `count` to what it counts: conflicts, gaps.
ExitCode PrintReport(const ApiFlags& flags, const ReportQuestion& report, CommandIo& io,
                     std::uint64_t& count) {
  const bool is_json = report.output == "json";
  const ApiReply reply = AskApi(
      flags, {report.path, {{"output", is_json ? "" : report.output}, {"namespace", report.ns}}},
      io);
  if (reply.code != ExitCode::kOk) return reply.code;
  const Json json = ParseJson(reply.answer);
  const char* counted = is_json ? report.counted : "count";
  if (!json.is_object() || !json.contains(counted)) return NoServer(io);
  const Json& found = json[counted];
  count = found.is_number_unsigned() ? found.get<std::uint64_t>() : found.size();
  if (is_json) {
    PrintJson(reply.answer, io.out);
  } else {
    io.out << Lines(TextIn(json, "text"));
  }
  return ExitCode::kOk;
}

// The same, where something counted is a no.
ExitCode PrintVerdict(const ApiFlags& flags, const ReportQuestion& report, CommandIo& io) {
  std::uint64_t count = 0;
  const ExitCode code = PrintReport(flags, report, io, count);
  return code == ExitCode::kOk && count > 0 ? ExitCode::kNo : code;
}

// All pages as one list.
ExitCode PrintConflictsAsJson(const ApiFlags& flags, CommandIo& io) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  const ApiList list{{"/api/v1/conflicts"}, SIZE_MAX, nullptr};
  const ExitCode code = AskForEach(flags, list, io, [&](const nlohmann::ordered_json& item) {
    all.push_back(item);
    return true;
  });
  if (code != ExitCode::kOk) return code;
  const bool is_empty = all.empty();
  io.out << DumpIndented(nlohmann::ordered_json{{"items", std::move(all)}}) << "\n";
  return is_empty ? ExitCode::kOk : ExitCode::kNo;
}

}  // namespace

CommandAction DeclareConflicts(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto output = std::make_shared<std::string>("text");
  app.AddOption("-o,--output", *output,
                "Form of the answer; wide: with the steps that end each; default text")
      .OneOf({"text", "wide", "json"});
  app.Footer(
      "Examples:\n"
      "  truce conflicts\n"
      "  truce conflicts -o wide\n");
  return [=](CommandIo& io) {
    return *output == "json" ? PrintConflictsAsJson(*flags, io)
                             : PrintVerdict(*flags, {"/api/v1/conflicts", *output, ""}, io);
  };
}

CommandAction DeclareBaseline(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto output = std::make_shared<std::string>("text");
  app.AddOption("-o,--output", *output, "Form of the report; default text")
      .OneOf({"text", "json", "junit", "markdown"});
  const auto names = std::make_shared<bool>(false);
  app.AddFlag("--names", *names,
              "Only the naming report, text or json: per service and type how many names conform, "
              "are exempt, violate; a better name for each that violates");
  app.Footer(
      "Lists what the cluster declares and applies the rules to it; nothing is refused or "
      "changed.\n"
      "Exit code 1: there are conflicts; with --names: names violate a rule.\n\n"
      "Examples:\n  truce baseline\n  truce baseline -o junit > baseline.xml\n"
      "  truce baseline --names\n");
  return [=](CommandIo& io) {
    if (!*names) return PrintVerdict(*flags, {"/api/v1/baseline", *output, "conflicts"}, io);
    if (*output == "text" || *output == "json") {
      return PrintVerdict(*flags, {"/api/v1/names", *output, "violating"}, io);
    }
    return Complain(io, "--names is written as text or json", ExitCode::kUsage);
  };
}

CommandAction DeclareCoverage(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto output = std::make_shared<std::string>("text");
  const auto all = std::make_shared<bool>(false);
  const auto fail_on_gaps = std::make_shared<bool>(false);
  app.AddOption("-o,--output", *output, "Form of the report; default text").OneOf({"text", "json"});
  app.AddFlag("--all", *all, "Also gaps that concern no object at present");
  app.AddFlag("--fail-on-warn", *fail_on_gaps, "Exit 4 when something is not protected");
  app.Footer(
      "Examples:\n"
      "  truce coverage\n"
      "  truce coverage --all --fail-on-warn\n");
  return [=](CommandIo& io) {
    std::uint64_t count = 0;
    const std::string form = *all && *output == "text" ? "wide" : *output;
    const ExitCode code = PrintReport(*flags, {"/api/v1/coverage", form, "gaps"}, io, count);
    return code == ExitCode::kOk && *fail_on_gaps && count > 0 ? ExitCode::kWarnings : code;
  };
}

CommandAction DeclareQuotas(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto output = std::make_shared<std::string>("text");
  const auto ns = std::make_shared<std::string>();
  app.AddOption("-o,--output", *output, "Form of the report; default text").OneOf({"text", "json"});
  app.AddOption("-n,--namespace", *ns, "Only quotas of that namespace");
  app.Footer(
      "Counts what is reserved, held, orphaned and imported. AWS DEFAULT is what AWS documents\n"
      "for an account that asked for no more: a hint, no limit of Truce's.\n\n"
      "Examples:\n"
      "  truce quotas\n"
      "  truce quotas -n team-a -o json\n");
  return [=](CommandIo& io) {
    std::uint64_t count = 0;
    return PrintReport(*flags, {"/api/v1/quotas", *output, "items", *ns}, io, count);
  };
}

}  // namespace truce
