// The Event that tells of a changed configuration which Truce refused.
#ifndef TRUCE_WEBHOOK_FINDINGS_CONFIGURATION_EVENT_H_
#define TRUCE_WEBHOOK_FINDINGS_CONFIGURATION_EVENT_H_

#include <string>

#include "registry/base/clock.h"
#include "webhook/findings/event_queue.h"
#include "webhook/kube/cluster_api.h"

namespace truce {

// A Warning, reason ConfigurationRefused, on the ValidatingWebhookConfiguration `webhook`: of what
// belongs to Truce it is what every installation has. Asks the API server for its uid, without
// which `kubectl describe` does not show the Event; goes without when that does not answer.
ObjectEvent ConfigurationRefusedEvent(const std::string& webhook, const std::string& problem,
                                      ClusterApi& api, Deadline deadline);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_CONFIGURATION_EVENT_H_
