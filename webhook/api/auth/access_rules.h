// The callers of the API, from the configuration's plain values.
#ifndef TRUCE_WEBHOOK_API_AUTH_ACCESS_RULES_H_
#define TRUCE_WEBHOOK_API_AUTH_ACCESS_RULES_H_

#include "registry/base/result.h"
#include "webhook/api/auth/api_access.h"
#include "webhook/config/config.h"

namespace truce {

// Errors: kInvalidArgument, and those of the file of tokens.
Result<AccessRules> AccessRulesOf(const Config& config);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_AUTH_ACCESS_RULES_H_
