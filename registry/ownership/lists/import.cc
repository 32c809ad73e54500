#include "registry/ownership/lists/import.h"

#include <algorithm>
#include <set>
#include <utility>

#include "registry/base/name_table.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/sight.h"

namespace truce {
namespace {

std::string ReasonOf(const ImportList& list, const ImportedResource& item) {
  return item.address.empty() ? list.source : list.source + " " + item.address;
}

// The owner that `item` makes; without what the registry adds.
Owner OwnerOf(const ImportList& list, const ImportedResource& item) {
  Owner owner;
  owner.key = item.resource.key;
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

ImportPlan::Line LineOf(const ImportList& list, const ImportedResource& item, const Facts& facts) {
  ImportPlan::Line line;
  line.holder = facts.OwnerOf(item.resource.key);
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
  std::set<KeyText> keys;
  for (const ImportedResource& item : list.resources) {
    ImportPlan::Line line = LineOf(list, item, facts);
    const bool is_first = keys.insert(item.resource.key).second;
    if (!is_first && line.action != ImportAction::kConflicting) line.action = ImportAction::kOwned;
    plan.lines.push_back(std::move(line));
  }
  if (!list.retire) return plan;
  constexpr std::size_t kPage = 500;
  KeyText after;
  while (true) {
    std::vector<Owner> page = facts.OwnersIn(OwnerList::kImported, after, kPage);
    const bool is_last = page.size() < kPage;
    if (!page.empty()) after = page.back().key;
    for (Owner& owner : page) {
      if (SourceOf(owner) != list.source || keys.contains(owner.key)) continue;
      const std::vector<Agreement> agreements = facts.AgreementsOf(owner.key);
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
      Import(std::move(owner), actor, ledger);
      continue;
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
  for (const Owner& owner : plan.retired) {
    // No watch shows what a list names.
    ReleaseByOperator(
        owner.key, {actor, "no longer in " + list.source},
        [](const Slot& /*slot*/) { return false; }, ledger);
  }
}

}  // namespace truce
