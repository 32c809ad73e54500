#include "webhook/api/operator.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "registry/base/result.h"
#include "registry/ownership/names.h"
#include "registry/ownership/sight.h"
#include "webhook/api/problem.h"
#include "webhook/api/resource_json.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kOperator = "operator";
constexpr std::chrono::seconds kCommandWithin{10};  // commands wait longer
// A name that fits more resources than this is no name.
constexpr std::size_t kFoundMax = 100;
constexpr std::size_t kKeysAtOnce = 1000;

// A resource that was found, as it is shown.
struct Found {
  KeyText key;
  std::string json;
};

Found FoundOf(const Owner& owner, const std::vector<Row>& rows) {
  JsonWriter json;
  WriteResource(owner, rows, json);
  return {owner.key, json.Take()};
}

// Which resource is meant: by its key, or by type and name.
struct Wanted {
  std::string key;
  std::string type;
  std::string name;
  std::string account;
  std::string region;
};

bool Fits(const Owner& owner, const Wanted& wanted) {
  return owner.identity.type == wanted.type && owner.name == wanted.name &&
         (wanted.account.empty() || owner.identity.account == wanted.account) &&
         (wanted.region.empty() || owner.identity.region == wanted.region);
}

// Every owner that fits; passes over all keys of the type's space.
std::vector<Owner> FindOwners(const Wanted& wanted, std::string_view space, const Facts& facts) {
  if (!wanted.key.empty()) {
    auto owner = OwnerByName({wanted.key}, facts);
    if (!owner) return {};
    return {std::move(*owner)};
  }
  std::vector<Owner> found;
  const std::string prefix = PercentEncode(space) + "|";
  KeyText after{prefix};
  while (true) {
    const std::vector<KeyText> keys = facts.KeysAfter(after, kKeysAtOnce);
    for (const KeyText& key : keys) {
      if (!key.text.starts_with(prefix)) return found;
      auto owner = facts.OwnerOf(key);
      if (owner && Fits(*owner, wanted)) found.push_back(std::move(*owner));
      if (found.size() == kFoundMax) return found;
    }
    if (keys.size() < kKeysAtOnce) return found;
    after = keys.back();
  }
}

// A member that must be a text; empty when it is missing.
Result<std::string> OptionalText(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return std::string();
  if (!found->is_string()) return InvalidArgument("\"" + std::string(name) + "\" is not a text");
  return found->get<std::string>();
}

Result<Json> ReadBody(const HttpRequest& request) {
  constexpr std::size_t kBodyBytesMax = 64 * 1024;
  if (request.body.size() > kBodyBytesMax) return InvalidArgument("the body is larger than 64 KiB");
  Json json = ParseJson(request.body);
  if (json.is_discarded() || !json.is_object())
    return InvalidArgument("the body is not a JSON object");
  return json;
}

Result<Wanted> ReadWanted(const Json& json) {
  Wanted out;
  TRUCE_ASSIGN_OR_RETURN(out.key, OptionalText(json, "key"));
  TRUCE_ASSIGN_OR_RETURN(out.type, OptionalText(json, "type"));
  TRUCE_ASSIGN_OR_RETURN(out.name, OptionalText(json, "name"));
  TRUCE_ASSIGN_OR_RETURN(out.account, OptionalText(json, "account"));
  TRUCE_ASSIGN_OR_RETURN(out.region, OptionalText(json, "region"));
  return out;
}

class Operator final {
 public:
  explicit Operator(OperatorPorts ports) : ports_(std::move(ports)) {}

  HttpResponse Confirm(const HttpRequest& request) const {
    Result<Json> json = ReadBody(request);
    if (!json.ok()) return ProblemResponse(json.error());
    Result<std::string> key = OptionalText(json.value(), "key");
    if (!key.ok()) return ProblemResponse(key.error());
    std::optional<Slot> slot;
    if (key.value().empty()) {
      Result<Slot> read = ReadSlot(json.value());
      if (!read.ok()) return ProblemResponse(read.error());
      slot = std::move(read).value();
    }
    const auto policy = ports_.policy();
    std::size_t confirmed = 0;
    const auto decide = [&](const Facts& facts) {
      confirmed = 0;
      Ledger ledger(facts, ports_.clock.Now(), ports_.ids, policy->parties);
      std::set<Slot> slots;
      if (slot) slots.insert(*slot);
      if (!slot) {
        for (const Row& row : ledger.RowsOfKey({key.value()})) {
          if (row.id.state == RowState::kReserved) slots.insert(row.slot);
        }
      }
      for (const Slot& each : slots) {
        confirmed += ConfirmByOperator(each, std::string(kOperator), ledger);
      }
      return ledger.Take();
    };
    const auto done = ports_.store.Apply(LocksFor(key.value(), slot), decide, ByWhen());
    if (!done.ok()) return ProblemResponse(done.error());
    if (confirmed == 0) {
      return ProblemResponse(ProblemType::kNotFound, "no reservation waits there");
    }
    return JsonResponse("{\"confirmed\":" + std::to_string(confirmed) + "}");
  }

  HttpResponse Release(const HttpRequest& request) const {
    Result<Json> json = ReadBody(request);
    if (!json.ok()) return ProblemResponse(json.error());
    Result<Wanted> wanted = ReadWanted(json.value());
    if (!wanted.ok()) return ProblemResponse(wanted.error());
    Result<std::string> reason = OptionalText(json.value(), "reason");
    if (!reason.ok()) return ProblemResponse(reason.error());
    if (reason.value().empty()) return ProblemResponse(InvalidArgument("\"reason\" is missing"));
    Result<std::vector<Found>> found = Find(wanted.value());
    if (!found.ok()) return ProblemResponse(found.error());
    if (found.value().size() > 1) return Ambiguous(found.value());
    return ReleaseKey(found.value().front().key, reason.value());
  }

  HttpResponse Lookup(const HttpRequest& request) const {
    const auto query = [&](std::string_view name) {
      return std::string(request.Query(name).value_or(std::string_view()));
    };
    const Wanted wanted{query("key"), query("type"), query("name"), query("account"),
                        query("region")};
    Result<std::vector<Found>> found = Find(wanted);
    if (!found.ok()) return ProblemResponse(found.error());
    JsonWriter json;
    json.BeginObject().Key("resources").BeginArray();
    for (const Found& resource : found.value()) json.Raw(resource.json);
    json.EndArray().EndObject();
    return JsonResponse(json.Take());
  }

 private:
  HttpResponse ReleaseKey(const KeyText& key, const std::string& reason) const {
    const auto policy = ports_.policy();
    std::optional<std::string> released;
    const auto decide = [&](const Facts& facts) {
      released.reset();
      Ledger ledger(facts, ports_.clock.Now(), ports_.ids, policy->parties);
      const auto owner = ledger.OwnerOf(key);
      if (!owner) return Changes{};
      std::string before = FoundOf(*owner, ledger.RowsOfKey(key)).json;
      const bool done = ReleaseByOperator(key, std::string(kOperator), reason, ledger);
      if (!done) return Changes{};
      released = std::move(before);
      return ledger.Take();
    };
    const auto done = ports_.store.Apply(LocksFor(key.text, std::nullopt), decide, ByWhen());
    if (!done.ok()) return ProblemResponse(done.error());
    if (!released) return ProblemResponse(ProblemType::kNotFound, "it was released meanwhile");
    return JsonResponse("{\"released\":" + *released + "}");
  }

  static HttpResponse Ambiguous(const std::vector<Found>& found) {
    Problem problem{ProblemType::kAmbiguous, "name the account and region, or the key", {}, {}};
    for (const Found& resource : found) problem.keys.push_back(resource.key);
    return ProblemResponse(problem);
  }

  // Errors: kInvalidArgument (neither key nor type and name; unknown type); kNotFound; the store's.
  Result<std::vector<Found>> Find(const Wanted& wanted) const {
    std::string_view space;
    const auto policy = ports_.policy();
    if (wanted.key.empty()) {
      if (wanted.type.empty() || wanted.name.empty())
        return InvalidArgument("name a key, or type and name");
      const TypeSpec* type = policy->identity.catalogue->FindType(wanted.type);
      if (type == nullptr)
        return InvalidArgument("there is no type \"" + wanted.type + "\"; see truce types");
      space = type->space;
    }
    std::vector<Found> found;
    const auto look = [&](const Facts& facts) {
      found.clear();
      for (const Owner& owner : FindOwners(wanted, space, facts)) {
        found.push_back(FoundOf(owner, facts.RowsOfKey(owner.key)));
      }
    };
    TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, ByWhen()));
    if (found.empty()) return Error{ErrorCode::kNotFound, "nobody owns it"};
    return found;
  }

  Result<Slot> ReadSlot(const Json& json) const {
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
    if (slot.cluster.empty()) slot.cluster = ports_.policy()->identity.cluster;
    return slot;
  }

  static Locks LocksFor(const std::string& key, const std::optional<Slot>& slot) {
    Locks locks;
    if (!key.empty()) locks.keys.push_back({key});
    if (slot) locks.slots.push_back(*slot);
    return locks;
  }

  static Deadline ByWhen() { return std::chrono::steady_clock::now() + kCommandWithin; }

  OperatorPorts ports_;
};

}  // namespace

std::vector<HttpRoute> OperatorRoutes(OperatorPorts ports) {
  const auto shared = std::make_shared<const Operator>(std::move(ports));
  const std::string json = "application/json";
  return {
      {"POST", "/api/v1/confirm", RouteMatch::kExact, json,
       [shared](HttpRequest& request) { return shared->Confirm(request); }},
      {"POST", "/api/v1/release", RouteMatch::kExact, json,
       [shared](HttpRequest& request) { return shared->Release(request); }},
      {"GET", "/api/v1/resources/lookup", RouteMatch::kExact, "",
       [shared](HttpRequest& request) { return shared->Lookup(request); }},
  };
}

}  // namespace truce
