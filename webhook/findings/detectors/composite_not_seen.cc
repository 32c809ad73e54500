// Detector composite-not-seen: composites that Crossplane made or was given, and never looked at.
//
// Before 1.20, Crossplane with --enable-realtime-compositions may stop watching composites; a new
// one then gets no condition and no finalizer, its claim waits for ever, and nothing says so.
//
// Crossplane lives: its claim is Synced and names it, which Crossplane writes when it makes the
// composite; for one without such a claim (made by hand, v2, nested) Crossplane wrote something
// after its creation: a condition of a claim or composite, or a resource with a composite as
// controller. Look-alikes that are none: a paused composite, one that no Composition fits (both
// have a condition within a second), a Crossplane that is stopped (nothing proves that it lives),
// the backlog after a restart. False alarm: a Crossplane that ends in the moment between making a
// composite and looking at it, until it is back. Mode warn.
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

constexpr std::chrono::minutes kUnseenAfter{2};
constexpr std::chrono::minutes kUnseenAfterInBacklog{10};
constexpr std::size_t kBacklog = 100;
constexpr std::string_view kFinalizer = "composite.apiextensions.crossplane.io";

bool IsSeen(const ObservedVersion& observed) {
  const auto& finalizers = observed.facts.finalizers;
  return observed.has_conditions ||
         std::find(finalizers.begin(), finalizers.end(), kFinalizer) != finalizers.end();
}

Slot SlotOfRef(const ObjectRef& ref, const Slot& from) {
  return {from.cluster, ref.group, ref.kind, ref.ns, ref.name};
}

// Holds composites without condition, and claims that wait.
class UnseenComposites final : public Examiner {
 public:
  void OnSighted(const ObservedVersion& observed, Timestamp now) override {
    NoteWrites(observed);
    if (observed.role == Role::kComposite) OnComposite(observed, now);
    if (observed.role == Role::kClaim) OnClaim(observed);
  }
  void OnGone(const Uid& uid, const Slot& /*slot*/) override {
    unseen_.erase(uid);
    waiting_.erase(uid);
  }

  // From when Crossplane is at work again is known no better than between two examinations.
  Result<void> Examine(const Examination& at) override {
    at.report(Detector::kCompositeNotSeen, at.watched.With([&](const WatchedCluster& cluster) {
      return Find(cluster, at.now);
    }));
    return {};
  }

 private:
  struct Unseen {
    Slot slot;
    std::optional<Slot> claim;  // by spec.claimRef
    Timestamp created{};
    Timestamp noticed{};               // without condition since, by our clock
    std::optional<Timestamp> at_work;  // Crossplane is at work since its creation; noticed then
  };
  struct Waiting {
    Slot claim;
    Slot composite;  // by spec.resourceRef
  };

  void OnComposite(const ObservedVersion& observed, Timestamp now);
  void OnClaim(const ObservedVersion& observed);
  void NoteWrites(const ObservedVersion& observed);
  bool IsMadeByCrossplane(const Unseen& unseen) const;
  std::vector<LiveFinding> Find(const WatchedCluster& cluster, Timestamp now);

  std::map<Uid, Unseen> unseen_;
  std::map<Uid, Waiting> waiting_;  // claims that are Synced and not Ready
  Timestamp written_{};             // the last stamp of what Crossplane wrote
};

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

std::vector<LiveFinding> UnseenComposites::Find(const WatchedCluster& cluster, Timestamp now) {
  const auto wait = unseen_.size() > kBacklog ? kUnseenAfterInBacklog : kUnseenAfter;
  std::vector<LiveFinding> out;
  for (auto& [uid, unseen] : unseen_) {
    // Timestamps of objects are whole seconds: a write in the second of its creation may be older.
    if (!unseen.at_work && written_ > unseen.created) unseen.at_work = now;
    const bool is_made = IsMadeByCrossplane(unseen);
    if (!is_made && !unseen.at_work) continue;
    const Timestamp since = is_made ? unseen.noticed : std::max(unseen.noticed, *unseen.at_work);
    if (now - since < wait || !cluster.IsReadable(GroupKindOf(unseen.slot))) continue;
    LiveFinding finding =
        FindingAbout(Detector::kCompositeNotSeen, unseen.slot, ShortNameOf(unseen.slot));
    if (unseen.claim) finding.objects.push_back(*unseen.claim);
    finding.since = unseen.created;
    finding.cause = finding.resource +
                    " is not seen by Crossplane: it has neither a condition nor Crossplane's "
                    "finalizer, and nothing of it is made.";
    finding.evidence = "created " + FormatTimestamp(unseen.created) + "; ";
    if (is_made) {
      finding.evidence +=
          "its claim " + ShortNameOf(*unseen.claim) + " is Synced and names it: Crossplane made it";
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

}  // namespace

constinit const DetectorInfo kCompositeNotSeenInfo{
    "composite-not-seen",
    Severity::kWarning,
    "Crossplane never looks at a composite.",
    "The composite has no condition and not Crossplane's finalizer for 2 minutes (10 in a "
    "backlog), and Crossplane lives: it made the composite for a claim that is Synced, or wrote "
    "something younger.",
    Make<UnseenComposites>,
    "CompositeNotSeen"};

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
