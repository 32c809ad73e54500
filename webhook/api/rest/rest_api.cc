#include "webhook/api/rest/rest_api.h"

#include <chrono>
#include <utility>

#include "policies/policy.h"
#include "policies/suspensions.h"
#include "registry/base/one_line.h"
#include "registry/base/threads.h"
#include "registry/catalogue/explain.h"
#include "webhook/api/described.h"
#include "webhook/api/rest/openapi.h"
#include "webhook/http/http.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kRestWithin{10};

}  // namespace

RestApi::RestApi(RestPorts ports)
    : ports_(std::move(ports)), queries_(ports_.store), seal_(cursor_key_) {}

Result<HttpResponse> RestApi::Answer(const Route& route, RestCall& call) const {
  if (!route.act) return ProblemResponse(ProblemType::kNotFound, "there is no such path");
  TRUCE_RETURN_IF_ERROR(call.AllowOnly(route.takes));
  const std::string ns = call.Parameter("namespace");
  Permission right = route.right;
  right.ns = ns;
  if (!right.verb.empty()) {
    if (auto refusal = Refuse(call, right)) return *std::move(refusal);
  }
  return route.act(call);
}

HttpResponse RestApi::Serve(HttpRequest& request, const Route& route) const {
  const bool is_public = route.kind == Kind::kPublic;
  RestCall call{request, {}, ports_.policy.Current(), request.deadline};
  if (call.deadline == Deadline{}) {
    call.deadline = std::chrono::steady_clock::now() + kRestWithin;
  }
  const auto answer = [&]() -> HttpResponse {
    if (is_public) return AnswerOf(Answer(route, call));
    auto known = ports_.access.Authenticate(request);
    if (std::holds_alternative<Problem>(known)) {
      const bool shows_something = !request.Header("authorization").empty() ||
                                   !request.Header("x-truce-authorization").empty() ||
                                   request.client_name.has_value();
      if (ports_.refused != nullptr && shows_something &&
          std::get<Problem>(known).type == ProblemType::kUnauthenticated) {
        ++ports_.refused->counts[RefusedCallers::kToken];
      }
      return ProblemResponse(std::get<Problem>(known));
    }
    call.caller = std::get<Caller>(std::move(known));
    request.caller_proven = call.caller.kind != CallerKind::kAnonymous;
    if (route.kind == Kind::kQuick) return AnswerOf(Answer(route, call));
    const BlockingRegion blocking;
    return AnswerOf(Answer(route, call));
  };
  HttpResponse response = answer();
  response.headers.emplace_back("X-Request-Id", RequestIdOf(request));
  response.headers.emplace_back("Cache-Control", is_public ? "no-cache" : "private, no-cache");
  return response;
}

std::vector<HttpRoute> RestApi::Routes() const {
  const std::string base = "/api/v1";
  const auto with = [this](Result<HttpResponse> (RestApi::*act)(RestCall&) const) {
    return Calling(this, act);
  };
  const Permission lists = {"ownerships", "", "list", ""};
  HttpRoute checks = Routed({"POST", base + "/checks", {}, {}, with(&RestApi::Check)});
  checks.body_bytes_max = ports_.check_bytes_max;
  // Quick are the most frequent operations, which cost less than handing their thread's place to
  // another one and back.
  return {
      std::move(checks),
      Routed({"GET",
              base + "/resources",
              {"name", "arn", "type", "service", "account", "region", "cluster", "namespace",
               "state", "contested", "shared", "sort", "limit", "cursor"},
              lists,
              with(&RestApi::ListResources)}),
      Routed({"GET",
              base + "/resources:lookup",
              {"resource", "namespace", "arn", "type", "name", "account", "region", "key"},
              {},
              with(&RestApi::Lookup),
              Kind::kQuick}),
      Routed({"GET", base + "/resources/", {}, {}, with(&RestApi::GetResource), Kind::kQuick}),
      Routed({"POST", base + "/resources/", {}, {}, with(&RestApi::ActOnResource)}),
      Routed({"GET", base + "/services", {"limit", "cursor"}, lists, with(&RestApi::ListServices)}),
      Routed({"GET", base + "/services/", {}, lists, with(&RestApi::GetService)}),
      Routed(
          {"GET",
           base + "/audit",
           {"action", "actor", "id", "key", "since", "until", "order", "format", "limit", "cursor"},
           {"audit", "", "list", ""},
           with(&RestApi::ListAudit)}),
      Routed({"GET", base + "/types", {}, {}, with(&RestApi::ListTypes)}),
      Routed({"GET", base + "/version", {}, {}, with(&RestApi::Version), Kind::kPublic}),
      Routed({"GET", base + "/refusals", {}, {}, with(&RestApi::Refusals)}),
      Routed({"GET", "/openapi.yaml", {}, {}, with(&RestApi::Specification), Kind::kPublic}),
      Routed({"GET", "/api/"}),
  };
}

HttpRoute RestApi::Routed(Route route) const {
  const bool has_body = std::string_view(route.method) == "POST";
  const RouteMatch match = route.path.ends_with('/') ? RouteMatch::kPrefix : RouteMatch::kExact;
  return {route.method, route.path, match, has_body ? "application/json" : "",
          [this, route = std::move(route)](HttpRequest& request) { return Serve(request, route); }};
}

namespace {

// How to come by the right.
std::string RemedyFor(const Caller& caller, const Permission& permission) {
  std::string ask = "ask whoever administers Truce";
  if (caller.kind != CallerKind::kProxied && caller.kind != CallerKind::kKubernetes) {
    return ask.append(" for the role ").append(Name(RoleFor(permission)));
  }
  ask.append(", or the namespace, for verb ").append(permission.verb).append(" on ");
  ask.append(permission.resource);
  if (!permission.sub_resource.empty()) ask.append("/").append(permission.sub_resource);
  ask += " in API group truce.dev";
  if (caller.kind == CallerKind::kProxied) {
    ask += "; behind a proxy everybody only reads: `truce` with a token of your own does more";
  }
  return ask;
}

}  // namespace

std::optional<HttpResponse> RestApi::Refuse(const RestCall& call,
                                            const Permission& permission) const {
  return Refusal(call, permission,
                 ToText(permission) + (permission.ns.empty() ? " in all namespaces" : ""));
}

std::optional<HttpResponse> RestApi::RefuseById(const RestCall& call,
                                                const Permission& permission) const {
  if (call.policy->disclosure == Disclosure::kFull) return Refuse(call, permission);
  Permission anywhere = permission;
  anywhere.ns = {};
  return Refusal(call, permission, ToText(anywhere) + " in the namespace that it belongs to");
}

std::optional<HttpResponse> RestApi::Refusal(const RestCall& call, const Permission& permission,
                                             const std::string& right) const {
  const Result<bool> allowed = ports_.access.Allows(call.caller, permission, call.deadline);
  if (!allowed.ok()) {
    const bool too_many = allowed.error().code == ErrorCode::kResourceExhausted;
    return ProblemResponse(too_many ? ProblemType::kTooManyRequests : ProblemType::kUnavailable,
                           allowed.error().message);
  }
  if (allowed.value()) return std::nullopt;
  return ProblemResponse({ProblemType::kForbidden,
                          "user " + Quoted(call.caller.name) + " may not " + right,
                          RemedyFor(call.caller, permission)});
}

bool RestApi::SpeaksAsUser(const RestCall& call, const std::string& ns) const {
  if (call.caller.kind != CallerKind::kKubernetes) return false;
  const Result<bool> speaks = ports_.access.SpeaksFor(call.caller, ns, call.deadline);
  return speaks.ok() && speaks.value();
}

Result<bool> RestApi::MayRead(const RestCall& call, const std::string& ns) const {
  return ports_.access.Allows(call.caller, {"ownerships", "", "get", ns}, call.deadline);
}

Columns<TypeSummary> ColumnsOf(const TypeSummary* /*thing*/) {
  static constexpr Column<TypeSummary> kColumns[] = {
      {"type", [](const TypeSummary& t) -> Datum { return t.type; }},
      {"scope", [](const TypeSummary& t) -> Datum { return t.scope; }},
      {"certainty", [](const TypeSummary& t) -> Datum { return t.certainty; }},
      {"conflict", [](const TypeSummary& t) -> Datum { return t.conflict; }},
      {"key", [](const TypeSummary& t) -> Datum { return t.key; }},
      {"attachment", [](const TypeSummary& t) -> Datum { return t.attachment; }},
  };
  return {kColumns, "type scope certainty conflict key attachment"};
}

Result<HttpResponse> RestApi::ListTypes(RestCall& call) const {
  const Catalogue& catalogue = *call.policy->catalogue;
  std::vector<TypeSummary> types;
  for (const TypeSpec& spec : catalogue.types()) types.push_back(Summarise(spec));
  JsonWriter json;
  json.Object("version", catalogue.version(), "items", types);
  return JsonResponse(json.Take());
}

Result<HttpResponse> RestApi::Version(RestCall& /*call*/) const {
  return JsonResponse(JsonWriter().Object("version", ports_.version).Take());
}

// For everybody who is known: a refusal that does not come is seen by everybody too. Why it does
// not is for those who may ask doctor.
Result<HttpResponse> RestApi::Refusals(RestCall& call) const {
  JsonWriter json;
  const auto write = [](const Suspension& each, JsonWriter& out) {
    out.Object("cause", Name(each.cause), "what", each.what);
  };
  json.BeginObject()
      .Field("mode", Name(call.policy->modes.global))
      .ListField("suspended", SuspensionsAt(*call.policy, ports_.clock.Now()), write);
  return JsonResponse(json.EndObject().Take());
}

Result<HttpResponse> RestApi::Specification(RestCall& /*call*/) const {
  return HttpResponse{.content_type = "application/yaml", .body = std::string(OpenApiText())};
}

}  // namespace truce
