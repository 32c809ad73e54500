// What is asked of a PostgreSQL server before the registry is trusted to it, and its schema.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_SETUP_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_SETUP_H_

#include <span>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/store/migration.h"
#include "registry/store/postgres/connection.h"

namespace truce {

// The ones of schema/postgres, embedded by the build.
std::span<const Migration> PostgresMigrations();

// Whether the server can be the arbiter: a primary of version 14 or newer that keeps what it
// acknowledged, speaks UTF-8, and holds an advisory lock of `first` against `second`, another
// connection to it. Errors: kInvalidArgument, with what to do; kUnavailable, kDeadlineExceeded.
Result<void> ProbeServer(PgLink& first, PgLink& second, Deadline deadline);

// Brings the database to the last of `migrations`, all in one transaction, one program at a time.
// Errors: kInvalidArgument (a newer Truce, or other migrations, made it; what to do is said);
// kUnavailable, kDeadlineExceeded; kInternal (SQL that the server does not take).
Result<void> MigratePostgres(PgLink& link, std::span<const Migration> migrations,
                             Deadline deadline);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_SETUP_H_
