// ResourceCopy: everything that the registry keeps of one resource, as an export has it.
#ifndef TRUCE_REGISTRY_OWNERSHIP_LISTS_RESOURCE_COPY_H_
#define TRUCE_REGISTRY_OWNERSHIP_LISTS_RESOURCE_COPY_H_

#include <optional>
#include <vector>

#include "registry/ownership/rows.h"

namespace truce {

class Facts;

// Owner::party, shape, state, leaf and contested are left at their defaults: they follow from the
// rest. Not in any copy: the audit log, settings, and objects that neither declare a key nor are
// above one that does.
struct ResourceCopy {
  ResourceId id;
  KeyText key;                        // the name that people are shown
  std::optional<Owner> owner;         // none: it is only observed
  std::vector<Row> rows;              // by RowId
  std::vector<Object> objects;        // of the rows, and those above, by uid
  std::vector<Agreement> agreements;  // by id
  std::vector<ResourceName> names;    // by NameId

  bool operator==(const ResourceCopy&) const = default;
};

// Empty but for the id when the registry knows nothing of it.
ResourceCopy CopyOf(const ResourceId& id, const Facts& facts);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_LISTS_RESOURCE_COPY_H_
