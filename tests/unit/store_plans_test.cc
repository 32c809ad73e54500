// How SQLite answers what people ask by index.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "registry/ownership/rows.h"
#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/facts.h"
#include "registry/store/sqlite/sqlite_store.h"
#include "tests/support/temporary_folder.h"

namespace truce::testing {
namespace store_plans_test {

TEST(SqlitePlans, WhatPeopleFindByIndexPassesOverNoTable) {
  using Among = NameSearch::Among;
  TemporaryFolder folder;
  SqliteOptions options;
  options.data_dir = folder.path().string();
  ASSERT_TRUE(SqliteStore::Open(options).ok());
  auto opened = Connection::Open({(folder.path() / "truce.db").string(), "", true});
  ASSERT_TRUE(opened.ok());
  Connection& connection = *opened.value();
  const SqliteFacts facts(connection);
  for (const Among among : {Among::kBeginning, Among::kService, Among::kNamespace, Among::kType}) {
    facts.KeysNamed({among, "orders", "dlq"}, 10);
  }
  facts.OwnerOf({"id"});
  facts.KeysWithName("orders", 10);
  facts.KeysWithArn("arn", 10);
  facts.KeysOfService("orders", {}, 10);
  facts.OwnersIn(OwnerList::kAll, {}, 10);
  facts.OwnersIn(OwnerList::kContested, {}, 10);
  facts.OwnersIn(OwnerList::kEnding, {}, 10);
  facts.KeysAfter({}, 10);
  ASSERT_FALSE(facts.error()) << facts.error()->message;
  std::vector<std::string> questions;
  for (sqlite3_stmt* each = sqlite3_next_stmt(connection.handle(), nullptr); each != nullptr;
       each = sqlite3_next_stmt(connection.handle(), each)) {
    const std::string sql = sqlite3_sql(each);
    const auto is_of = [&](const char* table) { return sql.find(table) != std::string::npos; };
    if (is_of(" FROM resources") || is_of(" FROM names") || is_of(" FROM places")) {
      questions.push_back(sql);
    }
  }
  EXPECT_EQ(questions.size(), 12U);
  for (const std::string& sql : questions) {
    auto plan = connection.Prepare("EXPLAIN QUERY PLAN " + sql);
    ASSERT_TRUE(plan.ok()) << sql;
    while (plan.value().Step().value()) {
      const std::string step(plan.value().Text(3));
      EXPECT_EQ(step.find("SCAN"), std::string::npos) << sql << ": " << step;
    }
  }
}

TEST(SqlitePlans, WhatADecisionAsksOfAResourceIsReadOnce) {
  TemporaryFolder folder;
  SqliteOptions options;
  options.data_dir = folder.path().string();
  ASSERT_TRUE(SqliteStore::Open(options).ok());
  auto opened = Connection::Open({(folder.path() / "truce.db").string(), "", true});
  ASSERT_TRUE(opened.ok());
  const SqliteFacts facts(*opened.value());
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(facts.OwnerOf({"id"}));
    EXPECT_TRUE(facts.RowsOf({"id"}).empty());
  }
  int runs = 0;
  sqlite3* const database = opened.value()->handle();
  for (sqlite3_stmt* each = sqlite3_next_stmt(database, nullptr); each != nullptr;
       each = sqlite3_next_stmt(database, each)) {
    runs += sqlite3_stmt_status(each, SQLITE_STMTSTATUS_RUN, 0);
  }
  EXPECT_EQ(runs, 2);
}

}  // namespace store_plans_test
}  // namespace truce::testing
