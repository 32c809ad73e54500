#include "webhook/watch/reconcile_store.h"

#include "registry/base/assert.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/rows.h"
#include "registry/store/store.h"

namespace truce {

void CountAsReal(const Uid& uid, Ledger& ledger) {
  ledger.MayEnd(uid);
  for (const Row& row : ledger.RowsOfUid(uid)) {
    auto owner = ledger.OwnerOf(row.id.resource);
    if (!owner || owner->real || owner->root != row.root || !Manages(row)) continue;
    owner->real = true;
    ledger.PutOwner(*std::move(owner));
  }
}

ReconcileStore::ReconcileStore(ReconcilePorts ports, ReconcileRules rules)
    : ports_(std::move(ports)) {
  SetRules(std::move(rules));
}

void ReconcileStore::SetRules(ReconcileRules rules) {
  TRUCE_ASSERT(rules.catalogue != nullptr);
  rules_ = std::move(rules);
}

Result<void> ReconcileStore::Read(const std::function<void(const AllFacts&)>& read) const {
  return ports_.store.Read(read, ports_.deadline());
}

Changes ReconcileStore::Outcome(const Facts& facts, const Change& change,
                                DecisionIds& decision_ids) const {
  const IdSource ids = decision_ids.Run(ports_.ids);
  Ledger ledger(facts, now(), ids, rules_.parties);
  change(ledger);
  return ledger.Take();
}

Result<void> ReconcileStore::Write(const Change& change) {
  Result<void> written = TryToWrite(change);
  if (written.ok() || written.error().code != ErrorCode::kInternal) return written;
  ++breaches_;
  breach_ = written.error().message;
  return {};
}

Result<void> ReconcileStore::TryToWrite(const Change& change) {
  DecisionIds ids;
  const auto decide = [&](const Facts& facts) { return Outcome(facts, change, ids); };
  return ports_.store.Apply({}, decide, ports_.deadline());
}

}  // namespace truce
