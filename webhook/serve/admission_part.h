// AdmissionPart: the admission path of a server: its service, and the policy in force, which is
// made of the configuration, Truce's own objects, timed overrides and what the cluster shows.
#ifndef TRUCE_WEBHOOK_SERVE_ADMISSION_PART_H_
#define TRUCE_WEBHOOK_SERVE_ADMISSION_PART_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "webhook/admission/service.h"
#include "webhook/api/override_book.h"
#include "webhook/config/config.h"
#include "webhook/config/policy.h"
#include "webhook/log/log.h"
#include "webhook/metrics/metrics.h"
#include "webhook/publish/policy_source.h"
#include "webhook/watch/cluster_watch.h"
#include "webhook/watch/unresolved_holders.h"

namespace truce {

// Thread-safe, but for Begin and SetListener, which are for before anything else runs.
class AdmissionPart final {
 public:
  // References must outlive it.
  AdmissionPart(std::shared_ptr<const Catalogue> catalogue, Store& store, Logger& logger,
                const Clock& clock);
  AdmissionPart(const AdmissionPart&) = delete;
  AdmissionPart& operator=(const AdmissionPart&) = delete;

  // Takes a configuration over. Errors: as PolicySource::Configure.
  Result<void> Configure(const Config& config) { return source_.Configure(config); }
  // Makes the service: every answer is "unknown" until it is ready. Once, after Configure.
  void Begin(AdmissionPorts ports);
  // Gets policies from now on, after the service.
  void SetListener(PolicyFn listener) { listener_ = std::move(listener); }

  // Takes over the overrides that the registry has: when the store is open, then each second where
  // other servers make some. Blocks for as long as `time`. For one thread.
  void LoadOverrides(std::chrono::milliseconds time);
  // Kinds whose new objects Crossplane does not see.
  void SetUnseen(const std::map<GroupKind, Timestamp>& unseen);
  // Takes the view of the cluster; once that is ready, so is the service.
  void SetView(const ClusterView& view);
  // No cluster is followed: the service is ready.
  void SetReady();

  // truce_late_answers, truce_late_answers_total
  void WriteMetrics(MetricWriter& writer) const;

  AdmissionService& service() { return *service_; }
  PolicySource& source() { return source_; }
  OverrideBook& overrides() { return overrides_; }
  UnresolvedHolders& unresolved() { return unresolved_; }
  // Without overrides and the cluster's part.
  EffectivePolicy effective() const;
  // As ClusterView::unmapped.
  std::map<GroupKind, Timestamp> unmapped() const;

  // The policy that reviews are judged by; null before Begin.
  const InForce<AdmissionPolicy>& in_force() const { return in_force_; }
  std::shared_ptr<const AdmissionPolicy> policy() const { return in_force_.Current(); }
  // Reviews are answered, not "unknown" each.
  bool ready() const { return service_ && service_->ready(); }

  // Whether the object of `review` could take effect beside what is in force; kinds that add
  // nothing to the policy are good. Changes nothing; takes milliseconds. Errors: kInvalidArgument:
  // "spec.declares[0].type: what is wrong; how to mend it".
  Result<void> TryObject(const AdmissionRequest& review) const;

 private:
  struct Policies {
    EffectivePolicy configured;
    std::optional<ClusterView> view;
    std::vector<Override> overrides;  // made while the server runs
    std::map<GroupKind, Timestamp> unseen;
    bool ready = false;
  };

  void TakePolicy(const EffectivePolicy& policy);
  template <typename Change>
  void Publish(Change change);

  Logger& logger_;
  const Clock& clock_;
  UnresolvedHolders unresolved_;
  Guarded<Policies> policies_;
  InForce<AdmissionPolicy> in_force_;  // as service_ has it
  std::optional<AdmissionService> service_;
  PolicyFn listener_;
  PolicySource source_;
  OverrideBook overrides_;
  std::string overrides_problem_;  // the last one told
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_ADMISSION_PART_H_
