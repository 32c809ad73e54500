#include "policies/finding.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "policies/rule_list.h"

namespace truce {
namespace {

// One UTF-8 sequence at the begin of `text`: its length and code point; length 1 and no code point
// when the bytes are none.
struct Character {
  std::size_t length = 1;
  std::uint32_t code = 0;
  bool valid = false;
};

Character FirstCharacter(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = at(0);
  if (lead < 0x80) return {1, lead, true};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  std::uint32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (at(i) & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallest[length] || code > 0x10FFFF || surrogate) return {};
  return {length, code, true};
}

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
    const Character next = FirstCharacter(text);
    std::string shown;
    if (!next.valid) {
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
    text.remove_prefix(next.length);
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
