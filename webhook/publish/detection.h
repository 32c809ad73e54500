// Detection: the server's findings about its cluster: the detectors on a thread of their own,
// Events on the objects concerned, and reports.
#ifndef TRUCE_WEBHOOK_PUBLISH_DETECTION_H_
#define TRUCE_WEBHOOK_PUBLISH_DETECTION_H_

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/base/worker.h"
#include "registry/store/store.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/api/watch_reports.h"
#include "webhook/config/reload.h"
#include "webhook/findings/detectors.h"
#include "webhook/findings/event_writer.h"
#include "webhook/findings/mute_book.h"
#include "webhook/findings/object_events.h"
#include "webhook/findings/reports/report_keeper.h"
#include "webhook/log/log.h"
#include "webhook/metrics/metrics.h"
#include "webhook/publish/credentials.h"
#include "webhook/watch/cluster_watch.h"

namespace truce {

struct Hindrance;

// Those of `findings` that show that Truce gets no deletions.
std::vector<Hindrance> DeletionsUnsentBy(const std::vector<LiveFinding>& findings);

// References must outlive the object.
struct DetectionPorts {
  Store& store;
  const Clock& clock;
  Logger& logger;
  ClusterWatch& watch;
  const InForce<AdmissionPolicy>& policy;
  Credentials& credentials;
  const ConfigHolder& config;
  // Kinds that no mapping rule names any more, since when.
  std::function<std::map<GroupKind, Timestamp>()> unmapped;
  // Told of kinds whose new objects Crossplane does not see, when they change.
  std::function<void(const std::map<GroupKind, Timestamp>&)> on_unseen;
};

// Thread-safe.
class Detection final : public SightObserver {
 public:
  explicit Detection(DetectionPorts ports);
  ~Detection() override;
  Detection(const Detection&) = delete;
  Detection& operator=(const Detection&) = delete;

  // The kinds that the watch must follow for the detectors.
  std::vector<FollowedKind> kinds() const;
  // Begins to look. Once.
  void Start() { worker_.Start(); }
  // Ends all that asks the cluster. Idempotent.
  void Stop();
  // The first lists are applied; `took` since the start. Idempotent.
  void SetReady(std::chrono::milliseconds took);

  // Sink of reviews: Events about refused composed resources.
  ReviewSink& refusals() { return refusals_; }
  // Sink of reviews: Events about every other refused object.
  ReviewSink& denials() { return denials_; }
  void OnDeletionAsked(const Slot& slot) { detectors_.OnDeletionAsked(slot); }
  void OnProviderAct(const ProviderAct& act) { detectors_.OnProviderAct(act); }
  // Writes an Event about a changed configuration that was refused. Never blocks.
  void TellRefused(const std::string& webhook_configuration, const std::string& problem);
  void WriteMetrics(MetricWriter& writer) const;
  // How a kind is served: as it is followed, else as discovered within the last minutes.
  std::optional<ServedKind> KindOf(const GroupKind& kind) const { return detectors_.KindOf(kind); }
  // All that is watched, but for the brake and recovery.
  WatchReports Gather() const;
  // Lists the cluster: the names in `kinds`.
  Result<NameReport> NamesIn(std::vector<FollowedKind> kinds);

  MuteBook& mutes() { return mutes_; }

  // SightObserver, called by the watch.
  void OnSighted(const ObservedVersion& observed) override { detectors_.OnSighted(observed); }
  void OnGone(const Uid& uid, const Slot& slot) override { detectors_.OnGone(uid, slot); }
  void OnKindState(const KindStatus& status) override { detectors_.OnKindState(status); }
  void OnOther(const FollowedKind& kind, Value object, bool gone) override;
  void OnUnread(const FollowedKind& kind, const UnreadObject& object, bool gone) override {
    detectors_.OnUnread(kind, object, gone);
  }

 private:
  Worker::Rest Turn();
  void LogTrouble(std::string_view what, std::string_view trouble);
  void DiscoverServed();
  void ReadMutes();
  void TellOfEndedMutes();
  Surroundings Around() const;
  void OnChange(const FindingChange& change);
  bool IsDiscreet() const;
  void TellUnseen();
  void KeepReports();
  // False: the registry does not answer.
  bool Examine(bool is_ready);
  bool Restore();

  const DetectionPorts ports_;
  // The API group in which findings are kept as objects; empty: whichever there is; none: in none.
  const std::optional<std::string> report_group_;
  FindingsBook book_;
  MuteBook mutes_;
  std::set<std::pair<Detector, std::string>> muted_;  // at the last look; of its thread
  EventWriter events_;
  const KnownObjects objects_;
  RefusalEvents refusals_;
  DenialEvents denials_;
  Detectors detectors_;
  std::optional<ReportKinds> report_kinds_;  // of the thread that looks
  std::unique_ptr<ReportKeeper> reports_;    // null: off
  bool is_restored_ = false;                 // of the thread that looks, as the next two
  bool unseen_due_ = false;
  std::map<GroupKind, Timestamp> unseen_;

  Deadline discover_due_{};

  std::atomic<bool> ready_{false};       // what is found is all there is
  std::atomic<bool> has_looked_{false};  // at all there is
  Worker worker_{[this] { return Turn(); }};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PUBLISH_DETECTION_H_
