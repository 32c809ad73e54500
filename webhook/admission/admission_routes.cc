// The routes of the admission listener: who may ask, and which answer belongs to which path.
#include <optional>
#include <string_view>
#include <utility>

#include "webhook/admission/service.h"

namespace truce {

std::vector<HttpRoute> AdmissionRoutes(AdmissionService& service, AccessSource access) {
  // Answers itself a caller that may not ask.
  const auto refused = [access = std::move(access)](
                           HttpRequest& request, Endpoint endpoint) -> std::optional<HttpResponse> {
    std::string_view secret = std::string_view(request.path).substr(PathOf(endpoint).size());
    if (secret.starts_with('/')) secret.remove_prefix(1);
    switch (CheckAccess(*access(), request, endpoint, secret)) {
      case AccessVerdict::kGranted: request.caller_proven = true; return std::nullopt;
      case AccessVerdict::kUnauthorized: {
        HttpResponse response = PlainText(401, "a bearer token is needed");
        response.headers.emplace_back("WWW-Authenticate", "Bearer");
        return response;
      }
      case AccessVerdict::kForbidden: break;
    }
    return PlainText(403, "forbidden");
  };
  std::vector<HttpRoute> routes;
  const auto add = [&](Endpoint endpoint, HttpRoute route) {
    route.method = "POST";
    route.media_type = "application/json";
    route.path = PathOf(endpoint);
    routes.push_back(route);
    route.path += "/";
    route.match = RouteMatch::kPrefix;
    routes.push_back(std::move(route));
  };
  using Deferring = std::optional<HttpResponse> (AdmissionService::*)(HttpRequest&, HttpDeferral&);
  const auto add_deferring = [&](Endpoint endpoint, Deferring answer) {
    HttpRoute route;
    route.deferring = [&service, refused, endpoint, answer](HttpRequest& request,
                                                            HttpDeferral& deferral) {
      auto refusal = refused(request, endpoint);
      return refusal ? std::move(refusal) : (service.*answer)(request, deferral);
    };
    add(endpoint, std::move(route));
  };
  using Direct = HttpResponse (AdmissionService::*)(HttpRequest&);
  const auto add_direct = [&](Endpoint endpoint, Direct answer) {
    HttpRoute route;
    route.handler = [&service, refused, endpoint, answer](HttpRequest& request) {
      auto refusal = refused(request, endpoint);
      return refusal ? *std::move(refusal) : (service.*answer)(request);
    };
    add(endpoint, std::move(route));
  };
  add_deferring(Endpoint::kDeclarations, &AdmissionService::Validate);
  add_deferring(Endpoint::kDeletions, &AdmissionService::ValidateDeletion);
  add_direct(Endpoint::kStatus, &AdmissionService::ValidateStatus);
  add_direct(Endpoint::kChecks, &AdmissionService::ValidateCheck);
  add_direct(Endpoint::kPolicies, &AdmissionService::ValidatePolicy);
  return routes;
}

}  // namespace truce
