// WatchedCluster: the knowledge of the cluster that all detectors share.
#ifndef TRUCE_WEBHOOK_FINDINGS_WATCHED_CLUSTER_H_
#define TRUCE_WEBHOOK_FINDINGS_WATCHED_CLUSTER_H_

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "webhook/findings/tag_war.h"
#include "webhook/findings/webhook_configuration.h"
#include "webhook/watch/observed_version.h"

namespace truce {

struct AdmissionPolicy;

// Number of owned resources by account, or by the ProviderConfig ("prod/aws.upbound.io/
// ProviderConfig//default") of a provisional account.
using AccountCounts = std::map<std::string, std::uint64_t>;

// External synchronization.
struct WatchedCluster {
  struct Kind {
    KindStatus status;
    std::unordered_set<std::size_t> objects;  // hashes of uids
  };
  // One that is followed for a detector.
  struct OtherKind {
    KindStatus status;
    std::string_view finds;  // as DetectorKind
  };
  // Marks that no object row of the registry keeps; of uids.
  struct Marks {
    std::set<Uid> terminating;
    std::set<Uid> paused;
    std::set<Uid> in_use;  // as label crossplane.io/in-use says
  };

  void OnSighted(const ObservedVersion& observed);
  void OnGone(const Uid& uid, const Slot& slot);
  void OnKindState(const KindStatus& status);
  // The webhook configuration of that name is as `object` says.
  void OnConfiguration(Value object, bool gone, const std::string& name);

  // Whether all objects of the kind are known.
  bool IsReadable(const GroupKind& kind) const;
  // Whether the object is known to exist and not to terminate.
  bool Lives(const Uid& uid, const Slot& slot) const;

  std::map<GroupKind, Kind> kinds;  // followed for the registry
  std::map<GroupKind, OtherKind> others;
  std::map<GroupKind, ServedKind> served;  // all
  Marks marks;
  std::optional<WebhookConfiguration> configuration;
  bool configuration_known = false;   // its list was complete once
  bool configuration_listed = false;  // it was in the list that runs
  std::vector<TagWar> wars;           // that run
  // As the last pass over the registry counted.
  AccountCounts provisional_accounts;
  AccountCounts accounts;
  std::optional<std::chrono::milliseconds> ready;  // the first lists took that long
};

// The present installation; asked for at each examination.
struct Surroundings {
  std::shared_ptr<const AdmissionPolicy> policy;  // never null
  ExpectedWebhook webhook;                  // the kinds are filled from what is followed and served
  std::map<GroupKind, Timestamp> unmapped;  // CoverageFacts::unmapped
};

// An act of somebody on an object that only a provider does.
struct ProviderAct {
  std::string user;
  Slot slot;

  auto operator<=>(const ProviderAct&) const = default;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_WATCHED_CLUSTER_H_
