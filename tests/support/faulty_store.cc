#include "tests/support/faulty_store.h"

#include <utility>

#include "registry/ownership/rows.h"

namespace truce::testing {
namespace {

template <typename T>
std::optional<T> Take(std::deque<T>& queue) {
  if (queue.empty()) return std::nullopt;
  T first = std::move(queue.front());
  queue.pop_front();
  return first;
}

}  // namespace

void FaultyStore::FailNextApply(Error error) {
  faults_.With([&](Faults& faults) { faults.applies.push_back({std::move(error), false}); });
}

void FaultyStore::LoseNextAnswer(Error error) {
  faults_.With([&](Faults& faults) { faults.applies.push_back({std::move(error), true}); });
}

void FaultyStore::BreakWrites(Error error) {
  faults_.With([&](Faults& faults) { faults.broken = std::move(error); });
}

void FaultyStore::FailNextRead(Error error) {
  faults_.With([&](Faults& faults) { faults.reads.push_back(std::move(error)); });
}

void FaultyStore::Mend() {
  faults_.With([](Faults& faults) { faults = {}; });
}

Result<void> FaultyStore::Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) {
  const std::optional<Fault> fault =
      faults_.With([](Faults& faults) { return Take(faults.applies); });
  if (fault.has_value() && !fault->after_write) return fault->error;
  const std::optional<Error> broken = faults_.With([](Faults& faults) { return faults.broken; });
  bool refused = false;
  const DecideFn guarded = [&](const AllFacts& facts) {
    Changes changes = decide(facts);
    refused = broken.has_value() && !changes.empty();
    return refused ? Changes{} : changes;
  };
  Result<void> applied = store_.Apply(locks, guarded, deadline);
  if (!applied.ok()) return applied;
  if (refused) return *broken;
  if (fault.has_value()) return fault->error;
  return {};
}

void FaultyStore::HoldSubmitted() {
  faults_.With([](Faults& faults) { faults.held.emplace(); });
}

void FaultyStore::Release() {
  const auto held = faults_.With([](Faults& faults) { return std::exchange(faults.held, {}); });
  for (const auto& submit : held.value()) submit();
}

void FaultyStore::Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) {
  auto submit = [this, locks, decide = std::move(decide), deadline, done = std::move(done)] {
    done(Apply(locks, decide, deadline));
  };
  const bool is_held = faults_.With([&](Faults& faults) {
    if (faults.held.has_value()) faults.held->emplace_back(submit);
    return faults.held.has_value();
  });
  if (!is_held) submit();
}

Result<void> FaultyStore::Read(const Locks& hints, const ReadFn& read, Deadline deadline) const {
  std::optional<Error> fault = faults_.With([](Faults& faults) { return Take(faults.reads); });
  if (fault.has_value()) return *std::move(fault);
  return store_.Read(hints, read, deadline);
}

Result<void> FaultyStore::Health() const {
  std::optional<Error> broken = faults_.With([](Faults& faults) { return faults.broken; });
  if (broken.has_value()) return *std::move(broken);
  return store_.Health();
}

}  // namespace truce::testing
