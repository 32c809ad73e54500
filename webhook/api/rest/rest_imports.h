// Resources that are owned outside the cluster: GET and POST /api/v1/imports.
#ifndef TRUCE_WEBHOOK_API_REST_REST_IMPORTS_H_
#define TRUCE_WEBHOOK_API_REST_REST_IMPORTS_H_

#include <vector>

#include "webhook/api/rest/rest_api.h"

namespace truce {

// References must outlive the routes.
struct ImportPorts {
  const RestApi& rest;
  IndexedStore& store;
  const Clock& clock;
  IdSource ids;  // thread-safe
};

// Needs `imports` with the verb list or create, and list on ownerships, in all namespaces.
std::vector<HttpRoute> ImportRoutes(ImportPorts ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_REST_IMPORTS_H_
