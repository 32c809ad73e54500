// What is remembered of a registry outside of it, so that a restored or rebuilt one is noticed: a
// file beside it, and the cluster's Lease.
#ifndef TRUCE_WEBHOOK_SERVE_REGISTRY_MEMORY_H_
#define TRUCE_WEBHOOK_SERVE_REGISTRY_MEMORY_H_

#include <optional>
#include <string>

#include "registry/base/result.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/watch/recovery.h"

namespace truce {

// DIR/registry.mark. Nothing when there is none or it cannot be read as a mark.
std::optional<StoreMark> ReadMarkFile(const std::string& data_dir);
// Replaced whole, durable on return: after a power cut a registry that was lost would go unnoticed.
// Errors: kUnavailable.
Result<void> WriteMarkFile(const std::string& data_dir, const StoreMark& mark);

// The annotation truce.dev/registry of the Lease `truce-<cluster>`.
class LeaseMemory final {
 public:
  // `api` must outlive the object.
  LeaseMemory(ClusterApi& api, std::string ns, std::string cluster)
      : api_(api), ns_(std::move(ns)), name_("truce-" + std::move(cluster)) {}

  // Nothing when there is no Lease, or none of ours. Errors: of the API server.
  ApiResult<std::optional<StoreMark>> Read(Deadline deadline);
  // Makes the Lease when there is none.
  std::optional<ApiError> Write(const StoreMark& mark, Deadline deadline);

 private:
  ClusterApi& api_;
  const std::string ns_;
  const std::string name_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_REGISTRY_MEMORY_H_
