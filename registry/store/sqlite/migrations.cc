#include "registry/store/sqlite/migrations.h"

#include <cstdint>
#include <utility>

#include "registry/base/result.h"
#include "registry/store/sqlite/copies.h"

namespace truce {
namespace {

// The version of the schema: 0 for an empty file.
Result<std::int64_t> VersionOf(Connection& connection) {
  TRUCE_ASSIGN_OR_RETURN(const std::int64_t application,
                         connection.Integer("PRAGMA application_id"));
  TRUCE_ASSIGN_OR_RETURN(const std::int64_t tables,
                         connection.Integer("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) return 0;
  if (application != kApplicationId) {
    return InvalidArgument("it is a database of another program: choose another data directory");
  }
  return connection.Integer("PRAGMA user_version");
}

Result<void> Begin(Connection& connection) {
  return connection.Execute(
      "CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL,"
      " checksum TEXT NOT NULL, at INTEGER NOT NULL) STRICT;"
      "PRAGMA application_id = " +
      std::to_string(kApplicationId));
}

Result<void> Note(Connection& connection, const Migration& migration) {
  return connection.Run(
      "INSERT INTO migrations (version, name, checksum, at) "
      "VALUES (?1, ?2, ?3, CAST(unixepoch('subsec') * 1000 AS INTEGER))",
      std::int64_t{migration.version}, migration.name, migration.checksum);
}

Result<void> RunOne(Connection& connection, const Migration& migration) {
  TRUCE_RETURN_IF_ERROR(connection.Run("BEGIN IMMEDIATE"));
  const auto change = [&]() -> Result<void> {
    if (migration.version == 1) TRUCE_RETURN_IF_ERROR(Begin(connection));
    TRUCE_RETURN_IF_ERROR(connection.Execute(std::string(migration.sql)));
    TRUCE_RETURN_IF_ERROR(Note(connection, migration));
    return connection.Execute("PRAGMA user_version = " + std::to_string(migration.version));
  };
  Result<void> changed = change();
  if (changed.ok()) changed = connection.Run("COMMIT");
  if (changed.ok()) return {};
  if (connection.InTransaction()) static_cast<void>(connection.Run("ROLLBACK").ok());
  return std::move(changed).error().Within("migration \"" + std::string(migration.name) + "\"");
}

// A copy of an earlier attempt, or of an upgrade that was taken back, is replaced.
Result<void> CopyBefore(Connection& connection, const std::string& target, Files& files) {
  const auto copy = [&]() -> Result<void> {
    TRUCE_ASSIGN_OR_RETURN(Part part, Part::Begin(target, files));
    TRUCE_RETURN_IF_ERROR(CopyInto(connection, part));
    return part.PutInPlace();
  };
  Result<void> copied = copy();
  if (copied.ok()) return {};
  return std::move(copied).error().Within("copy to \"" + target + "\" before the migration");
}

}  // namespace

Result<void> CheckApplied(Connection& connection, std::span<const Migration> migrations) {
  TRUCE_ASSIGN_OR_RETURN(
      Statement applied,
      connection.Prepare("SELECT version, name, checksum FROM migrations ORDER BY version"));
  for (const Migration& migration : migrations) {
    TRUCE_ASSIGN_OR_RETURN(const bool found, applied.Step());
    if (!found) return {};
    if (applied.Integer(0) == migration.version && applied.Text(2) == migration.checksum) continue;
    // Released migrations are never edited, so no release wrote it.
    return InvalidArgument("a development version of Truce wrote it before the first release (\"" +
                           std::string(applied.Text(1)) +
                           "\" is not the one of this program): start with an empty data "
                           "directory, which the live objects fill, or run the Truce that wrote "
                           "it, for example to export from it");
  }
  return {};
}

Result<void> Migrate(Connection& connection, std::span<const Migration> migrations,
                     const std::string& path, Files& files) {
  TRUCE_ASSIGN_OR_RETURN(const std::int64_t version, VersionOf(connection));
  const auto latest = static_cast<std::int64_t>(migrations.size());
  if (version > 0) TRUCE_RETURN_IF_ERROR(CheckApplied(connection, migrations));
  if (version > latest) {
    return InvalidArgument("its schema has version " + std::to_string(version) +
                           ", this program knows versions up to " + std::to_string(latest) +
                           ": run the newer Truce that wrote it, or restore the copy \"" + path +
                           ".before-" + std::to_string(latest + 1) + "\"");
  }
  if (version > 0 && version < latest) {
    const std::string target = path + ".before-" + std::to_string(version + 1);
    TRUCE_RETURN_IF_ERROR(CopyBefore(connection, target, files));
  }
  for (const Migration& migration : migrations.subspan(static_cast<std::size_t>(version))) {
    TRUCE_RETURN_IF_ERROR(RunOne(connection, migration));
  }
  return {};
}

}  // namespace truce
