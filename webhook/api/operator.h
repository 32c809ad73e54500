// Requests that the operator socket alone answers: JSON over HTTP, beside the REST API and the
// page, which the socket answers too.
//
//   POST /api/v1/reservations:confirm
//          {"object": {"group", "kind", "namespace", "name"[, "cluster"]}} or {"key"}
//          → 200 {"confirmed": 1}   reservations that now count as seen; 404: none waits there
//   POST /api/v1/explain   a whole Kubernetes object
//          → 200 {"text"}           which rules apply to it, by the policy in force, with what
//                                   NamingPolicies and timed overrides say, and with the owner that
//                                   the registry knows
//
// Errors are problems (problem.h): 400 malformed, 503 the store cannot be read or written.
#ifndef TRUCE_WEBHOOK_API_OPERATOR_H_
#define TRUCE_WEBHOOK_API_OPERATOR_H_

#include <vector>

#include "webhook/api/rest/rest_api.h"

namespace truce {

// The routes of the operator socket. Every user who may connect to it (mode 0600) is the operator.
std::vector<HttpRoute> OperatorRoutes(const OperationPorts& ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_OPERATOR_H_
