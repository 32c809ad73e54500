// Conflicts for the API's callers; the handler is that of cluster_routes.h.
#ifndef TRUCE_WEBHOOK_API_REST_REST_CLUSTER_H_
#define TRUCE_WEBHOOK_API_REST_REST_CLUSTER_H_

#include <vector>

#include "webhook/api/cluster_routes.h"
#include "webhook/api/rest/rest_api.h"

namespace truce {

// GET /api/v1/conflicts. Needs list on ownerships in all namespaces. `rest`
// must outlive the routes.
std::vector<HttpRoute> ClusterReadRoutes(const RestApi& rest, ClusterPorts ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_REST_CLUSTER_H_
