// Which rules apply to an object, for the operator socket: by the policy in force, with what
// NamingPolicies and timed overrides say, and with the owner that the registry knows.
//
//   POST /api/v1/explain  a whole Kubernetes object as JSON
//     → 200 {"text"}   400: it is none   503: the registry does not answer
#ifndef TRUCE_WEBHOOK_API_EXPLAIN_ROUTE_H_
#define TRUCE_WEBHOOK_API_EXPLAIN_ROUTE_H_

#include <functional>
#include <memory>

#include "policies/policy.h"
#include "registry/base/clock.h"
#include "registry/store/store.h"
#include "webhook/http/http.h"

namespace truce {

// References must outlive the route; `policy` is the snapshot in force, thread-safe.
struct ExplainPorts {
  const Store& store;
  const Clock& clock;
  std::function<std::shared_ptr<const AdmissionPolicy>()> policy;
};

HttpRoute ExplainRoute(ExplainPorts ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_EXPLAIN_ROUTE_H_
