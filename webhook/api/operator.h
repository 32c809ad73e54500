// What an operator's commands ask the server over its own socket (design section 6): JSON over
// HTTP.
//
//   POST /api/v1/confirm   {"object": {"group", "kind", "namespace", "name"[, "cluster"]}}
//                          or {"key"}
//                          → 200 {"confirmed": 1}             reservations that now count as seen
//   POST /api/v1/release   {"key" or "type" + "name"[, "account", "region"], "reason"}
//                          → 200 {"released": {resource as below, as it was}}
//   GET  /api/v1/resources/lookup?key=…  or  ?type=s3/Bucket&name=prod-artifacts
//                          → 200 {"resources": [resource, …]} never empty
//
//   resource: as in resource_json.h, with its declarations
//
// Errors are problems (problem.h): 400 malformed, 404 no such resource or reservation, 409 the name
// fits several resources ("keys": [...]; name the key), 503 the store cannot be read or written.
#ifndef TRUCE_WEBHOOK_API_OPERATOR_H_
#define TRUCE_WEBHOOK_API_OPERATOR_H_

#include <functional>
#include <memory>
#include <vector>

#include "policies/policy.h"
#include "registry/base/clock.h"
#include "registry/ownership/ledger.h"
#include "registry/store/store.h"
#include "webhook/http/http.h"

namespace truce {

// What the handlers stand on; references must outlive the routes.
struct OperatorPorts {
  Store& store;
  const Clock& clock;
  IdSource ids;  // thread-safe
  std::function<std::shared_ptr<const AdmissionPolicy>()>
      policy;  // the snapshot in force; thread-safe
};

// The routes of the operator socket. Who may connect to the socket (mode 0600) is the operator.
std::vector<HttpRoute> OperatorRoutes(OperatorPorts ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_OPERATOR_H_
