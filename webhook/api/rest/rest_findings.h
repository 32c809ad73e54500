// Findings and their mutes: GET /api/v1/findings and /findings/ID, POST /findings/ID:mute and
// ID:unmute, GET /api/v1/mutes.
#ifndef TRUCE_WEBHOOK_API_REST_REST_FINDINGS_H_
#define TRUCE_WEBHOOK_API_REST_REST_FINDINGS_H_

#include <vector>

#include "webhook/api/cluster_routes.h"
#include "webhook/api/rest/rest_api.h"

namespace truce {

// To read needs list on ownerships in the namespace asked for, else in all. Of a finding that
// concerns others too, whom the caller may not read, it tells what DiscreetOf leaves, unless
// disclosure is full.
//
// To mute needs create on findings/mute in all namespaces, or to speak, with a Kubernetes token,
// for each namespace that the finding concerns: a mute hides it from all of them. What concerns the
// installation, or something outside of every namespace, is the first ones' alone.
//
// `reports`: null: no cluster is followed: lists are empty. All must outlive the routes.
std::vector<HttpRoute> FindingRoutes(const RestApi& rest, ClusterReports* reports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_REST_FINDINGS_H_
