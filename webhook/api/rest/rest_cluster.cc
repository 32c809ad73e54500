#include "webhook/api/rest/rest_cluster.h"

#include <utility>

namespace truce {

std::vector<HttpRoute> ClusterReadRoutes(const RestApi& rest, ClusterPorts ports) {
  std::vector<HttpRoute> out;
  for (HttpRoute& route : ClusterRoutes(std::move(ports))) {
    const bool is_conflicts = route.path == "/api/v1/conflicts";
    if (!is_conflicts && route.path != "/api/v1/findings") continue;
    const auto operation = [&rest, is_conflicts, inner = route.handler](RestCall& call) {
      const Result<void> checked =
          is_conflicts ? call.AllowOnly({"limit", "cursor", "output"}) : call.AllowOnly({"rule"});
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
