// Rule claim-takeover: a composite keeps its claim.
//
// Spec: an update of a composite, of a kind that an XRD defines, changes or takes away the claimRef
// that it has, unless a composite controller writes it, or the owner handed the composite's
// resources over to the new claim (transfer_to of the old claim, an agreed transfer): the owner of
// the claim can change and delete all of them.
// Look-alikes that pass: the first claimRef; the same one again; a restore, which is a CREATE; a
// composite that terminates.
// Parameters: none; at most warns until `rules` names it. Vectors: tests/unit/claim_rules_test.cc
// (a claim is no declaration of the composite).
#include <algorithm>
#include <string>

#include "policies/lifecycle/claim_rules.h"
#include "policies/people.h"
#include "policies/policy.h"
#include "policies/rule_case.h"
#include "registry/identity/successors.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/sight.h"

namespace truce {
namespace {

std::optional<Slot> ClaimIn(const ObjectFacts& composite) {
  const auto& claim = composite.lineage.claim;
  if (!claim) return std::nullopt;
  return Slot{composite.slot.cluster, claim->group, claim->kind, claim->ns, claim->name};
}

// Whether the owner said so: the annotation of the claim itself, or of all that the composite made.
// Not that of the composite: a writer of its claimRef can write that, too.
bool IsHandedOver(const Slot& from, const Slot& to, const RuleCase& c) {
  const auto old_claim = c.facts->ObjectBySlot(from);
  if (old_claim && NamesSuccessor(old_claim->transfer_to, from.cluster, to)) return true;
  const IdSource no_ids = [] { return PublicId(); };
  const Ledger ledger(*c.facts, c.now, no_ids, c.policy->parties);
  std::size_t owned = 0;
  for (const Row& row : RowsBelow(c.object->uid, c.object->slot, ledger)) {
    const auto owner = c.facts->OwnerOf(row.id.resource);
    if (!owner || owner->root != from) continue;
    ++owned;
    if (!NamesSuccessor(*owner, to)) return false;
  }
  return owned > 0;
}

}  // namespace

std::vector<Finding> JudgeClaimTakeovers(const RuleCase& c) {
  std::vector<Finding> out;
  if (!c.old_object->lineage.claim || !c.object->composite) return out;
  if (c.requester == nullptr || c.requester->composite_controller) return out;
  const std::optional<Slot> from = ClaimIn(*c.old_object);
  const std::optional<Slot> to = ClaimIn(*c.object);
  if (from == to) return out;
  const ModeTopic topic{.type = {}, .name = c.object->slot.name};
  if (ModeIn(c, Rule::kClaimTakeover, topic).mode == Mode::kOff) return out;
  if (to && c.facts != nullptr && IsHandedOver(*from, *to, c)) return out;
  const ClaimChange change{
      .user = c.requester->user, .from = *from, .to = to, .is_gone = IsGone(*from, c)};
  Keep(c, ClaimTakeover(change, WordingOf(c)), topic, out);
  return out;
}

Finding ClaimTakeover(const ClaimChange& change, const Wording& wording) {
  const Slot& beside = change.to ? *change.to : change.from;
  const std::string from = OneLine(ObjectBeside(change.from, beside), kShownTextBytesMax);
  const std::string to = change.to
                             ? OneLine(ObjectBeside(*change.to, change.from), kShownTextBytesMax)
                             : std::string();
  Finding out{.rule = Rule::kClaimTakeover};
  out.resource = "composite " + OneLine(ObjectForPeople(wording.object->slot), kShownTextBytesMax);
  out.cause = "User " + Quoted(change.user) + " may not take " + out.resource + " from claim " +
              from +
              (to.empty() ? ": any claim could bind it then, and take over everything it made."
                          : " and give it to claim " + to +
                                ": that one would change and delete everything it made, and its "
                                "owner did not say so.");
  if (change.is_gone) {
    const std::string command =
        change.to ? ForcedTransferCommand("RESOURCE", *change.to) : "`truce transfer --force`";
    out.remedy =
        "Leave spec.claimRef as it is until an operator has handed over what it made, as "
        "claim " +
        from + " is gone: " + command + ".";
  } else if (!change.to) {
    out.remedy =
        "Leave spec.claimRef as it is. To hand what it made over, the owner names who gets "
        "it: annotation truce.dev/transfer-to on claim " +
        from + ".";
  } else if (IsPlainWord(ToText(change.from)) && IsPlainWord(ToText(*change.to))) {
    out.remedy = "Let the owner hand it over first: `" + TransferCommand(change.from, *change.to) +
                 "`; then change spec.claimRef again.";
  } else {
    out.remedy = "Let the owner hand it over first, by annotation truce.dev/transfer-to on claim " +
                 from + "; then change spec.claimRef again.";
  }
  out.warning =
      OneLine("truce: this takes " + out.resource + " from claim " + from, kWarningBytesMax);
  return out;
}

}  // namespace truce
