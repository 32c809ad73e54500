// Rule deletion-protection: nobody deletes a resource that is protected, or that others need.
//
// Spec: a DELETE of an object that does not terminate yet is refused while it, or anything composed
// below it, deletes with its end a resource that is marked as protected, that another side of a
// conflict has (a manager that does not end with it, a list, an owner that left it orphaned), that
// a holding share gives to another party, or that other parties observe.
// Parameters: none; a mark is enforced always. Until `rules` names the rule, the rest brings
// warnings for deletions by people: about a conflict always, in audit too, about use at the top of
// its chain (a claim) alone, since that warning covers Crossplane's deletions below it. Vectors:
// tests/unit/admission_sharing_test.cc (agreements are no facts of an object).
#include <algorithm>
#include <map>
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
#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/sight.h"

namespace truce {
namespace {

bool IsByController(const RuleCase& c) {
  return c.requester == nullptr || c.requester->composite_controller || c.requester->provider;
}

// The object's resources are known before the watch shows them: those that its status names, too.
void AddDeclared(const ObjectFacts& object, const Ledger& ledger, std::set<ResourceId>& ids) {
  for (const DeclaredResource& resource : object.resources) {
    if (resource.key().empty() || resource.partial || resource.intent != Intent::kDeletes) continue;
    for (ResourceMatch& match : MatchesOf(resource, ledger)) ids.insert(std::move(match.id));
    // Its status shows another resource, or another account's than its ProviderConfig leads to
    // (N4): then the owner of that one is asked about.
    KeyText of = object.shown_key;
    const bool elsewhere =
        !object.account_disagreement.empty() && !AccountIn(resource.key()).empty();
    if (of.empty() && elsewhere) of = WithAccount(resource.key(), object.shown_account);
    auto shown = of.empty() ? std::nullopt : ledger.Named(of);
    if (shown) ids.insert(std::move(shown->resource));
  }
}

// The owners of those that have one, in the order in which people are shown them.
std::vector<Owner> OwnersByKey(const std::set<ResourceId>& ids, const Facts& facts) {
  std::vector<Owner> owners;
  for (const ResourceId& id : ids) {
    if (auto owner = facts.OwnerOf(id)) owners.push_back(*std::move(owner));
  }
  std::ranges::sort(owners, {}, &Owner::key);
  return owners;
}

// "service \"a\", Bucket team-a/artifacts", as far as `level` allows.
std::string InWords(const Slot& root, const Slot& beside, std::string_view service,
                    Disclosure level) {
  if (const std::string_view list = SourceOf(root); !list.empty()) {
    return "list " + Quoted(list) + " of what is owned outside";
  }
  if (level == Disclosure::kTaken) return "somebody else";
  const bool named =
      !service.empty() && service != root.name && service != root.ns + "/" + root.name;
  std::string out = named ? "service " + Quoted(service) : std::string();
  if (level == Disclosure::kService) return named ? out : "another service";
  if (named) out += ", ";
  return out + OneLine(ObjectBeside(root, beside), kOwnerTextBytesMax);
}

// Another side of a conflict about the resource, in words; empty: none.
std::string OtherSide(const DeletionFacts& facts, const Facts& registry, Disclosure level) {
  const Owner& owner = *facts.owner;
  const auto level_of = [&](const Slot& root) {
    return OneParty(PartyOf(root), PartyOf(facts.root), *facts.parties) ? Disclosure::kFull : level;
  };
  std::set<Slot> others;
  for (const Row& row : facts.rows) {
    // An object that is being deleted as well has given the resource up.
    if (!Manages(row) || row.terminating || facts.ending.contains(row.slot)) continue;
    const bool is_branch = row.root == facts.root && row.managed;
    if (row.root != facts.root || is_branch) others.insert(is_branch ? row.slot : row.root);
  }
  if (owner.record != Record::kNone) others.insert(owner.root);
  if (others.empty()) return {};
  const bool by_owner = others.contains(owner.root);
  const Slot& first = by_owner ? owner.root : *others.begin();
  const auto object = registry.ObjectBySlot(first);
  std::string out = InWords(first, facts.root,
                            by_owner ? owner.service
                            : object ? object->service
                                     : "",
                            level_of(first));
  const bool is_orphan = by_owner && owner.record != Record::kNone && SourceOf(first).empty();
  if (is_orphan) out += ", who left it orphaned,";
  if (by_owner) out += " as its owner of record";
  if (others.size() > 1) out += " and by " + Counted(others.size() - 1, "other");
  return out;
}

}  // namespace

// The resources that the end of the object, and of objects composed below it, would delete.
std::vector<Finding> JudgeDeletions(const RuleCase& c) {
  constexpr std::size_t kShownMax = 20;
  std::vector<Finding> out;
  const Facts& facts = *c.facts;
  const bool any_marks = !facts.AgreementsAfter(AgreementKind::kProtection, {}, 1).empty();
  const std::optional<Object> known = facts.ObjectByUid(c.object->uid);
  const bool is_configured = IsConfigured(c.policy->modes, Rule::kDeletionProtection);
  const bool by_people = !IsByController(c);
  const bool is_top = !known || known->root == known->slot;
  const bool tells_use = is_configured || (by_people && is_top);
  // Most installations mark nothing: their controllers' deletions cost this one look.
  if (!any_marks && !is_configured && !by_people) return out;
  const IdSource no_ids = [] { return PublicId(); };
  const Ledger ledger(facts, c.now, no_ids, c.policy->parties);
  RuleCase below = c;
  if (known) below.root = &known->root;
  DeletionFacts facts_of{.root = known ? known->root : c.object->slot,
                         .ending = {c.object->slot},
                         .tells_use = tells_use,
                         .parties = &c.policy->parties,
                         .now = c.now};
  // The object's own word counts before the watch shows it: one that steps back to Observe may go
  // at once.
  const std::vector<DeclaredResource>& declared = c.object->resources;
  const bool keeps = !declared.empty() && std::ranges::none_of(declared, [](const auto& each) {
    return each.intent == Intent::kDeletes;
  });
  std::map<ResourceId, std::optional<Slot>> managed;
  std::set<ResourceId> ids;
  for (const Row& row : RowsBelow(c.object->uid, c.object->slot, ledger)) {
    facts_of.ending.insert(row.slot);
    const bool is_kept = row.terminating || (keeps && row.id.uid == c.object->uid);
    if (row.intent != Intent::kDeletes || is_kept) continue;
    ids.insert(row.id.resource);
    if (row.managed) managed[row.id.resource] = row.slot;
  }
  // Of an object that the registry does not know, nobody knows the resources that go.
  if (known) AddDeclared(*c.object, ledger, ids);
  for (const Owner& owner : OwnersByKey(ids, facts)) {
    // Twenty say what is at stake: nobody reads a longer text to its end.
    if (out.size() == kShownMax) break;
    const std::vector<Agreement> agreements = facts.AgreementsOf(owner.id);
    const bool is_marked = ProtectionIn(agreements) != nullptr;
    // A status that shows another's resource may not be in the rows yet.
    const bool has_sides = owner.contested || owner.root != facts_of.root;
    const bool tells_sides = has_sides && (is_configured || by_people);
    if (!is_marked && !tells_use && !tells_sides) continue;
    const std::vector<Row> rows = facts.RowsOf(owner.id);
    facts_of.owner = &owner;
    facts_of.managed = managed[owner.id];
    facts_of.agreements = agreements;
    facts_of.rows = rows;
    facts_of.other_side =
        tells_sides ? OtherSide(facts_of, facts, c.policy->disclosure) : std::string();
    auto finding = DeletionProtection(facts_of, WordingOf(below));
    if (!finding) continue;
    AppliedMode applied = ModeIn(below, Rule::kDeletionProtection,
                                 {.type = owner.identity.type,
                                  .name = owner.name,
                                  .service = owner.service,
                                  .marked = is_marked});
    // A resource that exists twice was never refused: people hear of its loss in audit, too.
    const bool tells_always = !facts_of.other_side.empty() && applied.overridden == nullptr;
    if (tells_always && applied.mode == Mode::kAudit) applied.mode = Mode::kWarn;
    Keep(below, *std::move(finding), applied, out);
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
  const Agreement* mark = ProtectionIn(facts.agreements);
  const bool by_other = mark == nullptr && !facts.other_side.empty();
  if (mark != nullptr) {
    out.cause = start + "protected: " + Said(mark->reason) + ".";
    const std::string declaring = DeclaringObject(*mark, owner);
    out.remedy = declaring.empty() ? "To delete it, lift the protection: `truce protect " +
                                         command + " --off --reason '…'`"
                                   : "To delete it, remove spec.protection from " +
                                         OneLine(declaring, kOwnerTextBytesMax);
  } else if (by_other) {
    out.cause = start + "managed by " + facts.other_side + ", too.";
    const std::string step =
        facts.managed ? "`" + OneLine(KeepCommand(*facts.managed), kCommandBytesMax) + "`"
                      : "set spec.managementPolicies: [\"Observe\"] on its managed resource";
    out.remedy = "To leave it to them, first " + step + ", then delete it; `truce resolve " +
                 command + "` tells all steps.";
  } else if (facts.tells_use && share != facts.agreements.end()) {
    out.cause = start + "shared with " + ForPeople(share->party) + ".";
    out.remedy = "To delete it, end its shares; `truce share " + command + "` lists them";
  } else if (facts.tells_use && observers > 0) {
    out.cause = start + "observed by " + Counted(observers, "declaration") + " of others.";
    out.remedy = "To delete it, ask them to remove their declarations; `truce describe " + command +
                 "` names them";
  } else {
    return std::nullopt;
  }
  if (!by_other) {
    const std::string keeping = KeepingField(facts.managed.value_or(Slot{}));
    out.remedy += ". To keep it in AWS, first set " + keeping + " on its managed resource.";
  }
  AddLink(owner, wording, out);
  out.warning = OneLine(
      "truce: would delete " + TypeForPeople(owner.identity.type) + " " + OneLine(owner.name, 63) +
          (by_other ? ", which others manage too" : ", which is protected or in use"),
      kWarningBytesMax);
  return out;
}

}  // namespace truce
