// What stands above the declarations of a resource, and how an ownership ended:
// GET /api/v1/lineage/{id} and /api/v1/endings/{id}.
#ifndef TRUCE_WEBHOOK_API_VIEWS_LINEAGE_H_
#define TRUCE_WEBHOOK_API_VIEWS_LINEAGE_H_

#include <cstddef>
#include <vector>

#include "webhook/api/rest/rest_api.h"

namespace truce {

// Objects that one answer shows, and how far it climbs from a declaration.
inline constexpr std::size_t kLineageMax = 200;
inline constexpr std::size_t kLineageDepthMax = 8;

// Both need get on ownerships in the namespace of the root; who has not is told what is told of an
// id that nobody has.
std::vector<HttpRoute> LineageRoutes(const OperationPorts& ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_VIEWS_LINEAGE_H_
