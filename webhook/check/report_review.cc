// Reports for reviewers of a change: GitHub's annotations, a comment in Markdown.
#include <string>

#include "registry/base/one_line.h"
#include "webhook/check/report.h"
#include "webhook/wire/markdown.h"

namespace truce {
namespace {

// Of one finding in a comment.
constexpr std::size_t kReviewTextBytesMax = 4096;

// GitHub takes comments of at most 65,536 characters; the rest is for the head and the foot.
constexpr std::size_t kReviewRowsBytesMax = 60000;

// The value of a property of a workflow command, or (`in_property` false) its message: GitHub reads
// these escapes back, and one line is one command.
std::string Escaped(std::string_view text, bool in_property) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '%': out += "%25"; break;
      case '\r': out += "%0D"; break;
      case '\n': out += "%0A"; break;
      case ':': out += in_property ? "%3A" : ":"; break;
      case ',': out += in_property ? "%2C" : ","; break;
      default: out += c;
    }
  }
  return out;
}

std::string_view CommandOf(CheckSeverity severity) {
  switch (severity) {
    case CheckSeverity::kError: return "::error ";
    case CheckSeverity::kWarning: return "::warning ";
    case CheckSeverity::kNote: return "::notice ";
  }
  return "::error ";
}

std::string PlaceForGithub(const CheckLocation& location) {
  if (location.file.empty()) return {};
  std::string out = "file=" + Escaped(OneLine(location.file), true) + ",";
  if (location.at.line == 0) return out;
  return out + "line=" + std::to_string(location.at.line) +
         ",col=" + std::to_string(location.at.column) + ",";
}

std::string MessageOf(const CheckFinding& finding) {
  std::string text = finding.object.empty() ? "" : finding.object + ": ";
  text += finding.cause;
  for (const std::string* each : {&finding.remedy, &finding.link}) {
    if (!each->empty()) text.append("\n").append(*each);
  }
  return text;
}

std::string RowOf(const CheckFinding& finding) {
  std::string out = "| " + std::string(Name(finding.severity)) + " | " +
                    MarkdownCell(ForPeople(finding.location), kReviewTextBytesMax) + " | " +
                    MarkdownCell(finding.cause, kReviewTextBytesMax);
  if (!finding.object.empty()) out += "<br>in " + MarkdownCell(finding.object, kReviewTextBytesMax);
  if (!finding.remedy.empty()) out += "<br>" + MarkdownCell(finding.remedy, kReviewTextBytesMax);
  if (!finding.link.empty()) out += "<br>" + MarkdownCell(finding.link, kReviewTextBytesMax);
  return out + " | " + MarkdownCell(finding.rule, kReviewTextBytesMax) + " |\n";
}

std::string_view TitleOf(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::kClean: return "nothing prevents it";
    case CheckVerdict::kWarned: return "warnings";
    case CheckVerdict::kRefused: return "it would be refused";
    case CheckVerdict::kUnknown: return "nothing was decided";
    case CheckVerdict::kUnread: return "not all of it could be checked";
  }
  return "nothing was decided";
}

}  // namespace

std::string GithubReport(const CheckReport& report, CheckSeverity silence) {
  std::string out;
  for (const CheckFinding& finding : report.findings) {
    out.append(CommandOf(finding.severity)).append(PlaceForGithub(finding.in_repository));
    out.append("title=").append(Escaped(OneLine("truce check (" + finding.rule + ")"), true));
    out.append("::").append(Escaped(Lines(MessageOf(finding)), false)).append("\n");
  }
  if (!report.unreachable.empty()) {
    out.append(CommandOf(silence)).append("title=truce check::");
    out.append(Escaped(Lines("nothing was decided, " + SilenceOf(report)), false)).append("\n");
  }
  return out + OneLine(CountsOf(report), kReviewTextBytesMax) + "\n";
}

std::string MarkdownReport(const CheckReport& report) {
  std::string out = "### truce check: " + std::string(TitleOf(VerdictOf(report))) + "\n\n";
  if (!report.findings.empty()) out += "| | where | what | rule |\n|---|---|---|---|\n";
  std::size_t left_out = 0;
  const std::size_t head = out.size();
  for (const CheckFinding& finding : report.findings) {
    const std::string row = RowOf(finding);
    const bool fits = left_out == 0 && out.size() - head + row.size() <= kReviewRowsBytesMax;
    if (!fits) {
      ++left_out;
      continue;
    }
    out += row;
  }
  if (left_out > 0) {
    out += "\n" + std::to_string(left_out) +
           " more do not fit into a comment; `truce check` prints all.\n";
  }
  if (!report.findings.empty()) out += "\n";
  return out + MarkdownCell(CountsOf(report), kReviewTextBytesMax) + "\n";
}

}  // namespace truce
