#include "webhook/api/operator.h"

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
#include "webhook/wire/json_reader.h"
#include "webhook/wire/json_text.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

using Json = nlohmann::json;

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

Result<HttpResponse> Confirm(const OperationPorts& ports, RestCall& call) {
  TRUCE_ASSIGN_OR_RETURN(const Reservations wanted,
                         ReadReservations(call.request, call.policy->identity.cluster));
  const std::string& key = wanted.key;
  const std::optional<Slot>& slot = wanted.slot;
  std::size_t confirmed = 0;
  DecisionIds decision_ids;
  const auto decide = [&](const Facts& facts) {
    confirmed = 0;
    const IdSource ids = decision_ids.Run(ports.ids);
    Ledger ledger(facts, ports.clock.Now(), ids, call.policy->parties);
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
  TRUCE_RETURN_IF_ERROR(ports.store.Apply(locks, decide, call.deadline));
  if (confirmed == 0) {
    return ProblemResponse(ProblemType::kNotFound, "no reservation waits there");
  }
  return JsonResponse("{\"confirmed\":" + std::to_string(confirmed) + "}");
}

Result<HttpResponse> ExplainObject(const OperationPorts& ports, RestCall& call) {
  JsonReader reader;
  TRUCE_ASSIGN_OR_RETURN(const Document object, reader.Read(call.request.body));
  Result<void> looked;
  const auto root_of = [&](const Slot& slot) {
    std::optional<Slot> root;
    looked = ports.store.Read(
        [&](const Facts& facts) {
          if (const auto known = facts.ObjectBySlot(slot)) root = known->root;
        },
        call.deadline);
    return root;
  };
  TRUCE_ASSIGN_OR_RETURN(const std::string text,
                         ExplainPolicy(object.root(), *call.policy, ports.clock.Now(), root_of));
  TRUCE_RETURN_IF_ERROR(looked);
  return JsonResponse(JsonWriter().Object("text", text).Take());
}

Result<HttpResponse> TellStore(const OperationPorts& ports, RestCall& /*call*/) {
  return JsonResponse(JsonWriter().Object("inDataDir", !ports.store.is_remote()).Take());
}

}  // namespace

std::vector<HttpRoute> OperatorRoutes(const OperationPorts& ports) {
  const RestApi& rest = ports.rest;
  const auto shared = std::make_shared<const OperationPorts>(ports);
  const auto at = [&](const char* method, const char* path, auto handler) {
    return rest.Routed(
        {method, path, {}, {}, [=](RestCall& call) { return handler(*shared, call); }});
  };
  return {at("POST", "/api/v1/reservations:confirm", &Confirm),
          at("POST", "/api/v1/explain", &ExplainObject), at("GET", "/api/v1/store", &TellStore)};
}

}  // namespace truce
