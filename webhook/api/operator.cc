#include "webhook/api/operator.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "policies/explain_policy.h"
#include "registry/base/result.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/sight.h"
#include "webhook/api/problem.h"
#include "webhook/api/rest/call.h"
#include "webhook/wire/json_reader.h"
#include "webhook/wire/json_text.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

using Json = nlohmann::json;

Deadline InTime() {
  constexpr std::chrono::seconds kCommandWithin{10};
  return std::chrono::steady_clock::now() + kCommandWithin;
}

// A member that must be a text; empty when it is missing.
Result<std::string> OptionalText(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return std::string();
  if (!found->is_string()) return InvalidArgument("\"" + std::string(name) + "\" is not a text");
  return found->get<std::string>();
}

// Which reservations are meant: those of an object, or of what a name names.
struct Reservations {
  std::string key;
  std::optional<Slot> slot;
};

Result<Reservations> ReadReservations(const HttpRequest& request, const std::string& cluster) {
  Reservations out;
  TRUCE_ASSIGN_OR_RETURN(const Json json, ReadBody(request));
  TRUCE_ASSIGN_OR_RETURN(out.key, OptionalText(json, "key"));
  if (!out.key.empty()) return out;
  const auto object = json.find("object");
  if (object == json.end() || !object->is_object())
    return InvalidArgument("name an \"object\" or a \"key\"");
  Slot slot;
  TRUCE_ASSIGN_OR_RETURN(slot.cluster, OptionalText(*object, "cluster"));
  TRUCE_ASSIGN_OR_RETURN(slot.group, OptionalText(*object, "group"));
  TRUCE_ASSIGN_OR_RETURN(slot.kind, OptionalText(*object, "kind"));
  TRUCE_ASSIGN_OR_RETURN(slot.ns, OptionalText(*object, "namespace"));
  TRUCE_ASSIGN_OR_RETURN(slot.name, OptionalText(*object, "name"));
  if (slot.kind.empty() || slot.name.empty())
    return InvalidArgument("\"object\" lacks kind or name");
  if (slot.cluster.empty()) slot.cluster = cluster;
  out.slot = std::move(slot);
  return out;
}

Result<HttpResponse> Confirm(const OperatorPorts& ports, const HttpRequest& request) {
  const auto policy = ports.policy.policy();
  TRUCE_ASSIGN_OR_RETURN(const Reservations wanted,
                         ReadReservations(request, policy->identity.cluster));
  const std::string& key = wanted.key;
  const std::optional<Slot>& slot = wanted.slot;
  std::size_t confirmed = 0;
  DecisionIds decision_ids;
  const auto decide = [&](const Facts& facts) {
    confirmed = 0;
    const IdSource ids = decision_ids.Run(ports.ids);
    Ledger ledger(facts, ports.clock.Now(), ids, policy->parties);
    std::set<Slot> slots;
    if (slot) slots.insert(*slot);
    if (!slot) {
      const auto named = ledger.Named({key});
      for (const Row& row : named ? ledger.RowsOf(named->resource) : std::vector<Row>()) {
        if (row.id.state == RowState::kReserved) slots.insert(row.slot);
      }
    }
    for (const Slot& each : slots) confirmed += ConfirmByOperator(each, "operator", ledger);
    return ledger.Take();
  };
  Locks locks;
  if (slot) {
    locks.slots.push_back(*slot);
  } else {
    locks.names.push_back({key});
  }
  TRUCE_RETURN_IF_ERROR(ports.store.Apply(locks, decide, InTime()));
  if (confirmed == 0) {
    return ProblemResponse(ProblemType::kNotFound, "no reservation waits there");
  }
  return JsonResponse("{\"confirmed\":" + std::to_string(confirmed) + "}");
}

Result<HttpResponse> ExplainObject(const OperatorPorts& ports, const HttpRequest& request) {
  JsonReader reader;
  TRUCE_ASSIGN_OR_RETURN(const Document object, reader.Read(request.body));
  const Deadline deadline = InTime();
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
  TRUCE_ASSIGN_OR_RETURN(
      const std::string text,
      ExplainPolicy(object.root(), *ports.policy.policy(), ports.clock.Now(), root_of));
  TRUCE_RETURN_IF_ERROR(looked);
  JsonWriter json;
  json.BeginObject().Field("text", text);
  return JsonResponse(json.EndObject().Take());
}

}  // namespace

std::vector<HttpRoute> OperatorRoutes(OperatorPorts ports) {
  const auto shared = std::make_shared<const OperatorPorts>(std::move(ports));
  const auto post = [&](const char* path,
                        Result<HttpResponse> (*handler)(const OperatorPorts&, const HttpRequest&)) {
    return HttpRoute{"POST", path, RouteMatch::kExact, "application/json",
                     [=](HttpRequest& request) { return AnswerOf(handler(*shared, request)); }};
  };
  return {post("/api/v1/reservations:confirm", &Confirm), post("/api/v1/explain", &ExplainObject),
          HttpRoute{"GET", "/api/v1/store", RouteMatch::kExact, "", [shared](HttpRequest&) {
                      JsonWriter json;
                      const bool is_file = !shared->store.is_remote();
                      json.BeginObject().Field("inDataDir", is_file).EndObject();
                      return JsonResponse(json.Take());
                    }}};
}

}  // namespace truce
