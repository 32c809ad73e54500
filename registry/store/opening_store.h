// OpeningStore: the server's store, which is opened after the listeners are up.
#ifndef TRUCE_REGISTRY_STORE_OPENING_STORE_H_
#define TRUCE_REGISTRY_STORE_OPENING_STORE_H_

#include <atomic>
#include <memory>
#include <optional>

#include "registry/store/store.h"

namespace truce {

// Passes everything on to a store. Until it has one everything is kUnavailable: so the admission
// port can answer "unknown" while the registry is opened, instead of refusing connections.
// Thread-safe.
class OpeningStore final : public Store {
 public:
  // Passes on to `store`, which is not null, from now on. Once.
  void Open(std::unique_ptr<Store> store);
  // The same to one that outlives it.
  void Open(Store& store);

  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override;
  void Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) override;
  using Store::Read;
  Result<void> Read(const Locks& hints, const ReadFn& read, Deadline deadline) const override;
  bool is_remote() const override;
  StoreCounts Counts() const override;
  Result<void> Health() const override;
  std::optional<Error> FatalFailure() const override;

 private:
  Store* opened() const { return store_.load(std::memory_order_acquire); }

  std::unique_ptr<Store> owned_;
  std::atomic<Store*> store_{nullptr};
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_OPENING_STORE_H_
