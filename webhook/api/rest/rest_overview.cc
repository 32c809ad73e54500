#include "webhook/api/rest/rest_overview.h"

#include <cstdint>

#include "webhook/api/problem.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

HttpResponse Overview(const OperationPorts& ports, RestCall& call) {
  const Result<void> checked = call.AllowOnly({});
  if (!checked.ok()) return ProblemResponse(checked.error());
  if (auto refusal = ports.rest.Refuse(call, {"ownerships", "", "list", ""})) {
    return *std::move(refusal);
  }
  const Result<void> healthy = ports.store.Health();
  if (!healthy.ok()) return ProblemResponse(healthy.error());
  const StoreCounts counts = ports.store.Counts();
  const auto count = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  JsonWriter json;
  json.BeginObject()
      .NumberField("ownerships", count(counts.owners))
      .Key("byState")
      .BeginObject()
      .NumberField("reserved", count(counts.reserved))
      .NumberField("held", count(counts.held))
      .NumberField("orphaned", count(counts.orphaned))
      .NumberField("imported", count(counts.imported))
      .EndObject()
      .NumberField("conflicts", count(counts.conflicts))
      .EndObject();
  return JsonResponse(json.Take());
}

}  // namespace

std::vector<HttpRoute> OverviewRoutes(const OperationPorts& ports) {
  const auto operation = [ports](RestCall& call) { return Overview(ports, call); };
  return {ports.rest.Authenticated("GET", "/api/v1/overview", RouteMatch::kExact, operation)};
}

}  // namespace truce
