// Connection and Statement: SQLite's handles as values that cannot leak, with errors as results.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_CONNECTION_H_
#define TRUCE_REGISTRY_STORE_SQLITE_CONNECTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "registry/base/result.h"
#include "registry/ownership/table.h"

struct sqlite3;
struct sqlite3_stmt;

namespace truce {

// One run of a statement; resets it when destroyed. Columns are counted from 0. External
// synchronization.
class Statement {
 public:
  Statement(sqlite3* database, sqlite3_stmt* statement, bool owned);
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement& operator=(Statement&&) = delete;

  // Binds parameters from ?1 on: texts, numbers, truths; an absent optional is NULL. Texts are not
  // copied: they must live until the last Step.
  template <typename... Values>
  void Bind(const Values&... values) {
    int parameter = 0;
    (BindOne(++parameter, values), ...);
  }

  void Bind(const TableRow& values);

  // True when there is a row to read, false at the end. After an error or false the statement is
  // done.
  Result<bool> Step();

  // Valid until the next Step.
  std::string_view Text(int column) const;
  std::int64_t Integer(int column) const;
  bool IsNull(int column) const;

 private:
  void BindOne(int parameter, std::string_view value);
  void BindOne(int parameter, const std::string& value) {
    BindOne(parameter, std::string_view(value));
  }
  void BindOne(int parameter, const char* value) { BindOne(parameter, std::string_view(value)); }
  void BindOne(int parameter, std::int64_t value);
  void BindOne(int parameter, bool value) { BindOne(parameter, std::int64_t{value ? 1 : 0}); }
  void BindNull(int parameter);
  void BindOne(int parameter, const std::optional<std::string>& value);
  void BindOne(int parameter, const std::optional<std::string_view>& value);
  void BindOne(int parameter, const std::optional<std::int64_t>& value);

  sqlite3* database_;
  sqlite3_stmt* statement_;
  bool owned_;
};

struct ConnectionOptions {
  std::string path;
  std::string vfs;         // empty: the default one
  bool read_only = false;  // opened for reading, and refuses every write
  bool alone = false;      // nobody else may have it open
  bool keep_log = false;   // the last to close moves the log into the database; not this one
  std::uint64_t cache_bytes = 2U << 20;  // of pages of the database
};

// A database connection with Truce's settings. External synchronization: one thread at a time.
class Connection {
 public:
  // Only a second program on the file can make a connection wait; it should not, and soon be gone.
  static constexpr int kBusyMilliseconds = 5000;

  // Errors: kUnavailable (cannot be opened); kDataLoss (not a database, damaged).
  static Result<std::unique_ptr<Connection>> Open(const ConnectionOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Runs the one statement `sql` with `values` for its parameters and calls `each` with every row
  // (a Statement; Result<bool>: false ends it). The statement stays prepared under the address of
  // `sql`: a constant that lives as long as the connection. `each` runs no statement of the same
  // address.
  template <typename Each, typename... Values>
  Result<void> Visit(const char* sql, const Each& each, const Values&... values) {
    Result<Statement> prepared = Prepared(sql);
    if (!prepared.ok()) return std::move(prepared).error();
    Statement& statement = prepared.value();
    statement.Bind(values...);
    while (true) {
      TRUCE_ASSIGN_OR_RETURN(const bool found, statement.Step());
      if (!found) return {};
      TRUCE_ASSIGN_OR_RETURN(const bool goes_on, each(std::as_const(statement)));
      if (!goes_on) return {};
    }
  }
  // The address under which a text that is made at run time stays prepared: one for equal texts.
  const char* Keep(std::string sql) { return texts_.insert(std::move(sql)).first->c_str(); }
  // The same, without a look at the rows.
  template <typename... Values>
  Result<void> Run(const char* sql, const Values&... values) {
    return Visit(
        sql, [](const Statement&) -> Result<bool> { return true; }, values...);
  }
  // First column of the first row; 0, or empty: there is none.
  template <typename... Values>
  Result<std::int64_t> Integer(const char* sql, const Values&... values) {
    std::int64_t value = 0;
    const auto read = [&](const Statement& row) -> Result<bool> {
      value = row.Integer(0);
      return false;
    };
    TRUCE_RETURN_IF_ERROR(Visit(sql, read, values...));
    return value;
  }
  Result<std::string> Text(const char* sql);

  // A statement that is run once.
  Result<Statement> Prepare(std::string_view sql);
  // Runs every statement of `sql` and ignores rows.
  Result<void> Execute(const std::string& sql);
  // Of the row that the last INSERT made.
  std::int64_t LastId() const;
  bool InTransaction() const;
  sqlite3* handle() const { return database_; }

 private:
  explicit Connection(sqlite3* database) : database_(database) {}
  Result<void> Configure(const ConnectionOptions& options);
  Result<Statement> Prepared(const char* sql);

  sqlite3* database_;
  std::set<std::string> texts_;
  std::unordered_map<const char*, sqlite3_stmt*> prepared_;
};

// SQLite's last error on `database`, for a caller: kUnavailable (full, I/O, read-only, busy),
// kDataLoss (damaged), kInternal (constraint, misuse).
Error ErrorOf(sqlite3* database, int code);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_CONNECTION_H_
