// ClusterView: the facts about the cluster that reviews need. The server that watches the cluster
// writes them into tables, from which the other servers take theirs.
#ifndef TRUCE_WEBHOOK_WATCH_CLUSTER_VIEW_H_
#define TRUCE_WEBHOOK_WATCH_CLUSTER_VIEW_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/identity/values.h"
#include "registry/ownership/table.h"
#include "registry/store/published.h"
#include "webhook/watch/unresolved_holders.h"
#include "webhook/watch/watcher.h"

namespace truce {

// Until when a server may call a key free by another server's view. Thread-safe.
class ViewLife final {
 public:
  void Extend(Deadline until) { until_.store(until, std::memory_order_relaxed); }
  bool IsOver(Deadline now) const { return now >= until_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Deadline> until_{Deadline::min()};
};

// A value.
struct ClusterView {
  bool ready = false;  // every kind was attempted once
  LearnedIdentity learned;
  std::string recovery;  // not empty: recovery mode, and why
  // Types with a served kind that was not listed yet: whether a key is free is not known. True: not
  // for longer than the grace, so that it is only warned of.
  std::map<std::string, bool> unlisted;
  // Kinds that cannot be read now (Watcher::Unwatched), and of them those without mapping rule.
  std::set<GroupKind> unwatched;
  std::map<GroupKind, Timestamp> unmapped;
  bool is_published = false;                  // by another server, which leads
  std::shared_ptr<const ViewLife> life = {};  // null: the registry has no other servers

  bool operator==(const ClusterView&) const = default;
};

// The ProviderConfigs that a view knows, with the account that reviews use.
struct ViewedConfig {
  ProviderConfigName name;
  std::string account;                  // empty: not known
  std::optional<std::string> endpoint;  // host outside of AWS
  std::set<std::string> services;       // of the endpoint
  ConfigDefaults defaults;
};
inline constexpr auto kViewedConfigsTable = MakeTable<ViewedConfig>(
    "viewed_configs", 4,
    StoredColumn(
        "group", [](auto& config) -> auto& { return config.name.group; }),
    StoredColumn(
        "kind", [](auto& config) -> auto& { return config.name.kind; }),
    StoredColumn(
        "namespace", [](auto& config) -> auto& { return config.name.ns; }),
    StoredColumn(
        "name", [](auto& config) -> auto& { return config.name.name; }),
    StoredColumn("account", &ViewedConfig::account),
    StoredColumn("endpoint", &ViewedConfig::endpoint),
    StoredColumn("services", &ViewedConfig::services),
    StoredColumn(
        "region", [](auto& config) -> auto& { return config.defaults.region; }),
    StoredColumn(
        "deletes", [](auto& config) -> auto& { return config.defaults.deletes; }),
    StoredColumn(
        "retains", [](auto& config) -> auto& { return config.defaults.retains; }));

// The kinds that XRDs define.
struct DefinedKind {
  GroupKind kind;
  GroupKind claims;  // the composite that it is a claim of; empty: it is a composite itself
};
inline constexpr auto kDefinitionsTable = MakeTable<DefinedKind>(
    "definitions", 4,
    StoredColumn(
        "group", [](auto& defined) -> auto& { return defined.kind.group; }),
    StoredColumn(
        "kind", [](auto& defined) -> auto& { return defined.kind.kind; }),
    StoredColumn(
        "composite_group", [](auto& defined) -> auto& { return defined.claims.group; }),
    StoredColumn(
        "composite_kind", [](auto& defined) -> auto& { return defined.claims.kind; }));

// One thing that the watch is not sure of.
struct WatchGap {
  enum class Sort : std::uint8_t {
    kRecovery,            // recovery mode; text: why
    kDefinitionsUnknown,  // not all XRDs were read
    kMoving,              // subject: a provisional account; text: its account, which not all have
    kUnlistedType,        // subject: a type whose kinds were not all listed yet
    kGivenUpType,         // the same, for longer than the grace
    kUnwatchedKind,       // its objects cannot be read
    kUnmappedKind,        // no mapping rule names it, since
    kUnseenKind,          // Crossplane does not see its new objects, since
    kKindUnresolved,      // whether its objects live is not known; text: why
    kObjectUnresolved,    // the same of one object
  };
  Sort sort = Sort::kRecovery;
  std::string subject;  // a type, a slot's text, a provisional account
  GroupKind kind;       // of the sorts about kinds
  std::string text;
  std::optional<Timestamp> since;
};
std::string_view Name(WatchGap::Sort sort);
std::optional<WatchGap::Sort> WatchGapSortFromName(std::string_view name);
template <>
struct ColumnForm<WatchGap::Sort> : WordColumn<WatchGap::Sort, WatchGapSortFromName> {};
inline constexpr auto kWatchGapsTable = MakeTable<WatchGap>(
    "watch_gaps", 4, StoredColumn("sort", &WatchGap::sort),
    StoredColumn("subject", &WatchGap::subject),
    StoredColumn(
        "group", [](auto& gap) -> auto& { return gap.kind.group; }),
    StoredColumn(
        "kind", [](auto& gap) -> auto& { return gap.kind.kind; }),
    StoredColumn("text", &WatchGap::text), StoredColumn("since", &WatchGap::since));

// A view as the server that watches publishes it, with the rest that the other servers' reviews
// need; a value.
struct PublishedView {
  ClusterView view;  // ready, its own
  std::map<GroupKind, Timestamp> unseen;
  UnresolvedHolders::Holders unresolved;

  bool operator==(const PublishedView&) const = default;
};
inline constexpr std::string_view kViewPart = "view";  // as PublishedVersion::part
TableContents ContentsOf(const PublishedView& published);

// The side of the other servers. External synchronization.
class ViewReader final {
 public:
  // A view that could not be confirmed for so long calls nothing free: the server that watches
  // counts on that (Watcher::kOthersSee).
  static constexpr std::chrono::seconds kConfirmed{3};
  // Nor does the view of a server that has shown no sign for so long.
  static constexpr std::chrono::seconds kSign{60};

  // Reads again; to be called each second. True: the view is another one. A first one counts once
  // its server shows a sign: it may be one of long ago. Errors: those of the store.
  Result<bool> Read(const Store& store, Deadline now, Deadline deadline);
  // Nothing: there was none yet.
  const std::optional<PublishedView>& latest() const { return latest_; }
  // Since the last sign of the server that watches.
  std::chrono::milliseconds age(Deadline now) const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - sign_);
  }

 private:
  PublishedTables tables_{std::string(kViewPart),
                          {kViewedConfigsTable, kDefinitionsTable, kWatchGapsTable}};
  std::optional<PublishedView> latest_;  // its life is life_
  std::shared_ptr<ViewLife> life_ = std::make_shared<ViewLife>();
  bool has_read_ = false;
  std::optional<std::string> taken_;  // the version that latest_ is of
  Deadline sign_{};                   // when the sign was seen to change last
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_CLUSTER_VIEW_H_
