#include "registry/store/sqlite/connection.h"

#include <sqlite3.h>

#include <cstring>
#include <utility>

#include "registry/base/assert.h"
#include "registry/store/sqlite/layers.h"

namespace truce {
namespace {

// Older versions can corrupt a database when two connections write or checkpoint at one instant.
constexpr int kSqliteVersionMin = 3051003;
static_assert(SQLITE_VERSION_NUMBER >= kSqliteVersionMin, "SQLite 3.51.3 or newer is needed");

// Only a second program on the file can make a connection wait; it should not, and soon be gone.
constexpr int kBusyMilliseconds = 5000;

// What both INSERT and UPDATE write; the columns that say which row it is stand apart.
#define TRUCE_OWNER_VALUES                                                                     \
  "owned, public_id, root, party, service, contact, arn, name, identity, shape, since, real, " \
  "record, record_reason, successor, state, leaf, contested, managed_once, left_slots"
#define TRUCE_ROW_VALUES                                                                 \
  "slot, root, intent, terminating, managed, identity, review, digest, base, user, at, " \
  "created, namespace, account_fields"
#define TRUCE_OBJECT_VALUES                                                               \
  "uid, kind, namespace, name, parent, parent_uid, root, link, names, service, contact, " \
  "composes, own_party, transfer_to, told, stripped, at"
#define TRUCE_OBJECT_SLOT "kind || '/' || namespace || '/' || name"  // as ToText(Slot)
#define TRUCE_AUDIT_COLUMNS "at, action, key, id, root, slot, uid, cause, actor, review"

#define TRUCE_AGREEMENT_COLUMNS \
  "id, kind, key, party, level, accepted, successor, reason, actor, at, until"

#define TRUCE_SELECT_NAMES "SELECT names.name, key, names.sort, names.observed, names.at FROM "

#define TRUCE_SELECT_OWNERS "SELECT key, " TRUCE_OWNER_VALUES " FROM resources "
#define TRUCE_SELECT_ROWS                                                                        \
  "SELECT key, uid, declarations.state, slot, declarations.root, intent, terminating, managed, " \
  "declarations.identity, review, digest, base, user, at, created, account_fields "
#define TRUCE_ROWS_BY_ID \
  "FROM declarations CROSS JOIN resources ON resources.id = declarations.resource "
#define TRUCE_ROWS_BY_KEY \
  "FROM resources CROSS JOIN declarations ON declarations.resource = resources.id "
#define TRUCE_ORDER_ROWS "ORDER BY key, uid, declarations.state"
#define TRUCE_SELECT_OBJECTS "SELECT " TRUCE_OBJECT_VALUES " FROM objects "
#define TRUCE_OWNERS_AFTER(condition) \
  TRUCE_SELECT_OWNERS "WHERE key > ? AND " condition " ORDER BY key LIMIT ?"

// A broken constraint ends the whole transaction (OR ROLLBACK), which the writer repeats without
// the request that broke it: so no statement needs a journal to be taken back alone.
// NOLINTNEXTLINE(readability-function-size): a list.
const char* TextOf(Sql sql) {
  switch (sql) {
    case Sql::kBegin: return "BEGIN IMMEDIATE";
    case Sql::kBeginRead: return "BEGIN";
    case Sql::kCommit: return "COMMIT";
    case Sql::kRollback: return "ROLLBACK";
    case Sql::kCountCommit: return "UPDATE commits SET count = count + 1";
    case Sql::kFindResource: return "SELECT id FROM resources WHERE key = ?";
    case Sql::kAddResource:
      return "INSERT OR ROLLBACK INTO resources (" TRUCE_OWNER_VALUES
             ", key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    case Sql::kChangeResource:
      return "UPDATE OR ROLLBACK resources SET (" TRUCE_OWNER_VALUES
             ") = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?";
    case Sql::kForgetResource:
      return "DELETE FROM resources WHERE key = ? AND owned = 0 AND NOT EXISTS "
             "(SELECT 1 FROM declarations WHERE resource = resources.id)";
    case Sql::kFindRow:
      return "SELECT id FROM declarations WHERE resource = ? AND uid = ? AND state = ?";
    case Sql::kAddRow:
      return "INSERT OR ROLLBACK INTO declarations (" TRUCE_ROW_VALUES
             ", resource, uid, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    case Sql::kChangeRow:
      return "UPDATE OR ROLLBACK declarations SET (" TRUCE_ROW_VALUES
             ") = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?";
    case Sql::kDropRow: return "DELETE FROM declarations WHERE id = ?";
    case Sql::kFindObject:
      return "SELECT id, " TRUCE_OBJECT_SLOT " FROM objects WHERE id = ? AND uid = ?";
    case Sql::kAddObject:
      return "INSERT OR ROLLBACK INTO objects (" TRUCE_OBJECT_VALUES
             ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    case Sql::kChangeObject:
      return "UPDATE OR ROLLBACK objects SET (" TRUCE_OBJECT_VALUES
             ") = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?";
    case Sql::kDropObject: return "DELETE FROM objects WHERE id = ?";
    case Sql::kAddAudit:
      return "INSERT OR ROLLBACK INTO audit (" TRUCE_AUDIT_COLUMNS
             ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    case Sql::kPutSetting: return "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)";
    case Sql::kCommitCount: return "SELECT count FROM commits";
    case Sql::kOwnerOf: return TRUCE_SELECT_OWNERS "WHERE key = ? AND owned = 1";
    case Sql::kRowsOfKey:
      return TRUCE_SELECT_ROWS TRUCE_ROWS_BY_KEY "WHERE key = ? " TRUCE_ORDER_ROWS;
    case Sql::kRowOfUid:
      return TRUCE_SELECT_ROWS TRUCE_ROWS_BY_ID "WHERE declarations.id = ? AND uid = ?";
    case Sql::kSearchRowsOfUid: return TRUCE_SELECT_ROWS TRUCE_ROWS_BY_ID "WHERE uid = ?";
    case Sql::kObjectOfUid: return TRUCE_SELECT_OBJECTS "WHERE id = ? AND uid = ?";
    case Sql::kSearchObjectOfUid: return TRUCE_SELECT_OBJECTS "WHERE uid = ?";
    case Sql::kObjectOfSlot:
      return TRUCE_SELECT_OBJECTS "WHERE id = ? AND kind = ? AND namespace = ? AND name = ?";
    case Sql::kSearchObjectsOfSlot:
      return TRUCE_SELECT_OBJECTS "WHERE kind = ? AND namespace = ? AND name = ?";
    case Sql::kChildrenOf: return TRUCE_SELECT_OBJECTS "WHERE parent = ? ORDER BY uid";
    case Sql::kReservation: return "SELECT slot, user, at FROM declarations WHERE id = ?";
    case Sql::kAllReservations:
      return "SELECT slot, user, at FROM declarations WHERE state = 'reserved'";
    case Sql::kKeysAfter: return "SELECT key FROM resources WHERE key > ? ORDER BY key LIMIT ?";
    case Sql::kObjectOfKind:
      return "SELECT " TRUCE_OBJECT_VALUES ", id FROM objects WHERE kind = ? AND id = ?";
    case Sql::kSearchObjectsOfKind:
      return "SELECT " TRUCE_OBJECT_VALUES
             ", id FROM objects WHERE kind = ? AND id > ? ORDER BY id LIMIT ?";
    case Sql::kReservedBefore:
      return TRUCE_SELECT_ROWS TRUCE_ROWS_BY_ID
          "WHERE declarations.state = 'reserved' AND at < ? AND (key, uid) > (?, ?) "
          "ORDER BY key, uid LIMIT ?";
    case Sql::kObserversAfter:
      return TRUCE_SELECT_ROWS TRUCE_ROWS_BY_ID
          "WHERE intent = 'observes' AND (key, uid, declarations.state) > (?, ?, ?) "
          "ORDER BY key, uid, declarations.state LIMIT ?";
    case Sql::kCountSeen:
      return "SELECT count(*) FROM declarations "
             "WHERE state = 'seen' AND substr(slot, 1, length(?1)) = ?1";
    case Sql::kOwnersAfter: return TRUCE_OWNERS_AFTER("owned = 1");
    case Sql::kContestedAfter: return TRUCE_OWNERS_AFTER("contested = 1");
    case Sql::kOrphanedAfter: return TRUCE_OWNERS_AFTER("record IN ('orphaned', 'transferring')");
    case Sql::kImportedAfter: return TRUCE_OWNERS_AFTER("record = 'imported'");
    case Sql::kSetting: return "SELECT value FROM settings WHERE name = ?";
    case Sql::kCountRows: return "SELECT count(*) " TRUCE_ROWS_BY_KEY "WHERE key = ?";
    case Sql::kAllOwners: return TRUCE_SELECT_OWNERS "WHERE owned = 1 ORDER BY key";
    case Sql::kAllRows: return TRUCE_SELECT_ROWS TRUCE_ROWS_BY_KEY TRUCE_ORDER_ROWS;
    case Sql::kAllObjects: return TRUCE_SELECT_OBJECTS "ORDER BY uid";
    case Sql::kAllAudit: return "SELECT " TRUCE_AUDIT_COLUMNS " FROM audit ORDER BY seq";
    case Sql::kAuditNewestFirst:
      return "SELECT " TRUCE_AUDIT_COLUMNS
             ", seq FROM audit WHERE seq >= ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3";
    case Sql::kAuditOldestFirst:
      return "SELECT " TRUCE_AUDIT_COLUMNS
             ", seq FROM audit WHERE seq >= ?1 AND seq < ?2 ORDER BY seq LIMIT ?3";
    case Sql::kAuditOfIdNewestFirst:
      return "SELECT " TRUCE_AUDIT_COLUMNS
             ", seq FROM audit WHERE id = ?4 AND id <> '' AND seq >= ?1 AND seq < ?2 ORDER BY seq "
             "DESC LIMIT ?3";
    case Sql::kAuditOfIdOldestFirst:
      return "SELECT " TRUCE_AUDIT_COLUMNS
             ", seq FROM audit WHERE id = ?4 AND id <> '' AND seq >= ?1 AND seq < ?2 ORDER BY seq "
             "LIMIT ?3";
    case Sql::kAllSettings: return "SELECT name, value FROM settings ORDER BY name";
    case Sql::kAgreementsOf:
      return "SELECT " TRUCE_AGREEMENT_COLUMNS " FROM agreements WHERE key = ? ORDER BY id";
    case Sql::kAgreementById:
      return "SELECT " TRUCE_AGREEMENT_COLUMNS " FROM agreements WHERE id = ?";
    case Sql::kAgreementsAfter:
      return "SELECT " TRUCE_AGREEMENT_COLUMNS
             " FROM agreements WHERE kind = ? AND id > ? ORDER BY id LIMIT ?";
    case Sql::kAllAgreements:
      return "SELECT " TRUCE_AGREEMENT_COLUMNS " FROM agreements ORDER BY id";
    case Sql::kPutAgreement:
      return "INSERT OR REPLACE INTO agreements (" TRUCE_AGREEMENT_COLUMNS
             ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    case Sql::kDropAgreement: return "DELETE FROM agreements WHERE id = ?";
    case Sql::kFurtherName:
      return TRUCE_SELECT_NAMES
          "names JOIN resources ON resources.id = names.resource WHERE names.name = ?";
    case Sql::kFurtherNamesOf:
      return TRUCE_SELECT_NAMES
          "resources JOIN names ON names.resource = resources.id WHERE key = ? ORDER BY names.name";
    case Sql::kAllNames:
      return TRUCE_SELECT_NAMES
          "names CROSS JOIN resources ON resources.id = names.resource ORDER BY names.name";
    case Sql::kNamesAsWritten:
      return TRUCE_SELECT_NAMES "names CROSS JOIN resources ON resources.id = names.resource";
    case Sql::kPutName:
      return "INSERT OR REPLACE INTO names (name, resource, sort, observed, at) "
             "VALUES (?, ?, ?, ?, ?)";
    case Sql::kDropName: return "DELETE FROM names WHERE name = ?";
    case Sql::kAllResources: return TRUCE_SELECT_OWNERS;
    case Sql::kRowUids: return "SELECT uid, id FROM declarations";
    case Sql::kObjectTexts: return "SELECT uid, id, " TRUCE_OBJECT_SLOT ", kind FROM objects";
  }
  TRUCE_ASSERT(false);
  return nullptr;
}

// The reason in words where SQLite's own are not for people.
std::string MessageOf(sqlite3* database, int code) {
  switch (code & 0xFF) {
    case SQLITE_FULL: return "the disk is full";
    case SQLITE_READONLY: return "the database or its file system is read-only";
    case SQLITE_BUSY: return "the database is locked by another program";
    default: break;
  }
  std::string message = sqlite3_errmsg(database);
  const int system_error = sqlite3_system_errno(database);
  if (((code & 0xFF) == SQLITE_IOERR || (code & 0xFF) == SQLITE_CANTOPEN) && system_error != 0) {
    message += " (" + std::string(std::strerror(system_error)) + ")";
  }
  return message;
}

ErrorCode CodeOf(int code) {
  if (code == SQLITE_IOERR_CORRUPTFS) return ErrorCode::kDataLoss;
  switch (code & 0xFF) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_CANTOPEN:
    case SQLITE_NOMEM:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_PROTOCOL:
    case SQLITE_INTERRUPT: return ErrorCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCode::kDataLoss;
    default: return ErrorCode::kInternal;
  }
}

}  // namespace

Error ErrorOf(sqlite3* database, int code) { return {CodeOf(code), MessageOf(database, code)}; }

Statement::Statement(sqlite3* database, sqlite3_stmt* statement, bool owned)
    : database_(database), statement_(statement), owned_(owned) {}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      owned_(other.owned_) {}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  if (owned_) {
    sqlite3_finalize(statement_);
    return;
  }
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Statement::BindText(int parameter, std::string_view value) {
  // A null pointer would bind NULL instead of an empty text.
  const char* data = value.data() == nullptr ? "" : value.data();
  const int code = sqlite3_bind_text64(statement_, parameter + 1, data, value.size(), SQLITE_STATIC,
                                       SQLITE_UTF8);
  TRUCE_ASSERT(code == SQLITE_OK || code == SQLITE_TOOBIG || code == SQLITE_NOMEM);
}

void Statement::BindInteger(int parameter, std::int64_t value) {
  TRUCE_ASSERT(sqlite3_bind_int64(statement_, parameter + 1, value) == SQLITE_OK);
}

void Statement::BindNull(int parameter) {
  TRUCE_ASSERT(sqlite3_bind_null(statement_, parameter + 1) == SQLITE_OK);
}

Result<bool> Statement::Step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return ErrorOf(database_, sqlite3_extended_errcode(database_));
}

Result<void> Statement::Run() {
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(const bool more, Step());
    if (!more) return {};
  }
}

std::string_view Statement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return {};
  return {static_cast<const char*>(static_cast<const void*>(text)),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::int64_t Statement::Integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

Result<std::unique_ptr<Connection>> Connection::Open(const ConnectionOptions& options) {
  if (sqlite3_libversion_number() < kSqliteVersionMin) {
    return Error{ErrorCode::kInternal, "SQLite 3.51.3 or newer is needed, this process runs " +
                                           std::string(sqlite3_libversion())};
  }
  LayerPageCache();
  std::unique_ptr<WritingVfs> vfs;
  std::string layer = options.vfs;
  if (!options.read_only) {
    TRUCE_ASSIGN_OR_RETURN(vfs, WritingVfs::Make(options.vfs, options.lost_sync));
    layer = vfs->name();
  }
  sqlite3* database = nullptr;
  const int access =
      options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(options.path.c_str(), &database,
                                   access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                                   layer.empty() ? nullptr : layer.c_str());
  std::unique_ptr<Connection> connection(new Connection(std::move(vfs), database));
  if (code != SQLITE_OK) return ErrorOf(database, code);
  TRUCE_RETURN_IF_ERROR(connection->Configure(options));
  return connection;
}

Connection::Connection(std::unique_ptr<WritingVfs> vfs, sqlite3* database)
    : vfs_(std::move(vfs)), database_(database) {}

Connection::~Connection() {
  for (sqlite3_stmt* statement : statements_) sqlite3_finalize(statement);
  sqlite3_close_v2(database_);
}

Result<void> Connection::Configure(const ConnectionOptions& options) {
  sqlite3_busy_timeout(database_, kBusyMilliseconds);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  // Or it would plan a statement anew for each value that might be one of a partial index: more
  // than the statement itself costs. Ours name such values themselves.
  sqlite3_db_config(database_, SQLITE_DBCONFIG_ENABLE_QPSG, 1, nullptr);
  if (options.keep_log) sqlite3_db_config(database_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  // Before it looks at the database: from then on it would share the log's index with others.
  if (options.alone) TRUCE_RETURN_IF_ERROR(Execute("PRAGMA locking_mode = EXCLUSIVE"));
  TRUCE_RETURN_IF_ERROR(
      Execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
              "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY"));
  if (options.read_only) return Execute("PRAGMA query_only = ON; PRAGMA cache_size = -2000");
  TRUCE_ASSIGN_OR_RETURN(const std::string mode, Text("PRAGMA journal_mode = WAL"));
  if (mode != "wal") {
    return Error{ErrorCode::kUnavailable, "the file system cannot hold a write-ahead log"};
  }
  // FULL: a commit is on the disk before its answer leaves (I3). Checkpoints are the
  // checkpointer's.
  return Execute(
      "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;"
      // A log that starts anew keeps its file: writing over it costs less than making it grow.
      "PRAGMA journal_size_limit = 268435456; PRAGMA cache_size = -16000");
}

Result<Statement> Connection::Use(Sql sql) {
  sqlite3_stmt*& prepared = statements_[static_cast<std::size_t>(sql)];
  if (prepared == nullptr) {
    const int code = sqlite3_prepare_v3(database_, TextOf(sql), -1, SQLITE_PREPARE_PERSISTENT,
                                        &prepared, nullptr);
    if (code != SQLITE_OK) return ErrorOf(database_, code);
  }
  TRUCE_ASSERT(sqlite3_stmt_busy(prepared) == 0);
  return Statement(database_, prepared, false);
}

Result<Statement> Connection::Prepare(std::string_view text) {
  sqlite3_stmt* prepared = nullptr;
  const int code =
      sqlite3_prepare_v2(database_, text.data(), static_cast<int>(text.size()), &prepared, nullptr);
  if (code != SQLITE_OK) return ErrorOf(database_, code);
  return Statement(database_, prepared, true);
}

Result<void> Connection::Execute(const std::string& text) {
  const int code = sqlite3_exec(database_, text.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return ErrorOf(database_, sqlite3_extended_errcode(database_));
  return {};
}

Result<void> Connection::Run(Sql sql) {
  TRUCE_ASSIGN_OR_RETURN(Statement statement, Use(sql));
  return statement.Run();
}

Result<std::int64_t> Connection::Integer(std::string_view text) {
  TRUCE_ASSIGN_OR_RETURN(Statement statement, Prepare(text));
  TRUCE_ASSIGN_OR_RETURN(const bool found, statement.Step());
  return found ? statement.Integer(0) : 0;
}

Result<std::string> Connection::Text(std::string_view text) {
  TRUCE_ASSIGN_OR_RETURN(Statement statement, Prepare(text));
  TRUCE_ASSIGN_OR_RETURN(const bool found, statement.Step());
  return found ? std::string(statement.Text(0)) : std::string();
}

std::int64_t Connection::LastId() const { return sqlite3_last_insert_rowid(database_); }

void Connection::SyncEvery(int pages) { vfs_->SyncEvery(pages); }

bool Connection::InTransaction() const { return sqlite3_get_autocommit(database_) == 0; }

}  // namespace truce
