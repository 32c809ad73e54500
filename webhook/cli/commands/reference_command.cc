#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "policies/rule_list.h"
#include "registry/base/file.h"
#include "registry/base/text.h"
#include "webhook/api/rest/openapi.h"
#include "webhook/api/runbook.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/commands/reference_texts.h"
#include "webhook/config/keys.h"
#include "webhook/findings/detector.h"
#include "webhook/metrics/metric_list.h"
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
      "shows which rule applies to an object and why.\n\n";
  out += Head({"rule", "demands", "by default", "parameters", "exemptions without a rule's name"});
  for (const RuleSpec& rule : RuleList()) {
    const char* fallback = !rule.configurable ? "always on"
                           : rule.opt_in      ? "off"
                           : rule.warns       ? "warns at most"
                                              : "as `mode` says";
    out += Row({Code(rule.id), Cell(rule.about), fallback, Cell(rule.settings),
                rule.exemptible ? "apply" : ""});
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

// An alert of the chart, as files/alerts.yaml has it.
struct Alert {
  std::string name;
  std::string severity;
  std::string summary;
  std::set<std::string> metrics;  // of Truce, that its expression names
};

// The value behind `key` in a line, up to one of `ends`; empty where the line has no such key.
std::string ValueIn(std::string_view line, std::string_view key, std::string_view ends) {
  const std::size_t begin = line.find(key);
  if (begin == std::string_view::npos) return {};
  line.remove_prefix(begin + key.size());
  return std::string(line.substr(0, line.find_first_of(ends)));
}

// The alerts in a template of YAML: by its lines, since a template is none.
std::vector<Alert> ReadAlerts(std::string_view text) {
  std::vector<Alert> out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with("- alert: ")) out.push_back({.name = ValueIn(line, "alert: ", " ")});
    if (out.empty()) continue;
    Alert& alert = out.back();
    if (alert.severity.empty()) alert.severity = ValueIn(line, "severity: ", "}");
    if (alert.summary.empty()) alert.summary = ValueIn(line, "summary: ", "");
    for (const MetricInfo& metric : MetricList()) {
      const std::size_t at = line.find(metric.name);
      if (at == std::string_view::npos) continue;
      const std::string_view rest = line.substr(at + metric.name.size());
      const bool is_whole = rest.starts_with('{') || rest.starts_with("_bucket{");
      if (is_whole) alert.metrics.insert(std::string(metric.name));
    }
  }
  return out;
}

std::string MetricsPage() {
  const std::vector<Alert> alerts = ReadAlerts(AlertsText());
  std::string out = "# Metrics and alerts" + std::string(kMadeBy);
  out +=
      "`/metrics` on the metrics address has them in Prometheus' text format. Every series is "
      "there from the start, and no label holds a name of users' things but "
      "`truce_denials_total`'s namespace.\n\n";
  out += Head({"metric", "type", "labels", "meaning", "alerts"});
  for (const MetricInfo& metric : MetricList()) {
    std::string names;
    for (const Alert& alert : alerts) {
      if (!alert.metrics.contains(std::string(metric.name))) continue;
      names.append(names.empty() ? "" : ", ").append(Code(alert.name));
    }
    out += Row({Code(metric.name), std::string(metric.type), Cell(metric.labels), Cell(metric.help),
                names});
  }
  std::map<std::string, std::string> commands;
  for (const FailureCardRow& row : ReadFailureCard(FailureCardText())) {
    for (const std::string& alert : row.alerts) commands.try_emplace(alert, row.command);
  }
  out +=
      "\n## Alerts\n\nThe chart makes them with `prometheusRule.enabled`. Each links to its row of "
      "the [failure card](../failure-card.md#failure-card), which says what people see.\n\n";
  out += Head({"alert", "severity", "fires when", "the one command"});
  for (const Alert& alert : alerts) {
    out += Row({Code(alert.name), alert.severity, Cell(alert.summary), Cell(commands[alert.name])});
  }
  return out;
}

// Rows for the fields below `schema`, whose own path is `path`.
void AddFields(const YamlNode& schema, const std::string& path, std::string& out) {
  if (const YamlNode* properties = schema.Find("properties"); properties != nullptr) {
    for (std::size_t i = 0; i < properties->keys.size(); ++i) {
      const YamlNode& field = properties->children[i];
      const std::string at =
          path.empty() ? properties->keys[i].text : path + "." + properties->keys[i].text;
      const YamlNode* type = field.Find("type");
      const YamlNode* description = field.Find("description");
      out += Row({Code(at), type == nullptr ? "any" : type->scalar,
                  description == nullptr ? "" : Cell(description->scalar)});
      AddFields(field, at, out);
    }
  }
  const YamlNode* items = schema.Find("items");
  if (items != nullptr && items->kind == YamlNode::Kind::kMapping) {
    AddFields(*items, path + "[]", out);
  }
}

// The node at the end of `path`, or null. A sequence gives its first.
const YamlNode* Descend(const YamlNode* node, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) {
    if (node != nullptr && node->kind == YamlNode::Kind::kSequence) {
      node = node->children.empty() ? nullptr : &node->children.front();
    }
    node = node == nullptr || node->kind != YamlNode::Kind::kMapping ? nullptr : node->Find(key);
  }
  return node;
}

// The custom resource definitions, which are this program's own and well formed.
Result<std::string> KindsPage() {
  std::string out = "# Truce's own kinds" + std::string(kMadeBy);
  out += "All are of `truce.dev/v1alpha1`; `kubectl explain KIND.FIELD` says the same.\n";
  for (const std::string_view text :
       {DeclarationMappingText(), NamingPolicyText(), OwnershipCheckText(), OwnershipGrantText()}) {
    YamlDocuments documents(
        [rest = text](char* buffer, std::size_t size) mutable {
          const std::size_t count = rest.copy(buffer, size);
          rest.remove_prefix(count);
          return count;
        },
        "schema/crds");
    TRUCE_ASSIGN_OR_RETURN(const std::optional<YamlNode> crd, documents.Next());
    const YamlNode* root = crd.has_value() ? &*crd : nullptr;
    const YamlNode* kind = Descend(root, {"spec", "names", "kind"});
    const YamlNode* scope = Descend(root, {"spec", "scope"});
    const YamlNode* schema = Descend(root, {"spec", "versions", "schema", "openAPIV3Schema"});
    const YamlNode* about = Descend(schema, {"description"});
    if (kind == nullptr || scope == nullptr || about == nullptr) {
      return Error{ErrorCode::kInternal, "a custom resource definition lacks what names it"};
    }
    out.append("\n## ").append(kind->scalar).append("\n\n").append(about->scalar);
    out.append(" Scope: ").append(scope->scalar).append(".\n\n");
    out += Head({"field", "type", "meaning"});
    AddFields(*schema, "", out);
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
  TRUCE_ASSIGN_OR_RETURN(std::string kinds, KindsPage());
  const std::pair<const char*, std::string> pages[] = {
      {"commands.md", CommandsPage()}, {"exit-codes.md", ExitCodesPage()},
      {"settings.md", SettingsPage()}, {"rules.md", RulesPage()},
      {"findings.md", FindingsPage()}, {"api.md", std::move(api)},
      {"metrics.md", MetricsPage()},   {"kinds.md", std::move(kinds)}};
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
      "Writes commands, exit codes, settings, rules, findings, metrics with alerts, Truce's own\n"
      "kinds and the operations of the API as pages in Markdown, as this program has them.\n\n"
      "Example:\n"
      "  truce reference docs/reference\n");
  return [folder](CommandIo& io) {
    const Result<void> written = WriteReference(*folder);
    if (!written.ok()) return Complain(io, written.error().message, ExitCode::kCannotRun);
    return ExitCode::kOk;
  };
}

}  // namespace truce
