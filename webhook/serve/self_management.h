// SelfManagement: an installation that makes its own certificates and tells the API servers of
// them.
#ifndef TRUCE_WEBHOOK_SERVE_SELF_MANAGEMENT_H_
#define TRUCE_WEBHOOK_SERVE_SELF_MANAGEMENT_H_

#include <functional>
#include <memory>
#include <optional>

#include "policies/policy.h"
#include "registry/identity/mapping.h"
#include "webhook/config/config.h"
#include "webhook/kube/session.h"
#include "webhook/log/log.h"
#include "webhook/publish/installation_keeper.h"

namespace truce {

// References must outlive the object.
struct SelfManagementPorts {
  Logger& logger;
  const Clock& clock;
  std::function<MappedGroups()> groups;
  std::function<std::optional<StatusGuard>()> status;
  std::function<void()> on_certificates;
  std::function<void()> on_path_secret;     // as in KeeperPorts
  std::function<void()> on_path_published;  // as in KeeperPorts
};

// API groups of the kinds that `rules` map; `complete`: these are all rules.
MappedGroups GroupsOf(const MappingRules& rules, bool complete);

// What the entry for statuses follows by `policy`; nothing: statuses are not guarded.
std::optional<StatusGuard> StatusGuardOf(const AdmissionPolicy& policy);

// Thread-safe. Has a connection of its own: nothing that follows the cluster can hold it up.
class SelfManagement final {
 public:
  // For a configuration with a certificateSecret.
  SelfManagement(const Config& config, ServerSettings server, SelfManagementPorts ports);
  ~SelfManagement();
  SelfManagement(const SelfManagement&) = delete;
  SelfManagement& operator=(const SelfManagement&) = delete;

  // Makes sure that there are certificates to serve: the Secret's, if the cluster answers soon.
  // Blocks for at most 5 s. Errors: those of the data directory.
  Result<void> Begin();
  // Keeps everything from now on. Once.
  void Start() { keeper_.Start(); }
  // The webhook configuration or the mapping rules changed.
  void Wake() { keeper_.Wake(); }
  void WriteMetrics(MetricWriter& writer) const { keeper_.WriteMetrics(writer); }

 private:
  ClusterApi* Api();
  void Tell(const KeeperEvent& event) const;

  const ServerSettings server_;
  const SelfManagementPorts ports_;
  std::shared_ptr<ServerSession> session_;  // of the keeper's caller
  std::unique_ptr<ClusterApi> api_;         // of the keeper's caller
  InstallationKeeper keeper_;               // last: its thread uses everything above
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_SELF_MANAGEMENT_H_
