#include "webhook/serve/access_rules.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "webhook/api/auth/caller.h"
#include "webhook/api/auth/static_tokens.h"
#include "webhook/config/load.h"

namespace truce {

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

}  // namespace truce
