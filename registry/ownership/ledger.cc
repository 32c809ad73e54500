#include "registry/ownership/ledger.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "registry/ownership/names.h"

namespace truce {
namespace {

// Recomputes the fields of `owner` for people from the rows of its key, in the order of RowIds.
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
      // A passive one neither writes nor deletes: it is in nobody's way.
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

ResourceId Ledger::NewResource() { return *made_.insert({ids_().text}).first; }

std::optional<Owner> Ledger::StoredOwner(const ResourceId& id) const {
  return made_.contains(id) ? std::nullopt : facts_.OwnerOf(id);
}

std::vector<Row> Ledger::StoredRows(const ResourceId& id) const {
  return made_.contains(id) ? std::vector<Row>() : facts_.RowsOf(id);
}

std::vector<ResourceName> Ledger::StoredNames(const ResourceId& id) const {
  return made_.contains(id) ? std::vector<ResourceName>() : facts_.NamesOf(id);
}

std::optional<Owner> Ledger::OwnerOf(const ResourceId& id) const {
  const auto found = owners_.find(id);
  return found != owners_.end() ? found->second : StoredOwner(id);
}

std::vector<Row> Ledger::RowsOf(const ResourceId& id) const {
  std::vector<Row> stored = StoredRows(id);
  const auto first = rows_.lower_bound(RowId{id, {}, RowState::kReserved});
  if (first == rows_.end() || first->first.resource != id) return stored;
  std::vector<Row> rows;
  for (const Row* row : ChangedRows(id, stored)) rows.push_back(*row);
  return rows;
}

std::vector<const Row*> Ledger::ChangedRows(const ResourceId& id,
                                            const std::vector<Row>& stored) const {
  std::vector<const Row*> rows;
  for (const Row& row : stored) {
    if (!rows_.contains(row.id)) rows.push_back(&row);
  }
  const auto first = rows_.lower_bound(RowId{id, {}, RowState::kReserved});
  for (auto it = first; it != rows_.end() && it->first.resource == id; ++it) {
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
  for (Row& row : StoredRows(id.resource)) {
    if (row.id == id) return std::move(row);
  }
  return std::nullopt;
}

std::optional<Object> Ledger::ObjectByUid(const Uid& uid) const {
  const auto found = objects_.find(uid);
  return found != objects_.end() ? found->second : facts_.ObjectByUid(uid);
}

std::optional<Object> Ledger::ObjectBySlot(const Slot& slot) const {
  // Two of one slot: the older one is gone, but nothing showed its end yet.
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

std::vector<Agreement> Ledger::AgreementsOf(const ResourceId& resource) const {
  std::vector<Agreement> found;
  if (!made_.contains(resource)) found = facts_.AgreementsOf(resource);
  std::erase_if(found, [&](const Agreement& each) { return agreements_.contains(each.id); });
  for (const auto& [id, agreement] : agreements_) {
    if (agreement && agreement->resource == resource) found.push_back(*agreement);
  }
  std::sort(found.begin(), found.end(),
            [](const Agreement& a, const Agreement& b) { return a.id < b.id; });
  return found;
}

std::optional<Agreement> Ledger::AgreementById(const PublicId& id) const {
  const auto found = agreements_.find(id);
  return found != agreements_.end() ? found->second : facts_.AgreementById(id);
}

std::optional<ResourceName> Facts::Named(const KeyText& name) const {
  std::vector<ResourceName> spelt = Spelt(name);
  if (spelt.empty()) return std::nullopt;
  return std::move(spelt.front());
}

std::vector<ResourceName> Ledger::Spelt(const KeyText& name) const {
  std::vector<ResourceName> spelt = facts_.Spelt(name);
  std::erase_if(spelt, [&](const ResourceName& each) { return names_.contains(IdOf(each)); });
  for (auto it = names_.lower_bound({name, 0}); it != names_.end() && it->first.name == name;
       ++it) {
    if (it->second) spelt.push_back(*it->second);
  }
  std::sort(spelt.begin(), spelt.end(),
            [](const ResourceName& a, const ResourceName& b) { return a.spelling > b.spelling; });
  return spelt;
}

std::optional<ResourceName> Ledger::Named(const KeyText& name) const {
  std::vector<ResourceName> spelt = Spelt(name);
  if (spelt.empty()) return std::nullopt;
  return std::move(spelt.front());
}

std::optional<ResourceName> Ledger::FindStored(const NameId& id) const {
  for (ResourceName& name : facts_.Spelt(id.name)) {
    if (name.spelling == id.spelling) return std::move(name);
  }
  return std::nullopt;
}

std::vector<ResourceName> Ledger::NamesOf(const ResourceId& id) const {
  std::vector<ResourceName> found = StoredNames(id);
  std::erase_if(found, [&](const ResourceName& each) { return names_.contains(IdOf(each)); });
  for (const auto& [name_id, name] : names_) {
    if (name && name->resource == id) found.push_back(*name);
  }
  std::sort(found.begin(), found.end(), [](const ResourceName& a, const ResourceName& b) {
    return std::pair(IdOf(a), a.at) < std::pair(IdOf(b), b.at);
  });
  return found;
}

std::vector<ResourceId> Ledger::OrphansOf(const Slot& root) const {
  std::vector<ResourceId> orphans;
  for (const Owner& owner : facts_.OwnersIn(OwnerList::kOrphaned, {}, kOrphansMax)) {
    if (owner.root == root && !owners_.contains(owner.id)) orphans.push_back(owner.id);
  }
  for (const auto& [id, owner] : owners_) {
    if (owner && owner->root == root && owner->record != Record::kNone) orphans.push_back(id);
  }
  return orphans;
}

std::optional<std::string> Ledger::Setting(const std::string& name) const {
  const auto found = settings_.find(name);
  return found != settings_.end() ? found->second : facts_.Setting(name);
}

std::vector<TableRow> Ledger::TableRows(const Table& table, const TableRow& prefix) const {
  std::vector<TableRow> stored = facts_.TableRows(table, prefix);
  const auto own = table_rows_.find(table);
  if (own == table_rows_.end()) return stored;
  std::map<TableRow, TableRow> rows;
  for (TableRow& row : stored) rows.emplace(KeyOf(table, row), std::move(row));
  for (const auto& [key, row] : own->second) {
    if (!row) rows.erase(key);
    if (row && std::equal(prefix.begin(), prefix.end(), row->begin())) rows[key] = *row;
  }
  std::vector<TableRow> all;
  for (auto& [key, row] : rows) all.push_back(std::move(row));
  return all;
}

void Ledger::PutRow(Row row) {
  RowId id = row.id;
  rows_.insert_or_assign(std::move(id), std::move(row));
}

// A drop is kept as nothing, here and below: without it the store's value would show through.
void Ledger::DropRow(const RowId& id) { rows_.insert_or_assign(id, std::nullopt); }

void Ledger::PutOwner(Owner owner) {
  ResourceId id = owner.id;
  owners_.insert_or_assign(std::move(id), std::move(owner));
}

void Ledger::DropOwner(const ResourceId& id) { owners_.insert_or_assign(id, std::nullopt); }

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
  NameId id = IdOf(name);
  const auto own = names_.find(id);
  const auto known = own != names_.end() ? own->second : FindStored(id);
  if (known) {
    // Seen again it is the same, so that a repeated sight writes nothing.
    const Timestamp at = std::exchange(name.at, known->at);
    if (name != *known) name.at = at;
  }
  names_.insert_or_assign(std::move(id), std::move(name));
}

void Ledger::DropName(const NameId& name) { names_.insert_or_assign(name, std::nullopt); }

void Ledger::PutSetting(const std::string& name, std::string value) {
  settings_.insert_or_assign(name, std::move(value));
}

void Ledger::PutTableRow(const Table& table, TableRow row) {
  TableRow key = KeyOf(table, row);
  table_rows_[table].insert_or_assign(std::move(key), std::move(row));
}

void Ledger::DropTableRow(const Table& table, TableRow key) {
  table_rows_[table].insert_or_assign(std::move(key), std::nullopt);
}

void Ledger::SetTableRows(const Table& table, const TableRow& prefix, std::vector<TableRow> rows) {
  std::map<TableRow, TableRow> gone;
  for (TableRow& row : TableRows(table, prefix)) gone.emplace(KeyOf(table, row), std::move(row));
  for (TableRow& row : rows) {
    const auto known = gone.find(KeyOf(table, row));
    const bool is_same = known != gone.end() && known->second == row;
    if (known != gone.end()) gone.erase(known);
    if (!is_same) PutTableRow(table, std::move(row));
  }
  for (const auto& [key, row] : gone) DropTableRow(table, key);
}

void Ledger::Audit(AuditEntry entry) {
  entry.at = now_;
  audit_.push_back(std::move(entry));
}

void Ledger::EndWhatIsDone(const Owner& stored, const Owner& owner) {
  const bool same_party = OneParty(stored.party, owner.party);
  if (same_party && stored.root == owner.root && stored.successor == owner.successor) return;
  for (const Agreement& agreement : AgreementsOf(owner.id)) {
    const bool is_transfer = agreement.kind == AgreementKind::kTransfer;
    const bool outdated = agreement.accepted && agreement.successor != owner.successor;
    const bool own_share =
        agreement.kind == AgreementKind::kShare && OneParty(agreement.party, owner.party);
    // A share with the new owner is its own resource now.
    if ((is_transfer && (outdated || !same_party)) || own_share) DropAgreement(agreement.id);
  }
}

// A list owns by its record alone: its claim beside another owner becomes that record.
void Ledger::OwnByRecord(Owner& owner) {
  owner.record = Record::kImported;
  owner.real = !owner.until;
  if (owner.record_reason.empty()) owner.record_reason = owner.root.name;
  for (const Row& row : RowsOf(owner.id)) {
    if (row.root != owner.root) continue;
    ending_.insert(row.id.uid);
    DropRow(row.id);
    if (RowsOfUid(row.id.uid).empty()) DropObject(row.id.uid);
  }
}

bool Ledger::Stands(const ResourceId& id) const { return OwnerOf(id) || !RowsOf(id).empty(); }

std::set<ResourceId> Ledger::Touched() const {
  std::set<ResourceId> touched;
  for (const auto& [id, row] : rows_) touched.insert(id.resource);
  for (const auto& [id, owner] : owners_) touched.insert(id);
  for (const auto& [id, name] : names_) {
    if (name) touched.insert(name->resource);
    if (const auto stored = FindStored(id)) touched.insert(stored->resource);
  }
  return touched;
}

void Ledger::RenewObserved() {
  for (const auto& [id, owner] : owners_) {
    if (owner || !StoredOwner(id)) continue;
    const std::vector<Row> observers = RowsOf(id);
    if (observers.empty()) continue;
    const ResourceId fresh = NewResource();
    for (Row row : observers) {
      DropRow(row.id);
      row.id.resource = fresh;
      PutRow(std::move(row));
    }
    for (ResourceName name : NamesOf(id)) {
      if (name.sort == NameSort::kFormerId) continue;
      name.resource = fresh;
      PutName(std::move(name));
    }
  }
}

void Ledger::DeriveOwners() {
  for (const ResourceId& id : Touched()) {
    auto found = owners_.find(id);
    if (found == owners_.end()) found = owners_.emplace(id, StoredOwner(id)).first;
    std::optional<Owner>& owner = found->second;
    if (owner && !SourceOf(owner->root).empty()) OwnByRecord(*owner);
    const std::vector<Row> stored = StoredRows(id);
    const std::vector<const Row*> rows = ChangedRows(id, stored);
    KeyText key = BestOf(NamesOf(id));
    if (owner) {
      owner->key = std::move(key);
      owner->shape = ShapeOf(owner->key);
      Derive(rows, *owner);
    } else if (!rows.empty() &&
               (stored.empty() || StoredOwner(id) || BestOf(StoredNames(id)) != key)) {
      observed_.push_back({id, std::move(key)});
    }
    CheckResource(id, rows, owner ? &*owner : nullptr);
  }
}

void Ledger::EndAgreements() {
  for (const auto& [id, owner] : owners_) {
    const auto stored = StoredOwner(id);
    if (!stored) continue;
    if (owner) {
      EndWhatIsDone(*stored, *owner);
      continue;
    }
    for (const Agreement& agreement : AgreementsOf(id)) DropAgreement(agreement.id);
  }
}

void Ledger::DropNamesOfTheGone() {
  for (const ResourceId& id : Touched()) {
    if (Stands(id)) continue;
    for (const ResourceName& name : NamesOf(id)) {
      // A name that only passed through goes back to the resource that lives (I14): an object may
      // bring a name along in the decision that ends it.
      auto stored = FindStored(IdOf(name));
      const bool returns = stored && Stands(stored->resource);
      names_.insert_or_assign(IdOf(name), returns ? std::move(stored) : std::nullopt);
    }
  }
}

void Ledger::TakeNames(Changes& changes) {
  for (auto& [id, name] : names_) {
    const auto stored = FindStored(id);
    if (!name && stored) changes.drop_names.push_back(id);
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
  RenewObserved();
  // Names first: the key that people see follows from them.
  DropNamesOfTheGone();
  DeriveOwners();
  EndAgreements();
  CheckRows();
  for (const auto& [id, owner] : owners_) CheckOwner(id, owner);
  CheckNames();
  Changes changes;
  // A wrong decision must not be half right: nothing of it is written, and the review is unknown.
  if (!breach_.empty()) {
    changes.breach = std::move(breach_);
    return changes;
  }
  TakeAgreements(changes);
  TakeNames(changes);
  changes.put_observed = std::move(observed_);
  for (auto& [id, owner] : owners_) {
    const auto stored = StoredOwner(id);
    if (!owner && stored) changes.drop_owners.push_back(id);
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
  for (auto& [table, rows] : table_rows_) {
    for (auto& [key, row] : rows) {
      if (row) {
        changes.put_table_rows.push_back({table, *std::move(row)});
      } else {
        changes.drop_table_rows.push_back({table, key});
      }
    }
  }
  changes.audit = std::move(audit_);
  if (!changes.empty()) changes.made = {made_.begin(), made_.end()};
  return changes;
}

void Ledger::Breach(std::string_view invariant, const std::string& what) {
  if (!breach_.empty()) return;
  breach_ = "invariant ";
  breach_.append(invariant).append(" would be broken: ").append(what);
}

bool Ledger::IsAudited(const ResourceId& id, std::initializer_list<AuditAction> actions) const {
  return std::any_of(audit_.begin(), audit_.end(), [&](const AuditEntry& entry) {
    return entry.id == id && !entry.cause.empty() &&
           std::find(actions.begin(), actions.end(), entry.action) != actions.end();
  });
}

// `rows`: all of the resource.
void Ledger::CheckResource(const ResourceId& id, const std::vector<const Row*>& rows,
                           const Owner* owner) {
  bool managed = false;
  for (const Row* row : rows) {
    if (!Manages(*row)) continue;
    if (owner == nullptr) return Breach("I14", "a managed resource without owner: " + id.text);
    managed = managed || row->root == owner->root;
  }
  if (owner == nullptr) return;
  if (owner->id != id || id.empty()) return Breach("I1", "an owner elsewhere: " + id.text);
  if (owner->key.empty()) return Breach("I14", "an owner without a name: " + id.text);
  if (managed != (owner->record == Record::kNone)) {
    Breach("I1", (managed ? "an owner with rows and a record: " : "an owner without either: ") +
                     owner->key.text);
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
      if (!fits) Breach("I7", "a row of another object: " + id.resource.text);
    } else if (!ending_.contains(id.uid)) {
      // Nobody spoke of that life: its row may only have moved.
      const bool moved = std::any_of(rows_.begin(), rows_.end(), [&](const auto& other) {
        return other.second && other.first.uid == id.uid;
      });
      if (!moved && FindStored(id))
        Breach("I7", "a row ended by another life: " + id.resource.text);
    }
  }
  for (const RowId& id : promised_) {
    const auto row = rows_.find(id);
    const auto owner = row == rows_.end() || !row->second ? std::nullopt : OwnerOf(id.resource);
    if (owner && owner->root != row->second->root)
      Breach("I2", "a second owner: " + owner->key.text);
  }
}

void Ledger::CheckOwner(const ResourceId& id, const std::optional<Owner>& owner) {
  using enum AuditAction;
  const auto stored = StoredOwner(id);
  if (owner && stored) {
    if (owner->root != stored->root &&
        !IsAudited(id, {kGranted, kTransferred, kMoved, kPassed, kAdministered})) {
      Breach("I12", "another root without a cause: " + owner->key.text);
    }
    if (owner->party != stored->party &&
        !IsAudited(id, {kTransferred, kMoved, kPassed, kAdministered})) {
      Breach("I15", "another party without a transfer: " + owner->key.text);
    }
    return;
  }
  if (owner && !IsAudited(id, {kGranted, kTransferred, kMoved, kPassed, kAdministered})) {
    Breach("I12", "a grant without a cause: " + owner->key.text);
  }
  // Another catalogue may make one of two resources, and neither was released.
  if (!stored || spelling_ != 0) return;
  if (!IsAudited(id, {kReleased, kMoved, kAdministered}) && !freeing_.contains(id)) {
    Breach("I12", "a release without a cause: " + stored->key.text);
  }
  if (stored->real && !freeing_.contains(id))
    Breach("I16", "freed without a witness: " + stored->key.text);
}

void Ledger::CheckNames() {
  for (const auto& [id, name] : names_) {
    if (!name) {
      const auto stored = FindStored(id);
      const bool is_lost = stored && stored->sort != NameSort::kFormerId &&
                           Stands(stored->resource) && !Named(id.name);
      if (is_lost && spelling_ == 0 && !losing_.contains(id.name)) {
        Breach("I14", "a name lost while its resource lives: " + id.name.text);
      }
      continue;
    }
    if (name->sort != NameSort::kLocated) continue;
    const std::vector<ResourceName> all = NamesOf(name->resource);
    const auto located = std::ranges::count(all, NameSort::kLocated, &ResourceName::sort);
    if (located > 1) Breach("I17", "two located names: " + id.name.text);
  }
}

}  // namespace truce
