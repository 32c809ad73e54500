// Writes what a decision changes.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_WRITING_H_
#define TRUCE_REGISTRY_STORE_SQLITE_WRITING_H_

#include "registry/base/result.h"
#include "registry/ownership/rows.h"
#include "registry/store/sqlite/connection.h"

namespace truce {

// Inside the transaction that is open. Errors: kInternal (a constraint is broken; SQLite has taken
// the whole transaction back, or the caller must), and those of the connection.
Result<void> WriteChanges(Connection& writer, const Changes& changes);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_WRITING_H_
