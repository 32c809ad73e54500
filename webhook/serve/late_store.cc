#include "webhook/serve/late_store.h"

#include <utility>

#include "registry/base/assert.h"
#include "registry/store/memory/memory_store.h"
#include "registry/store/sqlite/sqlite_store.h"

namespace truce {
namespace {

Error NotOpen() { return Error{ErrorCode::kUnavailable, "the store is not open yet"}; }

}  // namespace

Result<std::unique_ptr<Store>> OpenStore(const Config& config) {
  if (config.store == "memory") {
    std::unique_ptr<Store> store = std::make_unique<MemoryStore>();
    return store;
  }
  SqliteOptions options;
  options.data_dir = config.data_dir;
  TRUCE_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, SqliteStore::Open(options));
  return store;
}

void LateStore::Set(std::unique_ptr<Store> store) {
  TRUCE_ASSERT(store != nullptr && owned_ == nullptr);
  owned_ = std::move(store);
  store_.store(owned_.get(), std::memory_order_release);
}

Result<void> LateStore::Apply(const Locks& locks, const Decide& decide, Deadline deadline) {
  Store* store = store_.load(std::memory_order_acquire);
  return store == nullptr ? Result<void>(NotOpen()) : store->Apply(locks, decide, deadline);
}

void LateStore::Submit(const Locks& locks, Decide decide, Deadline deadline, OnDone done) {
  Store* store = store_.load(std::memory_order_acquire);
  if (store == nullptr) return done(NotOpen());
  store->Submit(locks, std::move(decide), deadline, std::move(done));
}

Result<void> LateStore::Read(const Look& look, Deadline deadline) const {
  const Store* store = store_.load(std::memory_order_acquire);
  return store == nullptr ? Result<void>(NotOpen()) : store->Read(look, deadline);
}

StoreCounts LateStore::Counts() const {
  const Store* store = store_.load(std::memory_order_acquire);
  return store == nullptr ? StoreCounts{} : store->Counts();
}

Result<StoreContents> LateStore::Contents() const {
  const Store* store = store_.load(std::memory_order_acquire);
  return store == nullptr ? Result<StoreContents>(NotOpen()) : store->Contents();
}

Result<void> LateStore::Health() const {
  const Store* store = store_.load(std::memory_order_acquire);
  return store == nullptr ? Result<void>(NotOpen()) : store->Health();
}

std::optional<Error> LateStore::FatalFailure() const {
  const Store* store = store_.load(std::memory_order_acquire);
  return store == nullptr ? std::nullopt : store->FatalFailure();
}

}  // namespace truce
