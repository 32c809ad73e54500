// Resources that are owned outside the cluster: GET and POST /api/v1/imports; names that are
// reserved for them: POST /api/v1/reservations. Needs `imports` with the verb list or create, and
// list on ownerships, in all namespaces.
//
// GET and POST /imports, POST /reservations.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "policies/people.h"
#include "policies/policy.h"
#include "policies/quotas.h"
#include "policies/rule_case.h"
#include "policies/rules.h"
#include "policies/sharing_rules.h"
#include "registry/base/one_line.h"
#include "registry/base/result.h"
#include "registry/base/text.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/lists/import.h"
#include "registry/ownership/names.h"
#include "registry/ownership/review.h"
#include "webhook/api/rest/operations.h"
#include "webhook/wire/digest.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kResourcesAtOnce = 10'000;
constexpr std::size_t kImportTextBytesMax = 1024;
constexpr std::size_t kSourceBytesMax = 128;

// A resource of the body that makes no key, and why.
struct UnknownImport {
  std::size_t index = 0;
  std::string type;
  std::string address;
  std::string why;
};

struct ImportRequest {
  ImportList list;
  std::vector<std::size_t> indices;  // where each resource of `list` stands in the body
  std::vector<UnknownImport> unknown;
  bool apply = false;
  bool skip_conflicting = false;
  bool skip_unknown = false;
};

// A text member; empty when it is missing. Errors: kInvalidArgument.
Result<std::string> LineOf(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) return std::string();
  const bool is_line =
      found->is_string() && (found->get_ref<const std::string&>().empty() ||
                             IsLine(found->get_ref<const std::string&>(), kImportTextBytesMax));
  if (!is_line) return InvalidArgument("\"" + std::string(name) + "\" is not a line of text");
  return found->get<std::string>();
}

Result<bool> Flag(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) return false;
  if (!found->is_boolean())
    return InvalidArgument("\"" + std::string(name) + "\" is neither true nor false");
  return found->get<bool>();
}

Result<void> OnlyMembers(const Json& json, std::initializer_list<std::string_view> allowed,
                         const std::string& place) {
  for (const auto& [name, value] : json.items()) {
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
      return InvalidArgument(place + " has an unknown member; /openapi.yaml lists what it takes");
    }
  }
  return {};
}

bool IsSource(std::string_view text) {
  return !text.empty() && text.size() <= kSourceBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return IsAlnum(c) || c == '-' || c == '_' || c == '.' || c == ':';
         });
}

// The parts that the entry gives.
Result<PartValues> PartsOf(const Json& json) {
  PartValues values;
  const auto parts = json.find("parts");
  if (parts == json.end()) return values;
  if (!parts->is_object()) return InvalidArgument("\"parts\" is not an object");
  for (const auto& [name, value] : parts->items()) {
    // As Terraform writes what is not set: the part's default stands.
    if (value == "") continue;
    if (!value.is_string() || !IsLine(value.get_ref<const std::string&>(), kImportTextBytesMax)) {
      return InvalidArgument("\"parts\" holds something that is not a line of text");
    }
    values.emplace(name, value.get<std::string>());
  }
  return values;
}

// The resource that the values name, or why they name none.
std::string Declare(const TypeSpec& spec, const PartValues& values, const Catalogue& catalogue,
                    DeclaredResource& resource) {
  MappedFacts facts = ReadConstants(spec, values, Intent::kDeletes, catalogue);
  if (!facts.bad_names.empty()) {
    return facts.bad_names.front().part + " " + facts.bad_names.front().reason;
  }
  if (facts.resources.empty()) return "it names nothing";
  resource = std::move(facts.resources.front());
  if (!resource.key().empty()) return {};
  return resource.missing.empty() ? "AWS lets its name repeat" : resource.missing.front();
}

// Where an entry stands, for messages.
std::string PlaceOf(const Json& json, std::size_t index) {
  std::string place = "resources[" + std::to_string(index) + "]";
  const std::string address = json.is_object() ? TextIn(json, "address") : std::string();
  if (!address.empty()) place.append(" (").append(OneLine(address, kShownTextBytesMax)).append(")");
  return place;
}

Result<void> ReadResource(const Json& json, std::size_t index, const Catalogue& catalogue,
                          ImportRequest& request) {
  if (!json.is_object()) return InvalidArgument("it is not an object");
  TRUCE_RETURN_IF_ERROR(OnlyMembers(json,
                                    {"type", "name", "parts", "region", "account", "arn", "service",
                                     "contact", "address", "problem"},
                                    "it"));
  ImportedResource item;
  TRUCE_ASSIGN_OR_RETURN(const std::string type, LineOf(json, "type"));
  TRUCE_ASSIGN_OR_RETURN(PartValues values, PartsOf(json));
  TRUCE_ASSIGN_OR_RETURN(const std::string name, LineOf(json, "name"));
  const TypeSpec* spec = catalogue.FindType(type);
  if (values.empty() && spec != nullptr && !spec->parts.empty()) {
    values[spec->parts.front().name] = name;
  }
  for (const char* place : {"region", "account"}) {
    TRUCE_ASSIGN_OR_RETURN(values[place], LineOf(json, place));
  }
  TRUCE_ASSIGN_OR_RETURN(const std::string arn, LineOf(json, "arn"));
  TRUCE_ASSIGN_OR_RETURN(item.service, LineOf(json, "service"));
  TRUCE_ASSIGN_OR_RETURN(item.contact, LineOf(json, "contact"));
  TRUCE_ASSIGN_OR_RETURN(item.address, LineOf(json, "address"));
  TRUCE_ASSIGN_OR_RETURN(std::string why, LineOf(json, "problem"));
  if (why.empty() && spec == nullptr)
    why = type.empty() ? "it has no type" : "there is no such type";
  if (why.empty()) why = Declare(*spec, values, catalogue, item.resource);
  if (!why.empty()) {
    request.unknown.push_back({index, type, item.address.empty() ? name : item.address, why});
    return {};
  }
  if (arn.starts_with("arn:")) item.resource.arn = arn;
  request.list.resources.push_back(std::move(item));
  request.indices.push_back(index);
  return {};
}

Result<void> ReadSkip(const Json& body, ImportRequest& request) {
  const auto skip = body.find("skip");
  if (skip == body.end()) return {};
  if (!skip->is_array()) return InvalidArgument("\"skip\" is not a list");
  for (const Json& each : *skip) {
    if (each == "conflicting") {
      request.skip_conflicting = true;
    } else if (each == "unknown") {
      request.skip_unknown = true;
    } else {
      return InvalidArgument("\"skip\" takes \"conflicting\" and \"unknown\"");
    }
  }
  return {};
}

Result<std::string> ReadSource(const Json& body) {
  TRUCE_ASSIGN_OR_RETURN(std::string source, LineOf(body, "source"));
  if (!IsSource(source)) {
    return InvalidArgument("\"source\" is not 1 to 128 of letters, digits, '-', '_', '.', ':'");
  }
  return source;
}

Result<ImportRequest> ReadImport(const HttpRequest& http, const Catalogue& catalogue) {
  if (NestsTooDeep(http.body)) return InvalidArgument(TooDeepText());
  const Json body = ParseJson(http.body);
  if (!body.is_object()) return InvalidArgument("the body is not a JSON object");
  TRUCE_RETURN_IF_ERROR(
      OnlyMembers(body, {"source", "resources", "retire", "apply", "skip"}, "the body"));
  ImportRequest request;
  TRUCE_ASSIGN_OR_RETURN(request.list.source, ReadSource(body));
  TRUCE_ASSIGN_OR_RETURN(request.list.retire, Flag(body, "retire"));
  TRUCE_ASSIGN_OR_RETURN(request.apply, Flag(body, "apply"));
  TRUCE_RETURN_IF_ERROR(ReadSkip(body, request));
  const auto resources = body.find("resources");
  if (resources == body.end() || !resources->is_array()) {
    return InvalidArgument("\"resources\" is missing or no list");
  }
  if (resources->size() > kResourcesAtOnce) {
    return InvalidArgument(
        "more than 10,000 resources; give each part of the list a source of its own");
  }
  for (std::size_t i = 0; i < resources->size(); ++i) {
    const Json& each = (*resources)[i];
    Result<void> read = ReadResource(each, i, catalogue, request);
    if (!read.ok()) return std::move(read).error().Within(PlaceOf(each, i));
  }
  return request;
}

// A reservation of one name: a list of it alone, or its end.
struct ReserveRequest {
  ImportList list;
  std::chrono::minutes minutes{};  // how long
  bool release = false;
};

Result<void> ReadMinutes(const Json& body, ReserveRequest& request) {
  const auto minutes = body.find("minutes");
  if (request.release) {
    if (minutes != body.end())
      return InvalidArgument("\"minutes\" and \"release\" exclude each other");
    return {};
  }
  const bool fits = minutes != body.end() && minutes->is_number_integer() &&
                    *minutes >= kReservedMin.count() && *minutes <= kReservedMax.count();
  if (!fits) {
    return InvalidArgument("\"minutes\" is not a number from " +
                           std::to_string(kReservedMin.count()) + " to " +
                           std::to_string(kReservedMax.count()) + " (24 hours)");
  }
  request.minutes = std::chrono::minutes(minutes->get<std::int64_t>());
  return {};
}

Result<ReserveRequest> ReadReserve(const HttpRequest& http, const Catalogue& catalogue) {
  TRUCE_ASSIGN_OR_RETURN(Json body, ReadBody(http));
  ReserveRequest request;
  TRUCE_ASSIGN_OR_RETURN(request.list.source, ReadSource(body));
  TRUCE_ASSIGN_OR_RETURN(request.release, Flag(body, "release"));
  TRUCE_RETURN_IF_ERROR(ReadMinutes(body, request));
  for (const char* own : {"source", "release", "minutes"}) body.erase(own);
  ImportRequest one;
  TRUCE_RETURN_IF_ERROR(ReadResource(body, 0, catalogue, one));
  if (!one.unknown.empty()) {
    const UnknownImport& unknown = one.unknown.front();
    return InvalidArgument(unknown.type.empty() ? unknown.why
                                                : InQuotes(unknown.type) + ": " + unknown.why);
  }
  request.list.resources = std::move(one.list.resources);
  return request;
}

// Changes with everything that the plan would do.
std::string TagOf(const ImportRequest& request, const ImportPlan& plan) {
  std::string text = request.list.source;
  for (std::size_t i = 0; i < plan.lines.size(); ++i) {
    const ImportedResource& item = request.list.resources[i];
    text.append("\n").append(Name(plan.lines[i].action)).append(" ");
    text.append(item.resource.key().text).append(" ").append(item.resource.arn).append(" ");
    text.append(PercentEncode(item.service)).append(" ").append(PercentEncode(item.contact));
    text.append(" ").append(PercentEncode(item.address));
    if (plan.lines[i].holder) text.append(" ").append(plan.lines[i].holder->id.text);
  }
  for (const Owner& owner : plan.retired) text.append("\nretire ").append(owner.key.text);
  for (const Owner& owner : plan.kept) text.append("\nkeep ").append(owner.key.text);
  for (const Owner& owner : plan.unclaimed) text.append("\nlet go ").append(owner.key.text);
  for (const UnknownImport& each : request.unknown)
    text.append("\n?").append(std::to_string(each.index));
  return EntityTagOf(text);
}

std::size_t CountOf(const ImportPlan& plan, ImportAction action) {
  return static_cast<std::size_t>(
      std::count_if(plan.lines.begin(), plan.lines.end(),
                    [&](const ImportPlan::Line& line) { return line.action == action; }));
}

void WriteLine(const ImportPlan::Line& line, const ImportedResource& item, std::size_t index,
               JsonWriter& json) {
  json.BeginObject().Fields("index", index, "action", Name(line.action), "address", item.address,
                            "type", item.resource.identity.type, "name", item.resource.name, "key",
                            item.resource.key().text);
  if (line.action == ImportAction::kConflicting && line.holder) {
    const std::string_view source = SourceOf(*line.holder);
    json.Fields("owner", source.empty() ? ForPeople(line.holder->root) : std::string(source),
                "service", line.holder->service);
  }
  json.EndObject();
}

HttpResponse PlanResponse(const ImportRequest& request, const ImportPlan& plan, bool applied) {
  JsonWriter json;
  json.BeginObject().Field("source", request.list.source).Field("applied", applied);
  json.Key("counts").BeginObject();
  for (const ImportAction action : {ImportAction::kNew, ImportAction::kOwned,
                                    ImportAction::kChanged, ImportAction::kConflicting}) {
    json.NumberField(Name(action), CountOf(plan, action));
  }
  json.NumberField("unknown", request.unknown.size())
      .NumberField("retired", plan.retired.size() + plan.unclaimed.size());
  json.EndObject().Key("items").BeginArray();
  for (std::size_t i = 0; i < plan.lines.size(); ++i) {
    WriteLine(plan.lines[i], request.list.resources[i], request.indices[i], json);
  }
  for (const UnknownImport& each : request.unknown) {
    json.Object("index", each.index, "action", "unknown", "address", each.address, "type",
                each.type, "why", each.why);
  }
  const auto write = [&](const Owner& owner, std::string_view action, std::string_view why) {
    json.BeginObject()
        .Fields("action", action, "type", owner.identity.type, "name", owner.name, "key",
                owner.key.text)
        .Given("why", why)
        .EndObject();
  };
  for (const auto* owners : {&plan.retired, &plan.unclaimed}) {
    for (const Owner& owner : *owners) write(owner, "retired", "");
  }
  for (const Owner& owner : plan.kept) {
    write(owner, "kept", "no longer in the list, but protected: truce protect --off lifts that");
  }
  json.EndArray().EndObject();
  return JsonResponse(json.Take(), TagOf(request, plan));
}

// The answer to a source that reserves a name, or lets go of one.
struct ReserveAnswer {
  std::string_view action;     // "reserved", "renewed", "owned", "released" or "free"
  std::optional<Owner> owner;  // none: "free"
  std::vector<std::string> warnings = {};
  std::optional<Problem> refused = {};
};

// The refusal that a declaration of the same name would get, for a source.
Problem TakenProblem(const ImportList& list, const Owner& holder, const RuleCase& rules) {
  Clash clash;
  clash.reason = holder.record == Record::kNone       ? ClashReason::kOwned
                 : holder.record == Record::kImported ? ClashReason::kImported
                                                      : ClashReason::kOrphaned;
  clash.resource = list.resources.front().resource;
  clash.holder = holder;
  clash.unseen = holder.record == Record::kNone && holder.state == HolderState::kReserved;
  Wording wording = WordingOf(rules);
  wording.disclosure = Disclosure::kFull;  // the caller may list all ownerships
  const Finding finding = DuplicateOwnership(clash, wording);
  return {ProblemType::kConflict, finding.cause, finding.remedy};
}

// A response when `call` may not do `verb` with what sources own, else nothing.
std::optional<HttpResponse> RefuseImports(const RestApi& rest, const RestCall& call,
                                          std::string_view verb) {
  if (auto refusal = rest.Refuse(call, {"imports", "", verb, ""})) return refusal;
  return rest.Refuse(call, {"ownerships", "", "list", ""});
}

class Imports final {
 public:
  explicit Imports(OperationPorts ports) : ports_(std::move(ports)) {}

  Result<HttpResponse> List(RestCall& call) const {
    if (auto refusal = RefuseImports(ports_.rest, call, "list")) return *std::move(refusal);
    std::map<std::string, std::int64_t, std::less<>> sources;
    KeyText after;
    bool is_last = false;
    while (!is_last) {
      constexpr std::size_t kImportedPage = 1000;
      TRUCE_ASSIGN_OR_RETURN(const auto page,
                             ReadFrom(ports_.store, call.deadline, [&](const Facts& facts) {
                               return facts.OwnersIn(OwnerList::kImported, after, kImportedPage);
                             }));
      for (const Owner& owner : page) ++sources[std::string(SourceOf(owner))];
      is_last = page.size() < kImportedPage;
      if (!page.empty()) after = page.back().key;
    }
    return ListResponse(sources, [](const auto& of_source, JsonWriter& json) {
      json.Object("source", of_source.first, "resources", of_source.second);
    });
  }

  Result<HttpResponse> Take(RestCall& call) const {
    if (auto refusal = RefuseImports(ports_.rest, call, "create")) return *std::move(refusal);
    TRUCE_ASSIGN_OR_RETURN(const ImportRequest request,
                           ReadImport(call.request, *call.policy->catalogue));
    TRUCE_ASSIGN_OR_RETURN(const ImportPlan plan,
                           ReadFrom(ports_.store, call.deadline, [&](const AllFacts& facts) {
                             return PlanImport(request.list, facts);
                           }));
    if (!request.apply) return PlanResponse(request, plan, false);
    return Apply(call, request, plan);
  }

 private:
  Result<HttpResponse> Apply(const RestCall& call, const ImportRequest& request,
                             const ImportPlan& planned) const {
    const std::string expected(call.request.Header("if-match"));
    if (expected.empty()) {
      return ProblemResponse(ProblemType::kPreconditionRequired,
                             "an import must say which plan it carries out");
    }
    enum class Outcome { kDone, kChanged, kConflicting };
    Outcome outcome = Outcome::kDone;
    ImportPlan plan;
    const std::string actor = ActorOf(call.caller);
    DecisionIds decision_ids;
    const auto decide = [&](const AllFacts& facts) {
      plan = PlanImport(request.list, facts);
      const bool fits = expected == "*" || expected == TagOf(request, plan);
      const bool conflicts =
          !request.skip_conflicting && CountOf(plan, ImportAction::kConflicting) > 0;
      outcome = !fits ? Outcome::kChanged : conflicts ? Outcome::kConflicting : Outcome::kDone;
      if (outcome != Outcome::kDone) return Changes{};
      const IdSource ids = decision_ids.Run(ports_.ids);
      Ledger ledger(facts, ports_.clock.Now(), ids, call.policy->parties);
      ApplyImport(request.list, plan, actor, ledger);
      return ledger.Take();
    };
    if (!request.unknown.empty() && !request.skip_unknown) {
      return ProblemResponse(Problem{ProblemType::kConflict,
                                     "the list holds resources that cannot be told; nothing was "
                                     "imported",
                                     "leave them out, or skip \"unknown\""});
    }
    Locks locks;
    for (const ImportedResource& item : request.list.resources) {
      locks.names.push_back(item.resource.key());
    }
    for (const Owner& owner : planned.retired) locks.resources.push_back(owner.id);
    TRUCE_RETURN_IF_ERROR(ports_.store.Apply(locks, decide, call.deadline));
    if (outcome == Outcome::kChanged) {
      return ProblemResponse(ProblemType::kPreconditionFailed, "the plan is another one by now");
    }
    if (outcome == Outcome::kConflicting) {
      return ProblemResponse(Problem{ProblemType::kConflict,
                                     "others own resources of the list; nothing was imported",
                                     "settle who owns them, or skip \"conflicting\""});
    }
    return PlanResponse(request, plan, true);
  }

  OperationPorts ports_;
};

class Reservations final {
 public:
  explicit Reservations(OperationPorts ports) : ports_(std::move(ports)) {}

  Result<HttpResponse> Take(RestCall& call) const {
    if (auto refusal = RefuseImports(ports_.rest, call, "create")) return *std::move(refusal);
    TRUCE_ASSIGN_OR_RETURN(const ReserveRequest request,
                           ReadReserve(call.request, *call.policy->catalogue));
    const DeclaredResource& resource = request.list.resources.front().resource;
    ObjectFacts object;
    object.slot = ImportRoot(request.list.source);
    object.resources.push_back(resource);
    const RuleCase rules{.policy = call.policy.get(), .object = &object, .root = &object.slot};
    Locks locks;
    locks.names.push_back(resource.key());
    if (call.policy->quotas != nullptr) locks.counts = call.policy->quotas->RangesOf(object);
    ReserveAnswer answer;
    DecisionIds decision_ids;
    const auto decide = [&](const AllFacts& facts) {
      const IdSource ids = decision_ids.Run(ports_.ids);
      Ledger ledger(facts, ports_.clock.Now(), ids, call.policy->parties);
      const SourceCase of{request, rules, ActorOf(call.caller), facts};
      answer = request.release ? LetGo(of, ledger) : Reserve(of, ledger);
      if (answer.refused) return Changes{};
      Changes changes = ledger.Take();
      if (answer.action == "reserved") JudgeQuotasOf(of, changes, answer);
      return answer.refused ? Changes{} : changes;
    };
    TRUCE_RETURN_IF_ERROR(ports_.store.Apply(locks, decide, call.deadline));
    if (answer.refused) return ProblemResponse(*answer.refused);
    JsonWriter json;
    json.BeginObject().Fields("source", request.list.source, "action", answer.action, "type",
                              resource.identity.type, "name", resource.name, "key",
                              resource.key().text, "until",
                              answer.owner && answer.owner->until && !request.release
                                  ? FormatTimestamp(*answer.owner->until)
                                  : std::string());
    json.Fields("warnings", answer.warnings).EndObject();
    return JsonResponse(json.Take());
  }

 private:
  struct SourceCase {
    const ReserveRequest& request;
    const RuleCase& rules;
    std::string actor;
    const AllFacts& facts;
  };

  static ReserveAnswer Reserve(const SourceCase& of, Ledger& ledger) {
    ImportList list = of.request.list;
    list.until = ledger.now() + of.request.minutes;
    const ImportPlan plan = PlanImport(list, of.facts);
    const std::optional<Owner>& holder = plan.lines.front().holder;
    switch (plan.lines.front().action) {
      case ImportAction::kConflicting:
        return {.action = {}, .owner = {}, .refused = TakenProblem(list, *holder, of.rules)};
      case ImportAction::kOwned: return {holder->until ? "renewed" : "owned", holder};
      case ImportAction::kNew:
      case ImportAction::kChanged: break;
    }
    ApplyImport(list, plan, of.actor, ledger);
    const auto named = ledger.Named(list.resources.front().resource.key());
    return {holder ? "renewed" : "reserved", ledger.OwnerOf(named->resource)};
  }

  static ReserveAnswer LetGo(const SourceCase& of, Ledger& ledger) {
    const ImportList& list = of.request.list;
    auto owner = OwnerByName(list.resources.front().resource.key(), of.facts);
    if (!owner) return {"free", {}};
    if (EndReservation(owner->id, list.source, of.actor, ledger)) return {"released", owner};
    if (SourceOf(*owner) != list.source) {
      return {.action = {}, .owner = {}, .refused = TakenProblem(list, *owner, of.rules)};
    }
    return {
        .action = {},
        .owner = {},
        .refused = Problem{
            ProblemType::kConflict, ResourceInWords(*owner) + " is imported, not only reserved",
            "import the list without it, with retire, or run `" + ReleaseCommand(*owner) + "`"}};
  }

  // A reservation that a quota has no place for is refused as a declaration would be.
  static void JudgeQuotasOf(const SourceCase& of, const Changes& changes, ReserveAnswer& answer) {
    Decision decision;
    decision.changes = changes;
    RuleCase rules = of.rules;
    rules.facts = &of.facts;
    rules.decision = &decision;
    for (const Finding& finding : JudgeQuotas(rules)) {
      if (finding.mode == Mode::kEnforce) {
        answer.refused = Problem{ProblemType::kConflict, finding.cause, finding.remedy};
      } else if (finding.mode == Mode::kWarn) {
        answer.warnings.push_back(finding.cause + " " + finding.remedy);
      }
    }
  }

  OperationPorts ports_;
};

}  // namespace

std::vector<HttpRoute> ImportRoutes(const OperationPorts& ports) {
  const RestApi& rest = ports.rest;
  const auto shared = std::make_shared<const Imports>(ports);
  const std::string path = "/api/v1/imports";
  RestApi::Operation list = Calling(shared, &Imports::List);
  RestApi::Operation take = Calling(shared, &Imports::Take);
  const auto reservations = std::make_shared<const Reservations>(ports);
  RestApi::Operation reserve = Calling(reservations, &Reservations::Take);
  return {rest.Routed({"GET", path, {}, {}, std::move(list)}),
          rest.Routed({"POST", path, {}, {}, std::move(take)}),
          rest.Routed({"POST", "/api/v1/reservations", {}, {}, std::move(reserve)})};
}

}  // namespace truce
