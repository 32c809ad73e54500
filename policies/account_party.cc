// Rule account-party: a namespace declares resources only in the accounts that are bound to it.
//
// Spec: a resource that a CREATE or UPDATE newly declares below a root with a namespace lies in an
// account that `accountParties` binds to that namespace, or to nobody. The account is that of the
// resource's own field, of configuration or of the ProviderConfig, where none of them tells it that
// of the external name: a tenant's own ProviderConfig with a role ARN of an account that it cannot
// enter, or a URL of there, would reserve names there all the same.
// Parameters: accountParties; mode of the type. Vectors: tests/unit/account_party_test.cc.
#include <string>
#include <utility>

#include "policies/people.h"
#include "policies/policy.h"
#include "policies/question.h"
#include "policies/rule_case.h"
#include "registry/identity/evidence.h"
#include "registry/ownership/names.h"
#include "registry/ownership/review.h"

namespace truce {
namespace {

// In which account the resource is declared, and by which name. Empty: nobody tells the account, or
// a status alone does, which declares nothing.
struct DeclaredThere {
  std::string account;
  KeyText name;
};

DeclaredThere DeclaredIn(const DeclaredResource& resource) {
  if (IsAccount(resource.identity.account)) return {resource.identity.account, resource.key()};
  for (const DeclaredName& name : resource.names) {
    std::string account = AccountIn(name.text);
    if (!name.observed && IsAccount(account)) return {std::move(account), name.text};
  }
  return {};
}

}  // namespace

// Only of resources that the request adds. A resource that a provider names late exists, one that a
// restorer brings back was admitted, so was one that the namespace has there already, and the
// subject of a question may be on record: none is refused.
std::vector<Finding> JudgeAccounts(const RuleCase& c) {
  std::vector<Finding> out;
  if (c.policy->account_parties.empty()) return out;
  for (const std::size_t index : c.decision->added) {
    const DeclaredResource& resource = c.object->resources[index];
    auto finding = AccountOfOthers(resource, c.policy->account_parties, WordingOf(c));
    if (!finding) continue;
    const bool existed = BringsWhatExists(c) || IsHeld(c, DeclaredIn(resource).name) ||
                         IsOnRecord(c, resource.key());
    if (existed) finding->mode = Mode::kWarn;
    Keep(c, *std::move(finding), {.type = resource.identity.type, .name = resource.name}, out);
  }
  return out;
}

std::optional<Finding> AccountOfOthers(const DeclaredResource& resource,
                                       const AccountParties& parties, const Wording& wording) {
  const std::string account = DeclaredIn(resource).account;
  const std::string& ns = wording.root->ns;
  if (resource.intent == Intent::kObserves || ns.empty()) return std::nullopt;
  const auto bound = parties.find(account);
  if (bound == parties.end() || bound->second.contains(ns)) return std::nullopt;
  Finding out{.rule = Rule::kAccountParty};
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
  out.key = resource.key();
  return out;
}

}  // namespace truce
