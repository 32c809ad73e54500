#include <nlohmann/json.hpp>
#include <ostream>

#include "registry/base/counted.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/output.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

Json CheckupOf(const char* name, bool is_good, const std::string& what, const std::string& remedy) {
  return {{"name", name},
          {"state", is_good ? "ok" : "warning"},
          {"what", what},
          {"remedy", is_good ? std::string() : remedy}};
}

Json VersionCheckup(const Json& answer) {
  const std::string theirs = TextIn(answer, "version");
  const std::string ours(TruceVersion());
  return CheckupOf("version", theirs == ours,
                   theirs == ours ? "server and command are " + ours
                                  : "the server is " + theirs + ", this command " + ours,
                   "use the command of the server's version");
}

// The marks say it without colours.
void PrintCheckups(const Json& checkups, std::ostream& out) {
  for (const Json& each : checkups) {
    const std::string state = TextIn(each, "state");
    const char* mark = state == "ok" ? "[ok]  " : state == "warning" ? "[warn]" : "[FAIL]";
    out << mark << " " << TextIn(each, "name") << ": " << TextIn(each, "what") << "\n";
    const std::string remedy = TextIn(each, "remedy");
    if (!remedy.empty()) out << "       " << remedy << "\n";
  }
}

std::size_t CountOf(const Json& checkups, const std::string& state) {
  std::size_t count = 0;
  for (const Json& each : checkups) {
    if (TextIn(each, "state") == state) ++count;
  }
  return count;
}

ExitCode RunDoctor(const ApiFlags& flags, const Form& form, bool fail_on_warn, CommandIo& io) {
  TRUCE_ASSIGN_OR_RETURN(const Json about, AskForObject(flags, {"/api/v1/version"}, io));
  TRUCE_ASSIGN_OR_RETURN(const Json answer, AskForList(flags, {"/api/v1/doctor"}, io));
  Json checkups = Json::array({VersionCheckup(about)});
  for (const Json& each : answer["items"]) checkups.push_back(each);
  const std::size_t failed = CountOf(checkups, "failed");
  const std::size_t warnings = CountOf(checkups, "warning");
  if (form.is("text")) {
    PrintCheckups(checkups, io.out);
    io.out << failed << " failed, " << Counted(warnings, "warning") << ", "
           << CountOf(checkups, "ok") << " ok\n";
  } else {
    const Listed listed{{{"name"}, {"state"}, {"what"}, {"remedy", "", Look::kPlain, true}},
                        "name"};
    const ExitCode code = PrintList(form, listed, checkups, io);
    if (code != ExitCode::kOk) return code;
  }
  if (failed > 0) return ExitCode::kNo;
  return warnings > 0 && fail_on_warn ? ExitCode::kWarnings : ExitCode::kOk;
}

}  // namespace

CommandAction DeclareDoctor(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto form = AddForm(app, "text");
  const auto fail_on_warn = std::make_shared<bool>(false);
  app.AddFlag("--fail-on-warn", *fail_on_warn, "Exit code 4 when there are only warnings");
  app.Footer(
      "Checks the whole installation as its server sees it: registry, readiness, certificate, the\n"
      "API server and its time, permissions, webhook configuration (authority, rules against the\n"
      "catalogue, selectors, matchConditions, deletions, OwnershipChecks and policies), whether\n"
      "reviews arrive, accounts of ProviderConfigs, statuses, coverage, version.\n\n"
      "Examples:\n"
      "  truce doctor\n"
      "  truce doctor --server https://truce.example.org --token-file token -o json\n\n"
      "Exit code 1: something failed; each failure stands with its remedy.");
  return [=](CommandIo& io) { return RunDoctor(*flags, *form, *fail_on_warn, io); };
}

}  // namespace truce
