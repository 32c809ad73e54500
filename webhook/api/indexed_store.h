// IndexedStore: the server's store: opened after the listeners are up, with owners that can be
// found by id, name, ARN and service.
#ifndef TRUCE_WEBHOOK_API_INDEXED_STORE_H_
#define TRUCE_WEBHOOK_API_INDEXED_STORE_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/store/owner_finder.h"
#include "registry/store/store.h"
#include "webhook/api/directory.h"

namespace truce {

// Passes everything on to a store. Where that finds owners itself (Store::index) so are they asked
// for here; else they are kept in a Directory, which enters the owners of changed keys after each
// commit: every write must go through it then. Until it has a store everything is
// kUnavailable: so the admission port can answer "unknown" while a large registry is read, instead
// of refusing connections. Thread-safe.
class IndexedStore final : public Store, public OwnerFinder {
 public:
  IndexedStore() = default;                                // not open
  explicit IndexedStore(Store& store) : store_(&store) {}  // over one that outlives it
  ~IndexedStore() override;                                // waits for what was submitted
  IndexedStore(const IndexedStore&) = delete;
  IndexedStore& operator=(const IndexedStore&) = delete;

  // Passes on to `store`, which is not null, from now on. Once.
  void Open(std::unique_ptr<Store> store);
  // The same over one that outlives it.
  void Open(Store& store);

  // Enters every owner into the directory, page by page; writes go on meanwhile. Once, after the
  // store is open. Until it is done what OwnerFinder asks is kUnavailable. Errors: those of the
  // store; then Fill again. `stop`, checked between pages, ends it early.
  Result<void> Fill(const std::atomic<bool>& stop);

  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override;
  void Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) override;
  Result<void> Read(const ReadFn& read, Deadline deadline) const override;
  Result<void> ReadAbout(const Locks& hints, const ReadFn& read, Deadline deadline) const override;
  bool is_remote() const override;
  StoreCounts Counts() const override;
  Result<StoreContents> Contents() const override;
  Result<void> Health() const override;
  std::optional<Error> FatalFailure() const override;
  const OwnerFinder* index() const override { return this; }

  Result<KeysById> WithIds(const std::vector<PublicId>& ids, std::size_t limit,
                           Deadline deadline) const override;
  Result<std::vector<KeyText>> WithName(std::string_view name, std::size_t limit,
                                        Deadline deadline) const override;
  Result<std::vector<KeyText>> WithArn(std::string_view arn, std::size_t limit,
                                       Deadline deadline) const override;
  Result<std::vector<KeyText>> OfService(const std::string& service, const KeyText& after,
                                         std::size_t limit, Deadline deadline) const override;
  Result<std::vector<ServiceCount>> Services(const std::string& after, std::size_t limit,
                                             Deadline deadline) const override;
  Result<std::set<std::string>> NamespacesOf(const std::string& cluster,
                                             const std::set<GroupKind>& kinds,
                                             Deadline deadline) const override;
  Result<void> CountAll(const CountFn& count, Deadline deadline) const override;

 private:
  // What one decision leaves of the owners it changes.
  struct Decided;
  struct State {
    Directory directory;
    // Durable, and not in the directory yet: entered many at a time, or when somebody asks.
    std::vector<std::shared_ptr<Decided>> waiting;
    std::size_t waiting_keys = 0;
    // Keys whose last write may come true until then: read again whenever somebody asks.
    std::vector<std::pair<KeyText, Deadline>> unsure;
    std::uint64_t newest = 0;  // the latest decision of which something was entered
  };

  // Runs `ask(const Directory&)` and returns what it returns. `ask` must be short: commits wait
  // for it. Errors: kUnavailable (not filled yet).
  template <typename Ask>
  auto With(Ask ask) const -> Result<decltype(ask(std::declval<const Directory&>()))> {
    if (!filled_.load(std::memory_order_acquire)) {
      return Error{ErrorCode::kUnavailable, "the directory of owners is being filled"};
    }
    return state_.With([&](State& state) {
      EnterWaiting(state);
      ReadAgain(state);
      return ask(std::as_const(state.directory));
    });
  }
  Store* opened() const { return store_.load(std::memory_order_acquire); }
  // Of the store; null: the directory is asked.
  const OwnerFinder* own_index() const;
  std::shared_ptr<void> Count();
  Decided Note(const Changes& changes);
  // Of a decision that is durable.
  void Enter(std::shared_ptr<Decided> decided, State& state) const;
  void EnterWaiting(State& state) const;
  // False: they cannot be read now.
  bool ReadOwners(const std::vector<KeyText>& keys, State& state) const;
  void ReadAgain(State& state) const;

  std::unique_ptr<Store> owned_;
  std::atomic<Store*> store_{nullptr};
  mutable Guarded<State> state_;
  std::atomic<bool> filled_{false};
  std::atomic<std::uint64_t> decided_{0};
  std::mutex submitted_mutex_;
  std::condition_variable none_submitted_;
  std::size_t submitted_ = 0;  // guarded by submitted_mutex_
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_INDEXED_STORE_H_
