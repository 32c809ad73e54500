#include "registry/store/opening_store.h"

#include <utility>

#include "registry/base/assert.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

Error NotOpen() { return Error{ErrorCode::kUnavailable, "the store is not open yet"}; }

}  // namespace

void OpeningStore::Open(std::unique_ptr<Store> store) {
  TRUCE_ASSERT(store != nullptr && opened() == nullptr);
  owned_ = std::move(store);
  Open(*owned_);
}

void OpeningStore::Open(Store& store) {
  TRUCE_ASSERT(opened() == nullptr);
  store_.store(&store, std::memory_order_release);
}

Result<void> OpeningStore::Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) {
  Store* store = opened();
  return store == nullptr ? Result<void>(NotOpen()) : store->Apply(locks, decide, deadline);
}

void OpeningStore::Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) {
  Store* store = opened();
  if (store == nullptr) return done(NotOpen());
  store->Submit(locks, std::move(decide), deadline, std::move(done));
}

Result<void> OpeningStore::Read(const Locks& hints, const ReadFn& read, Deadline deadline) const {
  const Store* store = opened();
  return store == nullptr ? Result<void>(NotOpen()) : store->Read(hints, read, deadline);
}

bool OpeningStore::is_remote() const {
  const Store* store = opened();
  return store != nullptr && store->is_remote();
}

StoreCounts OpeningStore::Counts() const {
  const Store* store = opened();
  return store == nullptr ? StoreCounts{} : store->Counts();
}

Result<void> OpeningStore::Health() const {
  const Store* store = opened();
  return store == nullptr ? Result<void>(NotOpen()) : store->Health();
}

std::optional<Error> OpeningStore::FatalFailure() const {
  const Store* store = opened();
  return store == nullptr ? std::nullopt : store->FatalFailure();
}

}  // namespace truce
