// Rule claim-binding: a claim names no composite that another claim has.
//
// Spec: a claim, of a kind that an XRD names in claimNames, begins to name a composite in
// spec.resourceRef, and that composite's claimRef names another claim (group, kind, namespace,
// name): Crossplane would refuse the newer one for ever. Refused only where a consistent read of
// the composite says so; a warning where only the registry does. A composite that does not exist is
// a warning: Crossplane makes a new one of that name.
// Look-alikes that pass: a composite controller, which names what it is about to make; a composite
// that no claim has; one whose claimRef names this very claim (restored, or made again under its
// old name); a reference that was there before.
// Parameters: none; at most warns until `rules` names it. Vectors: tests/unit/claim_rules_test.cc
// (a composite is no declaration of the claim).
#include <string>
#include <utility>

#include "policies/lifecycle/claim_rules.h"
#include "policies/lifecycle/restore_rules.h"
#include "policies/people.h"
#include "policies/policy.h"
#include "policies/rule_case.h"
#include "policies/sharing_rules.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/lineage.h"
#include "registry/ownership/sight.h"

namespace truce {
namespace {

Slot SlotOfClaim(const ObjectRef& claim, const std::string& cluster) {
  return {cluster, claim.group, claim.kind, claim.ns, claim.name};
}

// Knowledge of a composite.
struct Composite {
  bool is_sure = false;  // read just now; else as the registry remembers it
  bool exists = false;
  std::optional<Slot> holder;
};

// Nothing: nobody knows whether there is one.
std::optional<Composite> CompositeAt(const RuleCase& c, const Slot& slot) {
  if (c.live != nullptr) {
    if (const auto seen = c.live->find(slot); seen != c.live->end()) {
      Composite out{.is_sure = true, .exists = seen->second.has_value()};
      if (out.exists && seen->second->claim) {
        out.holder = SlotOfClaim(*seen->second->claim, slot.cluster);
      }
      return out;
    }
  }
  const auto known = c.facts->ObjectBySlot(slot);
  // An object that the registry does not know may exist all the same.
  if (!known) return std::nullopt;
  return Composite{.exists = true, .holder = ClaimOf(*known)};
}

// Something that the composite made for its holder, for an example.
std::optional<Owner> MadeBy(const Slot& composite, const Slot& holder, const RuleCase& c) {
  const auto known = c.facts->ObjectBySlot(composite);
  if (!known) return std::nullopt;
  const IdSource no_ids = [] { return PublicId(); };
  const Ledger ledger(*c.facts, c.now, no_ids, c.policy->parties);
  std::optional<Owner> first;
  for (const Row& row : RowsBelow(known->uid, known->slot, ledger)) {
    auto owner = c.facts->OwnerOf(row.id.resource);
    const bool is_made = owner && owner->root == holder;
    if (is_made && (!first || owner->key < first->key)) first = std::move(owner);
  }
  return first;
}

}  // namespace

bool IsGone(const Slot& claim, const RuleCase& c) {
  if (c.facts == nullptr || !c.policy->watched) return false;
  const bool is_read = !c.policy->unwatched.contains(GroupKind{claim.group, claim.kind});
  return is_read && !c.facts->ObjectBySlot(claim);
}

std::optional<Slot> NewlyNamed(const RuleCase& c) {
  const auto& named = c.object->lineage.composite;
  if (!named || c.requester == nullptr || c.requester->composite_controller) return std::nullopt;
  const Slot& claim = c.object->slot;
  const auto kinds = c.policy->claims.find({claim.group, claim.kind});
  if (kinds == c.policy->claims.end()) return std::nullopt;
  const bool was_named = c.old_object != nullptr && c.old_object->lineage.composite &&
                         c.old_object->lineage.composite->name == named->name;
  if (was_named) return std::nullopt;
  return Slot{claim.cluster, kinds->second.group, kinds->second.kind, "", named->name};
}

std::vector<Slot> CompositeToLookAt(const RuleCase& c) {
  std::vector<Slot> out;
  std::optional<Slot> named = NewlyNamed(c);
  if (!named) return out;
  const Mode mode = ModeIn(c, Rule::kClaimBinding, {.type = {}, .name = named->name}).mode;
  if (mode >= Mode::kWarn) out.push_back(*std::move(named));
  return out;
}

std::vector<Finding> JudgeClaimBindings(const RuleCase& c) {
  std::vector<Finding> out;
  const std::optional<Slot> named = c.facts == nullptr ? std::nullopt : NewlyNamed(c);
  if (!named) return out;
  const ModeTopic topic{.type = {}, .name = named->name};
  if (ModeIn(c, Rule::kClaimBinding, topic).mode == Mode::kOff) return out;
  const std::optional<Composite> composite = CompositeAt(c, *named);
  if (!composite) return out;
  if (!composite->exists) {
    Keep(c, CompositeMissing(*named, WordingOf(c)), topic, out);
    return out;
  }
  if (!composite->holder || *composite->holder == c.object->slot) return out;
  const Slot& holder = *composite->holder;
  const auto object = c.facts->ObjectBySlot(holder);
  const auto owner = MadeBy(*named, holder, c);
  Finding finding = ClaimBinding(
      {.composite = *named,
       .holder = holder,
       .service = object ? std::string_view(object->service) : std::string_view(),
       .owner = owner ? &*owner : nullptr,
       .is_own_party = OneParty(PartyOf(holder), PartyOf(c.object->slot), c.policy->parties),
       .is_gone = IsGone(holder, c)},
      WordingOf(c));
  if (!composite->is_sure) finding.mode = Mode::kWarn;
  Keep(c, std::move(finding), topic, out);
  return out;
}

Finding ClaimBinding(const BoundElsewhere& bound, const Wording& wording) {
  const Disclosure disclosed = bound.is_own_party ? Disclosure::kFull : wording.disclosure;
  const Slot& claim = wording.object->slot;
  Finding out{.rule = Rule::kClaimBinding};
  out.resource = "composite " + OneLine(ObjectForPeople(bound.composite), kShownTextBytesMax);
  std::string holder =
      disclosed == Disclosure::kFull
          ? "claim " + OneLine(ObjectBeside(bound.holder, claim), kShownTextBytesMax)
          : std::string("another claim");
  if (disclosed != Disclosure::kTaken && !bound.service.empty()) {
    holder += " (service " + Said(bound.service) + ")";
  }
  out.cause = "C" + out.resource.substr(1) + " is bound to " + holder +
              ": Crossplane binds one claim only and would refuse this one for ever.";
  const bool names_it = disclosed == Disclosure::kFull && bound.owner != nullptr;
  const std::string what = names_it ? ResourceInWords(*bound.owner) : "what it made";
  out.remedy = "Leave out spec.resourceRef. To use " + what +
               ": declare it with managementPolicies: [\"Observe\"] after its owner ran " +
               (names_it ? ShareCommand(*bound.owner, PartyOf(claim), ShareLevel::kObserve)
                         : "`truce share`") +
               ", or ask the owner to publish it (EnvironmentConfig, or a Secret copied by "
               "provider-kubernetes). To take it over, ";
  if (bound.is_gone) {
    out.remedy += "as that claim is gone, an operator hands it over: " +
                  ForcedTransferCommand(names_it ? WordOf(*bound.owner) : "RESOURCE", claim) + ".";
  } else {
    out.remedy += "the owner hands it over: " +
                  (disclosed == Disclosure::kFull && IsPlainWord(ToText(bound.holder))
                       ? "`" + TransferCommand(bound.holder, claim) + "`"
                       : "annotation " + TransferAnnotation(bound.holder, claim)) +
                  ".";
  }
  if (names_it) AddLink(*bound.owner, wording, out);
  out.warning = OneLine(
      "truce: another claim has " + out.resource + ": Crossplane will refuse this one for ever",
      kWarningBytesMax);
  return out;
}

Finding CompositeMissing(const Slot& composite, const Wording& /*wording*/) {
  Finding out{.rule = Rule::kClaimBinding, .mode = Mode::kWarn};
  out.resource = "composite " + OneLine(ObjectForPeople(composite), kShownTextBytesMax);
  out.cause = "C" + out.resource.substr(1) +
              " does not exist: Crossplane will make a new one of that name.";
  out.remedy =
      "When you restore a backup, restore the composite too. Else check the name, or leave out "
      "spec.resourceRef.";
  out.warning =
      OneLine("truce: " + out.resource + " does not exist: Crossplane will make a new one",
              kWarningBytesMax);
  return out;
}

}  // namespace truce
