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

#include "policies/policy.h"
#include "registry/base/clock.h"
#include "registry/ownership/terms.h"
#include "registry/store/store.h"
#include "webhook/api/policy_in_force.h"
#include "webhook/http/http.h"

namespace truce {

// What the handlers stand on; references must outlive the routes.
struct OperatorPorts {
  Store& store;
  const Clock& clock;
  IdSource ids;  // thread-safe
  const PolicyInForce& policy;
};

// The routes of the operator socket. Who may connect to the socket (mode 0600) is the operator.
std::vector<HttpRoute> OperatorRoutes(OperatorPorts ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_OPERATOR_H_
