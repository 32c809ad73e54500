// Rule orphaning-update: a composite does not drop what nobody would delete or update any more.
//
// Spec: a composite controller's update of a composite takes an entry out of its resourceRefs, and
// that object exists, does not terminate and has no controller: it was restored, and not adopted
// yet. Crossplane before 1.17 leaves it behind.
// Look-alikes that pass: a dropped object that has a controller, or terminates, or does not exist
// (names that were exchanged); one with annotation truce.dev/orphan: "true".
// Parameters: none; at most warns until `rules` names it. Vectors: tests/unit/restore_rules_test.cc
// (what is dropped is no declaration of the composite).
#include <algorithm>
#include <set>

#include "policies/lifecycle/restore_rules.h"
#include "policies/people.h"
#include "policies/policy.h"
#include "policies/rule_case.h"
#include "registry/identity/evidence.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/lineage.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

// An object that the composite drops.
struct Dropped {
  Slot slot;
  ModeTopic topic;
  bool uncontrolled = false;  // as far as the registry knows
};

Slot SlotOfReference(const ObjectRef& ref, const Slot& composite) {
  return {composite.cluster, ref.group, ref.kind, ref.ns.empty() ? composite.ns : ref.ns, ref.name};
}

// Those whose controller the registry does not know come first.
std::vector<Dropped> DroppedBy(const RuleCase& c) {
  std::vector<Dropped> out;
  const bool may_drop = c.requester != nullptr && c.requester->composite_controller &&
                        c.facts != nullptr && !c.old_object->lineage.resources.empty();
  if (!may_drop || c.old_object->lineage.resources == c.object->lineage.resources) return out;
  std::set<Slot> kept;
  for (const ObjectRef& ref : c.object->lineage.resources) {
    kept.insert(SlotOfReference(ref, c.object->slot));
  }
  for (const ObjectRef& ref : c.old_object->lineage.resources) {
    Slot slot = SlotOfReference(ref, c.object->slot);
    if (slot.name.empty() || !kept.insert(slot).second) continue;
    const KindEntry* kind = c.policy->catalogue->FindKind(slot.group, slot.kind);
    const auto known = c.facts->ObjectBySlot(slot);
    Dropped& dropped = out.emplace_back();
    if (kind != nullptr) dropped.topic.type = kind->type->name;
    dropped.uncontrolled = known && !ControllerOf(*known);
    dropped.slot = std::move(slot);
  }
  std::stable_partition(out.begin(), out.end(),
                        [](const Dropped& dropped) { return dropped.uncontrolled; });
  return out;
}

// Nothing: it is not known.
std::optional<bool> IsLost(const Dropped& dropped, const RuleCase& c) {
  if (c.live == nullptr) return std::nullopt;
  const auto seen = c.live->find(dropped.slot);
  if (seen == c.live->end()) return std::nullopt;
  const std::optional<LiveObject>& object = seen->second;
  return object && !object->terminating && !object->controlled && !object->kept;
}

}  // namespace

LiveObject ReadLiveObject(Value object) {
  const ObjectView view = ViewObject(object);
  LiveObject out;
  out.terminating = !object.Child("metadata").Child("deletionTimestamp").empty();
  const Value owners = view.owner_references;
  for (Value at = owners.first(); at.exists(); at = owners.next(at)) {
    out.controlled = out.controlled || at.Child("controller").is_true();
  }
  out.kept = view.Annotation("truce.dev/orphan") == "true";
  out.composed_as = view.Annotation("crossplane.io/composition-resource-name");
  out.claim = ReadClaimRef(view, {});
  return out;
}

std::vector<Slot> DroppedToLookAt(const RuleCase& c) {
  std::vector<Slot> out;
  for (const Dropped& dropped : DroppedBy(c)) {
    const Mode mode = ModeIn(c, Rule::kOrphaningUpdate, dropped.topic).mode;
    const bool matters = mode == Mode::kEnforce || (dropped.uncontrolled && mode != Mode::kOff);
    if (matters) out.push_back(dropped.slot);
  }
  return out;
}

std::vector<Finding> JudgeOrphanings(const RuleCase& c) {
  std::vector<Finding> out;
  for (const Dropped& dropped : DroppedBy(c)) {
    const std::optional<bool> lost = IsLost(dropped, c);
    if (!lost.value_or(dropped.uncontrolled)) continue;
    Finding finding = OrphaningUpdate(dropped.slot, WordingOf(c));
    if (!lost) finding.mode = Mode::kWarn;
    Keep(c, std::move(finding), dropped.topic, out);
  }
  return out;
}

std::string DeclaredInWords(const DeclaredResource& resource) {
  return TypeForPeople(resource.identity.type) + " \"" +
         OneLine(resource.name, kShownTextBytesMax) + "\"";
}

Finding OrphaningUpdate(const Slot& dropped, const Wording& wording) {
  const std::string object = OneLine(ObjectForPeople(dropped), kShownTextBytesMax);
  const std::string composite = OneLine(ObjectForPeople(wording.object->slot), kShownTextBytesMax);
  Finding out{.rule = Rule::kOrphaningUpdate};
  out.resource = object;
  out.cause = object + " would be orphaned: " + composite +
              " drops it, but it has no controller (a restored backup leaves such objects), so "
              "Crossplane would neither delete nor update it ever again.";
  out.remedy =
      "Put its template back into the Composition: at its next look Crossplane adopts it, and then "
      "it can be dropped. Nothing else of this composite is adopted before. To let go of it on "
      "purpose: `kubectl annotate --overwrite " +
      KubectlTarget(dropped) + " truce.dev/orphan=true`.";
  out.warning =
      OneLine("truce: " + object + " has no controller and would be orphaned", kWarningBytesMax);
  return out;
}

}  // namespace truce
