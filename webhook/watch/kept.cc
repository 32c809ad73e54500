#include "webhook/watch/kept.h"

#include <map>
#include <utility>
#include <vector>

#include "registry/ownership/ledger.h"
#include "registry/store/store.h"

namespace truce {
namespace {

// Calls `take(value)` with each row of the cluster that can be read.
template <typename Rows, typename Take>
Result<void> ReadEach(const Rows& table, const ReconcileStore& store, const Take& take) {
  std::vector<TableRow> rows;
  TRUCE_RETURN_IF_ERROR(store.Read(
      [&](const Facts& facts) { rows = facts.TableRows(table, {TableValue(store.cluster())}); }));
  for (auto& value : table.Readable(rows)) take(std::move(value));
  return {};
}

Result<void> WriteAll(const Table& table, const std::vector<TableRow>& rows,
                      ReconcileStore& store) {
  return store.Write(
      [&](Ledger& ledger) { ledger.SetTableRows(table, {TableValue(store.cluster())}, rows); });
}

void AddTo(KeptConfigs& configs, KeptConfig kept) {
  if (!kept.account.empty()) configs.learned[kept.name] = std::move(kept.account);
  if (!kept.brought.empty()) configs.brought[kept.name] = std::move(kept.brought);
  if (kept.endpoint) {
    configs.outside[kept.name] = {*std::move(kept.endpoint), std::move(kept.services)};
  }
  if (kept.defaults != ConfigDefaults()) {
    configs.defaults[kept.name] = std::move(kept.defaults);
  }
  if (kept.mark.given()) configs.specs[kept.name] = {std::move(kept.mark), kept.since};
}

std::vector<TableRow> RowsOf(const KeptConfigs& configs, const std::string& cluster) {
  std::map<ProviderConfigName, KeptConfig> all;
  for (const auto& [name, account] : configs.learned) all[name].account = account;
  for (const auto& [name, account] : configs.brought) all[name].brought = account;
  for (const auto& [name, endpoint] : configs.outside) {
    all[name].endpoint = endpoint.host;
    all[name].services = endpoint.services;
  }
  for (const auto& [name, defaults] : configs.defaults) all[name].defaults = defaults;
  for (const auto& [name, spec] : configs.specs) {
    all[name].mark = spec.mark;
    all[name].since = spec.since;
  }
  std::vector<TableRow> rows;
  for (auto& [name, kept] : all) {
    kept.cluster = cluster;
    kept.name = name;
    rows.push_back(kProviderConfigsTable.Row(kept));
  }
  return rows;
}

}  // namespace

Result<WatchPositions> ReadPositions(const ReconcileStore& store) {
  WatchPositions positions;
  TRUCE_RETURN_IF_ERROR(ReadEach(kWatchPositionsTable, store, [&](KeptPosition kept) {
    positions[std::move(kept.kind)] = std::move(kept.at);
  }));
  return positions;
}

Result<void> WritePositions(const WatchPositions& positions, ReconcileStore& store) {
  std::vector<TableRow> rows;
  for (const auto& [kind, at] : positions) {
    rows.push_back(kWatchPositionsTable.Row({store.cluster(), kind, at}));
  }
  return WriteAll(kWatchPositionsTable, rows, store);
}

Result<KeptConfigs> ReadConfigs(const ReconcileStore& store) {
  KeptConfigs configs;
  TRUCE_RETURN_IF_ERROR(ReadEach(kProviderConfigsTable, store,
                                 [&](KeptConfig kept) { AddTo(configs, std::move(kept)); }));
  return configs;
}

Result<void> ChangeConfigs(const std::function<void(KeptConfigs&)>& change, ReconcileStore& store) {
  return store.Write([&](Ledger& ledger) {
    const TableRow of_cluster = {TableValue(store.cluster())};
    KeptConfigs configs;
    const auto rows = ledger.TableRows(kProviderConfigsTable, of_cluster);
    for (KeptConfig& kept : kProviderConfigsTable.Readable(rows)) AddTo(configs, std::move(kept));
    change(configs);
    ledger.SetTableRows(kProviderConfigsTable, of_cluster, RowsOf(configs, store.cluster()));
  });
}

Result<Unmapped> ReadUnmapped(const ReconcileStore& store) {
  Unmapped::Kinds kinds;
  TRUCE_RETURN_IF_ERROR(ReadEach(kMappedKindsTable, store, [&](KeptKind kept) {
    if (kinds.size() < kMappedKindsMax) kinds.emplace(std::move(kept.kind), kept.gone);
  }));
  return Unmapped(std::move(kinds));
}

Result<void> WriteUnmapped(const Unmapped& unmapped, ReconcileStore& store) {
  std::vector<TableRow> rows;
  for (const auto& [kind, gone] : unmapped.kinds()) {
    rows.push_back(kMappedKindsTable.Row({store.cluster(), kind, gone}));
  }
  return WriteAll(kMappedKindsTable, rows, store);
}

}  // namespace truce
