// Rule restored-delete: Crossplane deletes nothing that was restored and that no composite has
// adopted yet.
//
// Spec: a composite controller deletes an object that has annotation
// crossplane.io/composition-resource-name and no controller (Crossplane 1.15.5, 1.16.2 and 1.17 to
// 2.3 drop it so; its labels may be gone a moment before). The review shows the object as it is:
// nothing else is looked at. Annotation truce.dev/orphan does not count: its author wants to keep
// the object.
// Look-alikes that pass: the garbage collector, people; an object that has a controller; an object
// that terminates already.
// Parameters: none; at most warns until `rules` names it. Reviewed in the entry for deletions,
// whose failurePolicy is Ignore. Vectors: tests/unit/restore_rules_test.cc (a deletion declares
// nothing).
#include "policies/lifecycle/restore_rules.h"
#include "policies/people.h"
#include "policies/policy.h"
#include "policies/rule_case.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"

namespace truce {

bool IsRestoredDeletion(const RuleCase& c) {
  const LineageFields& lineage = c.object->lineage;
  return c.requester != nullptr && c.requester->composite_controller && lineage.composed &&
         !lineage.controller && !c.object->terminating;
}

std::vector<Finding> JudgeRestoredDeletions(const RuleCase& c) {
  std::vector<Finding> out;
  RuleCase below = c;
  const auto known = c.facts->ObjectByUid(c.object->uid);
  // The object lost its links with the restore; exemptions name the claim that it belonged to.
  if (known) below.root = &known->root;
  const auto& resources = c.object->resources;
  ModeTopic topic;
  std::string declared;
  if (!resources.empty()) {
    const DeclaredResource& resource = resources.front();
    topic = {.type = resource.identity.type, .name = resource.name};
    if (!resource.name.empty()) declared = DeclaredInWords(resource);
  }
  Keep(below,
       RestoredDelete(declared, known ? known->parent : std::optional<Slot>(), WordingOf(below)),
       topic, out);
  return out;
}

Finding RestoredDelete(std::string_view declared, const std::optional<Slot>& composite,
                       const Wording& wording) {
  const Slot& slot = wording.object->slot;
  const std::string object = OneLine(ObjectForPeople(slot), kShownTextBytesMax);
  const std::string owner =
      composite ? OneLine(ObjectForPeople(*composite), kShownTextBytesMax) : "its composite";
  Finding out{.rule = Rule::kRestoredDelete};
  out.resource = object;
  out.cause = object + " would be deleted";
  if (!declared.empty()) out.cause.append(", and ").append(declared).append(" with it");
  out.cause += ": " + owner +
               " drops it, but has not adopted it since it was restored (it has no controller).";
  out.remedy =
      "To keep it, put its template back into the Composition: at its next look Crossplane adopts "
      "it, and then it can be dropped. To delete it and keep what it has in AWS: `" +
      OneLine(LetGoCommand(slot), kCommandBytesMax) + "`.";
  out.warning = OneLine("truce: " + object + ", restored and not adopted, is deleted by Crossplane",
                        kWarningBytesMax);
  return out;
}

}  // namespace truce
