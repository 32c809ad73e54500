// ClusterWatch: the server's connection to its cluster: checks whose cluster it is, keeps the watch
// running, says what the admission path must know of it, and lets operators steer it.
#ifndef TRUCE_WEBHOOK_WATCH_CLUSTER_WATCH_H_
#define TRUCE_WEBHOOK_WATCH_CLUSTER_WATCH_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "registry/base/result.h"
#include "registry/base/worker.h"
#include "registry/ownership/terms.h"
#include "registry/store/store.h"
#include "webhook/kube/api_client.h"
#include "webhook/kube/backoff.h"
#include "webhook/kube/late_api.h"
#include "webhook/kube/session.h"
#include "webhook/kube/watch_client.h"
#include "webhook/log/log.h"
#include "webhook/metrics/health.h"
#include "webhook/metrics/metrics.h"
#include "webhook/watch/cluster_view.h"
#include "webhook/watch/controls.h"
#include "webhook/watch/engine.h"
#include "webhook/watch/recovery/recovery.h"
#include "webhook/watch/recovery/witness.h"
#include "webhook/watch/watcher.h"

namespace truce {

// The identity of a registry's cluster: the uid of the kube-system namespace. Errors: kUnavailable
// (the API server cannot be used), kInvalidArgument (`server` names bad or missing files). Blocks
// for at most 10 s.
Result<Uid> KubeSystemOf(const ServerSettings& server, const Clock& clock);

// References must outlive the object.
struct ClusterWatchPorts {
  Store& store;
  // The store of the watch's writes: if the registry is shared, it refuses writes of a server that
  // does not lead, with kConflict.
  Store& watch_store;
  const Clock& clock;
  Logger& logger;
  Health& health;  // its part "cluster"
  UnresolvedHolders& unresolved;
  // On the keeper's thread, whenever the view differs from the last one passed.
  std::function<void(const ClusterView&)> on_view;
  // Kinds whose new objects Crossplane does not see, as the server that leads found.
  std::function<void(const std::map<GroupKind, Timestamp>&)> on_unseen;
  std::string cluster;          // cluster id
  std::string data_dir;         // the registry's mark is kept there, beside the registry
  std::string lease_namespace;  // it is kept there too, in the Lease `truce-<cluster>`
  // The registry may have other servers: their reviews use the leader's view.
  bool has_others = false;
};

// The kinds to watch beside those of the rules, and the observers of all of them.
struct ClusterWatchers {
  std::vector<FollowedKind> others;
  SightObserver& observer;
};

// Thread-safe. Runs from Start to Stop.
class ClusterWatch final : public WatchControls {
 public:
  explicit ClusterWatch(ClusterWatchPorts ports);
  ~ClusterWatch() override;
  ClusterWatch(const ClusterWatch&) = delete;
  ClusterWatch& operator=(const ClusterWatch&) = delete;

  // Watches the cluster for all servers of the registry from now on, which one server does at a
  // time; before Start, if there are no others. Never blocks. Idempotent.
  void Lead();
  // Another server leads from now on, because this one ends: its reviews go by the other one's
  // view. Stores how far this watch has come, for the next one, and blocks for two seconds at most.
  void EndLeading();
  // It leads: its writes go through the leader's store. Thread-safe.
  bool leads() const { return leads_.load(); }
  // For the other servers, beside the view.
  void SetUnseen(std::map<GroupKind, Timestamp> unseen);

  // Connects once. A cluster that cannot be reached is no error: it is tried again until it
  // answers, and until then nothing is ready. Once, when the store is open and the rules are set.
  // Blocks for at most 15 s.
  // Errors: kConflict (the registry belongs to another cluster), kInvalidArgument (`server` names
  // bad
  //   or missing files), those of the store.
  Result<void> Start(ServerSettings server, ClusterWatchers watchers);
  // Ends all threads. The value of api() lives as long as this object. Idempotent; for one thread.
  void Stop();

  // Recorded kinds are read by these from now on: all are listed again. The accounts in `rules` are
  // the configured ones.
  void SetRules(ReconcileRules rules);
  // News of reviews for the watch; to be woken then.
  ReviewInbox& inbox() { return inbox_; }
  void Wake();

  // Unreachable until the cluster was reached, and at the end.
  ClusterApi& api() { return late_api_; }
  // As api(), with calls of its own: for reviews, which then wait for no list of the watch, nor it
  // for them.
  ClusterApi& looks() { return late_looks_; }
  // Null until the cluster was reached, and at the end.
  ClusterApi* reached_api() const { return Reached(api_); }

  // truce_brake_held_objects, truce_brake_frozen_kinds, truce_unlisted_kinds,
  // truce_watch_stale_seconds, as last set; with others:
  // truce_watcher_leader, truce_view_age_seconds.
  void WriteMetrics(MetricWriter& writer) const;

  Result<RecoveryView> Recovery() const override;
  Result<RecoveryView> StartRecovery(const OperatorWord& word) override;
  Result<RecoveryView> EndRecovery(bool force, const OperatorWord& word) override;
  Result<BrakeView> Brake() override;
  Result<std::uint64_t> ReleaseBrake(const std::optional<GroupKind>& kind,
                                     const OperatorWord& word) override;

 private:
  void End();
  Result<void> Open();
  Result<void> CompareWithMemory(ClusterApi& api);
  void KeepWitness();
  void Learn(const LearnedIdentity& learned);
  Result<void> Watch();
  Result<void> BeginLeading();
  Engine* engine() const;
  ClusterApi* Reached(const std::unique_ptr<ClusterApi>& api) const;
  LateApi::Find FinderOf(const std::unique_ptr<ClusterApi>& api) const;
  Worker::Rest Keep();
  // One step of the keeper, as leader and as one of the others.
  void TellView();
  void TakeView();
  bool TellOthers(const ClusterView& view);
  void Hand(ClusterView view);
  void NoteRecovery(bool resynced);
  void Report(const std::string& problem);
  Result<void> EnterRecoveryMode(const OperatorWord& word);
  // Waits until reviews follow it, or no longer do. Not on the keeper's thread. Errors:
  // kUnavailable.
  Result<void> AwaitRecovery(bool on, std::chrono::seconds time);
  // Runs `work` between two steps of the watch. Errors: kUnavailable (the cluster was not reached
  // yet, or the server ends), kDeadlineExceeded.
  Result<void> Ask(Engine::Work work, Deadline deadline) const;

  const ClusterWatchPorts ports_;
  const IdSource ids_ = RandomIds();
  ReviewInbox inbox_;
  ServerSettings server_;  // of Start, as the next two
  std::vector<FollowedKind> others_;
  SightObserver* observer_ = nullptr;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool lead_wanted_ = false;               // under mutex_
  std::map<GroupKind, Timestamp> unseen_;  // under mutex_
  ReconcileRules rules_;                   // under mutex_; as given last
  LearnedIdentity learned_;                // under mutex_
  bool is_recovering_ = false;             // under mutex_; as the listener knows
  std::unique_ptr<ClusterApi> api_;        // set once, under mutex_, as the next
  std::unique_ptr<ClusterApi> looks_;
  LateApi late_api_{FinderOf(api_)};
  LateApi late_looks_{FinderOf(looks_)};
  std::unique_ptr<Engine> engine_;  // set once, under mutex_
  std::unique_ptr<WatchStreams> streams_;
  std::shared_ptr<ServerSession> session_;

  // Of Start, then of the keeper's thread.
  bool remembered_ = false;
  std::optional<AuditWitness> witness_;  // as the Lease has it
  Deadline witness_due_{};
  bool is_cut_off_ = false;  // the others could not be reached, or the leader not heard, just now
  const std::shared_ptr<ViewLife> life_ = std::make_shared<ViewLife>();  // of what it tells itself
  TablePublisher publisher_{std::string(kViewPart)};
  ViewReader reader_;
  std::string problem_;
  std::string recovery_;
  ClusterView view_;
  bool view_published_ = false;
  bool is_followed_ = false;    // logged once
  std::uint64_t breaches_ = 0;  // that were logged
  std::atomic<bool> leads_{false};
  std::atomic<std::int64_t> view_age_{0};  // ms
  std::atomic<std::uint64_t> held_back_{0};
  std::atomic<std::uint64_t> frozen_{0};
  std::atomic<std::uint64_t> failing_{0};
  std::atomic<std::int64_t> failing_since_{0};  // ms since 1970; 0: nothing fails
  Backoff backoff_;                             // of opening
  Worker keeper_{[this] { return Keep(); }};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_CLUSTER_WATCH_H_
