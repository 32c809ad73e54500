// MigrateStore: a registry as it is into another store.
#ifndef TRUCE_WEBHOOK_UPKEEP_MIGRATE_STORE_H_
#define TRUCE_WEBHOOK_UPKEEP_MIGRATE_STORE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"

namespace truce {

class Store;

struct StoreMigration {
  std::vector<std::pair<std::string, std::uint64_t>> tables;  // name, and its number of rows
  std::string digest;  // SHA-256 of all that both stores hold, hexadecimal
};

// Called after each page: how many of a table were moved or compared so far, by this call.
using OnMigrated =
    std::function<void(std::string_view act, std::string_view table, std::uint64_t done)>;

// Writes everything that `from` holds into `to`: resources with owners, declarations and names,
// objects, agreements, the audit log with its numbers, settings, and so the registry's identity.
// Then reads both in one order and compares their digests. In memory is a page of each.
//
// Each page is one transaction of `to`, which keeps in the setting `store/migration` how far it is:
// cut off anywhere, the next call goes on there. Nobody else may write to either store. Errors:
// kConflict: `to` holds something else, `from` is not whole, or changed since it was begun;
// kInvalidArgument: `from` holds nothing; kDataLoss: a table differs, which the message names; else
// those of Store.
Result<StoreMigration> MigrateStore(const Store& from, Store& to, const OnMigrated& tell);

// Whether `store` is whole. Errors: kConflict: a migration into it has not ended: it may lack
// ownerships, and nothing may be decided on it; else those of Store::Read.
Result<void> CheckMigrated(const Store& store, Deadline deadline);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_UPKEEP_MIGRATE_STORE_H_
