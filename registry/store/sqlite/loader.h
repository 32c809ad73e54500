// Loading and checking a database when it is opened.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_LOADER_H_
#define TRUCE_REGISTRY_STORE_SQLITE_LOADER_H_

#include <cstdint>
#include <functional>
#include <stop_token>

#include "registry/base/result.h"
#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/known.h"

namespace truce {

// What is kept in memory.
struct Memory {
  Known known;
  SignpostsOfTables signposts;
};

// Fills `memory` and checks the structure of every table and index (quick_check), side by side on
// several threads. Nobody may write meanwhile. Errors: kDataLoss (with the first finding),
// kUnavailable.
Result<void> Load(const ConnectionOptions& options, Memory& memory);

// The full check (integrity_check: rows against indexes too), table by table on a connection of its
// own, so that each snapshot is short. Ends early, without error, when `stop` is requested; starts
// a table again when `hold_back` says that its snapshot holds others back. Errors: kDataLoss,
// kUnavailable.
Result<void> CheckIntegrity(const ConnectionOptions& options, const std::stop_token& stop,
                            const std::function<bool()>& hold_back);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_LOADER_H_
