#include "tests/support/memory_store.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "registry/base/text.h"
#include "registry/store/adapter.h"
#include "tests/support/recount.h"

namespace truce {
namespace {

bool IsIn(OwnerList list, const Owner& owner) {
  switch (list) {
    case OwnerList::kAll: return true;
    case OwnerList::kContested: return owner.contested;
    case OwnerList::kOrphaned:
      return owner.record == Record::kOrphaned || owner.record == Record::kTransferring;
    case OwnerList::kImported: return owner.record == Record::kImported;
    case OwnerList::kEnding: return owner.until.has_value();
  }
  return false;
}

bool IsAmong(const NameSearch& search, const Owner& owner) {
  switch (search.among) {
    case NameSearch::Among::kBeginning:
      return EqualsIgnoringCase(std::string_view(owner.name).substr(0, search.text.size()),
                                search.text);
    case NameSearch::Among::kService: return owner.service == search.text;
    case NameSearch::Among::kNamespace: return owner.root.ns == search.text;
    case NameSearch::Among::kType: return owner.identity.type == search.text;
  }
  return false;
}

}  // namespace

class MemoryStore::State final : public AllFacts {
 public:
  std::vector<ResourceName> Spelt(const KeyText& name) const override {
    std::vector<ResourceName> spelt;
    for (auto it = names_.lower_bound({name, 0}); it != names_.end() && it->first.name == name;
         ++it) {
      spelt.insert(spelt.begin(), it->second);
    }
    return spelt;
  }

  std::vector<ResourceName> NamesOf(const ResourceId& id) const override {
    std::vector<ResourceName> found;
    for (const auto& [name_id, name] : names_) {
      if (name.resource == id) found.push_back(name);
    }
    return found;
  }

  std::optional<Owner> OwnerOf(const ResourceId& id) const override {
    const auto found = owners_.find(id);
    if (found == owners_.end()) return std::nullopt;
    return found->second;
  }

  std::vector<Row> RowsOf(const ResourceId& id) const override {
    std::vector<Row> rows;
    for (auto it = rows_.lower_bound(RowId{id, {}, {}});
         it != rows_.end() && it->first.resource == id; ++it) {
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
    return static_cast<std::uint64_t>(std::count_if(
        owners_.begin(), owners_.end(),
        [&](const auto& entry) { return testing::IsIn(range, PlaceOf(entry.second)); }));
  }

  std::vector<PlaceCount> PlacesOf(std::string_view type, std::size_t limit) const override {
    std::map<std::tuple<ClusterNamespace, std::string, std::string>, PlaceCount> found;
    for (const auto& [id, owner] : owners_) {
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
    if (shape.empty()) return {};
    return OwnersWhere({}, limit, [&](const Owner& owner) { return owner.shape == shape; });
  }

  std::vector<ResourceId> ResourcesAfter(const ResourceId& after,
                                         std::size_t limit) const override {
    std::set<ResourceId> ids;
    for (const auto& [id, owner] : owners_) ids.insert(id);
    for (const auto& [id, key] : observed_) ids.insert(id);
    return FirstAfter(ids, after, limit);
  }

  std::vector<KeyText> KeysAfter(const KeyText& after, std::size_t limit) const override {
    std::set<KeyText> keys;
    for (const auto& [id, owner] : owners_) keys.insert(owner.key);
    for (const auto& [id, key] : observed_) keys.insert(key);
    return FirstAfter(keys, after, limit);
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
    const std::vector<Owner> among =
        OwnersWhere({}, limit + 1, [&](const Owner& owner) { return IsAmong(search, owner); });
    if (among.size() > limit) return std::nullopt;
    std::vector<KeyText> keys;
    for (const Owner& owner : among) {
      if (HoldsIgnoringCase(owner.name, search.part)) keys.push_back(owner.key);
    }
    return keys;
  }
  std::vector<KeyText> KeysOfService(std::string_view service, const KeyText& after,
                                     std::size_t limit) const override {
    if (service.empty()) return {};
    return KeysWhere(after, limit, [&](const Owner& owner) { return owner.service == service; });
  }

  std::vector<ServiceCount> Services(std::string_view after, std::size_t limit) const override {
    std::map<std::string_view, std::uint64_t> counts;
    for (const auto& [id, owner] : owners_) {
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
    for (const auto& [id, owner] : owners_) tallies.Add(PlaceOf(owner), owner.service, 1);
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
    return OwnersWhere(after, limit, [&](const Owner& owner) { return IsIn(list, owner); });
  }

  std::vector<Agreement> AgreementsOf(const ResourceId& id) const override {
    std::vector<Agreement> found;
    for (const auto& [agreement_id, agreement] : agreements_) {
      if (agreement.resource == id) found.push_back(agreement);
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

  std::vector<TableRow> TableRows(const Table& table, const TableRow& prefix) const override {
    std::vector<TableRow> rows;
    const auto begins = [&](const TableRow& row) {
      return std::equal(prefix.begin(), prefix.end(), row.begin());
    };
    for (auto it = table_rows_.lower_bound({table.name, prefix});
         it != table_rows_.end() && it->first.first == table.name && begins(it->second); ++it) {
      rows.push_back(it->second);
    }
    return rows;
  }

  Result<void> Write(const Changes& changes);
  StoreCounts Counts() const;

 private:
  // The first `limit` owners, by key, behind `after` that fit.
  template <typename Fits>
  std::vector<Owner> OwnersWhere(const KeyText& after, std::size_t limit, const Fits& fits) const {
    std::vector<Owner> found;
    for (const auto& [id, owner] : owners_) {
      if (owner.key > after && fits(owner)) found.push_back(owner);
    }
    std::ranges::stable_sort(found, {}, &Owner::key);
    if (found.size() > limit) found.resize(limit);
    return found;
  }
  template <typename Fits>
  std::vector<KeyText> KeysWhere(const KeyText& after, std::size_t limit, const Fits& fits) const {
    std::vector<KeyText> keys;
    for (Owner& owner : OwnersWhere(after, limit, fits)) keys.push_back(std::move(owner.key));
    return keys;
  }
  template <typename T>
  static std::vector<T> FirstAfter(const std::set<T>& all, const T& after, std::size_t limit) {
    std::vector<T> found;
    for (auto it = all.upper_bound(after); it != all.end() && found.size() < limit; ++it) {
      found.push_back(*it);
    }
    return found;
  }

  // Puts or, with nothing, erases; noted in undo_.
  template <typename Map>
  void Set(Map& map, const typename Map::key_type& key,
           std::optional<typename Map::mapped_type> value);
  bool Exists(const ResourceId& id) const { return owners_.contains(id) || observed_.contains(id); }
  bool IsPromised(const ResourceId& id) const;
  void PutAndDrop(const Changes& changes);
  void PutAndDropOwners(const Changes& changes);
  void Undo();
  void Replace(const Changes& changes);
  void LetGo(const std::string& last);
  Result<void> Check(const Changes& changes) const;

  std::map<RowId, Row> rows_;
  std::map<ResourceId, Owner> owners_;
  std::map<ResourceId, KeyText> observed_;  // with rows and without owner
  std::map<Uid, Object> objects_;
  std::map<PublicId, Agreement> agreements_;
  std::map<NameId, ResourceName> names_;
  std::map<std::string, std::string, std::less<>> settings_;
  std::map<std::pair<std::string_view, TableRow>, TableRow> table_rows_;  // by table and key
  std::vector<AuditLine> audit_;                                          // by number
  std::vector<std::function<void()>> undo_;
};

namespace {

// Every resource whose owner or rows `changes` may change.
std::set<ResourceId> ResourcesOf(const Changes& changes) {
  std::set<ResourceId> ids(changes.drop_owners.begin(), changes.drop_owners.end());
  for (const Row& row : changes.put_rows) ids.insert(row.id.resource);
  for (const RowId& id : changes.drop_rows) ids.insert(id.resource);
  for (const Owner& owner : changes.put_owners) ids.insert(owner.id);
  for (const ObservedResource& observed : changes.put_observed) ids.insert(observed.id);
  return ids;
}

}  // namespace

template <typename Map>
void MemoryStore::State::Set(Map& map, const typename Map::key_type& key,
                             std::optional<typename Map::mapped_type> value) {
  const auto assign = [&map, key](std::optional<typename Map::mapped_type> to) {
    map.erase(key);
    if (to) map.emplace(key, *std::move(to));
  };
  const auto found = map.find(key);
  std::optional<typename Map::mapped_type> before;
  if (found != map.end()) before = found->second;
  undo_.push_back([assign, before] { assign(before); });
  assign(std::move(value));
}

void MemoryStore::State::Undo() {
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) (*undo)();
  undo_.clear();
}

// True when the resource has a managing reservation.
bool MemoryStore::State::IsPromised(const ResourceId& id) const {
  const std::vector<Row> rows = RowsOf(id);
  return std::any_of(rows.begin(), rows.end(), [](const Row& row) {
    return Manages(row) && row.id.state == RowState::kReserved;
  });
}

// A record outranks what the rows say, and an ownership that is offered to a successor is still
// orphaned.
StoreCounts MemoryStore::State::Counts() const {
  StoreCounts counts;
  for (const auto& [id, owner] : owners_) {
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

void MemoryStore::State::PutAndDropOwners(const Changes& changes) {
  for (const ResourceId& id : changes.drop_owners) {
    const auto owner = OwnerOf(id);
    if (!owner) continue;
    Set(observed_, id, owner->key);
    Set(owners_, id, std::nullopt);
  }
  for (const Owner& owner : changes.put_owners) Set(owners_, owner.id, owner);
  for (const auto& [id, key] : changes.put_observed) Set(observed_, id, key);
  for (const ResourceId& id : ResourcesOf(changes)) {
    if (owners_.contains(id) || RowsOf(id).empty()) Set(observed_, id, std::nullopt);
  }
}

void MemoryStore::State::PutAndDrop(const Changes& changes) {
  for (const RowId& id : changes.drop_rows) Set(rows_, id, std::nullopt);
  for (const Row& row : changes.put_rows) Set(rows_, row.id, row);
  PutAndDropOwners(changes);
  for (const Uid& uid : changes.drop_objects) Set(objects_, uid, std::nullopt);
  for (const Object& object : changes.put_objects) Set(objects_, object.uid, object);
  for (const NameId& id : changes.drop_names) Set(names_, id, std::nullopt);
  for (const ResourceName& name : changes.put_names) Set(names_, IdOf(name), name);
  for (const PublicId& id : changes.drop_agreements) Set(agreements_, id, std::nullopt);
  for (const Agreement& agreement : changes.put_agreements) {
    Set(agreements_, agreement.id, agreement);
  }
  for (const auto& [table, key] : changes.drop_table_rows) {
    Set(table_rows_, {table.name, key}, std::nullopt);
  }
  for (const auto& [table, row] : changes.put_table_rows) {
    Set(table_rows_, {table.name, KeyOf(table, row)}, row);
  }
}

void MemoryStore::State::Replace(const Changes& changes) {
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

// Whether what the changes came to is sound.
Result<void> MemoryStore::State::Check(const Changes& changes) const {
  for (const ResourceId& id : ResourcesOf(changes)) {
    if (IsPromised(id) && !owners_.contains(id)) {
      return BrokenConstraint("a managing reservation has an owner", id.text);
    }
    if (Exists(id)) continue;
    if (!RowsOf(id).empty()) return BrokenConstraint("a row has its resource", id.text);
    if (!NamesOf(id).empty()) return BrokenConstraint("a name has its resource", id.text);
    if (!AgreementsOf(id).empty()) {
      return BrokenConstraint("an agreement has its resource", id.text);
    }
  }
  for (const Row& put : changes.put_rows) {
    if (rows_.contains(put.id) && !objects_.contains(put.id.uid)) {
      return BrokenConstraint("a row has its object", put.id.uid.text);
    }
  }
  for (const Uid& uid : changes.drop_objects) {
    if (!objects_.contains(uid) && !RowsOfUid(uid).empty()) {
      return BrokenConstraint("a row has its object", uid.text);
    }
  }
  for (const ResourceName& put : changes.put_names) {
    if (!Exists(names_.at(IdOf(put)).resource)) {
      return BrokenConstraint("a name has its resource", put.name.text);
    }
  }
  for (const Agreement& put : changes.put_agreements) {
    if (!Exists(agreements_.at(put.id).resource)) {
      return BrokenConstraint("an agreement has its resource", put.id.text);
    }
  }
  return {};
}

Result<void> MemoryStore::State::Write(const Changes& changes) {
  PutAndDrop(changes);
  // Only now: constraints hold for what comes about, not for each step to it.
  Result<void> checked = Check(changes);
  if (!checked.ok()) {
    Undo();
    return checked;
  }
  undo_.clear();
  Replace(changes);
  return {};
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
