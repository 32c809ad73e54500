#include "webhook/serve/server_parts.h"

#include <chrono>
#include <utility>

#include "policies/finding.h"
#include "registry/store/memory/memory_store.h"
#include "registry/store/sqlite/sqlite_store.h"
#include "webhook/config/load.h"
#include "webhook/kube/kube_config.h"
#include "webhook/serve/data_dir.h"

namespace truce {

Result<std::shared_ptr<const Catalogue>> CatalogueOf(const Config& config) {
  if (config.types.empty()) return std::make_shared<const Catalogue>(Catalogue::BuiltIn());
  TRUCE_ASSIGN_OR_RETURN(const std::string text, ReadConfigFile(config.types));
  TRUCE_ASSIGN_OR_RETURN(Catalogue catalogue,
                         Catalogue::BuiltIn().WithOverrides(text, config.types));
  return std::make_shared<const Catalogue>(std::move(catalogue));
}

Result<std::shared_ptr<const AdmissionAccess>> AccessOf(const Config& config) {
  auto access = std::make_shared<AdmissionAccess>();
  access->loopback = IsLoopbackAddress(config.admission_address);
  access->client_certificate = !config.admission_client_ca.empty();
  if (!config.admission_bearer_file.empty()) {
    TRUCE_ASSIGN_OR_RETURN(access->bearer, ReadToken(config.admission_bearer_file));
  }
  const std::string secret_file = config.admission_secret_file.empty()
                                      ? config.data_dir + "/admission.secret"
                                      : config.admission_secret_file;
  TRUCE_ASSIGN_OR_RETURN(access->secret, ReadOrMakeSecret(secret_file));
  access->secrets = SecretsOf(*access->secret);
  return std::shared_ptr<const AdmissionAccess>(std::move(access));
}

EndpointTexts AdmissionPaths(const AdmissionAccess& access) {
  const bool plain_serves = access.loopback || access.client_certificate || access.bearer;
  return PathsOf(plain_serves || !access.secret ? std::string() : *access.secret);
}

Result<ServerSettings> ClusterOf(const Config& config) {
  if (config.in_cluster) return ReadServiceAccount(ServiceAccountOfProcess());
  return ReadKubeConfig(config.kubeconfig, "");
}

Result<std::unique_ptr<Store>> OpenStore(const Config& config) {
  if (config.store == "memory") return std::unique_ptr<Store>(std::make_unique<MemoryStore>());
  SqliteOptions options;
  options.data_dir = config.data_dir;
  TRUCE_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, SqliteStore::Open(options));
  return store;
}

Result<AccessRules> AccessRulesOf(const Config& config) {
  AccessRules rules;
  rules.anonymous_read = config.api_anonymous_read;
  if (!config.api_token_file.empty()) {
    TRUCE_ASSIGN_OR_RETURN(const std::string text, ReadConfigFile(config.api_token_file));
    TRUCE_ASSIGN_OR_RETURN(rules.tokens, StaticTokens::Parse(text, config.api_token_file));
  }
  for (const std::string& client : config.api_clients) {
    const std::size_t equals = client.rfind('=');
    const auto role =
        equals == std::string::npos ? std::nullopt : ApiRoleFromName(client.substr(equals + 1));
    if (!role || equals == 0) {
      return Error{ErrorCode::kInvalidArgument, "apiClients: '" + client +
                                                    "' is not of the form name=role, with a role "
                                                    "of viewer, auditor, admin"};
    }
    rules.clients[client.substr(0, equals)] = *role;
  }
  return rules;
}

ReconcileRules ReconcileRulesOf(const AdmissionPolicy& policy, const Config& config) {
  ReconcileRules rules;
  rules.catalogue = policy.catalogue;
  rules.identity = policy.identity;
  rules.parties = policy.parties;
  rules.reservation_ttl = std::chrono::duration_cast<std::chrono::seconds>(config.reservation_ttl);
  rules.settle_time = config.settle_time;
  return rules;
}

std::vector<std::string_view> RuleIds() {
  std::vector<std::string_view> ids;
  for (std::size_t i = 0; i < kRuleCount; ++i) ids.push_back(Name(static_cast<Rule>(i)));
  return ids;
}

}  // namespace truce
