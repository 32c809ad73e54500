// Release of many orphaned ownerships at once, by a plan: POST /api/v1/releases.
#ifndef TRUCE_WEBHOOK_API_REST_REST_RELEASES_H_
#define TRUCE_WEBHOOK_API_REST_REST_RELEASES_H_

#include <vector>

#include "webhook/api/rest/rest_api.h"

namespace truce {

// What one plan holds at most.
inline constexpr std::size_t kReleasesMax = 1000;

// Needs create on ownerships/release in the namespace that is asked for, else in all.
std::vector<HttpRoute> ReleaseRoutes(OperationPorts ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_REST_RELEASES_H_
