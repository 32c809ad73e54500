#include "registry/store/published.h"

#include "registry/ownership/facts.h"
#include "registry/ownership/ledger.h"
#include "registry/store/store.h"

namespace truce {

Result<void> TablePublisher::Write(Store& store, const TableContents& contents, Timestamp now,
                                   Deadline deadline) {
  const bool is_changed = !Has(contents);
  // A write that fails may have been done.
  at_.reset();
  if (is_changed) ++versions_;
  const PublishedVersion version{part_, server_ + "." + std::to_string(versions_),
                                 server_ + "." + std::to_string(++signs_), now};
  Locks locks;
  locks.tables.push_back(kPublishedTable);
  for (const auto& [table, rows] : contents) {
    if (is_changed) locks.tables.push_back(table);
  }
  const PartyRules parties;
  const IdSource ids;
  const auto decide = [&](const AllFacts& facts) {
    Ledger ledger(facts, now, ids, parties);
    for (const auto& [table, rows] : contents) {
      if (is_changed) ledger.SetTableRows(table, {}, rows);
    }
    ledger.PutTableRow(kPublishedTable, kPublishedTable.Row(version));
    return ledger.Take();
  };
  TRUCE_RETURN_IF_ERROR(store.Apply(locks, decide, deadline));
  if (is_changed) written_ = contents;
  at_ = now;
  return {};
}

Result<bool> PublishedTables::Read(const Store& store, Deadline deadline) {
  std::optional<PublishedVersion> version;
  TableContents contents;
  bool is_new = false;
  const auto read = [&](const Facts& facts) {
    version.reset();
    contents.clear();
    const auto rows = facts.TableRows(kPublishedTable, {TableValue(part_)});
    if (!rows.empty()) version = kPublishedTable.Value(rows.front());
    is_new = version && (!version_ || version->version != version_->version);
    // The version costs little, the rest may not.
    if (!is_new) return;
    for (const Table& table : tables_) contents[table] = facts.TableRows(table, {});
  };
  TRUCE_RETURN_IF_ERROR(store.Read({.tables = {kPublishedTable}}, read, deadline));
  if (is_new) contents_ = std::move(contents);
  if (version) version_ = std::move(version);
  return is_new;
}

}  // namespace truce
