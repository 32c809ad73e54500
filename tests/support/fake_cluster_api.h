// A cluster's API that takes everything.
#ifndef TRUCE_TESTS_SUPPORT_FAKE_CLUSTER_API_H_
#define TRUCE_TESTS_SUPPORT_FAKE_CLUSTER_API_H_

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/guarded.h"
#include "webhook/kube/cluster_api.h"

namespace truce {

// Thread-safe. Answers emptily, keeps what was patched and deleted; fails as often as told.
class FakeClusterApi final : public ClusterApi {
 public:
  ApiResult<Discovery> Discover(Deadline) override { return Discovery{}; }
  ApiResult<std::string> Get(const ServedKind&, std::string_view, std::string_view,
                             Deadline) override {
    return std::string();
  }
  ApiResult<ListPage> List(const ListQuery&, Deadline) override { return ListPage{}; }
  ApiResult<std::string> Create(const ServedKind&, std::string_view, std::string_view,
                                Deadline) override {
    return std::string();
  }
  ApiResult<std::string> Patch(const PatchTarget& target, std::string_view patch,
                               Deadline) override {
    if (failures > 0) {
      --failures;
      return ApiError{ApiErrorKind::kServer, 500, "not now", std::nullopt};
    }
    patches.With([&](auto& all) {
      all.push_back(target.name + "/" + target.subresource + " " + std::string(patch));
    });
    return std::string();
  }
  ApiResult<std::string> Delete(const ServedKind&, std::string_view ns, std::string_view name,
                                Deadline) override {
    deleted.With([&](auto& all) { all.push_back(std::string(ns) + "/" + std::string(name)); });
    return std::string();
  }

  std::vector<std::string> all() const {
    return patches.With([](const auto& present) { return present; });
  }

  std::atomic<int> failures{0};
  Guarded<std::vector<std::string>> patches;  // "name/subresource PATCH"
  Guarded<std::vector<std::string>> deleted;  // "namespace/name"
};

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_FAKE_CLUSTER_API_H_
