// Shares and transfers: what owners let others do, and how ownership changes hands. The rules are
// those of registry/ownership/agreements.h; here is who may ask for them.
//
// Rights: for an owner's word create (shares) and create (transfers) in the root's namespace, to
// end a share or withdraw an offer update there; to accept or decline update on ownerships/transfer
// in the receiver's namespace; to force a transfer create on ownerships/transfer in all namespaces.
#ifndef TRUCE_WEBHOOK_API_REST_REST_AGREEMENTS_H_
#define TRUCE_WEBHOOK_API_REST_REST_AGREEMENTS_H_

#include <vector>

#include "webhook/api/rest/rest_api.h"

namespace truce {

std::vector<HttpRoute> ShareRoutes(const OperationPorts& ports);
std::vector<HttpRoute> TransferRoutes(const OperationPorts& ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_REST_AGREEMENTS_H_
