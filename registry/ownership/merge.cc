#include "registry/ownership/merge.h"

#include <algorithm>
#include <utility>

#include "registry/identity/draft.h"
#include "registry/identity/evidence.h"
#include "registry/identity/successors.h"
#include "registry/identity/values.h"
#include "registry/ownership/declared_grant.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/names.h"

namespace truce {
namespace {

void MoveRow(Row row, const KeyText& to, Ledger& ledger) {
  ledger.DropRow(row.id);
  row.id.key = to;
  if (const auto there = ledger.FindRow(row.id)) {
    // Whoever may delete it by one of the names may delete it.
    row.intent = std::max(row.intent, there->intent);
    // The older one tells what its account depended on all along.
    const bool marked =
        there->account_fields == Row::kChanged ||
        (there->account_fields == Row::kMoved && row.account_fields != Row::kChanged);
    if (there->at < row.at || (there->at == row.at && marked)) {
      row.account_fields = there->account_fields;
    }
    if (row.id.state == RowState::kSeen) row.base = std::max(row.base, there->base);
    row.at = std::min(row.at, there->at);
    row.terminating = row.terminating && there->terminating;
  }
  ledger.PutRow(std::move(row));
}

// All of the resource at `from` but its owner.
void MoveBelongings(const KeyText& from, const KeyText& to, Ledger& ledger) {
  for (Row& row : ledger.RowsOfKey(from)) MoveRow(std::move(row), to, ledger);
  for (ResourceName& name : ledger.FurtherNamesOf(from)) {
    if (name.name == to) {
      ledger.DropName(to);
      continue;
    }
    name.key = to;
    ledger.PutName(std::move(name));
  }
}

}  // namespace

void AuditNames(const Owner& owner, std::string cause, Ledger& ledger) {
  ledger.Audit({.action = AuditAction::kMoved,
                .key = owner.key,
                .id = owner.id,
                .root = owner.root,
                .cause = std::move(cause),
                .actor = "names"});
}

void RenameKey(const KeyText& from, const KeyText& to, Ledger& ledger) {
  auto owner = ledger.OwnerOf(from);
  MoveBelongings(from, to, ledger);
  if (!owner) return;
  ledger.DropOwner(from);
  owner->key = to;
  owner->shape = ShapeOf(to);
  AuditNames(*owner, "its key " + from.text + " names another resource now", ledger);
  ledger.PutOwner(*std::move(owner));
}

void PutFurther(const KeyText& name, const KeyText& key, bool observed, Ledger& ledger) {
  ledger.PutName(
      {.name = name, .key = key, .sort = SortOf(name), .observed = observed, .at = ledger.now()});
}

bool SameParts(const KeyText& a, const KeyText& b) {
  if (IsAssignedName(a) || IsAssignedName(b)) return true;
  return a == b || WithAccount(a, {}) == WithAccount(b, {});
}

bool MayMerge(const Owner& a, const Owner& b, const Ledger& ledger) {
  const auto located_a = LocatedName(a);
  const auto located_b = LocatedName(b);
  const bool apart = located_a && located_b && *located_a != *located_b;
  if (apart || !SameParts(a.key, b.key)) return false;
  // What is owned outside would become a tenant's by a name that he writes.
  if (a.record == Record::kImported || b.record == Record::kImported) return false;
  const bool record = a.record != Record::kNone || b.record != Record::kNone;
  return a.root == b.root || (record && ledger.OneParty(a.party, b.party));
}

namespace {

// Agreements unite: of what a resource has one of, the one that stands at `to` stays, but for a
// mark against deletion: what was said by command outlives what an object in Git says.
void UniteAgreements(const KeyText& from, const KeyText& to, Ledger& ledger) {
  const std::vector<Agreement> there = ledger.AgreementsOf(to);
  for (Agreement& agreement : ledger.AgreementsOf(from)) {
    const auto other = std::find_if(there.begin(), there.end(), [&](const Agreement& each) {
      if (each.kind != agreement.kind) return false;
      return agreement.kind != AgreementKind::kShare || each.party == agreement.party;
    });
    const bool replaces = other != there.end() && agreement.kind == AgreementKind::kProtection &&
                          other->actor.starts_with(kDeclaredActor) &&
                          !agreement.actor.starts_with(kDeclaredActor);
    if (other != there.end()) ledger.DropAgreement(replaces ? other->id : agreement.id);
    if (other != there.end() && !replaces) continue;
    agreement.key = to;
    ledger.PutAgreement(std::move(agreement));
  }
}

// Two resources are one: of their owners' words the living one's counts, else that of `owner`; who
// owns it by now needs no word. An accepted transfer to somebody else ends.
void UniteWords(const Owner& gone, Owner& owner, Ledger& ledger) {
  const bool gone_lives = gone.record == Record::kNone && owner.record != Record::kNone;
  const Owner& first = gone_lives ? gone : owner;
  const Owner& second = gone_lives ? owner : gone;
  const std::string& cluster = first.root.cluster;
  std::string word = first.successor;
  if (word.empty()) word = SuccessorIn(cluster, second.successor, second.root.cluster);
  if (NamesSuccessor(word, cluster, first.root)) word.clear();
  for (const KeyText& key : {gone.key, owner.key}) {
    for (const Agreement& each : ledger.AgreementsOf(key)) {
      const bool accepted = each.kind == AgreementKind::kTransfer && each.accepted;
      if (accepted && each.successor != word) ledger.DropAgreement(each.id);
    }
  }
  owner.successor = std::move(word);
}

}  // namespace

void Merge(const KeyText& from, const KeyText& to, Ledger& ledger) {
  auto kept = ledger.OwnerOf(to);
  const auto gone = ledger.OwnerOf(from);
  if (gone && !kept) {  // there it was only observed so far
    RenameKey(from, to, ledger);
    if (!IsAside(from)) PutFurther(from, to, false, ledger);
    return;
  }
  if (gone && kept) UniteWords(*gone, *kept, ledger);
  UniteAgreements(from, to, ledger);
  MoveBelongings(from, to, ledger);
  if (gone) ledger.DropOwner(from);
  if (gone) ledger.MayFree(gone->id);
  if (kept) ledger.MayFree(kept->id);  // of the two ids one stays
  if (!IsAside(from)) PutFurther(from, to, false, ledger);
  if (!gone || !kept) return;
  Owner& owner = *kept;
  if (owner.record != Record::kNone && gone->record == Record::kNone) {
    owner.root = gone->root;
    owner.service = gone->service;
    owner.contact = gone->contact;
  }
  if (RootManages(ledger.RowsOfKey(to), owner.root)) {
    owner.record = Record::kNone;
    owner.record_reason.clear();
  }
  const PublicId younger = gone->since < owner.since ? owner.id : gone->id;
  KeepFormerId(younger, to, ledger);
  if (gone->since < owner.since) {
    ledger.Unite(owner.id);
    owner.id = gone->id;
  }
  owner.since = std::min(owner.since, gone->since);
  owner.real = owner.real || gone->real;
  owner.managed_once = owner.managed_once || gone->managed_once;
  for (const Slot& slot : gone->left) RememberSlot(slot, owner);
  if (owner.arn.empty()) owner.arn = gone->arn;
  // Whoever declares an id by its own account says nothing of where the resource lies.
  const bool tells = !IsAccount(owner.identity.account) && !IsAssignedName(from);
  if (tells) owner.identity.account = gone->identity.account;
  AuditNames(owner, "found to be one resource with " + younger.text + " (" + from.text + ")",
             ledger);
  ledger.PutOwner(std::move(owner));
}

}  // namespace truce
