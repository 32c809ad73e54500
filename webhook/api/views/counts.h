// The registry in numbers: GET /api/v1/overview and /api/v1/matrix.
#ifndef TRUCE_WEBHOOK_API_VIEWS_COUNTS_H_
#define TRUCE_WEBHOOK_API_VIEWS_COUNTS_H_

#include <cstddef>
#include <vector>

#include "webhook/api/rest/rest_api.h"

namespace truce {

// What a matrix shows at most, those with the most ownerships.
inline constexpr std::size_t kMatrixRowsMax = 1000;
inline constexpr std::size_t kMatrixColumnsMax = 100;

// Both need list on ownerships in all namespaces. The overview is cheap: stores keep the counts.
// The matrix is counted in memory, over all ownerships, while commits go on.
std::vector<HttpRoute> CountRoutes(const OperationPorts& ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_VIEWS_COUNTS_H_
