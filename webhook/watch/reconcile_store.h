// ReconcileStore: how the watch reads and writes the registry. One decision is one commit; what
// would break an invariant is left out.
#ifndef TRUCE_WEBHOOK_WATCH_RECONCILE_STORE_H_
#define TRUCE_WEBHOOK_WATCH_RECONCILE_STORE_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/identity/identity.h"
#include "registry/ownership/terms.h"
#include "webhook/watch/history.h"
#include "webhook/watch/observed_version.h"
#include "webhook/watch/unresolved_holders.h"

namespace truce {

class AllFacts;
class Facts;
class Ledger;
class Store;
struct Changes;

// Observed versions in one transaction: enough to share its commit, few enough that reviews, which
// the same writer serves, do not wait long.
inline constexpr std::size_t kObservedAtOnce = 128;

// Rows in one commit of a pass that nothing waits for.
inline constexpr std::size_t kPortion = 16;

// The reconciler's dependencies; all must outlive it.
struct ReconcilePorts {
  Store& store;
  const Clock& clock;
  IdSource ids;
  std::function<Deadline()> deadline;       // by when the next call of the store must have answered
  SightObserver* observer = nullptr;        // may be null
  UnresolvedHolders* unresolved = nullptr;  // null: nothing is reconciled
};

struct ReconcileRules {
  std::shared_ptr<const Catalogue> catalogue;  // never null; identity.catalogue points to it
  IdentityRules identity;                      // accounts: Accounts::Followed
  PartyRules parties;
  AccountParties account_parties;
  std::chrono::seconds reservation_ttl{180};
  // How long declarations of a kind stay on record when its mapping rule is gone.
  std::chrono::milliseconds settle_time{std::chrono::hours{24}};
};

// The object's resources count as real: rules say something else of it now, and none of its
// declared resources becomes free by that.
void CountAsReal(const Uid& uid, Ledger& ledger);

// External synchronization. Errors are the store's; a call that returned one is to be repeated: all
// that the watch writes is idempotent (I9). Durable on return.
class ReconcileStore final {
 public:
  using Change = std::function<void(Ledger&)>;

  ReconcileStore(ReconcilePorts ports, ReconcileRules rules);

  // From the next decision on.
  void SetRules(ReconcileRules rules);
  const ReconcileRules& rules() const { return rules_; }
  const std::string& cluster() const { return rules_.identity.cluster; }
  const ReconcilePorts& ports() const { return ports_; }
  Timestamp now() const { return ports_.clock.Now(); }

  // Runs `read` on committed facts: Store::Read.
  Result<void> Read(const std::function<void(const AllFacts&)>& read) const;
  // The writes of `change` if these were the facts; in each run of a look by the same `ids`.
  Changes Outcome(const Facts& facts, const Change& change, DecisionIds& ids) const;
  // Runs `change` in one commit. One that would break an invariant would do
  // so again, and all that follows would wait for it: it is left out, and counted.
  Result<void> Write(const Change& change);
  // `write(item, ledger)` for each of `items`, in order, `at_once` of them in one commit. Where one
  // of these would break an invariant the others are written.
  template <typename Item, typename WriteOne>
  Result<void> WriteEach(const std::vector<Item>& items, std::size_t at_once,
                         const WriteOne& write);

  // Changes left out, and why the last of them was.
  std::uint64_t breaches() const { return breaches_; }
  const std::string& breach() const { return breach_; }

 private:
  Result<void> TryToWrite(const Change& change);

  ReconcilePorts ports_;
  ReconcileRules rules_;
  std::uint64_t breaches_ = 0;
  std::string breach_;
};

template <typename Item, typename WriteOne>
Result<void> ReconcileStore::WriteEach(const std::vector<Item>& items, std::size_t at_once,
                                       const WriteOne& write) {
  for (std::size_t at = 0; at < items.size(); at += at_once) {
    const auto batch = std::span(items).subspan(at, std::min(at_once, items.size() - at));
    Result<void> written = TryToWrite([&](Ledger& ledger) {
      for (const Item& item : batch) write(item, ledger);
    });
    if (written.ok()) continue;
    if (written.error().code != ErrorCode::kInternal) return written;
    for (const Item& item : batch) {
      TRUCE_RETURN_IF_ERROR(Write([&](Ledger& ledger) { write(item, ledger); }));
    }
  }
  return {};
}

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_RECONCILE_STORE_H_
