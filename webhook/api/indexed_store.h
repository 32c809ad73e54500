// IndexedStore: the server's store: opened after the listeners are up, with owners that can be
// found by id, name, ARN and service.
#ifndef TRUCE_WEBHOOK_API_INDEXED_STORE_H_
#define TRUCE_WEBHOOK_API_INDEXED_STORE_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/store/store.h"
#include "webhook/api/directory.h"

namespace truce {

// Passes everything on to a store, and after each commit reads the owners of the keys it changed
// into a Directory; of a remote store when somebody asks for the directory next. Until it has a
// store everything is kUnavailable: so the admission port can answer "unknown" while a large
// registry is read, instead of refusing connections. Thread-safe. Every write must go through it.
class IndexedStore final : public Store {
 public:
  IndexedStore() = default;                                // not open
  explicit IndexedStore(Store& store) : store_(&store) {}  // over one that outlives it
  ~IndexedStore() override;                                // waits for what was submitted
  IndexedStore(const IndexedStore&) = delete;
  IndexedStore& operator=(const IndexedStore&) = delete;

  // Passes on to `store`, which is not null, from now on. Once.
  void Open(std::unique_ptr<Store> store);

  // Enters every owner, page by page; writes go on meanwhile. Once, after the store is open.
  // Until it is done With is kUnavailable. Errors: those of the store; then Fill again.
  // `stop`, checked between pages, ends it early.
  Result<void> Fill(const std::atomic<bool>& stop);

  // Runs `ask(const Directory&)` and returns what it returns. `ask` must be short: commits wait
  // for it. Errors: kUnavailable (not filled yet).
  template <typename Ask>
  auto With(Ask ask) const -> Result<decltype(ask(std::declval<const Directory&>()))> {
    if (!filled_.load(std::memory_order_acquire)) {
      return Error{ErrorCode::kUnavailable, "the directory of owners is being filled"};
    }
    return state_.With([&](State& state) {
      ReadAgain(state);
      return ask(std::as_const(state.directory));
    });
  }

  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override;
  void Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) override;
  Result<void> Read(const ReadFn& read, Deadline deadline) const override;
  Result<void> ReadAbout(const Locks& hints, const ReadFn& read, Deadline deadline) const override;
  bool is_remote() const override;
  StoreCounts Counts() const override;
  Result<StoreContents> Contents() const override;
  Result<void> Health() const override;
  std::optional<Error> FatalFailure() const override;

 private:
  struct State {
    Directory directory;
    // Keys whose last write may come true until then: read again whenever somebody asks.
    std::vector<std::pair<KeyText, Deadline>> unsure;
  };

  Store* opened() const { return store_.load(std::memory_order_acquire); }
  std::shared_ptr<void> Count();
  // Enters what submitted changes of `keys` left.
  void EnterSubmitted(const std::vector<KeyText>& keys);
  // False: they cannot be read now.
  bool ReadOwners(const std::vector<KeyText>& keys, State& state) const;
  void ReadAgain(State& state) const;

  std::unique_ptr<Store> owned_;
  std::atomic<Store*> store_{nullptr};
  mutable Guarded<State> state_;
  std::atomic<bool> filled_{false};
  std::mutex submitted_mutex_;
  std::condition_variable none_submitted_;
  std::size_t submitted_ = 0;  // guarded by submitted_mutex_
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_INDEXED_STORE_H_
