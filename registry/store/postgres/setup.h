// Requirements of a PostgreSQL server before the registry is trusted to it, and its schema.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_SETUP_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_SETUP_H_

#include <span>
#include <string_view>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/store/migration.h"
#include "registry/store/postgres/connection.h"

namespace truce {

// The ones of schema/postgres, embedded by the build.
std::span<const Migration> PostgresMigrations();
// SQL that makes the roles: schema/postgres/roles.sql, embedded by the build.
std::string_view PostgresRoles();

// Whether the server can be the arbiter: a primary of version 14 or newer that keeps what it
// acknowledged, speaks UTF-8, and holds an advisory lock of `first` against `second`, another
// connection to it. Errors: kInvalidArgument, with what to do; kUnavailable, kDeadlineExceeded.
Result<void> ProbeServer(PgLink& first, PgLink& second, Deadline deadline);

// Brings the database to the last of `migrations`, all in one transaction, one program at a time;
// as role truce_owner where there is one that this user is a member of. Roles truce_app and
// truce_read, where they exist, get their rights. Errors: kInvalidArgument (a newer Truce, or other
// migrations, made it; this user may not; with the remedy); kUnavailable, kDeadlineExceeded;
// kInternal (SQL that the server does not take).
Result<void> MigratePostgres(PgLink& link, std::span<const Migration> migrations,
                             Deadline deadline);

// Connects, probes the server and brings the database up, for a user who need not be the store's.
// Errors: as those.
Result<void> PreparePostgres(const PgTarget& target, Deadline deadline);

// Whether this user may do to the tables what the store does. Errors: kInvalidArgument, with the
// rights that are missing and what to do; kUnavailable, kDeadlineExceeded.
Result<void> CheckRights(PgLink& link, Deadline deadline);

// Whether the server waits for a standby before it acknowledges a commit. Errors: as Ask.
Result<bool> NamesStandby(PgLink& link, Deadline deadline);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_SETUP_H_
