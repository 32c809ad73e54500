// What an API server serves: aggregated discovery, else group by group.
#ifndef TRUCE_WEBHOOK_KUBE_DISCOVERY_H_
#define TRUCE_WEBHOOK_KUBE_DISCOVERY_H_

#include <functional>
#include <string_view>

#include "webhook/kube/cluster_api.h"
#include "webhook/kube/http_call.h"

namespace truce {

// GETs `target` with that Accept; an answer of status 2xx, or an error.
using DiscoveryFetch =
    std::function<ApiResult<HttpReply>(std::string_view target, std::string_view accept)>;

// A group whose server does not answer is one of failed_groups; when the whole server does not, its
// error is returned.
ApiResult<Discovery> DiscoverKinds(const DiscoveryFetch& fetch);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_DISCOVERY_H_
