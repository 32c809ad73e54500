// Every kind of store, and the fixture of the contract tests that run on each of them.
#ifndef TRUCE_TESTS_CONTRACT_EVERY_STORE_H_
#define TRUCE_TESTS_CONTRACT_EVERY_STORE_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "registry/ownership/rows.h"
#include "registry/store/postgres/postgres_store.h"
#include "registry/store/sqlite/sqlite_store.h"
#include "tests/support/last_run.h"
#include "tests/support/memory_store.h"
#include "tests/support/postgres_server.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"
#include "tests/support/strict_store.h"
#include "tests/support/temporary_folder.h"

namespace truce::testing {

// One kind of store: how to open a fresh one, and the same one again.
class StoreKind {
 public:
  virtual ~StoreKind() = default;
  virtual Store& store() = 0;
  // Closes the store and opens it again; false for stores that forget.
  virtual bool Reopen() = 0;
};

class MemoryKind final : public StoreKind {
 public:
  Store& store() override { return store_; }
  bool Reopen() override { return false; }

 private:
  MemoryStore store_;
};

class StrictKind final : public StoreKind {
 public:
  Store& store() override { return store_; }
  bool Reopen() override { return false; }

 private:
  StrictStore store_;
};

class SqliteKind final : public StoreKind {
 public:
  SqliteKind() { Open(); }
  ~SqliteKind() override { EXPECT_TRUE(store_->Health().ok()); }
  Store& store() override { return *store_; }
  bool Reopen() override {
    store_.reset();
    Open();
    return true;
  }

 private:
  void Open() {
    SqliteOptions options;
    options.data_dir = folder_.path().string();
    auto opened = SqliteStore::Open(options);
    if (!opened.ok()) {
      ADD_FAILURE() << opened.error().message;
      std::abort();
    }
    store_ = std::move(opened).value();
  }

  TemporaryFolder folder_;
  std::unique_ptr<SqliteStore> store_;
};

class PostgresKind final : public StoreKind {
 public:
  PostgresKind() : url_(PostgresServer::Shared().MakeDatabase()) { Open(); }
  ~PostgresKind() override { EXPECT_TRUE(store_->Health().ok()); }
  Store& store() override { return *store_; }
  bool Reopen() override {
    store_.reset();
    Open();
    return true;
  }

 private:
  void Open() {
    auto opened = PostgresStore::Open({.url = url_, .counts_age_max = {}}, Soon());
    if (!opened.ok()) {
      ADD_FAILURE() << opened.error().message;
      std::abort();
    }
    store_ = std::move(opened).value();
  }

  const std::string url_;
  std::unique_ptr<PostgresStore> store_;
};

struct Named {
  std::string name;
  std::function<std::unique_ptr<StoreKind>()> make;
};

class StoreContract : public ::testing::TestWithParam<Named> {
 protected:
  void SetUp() override { kind_ = GetParam().make(); }

  Store& store() { return kind_->store(); }
  StoreContents Contents() {
    auto contents = ContentsOf(store());
    EXPECT_TRUE(contents.ok());
    return std::move(contents).value();
  }
  // Runs `read` on committed facts and on the facts of a decision: both must answer alike.
  void OnFacts(const ReadFn& read) {
    LastRun looked;
    const ReadFn look = [&](const AllFacts& facts) { looked.Of([&] { read(facts); }); };
    ASSERT_TRUE(store().Read(look, Soon()).ok());
    looked.Report();
    LastRun decided;
    const DecideFn decide = [&](const AllFacts& facts) {
      decided.Of([&] { read(facts); });
      return Changes{};
    };
    ASSERT_TRUE(store().Apply({}, decide, Soon()).ok());
    decided.Report();
  }
  void WriteAll(const Changes& changes) {
    const Result<void> written = Write(store(), changes);
    ASSERT_TRUE(written.ok()) << written.error().message;
  }

  std::unique_ptr<StoreKind> kind_;
};

inline auto EveryStore() {
  return ::testing::Values(Named{"Memory", [] { return std::make_unique<MemoryKind>(); }},
                           Named{"Strict", [] { return std::make_unique<StrictKind>(); }},
                           Named{"Sqlite", [] { return std::make_unique<SqliteKind>(); }},
                           Named{"Postgres", [] { return std::make_unique<PostgresKind>(); }});
}

inline std::string NameOfStore(const ::testing::TestParamInfo<Named>& tested) {
  return tested.param.name;
}

}  // namespace truce::testing

#endif  // TRUCE_TESTS_CONTRACT_EVERY_STORE_H_
