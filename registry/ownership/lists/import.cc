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

// Takes over what the list says of the owner that `item` makes; id and since stay.
void Describe(const ImportList& list, const ImportedResource& item, Owner& owner) {
  owner.service = item.service;
  owner.contact = item.contact;
  owner.arn = item.resource.arn;
  owner.name = item.resource.name;
  owner.record_reason = item.address.empty() ? list.source : list.source + " " + item.address;
  owner.until = list.until;
}

// Why a record of `list` is written anew.
std::string CauseOf(const ImportList& list, const Owner& before) {
  if (list.until) return "reserved anew until " + FormatTimestamp(*list.until) + ": ";
  return before.until ? "imported, as it was reserved: " : "imported again: ";
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

// The list, which would own it as `wanted`, claims what another owner has.
void Claim(const Owner& wanted, const Owner& holder, const std::string& actor, Ledger& ledger) {
  Row row;
  row.id = {holder.id, ImportUid(SourceOf(wanted.root)), RowState::kSeen};
  row.slot = row.root = wanted.root;
  row.intent = Intent::kManages;
  row.managed = false;
  row.identity = wanted.identity;
  const auto before = ledger.FindRow(row.id);
  row.at = before ? before->at : ledger.now();
  if (!before) {
    AuditEntry entry =
        EntryOf(AuditAction::kConflict, holder, "imported: " + wanted.record_reason, actor);
    entry.root = row.root;
    entry.slot = row.slot;
    entry.uid = row.id.uid;
    ledger.Audit(std::move(entry));
  }
  Object object;
  object.uid = row.id.uid;
  object.slot = object.root = row.root;
  object.own_party = true;
  ledger.PutObject(std::move(object));
  ledger.PutRow(std::move(row));
}

// The claims that the list had and has no more: it names another resource there by now, or nothing
// and retires.
std::vector<Row> EndedClaims(const ImportList& list, const ImportPlan& plan, const Facts& facts) {
  std::set<ResourceId> claimed;  // on which a line of the plan leaves a claim of the list
  for (const ImportPlan::Line& line : plan.lines) {
    if (line.action == ImportAction::kConflicting) claimed.insert(line.holder->id);
  }
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
  line.holder = OwnerByName(item.resource.key(), facts);
  if (!line.holder) {
    // Imported beside it, one resource had two owners until the account is known.
    line.holder = Lookalike(item.resource.key(), facts);
    if (line.holder) line.action = ImportAction::kConflicting;
    return line;
  }
  Owner said = *line.holder;
  Describe(list, item, said);
  const bool is_own = SourceOf(said) == list.source;
  // A reservation takes nothing back from what was imported.
  const bool is_had = said == *line.holder || (list.until && !line.holder->until);
  line.action = !is_own  ? ImportAction::kConflicting
                : is_had ? ImportAction::kOwned
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
    const bool is_first =
        line.holder ? ids.insert(line.holder->id).second : fresh.insert(item.resource.key()).second;
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
      // The resource may not be there yet for the list to name it.
      if (SourceOf(owner) != list.source || ids.contains(owner.id) || owner.until) continue;
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
    const ImportedResource& item = list.resources[i];
    Owner owner = line.action == ImportAction::kChanged ? *line.holder : Owner();
    Describe(list, item, owner);
    owner.identity = item.resource.identity;
    owner.root = ImportRoot(list.source);
    switch (line.action) {
      case ImportAction::kNew:
        owner.party = PartyOf(owner.root);
        Import(item.resource.key(), std::move(owner), actor, ledger);
        break;
      case ImportAction::kOwned: break;
      case ImportAction::kChanged:
        ledger.Audit(EntryOf(AuditAction::kAdministered, owner,
                             CauseOf(list, *line.holder) + owner.record_reason, actor));
        ledger.PutOwner(std::move(owner));
        break;
      case ImportAction::kConflicting: Claim(owner, *line.holder, actor, ledger); break;
    }
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

std::vector<ResourceId> DueReservations(const AllFacts& facts, Timestamp now, std::size_t limit) {
  constexpr std::size_t kPage = 500;
  std::vector<ResourceId> due;
  KeyText after;
  while (true) {
    const std::vector<Owner> page = facts.OwnersIn(OwnerList::kEnding, after, kPage);
    for (const Owner& owner : page) {
      if (*owner.until > now) continue;
      if (due.size() == limit) return due;
      due.push_back(owner.id);
    }
    if (page.size() < kPage) return due;
    after = page.back().key;
  }
}

bool EndReservation(const ResourceId& id, Ledger& ledger) {
  const auto owner = ledger.OwnerOf(id);
  if (!owner || !owner->until || *owner->until > ledger.now()) return false;
  Unreserve(*owner, "reserved until " + FormatTimestamp(*owner->until) + ", and not imported",
            "server", ledger);
  return true;
}

bool EndReservation(const ResourceId& id, std::string_view source, const std::string& actor,
                    Ledger& ledger) {
  const auto owner = ledger.OwnerOf(id);
  if (!owner || !owner->until || SourceOf(*owner) != source) return false;
  Unreserve(*owner, "no longer reserved by " + owner->record_reason, actor, ledger);
  return true;
}

}  // namespace truce
