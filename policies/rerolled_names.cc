// Rule rerolled-names: a resource that is refused is not tried again and again under other names.
//
// Spec: an update by a composite controller that changes nothing of a composite but names in its
// resourceRefs, all of kinds and under names that were refused to this composite, while those
// resources still would be, and while no object has any of the names, old or new. Crossplane 1.x
// writes such an update before each try, without back-off; one that is refused it repeats with
// back-off, a minute at most. Its sender: webhook/admission/rerolls.h.
// Parameters: none; mode of the type. Vectors: tests/unit/rerolled_names_test.cc (they need the
// refusals before).
#include <string>

#include "policies/people.h"
#include "policies/policy.h"
#include "policies/rule_case.h"

namespace truce {

std::vector<Finding> JudgeRerolledNames(const RuleCase& c) {
  std::vector<Finding> out;
  if (c.again == nullptr || !c.requester->composite_controller) return out;
  Keep(c, RerolledNames(*c.again, WordingOf(c)), {.type = c.again->type}, out);
  return out;
}

Finding RerolledNames(const RefusedAgain& again, const Wording& wording) {
  const std::string composite = OneLine(ObjectForPeople(wording.object->slot), kShownTextBytesMax);
  const std::string kind = OneLine(again.kind, kShownTextBytesMax);
  Finding out = *again.finding;  // its author must know the owner and the remedy
  out.rule = Rule::kRerolledNames;
  out.mode = Mode::kEnforce;
  if (!out.remedy.ends_with('.')) out.remedy += '.';
  out.remedy += " Until then " + composite + " waits with its " + kind +
                ": under another object name it would be refused too.";
  out.warning = OneLine("truce: " + composite + " only renames its " + kind +
                            ", which is refused under any object name",
                        kWarningBytesMax);
  return out;
}

}  // namespace truce
