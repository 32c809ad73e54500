// A ClusterApi over objects in memory: single objects with versions, merge patches, and failures on
// command; lists by name, no discovery.
#ifndef TRUCE_TESTS_SUPPORT_MEMORY_CLUSTER_API_H_
#define TRUCE_TESTS_SUPPORT_MEMORY_CLUSTER_API_H_

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "webhook/kube/cluster_api.h"

namespace truce {

// Thread-safe.
class MemoryClusterApi final : public ClusterApi {
 public:
  // Asked before each call: verb ("get", "list", "create", "patch") and plural; an error is
  // answered.
  using Fault = std::function<std::optional<ApiError>(std::string_view, std::string_view)>;

  void SetFault(Fault fault);
  // Puts an object (JSON with metadata.name) there, whatever was there.
  void Put(const ServedKind& kind, const std::string& ns, const std::string& object);
  void Remove(const ServedKind& kind, const std::string& ns, const std::string& name);
  // Empty: there is none.
  std::string Object(const ServedKind& kind, const std::string& ns, const std::string& name) const;
  std::uint64_t writes() const;

  ApiResult<Discovery> Discover(Deadline deadline) override;
  ApiResult<std::string> Get(const ServedKind& kind, std::string_view ns, std::string_view name,
                             Deadline deadline) override;
  ApiResult<ListPage> List(const ListQuery& query, Deadline deadline) override;
  ApiResult<std::string> Create(const ServedKind& kind, std::string_view ns,
                                std::string_view object, Deadline deadline) override;
  ApiResult<std::string> Patch(const PatchTarget& target, std::string_view patch,
                               Deadline deadline) override;
  ApiResult<std::string> Delete(const ServedKind& kind, std::string_view ns, std::string_view name,
                                Deadline deadline) override;

 private:
  std::optional<ApiError> FaultOf(std::string_view verb, const ServedKind& kind);

  mutable std::mutex mutex_;
  std::map<std::string, std::string> objects_;  // by path
  std::uint64_t version_ = 0;
  std::uint64_t writes_ = 0;
  Fault fault_;
};

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_MEMORY_CLUSTER_API_H_
