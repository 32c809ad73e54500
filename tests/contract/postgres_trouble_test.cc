// What goes wrong while a decision runs: connections that end around its COMMIT, answers that only
// look like success, and a server that has run out of something.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "registry/store/postgres/postgres_store.h"
#include "tests/support/postgres_proxy.h"
#include "tests/support/postgres_server.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace postgres_trouble_test {

using Fate = PostgresProxy::Fate;

std::unique_ptr<PostgresStore> OpenAt(const PostgresOptions& options) {
  auto opened = PostgresStore::Open(options, Soon());
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  return opened.ok() ? std::move(opened).value() : nullptr;
}

// As a review: granted once, and allowed again when it comes again.
DecideFn Review(const std::string& name, int& runs) {
  return [&runs, name](const Facts& facts) {
    ++runs;
    Changes changes;
    if (facts.RowsOfUid(Uid{"u-" + name}).empty()) changes = SampleCreate(name, "u-" + name);
    changes.repeatable = true;
    return changes;
  };
}

// Waits for `sql` to be true, past the store.
void Await(const std::string& url, const std::string& condition) {
  Outsider outsider(url);
  const Deadline until = Soon();
  while (!outsider.Run("SELECT 1 / (" + condition + ")::integer").empty()) {
    ASSERT_LT(std::chrono::steady_clock::now(), until) << condition;
    std::this_thread::yield();
  }
}

// Ends all connections to its database but its own.
void CutAll(Outsider& outsider) {
  EXPECT_EQ(outsider.Run("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE "
                         "datname = current_database() AND pid <> pg_backend_pid()"),
            "");
}

class PostgresTrouble : public ::testing::Test {
 protected:
  PostgresTrouble()
      : url_(PostgresServer::Shared().MakeDatabase()),
        proxy_(url_),
        store_(OpenAt({proxy_.url()})) {}

  void ExpectOneGrant() {
    const StoreContents contents = ContentsOf(*store_).value();
    EXPECT_EQ(contents.owners.size(), 1U);
    EXPECT_EQ(contents.rows.size(), 1U);
    EXPECT_EQ(contents.audit.size(), 1U);
  }

  const std::string url_;
  PostgresProxy proxy_;
  const std::unique_ptr<PostgresStore> store_;
};

TEST_F(PostgresTrouble, ACommitThatNeverArrivedIsDoneAnew) {
  proxy_.Let(Fate::kCutBefore, 2);
  int runs = 0;
  const auto applied = store_->Apply({}, Review("a", runs), Soon());
  EXPECT_TRUE(applied.ok()) << applied.error().message;
  EXPECT_GE(runs, 3);
  ExpectOneGrant();
  EXPECT_TRUE(store_->Health().ok());
}

TEST_F(PostgresTrouble, ACommitThatNobodyHeardOfIsFoundOutAndNotDoneTwice) {
  for (int lost = 1; lost <= 2; ++lost) {
    proxy_.Let(Fate::kCutAfter, lost);  // the second time the confirmation is lost, too
    int runs = 0;
    const auto applied = store_->Apply({}, Review("a", runs), Soon());
    EXPECT_TRUE(applied.ok()) << applied.error().message;
    ExpectOneGrant();
  }
}

TEST_F(PostgresTrouble, WhatMayNotBeDecidedTwiceStaysInDoubt) {
  for (const Fate fate : {Fate::kCutBefore, Fate::kCutAfter}) {
    proxy_.Let(fate, 1);
    int runs = 0;
    const DecideFn count = [&](const Facts& facts) {
      ++runs;
      Changes changes;
      changes.put_settings = {{"n", facts.Setting("n").value_or("") + "i"}};
      return changes;
    };
    Locks hints;
    const auto applied = store_->Apply(hints, count, Soon());
    ASSERT_FALSE(applied.ok());
    EXPECT_EQ(applied.error().code, ErrorCode::kDeadlineExceeded) << applied.error().message;
    EXPECT_LE(runs, 2) << "it ran again for what it had missed, and no more";
  }
  EXPECT_EQ(ContentsOf(*store_).value().settings.size(), 1U) << "of two, the one that was done";
}

TEST_F(PostgresTrouble, ADoubtThatNobodyEndsIsToldAtTheDeadline) {
  proxy_.Let(Fate::kCutAfter, 1'000'000);
  int runs = 0;
  const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
  const auto applied = store_->Apply({}, Review("a", runs), deadline);
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(applied.error().code, ErrorCode::kDeadlineExceeded) << applied.error().message;
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
  proxy_.Let(Fate::kCutAfter, 0);
  EXPECT_TRUE(store_->Apply({}, Review("a", runs), Soon()).ok());
  ExpectOneGrant();
}

TEST_F(PostgresTrouble, ACommitThatSaysRollbackIsNoSuccess) {
  proxy_.Let(Fate::kRollback, 1);
  int runs = 0;
  const auto applied = store_->Apply({}, Review("a", runs), Soon());
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(applied.error().code, ErrorCode::kUnavailable) << applied.error().message;
  EXPECT_FALSE(store_->Health().ok());
}

// A server whose commits wait for a standby that is not there.
class PostgresStandby : public ::testing::Test {
 protected:
  static constexpr const char* kWaits =
      "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

  PostgresStandby() : url_(server_.MakeDatabase()), store_(OpenAt({url_})) {}

  void WaitForStandby(bool wait) {
    Outsider outsider(url_);
    EXPECT_EQ(outsider.Run("ALTER SYSTEM SET synchronous_standby_names = '" +
                           std::string(wait ? "nobody" : "") + "'"),
              "");
    EXPECT_EQ(outsider.Run("SELECT pg_reload_conf()"), "");
    Await(url_, "SELECT current_setting('synchronous_standby_names') = '" +
                    std::string(wait ? "nobody" : "") + "'");
    // That commits wait is told to all sessions by the checkpointer, which may be late.
    while (wait && !SomebodyWaits()) {
    }
  }
  // A commit that does so, if it does; its wait is cancelled.
  bool SomebodyWaits() {
    std::atomic<bool> ended = false;
    std::jthread commit([&] {
      Outsider(url_).Run("SELECT pg_logical_emit_message(true, 'truce', '')");
      ended = true;
    });
    Outsider looks(url_);
    const std::string fails_unless_waits =
        "SELECT 1 / count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    bool waits = false;
    while (!waits && !ended) waits = looks.Run(fails_unless_waits).empty();
    if (waits) CancelWait();
    return waits;
  }
  // The wait of whoever waits now is cancelled: its commit is acknowledged, with a warning.
  void CancelWait() {
    Await(url_, kWaits);
    EXPECT_EQ(Outsider(url_).Run("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE "
                                 "wait_event = 'SyncRep'"),
              "");
  }

  PostgresServer server_;
  const std::string url_;
  const std::unique_ptr<PostgresStore> store_;
};

TEST_F(PostgresStandby, ACommitWithAWarningIsInDoubtUntilTheStandbyHasIt) {
  WaitForStandby(true);
  Result<void> applied;
  int runs = 0;
  std::jthread review([&] { applied = store_->Apply({}, Review("a", runs), Soon()); });
  for (int i = 0; i < 3; ++i) CancelWait();  // each time it waits anew
  Await(url_, kWaits);
  WaitForStandby(false);
  review.join();
  EXPECT_TRUE(applied.ok()) << applied.error().message;
  EXPECT_EQ(ContentsOf(*store_).value().audit.size(), 1U);
  // What may not be decided twice is told as it is.
  WaitForStandby(true);
  std::jthread write([&] { applied = Write(*store_, SampleCreate("b", "u2")); });
  CancelWait();
  write.join();
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(applied.error().code, ErrorCode::kDeadlineExceeded) << applied.error().message;
  WaitForStandby(false);
}

// A crash shows rows that the standby never got: who allows because of them waits for it first.
TEST_F(PostgresStandby, WhatIsAllowedAgainIsConfirmedAndWhatIsDeniedIsNot) {
  int runs = 0;
  ASSERT_TRUE(store_->Apply({}, Review("a", runs), Soon()).ok());
  WaitForStandby(true);
  const auto soon = [] {
    return std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  };
  const auto again = store_->Apply({}, Review("a", runs), soon());
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kDeadlineExceeded) << again.error().message;
  const auto denied = store_->Apply(
      {}, [](const Facts&) { return Changes{}; }, Soon());
  EXPECT_TRUE(denied.ok()) << denied.error().message;
  WaitForStandby(false);
  EXPECT_TRUE(store_->Apply({}, Review("a", runs), Soon()).ok());
}

TEST_F(PostgresTrouble, AFullDiskRefusesWritesOnlyAndIsNoticedToBeOver) {
  int runs = 0;
  ASSERT_TRUE(store_->Apply({}, Review("a", runs), Soon()).ok());
  Outsider outsider(url_);
  // The server's own word for it, from where a row would be written.
  ASSERT_EQ(outsider.Run("CREATE FUNCTION public.full() RETURNS trigger LANGUAGE plpgsql AS "
                         "$$BEGIN RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'could not "
                         "extend file: No space left on device'; END$$; CREATE TRIGGER is_full "
                         "BEFORE INSERT ON truce.declarations EXECUTE FUNCTION public.full()"),
            "");
  const auto refused = store_->Apply({}, Review("b", runs), Soon());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable) << refused.error().message;
  EXPECT_NE(refused.error().message.find("No space left on device"), std::string::npos);
  EXPECT_FALSE(store_->Health().ok());
  EXPECT_TRUE(OwnerIn(*store_, SampleId("a"))) << "reads go on";
  EXPECT_FALSE(OwnerIn(*store_, SampleId("b"))) << "nothing was written";
  ASSERT_EQ(outsider.Run("DROP TRIGGER is_full ON truce.declarations"), "");
  EXPECT_TRUE(store_->Apply({}, Review("b", runs), Soon()).ok());
  EXPECT_TRUE(store_->Health().ok());
}

// Whoever gets no connection of its own waits for one of the others.
TEST_F(PostgresTrouble, AServerThatGivesFewConnectionsServesAllByThem) {
  const std::string name = url_.substr(url_.rfind('=') + 1);
  Outsider outsider(url_);
  ASSERT_EQ(
      outsider.Run("CREATE ROLE trouble_few LOGIN PASSWORD 'p' CONNECTION LIMIT 2; GRANT ALL ON "
                   "DATABASE " +
                   name + " TO trouble_few; DROP SCHEMA truce CASCADE"),
      "");
  PostgresOptions options{.url = PostgresServer::Shared().TcpUrlOf(name, "trouble_few")};
  options.password = [](Deadline) -> Result<std::string> { return std::string("p"); };
  const auto store = OpenAt(options);
  constexpr int kWriters = 8;
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] {
        for (int i = 0; i < 5; ++i) {
          const std::string id = std::to_string(writer) + "-" + std::to_string(i);
          const auto written = Write(*store, SampleCreate("n" + id, "u" + id));
          EXPECT_TRUE(written.ok()) << written.error().message;
        }
      });
    }
  }
  EXPECT_EQ(ContentsOf(*store).value().owners.size(), std::size_t{kWriters * 5});
}

TEST_F(PostgresStandby, ALockTableThatIsFullMakesAnswersUnknownUntilItIsNot) {
  int runs = 0;
  ASSERT_TRUE(store_->Apply({}, Review("a", runs), Soon()).ok());
  {
    Outsider holder(url_);
    EXPECT_EQ(holder.Run("SELECT pg_advisory_lock(g) FROM generate_series(1, 1000000) AS g"),
              "53200");  // what it got it keeps
    const auto refused = store_->Apply({}, Review("b", runs), Soon());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable) << refused.error().message;
    EXPECT_FALSE(store_->Health().ok());
  }
  // The server goes on giving back after its view of locks is empty.
  const Deadline until = Soon();
  Result<void> applied = store_->Apply({}, Review("b", runs), until);
  while (!applied.ok() && std::chrono::steady_clock::now() < until) {
    EXPECT_EQ(applied.error().code, ErrorCode::kUnavailable) << applied.error().message;
    applied = store_->Apply({}, Review("b", runs), until);
  }
  ASSERT_TRUE(applied.ok()) << applied.error().message;
  EXPECT_EQ(ContentsOf(*store_).value().owners.size(), 2U);
}

// The server is killed and comes back: its connections are all dead at once.
TEST_F(PostgresTrouble, ConnectionsThatAreAllCutAtOnceCostNoCallerAnAnswer) {
  constexpr int kCallers = 8;
  const auto write_all = [&](int round) {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < kCallers; ++caller) {
      callers.emplace_back([&, caller] {
        const std::string id = std::to_string(round) + "-" + std::to_string(caller);
        const auto written = Write(*store_, SampleCreate("n" + id, "u" + id));
        EXPECT_TRUE(written.ok()) << written.error().message;
      });
    }
  };
  write_all(0);  // as many connections as there may be
  Outsider outsider(url_);
  CutAll(outsider);
  const auto written = Write(*store_, SampleCreate("after", "u-after"));
  EXPECT_TRUE(written.ok()) << written.error().message;
  write_all(1);
}

// So what asks, and does not write, is not unknown for the first one who comes after a restart.
TEST_F(PostgresTrouble, WhatIsOnlyReadTakesAnotherConnectionWhereOneDiedMeanwhile) {
  int runs = 0;
  ASSERT_TRUE(store_->Apply({}, Review("a", runs), Soon()).ok());
  Outsider outsider(url_);
  CutAll(outsider);
  bool owned = false;
  const auto look = [&](const Facts& facts) { owned = facts.OwnerOf(SampleId("a")).has_value(); };
  const auto read = store_->Read(look, Soon());
  EXPECT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(owned);
  CutAll(outsider);
  EXPECT_TRUE(ContentsOf(*store_).ok());
}

// A write that failed on the way says nothing of the next one once the way is free.
TEST_F(PostgresTrouble, ThatTheWayIsFreeAgainIsFoundOutWhereNobodyWrites) {
  const std::string name = url_.substr(url_.rfind('=') + 1);
  Outsider outsider(PostgresServer::Shared().UrlOf("postgres"));
  ASSERT_EQ(outsider.Run("ALTER DATABASE " + name + " ALLOW_CONNECTIONS false"), "");
  ASSERT_EQ(outsider.Run("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE "
                         "datname = '" +
                         name + "'"),
            "");
  int runs = 0;
  const auto refused = store_->Apply({}, Review("a", runs), Soon());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable) << refused.error().message;
  EXPECT_FALSE(store_->Health().ok());
  ASSERT_EQ(outsider.Run("ALTER DATABASE " + name + " ALLOW_CONNECTIONS true"), "");
  const Deadline until = Soon();
  while (!store_->Health().ok() && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(store_->Health().ok());
}

// Metrics are wanted most while the database does not answer.
TEST_F(PostgresTrouble, CountsThatAreSlowAreThoseOfBefore) {
  int runs = 0;
  const auto store = OpenAt({.url = url_, .counts_age_max = std::chrono::milliseconds(0)});
  ASSERT_TRUE(store->Apply({}, Review("a", runs), Soon()).ok());
  ASSERT_EQ(store->Counts().owners, 1U);
  Outsider holder(url_);
  ASSERT_EQ(holder.Run("BEGIN; LOCK TABLE truce.owners IN ACCESS EXCLUSIVE MODE"), "");
  const Deadline began = std::chrono::steady_clock::now();
  EXPECT_EQ(store->Counts().owners, 1U);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  ASSERT_EQ(holder.Run("COMMIT"), "");
}

}  // namespace postgres_trouble_test
}  // namespace truce::testing
