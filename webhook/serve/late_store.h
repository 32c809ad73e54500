// A store that is opened after the listeners are up.
#ifndef TRUCE_WEBHOOK_SERVE_LATE_STORE_H_
#define TRUCE_WEBHOOK_SERVE_LATE_STORE_H_

#include <atomic>
#include <memory>
#include <optional>

#include "registry/store/store.h"
#include "webhook/config/config.h"

namespace truce {

// Opens the store that `config` names, in its data directory.
// Errors: as the store's Open.
Result<std::unique_ptr<Store>> OpenStore(const Config& config);

// Answers kUnavailable until Set(); then passes everything on. So the admission port can answer
// "unknown" while a large registry is read, instead of refusing connections. Thread-safe.
class LateStore final : public Store {
 public:
  // Once. `store` is not null.
  void Set(std::unique_ptr<Store> store);

  Result<void> Apply(const Locks& locks, const Decide& decide, Deadline deadline) override;
  void Submit(const Locks& locks, Decide decide, Deadline deadline, OnDone done) override;
  Result<void> Read(const Look& look, Deadline deadline) const override;
  StoreCounts Counts() const override;
  Result<StoreContents> Contents() const override;
  Result<void> Health() const override;
  std::optional<Error> FatalFailure() const override;

 private:
  std::unique_ptr<Store> owned_;
  std::atomic<Store*> store_{nullptr};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_LATE_STORE_H_
