// Samples in a store as a decision leaves them: with what owners derive from their names and rows.
#ifndef TRUCE_TESTS_SUPPORT_LEDGER_SAMPLES_H_
#define TRUCE_TESTS_SUPPORT_LEDGER_SAMPLES_H_

#include "registry/ownership/ledger.h"
#include "tests/support/store_samples.h"

namespace truce::testing {

inline Result<void> WriteDecided(Store& store, const Changes& made) {
  const IdSource ids = [] { return PublicId{"0123456789abc"}; };
  const PartyRules parties;
  const auto decide = [&](const Facts& facts) {
    Ledger ledger(facts, At(1), ids, parties);
    for (const Object& object : made.put_objects) ledger.PutObject(object);
    for (const Row& row : made.put_rows) ledger.PutRow(row);
    for (const Owner& owner : made.put_owners) ledger.PutOwner(owner);
    for (const ResourceName& name : made.put_names) ledger.PutName(name);
    for (const AuditEntry& entry : made.audit) ledger.Audit(entry);
    return ledger.Take();
  };
  return store.Apply({}, decide, Soon());
}

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_LEDGER_SAMPLES_H_
