// The memory of a registry outside of it, so that a restored or rebuilt one is noticed: a file
// beside it, and the cluster's Lease.
#ifndef TRUCE_WEBHOOK_WATCH_RECOVERY_REGISTRY_MEMORY_H_
#define TRUCE_WEBHOOK_WATCH_RECOVERY_REGISTRY_MEMORY_H_

#include <optional>
#include <string>
#include <vector>

#include "registry/base/result.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/watch/recovery/recovery.h"
#include "webhook/watch/recovery/witness.h"

namespace truce {

// DIR/registry.mark. Nothing when there is none or it cannot be read as a mark.
std::optional<StoreMark> ReadMarkFile(const std::string& data_dir);
// Replaced whole, durable on return: after a power cut a registry that was lost would go unnoticed.
// Errors: kUnavailable.
Result<void> WriteMarkFile(const std::string& data_dir, const StoreMark& mark);

// DIR/registry.witness: the same of the newest line of its audit log.
std::optional<AuditWitness> ReadWitnessFile(const std::string& data_dir);
Result<void> WriteWitnessFile(const std::string& data_dir, const AuditWitness& witness);

// The memory in a Lease; each nothing where it has none.
struct LeaseNotes {
  // A Lease of that name in another namespace: of a second registry of the cluster, or of this one
  // before its Lease moved.
  struct Other {
    std::string ns;
    StoreMark mark;
  };

  std::optional<StoreMark> mark;
  std::optional<AuditWitness> witness;
  std::vector<Other> others;
};

// The annotations truce.dev/registry and truce.dev/witness of the Lease `truce-<cluster>`.
class LeaseMemory final {
 public:
  // `api` must outlive the object.
  LeaseMemory(ClusterApi& api, std::string ns, std::string cluster)
      : api_(api), ns_(std::move(ns)), name_("truce-" + std::move(cluster)) {}

  // Nothing when there is no Lease. Names other Leases only if Truce may list those of that name in
  // all namespaces. Errors: of the API server.
  ApiResult<LeaseNotes> Read(Deadline deadline);
  // Each makes the Lease when there is none, and leaves the other's annotation alone.
  std::optional<ApiError> Write(const StoreMark& mark, Deadline deadline);
  std::optional<ApiError> WriteWitness(const AuditWitness& witness, Deadline deadline);

  const std::string& name() const { return name_; }

 private:
  std::vector<LeaseNotes::Other> Others(Deadline deadline);
  std::optional<ApiError> Annotate(std::string_view annotation, const std::string& value,
                                   Deadline deadline);

  ClusterApi& api_;
  const std::string ns_;
  const std::string name_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_RECOVERY_REGISTRY_MEMORY_H_
