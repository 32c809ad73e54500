// ConfiguredAccounts: gives resources under provisional accounts their names in the accounts that
// configuration names, where no cluster is followed; else the watch does it (AccountPass).
#ifndef TRUCE_WEBHOOK_UPKEEP_CONFIGURED_ACCOUNTS_H_
#define TRUCE_WEBHOOK_UPKEEP_CONFIGURED_ACCOUNTS_H_

#include <memory>
#include <optional>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/watch/accounts.h"
#include "webhook/watch/reconcile_store.h"

namespace truce {

class Store;
struct AdmissionPolicy;

// External synchronization.
class ConfiguredAccounts final {
 public:
  // Portions of one step, which are 320 rows: reviews come between two of them.
  static constexpr int kPortionsAtOnce = 20;

  // Both must outlive it.
  ConfiguredAccounts(Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  // Does some of the missing portions for the accounts of `policy`; to be called from time to time.
  // If configuration changes an account, names in the former one stay. True: nothing is left.
  // Errors: the store's; to be repeated.
  Result<bool> Step(const std::shared_ptr<const AdmissionPolicy>& policy);

 private:
  Result<void> TakeOver(const std::shared_ptr<const AdmissionPolicy>& policy);

  Store& store_;
  const Clock& clock_;
  std::shared_ptr<const AdmissionPolicy> policy_;  // of the last step
  Accounts accounts_;
  std::optional<ReconcileStore> registry_;
  std::optional<AccountPass> pass_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_UPKEEP_CONFIGURED_ACCOUNTS_H_
