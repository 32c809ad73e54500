// The layer over SQLite's page cache by random operations: its bound against a set, its pages
// against what SQLite asks of a cache, and a database that grows and shrinks against a map.
#include "registry/store/sqlite/page_cache.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>

#include "tests/support/temporary_folder.h"

namespace truce::testing {
namespace {

constexpr unsigned kFar = 1'000'000;  // as the number that SQLite lends pages while it splits

TEST(NumberBoundTest, IsNeverBelowTheHighest) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::set<unsigned> numbers;
    NumberBound bound;
    for (int step = 0; step < 300; ++step) {
      const auto number = static_cast<unsigned>(random() % 20 + 1);
      switch (random() % 5) {
        case 0:
        case 1:
          numbers.insert(number);
          bound.Add(number);
          break;
        case 2:
          if (numbers.erase(number) == 1) bound.Remove(number);
          break;
        case 3: numbers.erase(number); break;  // a page that was dropped untold
        default:
          if (random() % 8 != 0) break;
          numbers.erase(numbers.lower_bound(number), numbers.end());
          bound.Cut(number);
      }
      const unsigned highest = numbers.empty() ? 0 : *numbers.rbegin();
      ASSERT_TRUE(highest == 0 || bound.MayReach(highest)) << "step " << step;
    }
  }
}

TEST(NumberBoundTest, ForgetsAMoment) {
  NumberBound bound;
  for (const unsigned number : {3U, 9U, 5U}) bound.Add(number);
  for (int i = 0; i < 3; ++i) {
    bound.Add(kFar);
    EXPECT_TRUE(bound.MayReach(10));
    bound.Remove(kFar);
    EXPECT_FALSE(bound.MayReach(10));
    EXPECT_TRUE(bound.MayReach(9));
  }
}

// The layer's methods: SQLite tells them only before it is in use.
const sqlite3_pcache_methods2 kLayered = [] {
  LayerPageCache();
  sqlite3_pcache_methods2 methods{};
  sqlite3_config(SQLITE_CONFIG_GETPCACHE2, &methods);
  return methods;
}();

TEST(PageCacheTest, WhatIsCutOffIsGone) {
  ASSERT_EQ(sqlite3_initialize(), SQLITE_OK);
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    sqlite3_pcache* const cache = kLayered.xCreate(512, 64, 1);
    ASSERT_NE(cache, nullptr);
    kLayered.xCachesize(cache, 1000);  // more than there are numbers: nothing is dropped untold
    std::set<unsigned> numbers;
    const auto fetch = [&](unsigned number, int create) {
      sqlite3_pcache_page* const page = kLayered.xFetch(cache, number, create);
      EXPECT_EQ(page != nullptr, create != 0 || numbers.contains(number)) << number;
      if (page != nullptr) numbers.insert(number);
      return page;
    };
    for (int step = 0; step < 300; ++step) {
      const auto number = static_cast<unsigned>(random() % 60 + 1);
      const auto other = static_cast<unsigned>(random() % 60 + 1);
      switch (random() % 5) {
        case 0: kLayered.xUnpin(cache, fetch(number, 2), 0); break;
        case 1:
          kLayered.xUnpin(cache, fetch(number, 2), 1);  // and drop it
          numbers.erase(number);
          break;
        case 2: {  // two pages change places, as after a split
          if (number == other) break;
          sqlite3_pcache_page* const one = fetch(number, 2);
          sqlite3_pcache_page* const two = fetch(other, 2);
          kLayered.xRekey(cache, one, number, kFar);
          kLayered.xRekey(cache, two, other, number);
          kLayered.xRekey(cache, one, kFar, other);
          kLayered.xUnpin(cache, one, 0);
          kLayered.xUnpin(cache, two, 0);
          break;
        }
        case 3:
          kLayered.xTruncate(cache, number);
          numbers.erase(numbers.lower_bound(number), numbers.end());
          break;
        default:
          if (sqlite3_pcache_page* const page = fetch(number, 0)) kLayered.xUnpin(cache, page, 0);
      }
      ASSERT_EQ(kLayered.xPagecount(cache), static_cast<int>(numbers.size())) << "step " << step;
    }
    kLayered.xDestroy(cache);
  }
}

// A table with an index at random places, and what it must hold.
class Database {
 public:
  explicit Database(const std::string& file) {
    EXPECT_EQ(sqlite3_open(file.c_str(), &database_), SQLITE_OK);
    Run("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
        "PRAGMA cache_size = 200; CREATE TABLE pages (name TEXT PRIMARY KEY, body BLOB)");
  }
  ~Database() { sqlite3_close(database_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void Run(const std::string& sql) {
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << message << " in " << sql;
    sqlite3_free(message);
  }

  // One transaction of random changes, which may be taken back, or give pages back.
  void Change(std::mt19937_64& random) {
    std::map<std::string, std::uint64_t> changed = bodies_;
    Run("BEGIN");
    for (std::uint64_t left = random() % 40; left > 0; --left) {
      const std::string name = std::to_string(random() % 5000 * 7919 % 5000);
      if (random() % 3 == 0) {
        changed.erase(name);
        Run("DELETE FROM pages WHERE name = '" + name + "'");
      } else {
        const std::uint64_t bytes = random() % 1500;
        changed[name] = bytes;
        Run("INSERT OR REPLACE INTO pages VALUES ('" + name + "', zeroblob(" +
            std::to_string(bytes) + "))");
      }
    }
    if (random() % 10 == 0) {
      changed.clear();
      Run("DELETE FROM pages");
    }
    if (random() % 3 == 0) Run("PRAGMA incremental_vacuum");
    if (random() % 3 == 0) return Run("ROLLBACK");
    Run("COMMIT");
    bodies_ = std::move(changed);
  }

  void ExpectWhole() {
    sqlite3_stmt* statement = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(database_, "SELECT name, length(body) FROM pages", -1, &statement,
                                 nullptr),
              SQLITE_OK);
    std::map<std::string, std::uint64_t> found;
    while (sqlite3_step(statement) == SQLITE_ROW) {
      const auto* const name =
          static_cast<const char*>(static_cast<const void*>(sqlite3_column_text(statement, 0)));
      found[name] = static_cast<std::uint64_t>(sqlite3_column_int64(statement, 1));
    }
    EXPECT_EQ(sqlite3_finalize(statement), SQLITE_OK);
    EXPECT_EQ(found, bodies_);
    const auto check = [](void* /*self*/, int /*count*/, char** values, char** /*names*/) {
      EXPECT_STREQ(values[0], "ok");
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(database_, "PRAGMA integrity_check", check, nullptr, nullptr),
              SQLITE_OK);
  }

 private:
  sqlite3* database_ = nullptr;
  std::map<std::string, std::uint64_t> bodies_;
};

TEST(PageCacheTest, ADatabaseThatGrowsAndShrinksStaysWhole) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const TemporaryFolder folder;
    Database database((folder.path() / "pages.db").string());
    std::mt19937_64 random(seed);
    for (int i = 0; i < 300; ++i) database.Change(random);
    database.ExpectWhole();
  }
}

}  // namespace
}  // namespace truce::testing
