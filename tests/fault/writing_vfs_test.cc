// Pages of the database reach the disk in portions while the log is moved into it.
#include "registry/store/sqlite/layers.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "registry/store/sqlite/connection.h"
#include "tests/support/faulty_vfs.h"

namespace truce::testing {
namespace writing_vfs_test {

constexpr int kTexts = 300;

class WritingVfsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "truce-writing-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string File(int pages_per_sync) const {
    return directory_ / ("truce-" + std::to_string(pages_per_sync) + ".db");
  }

  std::unique_ptr<Connection> OpenFile(int pages_per_sync) {
    ConnectionOptions options;
    options.path = File(pages_per_sync);
    options.vfs = disk_.name();
    auto opened = Connection::Open(options);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return std::move(opened).value();
  }

  // On a new database whose log holds some hundred pages.
  std::unique_ptr<Connection> Open(int pages_per_sync) {
    std::unique_ptr<Connection> connection = OpenFile(pages_per_sync);
    const Result<void> filled = connection->Execute(
        "CREATE TABLE texts (text TEXT); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 "
        "FROM n WHERE i < " +
        std::to_string(kTexts) + ") INSERT INTO texts SELECT hex(zeroblob(1500)) || i FROM n");
    EXPECT_TRUE(filled.ok()) << filled.error().message;
    connection->SyncEvery(pages_per_sync);
    return connection;
  }

  // How often the disk was written to or synced while the log moved.
  std::uint64_t Checkpoint(Connection& connection) {
    disk_.Heal();
    EXPECT_EQ(sqlite3_wal_checkpoint_v2(connection.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                        nullptr, &pages_),
              SQLITE_OK);
    return disk_.operations();
  }

  FaultyVfs disk_;
  std::filesystem::path directory_;
  int pages_ = 0;  // of the last checkpoint
};

TEST_F(WritingVfsTest, SyncsAfterEachPortion) {
  const std::uint64_t at_once = Checkpoint(*Open(0));
  const std::uint64_t in_portions = Checkpoint(*Open(16));
  ASSERT_GT(pages_, 100);
  // A page that stands twice in the log is moved once.
  EXPECT_NEAR(static_cast<double>(in_portions - at_once), pages_ / 16.0, 1.0);
}

TEST_F(WritingVfsTest, SyncThatFailsIsTheLastOneOfItsConnectionsAndANewOneDoesAll) {
  std::unique_ptr<Connection> connection = Open(16);
  // Sixteen pages behind the sync of the log.
  disk_.FailOnce(1 + 16 + 1, SQLITE_IOERR_FSYNC);
  const auto checkpoint = [&] {
    return sqlite3_wal_checkpoint_v2(connection->handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                     nullptr, nullptr);
  };
  EXPECT_EQ(checkpoint(), SQLITE_IOERR_FSYNC);
  disk_.Heal();
  EXPECT_EQ(checkpoint(), SQLITE_IOERR_FSYNC) << "what the disk has lost does not come back";
  connection.reset();
  ASSERT_GT(std::filesystem::file_size(File(16) + "-wal"), 100U * 4096U) << "it has all of it";
  connection = OpenFile(16);
  Checkpoint(*connection);
  EXPECT_GT(pages_, 100);
  EXPECT_EQ(connection->Integer("SELECT count(DISTINCT text) FROM texts").value(), kTexts);
  EXPECT_EQ(connection->Text("PRAGMA integrity_check").value(), "ok");
}

}  // namespace writing_vfs_test
}  // namespace truce::testing
