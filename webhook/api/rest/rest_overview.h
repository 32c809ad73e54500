// The registry in numbers: GET /api/v1/overview.
#ifndef TRUCE_WEBHOOK_API_REST_REST_OVERVIEW_H_
#define TRUCE_WEBHOOK_API_REST_REST_OVERVIEW_H_

#include <vector>

#include "webhook/api/rest/rest_api.h"

namespace truce {

// Needs list on ownerships in all namespaces. Cheap: stores keep the counts.
std::vector<HttpRoute> OverviewRoutes(const OperationPorts& ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_REST_OVERVIEW_H_
