// What a server is made of, as its configuration says.
#ifndef TRUCE_WEBHOOK_SERVE_SERVER_PARTS_H_
#define TRUCE_WEBHOOK_SERVE_SERVER_PARTS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policies/policy.h"
#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"
#include "registry/store/store.h"
#include "webhook/admission/routes.h"
#include "webhook/api/auth/api_access.h"
#include "webhook/config/config.h"
#include "webhook/kube/server_settings.h"
#include "webhook/watch/reconcile_store.h"

namespace truce {

// The built-in catalogue, with the file of `types`. Errors: kInvalidArgument, kNotFound.
Result<std::shared_ptr<const Catalogue>> CatalogueOf(const Config& config);
// Who may call the admission listener; makes the path's secret in the data directory when there is
// none. Errors: those of its files.
Result<std::shared_ptr<const AdmissionAccess>> AccessOf(const Config& config);
// Where API servers must send reviews.
EndpointTexts AdmissionPaths(const AdmissionAccess& access);
// The API server to follow, and the way to it. Errors: those of its files.
Result<ServerSettings> ClusterOf(const Config& config);
// Opens the store that `config` names, in its data directory. Errors: as the store's Open.
Result<std::unique_ptr<Store>> OpenStore(const Config& config);
// Who may call the API. Errors: kInvalidArgument, and those of the file of tokens.
Result<AccessRules> AccessRulesOf(const Config& config);
ReconcileRules ReconcileRulesOf(const AdmissionPolicy& policy, const Config& config);
// Names of the rules, in their order.
std::vector<std::string_view> RuleIds();

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_SERVER_PARTS_H_
