// Rule observer-without-share: a resource of another party is observed where its owner shares it.
//
// Spec: a declaration whose management policies are exactly [Observe] on a resource of another
// party is refused, unless its owner shares it with that party at level observe or attach.
// Parameters: none; off until `rules` names it. Vectors: tests/unit/admission_sharing_test.cc
// (agreements are no facts of an object).
#include <string>

#include "policies/people.h"
#include "policies/policy.h"
#include "policies/rule_case.h"
#include "policies/sharing_rules.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

std::string WhoToAsk(const Owner& holder, const Wording& wording) {
  const bool named = wording.disclosure != Disclosure::kTaken && !holder.contact.empty();
  return named ? Said(holder.contact) : std::string("the owner");
}

}  // namespace

std::vector<Finding> JudgeObservers(const RuleCase& c) {
  std::vector<Finding> out;
  for (const DeclaredResource& resource : c.object->resources) {
    if (resource.intent != Intent::kObserves || resource.key().empty()) continue;
    const std::optional<Owner> holder = OwnerByNames(resource, *c.facts);
    if (!holder || !IsOfOthers(*holder, c)) continue;
    const bool existed =
        c.old_object != nullptr && Declares(*c.old_object, resource.key()) != nullptr;
    KeepUse(c, {.use = &resource, .holder = &*holder, .existed = existed}, &ObserverWithoutShare,
            out);
  }
  return out;
}

std::optional<Finding> ObserverWithoutShare(const UseFacts& facts, const Wording& wording) {
  const Owner& holder = *facts.holder;
  const Standing standing = StandingOf(facts, ShareLevel::kObserve);
  if (standing == Standing::kShared) return std::nullopt;
  if (standing == Standing::kEndsSoon || (standing == Standing::kEnded && facts.existed)) {
    return ShareEnds(Rule::kObserverWithoutShare, facts, standing == Standing::kEnded, wording);
  }
  if (facts.existed) return std::nullopt;
  Finding out{.rule = Rule::kObserverWithoutShare};
  out.resource = ResourceInWords(holder);
  out.key = facts.use->key();
  out.cause = ObjectForPeople(wording.object->slot) + " observes " + out.resource +
              " of another owner, who does not share it with " + ForPeople(facts.party) + ".";
  out.remedy = "Ask " + WhoToAsk(holder, wording) +
               " to run: " + ShareCommand(holder, facts.party, ShareLevel::kObserve);
  AddLink(holder, wording, out);
  out.warning = OneLine("truce: " + TypeForPeople(holder.identity.type) + " " +
                            OneLine(holder.name, 63) + " is not shared with you",
                        kWarningBytesMax);
  return out;
}

}  // namespace truce
