#include <nlohmann/json.hpp>
#include <ostream>

#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/operator_call.h"
#include "webhook/cli/report_call.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

// kNo when the cluster's declarations conflict already.
ExitCode PrintBaselineJson(const ConfigFlags& flags, CommandIo& io) {
  const OperatorReply reply = CallOperator(flags, {"/api/v1/baseline", {}}, io);
  if (reply.code != ExitCode::kOk) return reply.code;
  const auto json = ParseOrderedJson(reply.answer);
  if (!json.is_object() || !json.contains("conflicts")) {
    return Complain(io, "unexpected answer to baseline; is the server of this version?",
                    ExitCode::kUnreachable);
  }
  io.out << DumpIndented(json) << "\n";
  return json["conflicts"].empty() ? ExitCode::kOk : ExitCode::kNo;
}

// kNo when names violate a rule.
ExitCode PrintNames(const ConfigFlags& flags, bool as_json, CommandIo& io) {
  std::uint64_t violating = 0;
  if (!as_json) {
    const ExitCode code = PrintReport(flags, "/api/v1/names?output=text", io, violating);
    if (code != ExitCode::kOk) return code;
    return violating == 0 ? ExitCode::kOk : ExitCode::kNo;
  }
  const OperatorReply reply = CallOperator(flags, {"/api/v1/names", {}}, io);
  if (reply.code != ExitCode::kOk) return reply.code;
  const auto json = ParseOrderedJson(reply.answer);
  if (!json.is_object() || !json.contains("violating")) {
    return Complain(io, "unexpected answer to baseline --names; is the server of this version?",
                    ExitCode::kUnreachable);
  }
  io.out << DumpIndented(json) << "\n";
  return json["violating"] == 0 ? ExitCode::kOk : ExitCode::kNo;
}

}  // namespace

CommandAction DeclareBaseline(CommandLine& app) {
  const auto flags = AddConfigFlags(app, {"dataDir"});
  const auto output = std::make_shared<std::string>("text");
  app.AddOption("-o,--output", *output, "text, json, junit or markdown")
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
  return [flags, output, names](CommandIo& io) {
    if (*names) {
      if (*output != "text" && *output != "json") {
        return Complain(io, "--names is written as text or json", ExitCode::kUsage);
      }
      return PrintNames(*flags, *output == "json", io);
    }
    if (*output == "json") return PrintBaselineJson(*flags, io);
    std::uint64_t conflicts = 0;
    const ExitCode code = PrintReport(*flags, "/api/v1/baseline?output=" + *output, io, conflicts);
    if (code != ExitCode::kOk) return code;
    return conflicts == 0 ? ExitCode::kOk : ExitCode::kNo;
  };
}

}  // namespace truce
