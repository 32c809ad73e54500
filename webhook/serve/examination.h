// Examination: a server's look at its own installation, for `truce doctor`.
#ifndef TRUCE_WEBHOOK_SERVE_EXAMINATION_H_
#define TRUCE_WEBHOOK_SERVE_EXAMINATION_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "registry/base/clock.h"
#include "registry/store/store.h"
#include "webhook/api/rest/rest_doctor.h"
#include "webhook/findings/coverage.h"
#include "webhook/findings/findings_book.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/metrics/health.h"

namespace truce {

// What is looked at. References must outlive it; functions are thread-safe.
struct ExaminationPorts {
  const Store& store;
  const Health& health;
  const Clock& clock;
  std::function<Timestamp()> certificate_end;  // of the server certificate's validity
  bool follows_cluster = false;
  std::string cluster;                     // cluster id
  std::function<ClusterApi*()> api;        // null until the cluster was reached
  std::function<std::uint64_t()> reviews;  // answered since the start
  std::function<std::vector<LiveFinding>()> findings;
  std::function<Result<CoverageReport>()> coverage;
  std::string refused_configuration;     // why a changed file is not in force; empty: it is
  std::string refused_credentials;       // the same of secrets and tokens
  std::optional<Timestamp> disk_failed;  // when a sync of the registry failed last
};

// A right that the server needs in its cluster.
struct NeededRight {
  std::string group;
  std::string resource;
  std::string verb;
  std::string ns;    // empty: all namespaces
  std::string name;  // empty: all objects
  std::string why;   // what does not work without it
};
// Those of the chart's roles, for a cluster of that id.
std::vector<NeededRight> NeededRights(const std::string& cluster);

// Everything, in a fixed order. Asks the API server a dozen questions; what it does not answer by
// `deadline` is a failed checkup, never an error.
std::vector<Checkup> ExamineInstallation(const ExaminationPorts& ports, Deadline deadline);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_EXAMINATION_H_
