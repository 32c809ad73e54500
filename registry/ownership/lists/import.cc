#include "registry/ownership/lists/import.h"

#include <algorithm>
#include <set>
#include <utility>

#include "registry/base/name_table.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "registry/ownership/sight.h"

namespace truce {
namespace {

std::string ReasonOf(const ImportList& list, const ImportedResource& item) {
  return item.address.empty() ? list.source : list.source + " " + item.address;
}

// The owner that `item` makes; without what the registry adds.
Owner OwnerOf(const ImportList& list, const ImportedResource& item) {
  Owner owner;
  owner.root = ImportRoot(list.source);
  owner.party = PartyOf(owner.root);
  owner.service = item.service;
  owner.contact = item.contact;
  owner.arn = item.resource.arn;
  owner.name = item.resource.name;
  owner.identity = item.resource.identity;
  owner.record_reason = ReasonOf(list, item);
  return owner;
}

bool SameAs(const Owner& owner, const ImportList& list, const ImportedResource& item) {
  return owner.service == item.service && owner.contact == item.contact &&
         owner.arn == item.resource.arn && owner.name == item.resource.name &&
         owner.record_reason == ReasonOf(list, item);
}

// An owner of the same name in an account that is not known yet; it may be the same resource.
std::optional<Owner> Lookalike(const KeyText& key, const Facts& facts) {
  constexpr std::size_t kLookedAtMax = 20;
  const std::string shape = ShapeOf(key);
  if (shape.empty()) return std::nullopt;
  for (Owner& owner : facts.OwnersOfShape(shape, kLookedAtMax)) {
    if (owner.identity.account.starts_with('?')) return std::move(owner);
  }
  return std::nullopt;
}

// The list's claim on what another owner has.
Row ClaimOf(const ImportList& list, const ImportedResource& item, const ResourceId& id) {
  Row row;
  row.id = {id, ImportUid(list.source), RowState::kSeen};
  row.slot = row.root = ImportRoot(list.source);
  row.intent = Intent::kManages;
  row.managed = false;
  row.identity = item.resource.identity;
  return row;
}

void Claim(Row row, const Owner& holder, const std::string& reason, const std::string& actor,
           Ledger& ledger) {
  const auto before = ledger.FindRow(row.id);
  row.at = before ? before->at : ledger.now();
  if (!before) {
    ledger.Audit({.action = AuditAction::kConflict,
                  .key = holder.key,
                  .id = holder.id,
                  .root = row.root,
                  .slot = row.slot,
                  .uid = row.id.uid,
                  .cause = "imported: " + reason,
                  .actor = actor});
  }
  Object object;
  object.uid = row.id.uid;
  object.slot = object.root = row.root;
  object.own_party = true;
  ledger.PutObject(std::move(object));
  ledger.PutRow(std::move(row));
}

// The resources on which a line of the plan leaves a claim of the list.
std::set<ResourceId> ClaimedBy(const ImportPlan& plan) {
  std::set<ResourceId> ids;
  for (const ImportPlan::Line& line : plan.lines) {
    if (line.action == ImportAction::kConflicting && line.holder) ids.insert(line.holder->id);
  }
  return ids;
}

// The claims that the list had and has no more: it names another resource there by now, or nothing
// and retires.
std::vector<Row> EndedClaims(const ImportList& list, const ImportPlan& plan, const Facts& facts) {
  const std::set<ResourceId> claimed = ClaimedBy(plan);
  std::set<ResourceIdentity> named;
  for (const ImportedResource& item : list.resources) named.insert(item.resource.identity);
  std::vector<Row> ended = facts.RowsOfUid(ImportUid(list.source));
  std::erase_if(ended, [&](const Row& row) {
    return claimed.contains(row.id.resource) || (!list.retire && !named.contains(row.identity));
  });
  return ended;
}

ImportPlan::Line LineOf(const ImportList& list, const ImportedResource& item, const Facts& facts) {
  ImportPlan::Line line;
  line.holder = OwnerByName(item.resource.key, facts);
  if (!line.holder) {
    // Imported beside it, one resource had two owners until the account is known.
    line.holder = Lookalike(item.resource.key, facts);
    if (line.holder) line.action = ImportAction::kConflicting;
    return line;
  }
  const bool is_ours = SourceOf(*line.holder) == list.source;
  line.action = !is_ours                           ? ImportAction::kConflicting
                : SameAs(*line.holder, list, item) ? ImportAction::kOwned
                                                   : ImportAction::kChanged;
  return line;
}

}  // namespace

std::string_view Name(ImportAction action) {
  static constexpr NameTable<ImportAction::kConflicting> kWords("new", "owned", "changed",
                                                                "conflicting");
  return kWords.Of(action);
}

ImportPlan PlanImport(const ImportList& list, const AllFacts& facts) {
  ImportPlan plan;
  std::set<ResourceId> ids;
  std::set<KeyText> fresh;
  for (const ImportedResource& item : list.resources) {
    ImportPlan::Line line = LineOf(list, item, facts);
    const bool is_first = line.holder ? ids.insert(line.holder->id).second
                                      : fresh.insert(item.resource.key).second;
    if (!is_first && line.action != ImportAction::kConflicting) line.action = ImportAction::kOwned;
    plan.lines.push_back(std::move(line));
  }
  for (const Row& row : EndedClaims(list, plan, facts)) {
    if (auto holder = facts.OwnerOf(row.id.resource)) plan.unclaimed.push_back(*std::move(holder));
  }
  if (!list.retire) return plan;
  constexpr std::size_t kPage = 500;
  KeyText after;
  while (true) {
    std::vector<Owner> page = facts.OwnersIn(OwnerList::kImported, after, kPage);
    const bool is_last = page.size() < kPage;
    if (!page.empty()) after = page.back().key;
    for (Owner& owner : page) {
      if (SourceOf(owner) != list.source || ids.contains(owner.id)) continue;
      const std::vector<Agreement> agreements = facts.AgreementsOf(owner.id);
      const bool is_protected = ProtectionIn(agreements) != nullptr;
      (is_protected ? plan.kept : plan.retired).push_back(std::move(owner));
    }
    if (is_last) return plan;
  }
}

void ApplyImport(const ImportList& list, const ImportPlan& plan, const std::string& actor,
                 Ledger& ledger) {
  TRUCE_ASSERT(plan.lines.size() == list.resources.size());
  for (std::size_t i = 0; i < plan.lines.size(); ++i) {
    const ImportPlan::Line& line = plan.lines[i];
    Owner owner = OwnerOf(list, list.resources[i]);
    if (line.action == ImportAction::kNew) {
      Import(list.resources[i].resource.key, std::move(owner), actor, ledger);
      continue;
    }
    if (line.action == ImportAction::kConflicting && line.holder) {
      Claim(ClaimOf(list, list.resources[i], line.holder->id), *line.holder, owner.record_reason,
            actor, ledger);
    }
    if (line.action != ImportAction::kChanged) continue;
    // What the registry added (id, since, party) stays: only what the list says is new.
    Owner present = *line.holder;
    present.service = std::move(owner.service);
    present.contact = std::move(owner.contact);
    present.arn = std::move(owner.arn);
    present.name = std::move(owner.name);
    present.identity = std::move(owner.identity);
    present.record_reason = std::move(owner.record_reason);
    ledger.Audit({.action = AuditAction::kAdministered,
                  .key = present.key,
                  .id = present.id,
                  .root = present.root,
                  .cause = "imported again: " + present.record_reason,
                  .actor = actor});
    ledger.PutOwner(std::move(present));
  }
  for (const Row& row : EndedClaims(list, plan, ledger.facts())) {
    ledger.MayEnd(row.id.uid);
    EndRow(row.id, End::kUnproved, "no longer in " + list.source, ledger);
    if (ledger.RowsOfUid(row.id.uid).empty()) ledger.DropObject(row.id.uid);
  }
  for (const Owner& owner : plan.retired) {
    // No watch shows what a list names.
    ReleaseByOperator(
        owner.id, {actor, "no longer in " + list.source},
        [](const Slot& /*slot*/) { return false; }, ledger);
  }
}

}  // namespace truce
