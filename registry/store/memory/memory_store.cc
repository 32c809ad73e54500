#include "registry/store/memory/memory_store.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

#include "registry/base/text.h"
#include "registry/store/adapter.h"

namespace truce {

class MemoryStore::State final : public AllFacts {
 public:
  std::optional<Owner> OwnerOf(const KeyText& key) const override {
    const auto found = owners_.find(key);
    if (found == owners_.end()) return std::nullopt;
    return found->second;
  }
  bool HasOwner(const KeyText& key) const override { return owners_.contains(key); }

  std::vector<Row> RowsOfKey(const KeyText& key) const override {
    std::vector<Row> rows;
    for (auto it = rows_.lower_bound(RowId{key, {}, {}}); it != rows_.end() && it->first.key == key;
         ++it) {
      rows.push_back(it->second);
    }
    return rows;
  }

  std::vector<Row> RowsOfUid(const Uid& uid) const override {
    std::vector<Row> rows;
    for (const auto& [id, row] : rows_) {
      if (id.uid == uid) rows.push_back(row);
    }
    return rows;
  }

  std::optional<Object> ObjectByUid(const Uid& uid) const override {
    const auto found = objects_.find(uid);
    if (found == objects_.end()) return std::nullopt;
    return found->second;
  }

  std::optional<Object> ObjectBySlot(const Slot& slot) const override {
    const Object* youngest = nullptr;
    for (const auto& [uid, object] : objects_) {
      if (object.slot == slot && (youngest == nullptr || object.at >= youngest->at)) {
        youngest = &object;
      }
    }
    if (youngest == nullptr) return std::nullopt;
    return *youngest;
  }

  std::vector<Object> ChildrenOf(const Slot& slot) const override {
    std::vector<Object> children;
    for (const auto& [uid, object] : objects_) {
      if (object.parent == slot) children.push_back(object);
    }
    return children;
  }

  std::size_t CountReserved(const ReservedRange& range, const std::set<GroupKind>& left_out,
                            std::size_t limit) const override {
    const auto count = std::count_if(rows_.begin(), rows_.end(), [&](const auto& entry) {
      const Row& row = entry.second;
      return row.id.state == RowState::kReserved && row.slot.ns == range.ns && !row.user.empty() &&
             (!range.ns.empty() || row.user == range.user) && row.at >= range.from &&
             row.at < range.before && !left_out.contains({row.slot.group, row.slot.kind});
    });
    return std::min(static_cast<std::size_t>(count), limit);
  }

  std::uint64_t CountOwned(const OwnedRange& range) const override {
    return static_cast<std::uint64_t>(
        std::count_if(owners_.begin(), owners_.end(),
                      [&](const auto& entry) { return IsIn(range, PlaceOf(entry.second)); }));
  }

  std::vector<PlaceCount> PlacesOf(std::string_view type, std::size_t limit) const override {
    std::map<std::tuple<ClusterNamespace, std::string, std::string>, PlaceCount> found;
    for (const auto& [key, owner] : owners_) {
      Place place = PlaceOf(owner);
      if (place.type != type) continue;
      PlaceCount& counted = found[{place.ns, place.account, place.region}];
      counted.place = std::move(place);
      ++counted.count;
    }
    std::vector<PlaceCount> places;
    for (auto& [order, counted] : found) {
      if (places.size() < limit) places.push_back(std::move(counted));
    }
    return places;
  }

  std::vector<Owner> OwnersOfShape(std::string_view shape, std::size_t limit) const override {
    std::vector<Owner> owners;
    if (shape.empty()) return owners;
    for (const auto& [key, owner] : owners_) {
      if (owners.size() == limit) break;
      if (owner.shape == shape) owners.push_back(owner);
    }
    return owners;
  }

  std::vector<KeyText> KeysAfter(const KeyText& after, std::size_t limit) const override {
    std::set<KeyText> keys;
    for (auto it = owners_.upper_bound(after); it != owners_.end() && keys.size() < limit; ++it) {
      keys.insert(it->first);
    }
    std::size_t of_rows = 0;
    KeyText last = after;
    for (auto it = rows_.lower_bound(RowId{after, {}, {}}); it != rows_.end() && of_rows < limit;
         ++it) {
      if (it->first.key == last) continue;
      last = it->first.key;
      keys.insert(last);
      ++of_rows;
    }
    std::vector<KeyText> ordered(keys.begin(), keys.end());
    if (ordered.size() > limit) ordered.resize(limit);
    return ordered;
  }

  // By uid.
  ObjectPage ObjectsOfKind(const Slot& slot, std::string_view after,
                           std::size_t limit) const override {
    const auto kind = [](const Slot& of) { return std::tie(of.cluster, of.group, of.kind); };
    ObjectPage page;
    for (auto it = objects_.upper_bound(Uid{std::string(after)}); it != objects_.end(); ++it) {
      if (kind(it->second.slot) != kind(slot)) continue;
      page.objects.push_back(it->second);
      if (page.objects.size() < limit) continue;
      page.next = it->first.text;
      break;
    }
    return page;
  }

  std::vector<Row> ReservedBefore(Timestamp before, const RowId& after,
                                  std::size_t limit) const override {
    std::vector<Row> rows;
    for (auto it = rows_.upper_bound(after); it != rows_.end() && rows.size() < limit; ++it) {
      const Row& row = it->second;
      if (row.id.state == RowState::kReserved && row.at < before) rows.push_back(row);
    }
    return rows;
  }

  std::vector<Object> ObjectsAfter(const Uid& after, std::size_t limit) const override {
    std::vector<Object> objects;
    for (auto it = objects_.upper_bound(after); it != objects_.end() && objects.size() < limit;
         ++it) {
      objects.push_back(it->second);
    }
    return objects;
  }

  std::vector<std::pair<std::string, std::string>> SettingsAfter(std::string_view after,
                                                                 std::size_t limit) const override {
    std::vector<std::pair<std::string, std::string>> settings;
    for (auto it = settings_.upper_bound(after); it != settings_.end() && settings.size() < limit;
         ++it) {
      settings.push_back(*it);
    }
    return settings;
  }

  std::vector<Row> ObserversAfter(const RowId& after, std::size_t limit) const override {
    std::vector<Row> rows;
    for (auto it = rows_.upper_bound(after); it != rows_.end() && rows.size() < limit; ++it) {
      if (!Manages(it->second)) rows.push_back(it->second);
    }
    return rows;
  }

  std::uint64_t CountSeen(std::string_view cluster) const override {
    const auto count = std::count_if(rows_.begin(), rows_.end(), [&](const auto& entry) {
      const Row& row = entry.second;
      return row.id.state == RowState::kSeen && row.slot.cluster == cluster;
    });
    return static_cast<std::uint64_t>(count);
  }

  std::vector<AuditLine> AuditLines(const AuditRange& range, std::size_t limit) const override {
    std::vector<AuditLine> lines;
    for (std::size_t i = 0; i < audit_.size() && lines.size() < limit; ++i) {
      const AuditLine& line = audit_[range.newest_first ? audit_.size() - 1 - i : i];
      const std::uint64_t number = line.place.number;
      const bool in_range = number >= range.from && (range.until == 0 || number < range.until) &&
                            (!range.behind || (range.newest_first ? number < range.behind->number
                                                                  : number > range.behind->number));
      if (!in_range || (!range.id.empty() && line.entry.id != range.id)) continue;
      lines.push_back(line);
    }
    return lines;
  }

  std::vector<KeyText> KeysWithId(const PublicId& id, std::size_t limit) const override {
    if (id.empty()) return {};
    return KeysWhere({}, limit, [&](const Owner& owner) { return owner.id == id; });
  }
  std::vector<KeyText> KeysWithName(std::string_view name, std::size_t limit) const override {
    if (name.empty()) return {};
    return KeysWhere({}, limit,
                     [&](const Owner& owner) { return EqualsIgnoringCase(owner.name, name); });
  }
  std::vector<KeyText> KeysWithArn(std::string_view arn, std::size_t limit) const override {
    if (arn.empty()) return {};
    return KeysWhere({}, limit, [&](const Owner& owner) { return owner.arn == arn; });
  }
  std::optional<std::vector<KeyText>> KeysNamed(const NameSearch& search,
                                                std::size_t limit) const override {
    if (IsAmongNobody(search)) return std::vector<KeyText>();
    std::vector<KeyText> keys =
        KeysWhere({}, limit + 1, [&](const Owner& owner) { return IsAmong(search, owner); });
    if (keys.size() > limit) return std::nullopt;
    std::erase_if(keys, [&](const KeyText& key) {
      return !HoldsIgnoringCase(owners_.at(key).name, search.part);
    });
    return keys;
  }
  std::vector<KeyText> KeysOfService(std::string_view service, const KeyText& after,
                                     std::size_t limit) const override {
    if (service.empty()) return {};
    return KeysWhere(after, limit, [&](const Owner& owner) { return owner.service == service; });
  }

  std::vector<ServiceCount> Services(std::string_view after, std::size_t limit) const override {
    std::map<std::string_view, std::uint64_t> counts;
    for (const auto& [key, owner] : owners_) {
      if (owner.service > after) ++counts[owner.service];
    }
    std::vector<ServiceCount> services;
    for (const auto& [service, keys] : counts) {
      if (services.size() < limit) services.push_back({std::string(service), keys});
    }
    return services;
  }

  std::vector<ServiceTally> TallyServices() const override {
    ServiceTallies tallies;
    for (const auto& [key, owner] : owners_) tallies.Add(PlaceOf(owner), owner.service, 1);
    return std::move(tallies).Take();
  }

  std::vector<std::string> NamespacesOf(std::string_view cluster, const GroupKind& kind,
                                        std::size_t limit) const override {
    std::set<std::string> found;
    for (const auto& [uid, object] : objects_) {
      const Slot& slot = object.slot;
      if (slot.cluster == cluster && slot.group == kind.group && slot.kind == kind.kind) {
        found.insert(slot.ns);
      }
    }
    std::vector<std::string> namespaces(found.begin(), found.end());
    if (namespaces.size() > limit) namespaces.resize(limit);
    return namespaces;
  }

  std::vector<Owner> OwnersIn(OwnerList list, const KeyText& after,
                              std::size_t limit) const override {
    std::vector<Owner> owners;
    for (auto it = owners_.upper_bound(after); it != owners_.end() && owners.size() < limit; ++it) {
      if (IsIn(list, it->second)) owners.push_back(it->second);
    }
    return owners;
  }

  std::optional<ResourceName> FurtherName(const KeyText& name) const override {
    const auto found = names_.find(name);
    if (found == names_.end()) return std::nullopt;
    return found->second;
  }

  std::vector<ResourceName> FurtherNamesOf(const KeyText& key) const override {
    std::vector<ResourceName> found;
    for (const auto& [name, further] : names_) {
      if (further.key == key) found.push_back(further);
    }
    return found;
  }

  std::vector<Agreement> AgreementsOf(const KeyText& key) const override {
    std::vector<Agreement> found;
    for (const auto& [id, agreement] : agreements_) {
      if (agreement.key == key) found.push_back(agreement);
    }
    return found;
  }

  std::optional<Agreement> AgreementById(const PublicId& id) const override {
    const auto found = agreements_.find(id);
    if (found == agreements_.end()) return std::nullopt;
    return found->second;
  }

  std::vector<Agreement> AgreementsAfter(AgreementKind kind, const PublicId& after,
                                         std::size_t limit) const override {
    std::vector<Agreement> found;
    for (auto it = agreements_.upper_bound(after); it != agreements_.end() && found.size() < limit;
         ++it) {
      if (it->second.kind == kind) found.push_back(it->second);
    }
    return found;
  }

  std::optional<std::string> Setting(std::string_view name) const override {
    const auto found = settings_.find(name);
    if (found == settings_.end()) return std::nullopt;
    return found->second;
  }

  Result<void> Write(const Changes& changes);
  StoreCounts Counts() const;

 private:
  // What a change touched, as it was.
  struct Before {
    std::map<KeyText, Owner> owners;
    std::vector<Row> rows;
    std::map<KeyText, std::optional<ResourceName>> names;
  };

  // The first `limit` keys behind `after` whose owner fits.
  template <typename Fits>
  std::vector<KeyText> KeysWhere(const KeyText& after, std::size_t limit, const Fits& fits) const {
    std::vector<KeyText> keys;
    for (auto it = owners_.upper_bound(after); it != owners_.end() && keys.size() < limit; ++it) {
      if (fits(it->second)) keys.push_back(it->first);
    }
    return keys;
  }
  bool Exists(const KeyText& key) const;
  bool Managed(const KeyText& key) const;
  void Replace(const Changes& changes);
  void LetGo(const std::string& last);
  void DropAndPutRows(const Changes& changes);
  void DropAndPutOwners(const Changes& changes);
  void DropAndPutNames(const Changes& changes);
  Before Save(const std::set<KeyText>& keys, const Changes& changes) const;
  void Restore(const std::set<KeyText>& keys, Before before);
  Result<void> Check(const std::set<KeyText>& keys, const Changes& changes) const;

  std::map<RowId, Row> rows_;
  std::map<KeyText, Owner> owners_;
  std::map<Uid, Object> objects_;
  std::map<PublicId, Agreement> agreements_;
  std::map<KeyText, ResourceName> names_;
  std::map<std::string, std::string, std::less<>> settings_;
  std::vector<AuditLine> audit_;  // by number
};

namespace {

// Every key whose owner or rows `changes` may change.
std::set<KeyText> KeysOf(const Changes& changes) {
  std::set<KeyText> keys(changes.drop_owners.begin(), changes.drop_owners.end());
  for (const Row& row : changes.put_rows) keys.insert(row.id.key);
  for (const RowId& id : changes.drop_rows) keys.insert(id.key);
  for (const Owner& owner : changes.put_owners) keys.insert(owner.key);
  return keys;
}

}  // namespace

// True when `key` has an owner or a row.
bool MemoryStore::State::Exists(const KeyText& key) const {
  const auto row = rows_.lower_bound(RowId{key, {}, {}});
  return owners_.contains(key) || (row != rows_.end() && row->first.key == key);
}

// True when a managing reservation stands on `key`.
bool MemoryStore::State::Managed(const KeyText& key) const {
  const std::vector<Row> rows = RowsOfKey(key);
  return std::any_of(rows.begin(), rows.end(), [](const Row& row) {
    return Manages(row) && row.id.state == RowState::kReserved;
  });
}

// A record outranks what the rows say, and an ownership that is offered to a successor is still
// orphaned.
StoreCounts MemoryStore::State::Counts() const {
  StoreCounts counts;
  for (const auto& [key, owner] : owners_) {
    ++counts.owners;
    if (owner.contested) ++counts.conflicts;
    if (owner.record == Record::kImported) {
      ++counts.imported;
    } else if (owner.record != Record::kNone) {
      ++counts.orphaned;
    } else {
      ++(owner.state == HolderState::kReserved ? counts.reserved : counts.held);
    }
  }
  return counts;
}

void MemoryStore::State::DropAndPutRows(const Changes& changes) {
  for (const RowId& id : changes.drop_rows) rows_.erase(id);
  for (const Row& row : changes.put_rows) rows_.insert_or_assign(row.id, row);
}

void MemoryStore::State::DropAndPutOwners(const Changes& changes) {
  for (const KeyText& key : changes.drop_owners) owners_.erase(key);
  for (const Owner& owner : changes.put_owners) owners_.insert_or_assign(owner.key, owner);
}

void MemoryStore::State::DropAndPutNames(const Changes& changes) {
  for (const KeyText& name : changes.drop_names) names_.erase(name);
  for (const ResourceName& name : changes.put_names) names_.insert_or_assign(name.name, name);
}

void MemoryStore::State::Replace(const Changes& changes) {
  for (const Uid& uid : changes.drop_objects) objects_.erase(uid);
  for (const Object& object : changes.put_objects) objects_.insert_or_assign(object.uid, object);
  for (const PublicId& id : changes.drop_agreements) agreements_.erase(id);
  for (const Agreement& agreement : changes.put_agreements) {
    agreements_.insert_or_assign(agreement.id, agreement);
  }
  std::uint64_t number = audit_.empty() ? 1 : audit_.back().place.number + 1;
  if (changes.audit_from != 0) number = changes.audit_from;
  for (const AuditEntry& entry : changes.audit) audit_.push_back({{.number = number++}, entry});
  for (const auto& [name, value] : changes.put_settings) {
    settings_.insert_or_assign(name, value);
    if (name == "audit.let-go") LetGo(value);
  }
}

// As the trigger of the SQLite schema does: lines go, the newest one stays.
void MemoryStore::State::LetGo(const std::string& last) {
  const std::uint64_t until = std::strtoull(last.c_str(), nullptr, 10);
  auto kept = audit_.begin();
  while (audit_.end() - kept > 1 && kept->place.number <= until) ++kept;
  audit_.erase(audit_.begin(), kept);
}

MemoryStore::State::Before MemoryStore::State::Save(const std::set<KeyText>& keys,
                                                    const Changes& changes) const {
  Before before;
  for (const KeyText& key : keys) {
    if (auto owner = OwnerOf(key)) before.owners.emplace(key, *std::move(owner));
    for (Row& row : RowsOfKey(key)) before.rows.push_back(std::move(row));
  }
  for (const KeyText& name : changes.drop_names) before.names.emplace(name, FurtherName(name));
  for (const ResourceName& put : changes.put_names) {
    before.names.emplace(put.name, FurtherName(put.name));
  }
  return before;
}

void MemoryStore::State::Restore(const std::set<KeyText>& keys, Before before) {
  for (const KeyText& key : keys) {
    for (const Row& row : RowsOfKey(key)) rows_.erase(row.id);
    owners_.erase(key);
  }
  for (Row& row : before.rows) rows_.emplace(row.id, row);
  owners_.merge(before.owners);
  for (auto& [name, value] : before.names) {
    names_.erase(name);
    if (value) names_.emplace(name, *std::move(value));
  }
}

// Whether what the changes left of `keys` and of the names they put is sound.
Result<void> MemoryStore::State::Check(const std::set<KeyText>& keys,
                                       const Changes& changes) const {
  for (const KeyText& key : keys) {
    if (Managed(key) && !owners_.contains(key)) {
      return BrokenConstraint("a managing reservation has an owner", key.text);
    }
    if (Exists(key) ? names_.contains(key) : !FurtherNamesOf(key).empty()) {
      return BrokenConstraint("a name belongs to one resource", key.text);
    }
  }
  for (const ResourceName& put : changes.put_names) {
    if (!Exists(names_.at(put.name).key))
      return BrokenConstraint("a name has its resource", put.name.text);
    if (Exists(put.name)) return BrokenConstraint("a name belongs to one resource", put.name.text);
  }
  return {};
}

Result<void> MemoryStore::State::Write(const Changes& changes) {
  const std::set<KeyText> keys = KeysOf(changes);
  Before before = Save(keys, changes);
  DropAndPutRows(changes);
  DropAndPutOwners(changes);
  DropAndPutNames(changes);
  // Only now: constraints hold for what comes about, not for each step to it.
  Result<void> checked = Check(keys, changes);
  checked.ok() ? Replace(changes) : Restore(keys, std::move(before));
  return checked;
}

MemoryStore::MemoryStore() : state_(std::make_unique<State>()) {}
MemoryStore::~MemoryStore() = default;

Result<void> MemoryStore::Apply(const Locks& /*locks*/, const DecideFn& decide, Deadline deadline) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (std::chrono::steady_clock::now() >= deadline) {
    return Error{ErrorCode::kDeadlineExceeded, "the deadline passed before the decision's turn"};
  }
  const Changes changes = decide(*state_);
  if (changes.empty()) return {};
  TRUCE_RETURN_IF_ERROR(CheckChanges(changes));
  return state_->Write(changes);
}

Result<void> MemoryStore::Read(const Locks& /*hints*/, const ReadFn& read,
                               Deadline deadline) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (std::chrono::steady_clock::now() >= deadline) {
    return Error{ErrorCode::kDeadlineExceeded, "the deadline passed before the read's turn"};
  }
  read(*state_);
  return {};
}

StoreCounts MemoryStore::Counts() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return state_->Counts();
}

Result<void> MemoryStore::Health() const { return {}; }

}  // namespace truce
