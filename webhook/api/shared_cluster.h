// SharedCluster: the servers of one cluster as one. The leader, the only one that watches it,
// writes its reports into tables each second; every server answers from these. The others send the
// leader the news of their reviews and their operators' orders.
#ifndef TRUCE_WEBHOOK_API_SHARED_CLUSTER_H_
#define TRUCE_WEBHOOK_API_SHARED_CLUSTER_H_

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "policies/policy.h"
#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "registry/base/worker.h"
#include "registry/store/published.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/api/orders.h"
#include "webhook/api/watch_reports.h"
#include "webhook/findings/mute_book.h"
#include "webhook/findings/review_news.h"
#include "webhook/log/log.h"
#include "webhook/watch/review_inbox.h"

namespace truce {

class Store;

// Port: the part of this server that watches the cluster. Thread-safe.
class WatchingServer {
 public:
  virtual ~WatchingServer() = default;
  // The store of the leader's writes: it refuses once another server leads. Null: this one does not
  // lead.
  virtual Store* LeadingStore() const = 0;
  // Takes up news of other servers' reviews, and its own from before it led.
  virtual void TakeUp(const ReviewNews& news) = 0;
  // All that it watches.
  virtual WatchReports Gather() = 0;
  // The census of names in kinds that have objects: each server may list the cluster.
  virtual Result<NameReport> NamesIn(std::vector<FollowedKind> kinds) = 0;
};

// References must outlive the object.
struct SharedClusterPorts {
  Store& store;
  const Clock& clock;
  Logger& logger;
  const InForce<AdmissionPolicy>& policy;
  std::string cluster;      // cluster id
  ReviewInbox& reviews;     // the watch of a leader empties it itself
  MuteBook& mutes;          // read each time: a mute of any server holds here within a second
  WatchControls& controls;  // those of this server's own watch
  WatchingServer& server;
};

// Thread-safe, but for Start, Stop and Step, which are for one thread.
class SharedCluster final : public ClusterReports, public WatchControls {
 public:
  static constexpr std::chrono::seconds kEvery{1};
  // The leader writes the sign alone so often, so that others know that nothing changed.
  static constexpr std::chrono::seconds kSignEvery{20};
  static constexpr std::chrono::seconds kReportsEvery{2};
  // The more rows were written, the longer until the next time: a second for so many.
  static constexpr std::size_t kRowsPerSecond = 1'000;

  explicit SharedCluster(SharedClusterPorts ports) : ports_(std::move(ports)) {}
  ~SharedCluster() override { Stop(); }
  SharedCluster(const SharedCluster&) = delete;
  SharedCluster& operator=(const SharedCluster&) = delete;

  // Begins a thread that does Step each second. Once, when the store is open.
  void Start() { worker_.Start(); }
  // Ends it, and all waiting for orders. Idempotent.
  void Stop();
  // Exchanges everything once. Blocks for some seconds where the store does not answer.
  void Step();

  // Where reviews at a server that is not the leader leave their news.
  NewsBox& box() { return box_; }

  std::vector<TagWar> Wars() const override { return Latest()->wars; }
  std::vector<LiveFinding> Findings() const override { return Latest()->findings; }
  MuteBook& Mutes() override { return ports_.mutes; }
  CoverageReport Coverage() const override { return Fresh()->coverage; }
  Result<BaselineReport> Baseline() const override;
  Result<NameReport> Names() override { return ports_.server.NamesIn(Fresh()->inhabited); }
  std::optional<Timestamp> AsOf() const override;

  Result<RecoveryView> Recovery() const override;
  Result<RecoveryView> StartRecovery(const OperatorWord& word) override;
  Result<RecoveryView> EndRecovery(bool force, const OperatorWord& word) override {
    return ports_.controls.EndRecovery(force, word);
  }
  Result<BrakeView> Brake() override;
  Result<std::uint64_t> ReleaseBrake(const std::optional<GroupKind>& kind,
                                     const OperatorWord& word) override;

 private:
  bool Leads() const { return ports_.server.LeadingStore() != nullptr; }
  void Lead(Store& store);
  // Writes what changed, if `is_due` or it is time.
  void Publish(Store& store, bool is_due) const;
  void TellLeader();
  Result<std::uint64_t> CarryOut(const Order& order);
  // Latest, after a leader has written what changed: for reports that people ask for.
  std::shared_ptr<const WatchReports> Fresh() const;
  // As the tables have them; as read before where the store does not answer. Never null. Blocks for
  // two seconds at most.
  std::shared_ptr<const WatchReports> Latest() const;

  const SharedClusterPorts ports_;
  NewsBox box_;
  Orders orders_{ports_.clock};
  mutable std::mutex publishing_;
  mutable TablePublisher publisher_{std::string(kReportsPart)};  // under publishing_, as the next
  mutable Deadline due_{};                                       // of the next publication
  mutable bool is_failing_ = false;                              // to publish; logged once
  mutable std::mutex reading_;                                   // one reads for all
  mutable PublishedTables tables_{std::string(kReportsPart), ReportTables()};  // under reading_
  mutable std::shared_ptr<const WatchReports> latest_ =
      std::make_shared<const WatchReports>();  // under reading_
  Worker worker_{[this]() -> Worker::Rest {
    Step();
    return {In(kEvery)};
  }};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_SHARED_CLUSTER_H_
