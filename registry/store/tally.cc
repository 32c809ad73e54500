#include "registry/store/tally.h"

#include "registry/base/assert.h"

namespace truce {
namespace {

// The counter of the state for people (design section 1): a record outranks what the rows say, and
// an ownership that is offered to a successor is still orphaned.
std::uint64_t& CounterOf(StoreCounts& counts, Record record, HolderState state) {
  switch (record) {
    case Record::kOrphaned:
    case Record::kTransferring: return counts.orphaned;
    case Record::kImported: return counts.imported;
    case Record::kNone: break;
  }
  return state == HolderState::kReserved ? counts.reserved : counts.held;
}

}  // namespace

bool IsIn(OwnerList list, const Owner& owner) {
  switch (list) {
    case OwnerList::kAll: return true;
    case OwnerList::kContested: return owner.contested;
    case OwnerList::kOrphaned:
      return owner.record == Record::kOrphaned || owner.record == Record::kTransferring;
    case OwnerList::kImported: return owner.record == Record::kImported;
    case OwnerList::kReserved:
      return owner.record == Record::kNone && owner.state == HolderState::kReserved;
  }
  return false;
}

void CountIn(StoreCounts& counts, Record record, HolderState state) {
  ++counts.owners;
  ++CounterOf(counts, record, state);
}

void CountOut(StoreCounts& counts, Record record, HolderState state) {
  std::uint64_t& counter = CounterOf(counts, record, state);
  TRUCE_ASSERT(counts.owners > 0 && counter > 0);
  --counts.owners;
  --counter;
}

}  // namespace truce
