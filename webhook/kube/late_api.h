// LateApi: a cluster's API for users that begin before it is reached.
#ifndef TRUCE_WEBHOOK_KUBE_LATE_API_H_
#define TRUCE_WEBHOOK_KUBE_LATE_API_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "registry/base/result.h"
#include "webhook/kube/cluster_api.h"

namespace truce {

// Thread-safe, if `find` is. Each call goes to the API that `find` gives; its error is answered as
// kUnreachable.
class LateApi final : public ClusterApi {
 public:
  // Never null; the result outlives the caller.
  using Find = std::function<Result<ClusterApi*>()>;

  explicit LateApi(Find find) : find_(std::move(find)) {}

  ApiResult<Discovery> Discover(Deadline deadline) override {
    return Ask<Discovery>([&](ClusterApi& api) { return api.Discover(deadline); });
  }
  ApiResult<std::string> Get(const ServedKind& kind, std::string_view ns, std::string_view name,
                             Deadline deadline) override {
    return Ask<std::string>([&](ClusterApi& api) { return api.Get(kind, ns, name, deadline); });
  }
  ApiResult<ListPage> List(const ListQuery& query, Deadline deadline) override {
    return Ask<ListPage>([&](ClusterApi& api) { return api.List(query, deadline); });
  }
  ApiResult<std::string> Create(const ServedKind& kind, std::string_view ns,
                                std::string_view object, Deadline deadline) override {
    return Ask<std::string>(
        [&](ClusterApi& api) { return api.Create(kind, ns, object, deadline); });
  }
  ApiResult<std::string> Patch(const PatchTarget& target, std::string_view patch,
                               Deadline deadline) override {
    return Ask<std::string>([&](ClusterApi& api) { return api.Patch(target, patch, deadline); });
  }
  ApiResult<std::string> Delete(const ServedKind& kind, std::string_view ns, std::string_view name,
                                Deadline deadline) override {
    return Ask<std::string>([&](ClusterApi& api) { return api.Delete(kind, ns, name, deadline); });
  }

 private:
  template <typename T, typename Call>
  ApiResult<T> Ask(const Call& call) {
    const Result<ClusterApi*> found = find_();
    if (found.ok()) return call(*found.value());
    return ApiError{ApiErrorKind::kUnreachable, 0, found.error().message, std::nullopt};
  }

  const Find find_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_LATE_API_H_
