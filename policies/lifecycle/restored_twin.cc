// Rule restored-twin: Crossplane makes no second object of what a restored one has.
//
// Spec: a composite controller creates an object of a resource that another object below the same
// root manages, which exists, has no controller, does not terminate, and carries the same
// crossplane.io/composition-resource-name: it was restored, and is not in the composite's
// resourceRefs. Duplicate-ownership refuses it too where it is enforced; this text says why.
// Look-alikes that pass: a name that no object has any more; an elder that has a controller.
// Parameters: none; at most warns until `rules` names it. Vectors: tests/unit/restore_rules_test.cc
// (the elder is no part of the declaration).
#include <algorithm>

#include "policies/lifecycle/restore_rules.h"
#include "policies/people.h"
#include "policies/policy.h"
#include "policies/rule_case.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/lineage.h"
#include "registry/ownership/review.h"

namespace truce {
namespace {

// The object without controller that has what `clash` refuses or records, below the same root.
std::optional<Slot> ElderOf(const Clash& clash, const RuleCase& c) {
  if (clash.reason != ClashReason::kSibling) return std::nullopt;
  for (const Row& row : c.facts->RowsOf(clash.holder.id)) {
    if (!Manages(row) || !row.managed || row.terminating || row.slot == c.object->slot) continue;
    const auto elder = c.facts->ObjectByUid(row.id.uid);
    if (elder && OnlyLabelled(*elder)) return row.slot;
  }
  return std::nullopt;
}

// Calls `with` for each clash that a restored object causes.
template <typename With>
void ForTwins(const RuleCase& c, const With& with) {
  const bool may_be = c.requester != nullptr && c.requester->composite_controller &&
                      c.decision != nullptr && c.facts != nullptr;
  if (!may_be) return;
  for (const std::vector<Clash>* clashes : {&c.decision->denied, &c.decision->conflicts}) {
    for (const Clash& clash : *clashes) {
      if (const auto elder = ElderOf(clash, c)) with(clash, *elder);
    }
  }
}

ModeTopic TwinTopic(const DeclaredResource& resource) {
  return {.type = resource.identity.type, .name = resource.name, .sure = resource.sure};
}

// Nothing: it is not known.
std::optional<bool> IsTwin(const Slot& elder, const RuleCase& c) {
  if (c.live == nullptr) return std::nullopt;
  const auto seen = c.live->find(elder);
  if (seen == c.live->end()) return std::nullopt;
  const std::optional<LiveObject>& object = seen->second;
  return object && !object->terminating && !object->controlled && !c.composed_as.empty() &&
         object->composed_as == c.composed_as;
}

}  // namespace

std::vector<Slot> EldersToLookAt(const RuleCase& c) {
  std::vector<Slot> out;
  ForTwins(c, [&](const Clash& clash, const Slot& elder) {
    const bool is_new = std::find(out.begin(), out.end(), elder) == out.end();
    if (!is_new || ModeIn(c, Rule::kRestoredTwin, TwinTopic(clash.resource)).mode == Mode::kOff) {
      return;
    }
    out.push_back(elder);
  });
  return out;
}

std::vector<Finding> JudgeTwins(const RuleCase& c) {
  std::vector<Finding> out;
  ForTwins(c, [&](const Clash& clash, const Slot& elder) {
    const std::optional<bool> is_twin = IsTwin(elder, c);
    if (is_twin && !*is_twin) return;
    Finding finding = RestoredTwin(clash.resource, elder, WordingOf(c));
    if (!is_twin) finding.mode = Mode::kWarn;
    Keep(c, std::move(finding), TwinTopic(clash.resource), out);
  });
  return out;
}

Finding RestoredTwin(const DeclaredResource& resource, const Slot& elder, const Wording& wording) {
  const std::string object = OneLine(ObjectBeside(elder, wording.object->slot), kShownTextBytesMax);
  Finding out{.rule = Rule::kRestoredTwin};
  out.resource = DeclaredInWords(resource);
  out.cause = OneLine(ObjectBeside(wording.object->slot, elder), kShownTextBytesMax) +
              " would be a second object of " + out.resource + ": " + object +
              " has it already, for the same " + OneLine(wording.root->kind, kShownTextBytesMax) +
              ", but has no controller, as a restored backup leaves it. Whichever of both is "
              "deleted deletes what both have.";
  out.remedy = "Name " + object +
               " in spec.resourceRefs of the composite, which then adopts it. Or, to have a new "
               "one, delete it without what it has in AWS: `" +
               OneLine(LetGoCommand(elder), kCommandBytesMax) + "`.";
  out.warning = OneLine("truce: " + object + ", restored, has this already", kWarningBytesMax);
  out.key = resource.key();
  return out;
}

}  // namespace truce
