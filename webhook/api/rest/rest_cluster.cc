#include "webhook/api/rest/rest_cluster.h"

#include <utility>

namespace truce {

std::vector<HttpRoute> ClusterReadRoutes(const RestApi& rest, ClusterPorts ports) {
  std::vector<HttpRoute> out;
  for (HttpRoute& route : ClusterRoutes(std::move(ports))) {
    if (route.path != "/api/v1/conflicts") continue;
    const auto operation = [&rest, inner = route.handler](RestCall& call) {
      const Result<void> checked = call.AllowOnly({"limit", "cursor", "output"});
      if (!checked.ok()) return ProblemResponse(checked.error());
      if (auto refusal = rest.Refuse(call, {"ownerships", "", "list", ""})) {
        return *std::move(refusal);
      }
      return inner(call.request);
    };
    out.push_back(rest.Authenticated("GET", route.path, RouteMatch::kExact, operation));
  }
  return out;
}

}  // namespace truce
