// A database written under the first schema holds the same under the present one.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/migrations.h"
#include "registry/store/sqlite/sqlite_store.h"
#include "tests/support/store_samples.h"
#include "tests/support/temporary_folder.h"

namespace truce::testing {
namespace store_migration_test {

// What a store wrote under 0001_ownership.sql: "a" owned through a composed object and by its own
// root, "b" orphaned without rows, "c" observed only.
constexpr const char* kWrittenBefore = R"sql(
INSERT INTO owners VALUES
  ('s3/Bucket|aws|||name=a', 'k7m2xq4ztn5ba', 'local/s3.aws.upbound.io/Bucket/team-artifacts/a-u1',
   'local/team-artifacts', 'artifact-service', 'artifacts@example.org', 'arn:aws:s3:::a', 'a',
   's3/Bucket|aws||us-west-2|name=a', '', 1795248000000, 0, 'none', '', '', 'reserved',
   'local/s3.aws.upbound.io/Bucket/team-artifacts/a-u1', 0),
  ('s3/Bucket|aws|||name=b', 'k7m2xq4ztn5ba', 'local/s3.aws.upbound.io/Bucket/team-artifacts/b-u2',
   'local/team-artifacts', 'artifact-service', 'artifacts@example.org', 'arn:aws:s3:::b', 'b',
   's3/Bucket|aws||us-west-2|name=b', 'shape', 1795248000000, 1, 'orphaned', 'a reason',
   'Bucket/x/y', 'held', NULL, 1);
INSERT INTO declarations VALUES
  ('s3/Bucket|aws|||name=a', 'u1', 'reserved', 'local/s3.aws.upbound.io/Bucket/team-artifacts/a-u1',
   'team-artifacts', 'local/s3.aws.upbound.io/Bucket/team-artifacts/a-u1', 'deletes', 0, 1,
   's3/Bucket|aws||us-west-2|name=a', '7f0c2f0e-4be9-4f7b-9a83-u1', '3b1f6c0d', -1,
   'system:serviceaccount:argocd:argocd-application-controller', 1795248000000, 1795248000005),
  ('s3/Bucket|aws|||name=a', 'u1', 'seen', 'local/s3.aws.upbound.io/Bucket/team-artifacts/a-u1',
   'team-artifacts', 'local/s3.aws.upbound.io/Bucket/team-artifacts/top', 'manages', 1, 0,
   's3/Bucket|aws||us-west-2|name=a', '', '', NULL, '', 1795248000000, NULL),
  ('s3/Bucket|aws|||name=c', 'u3', 'seen', 'local/s3.aws.upbound.io/Bucket/team-artifacts/c-u3',
   'team-artifacts', 'local/s3.aws.upbound.io/Bucket/team-artifacts/c-u3', 'observes', 0, 1,
   's3/Bucket|aws||us-west-2|name=c', '7f0c2f0e-4be9-4f7b-9a83-u3', '3b1f6c0d', NULL,
   'system:serviceaccount:argocd:argocd-application-controller', 1795248000000, NULL);
INSERT INTO objects VALUES
  ('u1', 'local/s3.aws.upbound.io/Bucket/team-artifacts/a-u1',
   'local/s3.aws.upbound.io/Bucket/team-artifacts/top', 'u9',
   'local/s3.aws.upbound.io/Bucket/team-artifacts/top', 'uid:u9', 'g/K//n' || char(10), 's', 'c', 1,
   1795248000000),
  ('u2', 'local//Namespace//x', NULL, '', 'local//Namespace//x', '', '', '', '', 0, 1795248000000);
INSERT INTO audit VALUES
  (7, 1795248000000, 'granted', 's3/Bucket|aws|||name=a', 'k7m2xq4ztn5ba',
   'local/s3.aws.upbound.io/Bucket/team-artifacts/a-u1',
   'local/s3.aws.upbound.io/Bucket/team-artifacts/a-u1', 'a-u1', 'review CREATE',
   'system:serviceaccount:argocd:argocd-application-controller',
   '7f0c2f0e-4be9-4f7b-9a83-5d0b4e1c2a11');
INSERT INTO settings VALUES ('brake', '3');
UPDATE commits SET count = 42;
)sql";

StoreContents Expected() {
  StoreContents contents;
  Owner a = SampleOwner("a", "u1");
  a.leaf = a.root;
  Owner b = SampleOwner("b", "u2");
  b.shape = "shape";
  b.real = true;
  b.record = Record::kOrphaned;
  b.record_reason = "a reason";
  b.successor = "Bucket/x/y";
  b.state = HolderState::kHeld;
  b.contested = true;
  contents.owners = {a, b};
  Row reserved = SampleRow("a", "u1");
  reserved.base = ~std::uint64_t{0};
  reserved.created = reserved.at + std::chrono::milliseconds(5);
  Row seen = SampleRow("a", "u1");
  seen.id.state = RowState::kSeen;
  seen.root = SampleSlot("top");
  seen.intent = Intent::kManages;
  seen.terminating = true;
  seen.managed = false;
  seen.review = {};
  seen.digest.clear();
  seen.user.clear();
  Row observer = SampleRow("c", "u3");
  observer.id.state = RowState::kSeen;
  observer.intent = Intent::kObserves;
  contents.rows = {reserved, seen, observer};
  Object composed = SampleObject("u1");
  composed.slot = SampleSlot("a-u1");
  composed.parent = SampleSlot("top");
  composed.parent_uid = Uid{"u9"};
  composed.root = *composed.parent;
  composed.link = "uid:u9";
  composed.names = {"g/K//n"};
  composed.service = "s";
  composed.contact = "c";
  composed.stripped = true;
  Object plain = SampleObject("u2");
  plain.slot = {"local", "", "Namespace", "", "x"};
  plain.root = plain.slot;
  contents.objects = {composed, plain};
  contents.audit = {SampleGrant(a)};
  contents.settings = {{"brake", "3"}};
  return contents;
}

TEST(StoreMigration, KeepsWhatTheFirstSchemaHeld) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "truce.db").string();
  {
    auto connection = Connection::Open({file, "", false});
    ASSERT_TRUE(connection.ok());
    ASSERT_TRUE(Migrate(*connection.value(), BuiltInMigrations().first(1), file).ok());
    const Result<void> written = connection.value()->Execute(kWrittenBefore);
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  SqliteOptions options;
  options.data_dir = folder.path().string();
  for (int opening = 0; opening < 2; ++opening) {
    const auto store = SqliteStore::Open(options);
    ASSERT_TRUE(store.ok()) << store.error().message;
    EXPECT_EQ(store.value()->Contents().value(), Expected());
    EXPECT_EQ(store.value()->Counts().conflicts, 1U);
    EXPECT_EQ(OwnerIn(*store.value(), SampleKey("a")), Expected().owners[0]);
    const Look look = [](const Facts& facts) {
      EXPECT_EQ(facts.RowsOfUid(Uid{"u1"}).size(), 2U);
      EXPECT_EQ(facts.RowsOfKey(SampleKey("c")).size(), 1U);
      EXPECT_EQ(facts.ObjectByUid(Uid{"u1"}), Expected().objects[0]);
      EXPECT_EQ(facts.ObjectBySlot({"local", "", "Namespace", "", "x"}), Expected().objects[1]);
    };
    EXPECT_TRUE(store.value()->Read(look, Soon()).ok());
  }
  EXPECT_TRUE(std::filesystem::exists(file + ".before-2"));
}

}  // namespace store_migration_test
}  // namespace truce::testing
