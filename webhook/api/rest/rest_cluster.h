// What the cluster tells, and the commands about it, for the API's callers; the handlers are those
// of cluster_routes.h and of the trial.
#ifndef TRUCE_WEBHOOK_API_REST_REST_CLUSTER_H_
#define TRUCE_WEBHOOK_API_REST_REST_CLUSTER_H_

#include <vector>

#include "webhook/api/cluster_routes.h"
#include "webhook/api/rest/rest_api.h"
#include "webhook/api/review_books.h"
#include "webhook/api/use_log.h"

namespace truce {

// The operations of cluster_routes.h and GET /api/v1/trial. A read needs get on ownerships in all
// namespaces and is in the audit log (UseLog); recovery and brake are started, ended and released
// by who may update recovery or brake. Lists of the cluster are made one at a time: 429 meanwhile.
// References must outlive the routes.
std::vector<HttpRoute> ClusterApiRoutes(const RestApi& rest, ClusterPorts ports,
                                        const TrialBook& trials, UseLog& uses);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_REST_CLUSTER_H_
