// Opening what cannot be used, and limits while open: each has one clear line and the right code.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <latch>
#include <thread>

#include "registry/ownership/rows.h"
#include "registry/store/sqlite/backup.h"
#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/integrity.h"
#include "registry/store/sqlite/sqlite_store.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"
#include "tests/support/temporary_folder.h"

namespace truce::testing {
namespace store_open_test {

class StoreOpen : public ::testing::Test {
 protected:
  SqliteOptions Options() const {
    SqliteOptions options;
    options.data_dir = folder_.path().string();
    options.full_check = false;
    return options;
  }
  std::string File() const { return (folder_.path() / "truce.db").string(); }

  std::unique_ptr<SqliteStore> Open(const SqliteOptions& options) {
    auto opened = SqliteStore::Open(options);
    if (opened.ok()) return std::move(opened).value();
    ADD_FAILURE() << opened.error().message;
    std::abort();
  }
  // Makes a store with `count` ownerships and closes it.
  void Fill(int count) {
    const auto store = Open(Options());
    for (int i = 0; i < count; ++i) {
      const std::string name = "bucket-" + std::to_string(i);
      ASSERT_TRUE(Write(*store, SampleCreate(name, name)).ok());
    }
  }
  // Runs SQL on the closed database.
  void Tamper(const std::string& sql) {
    auto connection = Connection::Open({File(), "", false});
    ASSERT_TRUE(connection.ok());
    const auto done = connection.value()->Execute(sql);
    ASSERT_TRUE(done.ok()) << done.error().message;
  }
  void ExpectRefused(ErrorCode code, const std::vector<std::string>& words) {
    const auto opened = SqliteStore::Open(Options());
    ASSERT_FALSE(opened.ok());
    const std::string& message = opened.error().message;
    EXPECT_EQ(opened.error().code, code) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string& word : words) {
      EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
    }
  }

  TemporaryFolder folder_;
};

TEST_F(StoreOpen, RefusesAMissingFolder) {
  std::filesystem::remove(folder_.path());
  ExpectRefused(ErrorCode::kInvalidArgument, {folder_.path().string(), "mkdir", "--data-dir"});
}

TEST_F(StoreOpen, RefusesAFileInPlaceOfTheFolder) {
  std::filesystem::remove(folder_.path());
  std::ofstream(folder_.path()) << "x";
  ExpectRefused(ErrorCode::kInvalidArgument, {"not a folder"});
}

TEST_F(StoreOpen, RefusesAnUnreadableDatabase) {
  std::filesystem::create_directory(File());
  ExpectRefused(ErrorCode::kUnavailable, {File(), "make it readable"});
}

TEST_F(StoreOpen, RefusesASecondStoreOnTheSameFolder) {
  const auto store = Open(Options());
  ExpectRefused(ErrorCode::kConflict, {"in use by process", std::to_string(getpid()), "stop"});
}

TEST_F(StoreOpen, RefusesANewerSchema) {
  Fill(1);
  Tamper("PRAGMA user_version = 99");
  ExpectRefused(ErrorCode::kInvalidArgument, {"version 99", "newer Truce"});
}

TEST_F(StoreOpen, RefusesWhatADevelopmentVersionWrote) {
  Fill(1);
  Tamper("UPDATE migrations SET checksum = 'edited'");
  const std::vector<std::string> words = {"0001_ownership", "development version",
                                          "before the first release", "empty data directory"};
  ExpectRefused(ErrorCode::kInvalidArgument, words);
  Tamper("PRAGMA user_version = 8");
  ExpectRefused(ErrorCode::kInvalidArgument, words);
}

TEST_F(StoreOpen, RefusesADatabaseOfAnotherProgram) {
  Tamper("CREATE TABLE other (x)");
  ExpectRefused(ErrorCode::kInvalidArgument, {"another program", "data directory"});
}

TEST_F(StoreOpen, RefusesWhatIsNotADatabase) {
  std::ofstream(File()) << std::string(10000, 'x');
  ExpectRefused(ErrorCode::kDataLoss, {File(), "damaged", "backup", "rebuilt"});
}

// What a killed restore of an earlier version, or a person, left: never an empty registry.
TEST_F(StoreOpen, RefusesToBeginAnewWhereOnlyRemainsAre) {
  const std::string command = "truce restore --data-dir " + folder_.path().string();
  Fill(3);
  for (const std::string name : {".replaced", ".before-2", ".before-3", ".part", "-wal"}) {
    SCOPED_TRACE(name);
    const std::string remains = File() + name;
    std::filesystem::rename(File(), remains);
    const bool is_copy = name.starts_with(".before") || name == ".replaced";
    if (name == ".before-3") std::filesystem::copy_file(remains, File() + ".before-2");
    ExpectRefused(ErrorCode::kInvalidArgument,
                  {remains, command, is_copy ? remains + "`" : "FILE", "move"});
    EXPECT_FALSE(std::filesystem::exists(File()));
    std::ofstream(File()).close();  // an empty file is no registry either
    ExpectRefused(ErrorCode::kInvalidArgument, {remains, command});
    if (is_copy) {
      ASSERT_TRUE(RestoreBackup(remains, folder_.path().string()).ok());
    } else {
      std::filesystem::rename(remains, File());
    }
    EXPECT_TRUE(OwnerIn(*Open(Options()), SampleId("bucket-2")).has_value());
    for (const std::string gone : {".replaced", ".before-2", ".before-3"}) {
      std::filesystem::remove(File() + gone);
    }
  }
}

TEST_F(StoreOpen, RefusesATruncatedDatabase) {
  Fill(200);
  std::filesystem::resize_file(File(), std::filesystem::file_size(File()) / 2);
  ExpectRefused(ErrorCode::kDataLoss, {"damaged", "backup"});
}

TEST_F(StoreOpen, RefusesAnUnknownWord) {
  Fill(1);
  Tamper("PRAGMA ignore_check_constraints = ON; UPDATE resources SET state = 'odd'");
  const auto store = Open(Options());
  EXPECT_EQ(ContentsOf(*store).error().code, ErrorCode::kDataLoss);
}

// Each page in turn is overwritten: a store that opens all the same must not crash, nor answer
// wrongly, and its check finds the damage.
TEST_F(StoreOpen, SurvivesEveryDamagedPage) {
  Fill(120);
  const StoreContents filled = ContentsOf(*Open(Options())).value();
  std::string sound;
  {
    std::ifstream file(File(), std::ios::binary);
    sound.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  constexpr std::size_t kPage = 4096;
  for (std::size_t page = 0; page * kPage < sound.size(); ++page) {
    std::string damaged = sound;
    for (std::size_t i = 0; i < kPage; i += 3) damaged[page * kPage + i] ^= '\x5A';
    std::ofstream(File(), std::ios::binary) << damaged;
    auto opened = SqliteStore::Open(Options());
    if (!opened.ok()) {
      EXPECT_EQ(opened.error().code, ErrorCode::kDataLoss) << opened.error().message;
      continue;
    }
    const auto contents = ContentsOf(*opened.value());
    if (contents.ok()) {
      EXPECT_EQ(contents.value(), filled) << "page " << page;
    } else {
      EXPECT_EQ(contents.error().code, ErrorCode::kDataLoss);
    }
    const Result<void> checked = CheckIntegrity({File(), "", true}, {}, [] { return false; });
    EXPECT_FALSE(checked.ok()) << "page " << page;
  }
}

TEST_F(StoreOpen, TheFullCheckFindsAnIndexThatDisagrees) {
  Fill(3);
  Tamper("PRAGMA writable_schema = ON");  // refused by the defensive mode: nothing happens
  {
    // An index entry without its row: structure is sound, so that only the full check can see it.
    auto connection = Connection::Open({File(), "", false});
    ASSERT_TRUE(connection.ok());
    const auto root = connection.value()->Integer(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_resources_1'");
    ASSERT_TRUE(root.ok());
    connection.value().reset();
    std::fstream file(File(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekg((root.value() - 1) * 4096);
    std::string page(4096, '\0');
    file.read(page.data(), 4096);
    const std::size_t at = page.find("bucket-1");
    ASSERT_NE(at, std::string::npos);
    page[at] = 'a';
    file.seekp((root.value() - 1) * 4096);
    file.write(page.data(), 4096);
  }
  SqliteOptions options = Options();
  options.full_check = true;
  const auto store = Open(options);
  const Deadline deadline = Soon();
  while (store->Health().ok() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  ASSERT_FALSE(store->Health().ok());
  EXPECT_EQ(store->Health().error().code, ErrorCode::kDataLoss);
  const Result<void> read = store->Read([](const Facts& /*facts*/) {}, Soon());
  ASSERT_FALSE(read.ok()) << "the index finds no owner of bucket-1";
  EXPECT_EQ(read.error().code, ErrorCode::kDataLoss);
  const Result<void> looked = store->Apply(
      {}, [](const Facts&) { return Changes{}; }, Soon());
  ASSERT_FALSE(looked.ok()) << "it may rest on what the index lacks";
  EXPECT_EQ(looked.error().code, ErrorCode::kDataLoss);
  const Result<void> refused = Write(*store, SampleCreate("b", "u"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kDataLoss);
}

TEST_F(StoreOpen, I12TheAuditLogRefusesChanges) {
  Fill(1);
  auto connection = Connection::Open({File(), "", false});
  ASSERT_TRUE(connection.ok());
  EXPECT_FALSE(connection.value()->Execute("UPDATE audit SET cause = 'x'").ok());
  EXPECT_FALSE(connection.value()->Execute("DELETE FROM audit").ok());
}

TEST_F(StoreOpen, ACallerLeavesAtItsDeadlineWhenAnotherProgramLocksTheDatabase) {
  const auto store = Open(Options());
  auto other = Connection::Open({File(), "", false});
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE(other.value()->Execute("BEGIN IMMEDIATE").ok());
  Changes changes = SampleCreate("a", "u1");
  const auto start = std::chrono::steady_clock::now();
  const Result<void> late = store->Apply(
      {}, [&](const Facts& /*facts*/) { return changes; }, start + std::chrono::milliseconds(200));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
  EXPECT_FALSE(OwnerIn(*store, SampleId("a")).has_value());
  ASSERT_TRUE(other.value()->Execute("ROLLBACK").ok());
  EXPECT_TRUE(Write(*store, SampleCreate("a", "u1")).ok());
}

TEST_F(StoreOpen, AFullQueueShedsAndALateCallerIsDropped) {
  SqliteOptions options = Options();
  options.queue_length_max = 1;
  const auto store = Open(options);
  std::latch deciding(1);
  std::latch go_on(1);
  std::jthread slow([&] {
    const DecideFn decide = [&](const Facts& /*facts*/) {
      deciding.count_down();
      go_on.wait();
      return Changes{};
    };
    EXPECT_TRUE(store->Apply({}, decide, Soon()).ok());
  });
  deciding.wait();
  // The writer is busy: one caller waits in the queue until its deadline, the next ones find it
  // full.
  std::atomic<bool> ran = false;
  std::atomic<int> shed = 0;
  std::atomic<int> dropped = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i) {
      callers.emplace_back([&] {
        const DecideFn decide = [&](const Facts& /*facts*/) {
          ran = true;
          return SampleCreate("a", "u1");
        };
        const auto applied = store->Apply(
            {}, decide, std::chrono::steady_clock::now() + std::chrono::milliseconds(300));
        ASSERT_FALSE(applied.ok());
        if (applied.error().code == ErrorCode::kResourceExhausted) ++shed;
        if (applied.error().code == ErrorCode::kDeadlineExceeded) ++dropped;
      });
    }
  }
  go_on.count_down();
  slow.join();
  EXPECT_EQ(shed, 3);
  EXPECT_EQ(dropped, 1);
  // The dropped request holds its place until the writer comes by.
  Result<void> later = Write(*store, SampleCreate("b", "u2"));
  while (!later.ok() && later.error().code == ErrorCode::kResourceExhausted) {
    later = Write(*store, SampleCreate("b", "u2"));
  }
  EXPECT_TRUE(later.ok());
  EXPECT_FALSE(ran) << "a decision must not run after its caller has gone";
  EXPECT_FALSE(OwnerIn(*store, SampleId("a")).has_value());
}

// A look that holds its snapshot until Release, which runs `last` on it.
class HeldSnapshot {
 public:
  HeldSnapshot(const Store& store, const ReadFn& last)
      : reader_([this, &store, last] {
          const ReadFn look = [&](const AllFacts& facts) {
            static_cast<void>(facts.KeysAfter({}, 1));  // takes the snapshot
            reading_.count_down();
            go_on_.wait();
            last(facts);
          };
          EXPECT_TRUE(store.Read(look, Soon()).ok());
        }) {
    reading_.wait();
  }
  ~HeldSnapshot() {
    if (reader_.joinable()) Release();
  }
  HeldSnapshot(const HeldSnapshot&) = delete;
  HeldSnapshot& operator=(const HeldSnapshot&) = delete;

  void Release() {
    go_on_.count_down();
    reader_.join();
  }

 private:
  std::latch reading_{1};
  std::latch go_on_{1};
  std::jthread reader_;
};

TEST_F(StoreOpen, ASnapshotFindsWhatItHeldHoweverManyCommitsFollow) {
  constexpr int kCommits = 1'001;
  const auto store = Open(Options());
  const Changes kept = SampleCreate("kept", "kept");
  const Changes gone = SampleCreate("gone", "gone");
  const Object& object = gone.put_objects.at(0);
  ASSERT_TRUE(Write(*store, kept).ok());
  ASSERT_TRUE(Write(*store, gone).ok());
  HeldSnapshot snapshot(*store, [&](const AllFacts& facts) {
    EXPECT_EQ(facts.ObjectsOfKind(object.slot, {}, 9).objects.size(), 2U);
    EXPECT_EQ(facts.ObjectsOfKind(object.slot, {}, 1).objects.size(), 1U);
    EXPECT_EQ(facts.ObjectByUid(object.uid), object);
    EXPECT_EQ(facts.ObjectBySlot(object.slot), object);
    EXPECT_EQ(facts.RowsOfUid(object.uid), gone.put_rows);
    EXPECT_EQ(facts.ObjectBySlot(kept.put_objects.at(0).slot), kept.put_objects.at(0));
  });
  EXPECT_TRUE(Write(*store, SampleEnd("gone", "gone")).ok());
  Changes setting;
  for (int i = 0; i < kCommits; ++i) {
    setting.put_settings = {{"number", std::to_string(i)}};
    EXPECT_TRUE(Write(*store, setting).ok());
  }
  snapshot.Release();
  const ReadFn after = [&](const AllFacts& facts) {
    EXPECT_EQ(facts.ObjectsOfKind(object.slot, {}, 9).objects, kept.put_objects);
    EXPECT_EQ(facts.ObjectBySlot(object.slot), std::nullopt);
    EXPECT_TRUE(facts.RowsOfUid(object.uid).empty());
  };
  EXPECT_TRUE(store->Read(after, Soon()).ok());
}

// As a release before left it.
TEST_F(StoreOpen, AReaderCannotMakeTheLogGrowWithoutBound) {
  SqliteOptions options = Options();
  options.checkpoint_bytes = 100'000;
  options.wal_bytes_max = 400'000;
  const auto store = Open(options);
  ASSERT_TRUE(Write(*store, SampleCreate("first", "first")).ok());
  HeldSnapshot snapshot(*store, [](const AllFacts& facts) {
    EXPECT_EQ(facts.ResourcesAfter({}, 9).size(), 1U) << "a snapshot stays what it was";
  });
  int written = 0;
  Result<void> last;
  for (; written < 500 && last.ok(); ++written) {
    last = Write(*store, SampleCreate(std::to_string(written), std::to_string(written)));
  }
  ASSERT_FALSE(last.ok());
  EXPECT_EQ(last.error().code, ErrorCode::kResourceExhausted);
  EXPECT_LT(std::filesystem::file_size(File() + "-wal"), 1'000'000U);
  snapshot.Release();
  for (int i = 0; i < 300; ++i) {
    const std::string name = "later" + std::to_string(i);
    ASSERT_TRUE(Write(*store, SampleCreate(name, name)).ok());
  }
  EXPECT_LT(std::filesystem::file_size(File() + "-wal"), 1'000'000U);
}

}  // namespace store_open_test
}  // namespace truce::testing
