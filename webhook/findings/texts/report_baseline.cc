#include "webhook/findings/texts/report_baseline.h"

#include <algorithm>
#include <string_view>

#include "policies/finding.h"
#include "policies/people.h"
#include "registry/base/counted.h"
#include "webhook/findings/conflicts.h"
#include "webhook/findings/tag_war.h"
#include "webhook/wire/markdown.h"
#include "webhook/wire/markup.h"
#include "webhook/wire/text_table.h"

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
  for (const char c : OneLine(text, kLineBytesMax)) AppendToMarkup(c, out);
  return out;
}

std::string Cell(std::string_view text) { return MarkdownCell(text, kLineBytesMax); }

std::string Others(const Conflict& conflict) {
  std::string out;
  for (std::size_t i = 1; i < conflict.sides.size(); ++i) {
    out += (i > 1 ? "; " : "") + SideForPeople(conflict.sides[i], conflict);
  }
  return out;
}

std::string FindingsSummary(const BaselineReport& report) {
  const auto count = [&](Severity severity) {
    const auto found = report.findings.find(severity);
    return std::to_string(found == report.findings.end() ? 0 : found->second);
  };
  if (report.findings.empty() && report.muted == 0) return {};
  return " Findings now: " + count(Severity::kCritical) + " critical, " +
         count(Severity::kWarning) + " to mend, " + count(Severity::kInfo) + " to know, " +
         std::to_string(report.muted) + " muted; `truce findings` lists them.";
}

std::string Summary(const BaselineReport& report) {
  const StoreCounts& counts = report.counts;
  return Counted(counts.owners, "resource has an owner (", "resources have an owner (") +
         std::to_string(counts.held) + " held, " + std::to_string(counts.reserved) + " reserved, " +
         std::to_string(counts.orphaned) + " orphaned, " + std::to_string(counts.imported) +
         " imported), " +
         Counted(report.conflicts.size(), "of them has more than one manager.",
                 "of them have more than one manager.") +
         FindingsSummary(report);
}

// Names that a rule in mode enforce would refuse if they came today.
bool IsRefused(const NameViolation& one) { return one.mode == Name(Mode::kEnforce); }

const std::vector<UseFault>& UsesOf(const BaselineReport& report) {
  static const std::vector<UseFault> kNone;
  return report.names ? report.names->uses : kNone;
}

const std::vector<NameViolation>& ViolationsOf(const BaselineReport& report) {
  static const std::vector<NameViolation> kNone;
  return report.names ? report.names->violations : kNone;
}

std::string NamesJunit(const std::vector<NameViolation>& violations) {
  std::string out;
  for (const NameViolation& one : violations) {
    const std::string told =
        one.rule + " (" + one.mode + ")" + (one.better.empty() ? "" : ": better " + one.better);
    out += "    <testcase classname=\"" + Xml(one.type) + "\" name=\"" + Xml(one.name) +
           "\" time=\"0\">\n      ";
    out += IsRefused(one) ? "<failure type=\"name\" message=\"" + Xml(told) + "\">" +
                                Xml(one.object) + "</failure>"
                          : "<skipped message=\"" + Xml(told) + "\"/>";
    out += "\n    </testcase>\n";
  }
  return out;
}

// Enforcing never ends the use of a resource by attachments and observers: no case fails.
std::string UsesJunit(const std::vector<UseFault>& uses) {
  std::string out;
  for (const UseFault& one : uses) {
    out += "    <testcase classname=\"" + one.rule + "\" name=\"" + Xml(one.object) +
           "\" time=\"0\">\n      <skipped message=\"" + Xml(one.cause) + "\"/>\n    </testcase>\n";
  }
  return out;
}

std::string NamesMarkdown(const NameReport& names) {
  std::string out = "\n## Names\n\n" + NameSummary(names) + "\n";
  if (!names.counts.empty()) {
    out +=
        "\n| service | type | conforming | exempt | violating | done "
        "|\n|---|---|---|---|---|---|\n";
  }
  for (const auto& [place, counts] : names.counts) {
    out += "| " + Cell(place.first) + " | " + Cell(place.second) + " | " +
           std::to_string(counts.conforming) + " | " + std::to_string(counts.exempt) + " | " +
           std::to_string(counts.violating) + " | " + std::to_string(PercentDone(counts)) +
           " % |\n";
  }
  if (!names.violations.empty()) {
    out += "\n| service | type | name | suggested | rule | mode |\n|---|---|---|---|---|---|\n";
  }
  for (const NameViolation& one : names.violations) {
    out += "| " + Cell(one.service) + " | " + Cell(one.type) + " | " + Cell(one.name) + " | " +
           Cell(one.better) + " | " + one.rule + " | " + one.mode + " |\n";
  }
  if (!names.uses.empty()) {
    out += "\n## Uses of others' resources\n\n| rule | mode | what | remedy |\n|---|---|---|---|\n";
  }
  for (const UseFault& one : names.uses) {
    out += "| " + one.rule + " | " + one.mode + " | " + Cell(one.cause) + " | " + Cell(one.remedy) +
           " |\n";
  }
  for (const NameProblem& problem : names.problems) {
    out += "\nNot counted: " + Cell(problem.kind) + ": " + Cell(problem.problem) + "\n";
  }
  return out;
}

std::string QuotasMarkdown(const QuotaReport& quotas) {
  std::string out = "\n## Quotas\n\n| type | where | held / limit | state |\n|---|---|---|---|\n";
  for (const QuotaLine& line : quotas.lines) {
    out += "| " + Cell(line.quota.type) + " | " + Cell(InWords(line.spot)) + " | " +
           std::to_string(line.used) + " / " + std::to_string(line.quota.max) + " | " +
           std::string(QuotaStateOf(line)) + " |\n";
  }
  for (const UncountedLine& each : quotas.uncounted) {
    out += "\n" + std::to_string(each.count) + " " + Cell(each.type) +
           " count for no account: theirs is not known.\n";
  }
  return out;
}

std::string Progress(const BaselineReport& report) {
  if (!report.complete) return "The baseline is not complete yet: lists are still running.";
  return Counted(report.objects, "object") + " of " + Counted(report.kinds, "kind") +
         (report.objects == 1 ? " was" : " were") + " read in " + Seconds(report.took) + " s.";
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
  if (report.names) {
    out += "\n" + NameReportText(*report.names);
    if (!report.names->uses.empty()) out += "\n" + UseFaultsText(*report.names);
  }
  if (report.quotas) out += "\n" + QuotaText(*report.quotas);
  return out;
}

std::string BaselineJunit(const BaselineReport& report) {
  const std::vector<NameViolation>& names = ViolationsOf(report);
  const std::vector<UseFault>& uses = UsesOf(report);
  const auto refused =
      static_cast<std::size_t>(std::count_if(names.begin(), names.end(), IsRefused));
  const std::size_t tests =
      report.conflicts.size() + names.size() + uses.size() + report.problems.size() + 1;
  const std::string numbers = "tests=\"" + std::to_string(tests) + "\" failures=\"" +
                              std::to_string(report.conflicts.size() + refused) + "\" errors=\"" +
                              std::to_string(report.problems.size() + (report.complete ? 0 : 1)) +
                              "\" skipped=\"" +
                              std::to_string(names.size() - refused + uses.size()) + "\" time=\"" +
                              Seconds(report.took) + "\"";
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
  out += NamesJunit(names) + UsesJunit(uses);
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
      out += "| " + Cell(conflict.resource) + " | " +
             Cell(SideForPeople(conflict.sides.front(), conflict)) + " | " +
             Cell(Others(conflict)) + " | " + (runs ? "running" : "–") + " |\n";
    }
    out += "\n`truce conflicts -o wide` says how to end each without losing the resource.\n";
  }
  if (!report.problems.empty()) {
    out += "\n## Not read\n\n| kind | why |\n|---|---|\n";
    for (const BaselineProblem& problem : report.problems) {
      out += "| " + Cell(problem.kind) + " | " + Cell(problem.problem) + " |\n";
    }
  }
  if (report.names) out += NamesMarkdown(*report.names);
  if (report.quotas) out += QuotasMarkdown(*report.quotas);
  return out;
}

}  // namespace truce
