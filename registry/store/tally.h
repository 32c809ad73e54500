// Sorting ownerships by state, shared by the stores that do it in memory.
#ifndef TRUCE_REGISTRY_STORE_TALLY_H_
#define TRUCE_REGISTRY_STORE_TALLY_H_

#include <cstdint>

#include "registry/ownership/rows.h"
#include "registry/store/store.h"

namespace truce {

// True when `owner` belongs to `list`.
bool IsIn(OwnerList list, const Owner& owner);

// Adds one ownership with this record and state to `counts`.
void CountIn(StoreCounts& counts, Record record, HolderState state);

// Takes out one that was counted in with the same record and state.
void CountOut(StoreCounts& counts, Record record, HolderState state);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_TALLY_H_
