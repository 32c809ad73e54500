#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "webhook/cli/api_call.h"
#include "webhook/cli/command.h"
#include "webhook/cli/output.h"

namespace truce {
namespace {

using Json = nlohmann::json;

std::string TextOf(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Json CheckupOf(const char* name, bool is_good, const std::string& what, const std::string& remedy) {
  return {{"name", name},
          {"state", is_good ? "ok" : "warning"},
          {"what", what},
          {"remedy", is_good ? std::string() : remedy}};
}

Json VersionCheckup(const Json& answer) {
  const std::string theirs = TextOf(answer, "version");
  const std::string ours(TruceVersion());
  return CheckupOf("version", theirs == ours,
                   theirs == ours ? "server and command are " + ours
                                  : "the server is " + theirs + ", this command " + ours,
                   "use the command of the server's version");
}

// The marks say it without colours.
void Print(const Json& checkups, std::ostream& out) {
  for (const Json& each : checkups) {
    const std::string state = TextOf(each, "state");
    const char* mark = state == "ok" ? "[ok]  " : state == "warning" ? "[warn]" : "[FAIL]";
    out << mark << " " << TextOf(each, "name") << ": " << TextOf(each, "what") << "\n";
    const std::string remedy = TextOf(each, "remedy");
    if (!remedy.empty()) out << "       " << remedy << "\n";
  }
}

std::size_t CountOf(const Json& checkups, const std::string& state) {
  std::size_t count = 0;
  for (const Json& each : checkups) {
    if (TextOf(each, "state") == state) ++count;
  }
  return count;
}

ExitCode Run(const ApiFlags& flags, const std::string& output, bool fail_on_warn, CommandIo& io) {
  const ApiReply version = AskApi(flags, {"/api/v1/version", {}}, io);
  if (version.code != ExitCode::kOk) return version.code;
  const ApiReply reply = AskApi(flags, {"/api/v1/doctor", {}}, io);
  if (reply.code != ExitCode::kOk) return reply.code;
  const Json answer = Json::parse(reply.answer, nullptr, false);
  const Json about = Json::parse(version.answer, nullptr, false);
  const bool is_list = answer.is_object() && answer.contains("items") && answer["items"].is_array();
  if (!is_list || !about.is_object()) {
    return Complain(io, "what answers is not a Truce server", ExitCode::kUnreachable);
  }
  Json checkups = Json::array({VersionCheckup(about)});
  for (const Json& each : answer["items"]) checkups.push_back(each);
  const std::size_t failed = CountOf(checkups, "failed");
  const std::size_t warnings = CountOf(checkups, "warning");
  if (output == "text") {
    Print(checkups, io.out);
    io.out << failed << " failed, " << warnings << " warnings, " << CountOf(checkups, "ok")
           << " ok\n";
  } else {
    const std::string text =
        Json{{"items", checkups}}.dump(-1, ' ', false, Json::error_handler_t::replace);
    output == "json" ? PrintJson(text, io.out) : PrintYaml(text, io.out);
  }
  if (failed > 0) return ExitCode::kNo;
  return warnings > 0 && fail_on_warn ? ExitCode::kWarnings : ExitCode::kOk;
}

}  // namespace

CommandAction DeclareDoctor(CLI::App& app) {
  const auto flags = AddApiFlags(app);
  const auto output = std::make_shared<std::string>("text");
  const auto fail_on_warn = std::make_shared<bool>(false);
  app.add_option("-o,--output", *output, "Form of the answer; default text")
      ->type_name("text|json|yaml")
      ->check(CLI::IsMember({"text", "json", "yaml"}));
  app.add_flag("--fail-on-warn", *fail_on_warn, "Exit code 4 when there are only warnings");
  app.footer(
      "Checks the whole installation as its server sees it: registry, readiness, certificate, the\n"
      "API server and its time, permissions, webhook configuration (authority, rules against the\n"
      "catalogue, selectors, matchConditions, deletions, OwnershipChecks and policies), whether\n"
      "reviews arrive, coverage, version.\n\n"
      "Examples:\n"
      "  truce doctor\n"
      "  truce doctor --server https://truce.example.org --token-file token -o json\n\n"
      "Exit code 1: something failed; each failure stands with its remedy.");
  return [=](CommandIo& io) { return Run(*flags, *output, *fail_on_warn, io); };
}

}  // namespace truce
