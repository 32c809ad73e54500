#include "webhook/findings/lifecycle/claim_bindings.h"

#include <algorithm>
#include <utility>

#include "policies/finding.h"
#include "policies/people.h"
#include "registry/ownership/lineage.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

std::string Worded(const Slot& slot) { return OneLine(ObjectForPeople(slot), kShownBytesMax); }

// The composite that the claim `object` names.
std::optional<Slot> CompositeOf(const Object& object) {
  if (object.composes || object.names.size() != 1) return std::nullopt;
  return SlotFromText(object.slot.cluster + "/" + object.names.front());
}

// Those that are found for kBindingAfter; `since` is brought up to date.
std::vector<LiveFinding> Lasting(std::vector<LiveFinding> found,
                                 std::map<std::string, Timestamp>& since, Timestamp now) {
  std::map<std::string, Timestamp> next;
  std::vector<LiveFinding> out;
  for (LiveFinding& finding : found) {
    const auto known = since.find(finding.subject);
    finding.since = known == since.end() ? now : known->second;
    next[finding.subject] = finding.since;
    if (now - finding.since >= kBindingAfter) out.push_back(std::move(finding));
  }
  since = std::move(next);
  return out;
}

}  // namespace

std::optional<StaleClaim> StaleClaimOf(const Object& object, const Facts& facts) {
  auto named = CompositeOf(object);
  if (!named) return std::nullopt;
  const auto composite = facts.ObjectBySlot(*named);
  if (!composite) return StaleClaim{object, *std::move(named), std::nullopt};
  auto bound = ClaimOf(*composite);
  if (!bound || *bound == object.slot) return std::nullopt;
  return StaleClaim{object, *std::move(named), std::move(bound)};
}

std::optional<UnansweredComposite> UnansweredCompositeOf(const Object& object, const Facts& facts) {
  auto claim = ClaimOf(object);
  if (!claim) return std::nullopt;
  const auto known = facts.ObjectBySlot(*claim);
  auto named = known ? CompositeOf(*known) : std::nullopt;
  if (named == object.slot) return std::nullopt;
  auto other = named ? facts.ObjectBySlot(*named) : std::nullopt;
  return UnansweredComposite{object, *std::move(claim), std::move(named), std::move(other)};
}

ClaimBindings::Found ClaimBindings::Find(const Present& present, const ObjectMarks& marks,
                                         const std::set<GroupKind>& readable, Timestamp now) {
  return {Lasting(FindTwice(present, marks, readable), twice_, now),
          Lasting(FindStale(present, marks, readable), stale_, now)};
}

std::vector<LiveFinding> ClaimBindings::FindTwice(const Present& present, const ObjectMarks& marks,
                                                  const std::set<GroupKind>& readable) {
  std::map<Slot, std::map<Slot, std::string>> composites;  // of a claim, with what was seen
  for (const UnansweredComposite& one : present.unanswered) {
    if (marks.IsTerminating(one.composite.uid)) continue;
    std::map<Slot, std::string>& own = composites[one.claim];
    own[one.composite.slot] = "'s claimRef names the claim, which does not name it";
    if (!one.named) continue;
    if (one.other && !marks.IsTerminating(one.other->uid)) {
      own[*one.named] = " is what the claim's resourceRef names";
    } else if (!one.other && readable.contains(GroupKindOf(*one.named))) {
      own[*one.named] = " is what the claim's resourceRef names, and does not exist";
    }
  }
  std::vector<LiveFinding> out;
  for (const auto& [claim, own] : composites) {
    if (own.size() < 2) continue;
    LiveFinding finding = FindingAbout(Detector::kClaimTwice, claim, Worded(claim));
    std::string list;
    for (const auto& [composite, seen] : own) {
      finding.objects.push_back(composite);
      list += (list.empty() ? "" : " and ") + Worded(composite);
      finding.evidence += (finding.evidence.empty() ? "" : "; ") + Worded(composite) + seen;
    }
    finding.cause = finding.resource + " stands for " + std::to_string(own.size()) +
                    " composites, " + list +
                    ": it follows one of them at most, and what the others made stays without "
                    "anybody who changes or deletes it.";
    finding.remedy =
        "See with `kubectl get` which of them holds what is in use, and let the claim name that "
        "one in spec.resourceRef. Of the others, set spec.managementPolicies: [\"Observe\"] on "
        "what they composed and must stay, then delete them.";
    out.push_back(std::move(finding));
  }
  return out;
}

std::vector<LiveFinding> ClaimBindings::FindStale(const Present& present, const ObjectMarks& marks,
                                                  const std::set<GroupKind>& readable) {
  std::vector<LiveFinding> out;
  for (const auto& [claim, named, bound] : present.stale) {
    if (marks.IsPaused(claim.uid) || marks.IsTerminating(claim.uid)) continue;
    if (!readable.contains(GroupKindOf(named))) continue;
    LiveFinding finding = FindingAbout(Detector::kClaimStale, claim.slot, Worded(claim.slot));
    const std::string composite = Worded(named);
    if (bound) {
      const std::string other = Worded(*bound);
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
    out.push_back(std::move(finding));
  }
  return out;
}

}  // namespace truce
