// Operations of the API beside resources, services, checks and the audit log (rest_api.h).
// Everything that is handed over must outlive the routes.
#ifndef TRUCE_WEBHOOK_API_REST_OPERATIONS_H_
#define TRUCE_WEBHOOK_API_REST_OPERATIONS_H_

#include <utility>
#include <vector>

#include "registry/ownership/sight.h"
#include "webhook/api/problem.h"
#include "webhook/api/rest/rest_api.h"

namespace truce {

class ClusterReports;
class OverrideBook;
struct AdmissionPolicy;
struct Owner;

// The list of operations: a line each, in the order of the routes. The file of an operation defines
// its routes, <name>Routes, and says at its top who may ask for them.
#define TRUCE_OPERATIONS(ROW) \
  ROW(Share)                  \
  ROW(Transfer)               \
  ROW(Import)                 \
  ROW(Release)                \
  ROW(Registry)               \
  ROW(Quota)                  \
  ROW(Count)                  \
  ROW(Lineage)

#define TRUCE_ROW(name) std::vector<HttpRoute> name##Routes(const OperationPorts& ports);
TRUCE_OPERATIONS(TRUCE_ROW)
#undef TRUCE_ROW

// Those of all of them.
inline std::vector<HttpRoute> OperationRoutes(const OperationPorts& ports) {
  std::vector<HttpRoute> all;
#define TRUCE_ROW(name) \
  for (HttpRoute & route : name##Routes(ports)) all.push_back(std::move(route));
  TRUCE_OPERATIONS(TRUCE_ROW)
#undef TRUCE_ROW
  return all;
}

// Overrides (break-glass): GET and POST /api/v1/overrides, DELETE /api/v1/overrides/ID. Needs
// `overrides` with the verb list, create or delete, in the namespace that an override names, else
// in all.
std::vector<HttpRoute> OverrideRoutes(const RestApi& rest, OverrideBook& book);

// Findings and their mutes: GET /api/v1/findings and /findings/ID, POST /findings/ID:mute and
// ID:unmute, GET /api/v1/mutes. `reports`: null: no cluster is followed: lists are empty.
//
// To read needs list on ownerships in the namespace asked for, else in all. Of a finding that
// concerns others too, whom the caller may not read, it tells what DiscreetOf leaves, unless
// disclosure is full.
//
// To mute needs create on findings/mute in all namespaces, or to speak, with a Kubernetes token,
// for each namespace that the finding concerns: a mute hides it from all of them. A finding about
// the installation, or about something outside of every namespace, needs the first.
std::vector<HttpRoute> FindingRoutes(const RestApi& rest, ClusterReports* reports);

// Refusals, and the later acts of the refused: GET /api/v1/denials and /api/v1/denials/{id}. Both
// need list on ownerships, in the namespace of the refused object or in all. `denials` must outlive
// the routes.
std::vector<HttpRoute> DenialRoutes(const OperationPorts& ports, const DenialBook& denials);

// The most rows and columns of a matrix; those with the most ownerships stay.
inline constexpr std::size_t kMatrixRowsMax = 1000;
inline constexpr std::size_t kMatrixColumnsMax = 100;

// Whether the watch of this server's cluster shows an object.
IsShown ShownTo(const AdmissionPolicy& policy);
// Why what `owner` has was not released, and what ends that.
Problem WhyNotReleased(const Owner& owner, const ReleaseOutcome& release);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_OPERATIONS_H_
