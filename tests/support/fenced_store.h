// FencedStore: a store through which one of several watches writes, in tests.
#ifndef TRUCE_TESTS_SUPPORT_FENCED_STORE_H_
#define TRUCE_TESTS_SUPPORT_FENCED_STORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "registry/store/store.h"

namespace truce::testing {

// Which watch is the newest. Thread-safe.
class WatchFence final {
 public:
  // The epoch of one more watch; whoever had the watch before writes nothing from now on.
  std::int64_t TakeOver() { return ++newest_; }
  std::int64_t newest() const { return newest_.load(); }
  // Somebody takes over just before the newest watch calls its store for the `number`th time from
  // now on; 0: nobody does.
  void TakeOverAtCall(std::size_t number) { calls_left_ = number; }

 private:
  friend class FencedStore;
  void NoteCall(std::int64_t epoch) {
    if (epoch == newest() && calls_left_ > 0 && --calls_left_ == 0) TakeOver();
  }

  std::atomic<std::int64_t> newest_{0};
  std::atomic<std::size_t> calls_left_{0};
};

// Takes the watch over when it is made, and decides on a store that must outlive it, as
// PostgresStore::watch_store does: kConflict once another one took it over. Thread-safe.
class FencedStore final : public Store {
 public:
  FencedStore(Store& store, WatchFence& fence)
      : store_(store), fence_(fence), epoch_(fence.TakeOver()) {}

  bool is_newest() const { return fence_.newest() == epoch_; }

  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override;
  using Store::Read;
  Result<void> Read(const Locks& hints, const ReadFn& read, Deadline deadline) const override;
  StoreCounts Counts() const override { return store_.Counts(); }
  Result<void> Health() const override { return store_.Health(); }

 private:
  Store& store_;
  WatchFence& fence_;
  const std::int64_t epoch_;
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_FENCED_STORE_H_
