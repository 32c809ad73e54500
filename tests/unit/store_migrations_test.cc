#include "registry/store/sqlite/migrations.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "registry/store/sqlite/data_directory.h"
#include "tests/support/temporary_folder.h"

namespace truce::testing {
namespace store_migrations_test {

const std::vector<Migration> kTwo = {
    {1, "0001_first", "sum1", "CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (1)"},
    {2, "0002_second", "sum2", "ALTER TABLE a ADD COLUMN y INTEGER NOT NULL DEFAULT 5"}};

class Migrations : public ::testing::Test {
 protected:
  std::string File() const { return (folder_.path() / "m.db").string(); }
  std::unique_ptr<Connection> Open(const std::string& file) {
    auto connection = Connection::Open({file, "", false});
    TRUCE_ASSERT(connection.ok());
    return std::move(connection).value();
  }
  Result<void> Run(std::span<const Migration> migrations) {
    return Migrate(*Open(File()), migrations, File());
  }

  TemporaryFolder folder_;
};

TEST_F(Migrations, BringAnEmptyFileToTheLatestAndAreIdempotent) {
  ASSERT_TRUE(Run(kTwo).ok());
  ASSERT_TRUE(Run(kTwo).ok());
  EXPECT_EQ(Open(File())->Integer("SELECT y FROM a").value(), 5);
  EXPECT_EQ(Open(File())->Integer("SELECT count(*) FROM migrations").value(), 2);
  EXPECT_EQ(Open(File())->Integer("PRAGMA user_version").value(), 2);
}

// Rows: tests/system/test_upgrade.py.
TEST_F(Migrations, CopyAnOlderDatabaseBeforeTheyChangeIt) {
  ASSERT_TRUE(Run({kTwo.data(), 1}).ok());
  ASSERT_TRUE(Run(kTwo).ok());
  EXPECT_EQ(Open(File())->Integer("SELECT y FROM a").value(), 5);
  EXPECT_EQ(Open(File() + ".before-2")->Integer("PRAGMA user_version").value(), 1);
}

TEST_F(Migrations, ThatFailLeaveTheDatabaseAsItWas) {
  ASSERT_TRUE(Run({kTwo.data(), 1}).ok());
  const std::vector<Migration> broken = {
      kTwo[0], {2, "0002_broken", "sum", "ALTER TABLE a ADD COLUMN y INTEGER; SELECT nothing"}};
  const Result<void> failed = Run(broken);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "migration \"0002_broken\": near \"nothing\": syntax error");
  EXPECT_EQ(Open(File())->Integer("PRAGMA user_version").value(), 1);
  EXPECT_FALSE(Open(File())->Integer("SELECT y FROM a").ok());
  // The next attempt makes its copy in place of this one's.
  EXPECT_TRUE(Run(kTwo).ok());
}

TEST_F(Migrations, ADowngradeAndAnUpgradeAgain) {
  ASSERT_TRUE(Run({kTwo.data(), 1}).ok());
  for (int times = 0; times < 2; ++times) {
    ASSERT_TRUE(Run(kTwo).ok());
    EXPECT_FALSE(Run({kTwo.data(), 1}).ok());
    std::filesystem::remove(File());
    std::filesystem::copy_file(File() + ".before-2", File());
    ASSERT_TRUE(Run({kTwo.data(), 1}).ok());
  }
}

TEST_F(Migrations, RefuseANewerSchemaAndAnEditedOne) {
  ASSERT_TRUE(Run(kTwo).ok());
  const Result<void> newer = Run({kTwo.data(), 1});
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(newer.error().message,
            "its schema has version 2, this program knows versions up to 1: run the newer Truce "
            "that wrote it, or restore the copy \"" +
                File() + ".before-2\"");
  std::vector<Migration> edited = kTwo;
  edited[0].checksum = "another";
  // Not made by migrations of this program: no matter how many there were, a newer one helps not.
  for (const std::size_t known : {1U, 2U}) {
    const Result<void> refused = Run({edited.data(), known});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(refused.error().message,
              "a development version of Truce wrote it before the first release (\"0001_first\" is "
              "not the one of this program): start with an empty data directory, which the live "
              "objects fill, or run the Truce that wrote it, for example to export from it");
  }
}

TEST_F(Migrations, BuiltInOnesAreNumberedAndSummed) {
  int expected = 0;
  for (const Migration& migration : BuiltInMigrations()) {
    EXPECT_EQ(migration.version, ++expected);
    EXPECT_EQ(migration.checksum.size(), 64U);
  }
  EXPECT_TRUE(Run(BuiltInMigrations()).ok());
}

TEST(NetworkFileSystem, KnowsTheOnesWhereLocksAreNotReliable) {
  EXPECT_EQ(NetworkFileSystem(0x6969), "NFS");
  EXPECT_EQ(NetworkFileSystem(0x65735546), "FUSE");
  EXPECT_EQ(NetworkFileSystem(0xFF534D42), "CIFS");
  EXPECT_EQ(NetworkFileSystem(0xEF53), std::nullopt) << "ext4";
  EXPECT_EQ(NetworkFileSystem(0x58465342), std::nullopt) << "XFS";
  EXPECT_EQ(NetworkFileSystem(0x01021994), std::nullopt) << "tmpfs";
  EXPECT_EQ(NetworkFileSystem(0x794C7630), std::nullopt) << "overlayfs";
}

}  // namespace store_migrations_test
}  // namespace truce::testing
