// FaultyStore: a store that fails when a test says so.
#ifndef TRUCE_TESTS_SUPPORT_FAULTY_STORE_H_
#define TRUCE_TESTS_SUPPORT_FAULTY_STORE_H_

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/ownership/rows.h"
#include "registry/store/store.h"

namespace truce::testing {

// Decorates a store that must outlive it. Thread-safe. Counts always answers.
class FaultyStore final : public Store {
 public:
  explicit FaultyStore(Store& store) : store_(store) {}

  // The next Apply writes nothing and answers `error`. Faults queue up.
  void FailNextApply(Error error);
  // The next Apply writes, and answers `error` all the same: the outcome is unknown to its caller.
  void LoseNextAnswer(Error error);
  // Every Apply with changes fails with `error` until Mend; Health tells it. One without changes
  // answers.
  void BreakWrites(Error error);
  void FailNextRead(Error error);
  // What is submitted waits until Release.
  void HoldSubmitted();
  void Release();
  void Mend();

  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override;
  void Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) override;
  using Store::Read;
  Result<void> Read(const Locks& hints, const ReadFn& read, Deadline deadline) const override;
  StoreCounts Counts() const override { return store_.Counts(); }
  Result<void> Health() const override;

 private:
  struct Fault {
    Error error;
    bool after_write = false;
  };
  struct Faults {
    std::deque<Fault> applies;
    std::deque<Error> reads;
    std::optional<Error> broken;
    std::optional<std::vector<std::function<void()>>> held;
  };

  Store& store_;
  mutable Guarded<Faults> faults_;
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_FAULTY_STORE_H_
