#include "registry/store/sqlite/connection.h"

#include <sqlite3.h>

#include <cstring>
#include <utility>

#include "registry/base/assert.h"

namespace truce {
namespace {

// Older versions can corrupt a database when two connections write or checkpoint at one instant.
constexpr int kSqliteVersionMin = 3051003;
static_assert(SQLITE_VERSION_NUMBER >= kSqliteVersionMin, "SQLite 3.51.3 or newer is needed");

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

void Statement::BindOne(int parameter, std::string_view value) {
  // A null pointer would bind NULL instead of an empty text.
  const char* data = value.data() == nullptr ? "" : value.data();
  const int code =
      sqlite3_bind_text64(statement_, parameter, data, value.size(), SQLITE_STATIC, SQLITE_UTF8);
  TRUCE_ASSERT(code == SQLITE_OK || code == SQLITE_TOOBIG || code == SQLITE_NOMEM);
}

void Statement::BindOne(int parameter, std::int64_t value) {
  TRUCE_ASSERT(sqlite3_bind_int64(statement_, parameter, value) == SQLITE_OK);
}

void Statement::BindOne(int parameter, const std::optional<std::string>& value) {
  value ? BindOne(parameter, std::string_view(*value)) : BindNull(parameter);
}

void Statement::BindOne(int parameter, const std::optional<std::string_view>& value) {
  value ? BindOne(parameter, *value) : BindNull(parameter);
}

void Statement::BindOne(int parameter, const std::optional<std::int64_t>& value) {
  value ? BindOne(parameter, *value) : BindNull(parameter);
}

void Statement::BindNull(int parameter) {
  TRUCE_ASSERT(sqlite3_bind_null(statement_, parameter) == SQLITE_OK);
}

void Statement::Bind(const TableRow& values) {
  int parameter = 0;
  for (const TableValue& value : values) {
    ++parameter;
    if (const auto* const text = std::get_if<std::string>(&value)) {
      BindOne(parameter, std::string_view(*text));
    } else if (const auto* const number = std::get_if<std::int64_t>(&value)) {
      BindOne(parameter, *number);
    } else {
      BindNull(parameter);
    }
  }
}

Result<bool> Statement::Step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return ErrorOf(database_, sqlite3_extended_errcode(database_));
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
  sqlite3* database = nullptr;
  const int access =
      options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(options.path.c_str(), &database,
                                   access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                                   options.vfs.empty() ? nullptr : options.vfs.c_str());
  std::unique_ptr<Connection> connection(new Connection(database));
  if (code != SQLITE_OK) return ErrorOf(database, code);
  TRUCE_RETURN_IF_ERROR(connection->Configure(options));
  return connection;
}

Connection::~Connection() {
  for (const auto& [sql, statement] : prepared_) sqlite3_finalize(statement);
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
              "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -" +
              std::to_string(options.cache_bytes / 1024)));
  if (options.read_only) return Execute("PRAGMA query_only = ON");
  TRUCE_ASSIGN_OR_RETURN(const std::string mode, Text("PRAGMA journal_mode = WAL"));
  if (mode != "wal") {
    return Error{ErrorCode::kUnavailable, "the file system cannot hold a write-ahead log"};
  }
  // FULL: a commit is on the disk before its answer leaves (I3).
  return Execute(
      "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;"
      // A log that starts anew keeps its file: writing over it costs less than making it grow.
      "PRAGMA journal_size_limit = 268435456");
}

Result<Statement> Connection::Prepared(const char* sql) {
  sqlite3_stmt*& prepared = prepared_[sql];
  if (prepared == nullptr) {
    const int code =
        sqlite3_prepare_v3(database_, sql, -1, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
    if (code != SQLITE_OK) return ErrorOf(database_, code);
  }
  TRUCE_ASSERT(sqlite3_stmt_busy(prepared) == 0);
  return Statement(database_, prepared, false);
}

Result<Statement> Connection::Prepare(std::string_view sql) {
  sqlite3_stmt* prepared = nullptr;
  const int code =
      sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &prepared, nullptr);
  if (code != SQLITE_OK) return ErrorOf(database_, code);
  return Statement(database_, prepared, true);
}

Result<void> Connection::Execute(const std::string& sql) {
  const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return ErrorOf(database_, sqlite3_extended_errcode(database_));
  return {};
}

Result<std::string> Connection::Text(const char* sql) {
  std::string text;
  const auto read = [&](const Statement& row) -> Result<bool> {
    text = row.Text(0);
    return false;
  };
  TRUCE_RETURN_IF_ERROR(Visit(sql, read));
  return text;
}

std::int64_t Connection::LastId() const { return sqlite3_last_insert_rowid(database_); }

bool Connection::InTransaction() const { return sqlite3_get_autocommit(database_) == 0; }

}  // namespace truce
