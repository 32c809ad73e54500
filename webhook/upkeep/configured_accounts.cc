#include "webhook/upkeep/configured_accounts.h"

#include <chrono>
#include <utility>

#include "policies/policy.h"
#include "webhook/watch/kept.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kPortionTime{5};

}  // namespace

Result<void> ConfiguredAccounts::TakeOver(const std::shared_ptr<const AdmissionPolicy>& policy) {
  ReconcileRules rules;
  rules.catalogue = policy->catalogue;
  rules.identity = policy->identity;
  rules.parties = policy->parties;
  if (!pass_) {
    ReconcilePorts ports{store_, clock_, RandomIds(), [] { return In(kPortionTime); }};
    registry_.emplace(std::move(ports), std::move(rules));
    TRUCE_ASSIGN_OR_RETURN(KeptConfigs kept, ReadConfigs(*registry_));
    accounts_.Remember({}, std::move(kept.brought));
    pass_.emplace(accounts_, *registry_);
  } else {
    registry_->SetRules(std::move(rules));
  }
  accounts_.Configure(policy->identity.accounts, {});
  policy_ = policy;
  return {};
}

Result<bool> ConfiguredAccounts::Step(const std::shared_ptr<const AdmissionPolicy>& policy) {
  if (policy != policy_) TRUCE_RETURN_IF_ERROR(TakeOver(policy));
  for (int portion = 0; portion < kPortionsAtOnce && pass_->wanted(); ++portion) {
    TRUCE_RETURN_IF_ERROR(pass_->Step());
  }
  return !pass_->wanted();
}

}  // namespace truce
