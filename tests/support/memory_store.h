// MemoryStore: the reference implementation of the store port.
#ifndef TRUCE_TESTS_SUPPORT_MEMORY_STORE_H_
#define TRUCE_TESTS_SUPPORT_MEMORY_STORE_H_

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "registry/store/store.h"

namespace truce {

// Keeps everything in ordered maps under one lock: simple enough to be right by reading it, and the
// yardstick of the contract and model tests. Nothing survives the process. Thread-safe.
class MemoryStore final : public Store {
 public:
  MemoryStore();
  ~MemoryStore() override;

  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override;
  using Store::Read;
  Result<void> Read(const Locks& hints, const ReadFn& read, Deadline deadline) const override;
  StoreCounts Counts() const override;
  Result<void> Health() const override;

 private:
  class State;

  mutable std::mutex mutex_;
  std::unique_ptr<State> state_;  // guarded by mutex_
};

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_MEMORY_STORE_H_
