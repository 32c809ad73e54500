#include "webhook/findings/lifecycle/blocked_deletions.h"

#include <algorithm>
#include <string>

#include "policies/finding.h"
#include "policies/people.h"

namespace truce {

void AskedDeletions::OnDeletion(const Slot& slot, Timestamp now) {
  if (asked_.size() >= kMax && !asked_.contains(slot)) return;
  std::deque<Timestamp>& times = asked_[slot];
  times.push_back(now);
  if (times.size() > kBlockedTimes) times.pop_front();
}

std::vector<Slot> AskedDeletions::Repeated(Timestamp now) {
  std::erase_if(asked_,
                [&](const auto& entry) { return now - entry.second.back() >= kBlockedWithin; });
  std::vector<Slot> out;
  for (const auto& [slot, times] : asked_) {
    // What was found stays found while it goes on: Crossplane's back-off ends at a minute.
    if (times.size() == kBlockedTimes && times.back() - times.front() < kBlockedWithin) {
      out.push_back(slot);
    }
  }
  return out;
}

std::vector<StaleUsage> AllLeftBehind(const std::vector<Uid>& all,
                                      const std::vector<StaleUsage>& stale) {
  std::vector<StaleUsage> out;
  for (const Uid& uid : all) {
    const auto found = std::find_if(stale.begin(), stale.end(),
                                    [&](const StaleUsage& each) { return each.usage.uid == uid; });
    if (found == stale.end()) return {};
    out.push_back(*found);
  }
  return out;
}

LiveFinding FindingOf(const BlockedDeletion& blocked) {
  const std::string used = OneLine(ObjectForPeople(blocked.used.slot), kShownBytesMax);
  const StaleUsage& first = blocked.usages.front();
  LiveFinding finding = FindingAbout(Detector::kDeletionBlocked, blocked.used.slot, used);
  if (first.usage.terminating) finding.since = *first.usage.terminating;
  std::string usages;
  for (const StaleUsage& stale : blocked.usages) {
    finding.objects.push_back(stale.usage.slot);
    usages +=
        (usages.empty() ? "" : ", ") + OneLine(ObjectForPeople(stale.usage.slot), kShownBytesMax);
  }
  if (blocked.used.parent) finding.objects.push_back(*blocked.used.parent);
  const std::string composite = blocked.used.parent
                                    ? OneLine(ObjectForPeople(*blocked.used.parent), kShownBytesMax)
                                    : "its composite";
  finding.cause = "Crossplane tries to delete " + used + " again and again, and only " + usages +
                  ", left behind, refuses it: " + composite +
                  " hangs without a condition or Event, and stays Synced.";
  finding.evidence = std::to_string(kBlockedTimes) + " deletions or more within " +
                     std::to_string(kBlockedWithin.count()) + " minutes; " + used +
                     " lives with label crossplane.io/in-use";
  finding.remedy = RemedyFor(first.usage);
  return finding;
}

}  // namespace truce
