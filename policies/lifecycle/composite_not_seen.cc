// Rule composite-not-seen: a warning for the creator of a claim or composite of a kind whose new
// composites Crossplane does not see.
//
// Spec: the detector of the same name found composites of this kind, or of claims of it, that
// Crossplane never looked at (AdmissionPolicy::unseen). It never refuses: the creation is legal.
// Parameters: none; at most warns. Vectors: tests/unit/composition_change_test.cc (findings of a
// detector are no part of a declaration).
#include "policies/policy.h"
#include "policies/rule_case.h"

namespace truce {

std::vector<Finding> JudgeUnseen(const RuleCase& c) {
  std::vector<Finding> out;
  const Slot& slot = c.object->slot;
  const auto found = c.policy->unseen.find({slot.group, slot.kind});
  if (found == c.policy->unseen.end()) return out;
  Keep(c, CompositeNotSeen(found->second, WordingOf(c)), ModeTopic{}, out);
  return out;
}

Finding CompositeNotSeen(Timestamp since, const Wording& wording) {
  const std::string kind = OneLine(wording.object->slot.kind, kShownTextBytesMax);
  const std::string time = FormatTimestamp(since);
  Finding out{.rule = Rule::kCompositeNotSeen, .mode = Mode::kWarn, .at_most = Mode::kWarn};
  out.resource = kind;
  out.cause = "Crossplane does not see new composites of this kind, " + kind + ", since " + time +
              ": nothing will be made of this one.";
  out.remedy =
      "It is made once an operator has restarted Crossplane; its findings tell more: `truce "
      "baseline`.";
  out.warning = OneLine("truce: Crossplane does not see new composites of this kind since " + time,
                        kWarningBytesMax);
  return out;
}

}  // namespace truce
