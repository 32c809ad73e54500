// Rules about claims and their composites: claim-binding, claim-takeover. Crossplane
// binds a composite to one claim, for ever: a second one gets nothing, and loses what it believes
// to have when the first is deleted.
#ifndef TRUCE_POLICIES_LIFECYCLE_CLAIM_RULES_H_
#define TRUCE_POLICIES_LIFECYCLE_CLAIM_RULES_H_

#include <optional>
#include <string_view>
#include <vector>

#include "policies/finding.h"
#include "policies/rules.h"
#include "registry/identity/values.h"

namespace truce {

struct Owner;

// The composite that the claim under review begins to name by spec.resourceRef; its kind is the
// XRD's, because Crossplane reads nothing but the name. Nothing for other kinds, for a name that
// was there before, and for a composite controller, which names what it makes next.
std::optional<Slot> NewlyNamed(const RuleCase& c);

// The same, where the rule speaks at all: the composite to look at before it may refuse
// (RuleSpec::look_at).
std::vector<Slot> CompositeToLookAt(const RuleCase& c);

// Their judges (RuleSpec::judge). claim-binding warns at most of composites that RuleCase::live
// lacks.
std::vector<Finding> JudgeClaimBindings(const RuleCase& c);
std::vector<Finding> JudgeClaimTakeovers(const RuleCase& c);

// Whether no object is in the slot of a claim, as far as a watch of its kind shows.
bool IsGone(const Slot& claim, const RuleCase& c);

// A claim whose composite another one has. The pointees must live during the call only.
struct BoundElsewhere {
  Slot composite;
  Slot holder;                   // the claim that has it
  std::string_view service;      // of the holder; empty: not known
  const Owner* owner = nullptr;  // of a resource that the composite made; null: none is known
  bool is_own_party = false;     // the holder is of the asking party: the text may name everything
  bool is_gone = false;          // no object is in its slot
};

// The texts. In mode enforce, but for the composite that does not exist, which warns: a restore
// brings claims before their composites.
Finding ClaimBinding(const BoundElsewhere& bound, const Wording& wording);
Finding CompositeMissing(const Slot& composite, const Wording& wording);

// A change of the claim that the composite under review is bound to.
struct ClaimChange {
  std::string_view user;
  Slot from;
  std::optional<Slot> to;  // nothing: to none
  bool is_gone = false;    // no object is in the slot of `from`
};
Finding ClaimTakeover(const ClaimChange& change, const Wording& wording);

}  // namespace truce

#endif  // TRUCE_POLICIES_LIFECYCLE_CLAIM_RULES_H_
