// AccountPass: gives what stands under stand-ins its names in the accounts that became known or
// changed, records too: one pass over the keys of the registry, a portion at a time, since reviews
// come first.
#ifndef TRUCE_WEBHOOK_WATCH_ACCOUNT_PASS_H_
#define TRUCE_WEBHOOK_WATCH_ACCOUNT_PASS_H_

#include "registry/base/result.h"
#include "registry/identity/values.h"
#include "webhook/watch/accounts.h"
#include "webhook/watch/reconcile_store.h"

namespace truce {

// External synchronization.
class AccountPass final {
 public:
  // Both must outlive it.
  AccountPass(Accounts& accounts, ReconcileStore& store) : accounts_(accounts), store_(store) {}

  // Whether some accounts have not all yet.
  bool wanted() const { return !accounts_.Moving().empty(); }
  // Looks at some of the keys, and writes at most kPortion rows in one commit, or one resource that
  // has more. True: the pass is through. Which accounts are through is kept in the registry with
  // the last portion: a pass that was cut off begins anew, and what is done is only read. Errors:
  // the store's; to be repeated.
  Result<bool> Step();

 private:
  Result<void> Keep(Accounts accounts);
  Result<KeyText> Locate();

  Accounts& accounts_;
  ReconcileStore& store_;
  AccountMap moving_;  // Accounts::Moving when the pass that runs began
  KeyText until_;      // the last key that it looked at
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_ACCOUNT_PASS_H_
