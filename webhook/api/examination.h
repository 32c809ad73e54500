// Examination: a server's look at its own installation, for `truce doctor`.
#ifndef TRUCE_WEBHOOK_API_EXAMINATION_H_
#define TRUCE_WEBHOOK_API_EXAMINATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/suspensions.h"
#include "registry/base/clock.h"
#include "registry/store/store.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/api/rest/rest_doctor.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/metrics/health.h"

namespace truce {

// The parts that it examines. References must outlive it.
struct ExaminedServer {
  const Store& store;
  const Health& health;
  const Clock& clock;
  Timestamp certificate_end;             // of the server certificate's validity
  std::string refused_configuration;     // why a changed file is not in force; empty: it is
  std::string refused_credentials;       // the same of secrets and tokens
  std::optional<Timestamp> disk_failed;  // when a sync of the registry failed last
  bool in_database = false;              // the registry is in PostgreSQL
  std::string durability;                // what the database does not promise; empty: nothing
  std::string clocks;                    // that the database's is apart; empty: it is not
  bool has_two_keepers = false;          // as kTwoKeepers
  std::string lacks = {};                // what the registry lacks to be written; empty: nothing
  Mode mode = Mode::kEnforce;
  std::vector<Suspension> suspensions = {};  // of refusals, now
  std::string trouble_of_notifier = {};      // why notifications are not taken; empty: they are
  // All below only where a cluster is followed: `reports` is null otherwise.
  const ClusterReports* reports = nullptr;
  ClusterApi* api = nullptr;  // null until the cluster was reached
  std::string cluster;        // cluster id
  std::string lease_namespace = {};
  std::uint64_t reviews = 0;  // answered since the start
  std::string watcher;        // who watches the cluster for all servers; empty: there are no others
};

// Self-managed, with another server on the registry: each renews what both keep in one Secret.
inline constexpr std::string_view kTwoKeepers =
    "another server runs on this registry, and with certificateSecret each renews certificates and "
    "path secrets when it thinks fit: for some seconds after that, reviews that go to the other "
    "one fail";
inline constexpr std::string_view kOneKeeper =
    "run one server, or give all of them one certificate (tlsCertFile, tlsKeyFile) and one path "
    "secret (admissionSecretFile) instead of certificateSecret";

// A right that the server needs in its cluster.
struct NeededRight {
  std::string group;
  std::string resource;
  std::string verb;
  std::string ns;    // empty: all namespaces
  std::string name;  // empty: all objects
  std::string why;   // what does not work without it
};
// Those of the chart's roles, for a cluster of that id and with its Lease in that namespace.
std::vector<NeededRight> NeededRights(const std::string& cluster,
                                      const std::string& lease_namespace);

// Everything, in a fixed order. Asks the API server a dozen questions; a question that it does not
// answer by `deadline` is a failed checkup, never an error.
std::vector<Checkup> ExamineInstallation(const ExaminedServer& server, Deadline deadline);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_EXAMINATION_H_
