// What the page shows and nobody writes: the registry in numbers, denials, lineages.
#ifndef TRUCE_WEBHOOK_API_VIEWS_H_
#define TRUCE_WEBHOOK_API_VIEWS_H_

#include <cstddef>
#include <vector>

#include "webhook/api/rest/rest_api.h"

namespace truce {

// What a matrix shows at most, those with the most ownerships.
inline constexpr std::size_t kMatrixRowsMax = 1000;
inline constexpr std::size_t kMatrixColumnsMax = 100;

// The registry in numbers: GET /api/v1/overview and /api/v1/matrix. Both need list on ownerships in
// all namespaces. The overview is cheap: stores keep the counts. The matrix is counted in memory,
// over all ownerships, while commits go on.
std::vector<HttpRoute> CountRoutes(const OperationPorts& ports);

// Who was refused what, and what they did then: GET /api/v1/denials and /api/v1/denials/{id}. Both
// need list on ownerships, in the namespace of the refused object or in all. `denials` must outlive
// the routes.
std::vector<HttpRoute> DenialRoutes(const OperationPorts& ports, const DenialBook& denials);

// The chain above the declarations of a resource, and the end of an ownership:
// GET /api/v1/lineage/{id} and /api/v1/endings/{id}. Both need get on ownerships in the namespace
// of the root; without it a caller gets the answer for an id that does not exist.
std::vector<HttpRoute> LineageRoutes(const OperationPorts& ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_VIEWS_H_
