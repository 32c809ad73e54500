// Who was refused what, and what they did then: GET /api/v1/denials and /api/v1/denials/{id}.
#ifndef TRUCE_WEBHOOK_API_VIEWS_DENIALS_H_
#define TRUCE_WEBHOOK_API_VIEWS_DENIALS_H_

#include <vector>

#include "webhook/api/rest/rest_api.h"
#include "webhook/api/review_books.h"

namespace truce {

// Both need list on ownerships, in the namespace of the refused object or in all. `denials` must
// outlive the routes.
std::vector<HttpRoute> DenialRoutes(const OperationPorts& ports, const DenialBook& denials);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_VIEWS_DENIALS_H_
