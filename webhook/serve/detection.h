// Detection: the server's findings about its cluster: the detectors on a thread of their own,
// Events on the objects concerned, and reports.
#ifndef TRUCE_WEBHOOK_SERVE_DETECTION_H_
#define TRUCE_WEBHOOK_SERVE_DETECTION_H_

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "policies/policy.h"
#include "registry/base/guarded.h"
#include "registry/base/worker.h"
#include "registry/store/store.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/findings/detectors.h"
#include "webhook/findings/event_writer.h"
#include "webhook/findings/mute_book.h"
#include "webhook/findings/object_events.h"
#include "webhook/findings/reports/report_keeper.h"
#include "webhook/log/log.h"
#include "webhook/metrics/metrics.h"
#include "webhook/serve/shared/shared_reports.h"

namespace truce {

struct Hindrance;

// Those of `findings` that show that Truce gets no deletions.
std::vector<Hindrance> DeletionsUnsentBy(const std::vector<LiveFinding>& findings);

// Port: where the detection runs. Thread-safe.
class DetectionHost {
 public:
  virtual ~DetectionHost() = default;
  // The settings that the detectors compare with, at present.
  virtual Surroundings Around() const = 0;
  // Crossplane does not see new objects of these kinds, since then; called whenever they differ.
  virtual void OnUnseen(const std::map<GroupKind, Timestamp>& kinds) = 0;
  // The webhook configuration changed. On the watch's thread; must not block.
  virtual void OnWebhookChanged() = 0;
  // Whether this server watches the cluster for all others: else another one looks, and reports.
  virtual bool Leads() const = 0;
};

// References must outlive the object.
struct DetectionPorts {
  Store& store;
  const Clock& clock;
  Logger& logger;
  ClusterApi& api;
  const InForce<AdmissionPolicy>& policy;
  DetectionHost& host;
  std::string cluster;  // cluster id
  // The API group in which findings are kept as objects; empty: whichever there is; none: in none.
  std::optional<std::string> report_group;
};

// Thread-safe.
class Detection final : public SightObserver,
                        public ClusterReports,
                        private DetectorHost,
                        private ObjectFinder {
 public:
  explicit Detection(DetectionPorts ports);
  ~Detection() override;
  Detection(const Detection&) = delete;
  Detection& operator=(const Detection&) = delete;

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
  std::optional<ServedKind> KindOf(const GroupKind& kind) const override;
  // All that is watched, but for the brake, for other servers; nothing: not all was looked at yet.
  std::optional<SharedReports> Gather() const;
  // Lists the cluster: the names in `kinds`.
  Result<NameReport> NamesIn(std::vector<FollowedKind> kinds);

  std::vector<TagWar> Wars() const override { return detectors_.Wars(); }
  std::vector<LiveFinding> Findings() const override { return book_.Snapshot(); }
  MuteBook& Mutes() override { return mutes_; }
  CoverageReport Coverage() const override { return detectors_.Coverage(); }
  Result<BaselineReport> Baseline() const override;
  // The epoch until all was looked at once.
  std::optional<Timestamp> AsOf() const override;
  Result<NameReport> Names() override { return NamesIn(detectors_.KindsWithObjects()); }

  // SightObserver, called by the watch.
  void OnSighted(const ObservedVersion& observed) override { detectors_.OnSighted(observed); }
  void OnGone(const Uid& uid, const Slot& slot) override { detectors_.OnGone(uid, slot); }
  void OnKindState(const KindStatus& status) override;
  void OnOther(const FollowedKind& kind, Value object, bool gone) override;
  void OnUnread(const FollowedKind& kind, const UnreadObject& object, bool gone) override {
    detectors_.OnUnread(kind, object, gone);
  }

 private:
  Worker::Rest Turn();
  void DiscoverServed();
  void ReadMutes();
  void TellOfEndedMutes();
  Surroundings Around() const override { return ports_.host.Around(); }
  void OnChange(const FindingChange& change) override;
  std::optional<Object> BySlot(const Slot& slot) const override;
  std::optional<Object> ByUid(const Uid& uid) const override;
  bool IsDiscreet() const override;
  void TellUnseen();
  void KeepReports();
  // False: the registry does not answer.
  bool Examine(bool is_ready);

  const DetectionPorts ports_;
  Guarded<std::map<GroupKind, ServedKind>> served_;  // that are followed
  Guarded<std::map<GroupKind, ServedKind>> discovered_;
  FindingsBook book_;
  MuteBook mutes_;
  std::set<std::pair<Detector, std::string>> muted_;  // at the last look; of its thread
  EventWriter events_;
  RefusalEvents refusals_;
  DenialEvents denials_;
  Detectors detectors_;
  std::optional<ReportKinds> report_kinds_;  // of the thread that looks
  std::unique_ptr<ReportKeeper> reports_;    // null: off
  bool unseen_due_ = false;                  // of the thread that looks, as the next
  std::map<GroupKind, Timestamp> unseen_;

  Deadline discover_due_{};

  std::atomic<bool> ready_{false};       // what is found is all there is
  std::atomic<bool> has_looked_{false};  // at all there is
  Worker worker_{[this] { return Turn(); }};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_DETECTION_H_
