// ClusterPart: the cluster's side of a server: the watch, what it finds, and Truce's own objects.
#ifndef TRUCE_WEBHOOK_SERVE_CLUSTER_PART_H_
#define TRUCE_WEBHOOK_SERVE_CLUSTER_PART_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "registry/base/result.h"
#include "webhook/admission/live_objects.h"
#include "webhook/api/shared_cluster.h"
#include "webhook/config/reload.h"
#include "webhook/log/log.h"
#include "webhook/metrics/health.h"
#include "webhook/metrics/metrics.h"
#include "webhook/publish/credentials.h"
#include "webhook/publish/detection.h"
#include "webhook/publish/ownership_checks.h"
#include "webhook/publish/ownership_grants.h"
#include "webhook/publish/truce_resources.h"
#include "webhook/serve/admission_part.h"
#include "webhook/serve/sinks.h"
#include "webhook/watch/cluster_watch.h"

namespace truce {

// References must outlive the object.
struct ClusterPartPorts {
  const ConfigHolder& config;
  Store& store;
  Store& watch_store;  // RegistryPart's
  AdmissionPart& admission;
  Credentials& credentials;
  Health& health;  // its part "cluster"
  Logger& logger;
  const Clock& clock;
};

// Thread-safe, but for Start and Stop, which are for one thread.
class ClusterPart final : private SightObserver, private WatchingServer {
 public:
  explicit ClusterPart(ClusterPartPorts ports);
  ~ClusterPart() override;
  ClusterPart(const ClusterPart&) = delete;
  ClusterPart& operator=(const ClusterPart&) = delete;

  // Connects and begins to watch; reviews are ready once all is listed. Once, when the store is
  // open. Errors: as ClusterWatch::Start.
  Result<void> Start(ServerSettings server);
  // Watches the cluster for all servers of the registry from now on. Idempotent; never blocks.
  void Lead() { watch_.Lead(); }
  // Another server watches from now on: this one ends.
  void EndLeading() { watch_.EndLeading(); }
  // Ends all that asks the cluster or hears from it. Reviews have ended. Idempotent.
  void Stop();

  // The sinks that must get the reviews.
  std::vector<ReviewSink*> sinks();
  // The creation of the OwnershipCheck with this uid was reviewed here and not refused.
  // Thread-safe.
  void NoteCheckAdmitted(const Uid& uid);
  ClusterApi& api() { return watch_.api(); }
  // Null until the cluster was reached.
  ClusterApi* reached_api() const { return watch_.reached_api(); }
  ClusterReports& reports() { return shared_; }
  WatchControls& controls() { return shared_; }
  LiveObjectReader& live() { return live_; }

  // The configuration's file was taken over: objects are tried with it again.
  void Refresh() { own_.Refresh(); }
  // Writes an Event about a change that was refused. Never blocks.
  void TellRefused(const std::string& problem);
  void WriteMetrics(MetricWriter& writer) const {
    detection_.WriteMetrics(writer);
    watch_.WriteMetrics(writer);
  }

 private:
  void TakePolicy(const EffectivePolicy& policy);
  void TakeView(const ClusterView& view);
  void Note(const OwnEvent& event);
  void OnUnseen(const std::map<GroupKind, Timestamp>& kinds) {
    ports_.admission.SetUnseen(kinds);
    if (Leads()) watch_.SetUnseen(kinds);
  }
  bool Leads() const { return watch_.leads(); }
  void NoteDeletionAsked(const Slot& slot);
  void NoteProviderAct(const ProviderAct& act);
  Store* LeadingStore() const override { return Leads() ? &ports_.watch_store : nullptr; }
  void TakeUp(const ReviewNews& news) override;
  WatchReports Gather() override;
  Result<NameReport> NamesIn(std::vector<FollowedKind> kinds) override {
    return detection_.NamesIn(std::move(kinds));
  }
  // Passes each sight of the watch to the detectors, then to the own objects.
  void OnSighted(const ObservedVersion& observed) override;
  void OnGone(const Uid& uid, const Slot& slot) override;
  void OnKindState(const KindStatus& status) override;
  void OnOther(const FollowedKind& kind, Value object, bool gone) override;
  void OnUnread(const FollowedKind& kind, const UnreadObject& object, bool gone) override {
    detection_.OnUnread(kind, object, gone);
  }

  const ClusterPartPorts ports_;
  std::shared_ptr<const Config> rules_of_;  // what the watch's rules were made of
  Deadline begun_{};
  std::set<GroupKind> composites_;  // as told last; of the watch's thread, as the next
  bool has_seen_all_ = false;
  // The member below passes sights to them in this order; they end in reverse.
  ClusterWatch watch_;
  WatchSink sink_;
  Detection detection_;
  DeletionSink deletions_{ports_.admission.in_force(),
                          [this](const Slot& slot) { NoteDeletionAsked(slot); }};
  ProviderActSink provider_acts_{ports_.admission.in_force(),
                                 [this](const ProviderAct& act) { NoteProviderAct(act); }};
  LiveObjectReader live_{watch_.looks(),
                         [this](const GroupKind& kind) { return detection_.KindOf(kind); }};
  OwnershipGrants grants_;
  OwnershipChecks checks_;
  TruceResources own_;
  SharedCluster shared_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_CLUSTER_PART_H_
