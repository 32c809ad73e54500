#include "policies/finding.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "policies/rule_list.h"
#include "registry/base/utf8.h"

namespace truce {
namespace {

// Characters that change a line without being seen in it.
bool IsInvisible(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0xA0) || code == 0xAD || code == 0x61C ||
         code == 0x180E || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
         code == 0xFEFF || (code >= 0xFFF0 && code <= 0xFFFB) ||
         (code >= 0xE0000 && code <= 0xE007F);
}

std::string Escaped(std::uint32_t code) {
  std::array<char, 16> out;
  const int length = std::snprintf(out.data(), out.size(), "\\u{%02x}", code);
  return std::string(out.data(), static_cast<std::size_t>(length));
}

// Every line passes the escape once more: what stands here is printed by whoever reads a denial.
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

// One remedy, and what is wrong with the name, numbered.
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

// Whether all characters are printable ASCII. Eight at a time: each text of a denial is looked at.
bool IsPlain(std::string_view text) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kEach;
  std::uint64_t odd = 0;
  while (text.size() >= sizeof odd) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data(), sizeof eight);
    // Over '~'; below ' '. What borrows or carries into its neighbour is odd itself.
    odd |= eight | (eight + kEach) | ~((eight | kHigh) - ' ' * kEach);
    text.remove_prefix(sizeof eight);
  }
  return (odd & kHigh) == 0 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// Needs no escape.
bool IsPrintable(std::string_view text) {
  return IsPlain(text) && text.find("map[") == std::string_view::npos;
}

}  // namespace

std::string_view Name(Rule rule) { return RuleList()[static_cast<std::size_t>(rule)].id; }

std::optional<Rule> RuleFromName(std::string_view name) {
  for (const RuleSpec& spec : RuleList()) {
    if (spec.id == name) return spec.rule;
  }
  return std::nullopt;
}

void AppendLine(std::string_view text, std::size_t bytes_max, std::string& out) {
  constexpr std::string_view kCut = "…";
  const bool usual = IsPrintable(text);
  if (usual && text.size() <= bytes_max) {
    out += text;
    return;
  }
  if (usual && bytes_max >= kCut.size()) {
    out.append(text.substr(0, bytes_max - kCut.size())).append(kCut);
    return;
  }
  const std::size_t begin = out.size();
  std::size_t fits = 0;  // length of the line up to which the cut mark still fits
  while (!text.empty()) {
    const Utf8Character next = FirstCharacter(text);
    std::string shown;
    if (next.length == 0) {
      shown = "\\u{fffd}";
    } else if (IsInvisible(next.code)) {
      shown = Escaped(next.code);
    } else {
      shown = text.substr(0, next.length);
    }
    // Argo CD deletes what looks like Go's print of a map.
    if (shown == "[" && std::string_view(out).substr(begin).ends_with("map")) shown = " [";
    const std::size_t length = out.size() - begin;
    if (length + shown.size() > bytes_max) {
      out.resize(begin + fits);
      if (bytes_max >= kCut.size()) out += kCut;
      return;
    }
    out += shown;
    if (length + shown.size() + kCut.size() <= bytes_max) fits = length + shown.size();
    text.remove_prefix(std::max<std::size_t>(next.length, 1));
  }
}

std::string OneLine(std::string_view text, std::size_t bytes_max) {
  std::string out;
  AppendLine(text, bytes_max, out);
  return out;
}

std::string Quoted(std::string_view text) { return '"' + OneLine(text, kShownTextBytesMax) + '"'; }

void MakePrintable(Finding& finding) {
  for (std::string* text :
       {&finding.resource, &finding.cause, &finding.remedy, &finding.link, &finding.warning}) {
    if (!IsPrintable(*text)) *text = OneLine(*text, kMessageBytesMax);
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
      out += "\nAnd " + std::to_string(findings.size() - i) + " more findings.";
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
