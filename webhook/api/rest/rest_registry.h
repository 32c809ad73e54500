// The registry as a whole, to be taken into another one: GET and POST /api/v1/registry.
#ifndef TRUCE_WEBHOOK_API_REST_REST_REGISTRY_H_
#define TRUCE_WEBHOOK_API_REST_REST_REGISTRY_H_

#include <vector>

#include "webhook/api/rest/rest_api.h"

namespace truce {

// GET needs list on ownerships, as a list of resources does; POST create on imports/registry and
// list on ownerships, in all namespaces.
std::vector<HttpRoute> RegistryRoutes(OperationPorts ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_REST_REGISTRY_H_
