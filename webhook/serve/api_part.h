// ApiPart: the REST API of a server and who may call it, from settings to routes.
#ifndef TRUCE_WEBHOOK_SERVE_API_PART_H_
#define TRUCE_WEBHOOK_SERVE_API_PART_H_

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "policies/policy.h"
#include "registry/base/guarded.h"
#include "webhook/api/auth/cached_reviews.h"
#include "webhook/api/auth/cluster_reviews.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/api/override_book.h"
#include "webhook/api/rest/rest_api.h"
#include "webhook/api/rest/rest_backup.h"
#include "webhook/api/use_log.h"
#include "webhook/config/config.h"

namespace truce {

struct AdmissionRequest;

// The cluster that a server follows.
struct FollowedCluster {
  ClusterApi& api;  // vouches for Kubernetes tokens
  ClusterReports& reports;
  WatchControls& controls;
};

// References must outlive it.
struct ApiPartPorts {
  Store& store;
  const Clock& clock;
  OverrideBook& overrides;
  const InForce<AdmissionPolicy>& policy;
  std::optional<FollowedCluster> cluster;
  std::string_view version;
  const TrialBook& trials;
  const DenialBook& denials;
  CopyRegistry copy;
  RefusedCallers& refused;
};

// Thread-safe but for Configure, which is for one thread.
class ApiPart final {
 public:
  // Nobody may call before Configure.
  ApiPart(ApiPartPorts ports, const Config& config);
  ApiPart(const ApiPart&) = delete;
  ApiPart& operator=(const ApiPart&) = delete;

  // Takes over the rights of callers, from the settings and the token file. On an error nothing
  // changes. Errors: kInvalidArgument, kNotFound, kUnavailable.
  Result<void> Configure(const Config& config);

  const RestApi& rest() const { return rest_; }
  // Where other servers answer too, cursors are sealed with a key that the registry keeps. Once it
  // is open. Blocks for 5 s at most.
  void ShareCursors();
  // The routes that the API listener and the operator socket share.
  std::vector<HttpRoute> Routes();

  // Whether the user of `review` speaks for namespace `ns`. Errors: kUnavailable,
  // kDeadlineExceeded, kResourceExhausted.
  Result<bool> SpeaksFor(const AdmissionRequest& review, std::string_view ns, Deadline deadline);

 private:
  // The reviewers of Kubernetes tokens and of their users' rights.
  struct Vouchers {
    explicit Vouchers(ClusterApi& api);

    ClusterTokenReviewer cluster_tokens;
    ClusterAccessReviewer cluster_access;
    CachedTokenReviewer tokens;
    CachedAccessReviewer access;
  };

  // Of the cluster that is followed.
  void WriteFindings(const std::vector<KeyText>& keys, JsonWriter& json) const;
  RestPorts RestPortsOf(const Config& config);
  ClusterPorts Cluster() const;

  const ApiPartPorts ports_;
  const std::unique_ptr<Vouchers> vouchers_;  // null: nobody vouches
  ApiAccess access_;
  RestApi rest_;
  UseLog uses_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_API_PART_H_
