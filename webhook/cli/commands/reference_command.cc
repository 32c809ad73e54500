#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "policies/rule_list.h"
#include "registry/base/file.h"
#include "registry/base/text.h"
#include "webhook/api/rest/openapi.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/config/keys.h"
#include "webhook/findings/detector.h"
#include "webhook/wire/yaml.h"

namespace truce {
namespace {

constexpr mode_t kForEverybody = 0644;
constexpr std::string_view kMadeBy = "\n\n`truce reference` writes this page.\n\n";

// A cell of a table in Markdown: in one line, with no border inside.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string Code(std::string_view text) {
  return text.empty() ? std::string() : "`" + Cell(text) + "`";
}

std::string Row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out.append(" ").append(cell).append(" |");
  return out + "\n";
}

std::string Head(const std::vector<std::string>& titles) {
  return Row(titles) + Row(std::vector<std::string>(titles.size(), "---"));
}

std::string CommandsPage() {
  std::string out = "# Commands" + std::string(kMadeBy);
  out += "`truce COMMAND --help` prints the same. Exit codes: [a table](exit-codes.md).\n";
  for (const Command& command : Commands()) {
    CommandLine line(command.name, command.summary);
    const CommandAction action = command.declare(line);
    out.append("\n## truce ").append(command.name).append("\n\n```\n");
    out.append(line.Help()).append("```\n");
  }
  return out;
}

std::string ExitCodesPage() {
  std::string out = "# Exit codes" + std::string(kMadeBy) + Head({"code", "meaning", "commands"});
  for (const ExitCodeRow& row : ExitCodes()) {
    out += Row({std::to_string(static_cast<int>(row.code)), Cell(row.meaning), Cell(row.commands)});
  }
  return out;
}

std::string SettingsPage() {
  std::string out = "# Settings" + std::string(kMadeBy);
  out +=
      "Each stands in the file of `--config` by its name; those with a flag have a variable too "
      "(`admissionAddress`: `--admission-address`, `TRUCE_ADMISSION_ADDRESS`). A flag wins over "
      "the variable, the variable over the file. Those marked \"live\" take effect without "
      "restart.\n\n";
  out += Head({"setting", "flag", "value", "default", "live", "meaning"});
  for (const Key& key : Keys()) {
    std::string fallback = Code(key.fallback);
    if (!key.cluster_fallback.empty()) {
      fallback += "; with a cluster " + Code(key.cluster_fallback);
    }
    out += Row({Code(key.name), key.IsStructured() ? "file only" : Code(FlagOf(key.name)),
                Cell(key.type), fallback, key.reloads ? "live" : "", Cell(key.help)});
  }
  return out;
}

std::string RulesPage() {
  std::string out = "# Rules" + std::string(kMadeBy);
  out +=
      "`rules: {NAME: {mode: …}}` sets the mode of one rule, `typeModes` and `mode` that of all "
      "others; a rule that is off by default begins with its own line. `truce explain --policy` "
      "tells which rule applies to an object and why.\n\n";
  out += Head({"rule", "demands", "by default", "exemptions without a rule's name"});
  for (const RuleSpec& rule : RuleList()) {
    const char* fallback = !rule.configurable ? "always on"
                           : rule.opt_in      ? "off"
                           : rule.warns       ? "warns at most"
                                              : "as `mode` says";
    out += Row({Code(rule.id), Cell(rule.about), fallback, rule.exemptible ? "mean it too" : ""});
  }
  return out;
}

std::string FindingsPage() {
  std::string out = "# Findings" + std::string(kMadeBy);
  out +=
      "`truce findings -o wide` shows each with its remedy, `--explain ID` its proof. The name "
      "stands in metrics (`truce_findings{rule}`), JSON, Events and mutes.\n";
  for (std::size_t i = 0; i < kDetectorCount; ++i) {
    const DetectorInfo& info = InfoOf(static_cast<Detector>(i));
    out.append("\n## ").append(info.name).append("\n\n").append(info.finds);
    out.append(" At worst *").append(Name(info.worst)).append("*");
    if (!info.event.empty()) out.append("; Event `").append(info.event).append("`");
    out.append(".\n\nProof: ").append(info.proof).append("\n");
  }
  return out;
}

// The operations of the API's description, which is this program's own and well formed.
Result<std::string> ApiPage() {
  TRUCE_ASSIGN_OR_RETURN(const YamlNode api, ParseYaml(OpenApiText(), "openapi.yaml"));
  std::string out = "# REST API" + std::string(kMadeBy);
  out += "A server has the whole description, with parameters and schemas, at `/openapi.yaml`.\n\n";
  out += Head({"operation", "", "meaning"});
  const YamlNode* paths = api.Find("paths");
  for (std::size_t i = 0; paths != nullptr && i < paths->keys.size(); ++i) {
    const YamlNode& path = paths->children[i];
    for (std::size_t k = 0; k < path.keys.size(); ++k) {
      const YamlNode& operation = path.children[k];
      if (operation.kind != YamlNode::Kind::kMapping) continue;
      const YamlNode* summary = operation.Find("summary");
      if (summary == nullptr) continue;
      out += Row({Code(path.keys[k].text), Code(paths->keys[i].text), Cell(summary->scalar)});
    }
  }
  return out;
}

Result<void> WriteReference(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return Error{ErrorCode::kUnavailable, folder.string() + " cannot be made: " + failed.message()};
  }
  TRUCE_ASSIGN_OR_RETURN(std::string api, ApiPage());
  const std::pair<const char*, std::string> pages[] = {
      {"commands.md", CommandsPage()}, {"exit-codes.md", ExitCodesPage()},
      {"settings.md", SettingsPage()}, {"rules.md", RulesPage()},
      {"findings.md", FindingsPage()}, {"api.md", std::move(api)}};
  for (const auto& [name, text] : pages) {
    TRUCE_RETURN_IF_ERROR(ReplaceFile(folder / name, text, kForEverybody));
  }
  return {};
}

}  // namespace

CommandAction DeclareReference(CommandLine& app) {
  const auto folder = std::make_shared<std::string>();
  app.AddOption("DIR", *folder, "Where the pages go; made when it is not there").Required();
  app.Footer(
      "Writes commands, exit codes, settings, rules, findings and the operations of the API as\n"
      "pages in Markdown, as this program has them.\n\n"
      "Example:\n"
      "  truce reference docs/reference\n");
  return [folder](CommandIo& io) {
    const Result<void> written = WriteReference(*folder);
    if (!written.ok()) return Complain(io, written.error().message, ExitCode::kCannotRun);
    return ExitCode::kOk;
  };
}

}  // namespace truce
