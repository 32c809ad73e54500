// Adapters of the port share these: checks at the border, and counts by service.
#ifndef TRUCE_REGISTRY_STORE_ADAPTER_H_
#define TRUCE_REGISTRY_STORE_ADAPTER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"
#include "registry/ownership/rows.h"
#include "registry/store/store.h"

namespace truce {

// Whether a store takes these changes as they are: their decision broke no invariant
// (Changes::breach), and nothing that is put lacks its identity. Conditions that only the whole
// store shows (a reservation has an owner, a name has its resource) each adapter holds itself.
// Errors: kInternal.
Result<void> CheckChanges(const Changes& changes);

// The refusal of changes that break `constraint`, a sentence of the port, by `what`.
Error BrokenConstraint(std::string_view constraint, std::string_view what);

// True when KeysNamed finds nothing, whatever is kept.
bool IsAmongNobody(const NameSearch& search);

// For statements about a table, which are written from its description: `"a", "b"`; and
// ` WHERE "a" = ?1 AND "b" = ?2`, of its first `count` columns.
std::string ListOf(std::span<const TableColumn> columns, std::string_view after = "",
                   std::string_view between = ", ");
std::string WhereOf(const Table& table, std::size_t count, char mark);

// Adds up the answer of TallyServices. External synchronization.
class ServiceTallies {
 public:
  void Add(const Place& place, std::string_view service, std::uint64_t count);
  std::vector<ServiceTally> Take() &&;

 private:
  std::map<ServiceTally, std::uint64_t> counts_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_ADAPTER_H_
