// The power goes while the registry is at work: whatever the disk kept of what was not synced, the
// next start opens it, it is intact, every acknowledged grant is there, and no loss is told.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "registry/ownership/rows.h"
#include "registry/store/sqlite/backup.h"
#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/log_look.h"
#include "registry/store/sqlite/migrations.h"
#include "registry/store/sqlite/sqlite_store.h"
#include "tests/support/power_disk.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"
#include "tests/support/temporary_folder.h"

namespace truce::testing {
namespace power_cut_test {

constexpr unsigned kRuns = 20;
constexpr int kCutsPerRun = 20;
constexpr int kRounds = 12;
constexpr int kWriters = 4;
constexpr int kCreatesPerRound = 60;
constexpr int kImported = 60;

constexpr std::array kKeeps = {Keep::kNothing,   Keep::kHalf,     Keep::kMost,
                               Keep::kBeginning, Keep::kAnything, Keep::kAll};

Keep AnyKeep(std::mt19937_64& random) { return kKeeps[random() % kKeeps.size()]; }

std::set<std::string> NamesIn(const StoreContents& contents) {
  std::set<std::string> names;
  for (const Owner& owner : contents.owners) names.insert(owner.name);
  return names;
}

// Everything that belongs to one create is there, or nothing of it.
void ExpectWhole(const StoreContents& contents) {
  std::set<std::string> rows;
  for (const Row& row : contents.rows) rows.insert(row.id.uid.text);
  EXPECT_EQ(NamesIn(contents), rows);
  EXPECT_EQ(contents.objects.size(), rows.size());
  EXPECT_EQ(contents.names.size(), 2 * rows.size());
}

// Notes: "+x" x is acknowledged, "?x" its end begins.
void ExpectAcknowledged(const StoreContents& contents, const std::set<std::string>& notes) {
  const std::set<std::string> names = NamesIn(contents);
  for (const std::string& note : notes) {
    const std::string name = note.substr(1);
    if (note[0] != '+' || notes.contains("?" + name)) continue;
    EXPECT_TRUE(names.contains(name)) << name << " was acknowledged";
  }
  // An import is there as a whole or not at all.
  const auto imported = [](const std::string& name) { return name.starts_with("import"); };
  EXPECT_EQ(std::count_if(names.begin(), names.end(), imported) % kImported, 0);
}

void ExpectSound(const std::string& file) {
  auto connection = Connection::Open({file, "", true});
  ASSERT_TRUE(connection.ok()) << connection.error().message;
  EXPECT_EQ(connection.value()->Text("PRAGMA integrity_check").value(), "ok");
}

std::string Where(const PowerDisk& disk, std::size_t moment, Keep keep) {
  return "cut at " + std::to_string(moment) + " of " + std::to_string(disk.length()) +
         ", keeping " + std::to_string(static_cast<int>(keep));
}

// A registry at work on a disk that is going to lose its power.
class Work {
 public:
  explicit Work(std::uint64_t seed) : random_(seed), disk_(folder_.path().string()) {
    Open();
    // In two runs of three some syncs fail, of the database or of any file.
    if (seed % 3 == 1) disk_.LoseSyncs("truce.db", 300, seed);
    if (seed % 3 == 2) disk_.LoseSyncs("", 30, seed);
    for (int round = 0; round < kRounds && !::testing::Test::HasFailure(); ++round) Round(round);
  }

  const PowerDisk& disk() const { return disk_; }

 private:
  void Round(int round) {
    switch (random_() % 6) {
      case 0: Close(); break;
      case 1: WriteUntilKilled(round); break;
      case 2: BackUpOnce(round); break;
      case 3: Import(round); break;
      default: WriteAll(round); break;
    }
    // A server that must end is started again.
    if (store_ != nullptr && store_->FatalFailure().has_value()) Close();
    if (store_ == nullptr) Open();
  }

  void Open() {
    SqliteOptions options;
    options.data_dir = folder_.path().string();
    options.disk = disk_.disk();
    options.full_check = false;
    // Checkpoints and new beginnings of the log all the time.
    options.checkpoint_bytes = 20'000 + random_() % 100'000;
    // A start whose own syncs fail is tried again.
    for (int attempt = 0; attempt < 100; ++attempt) {
      const auto loss = TakeUpLog(options.data_dir, disk_.files());
      ASSERT_EQ(loss.ok() ? loss.value() : "", "");
      auto opened = SqliteStore::Open(options);
      if (opened.ok()) {
        store_ = std::move(opened).value();
        const std::string name = "open-" + std::to_string(++opened_);
        if (!Write(*store_, SampleNamedCreate(name, name)).ok()) return;
        disk_.Note("+" + name);
        static_cast<void>(MarkLog(options.data_dir, disk_.files()).ok());
        return;
      }
      ASSERT_EQ(opened.error().code, ErrorCode::kUnavailable) << opened.error().message;
    }
    FAIL() << "it does not start";
  }

  void Close() {
    if (!store_->FatalFailure().has_value()) {
      static_cast<void>(TakeLogMarkOff(folder_.path().string(), disk_.files()).ok());
    }
    store_.reset();
  }

  void WriteAll(int round) {
    std::atomic<int> next = 0;
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&] {
        for (int i = next++; i < kCreatesPerRound; i = next++) {
          const std::string name = std::to_string(round) + "-" + std::to_string(i);
          if (!Write(*store_, SampleNamedCreate(name, name)).ok()) continue;
          disk_.Note("+" + name);
          if (i % 5 == 0) End(name);
        }
      });
    }
  }

  void End(const std::string& name) {
    disk_.Note("?" + name);
    static_cast<void>(Write(*store_, SampleEnd(name, name)).ok());
  }

  void WriteUntilKilled(int round) {
    disk_.Fail({.nth = 1 + random_() % 300, .fault = DiskFault::kKilled, .for_good = true});
    WriteAll(round);
    Close();
    disk_.Heal();
  }

  void BackUpOnce(int round) {
    const std::string copy = (folder_.path() / ("copy-" + std::to_string(round))).string();
    std::jthread beside([&] { WriteAll(round); });
    static_cast<void>(BackUp(folder_.path().string(), copy, disk_.disk()).ok());
  }

  void Import(int round) {
    Changes all;
    std::vector<std::string> names;
    for (int i = 0; i < kImported; ++i) {
      names.push_back("import" + std::to_string(round) + "-" + std::to_string(i));
      const Changes one = SampleNamedCreate(names.back(), names.back());
      all.put_owners.push_back(one.put_owners.at(0));
      all.put_rows.push_back(one.put_rows.at(0));
      all.put_objects.push_back(one.put_objects.at(0));
      for (const ResourceName& each : one.put_names) all.put_names.push_back(each);
    }
    if (!Write(*store_, all).ok()) return;
    for (const std::string& name : names) disk_.Note("+" + name);
  }

  std::mt19937_64 random_;
  TemporaryFolder folder_;
  PowerDisk disk_;
  int opened_ = 0;
  std::unique_ptr<SqliteStore> store_;
};

void Recover(const TemporaryFolder& folder, PowerDisk& disk, const std::set<std::string>& notes) {
  const std::string path = folder.path().string();
  ASSERT_EQ(TakeUpLog(path, disk.files()).value(), "");
  {
    auto opened = SqliteStore::Open({.data_dir = path, .disk = disk.disk(), .full_check = false});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    const auto contents = ContentsOf(*opened.value());
    ASSERT_TRUE(contents.ok()) << contents.error().message;
    ExpectWhole(contents.value());
    ExpectAcknowledged(contents.value(), notes);
    EXPECT_TRUE(Write(*opened.value(), SampleNamedCreate("after", "after")).ok());
    EXPECT_TRUE(MarkLog(path, disk.files()).ok());
    EXPECT_TRUE(Write(*opened.value(), SampleNamedCreate("again", "again")).ok());
    EXPECT_TRUE(TakeLogMarkOff(path, disk.files()).ok());
  }
  ExpectSound((folder.path() / "truce.db").string());
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    // What has a copy's name is a whole copy.
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("copy-") || name.find(".part") != std::string::npos) continue;
    const auto copied = VerifyBackup(entry.path().string(), disk.disk());
    EXPECT_TRUE(copied.ok()) << copied.error().message;
  }
}

// The next start after a power cut; nothing of it may be worse than the cut when the power goes
// once more.
void ExpectRecovered(const Remains& remains, std::mt19937_64& random) {
  TemporaryFolder folder;
  PutInto(folder.path().string(), remains);
  PowerDisk disk(folder.path().string());
  const std::size_t begin = disk.length();
  Recover(folder, disk, remains.notes);
  if (::testing::Test::HasFailure()) return;
  const std::size_t moment = begin + random() % (disk.length() - begin + 1);
  const Remains again = disk.CutAt(moment, AnyKeep(random), random);
  TemporaryFolder other;
  PutInto(other.path().string(), again);
  PowerDisk other_disk(other.path().string());
  Recover(other, other_disk, remains.notes);
}

void CutOften(std::uint64_t seed) {
  const Work work(seed);
  std::mt19937_64 random(seed);
  for (int cut = 0; cut < kCutsPerRun && !::testing::Test::HasFailure(); ++cut) {
    const std::size_t moment = random() % (work.disk().length() + 1);
    const Keep keep = AnyKeep(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + Where(work.disk(), moment, keep));
    ExpectRecovered(work.disk().CutAt(moment, keep, random), random);
  }
}

class PowerCut : public ::testing::TestWithParam<unsigned> {};

TEST_P(PowerCut, I3NoAcknowledgedGrantIsLost) { CutOften(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Rotating, PowerCut, ::testing::Range(0U, kRuns));

// For `make power-cuts`: as many runs as there is time for.
TEST(PowerCutByTheClock, I3NoAcknowledgedGrantIsLost) {
  const char* seconds = std::getenv("TRUCE_POWER_CUT_SECONDS");
  if (seconds == nullptr) return;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(seconds));
  const auto first = static_cast<std::uint64_t>(std::time(nullptr));
  std::uint64_t seed = first;
  while (std::chrono::steady_clock::now() < end && !HasFailure()) CutOften(seed++);
  std::printf("%llu images\n", static_cast<unsigned long long>(seed - first) * kCutsPerRun);
}

// True: what was acknowledged is noted.
bool Create(Store& store, PowerDisk& disk, const std::string& name) {
  const bool written = Write(store, SampleNamedCreate(name, name)).ok();
  if (written) disk.Note("+" + name);
  return written;
}

// A sync of the log that failed is its request's failure. But readers still see what it should have
// brought to the disk: a process that starts then must not build on it.
TEST(PowerCutAfterAKill, I3WhatALostSyncOfTheLogLeftIsNotBuiltUpon) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    TemporaryFolder folder;
    PowerDisk disk(folder.path().string());
    const SqliteOptions options{
        .data_dir = folder.path().string(), .disk = disk.disk(), .full_check = false};
    {
      auto opened = SqliteStore::Open(options);
      ASSERT_TRUE(opened.ok()) << opened.error().message;
      ASSERT_TRUE(Create(*opened.value(), disk, "before"));
      disk.LoseSyncs("-wal", 1000, seed);
      EXPECT_FALSE(Create(*opened.value(), disk, "lost" + std::string(seed * 100, 'x')));
      disk.Fail({.nth = 1, .fault = DiskFault::kKilled, .for_good = true});
    }
    disk.LoseSyncs("", 0, 0);
    disk.Heal();
    auto opened = SqliteStore::Open(options);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    ASSERT_TRUE(Create(*opened.value(), disk, "after"));
    std::mt19937_64 random(seed);
    const Remains remains = disk.CutAt(disk.length(), Keep::kNothing, random);
    opened.value().reset();
    ExpectRecovered(remains, random);
  }
}

class PowerCutAtStart : public ::testing::TestWithParam<std::uint64_t> {};

// While a start takes such a log in, the power may go: what the log on the disk lacks must not be
// half in the database.
TEST_P(PowerCutAtStart, I3WhatALostSyncOfTheLogLeftIsTakenInWholeOrNotAtAll) {
  const std::uint64_t seed = GetParam();
  TemporaryFolder folder;
  PowerDisk disk(folder.path().string());
  const SqliteOptions options{
      .data_dir = folder.path().string(), .disk = disk.disk(), .full_check = false};
  {
    auto opened = SqliteStore::Open(options);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    for (int i = 0; i < 30; ++i)
      ASSERT_TRUE(Create(*opened.value(), disk, "a" + std::to_string(i)));
  }
  {
    auto opened = SqliteStore::Open(options);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    ASSERT_TRUE(Create(*opened.value(), disk, "before"));
    disk.LoseSyncs("-wal", 1000, seed);
    EXPECT_FALSE(Create(*opened.value(), disk, "lost" + std::string(20'000, 'x')));
    disk.Fail({.nth = 1, .fault = DiskFault::kKilled, .for_good = true});
  }
  disk.LoseSyncs("", 0, 0);
  disk.Heal();
  const std::size_t begin = disk.length();
  auto opened = SqliteStore::Open(options);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  std::mt19937_64 random(seed);
  for (std::size_t moment = begin; moment <= disk.length() && !HasFailure();
       moment += 1 + random() % 16) {
    const Keep keep = AnyKeep(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + Where(disk, moment, keep));
    ExpectRecovered(disk.CutAt(moment, keep, random), random);
  }
}

INSTANTIATE_TEST_SUITE_P(Rotating, PowerCutAtStart, ::testing::Range<std::uint64_t>(0, 8));

// A copy of the registry, older than it, and the registry: what each holds.
struct Registry {
  explicit Registry(std::string path) : folder(std::move(path)) {
    disk.emplace(folder);
    auto opened = SqliteStore::Open(Options());
    TRUCE_ASSERT(opened.ok());
    for (int i = 0; i < 30; ++i) Create(*opened.value(), "old-" + std::to_string(i));
    TRUCE_ASSERT(BackUp(folder, folder + "/copy", disk->disk()).ok());
    copied = created;
    TRUCE_ASSERT(MarkLog(folder, disk->files()).ok());
    for (int i = 0; i < 30; ++i) Create(*opened.value(), "new-" + std::to_string(i));
    // It was killed: some of it is in the log only.
    disk->Fail({.nth = 1, .fault = DiskFault::kKilled, .for_good = true});
    opened.value().reset();
    disk->Heal();
  }

  SqliteOptions Options() {
    return {.data_dir = folder, .disk = disk->disk(), .full_check = false};
  }

  void Create(Store& store, const std::string& name) {
    TRUCE_ASSERT(Write(store, SampleNamedCreate(name, name)).ok());
    created.insert(name);
  }

  const std::string folder;
  std::optional<PowerDisk> disk;
  std::set<std::string> created;
  std::set<std::string> copied;
};

std::set<std::string> NamesOf(const Store& store) {
  const auto contents = ContentsOf(store);
  EXPECT_TRUE(contents.ok());
  return contents.ok() ? NamesIn(contents.value()) : std::set<std::string>();
}

TEST(PowerCutAtRestore, LeavesTheOldRegistryOrTheNewOne) {
  TemporaryFolder folder;
  Registry registry(folder.path().string());
  PowerDisk& disk = *registry.disk;
  const std::size_t begin = disk.length();
  ASSERT_TRUE(RestoreBackup(registry.folder + "/copy", registry.folder, disk.disk()).ok());
  std::mt19937_64 random(1);
  int restored = 0;
  for (std::size_t moment = begin; moment <= disk.length() && !HasFailure(); ++moment) {
    const Keep keep = AnyKeep(random);
    SCOPED_TRACE(Where(disk, moment, keep));
    TemporaryFolder after;
    PutInto(after.path().string(), disk.CutAt(moment, keep, random));
    EXPECT_EQ(LossInLog(after.path().string()), "");
    const auto opened = SqliteStore::Open({.data_dir = after.path().string(), .full_check = false});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    const std::set<std::string> names = NamesOf(*opened.value());
    if (names == registry.created) continue;
    EXPECT_EQ(names, registry.copied);
    ++restored;
    const auto replaced = VerifyBackup((after.path() / "truce.db.replaced").string());
    ASSERT_TRUE(replaced.ok()) << replaced.error().message;
    EXPECT_EQ(replaced.value().ownerships, static_cast<std::int64_t>(registry.created.size()));
  }
  EXPECT_GT(restored, 0);
}

TEST(PowerCutAtRestore, OfADamagedRegistryNeverLeavesAnEmptyOne) {
  TemporaryFolder folder;
  Registry registry(folder.path().string());
  for (const char* name : {"/truce.db", "/truce.db-wal"}) {
    std::fstream file(registry.folder + name, std::ios::in | std::ios::out);
    file << std::string(100, 'x');
  }
  registry.disk.emplace(registry.folder);
  PowerDisk& disk = *registry.disk;
  const std::size_t begin = disk.length();
  ASSERT_TRUE(RestoreBackup(registry.folder + "/copy", registry.folder, disk.disk()).ok());
  std::mt19937_64 random(2);
  int restored = 0;
  for (std::size_t moment = begin; moment <= disk.length() && !HasFailure(); ++moment) {
    const Keep keep = AnyKeep(random);
    SCOPED_TRACE(Where(disk, moment, keep));
    TemporaryFolder after;
    PutInto(after.path().string(), disk.CutAt(moment, keep, random));
    const auto opened = SqliteStore::Open({.data_dir = after.path().string(), .full_check = false});
    if (opened.ok()) {
      EXPECT_EQ(NamesOf(*opened.value()), registry.copied);
      ++restored;
    } else {
      EXPECT_EQ(opened.error().code, ErrorCode::kDataLoss) << opened.error().message;
    }
  }
  EXPECT_GT(restored, 0);
}

const std::array kMigrations = {
    Migration{1, "0001_first", "sum1", "CREATE TABLE a (x TEXT) STRICT"},
    Migration{2, "0002_second", "sum2",
              "CREATE TABLE b (x TEXT, y INTEGER) STRICT;"
              "INSERT INTO b SELECT x, length(x) FROM a; DROP TABLE a"}};

constexpr int kTexts = 300;

// A database with the first schema and kTexts texts.
std::unique_ptr<Connection> MakeOld(const std::string& file, PowerDisk& disk) {
  std::unique_ptr<Connection> connection = OpenOn(file, disk.vfs());
  TRUCE_ASSERT(Migrate(*connection, {kMigrations.data(), 1}, file, disk.files()).ok());
  const Result<void> filled = connection->Execute(
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
      std::to_string(kTexts) + ") INSERT INTO a SELECT hex(zeroblob(99)) || i FROM n");
  TRUCE_ASSERT(filled.ok());
  return connection;
}

TEST(PowerCutAtMigration, LeavesTheOldSchemaOrTheNewOneWithACopyOfTheOldOne) {
  TemporaryFolder folder;
  PowerDisk disk(folder.path().string());
  const std::string file = (folder.path() / "truce.db").string();
  const auto connection = MakeOld(file, disk);
  const std::size_t begin = disk.length();
  ASSERT_TRUE(Migrate(*connection, kMigrations, file, disk.files()).ok());
  std::mt19937_64 random(3);
  for (std::size_t moment = begin; moment <= disk.length() && !HasFailure(); ++moment) {
    const Keep keep = AnyKeep(random);
    SCOPED_TRACE(Where(disk, moment, keep));
    TemporaryFolder after;
    PutInto(after.path().string(), disk.CutAt(moment, keep, random));
    const std::string found = (after.path() / "truce.db").string();
    const auto again = OpenOn(found, "");
    const bool migrated = again->Integer("PRAGMA user_version").value() == 2;
    if (migrated || Exists(found + ".before-2")) {
      const auto copy = OpenOn(found + ".before-2", "");
      EXPECT_EQ(copy->Text("PRAGMA integrity_check").value(), "ok");
      EXPECT_EQ(copy->Integer("SELECT count(DISTINCT x) FROM a").value(), kTexts);
    }
    ASSERT_TRUE(Migrate(*again, kMigrations, found).ok());
    EXPECT_EQ(again->Integer("SELECT count(DISTINCT x) FROM b").value(), kTexts);
    EXPECT_EQ(again->Text("PRAGMA integrity_check").value(), "ok");
  }
}

// It starts, writes, moves its log, is copied, ends, and gets the copy back.
struct Life {
  void Go(const std::string& folder, PowerDisk& disk) {
    {
      auto opened = SqliteStore::Open(
          {.data_dir = folder, .disk = disk.disk(), .checkpoint_bytes = 1, .full_check = false});
      if (!opened.ok()) return;
      for (const std::string name : {"a", "b"}) {
        if (Write(*opened.value(), SampleNamedCreate(name, name)).ok()) created.insert(name);
      }
      const auto copied = BackUp(folder, folder + "/copy", disk.disk());
      if (!copied.ok()) return;
      in_copy = created;
      if (Write(*opened.value(), SampleNamedCreate("c", "c")).ok()) created.insert("c");
    }
    restored = RestoreBackup(folder + "/copy", folder, disk.disk()).ok();
  }

  std::set<std::string> created;
  std::set<std::string> in_copy;
  bool restored = false;
};

class EveryCall : public ::testing::TestWithParam<DiskFault> {};

// Each call to the disk fails in turn, alone or with all later ones.
TEST_P(EveryCall, I3MayFailWithoutLoss) {
  bool reached_end = false;
  for (std::uint64_t nth = 1; !reached_end && !HasFailure(); ++nth) {
    SCOPED_TRACE("call " + std::to_string(nth));
    TemporaryFolder folder;
    PowerDisk disk(folder.path().string());
    disk.Fail({.nth = nth, .fault = GetParam(), .for_good = nth % 2 == 0, .reads = nth % 3 == 0});
    Life life;
    life.Go(folder.path().string(), disk);
    reached_end = disk.calls() < nth;
    EXPECT_TRUE(!reached_end || life.restored);
    disk.Heal();
    const auto opened = SqliteStore::Open(
        {.data_dir = folder.path().string(), .disk = disk.disk(), .full_check = false});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    const std::set<std::string> names = NamesOf(*opened.value());
    const auto holds = [&names](const std::set<std::string>& wanted) {
      return std::includes(names.begin(), names.end(), wanted.begin(), wanted.end());
    };
    EXPECT_TRUE(holds(life.created) || (life.in_copy != life.created && holds(life.in_copy)));
    EXPECT_TRUE(Write(*opened.value(), SampleNamedCreate("after", "after")).ok());
  }
}

TEST_P(EveryCall, OfAMigrationMayFailWithoutLoss) {
  bool reached_end = false;
  for (std::uint64_t nth = 1; !reached_end && !HasFailure(); ++nth) {
    SCOPED_TRACE("call " + std::to_string(nth));
    TemporaryFolder folder;
    PowerDisk disk(folder.path().string());
    const std::string file = (folder.path() / "truce.db").string();
    auto connection = MakeOld(file, disk);
    disk.Fail({.nth = nth, .fault = GetParam(), .for_good = nth % 2 == 0, .reads = nth % 3 == 0});
    const bool migrated = Migrate(*connection, kMigrations, file, disk.files()).ok();
    connection.reset();
    reached_end = disk.calls() < nth;
    EXPECT_TRUE(!reached_end || migrated);
    disk.Heal();
    const auto again = OpenOn(file, disk.vfs());
    // One that failed may be there all the same, like any commit whose sync failed.
    EXPECT_TRUE(!migrated || again->Integer("PRAGMA user_version").value() == 2);
    ASSERT_TRUE(Migrate(*again, kMigrations, file, disk.files()).ok());
    EXPECT_EQ(again->Integer("SELECT count(DISTINCT x) FROM b").value(), kTexts);
    EXPECT_EQ(again->Text("PRAGMA integrity_check").value(), "ok");
  }
}

INSTANTIATE_TEST_SUITE_P(RotatingFaults, EveryCall,
                         ::testing::Values(DiskFault::kFull, DiskFault::kBroken, DiskFault::kShort),
                         [](const auto& tested) {
                           switch (tested.param) {
                             case DiskFault::kFull: return "Full";
                             case DiskFault::kBroken: return "Broken";
                             case DiskFault::kShort: return "Short";
                             case DiskFault::kKilled: break;
                           }
                           return "Killed";
                         });

}  // namespace power_cut_test
}  // namespace truce::testing
