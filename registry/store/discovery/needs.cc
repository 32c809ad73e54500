#include "registry/store/discovery/needs.h"

#include <algorithm>

namespace truce {
namespace {

// Collects what is needed and not in stock.
class Cover {
 public:
  Cover(const FactStock& stock, const std::vector<ResourceId>& made) : stock_(stock), made_(made) {}

  void Name(const KeyText& name) {
    if (!stock_.names.contains(name)) needs_.names.insert(name);
  }
  void Resource(const ResourceId& id) {
    const bool is_made = std::find(made_.begin(), made_.end(), id) != made_.end();
    if (!is_made && !stock_.resources.contains(id)) needs_.resources.insert(id);
  }
  void Of(const RowId& id) {
    Resource(id.resource);
    OfUid(id.uid);
  }
  void OfUid(const Uid& uid) {
    if (!stock_.uids.contains(uid)) needs_.uids.insert(uid);
  }
  void OfSlot(const Slot& slot) {
    if (!stock_.slots.contains(slot)) needs_.slots.insert(slot);
  }
  void Of(const Object& object) {
    OfUid(object.uid);
    OfSlot(object.slot);
    if (object.parent) OfSlot(*object.parent);
  }
  // An object as it is kept now.
  void OfStored(const Uid& uid) {
    OfUid(uid);
    const auto found = stock_.uids.find(uid);
    if (found != stock_.uids.end() && found->second.object) Of(*found->second.object);
  }
  // A name as it is kept now: its resource loses it.
  void OfStored(const KeyText& name) {
    Name(name);
    const auto found = stock_.names.find(name);
    if (found == stock_.names.end()) return;
    for (const ResourceName& each : found->second.spelt) Resource(each.resource);
  }
  void OfStored(const PublicId& id) {
    const auto found = stock_.agreements.find(id);
    if (found == stock_.agreements.end()) needs_.agreements.insert(id);
    if (found != stock_.agreements.end() && found->second) Resource(found->second->resource);
  }
  void Setting(const std::string& name) {
    if (!stock_.settings.contains(name)) needs_.settings.insert(name);
  }

  void Of(const Table& table) {
    const auto found = stock_.queries.lower_bound(TableQuery{table, {}});
    const auto* const query =
        found == stock_.queries.end() ? nullptr : std::get_if<TableQuery>(&found->first);
    if (query == nullptr || query->table != table) needs_.queries.insert(TableQuery{table, {}});
  }

  FactNeeds Take() && { return std::move(needs_); }

 private:
  const FactStock& stock_;
  const std::vector<ResourceId>& made_;
  FactNeeds needs_;
};

template <typename T>
void OrderByUid(std::vector<T>& objects) {
  std::sort(objects.begin(), objects.end(), [](const T& a, const T& b) { return a.uid < b.uid; });
}

template <typename T>
void OrderById(std::vector<T>& things) {
  std::sort(things.begin(), things.end(), [](const T& a, const T& b) { return a.id < b.id; });
}

}  // namespace

Guard GuardOf(const Query& query) {
  if (std::holds_alternative<CountOwnedQuery>(query) || std::holds_alternative<TableQuery>(query)) {
    return Guard::kOwn;
  }
  const bool is_soft = std::holds_alternative<CountReservedQuery>(query) ||
                       std::holds_alternative<OwnersOfShapeQuery>(query) ||
                       std::holds_alternative<IsTakenQuery>(query) ||
                       std::holds_alternative<CountSeenQuery>(query) ||
                       std::holds_alternative<KeysWithQuery>(query) ||
                       std::holds_alternative<KeysNamedQuery>(query) ||
                       std::holds_alternative<KeysOfServiceQuery>(query) ||
                       std::holds_alternative<ServicesQuery>(query) ||
                       std::holds_alternative<TallyServicesQuery>(query) ||
                       std::holds_alternative<NamespacesQuery>(query);
  return is_soft ? Guard::kNone : Guard::kWhole;
}

std::size_t FactNeeds::LockCount() const {
  const auto own = std::count_if(queries.begin(), queries.end(),
                                 [](const Query& query) { return GuardOf(query) == Guard::kOwn; });
  return names.size() + resources.size() + uids.size() + slots.size() + settings.size() +
         agreements.size() + static_cast<std::size_t>(own);
}

void FactNeeds::Add(const FactNeeds& other) {
  names.insert(other.names.begin(), other.names.end());
  resources.insert(other.resources.begin(), other.resources.end());
  uids.insert(other.uids.begin(), other.uids.end());
  slots.insert(other.slots.begin(), other.slots.end());
  settings.insert(other.settings.begin(), other.settings.end());
  agreements.insert(other.agreements.begin(), other.agreements.end());
  queries.insert(other.queries.begin(), other.queries.end());
}

void FactNeeds::Add(const Locks& hints) {
  names.insert(hints.names.begin(), hints.names.end());
  resources.insert(hints.resources.begin(), hints.resources.end());
  uids.insert(hints.uids.begin(), hints.uids.end());
  slots.insert(hints.slots.begin(), hints.slots.end());
  for (const OwnedRange& range : hints.counts) queries.insert(CountOwnedQuery{range});
  for (const auto& [ns, user, limit] : hints.reserved) {
    queries.insert(CountReservedQuery{ns, user, Timestamp::min(), Timestamp::max(), {}, limit});
  }
  for (const auto& [shape, limit] : hints.shapes) queries.insert(OwnersOfShapeQuery{shape, limit});
  for (const KeyText& name : hints.proposed) queries.insert(IsTakenQuery{name});
  for (const Table& table : hints.tables) queries.insert(TableQuery{table, {}});
}

void FactStock::Expect(const FactNeeds& needs) {
  for (const KeyText& name : needs.names) names[name] = {};
  for (const ResourceId& id : needs.resources) resources[id] = {};
  for (const Uid& uid : needs.uids) uids[uid] = {};
  for (const Slot& slot : needs.slots) slots[slot] = {};
  for (const std::string& name : needs.settings) settings[name] = {};
  for (const PublicId& id : needs.agreements) agreements[id] = {};
}

void FactStock::Sort() {
  for (auto& [name, answer] : names) {
    std::sort(answer.spelt.begin(), answer.spelt.end(),
              [](const ResourceName& a, const ResourceName& b) { return a.spelling > b.spelling; });
  }
  for (auto& [id, answer] : resources) {
    OrderById(answer.rows);
    OrderById(answer.agreements);
    std::sort(answer.names.begin(), answer.names.end(),
              [](const ResourceName& a, const ResourceName& b) { return IdOf(a) < IdOf(b); });
  }
  for (auto& [uid, answer] : uids) OrderById(answer.rows);
  for (auto& [slot, answer] : slots) OrderByUid(answer.children);
}

void FactStock::Add(FactStock later) {
  names.merge(later.names);
  resources.merge(later.resources);
  uids.merge(later.uids);
  slots.merge(later.slots);
  settings.merge(later.settings);
  agreements.merge(later.agreements);
  queries.merge(later.queries);
}

FactNeeds Uncovered(const FactStock& stock, const Changes& changes) {
  Cover cover(stock, changes.made);
  for (const Row& row : changes.put_rows) cover.Of(row.id);
  for (const RowId& id : changes.drop_rows) cover.Of(id);
  for (const Owner& owner : changes.put_owners) cover.Resource(owner.id);
  for (const ResourceId& id : changes.drop_owners) cover.Resource(id);
  for (const ObservedResource& observed : changes.put_observed) cover.Resource(observed.id);
  for (const Object& object : changes.put_objects) {
    cover.Of(object);
    cover.OfStored(object.uid);
  }
  for (const Uid& uid : changes.drop_objects) cover.OfStored(uid);
  for (const Agreement& agreement : changes.put_agreements) {
    cover.Resource(agreement.resource);
    cover.OfStored(agreement.id);
  }
  for (const PublicId& id : changes.drop_agreements) cover.OfStored(id);
  for (const ResourceName& name : changes.put_names) {
    cover.Resource(name.resource);
    cover.OfStored(name.name);
  }
  for (const NameId& id : changes.drop_names) cover.OfStored(id.name);
  for (const auto& [name, value] : changes.put_settings) cover.Setting(name);
  for (const TablePut& put : changes.put_table_rows) cover.Of(put.table);
  for (const TableDrop& drop : changes.drop_table_rows) cover.Of(drop.table);
  return std::move(cover).Take();
}

}  // namespace truce
