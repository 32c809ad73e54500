#include "webhook/findings/findings_book.h"

#include <algorithm>
#include <utility>

#include "policies/finding.h"
#include "policies/people.h"
#include "registry/base/fingerprint.h"
#include "registry/base/random_id.h"

namespace truce {
namespace {

bool SameForPeople(const LiveFinding& a, const LiveFinding& b) {
  return a.cause == b.cause && a.remedy == b.remedy && a.mode == b.mode;
}

}  // namespace

std::string FullNameOf(const Slot& object) { return OneLine(ForPeople(object), kShownBytesMax); }

std::string ShortNameOf(const Slot& object) {
  return OneLine(ObjectForPeople(object), kShownBytesMax);
}

std::string ConfigForPeople(const std::string& config) {
  const std::optional<Slot> slot = SlotFromText(config);
  return slot ? FullNameOf(*slot) : OneLine("ProviderConfig " + config, kShownBytesMax);
}

LiveFinding FindingAbout(Detector detector, const Slot& object, std::string resource) {
  return {.detector = detector,
          .subject = ToText(object),
          .objects = {object},
          .resource = std::move(resource)};
}

std::vector<LiveFinding> LastingFindings::Of(std::vector<std::pair<std::string, LiveFinding>> found,
                                             Timestamp now) {
  std::map<std::string, Timestamp> next;
  std::vector<LiveFinding> out;
  for (auto& each : found) {
    LiveFinding& finding = each.second;
    const auto known = since_.find(each.first);
    finding.since = known == since_.end() ? now : known->second;
    next[each.first] = finding.since;
    if (now - finding.since >= after_) out.push_back(std::move(finding));
  }
  since_ = std::move(next);
  return out;
}

Severity SeverityOf(Mode mode) {
  if (mode == Mode::kEnforce) return Severity::kCritical;
  return mode == Mode::kWarn ? Severity::kWarning : Severity::kInfo;
}

Mode ModeFor(Severity severity) {
  switch (severity) {
    case Severity::kInfo: return Mode::kAudit;
    case Severity::kWarning: return Mode::kWarn;
    case Severity::kCritical: break;
  }
  return Mode::kEnforce;
}

std::string FindingId(Detector detector, std::string_view subject) {
  constexpr std::size_t kCharacters = 10;
  constexpr unsigned kBitsEach = 5;
  Fingerprint print;
  print.Add(Name(detector));
  print.Add(subject);
  // Mixed (the end of MurmurHash3), so that names which differ in their last letter share no part.
  std::uint64_t bits = print.value();
  bits = (bits ^ (bits >> 33U)) * 0xFF51AFD7ED558CCDULL;
  bits = (bits ^ (bits >> 33U)) * 0xC4CEB9FE1A85EC53ULL;
  bits ^= bits >> 33U;
  std::string id;
  for (std::size_t i = 0; i < kCharacters; ++i, bits >>= kBitsEach) {
    id += kIdCharacters[bits & (kIdCharacters.size() - 1)];
  }
  return id;
}

std::vector<FindingChange> FindingsBook::Replace(Detector detector,
                                                 std::vector<LiveFinding> present, Timestamp now) {
  const Mode worst = ModeFor(InfoOf(detector).worst);
  return shelves_.With([&](auto& shelves) {
    Shelf& old = shelves[detector];
    Shelf next;
    std::vector<FindingChange> changes;
    for (LiveFinding& finding : present) {
      for (std::string* text :
           {&finding.resource, &finding.cause, &finding.evidence, &finding.remedy}) {
        *text = OneLine(*text, kMessageBytesMax);
      }
      finding.mode = std::min(finding.mode, worst);
      ++next.counts[finding.mode];
      const auto known = old.findings.find(finding.subject);
      const bool has_room =
          next.findings.size() < kFindingsMax || next.findings.contains(finding.subject);
      if (!has_room) continue;
      finding.first_seen = known == old.findings.end() ? now : known->second.first_seen;
      finding.last_seen = now;
      finding.id = FindingId(finding.detector, finding.subject);
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

void FindingsBook::Restore(std::vector<LiveFinding> findings) {
  shelves_.With([&](auto& shelves) {
    shelves.clear();
    for (LiveFinding& finding : findings) {
      Shelf& shelf = shelves[finding.detector];
      if (shelf.findings.size() >= kFindingsMax) continue;
      ++shelf.counts[finding.mode];
      std::string subject = finding.subject;
      shelf.findings.insert_or_assign(std::move(subject), std::move(finding));
    }
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

std::optional<LiveFinding> FindingsBook::Find(Detector detector, const std::string& subject) const {
  return shelves_.With([&](const auto& shelves) {
    std::optional<LiveFinding> out;
    const auto shelf = shelves.find(detector);
    if (shelf == shelves.end()) return out;
    const auto found = shelf->second.findings.find(subject);
    if (found != shelf->second.findings.end()) out = found->second;
    return out;
  });
}

}  // namespace truce
