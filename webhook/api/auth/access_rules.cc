#include "webhook/api/auth/access_rules.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "webhook/api/auth/caller.h"
#include "webhook/api/auth/static_tokens.h"
#include "webhook/config/load.h"

namespace truce {

namespace {

// Lower-case, as requests hold it.
Result<std::string> FieldNameOf(const std::string& setting, const std::string& name) {
  const auto fits = [](char c) { return IsAlnum(c) || c == '-'; };
  std::string lower = LowerOf(name);
  const bool is_own = lower == "authorization" || lower == "x-truce-authorization";
  if (name.empty() || is_own || !std::all_of(name.begin(), name.end(), fits)) {
    return InvalidArgument(setting + ": " + Quoted(name) +
                           " is no field in which a proxy says who calls; write one as "
                           "X-Forwarded-User");
  }
  return lower;
}

}  // namespace

Result<AccessRules> AccessRulesOf(const Config& config) {
  AccessRules rules;
  rules.anonymous_read = config.api_anonymous_read;
  if (!config.api_token_file.empty()) {
    Result<std::string> text = ReadConfigFile(config.api_token_file);
    if (!text.ok()) return std::move(text).error().Within("apiTokenFile");
    TRUCE_ASSIGN_OR_RETURN(rules.tokens, StaticTokens::Parse(text.value(), config.api_token_file));
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
  if (config.api_proxy_names.empty()) return rules;
  for (const std::string& name : config.api_proxy_names) {
    // Else whoever has it could drop the fields and act in its role, or set them and be anybody.
    if (rules.clients.contains(name)) {
      return InvalidArgument("apiProxyNames: '" + name +
                             "' has a role in apiClients too; one certificate is of a caller or of "
                             "a proxy");
    }
    rules.proxies.insert(name);
  }
  TRUCE_ASSIGN_OR_RETURN(rules.user_field,
                         FieldNameOf("apiProxyUserField", config.api_proxy_user_field));
  TRUCE_ASSIGN_OR_RETURN(rules.groups_field,
                         FieldNameOf("apiProxyGroupsField", config.api_proxy_groups_field));
  if (rules.user_field == rules.groups_field) {
    return InvalidArgument("apiProxyGroupsField: is the field of apiProxyUserField; name another");
  }
  return rules;
}

}  // namespace truce
