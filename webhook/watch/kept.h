// Tables in which the watch of a cluster keeps, for its next life or another server, how far it has
// come, where ProviderConfigs lead, and kinds that only a mapping rule made readable.
#ifndef TRUCE_WEBHOOK_WATCH_KEPT_H_
#define TRUCE_WEBHOOK_WATCH_KEPT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/ownership/table.h"
#include "webhook/watch/accounts.h"
#include "webhook/watch/history.h"
#include "webhook/watch/reconcile_store.h"
#include "webhook/watch/replayed_events.h"
#include "webhook/watch/unmapped.h"

namespace truce {

struct KeptPosition {
  std::string cluster;
  GroupKind kind;
  WatchPosition at;
};
inline constexpr auto kWatchPositionsTable =
    MakeTable<KeptPosition>("watch_positions", 3, StoredColumn("cluster", &KeptPosition::cluster),
                            StoredColumn(
                                "group", [](auto& kept) -> auto& { return kept.kind.group; }),
                            StoredColumn(
                                "kind", [](auto& kept) -> auto& { return kept.kind.kind; }),
                            StoredColumn(
                                "version", [](auto& kept) -> auto& { return kept.at.version; }),
                            StoredColumn(
                                "settled", [](auto& kept) -> auto& { return kept.at.settled; }));

struct KeptConfig {
  std::string cluster;
  ProviderConfigName name;
  std::string account;                  // empty: it names none
  std::string brought;                  // the account that all its resources have; empty: none
  std::optional<std::string> endpoint;  // host outside of AWS
  std::set<std::string> services;       // of the endpoint
  ConfigDefaults defaults;
  SpecMark mark;  // not given: nothing is known of its spec
  ClusterVersion since = 0;
};
inline constexpr auto kProviderConfigsTable = MakeTable<KeptConfig>(
    "provider_configs", 5, StoredColumn("cluster", &KeptConfig::cluster),
    StoredColumn(
        "group", [](auto& kept) -> auto& { return kept.name.group; }),
    StoredColumn(
        "kind", [](auto& kept) -> auto& { return kept.name.kind; }),
    StoredColumn(
        "namespace", [](auto& kept) -> auto& { return kept.name.ns; }),
    StoredColumn(
        "name", [](auto& kept) -> auto& { return kept.name.name; }),
    StoredColumn("account", &KeptConfig::account), StoredColumn("brought", &KeptConfig::brought),
    StoredColumn("endpoint", &KeptConfig::endpoint),
    StoredColumn("services", &KeptConfig::services),
    StoredColumn(
        "region", [](auto& kept) -> auto& { return kept.defaults.region; }),
    StoredColumn(
        "deletes", [](auto& kept) -> auto& { return kept.defaults.deletes; }),
    StoredColumn(
        "retains", [](auto& kept) -> auto& { return kept.defaults.retains; }),
    StoredColumn(
        "uid", [](auto& kept) -> auto& { return kept.mark.uid; }),
    StoredColumn(
        "generation", [](auto& kept) -> auto& { return kept.mark.generation; }),
    StoredColumn("since", &KeptConfig::since));

struct KeptKind {
  std::string cluster;
  GroupKind kind;
  std::optional<Timestamp> gone;  // since when no rule names it
};
inline constexpr auto kMappedKindsTable =
    MakeTable<KeptKind>("mapped_kinds", 3, StoredColumn("cluster", &KeptKind::cluster),
                        StoredColumn(
                            "group", [](auto& kept) -> auto& { return kept.kind.group; }),
                        StoredColumn(
                            "kind", [](auto& kept) -> auto& { return kept.kind.kind; }),
                        StoredColumn("gone", &KeptKind::gone));

// All that is kept of the ProviderConfigs of a cluster.
struct KeptConfigs {
  AccountMap learned;
  AccountMap brought;
  OutsideEndpoints outside;
  DefaultsMap defaults;
  KnownSpecs specs;
};

// Of the store's cluster, each in one transaction; a row that cannot be read is left out. Errors:
// the store's.
Result<WatchPositions> ReadPositions(const ReconcileStore& store);
Result<void> WritePositions(const WatchPositions& positions, ReconcileStore& store);
Result<KeptConfigs> ReadConfigs(const ReconcileStore& store);
Result<void> ChangeConfigs(const std::function<void(KeptConfigs&)>& change, ReconcileStore& store);
Result<Unmapped> ReadUnmapped(const ReconcileStore& store);
Result<void> WriteUnmapped(const Unmapped& unmapped, ReconcileStore& store);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_KEPT_H_
