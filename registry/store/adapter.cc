#include "registry/store/adapter.h"

#include <string>
#include <string_view>

namespace truce {
Error BrokenConstraint(std::string_view constraint, std::string_view what) {
  return {ErrorCode::kInternal,
          "the changes break \"" + std::string(constraint) + "\": \"" + std::string(what) + "\""};
}

Result<void> CheckChanges(const Changes& changes) {
  if (!changes.breach.empty()) return Error{ErrorCode::kInternal, changes.breach};
  for (const Row& row : changes.put_rows) {
    if (row.id.resource.empty()) return BrokenConstraint("a row has a resource", row.id.uid.text);
    if (row.id.uid.empty()) return BrokenConstraint("a row has a uid", row.id.resource.text);
  }
  for (const Owner& owner : changes.put_owners) {
    if (owner.id.empty()) return BrokenConstraint("an owner has an id", owner.key.text);
    if (owner.key.empty()) return BrokenConstraint("an owner has a key", owner.id.text);
  }
  for (const ObservedResource& observed : changes.put_observed) {
    if (observed.id.empty()) return BrokenConstraint("a resource has an id", observed.key.text);
    if (observed.key.empty()) return BrokenConstraint("a resource has a key", observed.id.text);
  }
  for (const Object& object : changes.put_objects) {
    if (object.uid.empty()) return BrokenConstraint("an object has a uid", ToText(object.slot));
  }
  for (const Agreement& agreement : changes.put_agreements) {
    if (agreement.id.empty())
      return BrokenConstraint("an agreement has an id", agreement.resource.text);
  }
  for (const ResourceName& name : changes.put_names) {
    if (name.name.empty()) return BrokenConstraint("a name is not empty", name.resource.text);
  }
  for (const auto& [name, value] : changes.put_settings) {
    if (name.empty()) return BrokenConstraint("a setting has a name", value);
  }
  for (const auto& [table, row] : changes.put_table_rows) {
    if (row.size() != table.columns.size()) return BrokenConstraint("a row is whole", table.name);
  }
  for (const auto& [table, key] : changes.drop_table_rows) {
    if (key.size() != table.key_size) return BrokenConstraint("a row has its key", table.name);
  }
  return {};
}

bool IsAmongNobody(const NameSearch& search) {
  return search.text.empty() && search.among != NameSearch::Among::kNamespace;
}

std::string ListOf(std::span<const TableColumn> columns, std::string_view after,
                   std::string_view between) {
  std::string list;
  for (const TableColumn& column : columns) {
    if (!list.empty()) list.append(between);
    list.append(1, '"').append(column.name).append(1, '"').append(after);
  }
  return list;
}

std::string WhereOf(const Table& table, std::size_t count, char mark) {
  std::string where;
  for (std::size_t i = 0; i < count; ++i) {
    where.append(i == 0 ? " WHERE " : " AND ").append(ListOf(table.columns.subspan(i, 1)));
    where.append(" = ").append(1, mark).append(std::to_string(i + 1));
  }
  return where;
}

void ServiceTallies::Add(const Place& place, std::string_view service, std::uint64_t count) {
  counts_[{place.type, place.account, std::string(service), 0}] += count;
}

std::vector<ServiceTally> ServiceTallies::Take() && {
  std::vector<ServiceTally> all;
  for (auto& [tally, count] : counts_) {
    all.push_back(tally);
    all.back().count = count;
  }
  return all;
}

}  // namespace truce
