#include "policies/finding.h"

#include <algorithm>

#include "policies/rule_list.h"
#include "registry/base/counted.h"

namespace truce {
namespace {

// Every line passes the escape once more: readers of a denial print it.
std::string Paragraph(const Finding& finding) {
  std::string out;
  out.reserve(finding.cause.size() + finding.remedy.size() + finding.link.size() + 2);
  AppendLine(finding.cause, kMessageBytesMax, out);
  for (const std::string* line : {&finding.remedy, &finding.link}) {
    if (line->empty()) continue;
    out += '\n';
    AppendLine(*line, kMessageBytesMax, out);
  }
  return out.append(" [").append(Name(finding.rule)).append("]");
}

// Whether all findings are cured by the same new name of one resource.
bool ShareSuggestion(std::span<const Finding> findings) {
  const Finding& first = findings.front();
  return !first.suggestion.empty() &&
         std::all_of(findings.begin(), findings.end(), [&](const Finding& each) {
           return each.suggestion == first.suggestion && each.resource == first.resource;
         });
}

// One remedy, and the faults of the name, numbered.
std::string RenameText(std::span<const Finding> findings) {
  const Finding& first = findings.front();
  std::string out = "Rename " + first.resource + " to " + Quoted(first.suggestion) + ":";
  for (std::size_t i = 0; i < findings.size(); ++i) {
    out.append("\n(").append(std::to_string(i + 1)).append(") ").append(findings[i].cause);
    out.append(" [").append(Name(findings[i].rule)).append("]");
  }
  return out;
}

// The first line of a text about several findings. Several rules may refuse one resource.
std::string Headline(std::span<const Finding> findings) {
  constexpr std::size_t kNamedMax = 5;
  std::vector<std::string_view> resources;
  for (const Finding& finding : findings) {
    if (std::find(resources.begin(), resources.end(), finding.resource) == resources.end()) {
      resources.push_back(finding.resource);
    }
  }
  if (resources.size() == 1 && !findings.front().resource.empty()) {
    return OneLine(findings.front().resource, kMessageBytesMax) + " is refused for " +
           std::to_string(findings.size()) + " reasons.";
  }
  std::string out = std::to_string(resources.size()) + " resources of this object are refused: ";
  for (std::size_t i = 0; i < std::min(resources.size(), kNamedMax); ++i) {
    if (i > 0) out += ", ";
    AppendLine(resources[i], kMessageBytesMax, out);
  }
  if (resources.size() > kNamedMax) {
    out += " and " + std::to_string(resources.size() - kNamedMax) + " more";
  }
  return out + ".";
}

}  // namespace

std::string_view Name(Rule rule) { return SpecOf(rule).id; }

std::optional<Rule> RuleFromName(std::string_view name) {
  for (const RuleSpec& spec : RuleList()) {
    if (spec.id == name) return spec.rule;
  }
  return std::nullopt;
}

void MakePrintable(Finding& finding) {
  for (std::string* text :
       {&finding.resource, &finding.cause, &finding.remedy, &finding.link, &finding.warning}) {
    if (!IsOneLine(*text)) *text = OneLine(*text, kMessageBytesMax);
  }
}

std::string DenialText(std::span<const Finding> findings) {
  if (findings.size() == 1) return Paragraph(findings[0]);
  if (ShareSuggestion(findings)) return RenameText(findings);
  constexpr std::size_t kTailBytes = 64;  // room for the line that counts what was left out
  std::string out = Headline(findings);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const std::string paragraph = Paragraph(findings[i]);
    if (out.size() + 1 + paragraph.size() + kTailBytes > kMessageBytesMax) {
      out += "\nAnd " + Counted(findings.size() - i, "more finding") + ".";
      break;
    }
    out += "\n" + paragraph;
  }
  return out;
}

std::vector<std::string> Warnings(std::span<const Finding> findings) {
  std::vector<std::string> out;
  std::size_t bytes = 0;
  for (const Finding& finding : findings) {
    const std::string warning = OneLine(finding.warning, kWarningBytesMax);
    if (std::find(out.begin(), out.end(), warning) != out.end()) continue;
    if (bytes + warning.size() > kWarningsBytesMax) break;
    bytes += warning.size();
    out.push_back(warning);
  }
  return out;
}

}  // namespace truce
