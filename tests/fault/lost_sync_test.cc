// A sync fails, and loses pages that others wrote or count on: nothing that was answered goes.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <random>
#include <string>
#include <utility>

#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/layers.h"
#include "tests/support/power_disk.h"
#include "tests/support/temporary_folder.h"

namespace truce::testing {
namespace lost_sync_test {

// Pages that a checkpoint has moved without a sync of its own count as moved: when the sync that is
// made up for fails, the log must not be dropped.
TEST(PowerCutAfterALostSync, I3TheLogStaysUntilItIsReadAnew) {
  const std::string insert =
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
      "INSERT INTO a SELECT hex(zeroblob(200)) || i FROM n";
  TemporaryFolder folder;
  PowerDisk disk(folder.path().string());
  ConnectionOptions options;
  options.path = (folder.path() / "truce.db").string();
  options.vfs = disk.vfs();
  options.lost_sync = std::make_shared<LostSync>();
  const auto writer = Connection::Open(options);
  const auto mover = Connection::Open(options);
  options.read_only = true;
  const auto reader = Connection::Open(options);
  ASSERT_TRUE(writer.ok() && mover.ok() && reader.ok());
  const auto move = [&mover] {
    return sqlite3_wal_checkpoint_v2(mover.value()->handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                     nullptr, nullptr);
  };
  ASSERT_TRUE(writer.value()->Execute("CREATE TABLE a (x TEXT);" + insert).ok());
  ASSERT_TRUE(reader.value()->Execute("BEGIN; SELECT count(*) FROM a").ok());
  ASSERT_TRUE(writer.value()->Execute(insert).ok());
  ASSERT_EQ(move(), SQLITE_OK) << "held back by the reader, so without a sync";
  disk.LoseSyncs("truce.db", 1000, 1);
  sqlite3_file* file = nullptr;
  sqlite3_file_control(mover.value()->handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  ASSERT_EQ(file->pMethods->xSync(file, SQLITE_SYNC_NORMAL), SQLITE_IOERR_FSYNC);
  EXPECT_TRUE(options.lost_sync->lost());
  disk.LoseSyncs("", 0, 0);
  ASSERT_TRUE(reader.value()->Execute("COMMIT").ok());
  EXPECT_EQ(move(), SQLITE_IOERR_FSYNC);
  ASSERT_TRUE(writer.value()->Execute(insert).ok());
  std::mt19937_64 random(1);
  TemporaryFolder after;
  PutInto(after.path().string(), disk.CutAt(disk.length(), Keep::kNothing, random));
  const auto found = OpenOn((after.path() / "truce.db").string(), "");
  EXPECT_EQ(found->Text("PRAGMA integrity_check").value(), "ok");
  EXPECT_EQ(found->Integer("SELECT count(*) FROM a").value(), 900);
}

// A checkpoint syncs the log too: when that fails, it also loses what another connection's
// transaction has written so far. That one must not be answered as committed.
TEST(PowerCutAfterALostSync, I3ACommitIsNotAnsweredWhenACheckpointLostItsPages) {
  const std::string insert =
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
      "INSERT INTO a SELECT hex(zeroblob(200)) || i FROM n";
  TemporaryFolder folder;
  PowerDisk disk(folder.path().string());
  const std::string file = (folder.path() / "truce.db").string();
  const auto writer = OpenOn(file, disk.vfs());
  const auto mover = OpenOn(file, disk.vfs());
  const auto rows_after_cut = [&disk] {
    std::mt19937_64 random(1);
    TemporaryFolder after;
    PutInto(after.path().string(), disk.CutAt(disk.length(), Keep::kNothing, random));
    return OpenOn((after.path() / "truce.db").string(), "")->Integer("SELECT count(*) FROM a");
  };
  ASSERT_TRUE(writer->Execute("CREATE TABLE a (x TEXT)").ok());
  // Its pages go to the log before it ends.
  ASSERT_TRUE(writer->Execute("PRAGMA cache_size = 10; BEGIN; " + insert).ok());
  disk.LoseSyncs("-wal", 1000, 1);
  EXPECT_FALSE(mover->Integer("PRAGMA wal_checkpoint(PASSIVE)").ok());
  disk.LoseSyncs("", 0, 0);
  EXPECT_FALSE(writer->Execute("COMMIT").ok());
  EXPECT_EQ(rows_after_cut().value(), 0);
  ASSERT_TRUE(!writer->InTransaction() || writer->Execute("ROLLBACK").ok());
  ASSERT_TRUE(writer->Execute(insert).ok()) << "which writes all of it again";
  EXPECT_EQ(rows_after_cut().value(), 3000);
}

}  // namespace lost_sync_test
}  // namespace truce::testing
