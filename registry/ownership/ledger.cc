#include "registry/ownership/ledger.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "registry/ownership/names.h"

namespace truce {
namespace {

// Recomputes what people are told about `owner` from the rows of its key, in the order of RowIds.
void Derive(const std::vector<const Row*>& rows, Owner& owner) {
  bool seen = false;
  bool living = false;
  bool foreign = false;
  bool several = false;
  const Slot* manager = nullptr;
  const Slot* leaf = nullptr;
  for (const Row* each : rows) {
    const Row& row = *each;
    if (!Manages(row)) continue;
    if (row.root == owner.root) {
      const bool is_seen = row.id.state == RowState::kSeen;
      seen = seen || is_seen;
      living = living || (is_seen && !row.terminating);
      // A reserved object may never come to be, so that one which was seen is named before it.
      if (row.managed && (leaf == nullptr || is_seen)) leaf = &row.slot;
      // A passive one neither writes nor deletes: it stands in nobody's way.
    } else if (!Passive(row)) {
      foreign = true;
    }
    if (!row.managed || Passive(row)) continue;
    several = several || (manager != nullptr && *manager != row.slot);
    manager = &row.slot;
  }
  owner.leaf = leaf == nullptr ? std::nullopt : std::optional<Slot>(*leaf);
  owner.contested = foreign || several;
  if (owner.record != Record::kNone || living) {
    owner.state = HolderState::kHeld;
  } else {
    owner.state = seen ? HolderState::kTerminating : HolderState::kReserved;
  }
}

}  // namespace

std::optional<Owner> Ledger::OwnerOf(const KeyText& key) const {
  const auto found = owners_.find(key);
  return found != owners_.end() ? found->second : facts_.OwnerOf(key);
}

bool Ledger::HasOwner(const KeyText& key) const {
  const auto found = owners_.find(key);
  return found != owners_.end() ? found->second.has_value() : facts_.HasOwner(key);
}

std::vector<Row> Ledger::RowsOfKey(const KeyText& key) const {
  std::vector<Row> stored = facts_.RowsOfKey(key);
  const auto first = rows_.lower_bound(RowId{key, {}, RowState::kReserved});
  if (first == rows_.end() || first->first.key != key) return stored;
  std::vector<Row> rows;
  for (const Row* row : ChangedRows(key, stored)) rows.push_back(*row);
  return rows;
}

std::vector<const Row*> Ledger::ChangedRows(const KeyText& key,
                                            const std::vector<Row>& stored) const {
  std::vector<const Row*> rows;
  for (const Row& row : stored) {
    if (!rows_.contains(row.id)) rows.push_back(&row);
  }
  const auto first = rows_.lower_bound(RowId{key, {}, RowState::kReserved});
  for (auto it = first; it != rows_.end() && it->first.key == key; ++it) {
    if (it->second) rows.push_back(&*it->second);
  }
  std::sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) { return a->id < b->id; });
  return rows;
}

std::vector<Row> Ledger::RowsOfUid(const Uid& uid) const {
  std::vector<Row> rows = facts_.RowsOfUid(uid);
  std::erase_if(rows, [&](const Row& row) { return rows_.contains(row.id); });
  for (const auto& [id, row] : rows_) {
    if (row && id.uid == uid) rows.push_back(*row);
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
  return rows;
}

std::optional<Row> Ledger::FindRow(const RowId& id) const {
  const auto found = rows_.find(id);
  return found != rows_.end() ? found->second : FindStored(id);
}

std::optional<Row> Ledger::FindStored(const RowId& id) const {
  for (Row& row : facts_.RowsOfKey(id.key)) {
    if (row.id == id) return std::move(row);
  }
  return std::nullopt;
}

std::optional<Object> Ledger::ObjectByUid(const Uid& uid) const {
  const auto found = objects_.find(uid);
  return found != objects_.end() ? found->second : facts_.ObjectByUid(uid);
}

std::optional<Object> Ledger::ObjectBySlot(const Slot& slot) const {
  // Two of one slot: the older one is gone, but its end was not told yet.
  std::optional<Object> youngest;
  if (auto stored = facts_.ObjectBySlot(slot); stored && !objects_.contains(stored->uid)) {
    youngest = std::move(stored);
  }
  for (const auto& [uid, object] : objects_) {
    if (!object || object->slot != slot) continue;
    if (!youngest || std::pair(youngest->at, youngest->uid) < std::pair(object->at, uid)) {
      youngest = object;
    }
  }
  return youngest;
}

std::vector<Object> Ledger::ChildrenOf(const Slot& slot) const {
  std::vector<Object> children = facts_.ChildrenOf(slot);
  std::erase_if(children, [&](const Object& child) { return objects_.contains(child.uid); });
  for (const auto& [uid, object] : objects_) {
    if (object && object->parent == slot) children.push_back(*object);
  }
  std::sort(children.begin(), children.end(),
            [](const Object& a, const Object& b) { return a.uid < b.uid; });
  return children;
}

std::vector<Agreement> Ledger::AgreementsOf(const KeyText& key) const {
  std::vector<Agreement> found = facts_.AgreementsOf(key);
  std::erase_if(found, [&](const Agreement& each) { return agreements_.contains(each.id); });
  for (const auto& [id, agreement] : agreements_) {
    if (agreement && agreement->key == key) found.push_back(*agreement);
  }
  std::sort(found.begin(), found.end(),
            [](const Agreement& a, const Agreement& b) { return a.id < b.id; });
  return found;
}

std::optional<Agreement> Ledger::AgreementById(const PublicId& id) const {
  const auto found = agreements_.find(id);
  return found != agreements_.end() ? found->second : facts_.AgreementById(id);
}

std::optional<ResourceName> Ledger::FurtherName(const KeyText& name) const {
  const auto found = names_.find(name);
  return found != names_.end() ? found->second : facts_.FurtherName(name);
}

std::vector<ResourceName> Ledger::FurtherNamesOf(const KeyText& key) const {
  std::vector<ResourceName> found = facts_.FurtherNamesOf(key);
  std::erase_if(found, [&](const ResourceName& each) { return names_.contains(each.name); });
  for (const auto& [text, name] : names_) {
    if (name && name->key == key) found.push_back(*name);
  }
  std::sort(found.begin(), found.end(),
            [](const ResourceName& a, const ResourceName& b) { return a.name < b.name; });
  return found;
}

std::vector<KeyText> Ledger::OrphansOf(const Slot& root) const {
  std::vector<KeyText> keys;
  for (const Owner& owner : facts_.OwnersIn(OwnerList::kOrphaned, {}, kOrphansMax)) {
    if (owner.root == root && !owners_.contains(owner.key)) keys.push_back(owner.key);
  }
  for (const auto& [key, owner] : owners_) {
    if (owner && owner->root == root && owner->record != Record::kNone) keys.push_back(key);
  }
  return keys;
}

std::optional<std::string> Ledger::Setting(const std::string& name) const {
  const auto found = settings_.find(name);
  return found != settings_.end() ? found->second : facts_.Setting(name);
}

void Ledger::PutRow(Row row) {
  RowId id = row.id;
  rows_.insert_or_assign(std::move(id), std::move(row));
}

// A drop is kept as nothing, here and below: without it the store's value would show through.
void Ledger::DropRow(const RowId& id) { rows_.insert_or_assign(id, std::nullopt); }

void Ledger::PutOwner(Owner owner) {
  KeyText key = owner.key;
  owners_.insert_or_assign(std::move(key), std::move(owner));
}

void Ledger::DropOwner(const KeyText& key) { owners_.insert_or_assign(key, std::nullopt); }

void Ledger::PutObject(Object object) {
  const auto stored = ObjectByUid(object.uid);
  object.at = stored ? stored->at : now_;
  if (stored == object) return;  // a repeated sight writes nothing
  Uid uid = object.uid;
  objects_.insert_or_assign(std::move(uid), std::move(object));
}

void Ledger::DropObject(const Uid& uid) { objects_.insert_or_assign(uid, std::nullopt); }

void Ledger::PutAgreement(Agreement agreement) {
  PublicId id = agreement.id;
  agreements_.insert_or_assign(std::move(id), std::move(agreement));
}

void Ledger::DropAgreement(const PublicId& id) { agreements_.insert_or_assign(id, std::nullopt); }

void Ledger::PutName(ResourceName name) {
  if (const auto known = FurtherName(name.name)) {
    // Seen again it is the same, so that a repeated sight writes nothing.
    const Timestamp at = std::exchange(name.at, known->at);
    if (name != *known) name.at = at;
  }
  KeyText text = name.name;
  names_.insert_or_assign(std::move(text), std::move(name));
}

void Ledger::DropName(const KeyText& name) { names_.insert_or_assign(name, std::nullopt); }

void Ledger::PutSetting(const std::string& name, std::string value) {
  settings_.insert_or_assign(name, std::move(value));
}

void Ledger::Audit(AuditEntry entry) {
  entry.at = now_;
  audit_.push_back(std::move(entry));
}

// The ownership of `stored` left its key: re-keyed, or ended.
void Ledger::MoveAgreements(const Owner& stored) {
  const auto moved = std::find_if(owners_.begin(), owners_.end(), [&](const auto& entry) {
    return entry.second && entry.second->id == stored.id;
  });
  for (Agreement agreement : AgreementsOf(stored.key)) {
    if (moved == owners_.end()) {
      DropAgreement(agreement.id);
      continue;
    }
    // They are of the ownership, not of the text that it is kept under.
    agreement.key = moved->first;
    PutAgreement(std::move(agreement));
  }
  if (moved != owners_.end()) EndWhatIsDone(stored, *moved->second);
}

void Ledger::EndWhatIsDone(const Owner& stored, const Owner& owner) {
  const bool same_party = OneParty(stored.party, owner.party);
  if (same_party && stored.root == owner.root && stored.successor == owner.successor) return;
  for (const Agreement& agreement : AgreementsOf(owner.key)) {
    const bool is_transfer = agreement.kind == AgreementKind::kTransfer;
    const bool outdated = agreement.accepted && agreement.successor != owner.successor;
    const bool own_share =
        agreement.kind == AgreementKind::kShare && OneParty(agreement.party, owner.party);
    // What was shared with the new owner is its own now.
    if ((is_transfer && (outdated || !same_party)) || own_share) DropAgreement(agreement.id);
  }
}

// A list owns by its record alone: what it claimed beside another owner is that now.
void Ledger::OwnByRecord(Owner& owner) {
  owner.record = Record::kImported;
  owner.real = true;
  if (owner.record_reason.empty()) owner.record_reason = owner.root.name;
  for (const Row& row : RowsOfKey(owner.key)) {
    if (row.root != owner.root) continue;
    ending_.insert(row.id.uid);
    DropRow(row.id);
    if (RowsOfUid(row.id.uid).empty()) DropObject(row.id.uid);
  }
}

void Ledger::DeriveOwners() {
  std::set<KeyText> touched;
  for (const auto& [id, row] : rows_) touched.insert(id.key);
  for (const auto& [key, owner] : owners_) touched.insert(key);
  for (const KeyText& key : touched) {
    auto found = owners_.find(key);
    if (found == owners_.end()) {
      std::optional<Owner> owner = facts_.OwnerOf(key);
      // Observers alone need no owner; CheckKey says whether they are alone.
      if (!owner) {
        const std::vector<Row> rows = facts_.RowsOfKey(key);
        CheckKey(key, ChangedRows(key, rows), nullptr);
        continue;
      }
      found = owners_.emplace(key, std::move(owner)).first;
    }
    if (found->second && !SourceOf(found->second->root).empty()) OwnByRecord(*found->second);
    const std::vector<Row> stored = facts_.RowsOfKey(key);
    const std::vector<const Row*> rows = ChangedRows(key, stored);
    if (found->second) Derive(rows, *found->second);
    CheckKey(key, rows, found->second ? &*found->second : nullptr);
  }
}

void Ledger::BringAgreements() {
  for (const auto& [key, owner] : owners_) {
    const auto stored = facts_.OwnerOf(key);
    if (!stored) continue;
    const bool stays = owner && (owner->id == stored->id || united_.contains(stored->id));
    if (stays) {
      EndWhatIsDone(*stored, *owner);
    } else {
      MoveAgreements(*stored);
    }
  }
}

void Ledger::DropNamesOfTheGone() {
  std::set<KeyText> left;
  for (const auto& [id, row] : rows_) {
    if (!row) left.insert(id.key);
  }
  for (const auto& [key, owner] : owners_) {
    if (!owner) left.insert(key);
  }
  const auto stands = [&](const KeyText& key) { return OwnerOf(key) || !RowsOfKey(key).empty(); };
  // What only passed through goes back to the resource that lives (I14): an object may bring a name
  // along in the decision that ends it.
  const auto drop = [&](const KeyText& name) {
    auto stored = facts_.FurtherName(name);
    const bool returns = stored && stands(stored->key);
    names_.insert_or_assign(name, returns ? std::move(stored) : std::nullopt);
  };
  for (const KeyText& key : left) {
    if (stands(key)) continue;
    for (const ResourceName& name : FurtherNamesOf(key)) drop(name.name);
    const auto taken = names_.find(key);
    if (taken != names_.end() && !taken->second) drop(key);
  }
}

void Ledger::TakeNames(Changes& changes) {
  for (auto& [text, name] : names_) {
    const auto stored = facts_.FurtherName(text);
    if (!name && stored) changes.drop_names.push_back(text);
    if (name && name != stored) changes.put_names.push_back(*std::move(name));
  }
}

void Ledger::TakeAgreements(Changes& changes) {
  for (auto& [id, agreement] : agreements_) {
    const auto stored = facts_.AgreementById(id);
    if (!agreement && stored) changes.drop_agreements.push_back(id);
    if (agreement && agreement != stored) changes.put_agreements.push_back(*std::move(agreement));
  }
}

Changes Ledger::Take() {
  // Owners first: agreements go where they go, and names with what is left without any.
  DeriveOwners();
  BringAgreements();
  DropNamesOfTheGone();
  CheckRows();
  for (const auto& [key, owner] : owners_) CheckOwner(key, owner);
  CheckNames();
  Changes changes;
  // A wrong decision must not be half right: nothing of it is written, and the review is unknown.
  if (!breach_.empty()) {
    changes.breach = std::move(breach_);
    return changes;
  }
  TakeAgreements(changes);
  TakeNames(changes);
  for (auto& [key, owner] : owners_) {
    const auto stored = facts_.OwnerOf(key);
    if (!owner && stored) changes.drop_owners.push_back(key);
    if (owner && owner != stored) changes.put_owners.push_back(*std::move(owner));
  }
  for (auto& [id, row] : rows_) {
    const std::optional<Row> stored = FindStored(id);
    if (!row && stored) changes.drop_rows.push_back(id);
    if (row && row != stored) changes.put_rows.push_back(*std::move(row));
  }
  for (auto& [uid, object] : objects_) {
    if (object) {
      changes.put_objects.push_back(*std::move(object));
    } else if (facts_.ObjectByUid(uid)) {
      changes.drop_objects.push_back(uid);
    }
  }
  for (auto& [name, value] : settings_) {
    if (facts_.Setting(name) != value) changes.put_settings.emplace_back(name, std::move(value));
  }
  changes.audit = std::move(audit_);
  return changes;
}

void Ledger::Breach(std::string_view invariant, const std::string& what) {
  if (!breach_.empty()) return;
  breach_ = "invariant ";
  breach_.append(invariant).append(" would be broken: ").append(what);
}

bool Ledger::IsAudited(const PublicId& id, std::initializer_list<AuditAction> actions) const {
  return std::any_of(audit_.begin(), audit_.end(), [&](const AuditEntry& entry) {
    return entry.id == id && !entry.cause.empty() &&
           std::find(actions.begin(), actions.end(), entry.action) != actions.end();
  });
}

// `rows`: all of the key.
void Ledger::CheckKey(const KeyText& key, const std::vector<const Row*>& rows, const Owner* owner) {
  bool managed = false;
  for (const Row* row : rows) {
    if (!Manages(*row)) continue;
    if (owner == nullptr) return Breach("I14", "a managed key without owner: " + key.text);
    managed = managed || row->root == owner->root;
  }
  if (owner == nullptr) return;
  if (owner->key != key || owner->id.empty())
    return Breach("I1", "an owner elsewhere: " + key.text);
  if (managed != (owner->record == Record::kNone)) {
    Breach("I1", (managed ? "an owner with rows and a record: " : "an owner without either: ") +
                     key.text);
  }
}

void Ledger::CheckRows() {
  for (const auto& entry : rows_) {
    const RowId& id = entry.first;
    const std::optional<Row>& row = entry.second;
    if (row) {
      const auto object = objects_.find(id.uid);
      if (object == objects_.end()) continue;
      const bool fits =
          object->second && object->second->root == row->root && object->second->slot == row->slot;
      if (!fits) Breach("I7", "a row of another object: " + id.key.text);
    } else if (!ending_.contains(id.uid)) {
      // Nobody spoke of that life: its row may only have moved.
      const bool moved = std::any_of(rows_.begin(), rows_.end(), [&](const auto& other) {
        return other.second && other.first.uid == id.uid;
      });
      if (!moved && FindStored(id)) Breach("I7", "a row ended by another life: " + id.key.text);
    }
  }
  for (const RowId& id : promised_) {
    const auto row = rows_.find(id);
    const auto owner = row == rows_.end() || !row->second ? std::nullopt : OwnerOf(id.key);
    if (owner && owner->root != row->second->root) Breach("I2", "a second owner: " + id.key.text);
  }
}

void Ledger::CheckOwner(const KeyText& key, const std::optional<Owner>& owner) {
  using enum AuditAction;
  const auto stored = facts_.OwnerOf(key);
  if (owner && stored && owner->id == stored->id) {
    if (owner->root != stored->root &&
        !IsAudited(owner->id, {kGranted, kTransferred, kMoved, kPassed, kAdministered})) {
      Breach("I12", "another root without a cause: " + key.text);
    }
    if (owner->party != stored->party &&
        !IsAudited(owner->id, {kTransferred, kMoved, kPassed, kAdministered})) {
      Breach("I15", "another party without a transfer: " + key.text);
    }
    return;
  }
  if (owner && !IsAudited(owner->id, {kGranted, kTransferred, kMoved, kPassed, kAdministered})) {
    Breach("I12", "a grant without a cause: " + key.text);
  }
  // Another catalogue may make one of two keys, and neither was released.
  if (!stored || rekeys_) return;
  const bool moved = std::any_of(owners_.begin(), owners_.end(), [&](const auto& other) {
    return other.second && other.second->id == stored->id;
  });
  if (moved) return;
  if (!IsAudited(stored->id, {kReleased, kMoved, kAdministered}) &&
      !freeing_.contains(stored->id)) {
    Breach("I12", "a release without a cause: " + key.text);
  }
  if (stored->real && !freeing_.contains(stored->id))
    Breach("I16", "freed without a witness: " + key.text);
}

void Ledger::CheckNames() {
  const auto stands = [&](const KeyText& key) { return HasOwner(key) || !RowsOfKey(key).empty(); };
  for (const auto& [text, name] : names_) {
    if (!name) {
      const auto stored = facts_.FurtherName(text);
      const bool is_name = stored && stored->sort != NameSort::kFormerId;
      if (is_name && !rekeys_ && stands(stored->key) && !stands(text)) {
        Breach("I14", "a name lost while its resource lives: " + text.text);
      }
      continue;
    }
    if (stands(text)) Breach("I13", "a name of two resources: " + text.text);
    if (!stands(name->key)) Breach("I13", "a name of nothing: " + text.text);
    if (name->sort != NameSort::kLocated) continue;
    const std::vector<ResourceName> all = FurtherNamesOf(name->key);
    const auto located = std::count_if(all.begin(), all.end(), [](const ResourceName& each) {
      return each.sort == NameSort::kLocated;
    });
    if (located > 1 || SortOf(name->key) == NameSort::kLocated) {
      Breach("I17", "two located names: " + name->key.text);
    }
  }
}

}  // namespace truce
