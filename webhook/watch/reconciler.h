// Reconciler: from what lists and watches show to what the registry holds. Takes the lists and
// events of each kind and leads them through its parts, in order: sights, absence, proofs, ends.
// Synchronous: each call does its work on the store and returns. Which list or watch runs is the
// reflectors' business.
#ifndef TRUCE_WEBHOOK_WATCH_RECONCILER_H_
#define TRUCE_WEBHOOK_WATCH_RECONCILER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "registry/base/result.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/watch/absence.h"
#include "webhook/watch/asks.h"
#include "webhook/watch/ends.h"
#include "webhook/watch/history.h"
#include "webhook/watch/proofs.h"
#include "webhook/watch/reconcile_store.h"
#include "webhook/watch/replays.h"
#include "webhook/watch/sights.h"
#include "webhook/wire/json_reader.h"

namespace truce {

struct ReconcileStatus {
  std::size_t nominated = 0;            // waiting for their quorum read
  std::size_t held_back = 0;            // by the brake
  std::size_t gets = 0;                 // quorum reads wanted or under way
  std::uint64_t observed_versions = 0;  // versions that were applied since the start
  std::uint64_t skipped = 0;            // versions that changed nothing
  std::uint64_t unreadable = 0;
  std::uint64_t breaches = 0;  // changes left out: they would have broken an invariant
  std::string breach;          // the last of them; empty: none
};

// External synchronization: one thread drives it and its parts. Every call that returns an error
// has had its effect in part or not at all and is to be repeated with the same arguments: all
// effects are idempotent (I9). Errors are the store's; malformed objects of the API server are
// passed over.
class Reconciler final {
 public:
  Reconciler(ReconcilePorts ports, ReconcileRules rules)
      : store_(std::move(ports), std::move(rules)) {}
  Reconciler(const Reconciler&) = delete;
  Reconciler& operator=(const Reconciler&) = delete;

  // New rules (store().SetRules) are to be followed by a new list of all recorded kinds (Forget
  // makes the lists apply everything), and by a pass where accounts became known (AccountPass).
  // A resource that an unchanged object no longer declares is left orphaned, never free.
  ReconcileStore& store() { return store_; }
  const ReconcileRules& rules() const { return store_.rules(); }
  Absence& absence() { return absence_; }
  const Absence& absence() const { return absence_; }
  Proofs& proofs() { return proofs_; }
  Ends& ends() { return ends_; }

  // From now on `kind` is known; needed before anything else about it. Repeating it changes its
  // version or scope.
  void Follow(const FollowedKind& kind) { kinds_[kind.group_kind()].followed = kind; }
  // The kind's CRD is being removed (or not any more): deletions of its objects witness nothing.
  void SetTerminating(const GroupKind& kind, bool terminating);
  // The watch of the kind lost its history, or never had one. Until its list is finished nothing of
  // it is proved or released; when the list fails everything of it counts as out of sight.
  void BeginGap(const GroupKind& kind);
  // Its watch goes on from a later version: quorum reads that are under way are asked again.
  void Overtake(const GroupKind& kind) { asks_.Overtake(kind); }

  // The next list of the kind is applied whole, also versions known already.
  void Forget(const GroupKind& kind);
  // The same, and nothing is lost for that list: the watch goes on from `version` and shows objects
  // that came, changed or went since.
  Result<void> Reread(const GroupKind& kind, ClusterVersion version);
  void BeginList(const GroupKind& kind);
  // Objects of a page (JSON). Held in memory, as facts only, until FinishList.
  void Listed(const GroupKind& kind, std::span<const std::string> objects);
  // The list is complete: it is applied, then stored objects that it did not hold are nominated.
  // Before the first start is complete it only closes the list (FinishStart).
  Result<void> FinishList(const GroupKind& kind);
  // The list failed; its objects so far are dropped (Absence::MarkGap).
  Result<void> ListFailed(const GroupKind& kind);
  // The position of the watch before: KindHistory::told and settled; before Replay and FinishStart.
  void SetPosition(const GroupKind& kind, std::optional<ClusterVersion> told,
                   std::optional<ClusterVersion> settled);
  // KindHistory::settled for the next watch.
  std::optional<ClusterVersion> SettledAt(const GroupKind& kind,
                                          std::optional<ClusterVersion> position);
  // Of the kind's complete first list, before FinishStart.
  Result<UnlistedObjects> Unlisted(const GroupKind& kind) const;
  Result<bool> HasGone(const GroupKind& kind) const;
  // Events of before the kind's first list, in order, of objects that it did not hold: their ends
  // are applied by FinishStart as if they had been watched. Not of an object whose declarations
  // changed meanwhile: nobody knows what else it did. Once for each kind.
  void Replay(const Replays::Told& told);
  // All kinds were attempted: applies all finished lists together, so that a claim, its composite
  // and its managed resources are one chain, and the oldest of all is the incumbent.
  Result<void> FinishStart();
  bool started() const { return started_; }
  // Events of the kind's watch, in order. Objects in them are JSON.
  Result<void> Events(const GroupKind& kind, std::span<const WatchEvent> events);

  // At most `count` quorum reads that are due at `now`; each is to be answered by Got. None before
  // the start is complete.
  std::vector<GetWanted> Gets(Moment now, std::size_t count);
  // When the next one is due; nothing while none waits.
  std::optional<Moment> GetDue() const;
  Result<void> Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer);
  // Kinds with something that waits to learn how far their watch has come.
  std::set<GroupKind> Waiting() const;

  ReconcileStatus status() const;

 private:
  JsonReader reader_;
  KindHistories kinds_;
  ReconcileStore store_;
  Asks asks_{store_, kinds_, reader_};
  Absence absence_{store_, kinds_, asks_};
  Sights sights_{store_, kinds_, asks_, absence_, reader_};
  Ends ends_{store_, sights_, reader_};
  Proofs proofs_{store_, kinds_, asks_, absence_, sights_};
  std::vector<Sight> replayed_;  // until the start is finished
  bool started_ = false;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_RECONCILER_H_
