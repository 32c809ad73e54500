// The ClusterApi of a real API server.
#ifndef TRUCE_WEBHOOK_KUBE_API_CLIENT_H_
#define TRUCE_WEBHOOK_KUBE_API_CLIENT_H_

#include <cstddef>
#include <memory>

#include "webhook/kube/cluster_api.h"
#include "webhook/kube/session.h"

namespace truce {

struct ApiClientOptions {
  // Calls at once; more wait for their turn until their deadline. Below what API priority and
  // fairness gives one user by default, so that Truce does not throttle itself.
  std::size_t calls_max = 8;
  // A longer answer is kMalformed. A page of 500 objects has seldom more than 5 MB.
  std::size_t response_bytes_max = 64 * 1024 * 1024;
};

std::unique_ptr<ClusterApi> MakeApiClient(std::shared_ptr<ServerSession> session,
                                          const ApiClientOptions& options);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_API_CLIENT_H_
