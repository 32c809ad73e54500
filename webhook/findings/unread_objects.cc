#include "webhook/findings/unread_objects.h"

#include "policies/finding.h"
#include "policies/people.h"
#include "registry/base/text.h"

namespace truce {

void UnreadObjects::OnUnread(const Slot& slot, const std::string& why, Timestamp now) {
  const auto found = unread_.find(slot);
  if (found != unread_.end()) {
    found->second.why = why;
  } else if (unread_.size() < kMax) {
    unread_[slot] = {why, now};
  }
}

void UnreadObjects::Forget(const GroupKind& kind) {
  std::erase_if(unread_, [&](const auto& one) { return GroupKindOf(one.first) == kind; });
}

std::vector<LiveFinding> UnreadObjects::Find() const {
  std::vector<LiveFinding> out;
  for (const auto& [slot, one] : unread_) {
    const std::string name = slot.name.empty()
                                 ? "an object of kind " + KindForPeople(slot.kind, slot.group)
                                 : OneLine(ObjectForPeople(slot), kShownBytesMax);
    LiveFinding finding = FindingAbout(Detector::kUnreadObject, slot, name);
    finding.since = one.since;
    finding.cause = "Truce cannot read " + name +
                    " as the API server has it: what it declares is neither owned nor compared.";
    finding.evidence = OneLine(one.why, kShownBytesMax);
    finding.remedy =
        "Look at it with kubectl get -o yaml, and apply it again; if it looks sound, report this "
        "as "
        "a fault of Truce. Its deletion may delete what it has in AWS.";
    out.push_back(std::move(finding));
  }
  return out;
}

}  // namespace truce
