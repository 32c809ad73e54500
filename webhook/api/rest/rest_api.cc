#include "webhook/api/rest/rest_api.h"

#include <chrono>
#include <utility>

#include "policies/policy.h"
#include "policies/suspensions.h"
#include "registry/base/one_line.h"
#include "registry/base/threads.h"
#include "registry/catalogue/explain.h"
#include "webhook/api/rest/openapi.h"
#include "webhook/http/refused_callers.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kRestWithin{10};

}  // namespace

RestApi::RestApi(RestPorts ports)
    : ports_(std::move(ports)), queries_(ports_.store), seal_(cursor_key_) {}

HttpResponse RestApi::Serve(HttpRequest& request, const Operation& handler, Kind kind) const {
  const bool is_public = kind == Kind::kPublic;
  RestCall call{request, {}, ports_.policy.Current(), request.deadline};
  if (call.deadline == Deadline{}) {
    call.deadline = std::chrono::steady_clock::now() + kRestWithin;
  }
  const auto answer = [&]() -> HttpResponse {
    if (is_public) return AnswerOf(handler(call));
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
    if (kind == Kind::kQuick) return AnswerOf(handler(call));
    const BlockingRegion blocking;
    return AnswerOf(handler(call));
  };
  HttpResponse response = answer();
  response.headers.emplace_back("X-Request-Id", RequestIdOf(request));
  response.headers.emplace_back("Cache-Control", is_public ? "no-cache" : "private, no-cache");
  return response;
}

HttpRoute RestApi::At(const char* method, std::string path, RouteMatch match,
                      Handler handler) const {
  const bool is_public = handler == &RestApi::Version || handler == &RestApi::Specification;
  // What is asked most, and costs less than handing its thread's place to another one and back.
  const bool is_quick = handler == &RestApi::Lookup || handler == &RestApi::GetResource;
  const Kind kind = is_public ? Kind::kPublic : is_quick ? Kind::kQuick : Kind::kOrdinary;
  return Served(
      method, std::move(path), match,
      [this, handler](RestCall& call) { return (this->*handler)(call); }, kind);
}

std::vector<HttpRoute> RestApi::Routes() const {
  const std::string base = "/api/v1";
  constexpr RouteMatch kExact = RouteMatch::kExact;
  constexpr RouteMatch kPrefix = RouteMatch::kPrefix;
  HttpRoute checks = At("POST", base + "/checks", kExact, &RestApi::Check);
  checks.body_bytes_max = ports_.check_bytes_max;
  return {
      std::move(checks),
      At("GET", base + "/resources", kExact, &RestApi::ListResources),
      At("GET", base + "/resources:lookup", kExact, &RestApi::Lookup),
      At("GET", base + "/resources/", kPrefix, &RestApi::GetResource),
      At("POST", base + "/resources/", kPrefix, &RestApi::ActOnResource),
      At("GET", base + "/services", kExact, &RestApi::ListServices),
      At("GET", base + "/services/", kPrefix, &RestApi::GetService),
      At("GET", base + "/audit", kExact, &RestApi::ListAudit),
      At("GET", base + "/types", kExact, &RestApi::ListTypes),
      At("GET", base + "/version", kExact, &RestApi::Version),
      At("GET", base + "/refusals", kExact, &RestApi::Refusals),
      At("GET", "/openapi.yaml", kExact, &RestApi::Specification),
      At("GET", "/api/", kPrefix, &RestApi::NoSuchPath),
  };
}

HttpRoute RestApi::Authenticated(const char* method, std::string path, RouteMatch match,
                                 Operation operation) const {
  return Served(method, std::move(path), match, std::move(operation), Kind::kOrdinary);
}

HttpRoute RestApi::Served(const char* method, std::string path, RouteMatch match,
                          Operation operation, Kind kind) const {
  const bool has_body = std::string_view(method) == "POST";
  return {method, std::move(path), match, has_body ? "application/json" : "",
          [this, operation = std::move(operation), kind](HttpRequest& request) {
            return Serve(request, operation, kind);
          }};
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

Result<HttpResponse> RestApi::ListTypes(RestCall& call) const {
  TRUCE_RETURN_IF_ERROR(call.AllowOnly({}));
  JsonWriter json;
  const Catalogue& catalogue = *call.policy->catalogue;
  json.BeginObject().Field("version", std::string(catalogue.version()));
  json.ListField("items", catalogue.types(), [](const TypeSpec& spec, JsonWriter& out) {
    const TypeSummary line = Summarise(spec);
    out.BeginObject()
        .Field("type", line.type)
        .Field("scope", line.scope)
        .Field("certainty", line.certainty)
        .Field("conflict", line.conflict)
        .Field("key", line.key)
        .Field("attachment", line.attachment)
        .EndObject();
  });
  return JsonResponse(json.EndObject().Take());
}

Result<HttpResponse> RestApi::Version(RestCall& call) const {
  TRUCE_RETURN_IF_ERROR(call.AllowOnly({}));
  JsonWriter json;
  json.BeginObject().Field("version", ports_.version).EndObject();
  return JsonResponse(json.Take());
}

// For everybody who is known: a refusal that does not come is seen by everybody too. Why it does
// not is for those who may ask doctor.
Result<HttpResponse> RestApi::Refusals(RestCall& call) const {
  TRUCE_RETURN_IF_ERROR(call.AllowOnly({}));
  JsonWriter json;
  const auto write = [](const Suspension& each, JsonWriter& out) {
    out.BeginObject().Field("cause", Name(each.cause)).Field("what", each.what).EndObject();
  };
  json.BeginObject()
      .Field("mode", Name(call.policy->modes.global))
      .ListField("suspended", SuspensionsAt(*call.policy, ports_.clock.Now()), write);
  return JsonResponse(json.EndObject().Take());
}

Result<HttpResponse> RestApi::Specification(RestCall& call) const {
  TRUCE_RETURN_IF_ERROR(call.AllowOnly({}));
  return HttpResponse{.content_type = "application/yaml", .body = std::string(OpenApiText())};
}

Result<HttpResponse> RestApi::NoSuchPath(RestCall& call) const {
  static_cast<void>(call);
  return ProblemResponse(ProblemType::kNotFound, "there is no such path");
}

}  // namespace truce
