// StrictStore: a store that shows a decision only what it was asked to bring.
#ifndef TRUCE_TESTS_SUPPORT_STRICT_STORE_H_
#define TRUCE_TESTS_SUPPORT_STRICT_STORE_H_

#include <cstddef>

#include "registry/base/guarded.h"
#include "registry/ownership/rows.h"
#include "registry/store/discovery/needs.h"
#include "registry/store/store.h"
#include "tests/support/memory_store.h"

namespace truce::testing {

// A memory store behind discovery, as a store that locks by thing has it: what runs sees what its
// hints name and what it missed before, nothing else, and runs again until it misses nothing. One
// in three tries to lock more fails, as if somebody else held it. Thread-safe.
class StrictStore final : public Store {
 public:
  struct Effort {
    std::size_t decisions = 0;
    std::size_t runs = 0;       // of all decisions
    std::size_t longest = 0;    // runs of one decision
    std::size_t whole = 0;      // decisions that locked the whole registry
    std::size_t long_ones = 0;  // decisions with more runs than kRunsUsual
    FactNeeds missed;           // by the last decision: what its hints did not name
  };

  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override;
  using Store::Read;
  Result<void> Read(const Locks& hints, const ReadFn& read, Deadline deadline) const override;
  StoreCounts Counts() const override { return memory_.Counts(); }
  Result<void> Health() const override { return memory_.Health(); }

  Effort effort() const;
  // What it holds, for who looks on.
  const Store& memory() const { return memory_; }

 private:
  MemoryStore memory_;
  Guarded<Effort> effort_;
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_STRICT_STORE_H_
