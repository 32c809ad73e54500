// Quotas: GET /api/v1/quotas[?namespace=…][&output=text].
#ifndef TRUCE_WEBHOOK_API_QUOTA_ROUTES_H_
#define TRUCE_WEBHOOK_API_QUOTA_ROUTES_H_

#include <vector>

#include "webhook/api/rest/rest_api.h"

namespace truce {

// Needs list on ownerships, in the given namespace or in all. `ports` must outlive the routes.
std::vector<HttpRoute> QuotaRoutes(const OperationPorts& ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_QUOTA_ROUTES_H_
