// Reviews by the cluster's API server: TokenReview and SubjectAccessReview.
#ifndef TRUCE_WEBHOOK_API_AUTH_CLUSTER_REVIEWS_H_
#define TRUCE_WEBHOOK_API_AUTH_CLUSTER_REVIEWS_H_

#include <functional>
#include <string>

#include "webhook/api/auth/reviews.h"
#include "webhook/kube/cluster_api.h"

namespace truce {

// The cluster's API, or null while it was not reached yet: then nobody can tell (kUnavailable).
using ClusterSource = std::function<ClusterApi*()>;

// authentication.k8s.io/v1 TokenReview with the audience kApiAudience. A token that is good but not
// for that audience is not good: the answer's own audiences must name it.
class ClusterTokenReviewer final : public TokenReviewer {
 public:
  // What `api` gives must outlive it.
  explicit ClusterTokenReviewer(ClusterSource api) : api_(std::move(api)) {}
  Result<std::optional<KubernetesUser>> Review(const std::string& token, const std::string& source,
                                               Deadline deadline) override;

 private:
  ClusterSource api_;
};

// authorization.k8s.io/v1 SubjectAccessReview on the group kApiGroup. What the API server neither
// allows nor denies is not allowed.
class ClusterAccessReviewer final : public AccessReviewer {
 public:
  explicit ClusterAccessReviewer(ClusterSource api) : api_(std::move(api)) {}
  Result<bool> Allowed(const KubernetesUser& user, const Permission& permission,
                       Deadline deadline) override;

 private:
  ClusterSource api_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_AUTH_CLUSTER_REVIEWS_H_
