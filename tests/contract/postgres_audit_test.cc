// The audit log of a registry that several programs write at once.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "registry/ownership/rows.h"
#include "registry/store/postgres/postgres_store.h"
#include "tests/support/postgres_server.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace postgres_audit_test {

std::unique_ptr<PostgresStore> OpenAt(const std::string& url) {
  auto opened = PostgresStore::Open({.url = url}, Soon());
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  return opened.ok() ? std::move(opened).value() : nullptr;
}

Result<void> WriteLine(Store& store, const std::string& cause) {
  Changes changes;
  changes.audit.push_back({.cause = cause, .actor = "test"});
  return Write(store, changes);
}

// SQL that writes a line as a program does, in the transaction `tx` of `incarnation`.
std::string LineOf(const std::string& cause, const std::string& incarnation,
                   const std::string& tx) {
  const std::string slot = ToText(Slot{});
  return "INSERT INTO truce.audit (incarnation, tx, at, action, key, id, root, slot, uid, cause, "
         "actor, review) SELECT " +
         incarnation + ", " + tx + ", 0, 'administered', '', '', '" + slot + "', '" + slot +
         "', '', '" + cause + "', '', '' FROM truce.registry";
}

// Reads on behind what it has, some lines at a time.
class Reader {
 public:
  explicit Reader(const Store& store) : store_(store) {}

  // Until there are no more for now; how many came.
  std::size_t ReadOn() {
    constexpr std::size_t kPage = 7;
    std::size_t came = 0;
    while (true) {
      std::vector<AuditLine> lines;
      const ReadFn read = [&](const AllFacts& facts) {
        lines = facts.AuditLines({.behind = last_}, kPage);
      };
      const auto done = store_.Read(read, Soon());
      EXPECT_TRUE(done.ok()) << done.error().message;
      for (const AuditLine& line : lines) {
        EXPECT_TRUE(!last_ || *last_ < line.place);
        last_ = line.place;
        causes_.push_back(line.entry.cause);
      }
      came += lines.size();
      if (lines.size() < kPage) return came;
    }
  }
  const std::vector<std::string>& causes() const { return causes_; }
  std::optional<AuditPlace> last() const { return last_; }

 private:
  const Store& store_;
  std::optional<AuditPlace> last_;
  std::vector<std::string> causes_;
};

TEST(PostgresAudit, ALineWhoseCommitCameLateIsNotMissed) {
  const std::string url = PostgresServer::Shared().MakeDatabase();
  const auto store = OpenAt(url);
  Outsider slow(url);
  ASSERT_EQ(slow.Run("BEGIN; " + LineOf("late", "incarnation", "pg_current_xact_id()")), "");
  ASSERT_TRUE(WriteLine(*store, "early").ok());
  Reader reader(*store);
  EXPECT_EQ(reader.ReadOn(), 0U) << "a line may come before the one that is there";
  std::vector<AuditLine> newest;
  const ReadFn read = [&](const AllFacts& facts) {
    newest = facts.AuditLines({.newest_first = true}, 9);
  };
  ASSERT_TRUE(store->Read(read, Soon()).ok());
  ASSERT_EQ(newest.size(), 1U) << "who wants the newest waits for nobody";
  EXPECT_EQ(newest[0].entry.cause, "early");
  EXPECT_EQ(slow.Run("COMMIT"), "");
  reader.ReadOn();
  EXPECT_EQ(reader.causes(), (std::vector<std::string>{"late", "early"}));
}

TEST(PostgresAudit, ATransactionOfAnotherDatabaseHoldsLinesBackUntilItEnds) {
  const auto store = OpenAt(PostgresServer::Shared().MakeDatabase());
  Outsider slow(PostgresServer::Shared().MakeDatabase());
  ASSERT_EQ(slow.Run("BEGIN; SELECT pg_current_xact_id()"), "");
  ASSERT_TRUE(WriteLine(*store, "held back").ok());
  Reader reader(*store);
  EXPECT_EQ(reader.ReadOn(), 0U) << "transactions are numbered for the whole server";
  EXPECT_EQ(slow.Run("COMMIT"), "");
  EXPECT_EQ(reader.ReadOn(), 1U);
}

TEST(PostgresAudit, WhoReadsWhileSeveralWriteMissesNoLine) {
  const std::string url = PostgresServer::Shared().MakeDatabase();
  const auto one = OpenAt(url);
  const auto other = OpenAt(url);
  constexpr int kWriters = 6;
  constexpr int kRounds = 60;
  Reader reader(*one);
  std::atomic<int> writing = kWriters;
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] {
        Store& store = writer % 2 == 0 ? *one : *other;
        for (int round = 0; round < kRounds; ++round) {
          const std::string cause = std::to_string(writer) + "-" + std::to_string(round);
          const auto written = WriteLine(store, cause);
          EXPECT_TRUE(written.ok()) << written.error().message;
        }
        --writing;
      });
    }
    while (writing > 0) reader.ReadOn();
  }
  reader.ReadOn();
  EXPECT_EQ(reader.causes().size(), std::size_t{kWriters * kRounds});
  EXPECT_EQ(std::set<std::string>(reader.causes().begin(), reader.causes().end()).size(),
            std::size_t{kWriters * kRounds});
}

// A restored dump comes to a server that counts its transactions from the beginning.
TEST(PostgresAudit, AnotherPlaceIsAnotherIncarnationBehindAllLinesOfTheOneBefore) {
  const std::string url = PostgresServer::Shared().MakeDatabase();
  auto store = OpenAt(url);
  ASSERT_TRUE(WriteLine(*store, "first").ok());
  store = OpenAt(url);
  ASSERT_TRUE(WriteLine(*store, "second").ok());
  Reader reader(*store);
  reader.ReadOn();
  ASSERT_EQ(reader.causes(), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(reader.last()->incarnation, 1U) << "who connects anew to the same place begins none";

  Outsider restore(url);
  ASSERT_EQ(restore.Run(LineOf("third, of a busy server", "incarnation", "'9000000000'::xid8")),
            "");
  EXPECT_EQ(reader.ReadOn(), 0U) << "of this server it would be a transaction to come";
  ASSERT_EQ(restore.Run("UPDATE truce.registry SET place = 'the busy server'"), "");
  store = OpenAt(url);
  ASSERT_TRUE(WriteLine(*store, "fourth").ok());
  Reader again(*store);
  again.ReadOn();
  EXPECT_EQ(again.causes(),
            (std::vector<std::string>{"first", "second", "third, of a busy server", "fourth"}));
  EXPECT_EQ(again.last()->incarnation, 2U);
  const StoreContents contents = ContentsOf(*store).value();
  EXPECT_EQ(contents.audit.back().cause, "fourth");
}

// Behind a pooler a connection of ours outlives the server that it leads to.
TEST(PostgresAudit, WhoIsElsewhereWithoutHavingConnectedAnewBeginsAnIncarnationAllTheSame) {
  const std::string url = PostgresServer::Shared().MakeDatabase();
  const auto store = OpenAt(url);
  ASSERT_TRUE(WriteLine(*store, "first").ok());
  ASSERT_EQ(Outsider(url).Run("UPDATE truce.registry SET place = 'the server before'"), "");
  const auto written = WriteLine(*store, "second");
  ASSERT_TRUE(written.ok()) << written.error().message;
  Reader reader(*store);
  reader.ReadOn();
  EXPECT_EQ(reader.causes(), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(reader.last()->incarnation, 2U);
}

}  // namespace postgres_audit_test
}  // namespace truce::testing
