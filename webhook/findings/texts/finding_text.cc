#include "webhook/findings/texts/finding_text.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "policies/finding.h"
#include "registry/base/counted.h"
#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "webhook/wire/text_table.h"

namespace truce {
namespace {

constexpr std::size_t kObjectsShownMax = 50;
constexpr std::size_t kAboutBytesMax = 120;

Timestamp SinceOf(const LiveFinding& finding) {
  return finding.since == Timestamp{} ? finding.first_seen : finding.since;
}

std::string ResourceOf(const LiveFinding& finding) {
  return OneLine(finding.resource.empty() ? finding.subject : finding.resource, kAboutBytesMax);
}

// On one line; an empty word, as of what has no namespace, says nothing.
std::string Listed(std::vector<std::string> words) {
  std::erase(words, "");
  return OneLine(Joined(words), kAboutBytesMax);
}

std::string_view MeaningOf(Severity severity) {
  switch (severity) {
    case Severity::kInfo: return "to know; nothing is broken";
    case Severity::kWarning: return "to mend";
    case Severity::kCritical: break;
  }
  return "harm is done now";
}

// "  Label      text", and nothing when there is no text.
void AddLine(std::string_view label, std::string_view text, std::string& out) {
  constexpr std::size_t kLabelWidth = 11;
  if (text.empty()) return;
  std::string head(label);
  head.resize(kLabelWidth, ' ');
  out.append("  ").append(head).append(OneLine(text, kMessageBytesMax)).append("\n");
}

std::string TimesOf(const LiveFinding& finding) {
  std::string out = FormatTimestamp(SinceOf(finding));
  if (finding.since != Timestamp{} && finding.since != finding.first_seen) {
    out += "; found first " + FormatTimestamp(finding.first_seen);
  }
  return out + "; seen last " + FormatTimestamp(finding.last_seen);
}

std::string ObjectsOf(const LiveFinding& finding) {
  std::string out;
  const std::size_t count = std::min(finding.objects.size(), kObjectsShownMax);
  for (std::size_t i = 0; i < count; ++i) {
    AddLine(i == 0 ? "Objects" : "", ForPeople(finding.objects[i]), out);
  }
  if (count < finding.objects.size()) {
    AddLine("", "and " + std::to_string(finding.objects.size() - count) + " more", out);
  }
  return out;
}

}  // namespace

void SortForPeople(std::vector<LiveFinding>& findings) {
  const auto place = [](const LiveFinding& finding) {
    return std::make_tuple(-static_cast<int>(SeverityOf(finding.mode)), SinceOf(finding),
                           finding.detector, std::string_view(finding.subject));
  };
  std::sort(findings.begin(), findings.end(),
            [&](const LiveFinding& a, const LiveFinding& b) { return place(a) < place(b); });
}

std::string FindingsText(std::span<const LiveFinding> findings, std::size_t muted, bool wide) {
  std::string out;
  if (findings.empty()) {
    out = muted == 0 ? "Nothing is found.\n" : "Nothing is found that is not muted.\n";
  } else {
    std::vector<std::vector<std::string>> rows;
    for (const LiveFinding& finding : findings) {
      rows.push_back({finding.id, std::string(Name(SeverityOf(finding.mode))),
                      std::string(Name(finding.detector)), ResourceOf(finding),
                      Listed(finding.namespaces), FormatTimestamp(SinceOf(finding))});
    }
    out = TextTable({"ID", "SEVERITY", "RULE", "ABOUT", "NAMESPACES", "SINCE"}, rows);
  }
  if (wide) {
    for (const LiveFinding& finding : findings) {
      out += "\n" + finding.id + "  " + ResourceOf(finding) + "\n";
      AddLine("What", finding.cause, out);
      AddLine("Seen", finding.evidence, out);
      AddLine("Remedy", finding.remedy, out);
    }
  }
  if (muted > 0) {
    out += "\n" + Counted(muted, "more is", "more are") + " muted: `truce findings --muted`.\n";
  }
  return out;
}

std::string FindingText(const LiveFinding& finding, const std::optional<Mute>& mute) {
  const DetectorInfo& info = InfoOf(finding.detector);
  const Severity severity = SeverityOf(finding.mode);
  std::string out = std::string(info.name) + " " + finding.id + ": " + ResourceOf(finding) + "\n";
  AddLine("Severity", std::string(Name(severity)) + ": " + std::string(MeaningOf(severity)), out);
  AddLine("Since", TimesOf(finding), out);
  AddLine("What", finding.cause, out);
  AddLine("Rule", info.finds, out);
  AddLine("Proof", info.proof, out);
  AddLine("Seen", finding.evidence, out);
  AddLine("Key", finding.key.text, out);
  out += ObjectsOf(finding);
  AddLine("Namespaces", Listed(finding.namespaces), out);
  AddLine("Services", Listed(finding.services), out);
  AddLine("Remedy", finding.remedy, out);
  if (mute) {
    AddLine("Muted",
            "until " + FormatTimestamp(mute->until) + " by " + mute->by + ": " + mute->reason, out);
    AddLine("", "`truce findings --unmute " + finding.id + "` ends that.", out);
  } else {
    AddLine("Mute it", "truce findings --mute " + finding.id + " --for 7d --reason '…'", out);
  }
  return out;
}

std::string MutesText(std::span<const Mute> mutes) {
  if (mutes.empty()) return "Nothing is muted.\n";
  std::vector<std::vector<std::string>> rows;
  for (const Mute& mute : mutes) {
    rows.push_back({FindingId(mute.detector, mute.subject), std::string(Name(mute.detector)),
                    OneLine(mute.resource.empty() ? mute.subject : mute.resource, kAboutBytesMax),
                    FormatTimestamp(mute.until), mute.by, mute.reason});
  }
  return TextTable({"ID", "RULE", "ABOUT", "UNTIL", "BY", "REASON"}, rows);
}

}  // namespace truce
