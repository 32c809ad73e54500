// Detection: the server's findings about its cluster: the detectors on a thread of their own,
// Events on the objects concerned, and what commands ask of them.
#ifndef TRUCE_WEBHOOK_SERVE_DETECTION_H_
#define TRUCE_WEBHOOK_SERVE_DETECTION_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "policies/policy.h"
#include "registry/base/guarded.h"
#include "registry/ownership/ledger.h"
#include "registry/store/store.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/api/rest/agreement_json.h"
#include "webhook/findings/detectors.h"
#include "webhook/findings/event_writer.h"
#include "webhook/findings/object_events.h"
#include "webhook/log/log.h"
#include "webhook/metrics/metrics.h"
#include "webhook/watch/engine.h"

namespace truce {

// What commands may ask of a server that follows no cluster: the conflicts in its registry.
// `store` must outlive it.
ClusterPorts PortsWithoutCluster(const Store& store);

// What of `findings` says that deletions do not come to Truce.
std::vector<Hindrance> DeletionsUnsent(const std::vector<LiveFinding>& findings);

// References must outlive the object; functions are thread-safe.
struct DetectionPorts {
  Store& store;
  const Clock& clock;
  IdSource ids;
  Logger& logger;
  std::string cluster;               // cluster id
  std::function<ClusterApi*()> api;  // null until the cluster was reached
  std::function<Surroundings()> surroundings;
  std::function<std::shared_ptr<const AdmissionPolicy>()> policy;  // the one in force
  // Runs work between two steps of the watch (Following::Ask).
  std::function<Result<void>(Engine::Work, Deadline)> ask;
  std::function<void()> on_webhook_changed;  // its configuration; on the watch's thread; optional
};

// Thread-safe.
class Detection final : public SightObserver {
 public:
  explicit Detection(DetectionPorts ports);
  ~Detection() override;
  Detection(const Detection&) = delete;
  Detection& operator=(const Detection&) = delete;

  // Begins to look. Once, when `ports.ask` works.
  void Start();
  // Ends what asks the cluster. Afterwards `ports.api` is not called by it. Idempotent.
  void Stop();
  // The first lists are applied; `took` since the start. Idempotent.
  void SetReady(std::chrono::milliseconds took);

  // Sink of reviews: Events about refused composed resources.
  ReviewSink& refusals() { return refusals_; }
  // Writes an Event about a changed configuration that was refused. Never blocks.
  void TellRefused(const std::string& webhook_configuration, const std::string& problem);
  // What commands ask.
  ClusterPorts Ports();
  void WriteMetrics(MetricWriter& writer) const;

  // SightObserver, called by the watch.
  void OnSighted(const Sighting& sighting) override { detectors_.OnSighted(sighting); }
  void OnGone(const Uid& uid, const Slot& slot) override { detectors_.OnGone(uid, slot); }
  void OnKindState(const KindStatus& status) override;
  void OnOther(const FollowedKind& kind, Value object, bool gone) override;

 private:
  // The cluster's API as soon as it is reached; unreachable before.
  class LateApi;

  void Run();
  void DiscoverServed();
  void Tell(const FindingChange& change);
  ObjectFinder Finder() const;
  Result<RecoveryView> Recovery() const;
  Result<void> Administer(const std::function<void(Ledger&)>& change);

  const DetectionPorts ports_;
  std::unique_ptr<LateApi> api_;
  Guarded<std::map<GroupKind, ServedKind>> served_;
  FindingsBook book_;
  EventWriter events_;
  RefusalEvents refusals_;
  Detectors detectors_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // under mutex_
  bool hurry_ = false;     // under mutex_: look now
  std::thread thread_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_DETECTION_H_
