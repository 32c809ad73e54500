// Rule deletion-protection: what is protected, or what others need, is not deleted.
//
// Spec: a DELETE of an object that does not terminate yet is refused while it, or anything composed
// below it, deletes with its end a resource that is marked as protected, that a holding share gives
// to another party, or that other parties observe.
// Parameters: none; a mark is enforced always. Until `rules` names the rule, of the rest only what
// people delete at the top of its chain (a claim) is told of, as a warning: what Crossplane deletes
// below it was told of there. Vectors:
// tests/unit/admission_sharing_test.cc (agreements are no facts of an object).
#include <algorithm>
#include <set>
#include <string>

#include "policies/people.h"
#include "policies/policy.h"
#include "policies/rule_case.h"
#include "policies/sharing_rules.h"
#include "registry/base/counted.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/declared_grant.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/sight.h"

namespace truce {
namespace {

// Whether somebody deletes what stands at the top of its chain, and not a controller.
bool IsPeoples(const RuleCase& c, const std::optional<Object>& known) {
  if (c.requester == nullptr || c.requester->composite_controller || c.requester->provider) {
    return false;
  }
  return !known || known->root == known->slot;
}

}  // namespace

// What the end of the object, and of what is composed below it, would delete.
std::vector<Finding> JudgeDeletions(const RuleCase& c) {
  constexpr std::size_t kShownMax = 20;
  std::vector<Finding> out;
  const Facts& facts = *c.facts;
  const bool any_marks = !facts.AgreementsAfter(AgreementKind::kProtection, {}, 1).empty();
  const std::optional<Object> known = facts.ObjectByUid(c.object->uid);
  const bool tells_all =
      IsConfigured(c.policy->modes, Rule::kDeletionProtection) || IsPeoples(c, known);
  // Most installations mark nothing: their deletions cost this one look.
  if (!any_marks && !tells_all) return out;
  const IdSource no_ids = [] { return PublicId(); };
  const Ledger ledger(facts, c.now, no_ids, c.policy->parties);
  RuleCase below = c;
  if (known) below.root = &known->root;
  std::set<KeyText> keys;
  for (const Row& row : RowsBelow(c.object->uid, c.object->slot, ledger)) {
    if (row.intent == Intent::kDeletes && !row.terminating) keys.insert(row.id.key);
  }
  for (const KeyText& key : keys) {
    const std::optional<Owner> owner = facts.OwnerOf(key);
    // Twenty say what is at stake: nobody reads a longer text to its end.
    if (!owner || out.size() == kShownMax) continue;
    const std::vector<Agreement> agreements = facts.AgreementsOf(key);
    const bool is_marked = ProtectionIn(agreements) != nullptr;
    if (!is_marked && !tells_all) continue;
    const std::vector<Row> rows = facts.RowsOfKey(key);
    auto finding = DeletionProtection({.owner = &*owner,
                                       .agreements = agreements,
                                       .rows = rows,
                                       .parties = &c.policy->parties,
                                       .now = c.now},
                                      WordingOf(below));
    if (!finding) continue;
    Keep(below, *std::move(finding),
         {.type = owner->identity.type,
          .name = owner->name,
          .service = owner->service,
          .marked = is_marked},
         out);
  }
  return out;
}

std::optional<Finding> DeletionProtection(const DeletionFacts& facts, const Wording& wording) {
  const Owner& owner = *facts.owner;
  const std::string resource = ResourceInWords(owner);
  const std::string command = WordOf(owner);
  Finding out{.rule = Rule::kDeletionProtection};
  out.resource = resource;
  out.key = owner.key;
  const std::string start = "The deletion of " + ObjectForPeople(wording.object->slot) +
                            " would delete " + resource + ", which is ";
  const auto holds = [&](const Agreement& each) {
    return each.kind == AgreementKind::kShare && HoldsAt(each, facts.now);
  };
  const auto share = std::find_if(facts.agreements.begin(), facts.agreements.end(), holds);
  const auto observers = std::count_if(facts.rows.begin(), facts.rows.end(), [&](const Row& row) {
    return !Manages(row) && !OneParty(PartyOf(row.root), owner.party, *facts.parties);
  });
  if (const Agreement* mark = ProtectionIn(facts.agreements)) {
    out.cause = start + "protected: " + Said(mark->reason) + ".";
    const std::string declaring = DeclaringObject(*mark, owner);
    out.remedy = declaring.empty() ? "To delete it, lift the protection: `truce protect " +
                                         command + " --off --reason '…'`"
                                   : "To delete it, remove spec.protection from " +
                                         OneLine(declaring, kOwnerTextBytesMax);
  } else if (share != facts.agreements.end()) {
    out.cause = start + "shared with " + ForPeople(share->party) + ".";
    out.remedy = "To delete it, end its shares; `truce share " + command + "` lists them";
  } else if (observers > 0) {
    out.cause = start + "observed by " + Counted(observers, "declaration") + " of others.";
    out.remedy = "To delete it, ask them to remove their declarations; `truce describe " + command +
                 "` names them";
  } else {
    return std::nullopt;
  }
  out.remedy +=
      ". To keep it in AWS, first set spec.managementPolicies: [\"Observe\"] on its managed "
      "resource.";
  AddLink(owner, wording, out);
  out.warning = OneLine("truce: would delete " + TypeForPeople(owner.identity.type) + " " +
                            OneLine(owner.name, 63) + ", which is protected or in use",
                        kWarningBytesMax);
  return out;
}

}  // namespace truce
