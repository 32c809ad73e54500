// Connection and Statement: SQLite's handles as values that cannot leak, with errors as results.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_CONNECTION_H_
#define TRUCE_REGISTRY_STORE_SQLITE_CONNECTION_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace truce {

class LostSync;
class WritingVfs;

// Every statement that is run more than once; its text stands in connection.cc.
enum class Sql : std::uint8_t {
  kBegin,
  kBeginRead,
  kCommit,
  kRollback,
  kCommitCount,
  kCountCommit,
  kOwnerOf,
  kRowsOfKey,
  kRowOfUid,
  kSearchRowsOfUid,
  kObjectOfUid,
  kSearchObjectOfUid,
  kObjectOfSlot,
  kSearchObjectsOfSlot,
  kChildrenOf,
  kReservation,
  kAllReservations,
  kKeysAfter,
  kObjectOfKind,
  kSearchObjectsOfKind,
  kReservedBefore,
  kObserversAfter,
  kCountSeen,
  kOwnersAfter,
  kContestedAfter,
  kOrphanedAfter,
  kImportedAfter,
  kSetting,
  kCountRows,
  kFindResource,
  kAddResource,
  kChangeResource,
  kForgetResource,
  kFindRow,
  kAddRow,
  kChangeRow,
  kDropRow,
  kFindObject,
  kAddObject,
  kChangeObject,
  kDropObject,
  kAddAudit,
  kPutSetting,
  kAllOwners,
  kAllRows,
  kAllObjects,
  kAllAudit,
  kAuditNewestFirst,
  kAuditOldestFirst,
  kAuditOfIdNewestFirst,
  kAuditOfIdOldestFirst,
  kAllSettings,
  kAgreementsOf,
  kAgreementById,
  kAgreementsAfter,
  kAllAgreements,
  kPutAgreement,
  kDropAgreement,
  kFurtherName,
  kFurtherNamesOf,
  kAllNames,
  kNamesAsWritten,
  kPutName,
  kDropName,
  kAllResources,
  kRowUids,
  kObjectTexts,
};
inline constexpr std::size_t kSqlCount = static_cast<std::size_t>(Sql::kObjectTexts) + 1;

// One run of a prepared statement; resets it when destroyed. Parameters and columns are counted
// from 0. Bound texts are not copied: they must live until the last Step. External synchronization.
class Statement {
 public:
  Statement(sqlite3* database, sqlite3_stmt* statement, bool owned);
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement& operator=(Statement&&) = delete;

  void BindText(int parameter, std::string_view value);
  void BindInteger(int parameter, std::int64_t value);
  void BindNull(int parameter);

  // True when there is a row to read, false at the end. After an error or false the statement is
  // done.
  Result<bool> Step();
  // Steps over all rows; for statements that write.
  Result<void> Run();

  // Valid until the next Step.
  std::string_view Text(int column) const;
  std::int64_t Integer(int column) const;
  bool IsNull(int column) const;

 private:
  sqlite3* database_;
  sqlite3_stmt* statement_;
  bool owned_;
};

struct ConnectionOptions {
  std::string path;
  std::string vfs;         // empty: the default one
  bool read_only = false;  // opened for reading, and refuses every write
  bool alone = false;      // nobody else may have it open; takes a log of the last user in
  bool keep_log = false;   // whoever closes last moves the log into the database; not this one
  // Shared by all connections of a store that write; null: one of its own.
  std::shared_ptr<LostSync> lost_sync;
};

// A database connection with Truce's settings. External synchronization: one thread at a time.
class Connection {
 public:
  // Errors: kUnavailable (cannot be opened); kDataLoss (not a database, damaged).
  static Result<std::unique_ptr<Connection>> Open(const ConnectionOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The prepared statement for `sql`; at most one run of each at a time.
  Result<Statement> Use(Sql sql);
  // A statement that is run once.
  Result<Statement> Prepare(std::string_view text);
  // Runs every statement of `text` and ignores rows.
  Result<void> Execute(const std::string& text);
  Result<void> Run(Sql sql);
  // Of the row that the last INSERT made.
  std::int64_t LastId() const;
  // First column of the first row of `text`.
  Result<std::int64_t> Integer(std::string_view text);
  Result<std::string> Text(std::string_view text);

  bool InTransaction() const;
  // See WritingVfs. Only of a connection that writes.
  void SyncEvery(int pages);
  sqlite3* handle() const { return database_; }

 private:
  Connection(std::unique_ptr<WritingVfs> vfs, sqlite3* database);
  Result<void> Configure(const ConnectionOptions& options);

  const std::unique_ptr<WritingVfs> vfs_;  // null: reads only
  sqlite3* database_;
  std::array<sqlite3_stmt*, kSqlCount> statements_{};
};

// What SQLite's last error on `database` means for a caller: kUnavailable (full, I/O, read-only,
// busy), kDataLoss (damaged), kInternal (constraint, misuse).
Error ErrorOf(sqlite3* database, int code);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_CONNECTION_H_
