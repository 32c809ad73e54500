// Rule account-party: a namespace declares resources only in the accounts that are bound to it.
#ifndef TRUCE_POLICIES_ACCOUNT_PARTY_H_
#define TRUCE_POLICIES_ACCOUNT_PARTY_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "policies/finding.h"
#include "policies/rules.h"

namespace truce {

// Account (12 digits) -> the namespaces that may declare in it. Empty: the rule is off.
using AccountParties = std::map<std::string, std::set<std::string>, std::less<>>;

// Nothing for an account that is not known, is known from a status alone (only its provider writes
// that), or is bound to nobody; for what only observes, which takes no name; and for a root without
// namespace, which no tenant makes. Otherwise, when the account is bound to other namespaces than
// that of the root: a finding in mode enforce, which the caller lowers to the configured mode.
std::optional<Finding> AccountOfOthers(const DeclaredResource& resource,
                                       const AccountParties& parties, const Wording& wording);

}  // namespace truce

#endif  // TRUCE_POLICIES_ACCOUNT_PARTY_H_
