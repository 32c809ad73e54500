// A sync fails, and loses pages that others wrote or count on: nothing that was answered goes.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/write_ahead_log.h"
#include "tests/support/power_disk.h"
#include "tests/support/temporary_folder.h"

namespace truce::testing {
namespace lost_sync_test {

// Pages that a checkpoint behind a reader moved without a sync count as moved: when the sync that
// is made up for fails, the log must not be dropped.
TEST(PowerCutAfterALostSync, I3TheLogStaysUntilItIsReadAnew) {
  const std::string insert =
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
      "INSERT INTO a SELECT hex(zeroblob(200)) || i FROM n";
  TemporaryFolder folder;
  PowerDisk disk(folder.path().string());
  ConnectionOptions options;
  options.path = (folder.path() / "truce.db").string();
  options.vfs = disk.vfs();
  const auto writer = Connection::Open(options);
  options.read_only = true;
  const auto reader = Connection::Open(options);
  ASSERT_TRUE(writer.ok() && reader.ok());
  {
    WriteAheadLog log(*writer.value(), 1, 1ULL << 30);
    ASSERT_TRUE(writer.value()->Execute("CREATE TABLE a (x TEXT);" + insert).ok());
    ASSERT_TRUE(reader.value()->Execute("BEGIN; SELECT count(*) FROM a").ok());
    ASSERT_TRUE(writer.value()->Execute(insert).ok());
    EXPECT_FALSE(log.lost_sync()) << "held back by the reader, so without a sync";
    disk.LoseSyncs("truce.db", 1000, 1);
    ASSERT_TRUE(reader.value()->Execute("COMMIT").ok());
    ASSERT_TRUE(writer.value()->Execute(insert).ok());
    EXPECT_TRUE(log.lost_sync());
    disk.LoseSyncs("", 0, 0);
    ASSERT_TRUE(writer.value()->Execute(insert).ok());
    EXPECT_TRUE(log.lost_sync()) << "the next sync would work";
  }
  std::mt19937_64 random(1);
  TemporaryFolder after;
  PutInto(after.path().string(), disk.CutAt(disk.length(), Keep::kNothing, random));
  const auto found = OpenOn((after.path() / "truce.db").string(), "");
  EXPECT_EQ(found->Text("PRAGMA integrity_check").value(), "ok");
  EXPECT_EQ(found->Integer("SELECT count(*) FROM a").value(), 1200);
}

}  // namespace lost_sync_test
}  // namespace truce::testing
