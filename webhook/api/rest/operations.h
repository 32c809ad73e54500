// What the API does beside resources, services, checks and the audit log (rest_api.h): the routes
// of each file, and who may ask for them. Everything that is handed over must outlive the routes.
#ifndef TRUCE_WEBHOOK_API_REST_OPERATIONS_H_
#define TRUCE_WEBHOOK_API_REST_OPERATIONS_H_

#include <vector>

#include "registry/ownership/sight.h"
#include "webhook/api/problem.h"
#include "webhook/api/rest/rest_api.h"

namespace truce {

class ClusterReports;
class OverrideBook;
struct AdmissionPolicy;
struct Owner;

// Shares and transfers: what owners let others do, and how ownership changes hands. The rules are
// those of registry/ownership/agreements.h. For an owner's word create (shares) and create
// (transfers) is needed in the root's namespace, to end a share or withdraw an offer update there;
// to accept or decline update on ownerships/transfer in the receiver's namespace; to force a
// transfer create on ownerships/transfer in all namespaces.
std::vector<HttpRoute> ShareRoutes(const OperationPorts& ports);
std::vector<HttpRoute> TransferRoutes(const OperationPorts& ports);

// Resources that are owned outside the cluster: GET and POST /api/v1/imports. Needs `imports` with
// the verb list or create, and list on ownerships, in all namespaces.
std::vector<HttpRoute> ImportRoutes(OperationPorts ports);

// Overrides (break-glass): GET and POST /api/v1/overrides, DELETE /api/v1/overrides/ID. Needs
// `overrides` with the verb list, create or delete, in the namespace that an override names, else
// in all.
std::vector<HttpRoute> OverrideRoutes(const RestApi& rest, OverrideBook& book);

// The registry as a whole: GET /api/v1/registry. Needs list on ownerships, as a list of resources
// does.
std::vector<HttpRoute> RegistryRoutes(OperationPorts ports);

// What the watch of this server's cluster shows.
IsShown ShownTo(const AdmissionPolicy& policy);
// Why what `owner` has was not released, and what ends that.
Problem WhyNotReleased(const Owner& owner, const ReleaseOutcome& release);

// Release of many orphaned ownerships at once, by a plan: POST /api/v1/releases. Needs create on
// ownerships/release in the namespace that is asked for, else in all.
std::vector<HttpRoute> ReleaseRoutes(OperationPorts ports);

// Quotas: GET /api/v1/quotas[?namespace=…][&output=text]. Needs list on ownerships, in the given
// namespace or in all.
std::vector<HttpRoute> QuotaRoutes(const OperationPorts& ports);

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

// What a matrix shows at most, those with the most ownerships.
inline constexpr std::size_t kMatrixRowsMax = 1000;
inline constexpr std::size_t kMatrixColumnsMax = 100;

// The registry in numbers: GET /api/v1/overview and /api/v1/matrix. Both need list on ownerships in
// all namespaces. The overview is cheap: stores keep the counts. The matrix is counted in memory,
// over all ownerships, while commits go on.
std::vector<HttpRoute> CountRoutes(const OperationPorts& ports);

// Who was refused what, and what they did then: GET /api/v1/denials and /api/v1/denials/{id}. Both
// need list on ownerships, in the namespace of the refused object or in all. `denials` must outlive
// the routes.
std::vector<HttpRoute> DenialRoutes(const OperationPorts& ports, const DenialBook& denials);

// The chain above the declarations of a resource, and the end of an ownership:
// GET /api/v1/lineage/{id} and /api/v1/endings/{id}. Both need get on ownerships in the namespace
// of the root; without it a caller gets the answer for an id that does not exist.
std::vector<HttpRoute> LineageRoutes(const OperationPorts& ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_OPERATIONS_H_
