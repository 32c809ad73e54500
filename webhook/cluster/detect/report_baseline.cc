#include "webhook/cluster/detect/report_baseline.h"

#include <string_view>

#include "policies/finding.h"
#include "policies/people.h"
#include "webhook/cluster/detect/report_conflicts.h"
#include "webhook/cluster/detect/text_table.h"

namespace truce {
namespace {

constexpr std::size_t kLineBytesMax = 4096;

std::string Seconds(std::chrono::milliseconds time) {
  const auto tenths = (time.count() + 50) / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

// Text and attribute values of XML; control characters are not allowed in it even escaped.
std::string Xml(std::string_view text) {
  std::string out;
  for (const char c : OneLine(text, kLineBytesMax)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&apos;"; break;
      default: out += c;
    }
  }
  return out;
}

// A cell of a Markdown table, shown as it is written.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : OneLine(text, kLineBytesMax)) {
    const bool is_special = std::string_view("\\`*_{}[]<>|#").find(c) != std::string_view::npos;
    if (is_special) out += '\\';
    out += c;
  }
  return out.empty() ? "–" : out;
}

std::string Others(const Conflict& conflict) {
  std::string out;
  for (std::size_t i = 1; i < conflict.sides.size(); ++i) {
    out += (i > 1 ? "; " : "") + SideForPeople(conflict.sides[i]);
  }
  return out;
}

std::string Summary(const BaselineReport& report) {
  const StoreCounts& counts = report.counts;
  return std::to_string(counts.owners) + " resources have an owner (" +
         std::to_string(counts.held) + " held, " + std::to_string(counts.reserved) + " reserved, " +
         std::to_string(counts.orphaned) + " orphaned, " + std::to_string(counts.imported) +
         " imported), " + std::to_string(report.conflicts.size()) +
         " of them more than one manager.";
}

std::string Progress(const BaselineReport& report) {
  if (!report.complete) return "The baseline is not complete yet: lists are still running.";
  return std::to_string(report.objects) + " objects of " + std::to_string(report.kinds) +
         " kinds were read in " + Seconds(report.took) + " s.";
}

}  // namespace

std::string BaselineText(const BaselineReport& report) {
  std::string out = "Baseline of cluster " + OneLine(report.cluster, kLineBytesMax) + " at " +
                    FormatTimestamp(report.at) + "\n" + Progress(report) + "\n" + Summary(report) +
                    "\n";
  if (!report.conflicts.empty()) {
    out +=
        "\n" + ConflictsText(report.conflicts, report.wars, false) +
        "\nNothing of this is refused: both go on as they did. `truce conflicts -o wide` says how "
        "to end each.\n";
  }
  if (!report.problems.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const BaselineProblem& problem : report.problems) {
      rows.push_back({problem.kind, problem.problem});
    }
    out += "\n" + TextTable({"NOT READ", "WHY"}, rows);
  }
  return out;
}

std::string BaselineJunit(const BaselineReport& report) {
  const std::size_t tests = report.conflicts.size() + report.problems.size() + 1;
  const std::string numbers = "tests=\"" + std::to_string(tests) + "\" failures=\"" +
                              std::to_string(report.conflicts.size()) + "\" errors=\"" +
                              std::to_string(report.problems.size() + (report.complete ? 0 : 1)) +
                              "\" time=\"" + Seconds(report.took) + "\"";
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"truce baseline\" " + numbers +
      ">\n  <testsuite name=\"cluster " + Xml(report.cluster) + "\" " + numbers + " timestamp=\"" +
      FormatTimestamp(report.at) + "\">\n";
  out += "    <testcase classname=\"baseline\" name=\"complete\" time=\"" + Seconds(report.took) +
         "\"";
  out += report.complete ? "/>\n"
                         : ">\n      <error type=\"incomplete\" message=\"" +
                               Xml(Progress(report)) + "\"/>\n    </testcase>\n";
  for (const Conflict& conflict : report.conflicts) {
    out += "    <testcase classname=\"" + Xml(conflict.owner.identity.type) + "\" name=\"" +
           Xml(conflict.owner.name) +
           "\" time=\"0\">\n      <failure type=\"ownership-conflict\" message=\"" +
           Xml(FindingOf(conflict).cause) + "\">";
    for (const std::string& step : ResolutionSteps(conflict)) out += Xml(step) + "\n";
    out += "</failure>\n    </testcase>\n";
  }
  for (const BaselineProblem& problem : report.problems) {
    out += "    <testcase classname=\"kind\" name=\"" + Xml(problem.kind) +
           "\" time=\"0\">\n      <error type=\"not-listed\" message=\"" + Xml(problem.problem) +
           "\"/>\n    </testcase>\n";
  }
  return out + "  </testsuite>\n</testsuites>\n";
}

std::string BaselineMarkdown(const BaselineReport& report) {
  std::string out = "# Baseline of cluster " + Cell(report.cluster) + "\n\n" +
                    FormatTimestamp(report.at) + ". " + Progress(report) + " " + Summary(report) +
                    "\n";
  if (!report.conflicts.empty()) {
    out +=
        "\n## Conflicts\n\n| resource | owner of record | also managed by | tag war "
        "|\n|---|---|---|---|\n";
    for (const Conflict& conflict : report.conflicts) {
      const bool runs = WarAt(report.wars, conflict.owner.key) != nullptr;
      out += "| " + Cell(conflict.resource) + " | " + Cell(SideForPeople(conflict.sides.front())) +
             " | " + Cell(Others(conflict)) + " | " + (runs ? "running" : "–") + " |\n";
    }
    out += "\n`truce conflicts -o wide` says how to end each without losing the resource.\n";
  }
  if (!report.problems.empty()) {
    out += "\n## Not read\n\n| kind | why |\n|---|---|\n";
    for (const BaselineProblem& problem : report.problems) {
      out += "| " + Cell(problem.kind) + " | " + Cell(problem.problem) + " |\n";
    }
  }
  return out;
}

}  // namespace truce
