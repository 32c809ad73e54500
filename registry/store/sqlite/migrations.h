// Migrations: how a database gets the present schema. Forward only, never edited after a release.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_MIGRATIONS_H_
#define TRUCE_REGISTRY_STORE_SQLITE_MIGRATIONS_H_

#include <cstdint>
#include <span>
#include <string>

#include "registry/base/result.h"
#include "registry/store/migration.h"
#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/files.h"

namespace truce {

// "TRUC": SQLite's application_id of a registry.
inline constexpr std::int64_t kApplicationId = 0x54525543;

// The ones of schema/sqlite, embedded by the build.
std::span<const Migration> BuiltInMigrations();

// Whether the migrations that ran on the database are `migrations`, as far as both go. Errors:
// kInvalidArgument (a development version of Truce made it); kUnavailable; kDataLoss.
Result<void> CheckApplied(Connection& connection, std::span<const Migration> migrations);

// Brings the database to the last of `migrations`, each in a transaction of its own; an empty file
// becomes a database of Truce. Before an older one is changed, a copy is made at
// `path`.before-<version>, in place of one that is there; it is durable before the change begins.
// Errors: kInvalidArgument (not a database of Truce; written by a newer Truce, or by a development
// version before the first release); kUnavailable; kDataLoss. Each message names what to do.
Result<void> Migrate(Connection& connection, std::span<const Migration> migrations,
                     const std::string& path, Files& files = RealFiles());

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_MIGRATIONS_H_
