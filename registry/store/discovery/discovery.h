// Discovery: a decision or read runs on what was brought beforehand, and again with what it missed.
#ifndef TRUCE_REGISTRY_STORE_DISCOVERY_DISCOVERY_H_
#define TRUCE_REGISTRY_STORE_DISCOVERY_DISCOVERY_H_

#include <cstddef>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/ownership/facts.h"
#include "registry/store/discovery/needs.h"
#include "registry/store/store.h"

namespace truce {

// One transaction of a store that locks by thing, as discovery sees it. External synchronization.
class FactSource {
 public:
  virtual ~FactSource() = default;

  // Begins, waits for the locks of `needs` in one order for all, reads it and adds it to `stock`,
  // with the resources that names lead to where their locks are free. `whole`: locks everything
  // instead. Errors: those of Store::Apply.
  virtual Result<void> Begin(const FactNeeds& needs, bool whole, FactStock& stock) = 0;
  // Brings more into the same transaction, likewise. Its locks are only tried, since waiting out of
  // order may deadlock; false: somebody holds one of them, and nothing was read. Under the whole
  // lock: true.
  virtual Result<bool> More(const FactNeeds& needs, FactStock& stock) = 0;
  // Lets everything go; nothing was written.
  virtual void Undo() = 0;
  // Told once of a decision or look that runs more often than kRunsUsual.
  virtual void OnManyRuns() = 0;
};

// Runs that are thrown away before the whole registry is locked, and the locks that one decision
// may hold. Both bound what a wrong hint can cost.
inline constexpr std::size_t kRunsMax = 4;
inline constexpr std::size_t kLocksMax = 512;

// One that runs more often asks for other things each time, which is a fault of its author, or
// follows a chain of objects link by link. It goes on until the deadline.
inline constexpr std::size_t kRunsUsual = 8;

// Runs `decide` inside the transaction that `source` keeps until all it read and all that it
// changes is known, and gives its changes; the transaction is left open. `hints`: its probable
// needs; wrong ones cost time, nothing else. Errors: those of `source`; kDeadlineExceeded: nothing
// was written.
Result<Changes> DecideOn(FactSource& source, const Locks& hints, const DecideFn& decide,
                         Deadline deadline);

// The same for a read: nothing is locked or written, and it ends when nothing is missed.
Result<void> ReadOn(FactSource& source, const Locks& hints, const ReadFn& read, Deadline deadline);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_DISCOVERY_DISCOVERY_H_
