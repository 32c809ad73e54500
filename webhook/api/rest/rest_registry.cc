// GET and POST /registry.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "registry/base/result.h"
#include "registry/identity/draft.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "webhook/api/resource_json.h"
#include "webhook/api/rest/key_copy_json.h"
#include "webhook/api/rest/operations.h"
#include "webhook/wire/digest.h"

namespace truce {
namespace {

// A copy that this server's catalogue cannot hold, and why.
struct UnknownCopy {
  std::size_t index = 0;
  std::string type;
  KeyText key;
  std::string why;
};

struct Request {
  CopiesRequest body;                // the copies that can be held
  std::vector<std::size_t> indices;  // where each of them stands in the body
  std::vector<UnknownCopy> unknown;
  KeysOfId ids;
};

// Whether this server's catalogue keeps what `identity` says under `key`. Under which of its names,
// and so in which account, more than the identity tells (registry/ownership/names.h).
bool IsKeyOf(const ResourceIdentity& identity, const KeyText& key, const TypeSpec& spec) {
  ResourceIdentity there = identity;
  const std::string account = AccountIn(key);
  if (!account.empty()) there.account = account;
  if (IsAssignedName(key)) {
    const AssignedId id{.in_partition = account.empty()};
    return key.text.starts_with(AssignedName(there, spec, id).text);
  }
  const std::optional<KeyText> made = KeyAnew(there, spec);
  return made && (*made == key || WithoutAccount(*made) == key);
}

std::string WhyUnknown(const ResourceIdentity& identity, const KeyText& key,
                       const Catalogue& catalogue) {
  const TypeSpec* spec = catalogue.FindType(identity.type);
  if (spec == nullptr) return "there is no type " + identity.type;
  return IsKeyOf(identity, key, *spec) ? "" : "its key is not what its identity makes";
}

std::string WhyUnknown(const KeyCopy& copy, const Catalogue& catalogue) {
  if (copy.owner) {
    std::string why = WhyUnknown(copy.owner->identity, copy.key, catalogue);
    if (!why.empty()) return why;
  }
  for (const Row& row : copy.rows) {
    // What an id makes one with the owner's may be declared by other fields.
    const bool is_known = copy.owner && catalogue.FindType(row.identity.type) != nullptr;
    std::string why = is_known ? "" : WhyUnknown(row.identity, copy.key, catalogue);
    if (!why.empty()) return why;
  }
  return {};
}

const ResourceIdentity& IdentityOf(const KeyCopy& copy) {
  TRUCE_ASSERT(copy.owner || !copy.rows.empty());
  return copy.owner ? copy.owner->identity : copy.rows.front().identity;
}

Result<Request> ReadRegistry(const RestCall& call) {
  Request request;
  TRUCE_ASSIGN_OR_RETURN(request.body, ReadCopies(call.request.body));
  if (const auto fault = FaultOf(request.body.copies)) {
    return InvalidArgument("the copies are not the state of a registry: " + *fault);
  }
  std::vector<KeyCopy> known;
  for (std::size_t i = 0; i < request.body.copies.size(); ++i) {
    KeyCopy& copy = request.body.copies[i];
    std::string why = WhyUnknown(copy, *call.policy->catalogue);
    if (!why.empty()) {
      request.unknown.push_back({i, IdentityOf(copy).type, copy.key, std::move(why)});
      continue;
    }
    known.push_back(std::move(copy));
    request.indices.push_back(i);
  }
  request.body.copies = std::move(known);
  return request;
}

std::string TagOf(const Request& request, const CopyPlan& plan) {
  JsonWriter json;
  json.BeginArray();
  for (std::size_t i = 0; i < plan.lines.size(); ++i) {
    json.Text(Name(plan.lines[i].action)).Text(plan.lines[i].why);
    WriteKeyCopy(request.body.copies[i], json);
  }
  for (const UnknownCopy& each : request.unknown) json.Text(each.key.text);
  json.EndArray();
  return EntityTagOf(json.Take());
}

std::size_t CountOf(const CopyPlan& plan, CopyAction action) {
  return static_cast<std::size_t>(
      std::count_if(plan.lines.begin(), plan.lines.end(),
                    [&](const CopyPlan::Line& line) { return line.action == action; }));
}

HttpResponse PlanResponse(const Request& request, const CopyPlan& plan, bool applied) {
  JsonWriter json;
  json.BeginObject().Field("applied", applied).Key("counts").BeginObject();
  for (const CopyAction action : {CopyAction::kNew, CopyAction::kOwned, CopyAction::kConflicting}) {
    json.NumberField(Name(action), static_cast<std::int64_t>(CountOf(plan, action)));
  }
  json.NumberField("unknown", static_cast<std::int64_t>(request.unknown.size()));
  json.EndObject().Key("items").BeginArray();
  const auto begin = [&](std::size_t index, std::string_view action, const std::string& type) {
    json.BeginObject()
        .NumberField("index", static_cast<std::int64_t>(index))
        .Field("action", action)
        .Field("type", type);
  };
  for (std::size_t i = 0; i < plan.lines.size(); ++i) {
    const KeyCopy& copy = request.body.copies[i];
    begin(request.indices[i], Name(plan.lines[i].action), IdentityOf(copy).type);
    json.Field("name", copy.owner ? copy.owner->name : std::string()).Field("key", copy.key.text);
    if (!plan.lines[i].why.empty()) json.Field("why", plan.lines[i].why);
    json.EndObject();
  }
  for (const UnknownCopy& each : request.unknown) {
    begin(each.index, "unknown", each.type);
    json.Field("key", each.key.text).Field("why", each.why).EndObject();
  }
  json.EndArray().EndObject();
  HttpResponse response = JsonResponse(json.Take());
  response.headers.emplace_back("ETag", TagOf(request, plan));
  return response;
}

HttpResponse Refusal(const char* what, const char* remedy) {
  return ProblemResponse(Problem{ProblemType::kConflict, what, remedy});
}

// One page of an export.
struct Page {
  std::vector<KeyCopy> copies;
  std::vector<std::optional<Owner>> owners;  // with what copies leave out
  KeyText next;
  bool more = false;
};

class Registry final {
 public:
  explicit Registry(OperationPorts ports)
      : ports_(std::move(ports)), queries_(ports_.store), seal_(ports_.rest.cursor_key()) {}

  Result<HttpResponse> Give(RestCall& call) const {
    TRUCE_RETURN_IF_ERROR(
        call.AllowOnly({"type", "service", "namespace", "state", "limit", "cursor"}));
    ResourceQuery query;
    TRUCE_ASSIGN_OR_RETURN(query.filter, ResourceFilterOf(call));
    const std::string ns = query.filter.ns.value_or(std::string());
    if (auto refusal = ports_.rest.Refuse(call, {"ownerships", "", "list", ns})) {
      return *std::move(refusal);
    }
    TRUCE_ASSIGN_OR_RETURN(query.limit, call.Limit());
    const std::string question = QuestionOf(call);
    if (const auto cursor = call.request.Query("cursor")) {
      TRUCE_ASSIGN_OR_RETURN(const auto place, seal_.Open(question, *cursor));
      if (place.size() != 1) return InvalidArgument("the cursor is malformed");
      query.after_key.text = place[0];
    }
    TRUCE_ASSIGN_OR_RETURN(const Page page, PageOf(query, call));
    return PageResponse(page, question);
  }

  Result<HttpResponse> Take(RestCall& call) const {
    TRUCE_RETURN_IF_ERROR(call.AllowOnly({}));
    if (auto refusal = ports_.rest.Refuse(call, {"imports", "registry", "create", ""})) {
      return *std::move(refusal);
    }
    if (auto refusal = ports_.rest.Refuse(call, {"ownerships", "", "list", ""})) {
      return *std::move(refusal);
    }
    TRUCE_ASSIGN_OR_RETURN(Request request, ReadRegistry(call));
    TRUCE_ASSIGN_OR_RETURN(request.ids, IdsOf(request.body.copies, call.deadline));
    if (request.body.apply) return Apply(call, request);
    CopyPlan plan;
    const auto look = [&](const Facts& facts) {
      plan = PlanCopies(request.body.copies, request.ids, facts);
    };
    TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, call.deadline));
    return PlanResponse(request, plan, false);
  }

 private:
  static std::string QuestionOf(const RestCall& call) {
    std::string text = "registry";
    for (const char* name : {"type", "service", "namespace", "state"}) {
      const auto value = call.request.Query(name);
      text.append(value ? "&=" : "&").append(PercentEncode(value.value_or(std::string_view())));
    }
    return text;
  }

  // Without filter all keys, also those that are only observed; else those of the owners that fit.
  Result<Page> PageOf(const ResourceQuery& query, const RestCall& call) const {
    const ResourceFilter& filter = query.filter;
    const bool is_whole =
        filter.type.empty() && filter.service.empty() && filter.state.empty() && !filter.ns;
    Page page;
    std::vector<KeyText> keys;
    if (!is_whole) {
      TRUCE_ASSIGN_OR_RETURN(const ResourcePage found,
                             queries_.List(query, *call.policy->catalogue, call.deadline));
      for (const Owner& owner : found.owners) keys.push_back(owner.key);
      page.more = found.more;
      page.next = found.next_key;
    }
    const auto look = [&](const AllFacts& facts) {
      if (is_whole) keys = facts.KeysAfter(query.after_key, query.limit);
      page.copies.clear();
      page.owners.clear();
      for (const KeyText& key : keys) {
        KeyCopy copy = CopyOf(key, facts);
        if (!copy.owner && copy.rows.empty()) continue;
        page.copies.push_back(std::move(copy));
        page.owners.push_back(facts.OwnerOf(key));
      }
    };
    TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, call.deadline));
    if (is_whole) {
      page.more = keys.size() == query.limit;
      if (!keys.empty()) page.next = keys.back();
    }
    return page;
  }

  HttpResponse PageResponse(const Page& page, const std::string& question) const {
    JsonWriter json;
    json.BeginObject().Key("items").BeginArray();
    for (std::size_t i = 0; i < page.copies.size(); ++i) {
      json.BeginObject().Field("key", page.copies[i].key.text);
      if (page.owners[i]) {
        json.Key("resource").BeginObject();
        WriteResourceMembers(*page.owners[i], json);
        json.EndObject();
      }
      json.Key("keyCopy");
      WriteKeyCopy(page.copies[i], json);
      json.EndObject();
    }
    json.EndArray();
    if (page.more) json.Field("nextCursor", seal_.Seal(question, {page.next.text}));
    json.EndObject();
    return JsonResponse(json.Take());
  }

  Result<KeysOfId> IdsOf(const std::vector<KeyCopy>& copies, Deadline deadline) const {
    KeysOfId ids;
    const auto look = [&](const PeopleFacts& facts) {
      ids.clear();
      for (const KeyCopy& copy : copies) {
        if (copy.owner) ids[copy.owner->id] = facts.KeysWithId(copy.owner->id, 1);
      }
    };
    TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, deadline));
    return ids;
  }

  Result<HttpResponse> Apply(const RestCall& call, const Request& request) const {
    const std::string expected(call.request.Header("if-match"));
    if (expected.empty()) {
      return ProblemResponse(ProblemType::kPreconditionRequired,
                             "an import must say which plan it carries out");
    }
    if (!request.unknown.empty() && !request.body.skip_unknown) {
      return Refusal("the export holds keys that this server cannot tell; nothing was imported",
                     "give it the same types, or skip \"unknown\"");
    }
    enum class Outcome { kDone, kChanged, kConflicting };
    Outcome outcome = Outcome::kDone;
    CopyPlan plan;
    const std::string actor = ActorOf(call.caller);
    DecisionIds decision_ids;
    const auto decide = [&](const Facts& facts) {
      plan = PlanCopies(request.body.copies, request.ids, facts);
      const bool fits = expected == "*" || expected == TagOf(request, plan);
      const bool conflicts =
          !request.body.skip_conflicting && CountOf(plan, CopyAction::kConflicting) > 0;
      outcome = !fits ? Outcome::kChanged : conflicts ? Outcome::kConflicting : Outcome::kDone;
      if (outcome != Outcome::kDone) return Changes{};
      const IdSource ids = decision_ids.Run(ports_.ids);
      Ledger ledger(facts, ports_.clock.Now(), ids, call.policy->parties);
      return TakeCopies(request.body.copies, plan, actor, ledger);
    };
    Locks locks;
    for (const KeyCopy& copy : request.body.copies) {
      locks.keys.push_back(copy.key);
      for (const Object& object : copy.objects) locks.uids.push_back(object.uid);
    }
    TRUCE_RETURN_IF_ERROR(ports_.store.Apply(locks, decide, call.deadline));
    if (outcome == Outcome::kChanged) {
      return ProblemResponse(ProblemType::kPreconditionFailed, "the plan is another one by now");
    }
    if (outcome == Outcome::kConflicting) {
      return Refusal("the registry knows keys of the export otherwise; nothing was imported",
                     "import into an empty registry, or skip \"conflicting\"");
    }
    return PlanResponse(request, plan, true);
  }

  OperationPorts ports_;
  RegistryQueries queries_;
  CursorSeal seal_;
};

}  // namespace

std::vector<HttpRoute> RegistryRoutes(OperationPorts ports) {
  const RestApi& rest = ports.rest;
  const auto shared = std::make_shared<const Registry>(std::move(ports));
  const std::string path = "/api/v1/registry";
  return {
      rest.Authenticated("GET", path, RouteMatch::kExact,
                         [shared](RestCall& call) { return shared->Give(call); }),
      rest.Authenticated("POST", path, RouteMatch::kExact,
                         [shared](RestCall& call) { return shared->Take(call); }),
  };
}

}  // namespace truce
