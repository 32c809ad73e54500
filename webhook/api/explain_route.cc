#include "webhook/api/explain_route.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "policies/explain_policy.h"
#include "webhook/api/problem.h"
#include "webhook/wire/json_reader.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kStoreTime{5};

HttpResponse Explained(const ExplainPorts& ports, const HttpRequest& request) {
  JsonReader reader;
  const Result<Document> object = reader.Read(request.body);
  if (!object.ok()) return ProblemResponse(object.error());
  const Deadline deadline = std::chrono::steady_clock::now() + kStoreTime;
  Result<void> looked;
  const auto root_of = [&](const Slot& slot) {
    std::optional<Slot> root;
    looked = ports.store.Read(
        [&](const Facts& facts) {
          if (const auto known = facts.ObjectBySlot(slot)) root = known->root;
        },
        deadline);
    return root;
  };
  const Result<std::string> text =
      ExplainPolicy(object.value().root(), *ports.policy(), ports.clock.Now(), root_of);
  if (!text.ok()) return ProblemResponse(text.error());
  if (!looked.ok()) return ProblemResponse(looked.error());
  JsonWriter json;
  json.BeginObject().Field("text", text.value());
  return JsonResponse(json.EndObject().Take());
}

}  // namespace

HttpRoute ExplainRoute(ExplainPorts ports) {
  return {"POST", "/api/v1/explain", RouteMatch::kExact, "application/json",
          [ports = std::move(ports)](HttpRequest& request) { return Explained(ports, request); }};
}

}  // namespace truce
