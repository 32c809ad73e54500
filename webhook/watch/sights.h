// Sights: versions and ends of objects, from JSON to the registry, in batches:
// confirmed, or found without reservation.
#ifndef TRUCE_WEBHOOK_WATCH_SIGHTS_H_
#define TRUCE_WEBHOOK_WATCH_SIGHTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/watch/absence.h"
#include "webhook/watch/asks.h"
#include "webhook/watch/history.h"
#include "webhook/watch/observed_version.h"
#include "webhook/watch/reconcile_store.h"
#include "webhook/wire/json_reader.h"

namespace truce {

// One version, or the end, of an object.
struct Sight {
  std::shared_ptr<const ObservedVersion> observed;
  bool deleted = false;
  // How it came; kFirst: its first version, as the watch tells.
  KindHistory::Order order = KindHistory::Order::kAlone;
  bool out_of_sight = false;
  bool reread = false;  // a version applied before, by rules that may have changed since
  bool told = false;    // the same, by whoever watched before
  // Of an end:
  bool crd_terminating = false;
  bool config_changed = false;            // Ending::config_changed
  std::optional<ClusterVersion> before;   // the version that the watch showed last
  std::optional<ClusterVersion> settled;  // the last one without `Deleting`
};

// External synchronization. Errors are the store's; to be repeated with the same arguments. Counts
// objects of the API server that cannot be read, and passes them to the observer.
class Sights final {
 public:
  // All must outlive it.
  Sights(ReconcileStore& store, KindHistories& kinds, Asks& asks, Absence& absence,
         JsonReader& reader)
      : store_(store), kinds_(kinds), asks_(asks), absence_(absence), reader_(reader) {}

  // Collects the objects of a page of the kind's list, as facts. Those of a version that is known
  // are left out, unless `all`.
  void Collect(std::span<const std::string> objects, bool all, KindHistory& kind);
  // Applies what the complete lists of `kinds` collected, in two passes: lineage first, then
  // declarations, oldest first.
  Result<void> ApplyLists(std::span<KindHistory* const> kinds);

  // Reads events of the kind's watch, in order, without those that a quorum read has overtaken.
  std::vector<Sight> ReadEvents(std::span<const WatchEvent> events, const KindHistory& kind);
  // Of events of before a list, those of objects that existed at their begin, ended and are not
  // stored any more: the watch of that time has applied that. Nothing where the store fails.
  void LeaveOutEnded(std::vector<Sight>& sights) const;
  Result<void> Apply(const std::vector<Sight>& sights);
  // The store has it: that is the version known, and what was asked and nominated is settled.
  void Applied(const Sight& sight);

  std::uint64_t applied() const { return applied_; }        // since the start
  std::uint64_t skipped() const { return skipped_; }        // of them: changed nothing
  std::uint64_t unreadable() const { return unreadable_; }  // no JSON, no uid, no name

 private:
  void TellConfig(const KindHistory::Version& seen, ObservedVersion& observed) const;
  Result<std::vector<Sight>> OnlyChanging(std::span<const Sight> sights) const;
  void PassOver(std::string_view json, std::string why, bool gone, const KindHistory& kind);

  ReconcileStore& store_;
  KindHistories& kinds_;
  Asks& asks_;
  Absence& absence_;
  JsonReader& reader_;
  std::uint64_t applied_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t unreadable_ = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_SIGHTS_H_
