// Resources that are owned outside the cluster: GET and POST /api/v1/imports.
#ifndef TRUCE_WEBHOOK_API_REST_REST_IMPORTS_H_
#define TRUCE_WEBHOOK_API_REST_REST_IMPORTS_H_

#include <vector>

#include "webhook/api/rest/rest_api.h"

namespace truce {

// Needs `imports` with the verb list or create, and list on ownerships, in all namespaces.
std::vector<HttpRoute> ImportRoutes(OperationPorts ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_REST_IMPORTS_H_
