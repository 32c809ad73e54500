#include "webhook/findings/lifecycle/unseen_composites.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "policies/finding.h"
#include "policies/people.h"

namespace truce {
namespace {

constexpr std::string_view kFinalizer = "composite.apiextensions.crossplane.io";

bool IsSeen(const ObservedVersion& observed) {
  const auto& finalizers = observed.facts.finalizers;
  return observed.has_conditions ||
         std::find(finalizers.begin(), finalizers.end(), kFinalizer) != finalizers.end();
}

Slot SlotOfRef(const ObjectRef& ref, const Slot& from) {
  return {from.cluster, ref.group, ref.kind, ref.ns, ref.name};
}

}  // namespace

void UnseenComposites::OnObject(const ObservedVersion& observed, Timestamp now) {
  NoteWrites(observed);
  if (observed.role == Role::kComposite) OnComposite(observed, now);
  if (observed.role == Role::kClaim) OnClaim(observed);
}

void UnseenComposites::OnGone(const Uid& uid) {
  unseen_.erase(uid);
  waiting_.erase(uid);
}

// Only Crossplane writes conditions of claims and composites, and makes what a composite controls.
void UnseenComposites::NoteWrites(const ObservedVersion& observed) {
  const ObjectFacts& facts = observed.facts;
  if (observed.role == Role::kManaged) {
    const bool is_composed = facts.lineage.composed && facts.lineage.controller.has_value();
    if (is_composed && facts.created) written_ = std::max(written_, *facts.created);
    return;
  }
  if (observed.role != Role::kComposite && observed.role != Role::kClaim) return;
  for (const ConditionSeen* condition : {&observed.ready, &observed.synced}) {
    if (condition->since) written_ = std::max(written_, *condition->since);
  }
}

void UnseenComposites::OnComposite(const ObservedVersion& observed, Timestamp now) {
  const ObjectFacts& facts = observed.facts;
  if (IsSeen(observed) || observed.paused || facts.terminating) {
    unseen_.erase(facts.uid);
    return;
  }
  const auto [at, is_new] = unseen_.try_emplace(facts.uid);
  if (is_new) at->second.noticed = now;
  at->second.slot = facts.slot;
  at->second.created = facts.created.value_or(now);
  at->second.claim.reset();
  if (facts.lineage.claim) at->second.claim = SlotOfRef(*facts.lineage.claim, facts.slot);
}

void UnseenComposites::OnClaim(const ObservedVersion& observed) {
  const ObjectFacts& facts = observed.facts;
  const bool waits = observed.synced.status == ConditionSeen::Status::kTrue &&
                     observed.ready.status != ConditionSeen::Status::kTrue && !facts.terminating &&
                     facts.lineage.composite;
  if (!waits) {
    waiting_.erase(facts.uid);
    return;
  }
  waiting_[facts.uid] = {facts.slot, SlotOfRef(*facts.lineage.composite, facts.slot)};
}

bool UnseenComposites::IsMadeByCrossplane(const Unseen& unseen) const {
  return unseen.claim && std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& entry) {
           return entry.second.claim == *unseen.claim && entry.second.composite == unseen.slot;
         });
}

std::vector<LiveFinding> UnseenComposites::Find(const std::set<GroupKind>& readable,
                                                Timestamp now) {
  const auto wait = unseen_.size() > kBacklog ? kUnseenAfterInBacklog : kUnseenAfter;
  std::vector<LiveFinding> out;
  for (auto& [uid, unseen] : unseen_) {
    // Timestamps of objects are whole seconds: what was written in the second of its creation may
    // be older.
    if (!unseen.at_work && written_ > unseen.created) unseen.at_work = now;
    const bool is_made = IsMadeByCrossplane(unseen);
    if (!is_made && !unseen.at_work) continue;
    const Timestamp since = is_made ? unseen.noticed : std::max(unseen.noticed, *unseen.at_work);
    if (now - since < wait || !readable.contains(GroupKindOf(unseen.slot))) continue;
    LiveFinding finding = FindingAbout(Detector::kCompositeNotSeen, unseen.slot,
                                       OneLine(ObjectForPeople(unseen.slot), kShownBytesMax));
    if (unseen.claim) finding.objects.push_back(*unseen.claim);
    finding.since = unseen.created;
    finding.cause = finding.resource +
                    " is not seen by Crossplane: it has neither a condition nor Crossplane's "
                    "finalizer, and nothing of it is made.";
    finding.evidence = "created " + FormatTimestamp(unseen.created) + "; ";
    if (is_made) {
      finding.evidence += "its claim " + OneLine(ObjectForPeople(*unseen.claim), kShownBytesMax) +
                          " is Synced and names it: Crossplane made it";
    } else {
      finding.evidence += "Crossplane wrote to other objects since then";
    }
    finding.remedy =
        "Restart Crossplane: `kubectl -n crossplane-system rollout restart deployment crossplane`. "
        "For good: Crossplane 1.20 or newer, or none of --enable-realtime-compositions. To change "
        "or "
        "annotate the composite does nothing.";
    out.push_back(std::move(finding));
  }
  return out;
}

std::map<GroupKind, Timestamp> UnseenKinds(const std::vector<LiveFinding>& findings) {
  std::map<GroupKind, Timestamp> out;
  for (const LiveFinding& finding : findings) {
    if (finding.detector != Detector::kCompositeNotSeen) continue;
    for (const Slot& slot : finding.objects) {
      const auto [at, is_new] = out.try_emplace(GroupKindOf(slot), finding.since);
      if (!is_new) at->second = std::min(at->second, finding.since);
    }
  }
  return out;
}

}  // namespace truce
