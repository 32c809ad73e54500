// The prepared statements of the SQLite store.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "registry/store/sqlite/migrations.h"
#include "tests/support/temporary_folder.h"

namespace truce::testing {
namespace store_statements_test {

// The statement that `connection` prepared last.
sqlite3_stmt* Last(const Connection& connection) {
  return sqlite3_next_stmt(connection.handle(), nullptr);
}

TEST(Statements, AreNotPlannedAnewForOtherValues) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "s.db").string();
  const auto connection = Connection::Open({file, "", false}).value();
  ASSERT_TRUE(Migrate(*connection, BuiltInMigrations(), file).ok());
  int looked_at = 0;
  for (std::size_t sql = 0; sql < kSqlCount; ++sql) {
    ASSERT_TRUE(connection->Use(static_cast<Sql>(sql)).ok());
    sqlite3_stmt* const statement = Last(*connection);
    const int count = sqlite3_bind_parameter_count(statement);
    if (count == 0 || sqlite3_stmt_readonly(statement) == 0) continue;
    ++looked_at;
    for (const int value : {1, 2, 3}) {
      for (int i = 1; i <= count; ++i) sqlite3_bind_int(statement, i, value);
      while (sqlite3_step(statement) == SQLITE_ROW) {
      }
      sqlite3_reset(statement);
    }
    EXPECT_EQ(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_REPREPARE, 0), 0)
        << sqlite3_sql(statement);
  }
  EXPECT_GT(looked_at, 20);
}

}  // namespace store_statements_test
}  // namespace truce::testing
