// LossInLog finds acknowledged changes that a write-ahead log lacks, before SQLite passes over
// them; it takes the remains of a kill or a power cut for no loss (power_cut_test.cc,
// store_kill_test.cc).
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "registry/store/sqlite/backup.h"
#include "registry/store/sqlite/log_look.h"
#include "registry/store/sqlite/sqlite_store.h"
#include "tests/support/store_samples.h"
#include "tests/support/temporary_folder.h"

namespace truce::testing {
namespace log_look_test {

namespace fs = std::filesystem;

constexpr std::size_t kHeader = 32;
constexpr std::size_t kFrame = 24 + 4096;
constexpr int kWrites = 5;

std::string ContentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The files of a server that was killed, marked as it marks them.
class LogLook : public ::testing::Test {
 protected:
  LogLook() {
    const TemporaryFolder alive;
    const std::string from = alive.path().string();
    {
      auto opened = SqliteStore::Open({.data_dir = from, .full_check = false});
      TRUCE_ASSERT(opened.ok());
      for (int i = 0; i < kWrites; ++i) {
        begins_.push_back(FramesIn(alive.path() / "truce.db-wal"));
        const std::string name = "bucket-" + std::to_string(i);
        TRUCE_ASSERT(Write(*opened.value(), SampleNamedCreate(name, name)).ok());
      }
      for (const char* name : {"truce.db", "truce.db-wal", "truce.db-shm"}) {
        fs::copy_file(alive.path() / name, folder_.path() / name);
      }
    }
    TRUCE_ASSERT(MarkLog(Dir()).ok());
    log_ = ContentOf(Log());
  }

  static std::size_t FramesIn(const fs::path& log) {
    return (fs::file_size(log) - kHeader) / kFrame;
  }
  std::string Dir() const { return folder_.path().string(); }
  fs::path Log() const { return folder_.path() / "truce.db-wal"; }
  std::size_t frames() const { return (log_.size() - kHeader) / kFrame; }
  // As a power cut leaves them.
  void ForgetIndex() const { fs::remove(folder_.path() / "truce.db-shm"); }
  void Put(const std::string& log) const {
    std::ofstream(Log(), std::ios::binary | std::ios::trunc) << log;
  }
  // The log without the content of that frame, or with a bit of it changed.
  std::string Without(std::size_t frame) const {
    std::string log = log_;
    return log.replace(kHeader + frame * kFrame, kFrame, kFrame, '\0');
  }
  std::string Changed(std::size_t frame) const {
    std::string log = log_;
    log[kHeader + frame * kFrame + 2000] ^= 1;
    return log;
  }
  bool IsTold(const std::string& log) const {
    Put(log);
    return LossInLog(Dir()).find(Log().string() + " is damaged") != std::string::npos;
  }

  TemporaryFolder folder_;
  std::string log_;
  std::vector<std::size_t> begins_;  // the first frame of each write
};

TEST_F(LogLook, AWholeOneIsNotTold) {
  EXPECT_EQ(LossInLog(Dir()), "");
  ForgetIndex();
  EXPECT_EQ(LossInLog(Dir()), "");
}

TEST_F(LogLook, EachFrameOfAKilledServerIsMissed) {
  for (std::size_t frame = 0; frame < frames(); ++frame) {
    SCOPED_TRACE(frame);
    EXPECT_TRUE(IsTold(Without(frame)));
    EXPECT_TRUE(IsTold(Changed(frame)));
    EXPECT_TRUE(IsTold(log_.substr(0, kHeader + frame * kFrame + 77)));
  }
}

TEST_F(LogLook, AfterAPowerCutAHoleIsKnownByTwoCommitsBehindIt) {
  ForgetIndex();
  const std::size_t last = begins_.back();
  for (std::size_t frame = 0; frame < frames(); ++frame) {
    SCOPED_TRACE(frame);
    // The one before the last begins anew behind its commit frame, which alone proves nothing.
    if (frame + 2 < last) {
      EXPECT_TRUE(IsTold(Without(frame)));
      EXPECT_TRUE(IsTold(Changed(frame)));
    }
    // The power may have gone while that was written, in whichever order.
    if (frame >= last) {
      EXPECT_FALSE(IsTold(Without(frame)));
      EXPECT_FALSE(IsTold(Changed(frame)));
    }
    EXPECT_FALSE(IsTold(log_.substr(0, kHeader + frame * kFrame + 77)));
  }
}

TEST_F(LogLook, AHeaderThatCannotBeReadIsMissed) {
  for (std::size_t byte = 0; byte < kHeader; ++byte) {
    SCOPED_TRACE(byte);
    std::string log = log_;
    log[byte] ^= 0x10;
    EXPECT_TRUE(IsTold(log));
  }
  EXPECT_TRUE(IsTold(std::string(log_.size(), '\0')));
}

// Of a log that began anew the frames of its former use are none.
TEST_F(LogLook, AUsedLogIsNotTold) {
  const TemporaryFolder alive;
  const TemporaryFolder killed;
  auto opened = SqliteStore::Open(
      {.data_dir = alive.path().string(), .checkpoint_bytes = 50'000, .full_check = false});
  ASSERT_TRUE(opened.ok());
  std::uintmax_t longest = 0;
  int restarts = 0;
  std::string header;
  for (int i = 0; i < 200; ++i) {
    const std::string name = "bucket-" + std::to_string(i);
    ASSERT_TRUE(Write(*opened.value(), SampleNamedCreate(name, name)).ok());
    for (const char* file : {"truce.db-wal", "truce.db-shm"}) {
      fs::copy_file(alive.path() / file, killed.path() / file,
                    fs::copy_options::overwrite_existing);
    }
    EXPECT_EQ(LossInLog(killed.path().string()), "");
    const std::string log = ContentOf(killed.path() / "truce.db-wal");
    restarts += log.substr(0, kHeader) != header ? 1 : 0;
    header = log.substr(0, kHeader);
    EXPECT_GE(log.size(), longest) << "it is emptied at a clean end only";
    longest = log.size();
  }
  EXPECT_GT(restarts, 3);
}

TEST_F(LogLook, AMarkTellsOfALogThatIsGoneOrEmpty) {
  for (const std::size_t bytes : {std::size_t{0}, kHeader}) {
    Put(log_.substr(0, bytes));
    EXPECT_NE(LossInLog(Dir()).find("is gone or empty"), std::string::npos);
  }
  fs::remove(Log());
  EXPECT_NE(LossInLog(Dir()).find("is gone or empty"), std::string::npos);
  ASSERT_TRUE(TakeLogMarkOff(Dir()).ok());
  EXPECT_EQ(LossInLog(Dir()), "");
}

TEST_F(LogLook, AFolderWithoutARegistryLacksNothing) {
  const TemporaryFolder empty;
  EXPECT_EQ(LossInLog(empty.path().string()), "");
  EXPECT_EQ(TakeUpLog(empty.path().string()).value(), "");
  EXPECT_TRUE(fs::is_empty(empty.path()));
}

TEST_F(LogLook, ALossIsToldAgainUntilTheLogIsMarkedAnew) {
  Put(Without(0));
  const std::string loss = TakeUpLog(Dir()).value();
  EXPECT_NE(loss, "");
  {
    const auto opened = SqliteStore::Open({.data_dir = Dir(), .full_check = false});
    ASSERT_TRUE(opened.ok());
  }
  EXPECT_FALSE(fs::exists(Log()));
  EXPECT_EQ(TakeUpLog(Dir()).value(), loss);
  Put(log_);
  EXPECT_EQ(LossInLog(Dir()), loss);
  ASSERT_TRUE(MarkLog(Dir()).ok());
  EXPECT_EQ(LossInLog(Dir()), "");
}

// The log goes into the database when the store is opened: who is killed then lost nothing.
TEST_F(LogLook, ALogThatIsTakenInHasNoMark) {
  EXPECT_EQ(TakeUpLog(Dir()).value(), "");
  Put("");
  EXPECT_EQ(LossInLog(Dir()), "");
}

TEST_F(LogLook, ARestoreTakesTheMarkOff) {
  const TemporaryFolder other;
  const std::string copy = (other.path() / "copy.db").string();
  ASSERT_TRUE(BackUp(Dir(), copy).ok());
  EXPECT_EQ(LossInLog(Dir()), "") << "a copy changes nothing";
  ASSERT_TRUE(RestoreBackup(copy, Dir()).ok());
  EXPECT_FALSE(fs::exists(folder_.path() / "log.mark"));
  Put(Without(0));
  ASSERT_TRUE(RestoreBackup(copy, Dir()).ok());
  EXPECT_EQ(LossInLog(Dir()), "");
}

}  // namespace log_look_test
}  // namespace truce::testing
