#include <nlohmann/json.hpp>
#include <ostream>

#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/operator_call.h"
#include "webhook/cli/report_call.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

struct CoverageArguments {
  std::string output = "text";
  bool all = false;
  bool fail_on_gaps = false;
};

ExitCode PrintCoverageJson(const ConfigFlags& flags, CommandIo& io, std::uint64_t& count) {
  const OperatorReply reply = CallOperator(flags, {"/api/v1/coverage", {}}, io);
  if (reply.code != ExitCode::kOk) return reply.code;
  const auto json = ParseOrderedJson(reply.answer);
  if (!json.is_object() || !json.contains("gaps")) {
    return Complain(io, "unexpected answer to coverage; is the server of this version?",
                    ExitCode::kUnreachable);
  }
  count = json["gaps"].size();
  io.out << DumpIndented(json) << "\n";
  return ExitCode::kOk;
}

}  // namespace

CommandAction DeclareCoverage(CommandLine& app) {
  const auto flags = AddConfigFlags(app, {"dataDir"});
  const auto arguments = std::make_shared<CoverageArguments>();
  app.AddOption("-o,--output", arguments->output, "text or json").OneOf({"text", "json"});
  app.AddFlag("--all", arguments->all, "Also gaps that concern no object at present");
  app.AddFlag("--fail-on-warn", arguments->fail_on_gaps, "Exit 4 when something is not protected");
  app.Footer(
      "Examples:\n"
      "  truce coverage\n"
      "  truce coverage --all --fail-on-warn\n");
  return [flags, arguments](CommandIo& io) {
    std::uint64_t count = 0;
    const std::string path =
        std::string("/api/v1/coverage?output=") + (arguments->all ? "wide" : "text");
    const ExitCode code = arguments->output == "json" ? PrintCoverageJson(*flags, io, count)
                                                      : PrintReport(*flags, path, io, count);
    if (code != ExitCode::kOk) return code;
    return arguments->fail_on_gaps && count > 0 ? ExitCode::kWarnings : ExitCode::kOk;
  };
}

}  // namespace truce
