#include "tests/support/fenced_store.h"

#include "registry/ownership/rows.h"

namespace truce::testing {

Result<void> FencedStore::Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) {
  fence_.NoteCall(epoch_);
  bool refused = false;
  const DecideFn fenced = [&](const AllFacts& facts) {
    refused = !is_newest();
    return refused ? Changes{} : decide(facts);
  };
  Result<void> applied = store_.Apply(locks, fenced, deadline);
  if (refused) return Error{ErrorCode::kConflict, "another server has taken over the watch"};
  return applied;
}

Result<void> FencedStore::Read(const Locks& hints, const ReadFn& read, Deadline deadline) const {
  fence_.NoteCall(epoch_);
  return store_.Read(hints, read, deadline);
}

}  // namespace truce::testing
