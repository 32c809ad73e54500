// Paths, queries and Accept fields of lists and watches.
#ifndef TRUCE_WEBHOOK_KUBE_REQUEST_TARGET_H_
#define TRUCE_WEBHOOK_KUBE_REQUEST_TARGET_H_

#include <string>
#include <string_view>

#include "webhook/kube/cluster_api.h"

namespace truce {

std::string ListTarget(const ListQuery& query);
std::string WatchTarget(const WatchQuery& query);
std::string_view ListAccept(const Selection& selection);
std::string_view WatchAccept(const Selection& selection);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_REQUEST_TARGET_H_
