#include "webhook/findings/unmatched_providers.h"

#include "policies/finding.h"
#include "policies/mode.h"
#include "policies/people.h"
#include "registry/base/counted.h"

namespace truce {

void UnmatchedProviders::OnAct(const ProviderAct& act, Timestamp now) {
  const auto found = users_.find(act.user);
  if (found == users_.end() && users_.size() >= kUsersMax) return;
  Acts& acts = users_[act.user];
  if (acts.objects.empty()) acts.since = now;
  if (acts.objects.size() < kObjectsMax) acts.objects.insert(act.slot);
}

std::vector<LiveFinding> UnmatchedProviders::Find(std::span<const std::string> matched) {
  std::erase_if(users_, [&](const auto& entry) { return MatchesAny(entry.first, matched); });
  std::vector<LiveFinding> out;
  for (const auto& [user, acts] : users_) {
    if (acts.objects.size() < kUnmatchedObjects) continue;
    const std::string shown = OneLine(user, kShownBytesMax);
    LiveFinding finding{
        .detector = Detector::kUnmatchedProvider, .subject = user, .resource = shown};
    finding.since = acts.since;
    finding.cause = shown +
                    " does what only a provider does, and the setting providers does not match "
                    "it: whatever it deletes stays on record as orphaned, and blocks its name.";
    finding.evidence = "creation marks or finalizers of " + Counted(acts.objects.size(), "object") +
                       ", as " + OneLine(ObjectForPeople(*acts.objects.begin()), kShownBytesMax);
    finding.remedy = "If a provider runs as this account, add \"" + shown +
                     "\" to the setting providers, beside what it holds. What was left orphaned "
                     "until then is listed by `truce list --state orphaned`; free what is gone "
                     "from AWS with `truce release`.";
    out.push_back(std::move(finding));
  }
  return out;
}

}  // namespace truce
