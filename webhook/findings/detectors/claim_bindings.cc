// Detectors claim-twice (crossplane#5431) and claim-stale: claims and composites that are not one
// and one. Mode warn.
//
// Crossplane refuses a stale claim for ever, and when the other claim goes, so does what both
// believe to have. Two looks, because Crossplane writes the two references one after the other.
// Look-alikes that are none: composites and claims that terminate, claims that are paused, a
// composite that no claim has (it is about to be bound), and composites of a kind that cannot be
// read: none of them counts as missing.
#include "registry/ownership/lineage.h"
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

constexpr std::chrono::minutes kBindingAfter{5};

// A claim that names a composite which is not its own.
struct StaleClaim {
  Object claim;
  Slot named;                 // by spec.resourceRef
  std::optional<Slot> bound;  // the claim that has it; nothing: it is missing
};

// A composite whose claim does not name it.
struct UnansweredComposite {
  Object composite;
  Slot claim;                   // by spec.claimRef
  std::optional<Slot> named;    // what the claim names instead
  std::optional<Object> other;  // that, where it exists
};

using KeyedFindings = std::vector<std::pair<std::string, LiveFinding>>;

// The composite that the claim `object` names.
std::optional<Slot> CompositeOf(const Object& object) {
  if (object.composes || object.names.size() != 1) return std::nullopt;
  return SlotFromText(object.slot.cluster + "/" + object.names.front());
}

// Whether the claim `object` is one, by what the registry knows.
std::optional<StaleClaim> StaleClaimOf(const Object& object, const Facts& facts) {
  auto named = CompositeOf(object);
  if (!named) return std::nullopt;
  const auto composite = facts.ObjectBySlot(*named);
  if (!composite) return StaleClaim{object, *std::move(named), std::nullopt};
  auto bound = ClaimOf(*composite);
  if (!bound || *bound == object.slot) return std::nullopt;
  return StaleClaim{object, *std::move(named), std::move(bound)};
}

// Whether the composite `object` is one, by what the registry knows.
std::optional<UnansweredComposite> UnansweredCompositeOf(const Object& object, const Facts& facts) {
  auto claim = ClaimOf(object);
  if (!claim) return std::nullopt;
  const auto known = facts.ObjectBySlot(*claim);
  auto named = known ? CompositeOf(*known) : std::nullopt;
  if (named == object.slot) return std::nullopt;
  auto other = named ? facts.ObjectBySlot(*named) : std::nullopt;
  return UnansweredComposite{object, *std::move(claim), std::move(named), std::move(other)};
}

// Both detectors.
class ClaimBindings final : public Examiner {
 public:
  void BeginPass() override {
    stale_claims_.clear();
    unanswered_.clear();
  }

  void OnObject(const Object& object, Role role, const PassPlace& at) override {
    if (role == Role::kClaim) {
      const auto found = StaleClaimOf(object, at.facts);
      if (found) at.keep.push_back([this, one = *found] { stale_claims_.push_back(one); });
    } else if (role == Role::kComposite) {
      const auto found = UnansweredCompositeOf(object, at.facts);
      if (found) at.keep.push_back([this, one = *found] { unanswered_.push_back(one); });
    }
  }

  void EndPass(const Examination& at) override {
    KeyedFindings twice;
    KeyedFindings stale;
    at.watched.With([&](const WatchedCluster& cluster) {
      twice = FindTwice(cluster);
      stale = FindStale(cluster);
    });
    at.report(Detector::kClaimTwice, twice_.Of(std::move(twice), at.now));
    at.report(Detector::kClaimStale, stale_.Of(std::move(stale), at.now));
  }

 private:
  KeyedFindings FindTwice(const WatchedCluster& cluster) const;
  KeyedFindings FindStale(const WatchedCluster& cluster) const;

  std::vector<StaleClaim> stale_claims_;
  std::vector<UnansweredComposite> unanswered_;
  LastingFindings twice_{kBindingAfter};
  LastingFindings stale_{kBindingAfter};
};

KeyedFindings ClaimBindings::FindTwice(const WatchedCluster& cluster) const {
  const std::set<Uid>& terminating = cluster.marks.terminating;
  std::map<Slot, std::map<Slot, std::string>> composites;  // of a claim, with what was seen
  for (const UnansweredComposite& one : unanswered_) {
    if (terminating.contains(one.composite.uid)) continue;
    std::map<Slot, std::string>& own = composites[one.claim];
    own[one.composite.slot] = "'s claimRef names the claim, which does not name it";
    if (!one.named) continue;
    if (one.other && !terminating.contains(one.other->uid)) {
      own[*one.named] = " is what the claim's resourceRef names";
    } else if (!one.other && cluster.IsReadable(GroupKindOf(*one.named))) {
      own[*one.named] = " is what the claim's resourceRef names, and does not exist";
    }
  }
  KeyedFindings out;
  for (const auto& [claim, own] : composites) {
    if (own.size() < 2) continue;
    LiveFinding finding = FindingAbout(Detector::kClaimTwice, claim, ShortNameOf(claim));
    std::string list;
    for (const auto& [composite, seen] : own) {
      finding.objects.push_back(composite);
      list += (list.empty() ? "" : " and ") + ShortNameOf(composite);
      finding.evidence += (finding.evidence.empty() ? "" : "; ") + ShortNameOf(composite) + seen;
    }
    finding.cause = finding.resource + " stands for " + std::to_string(own.size()) +
                    " composites, " + list +
                    ": it follows one of them at most, and what the others made stays without "
                    "anybody who changes or deletes it.";
    finding.remedy =
        "See with `kubectl get` which of them holds what is in use, and let the claim name that "
        "one in spec.resourceRef. Of the others, set spec.managementPolicies: [\"Observe\"] on "
        "what they composed and must stay, then delete them.";
    std::string subject = finding.subject;
    out.emplace_back(std::move(subject), std::move(finding));
  }
  return out;
}

KeyedFindings ClaimBindings::FindStale(const WatchedCluster& cluster) const {
  KeyedFindings out;
  for (const auto& [claim, named, bound] : stale_claims_) {
    const bool is_left =
        cluster.marks.paused.contains(claim.uid) || cluster.marks.terminating.contains(claim.uid);
    if (is_left || !cluster.IsReadable(GroupKindOf(named))) continue;
    LiveFinding finding = FindingAbout(Detector::kClaimStale, claim.slot, ShortNameOf(claim.slot));
    const std::string composite = ShortNameOf(named);
    if (bound) {
      const std::string other = ShortNameOf(*bound);
      finding.cause = finding.resource + " names composite " + composite +
                      ", which is bound to claim " + other +
                      ": Crossplane binds one claim only and refuses this one for ever. When " +
                      other + " is deleted, the composite and all it made go.";
      finding.evidence = "claimRef of " + composite + " names " + other;
      finding.remedy =
          "Delete this claim, which touches nothing of the composite, and use what it made by "
          "another way: a resource with managementPolicies: [\"Observe\"] that the owner allows "
          "with `truce share`, an EnvironmentConfig that the owner publishes, or a hand-over with "
          "truce.dev/transfer-to.";
    } else {
      finding.cause = finding.resource + " names composite " + composite +
                      ", which does not exist: nothing stands behind the claim.";
      finding.evidence = "no object " + composite;
      finding.remedy =
          "Restore the composite if it was lost; else delete the claim and make it again without "
          "spec.resourceRef.";
    }
    std::string subject = finding.subject;
    out.emplace_back(std::move(subject), std::move(finding));
  }
  return out;
}

}  // namespace

constinit const DetectorInfo kClaimTwiceInfo{
    "claim-twice",
    Severity::kWarning,
    "One claim stands for more than one composite.",
    "Two composites whose spec.claimRef names the claim, or one whose claim names another in "
    "spec.resourceRef; two looks at least 5 minutes apart, and none of them terminates.",
    Make<ClaimBindings>,
    "ClaimTwice"};

constinit const DetectorInfo kClaimStaleInfo{
    "claim-stale",
    Severity::kWarning,
    "A claim names a composite that is missing or bound to another claim.",
    "The claim's spec.resourceRef and the composite's spec.claimRef as the registry knows them; "
    "two looks at least 5 minutes apart, of a kind of which all objects are read, and the claim is "
    "neither paused nor terminates.",
    nullptr,
    "ClaimStale",
    NamesOthers::kAnywhere};

}  // namespace truce
