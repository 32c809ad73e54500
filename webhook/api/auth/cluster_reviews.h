// Reviews by the cluster's API server: TokenReview and SubjectAccessReview.
#ifndef TRUCE_WEBHOOK_API_AUTH_CLUSTER_REVIEWS_H_
#define TRUCE_WEBHOOK_API_AUTH_CLUSTER_REVIEWS_H_

#include <string>

#include "webhook/api/auth/reviews.h"
#include "webhook/kube/cluster_api.h"

namespace truce {

// authentication.k8s.io/v1 TokenReview with the audience kApiAudience. A token that is good but not
// for that audience is not good: the answer's own audiences must name it.
class ClusterTokenReviewer final : public TokenReviewer {
 public:
  // `api` must outlive it. While the cluster was not reached yet nobody can tell: kUnavailable.
  explicit ClusterTokenReviewer(ClusterApi& api) : api_(api) {}
  Result<std::optional<KubernetesUser>> FindUser(const std::string& token,
                                                 const std::string& source,
                                                 Deadline deadline) override;

 private:
  ClusterApi& api_;
};

// authorization.k8s.io/v1 SubjectAccessReview on the group kApiGroup. A request that the API server
// neither allows nor denies is not allowed.
class ClusterAccessReviewer final : public AccessReviewer {
 public:
  // As ClusterTokenReviewer.
  explicit ClusterAccessReviewer(ClusterApi& api) : api_(api) {}
  Result<bool> Allowed(const KubernetesUser& user, const Permission& permission,
                       Deadline deadline) override;

 private:
  ClusterApi& api_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_AUTH_CLUSTER_REVIEWS_H_
