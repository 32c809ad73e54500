// Overrides (break-glass): GET and POST /api/v1/overrides, DELETE /api/v1/overrides/ID.
#ifndef TRUCE_WEBHOOK_API_REST_REST_OVERRIDES_H_
#define TRUCE_WEBHOOK_API_REST_REST_OVERRIDES_H_

#include <vector>

#include "webhook/api/override_book.h"
#include "webhook/api/rest/rest_api.h"

namespace truce {

// Needs `overrides` with the verb list, create or delete, in the namespace that an override names,
// else in all. Both must outlive the routes.
std::vector<HttpRoute> OverrideRoutes(const RestApi& rest, OverrideBook& book);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_REST_OVERRIDES_H_
