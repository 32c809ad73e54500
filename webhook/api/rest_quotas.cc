// Quotas: GET /api/v1/quotas[?namespace=…][&output=text]. Needs list on ownerships, in the given
// namespace or in all.
//
// GET /quotas.
#include <string>
#include <string_view>
#include <utility>

#include "policies/policy.h"
#include "policies/quotas.h"
#include "webhook/api/problem.h"
#include "webhook/api/rest/operations.h"
#include "webhook/findings/texts/report_quotas.h"

namespace truce {
namespace {

Result<HttpResponse> ListQuotas(const OperationPorts& ports, RestCall& call) {
  const std::string ns(call.request.Query("namespace").value_or(std::string_view()));
  TRUCE_ASSIGN_OR_RETURN(const std::string output, call.OneOf("output", {"json", "text"}));
  QuotaReport report;
  if (call.policy->quotas != nullptr) {
    TRUCE_ASSIGN_OR_RETURN(report, ReadFrom(ports.store, call.deadline, [&](const AllFacts& facts) {
                             return ReportQuotas(*call.policy->quotas, facts, ns);
                           }));
  }
  JsonWriter json;
  json.BeginObject();
  if (output == "json") {
    WriteQuotas(report, json);
  } else {
    const bool is_off = call.policy->quotas == nullptr;
    json.NumberField("count", report.lines.size())
        .Field("text", is_off ? "No quotas are configured (setting quotas).\n" : QuotaText(report));
  }
  return JsonResponse(json.EndObject().Take());
}

}  // namespace

std::vector<HttpRoute> QuotaRoutes(const OperationPorts& ports) {
  const auto operation = [ports](RestCall& call) { return ListQuotas(ports, call); };
  const Permission lists = {"ownerships", "", "list", ""};
  return {ports.rest.Routed({"GET", "/api/v1/quotas", {"namespace", "output"}, lists, operation})};
}

}  // namespace truce
