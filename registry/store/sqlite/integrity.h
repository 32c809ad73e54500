// The check of a whole database beside its use.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_INTEGRITY_H_
#define TRUCE_REGISTRY_STORE_SQLITE_INTEGRITY_H_

#include <functional>
#include <stop_token>

#include "registry/base/result.h"
#include "registry/store/sqlite/connection.h"

namespace truce {

// Checks each table with its indexes, on a connection of its own: eight seconds for a million
// ownerships. Begins a table anew after a pause when `hold_back` says that the log grows behind it.
// Returns when `stop` asks. Errors: kDataLoss (damaged), kUnavailable.
Result<void> CheckIntegrity(const ConnectionOptions& options, const std::stop_token& stop,
                            const std::function<bool()>& hold_back);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_INTEGRITY_H_
