#include "webhook/findings/findings_book.h"

#include <array>

#include "policies/finding.h"

namespace truce {
namespace {

bool SameForPeople(const LiveFinding& a, const LiveFinding& b) {
  return a.cause == b.cause && a.remedy == b.remedy && a.mode == b.mode;
}

}  // namespace

std::string_view Name(Detector detector) {
  switch (detector) {
    case Detector::kTagWar: return "tag-war";
    case Detector::kOwnershipConflict: return "ownership-conflict";
    case Detector::kWebhookConfiguration: return "webhook-configuration";
    case Detector::kUnreferencedResource: return "unreferenced-resource";
    case Detector::kNeverReal: return "never-real";
    case Detector::kOrphanedOwnership: return "orphaned-ownership";
    case Detector::kAccountUnknown: return "account-unknown";
    case Detector::kNotCovered: return "not-covered";
    case Detector::kNamesDisagree: return "names-disagree";
    case Detector::kProviderConfigMoved: return "provider-config-moved";
    case Detector::kAdoptionNotFollowed: return "adoption-not-followed";
    case Detector::kStaleUsage: return "stale-usage";
    case Detector::kCompositeNotSeen: return "composite-not-seen";
    case Detector::kClaimTwice: return "claim-twice";
    case Detector::kClaimStale: return "claim-stale";
    case Detector::kThrottledApi: return "throttled-api";
  }
  return "";
}

std::vector<FindingChange> FindingsBook::Replace(Detector detector,
                                                 std::vector<LiveFinding> present, Timestamp now) {
  return shelves_.With([&](auto& shelves) {
    Shelf& old = shelves[detector];
    Shelf next;
    std::vector<FindingChange> changes;
    for (LiveFinding& finding : present) {
      for (std::string* text :
           {&finding.resource, &finding.cause, &finding.evidence, &finding.remedy}) {
        *text = OneLine(*text, kMessageBytesMax);
      }
      ++next.counts[finding.mode];
      const auto known = old.findings.find(finding.subject);
      const bool has_room =
          next.findings.size() < kFindingsMax || next.findings.contains(finding.subject);
      if (!has_room) continue;
      finding.first_seen = known == old.findings.end() ? now : known->second.first_seen;
      finding.last_seen = now;
      std::string subject = finding.subject;
      next.findings.insert_or_assign(std::move(subject), std::move(finding));
    }
    for (const auto& [subject, finding] : next.findings) {
      const auto known = old.findings.find(subject);
      if (known == old.findings.end()) {
        changes.push_back({FindingChange::Kind::kAppeared, finding});
      } else if (!SameForPeople(known->second, finding)) {
        changes.push_back({FindingChange::Kind::kChanged, finding});
      }
    }
    for (auto& [subject, finding] : old.findings) {
      if (next.findings.contains(subject)) continue;
      changes.push_back({FindingChange::Kind::kResolved, std::move(finding)});
    }
    old = std::move(next);
    return changes;
  });
}

std::vector<LiveFinding> FindingsBook::Snapshot() const {
  return shelves_.With([](const auto& shelves) {
    std::vector<LiveFinding> out;
    for (const auto& [detector, shelf] : shelves) {
      for (const auto& [subject, finding] : shelf.findings) out.push_back(finding);
    }
    return out;
  });
}

std::vector<LiveFinding> FindingsBook::Snapshot(Detector detector) const {
  return shelves_.With([&](const auto& shelves) {
    std::vector<LiveFinding> out;
    const auto shelf = shelves.find(detector);
    if (shelf == shelves.end()) return out;
    for (const auto& [subject, finding] : shelf->second.findings) out.push_back(finding);
    return out;
  });
}

std::map<std::pair<Detector, Mode>, std::uint64_t> FindingsBook::Counts() const {
  return shelves_.With([](const auto& shelves) {
    std::map<std::pair<Detector, Mode>, std::uint64_t> out;
    for (const auto& [detector, shelf] : shelves) {
      for (const auto& [mode, count] : shelf.counts) out[{detector, mode}] = count;
    }
    return out;
  });
}

void WriteFindingsMetrics(const FindingsBook& book, MetricWriter& writer) {
  const auto counts = book.Counts();
  writer.Family("truce_findings", "gauge", "What the detectors find now, by rule and mode.");
  for (std::size_t i = 0; i < kDetectorCount; ++i) {
    const auto detector = static_cast<Detector>(i);
    for (const Mode mode : {Mode::kAudit, Mode::kWarn, Mode::kEnforce}) {
      const std::array<std::pair<std::string_view, std::string_view>, 2> labels = {
          {{"rule", Name(detector)}, {"mode", Name(mode)}}};
      const auto found = counts.find({detector, mode});
      writer.Sample(labels, found == counts.end() ? 0 : static_cast<double>(found->second));
    }
  }
}

}  // namespace truce
