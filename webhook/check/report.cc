#include "webhook/check/report.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "policies/finding.h"
#include "registry/base/counted.h"
#include "registry/base/name_table.h"
#include "registry/base/one_line.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr NameTable<CheckVerdict::kUnread> kCheckVerdicts("clean", "warned", "refused", "unknown",
                                                          "unread");

constexpr NameTable<CheckSeverity::kNote> kCheckSeverities("error", "warning", "note");

constexpr std::size_t kTerminationBytesMax = 4096;

std::string Size(const CheckReport& report) {
  return Counted(report.documents, "document") + ", " +
         Counted(report.declarations.size(), "declared resource");
}

const CheckFinding* First(const CheckReport& report, CheckSeverity severity) {
  const auto found =
      std::find_if(report.findings.begin(), report.findings.end(),
                   [&](const CheckFinding& finding) { return finding.severity == severity; });
  return found == report.findings.end() ? nullptr : &*found;
}

}  // namespace

std::string_view Name(CheckSeverity severity) { return kCheckSeverities.Of(severity); }

std::string_view Name(CheckVerdict verdict) { return kCheckVerdicts.Of(verdict); }

std::string ForPeople(const CheckLocation& location) {
  std::string text = OneLine(location.file, 512);
  if (location.at.line > 0) text.append(":").append(std::to_string(location.at.line));
  if (!location.source.empty()) text.append(" (").append(OneLine(location.source, 512)).append(")");
  return text;
}

std::size_t CheckReport::Count(CheckSeverity severity) const {
  return static_cast<std::size_t>(std::count_if(
      findings.begin(), findings.end(),
      [severity](const CheckFinding& finding) { return finding.severity == severity; }));
}

CheckVerdict VerdictOf(const CheckReport& report) {
  if (report.unread) return CheckVerdict::kUnread;
  if (report.Count(CheckSeverity::kError) > 0) return CheckVerdict::kRefused;
  if (!report.unreachable.empty()) return CheckVerdict::kUnknown;
  return report.Count(CheckSeverity::kWarning) > 0 ? CheckVerdict::kWarned : CheckVerdict::kClean;
}

CheckFinding UnreadFinding(const std::string& message, const std::string& file) {
  CheckFinding finding;
  finding.rule = "input";
  finding.location.file = file;
  std::string_view cause = message;
  if (!file.empty()) {
    finding.remedy = "Then check again: what could not be read was not judged.";
    const std::string place = file + ":";
    if (cause.starts_with(place)) cause.remove_prefix(place.size());
    int line = 0;
    const auto number = std::from_chars(cause.data(), cause.data() + cause.size(), line);
    const bool has_line =
        number.ec == std::errc() &&
        cause.substr(static_cast<std::size_t>(number.ptr - cause.data())).starts_with(':');
    if (has_line) {
      finding.location.at = {line, 1};
      cause.remove_prefix(static_cast<std::size_t>(number.ptr - cause.data()) + 1);
    }
  }
  finding.cause = OneLine(Trimmed(cause), kTerminationBytesMax);
  return finding;
}

std::string SilenceOf(const CheckReport& report) {
  return (report.turned_away ? "the registry refused to answer: "
                             : "the registry did not answer: ") +
         report.unreachable;
}

std::string Headline(const CheckReport& report) {
  std::string text = "truce check: ";
  const CheckFinding* error = First(report, CheckSeverity::kError);
  const std::size_t errors = report.Count(CheckSeverity::kError);
  const std::size_t warnings = report.Count(CheckSeverity::kWarning);
  switch (VerdictOf(report)) {
    case CheckVerdict::kUnread:
    case CheckVerdict::kRefused:
      text.append(report.unread ? "not all of it could be checked: " : "refused: ");
      if (error == nullptr) return text.append("see what it printed");
      text.append(error->cause);
      if (!text.ends_with('.')) text += '.';
      if (!error->remedy.empty()) text.append(" ").append(error->remedy);
      if (!error->location.file.empty())
        text.append(" [").append(ForPeople(error->location)).append("]");
      if (errors > 1) text.append(" (and ").append(std::to_string(errors - 1)).append(" more)");
      return text;
    case CheckVerdict::kUnknown:
      return text.append("nothing was decided, ").append(SilenceOf(report));
    case CheckVerdict::kWarned:
      text.append(Size(report)).append(", ").append(Counted(warnings, "warning"));
      return text.append(": ").append(First(report, CheckSeverity::kWarning)->cause);
    case CheckVerdict::kClean:
      return text.append(Size(report))
          .append(report.registry.empty()
                      ? ", nothing wrong by themselves (the registry was not asked)"
                      : ", nobody else owns any of them");
  }
  return text;
}

std::string CountsOf(const CheckReport& report) {
  std::string out = Size(report) + ": ";
  out.append(Counted(report.Count(CheckSeverity::kError), "error")).append(", ");
  out.append(Counted(report.Count(CheckSeverity::kWarning), "warning"));
  if (report.registry.empty()) {
    out.append("; the registry was not asked");
  } else if (!report.unreachable.empty()) {
    out.append("; the registry at ").append(report.registry);
    out.append(report.turned_away ? " refused to answer: " : " did not answer: ");
    out.append(report.unreachable);
  } else {
    out.append("; asked ").append(report.registry);
  }
  return out;
}

std::string TextReport(const CheckReport& report) {
  std::string out;
  for (const CheckFinding& finding : report.findings) {
    if (!finding.location.file.empty()) out.append(ForPeople(finding.location)).append(": ");
    out.append(Name(finding.severity)).append(": ").append(OneLine(finding.cause));
    // To search for, and to name in an exemption.
    out.append(" [").append(finding.rule).append("]\n");
    if (!finding.object.empty()) out.append("    in ").append(OneLine(finding.object)).append("\n");
    if (!finding.remedy.empty()) out.append("    ").append(OneLine(finding.remedy)).append("\n");
    if (!finding.link.empty()) out.append("    ").append(OneLine(finding.link)).append("\n");
  }
  return out + OneLine(CountsOf(report)) + "\n";
}

std::string TerminationMessage(const CheckReport& report) {
  std::string out = OneLine(Headline(report), kTerminationBytesMax - 1) + "\n";
  for (const CheckFinding& finding : report.findings) {
    if (finding.severity != CheckSeverity::kError) continue;
    std::string line = ForPeople(finding.location) + ": " + finding.cause;
    if (!finding.remedy.empty()) line.append(" ").append(finding.remedy);
    if (!finding.link.empty()) line.append(" ").append(finding.link);
    line = OneLine(line);
    if (out.size() + line.size() + 1 > kTerminationBytesMax) break;
    out.append(line).append("\n");
  }
  return out;
}

}  // namespace truce
