// Rule account-party: a namespace declares resources only in the accounts that are bound to it.
//
// Spec: what a CREATE or UPDATE newly declares below a root with a namespace lies in an account
// that `accountParties` binds to that namespace, or to nobody. The account is that of the
// resource's own field, of configuration or of the ProviderConfig: a tenant's own ProviderConfig
// with a role ARN of an account that it cannot enter would reserve names there all the same.
// Parameters: accountParties; mode of the type. Vectors: tests/unit/account_party_test.cc.
#include "policies/account_party.h"

#include "policies/people.h"
#include "registry/identity/identity.h"

namespace truce {

std::optional<Finding> AccountOfOthers(const DeclaredResource& resource,
                                       const AccountParties& parties, const Wording& wording) {
  const std::string& account = resource.identity.account;
  const std::string& ns = wording.root->ns;
  if (resource.intent == Intent::kObserves || ns.empty()) return std::nullopt;
  const auto bound = parties.find(account);
  if (bound == parties.end() || bound->second.contains(ns)) return std::nullopt;
  Finding out;
  out.rule = Rule::kAccountParty;
  out.resource = TypeForPeople(resource.identity.type);
  if (!resource.name.empty()) out.resource += " " + Quoted(resource.name);
  out.cause = out.resource + " is declared in account " + account +
              ", which is bound to other namespaces than " + Quoted(ns) + ".";
  out.remedy =
      "Use a ProviderConfig of an account of yours, or ask an operator to add the namespace to the "
      "account in accountParties.";
  out.warning = OneLine(
      "truce: " + out.resource + ": account " + account + " is not bound to namespace " + ns,
      kWarningBytesMax);
  out.key = resource.key;
  return out;
}

}  // namespace truce
