// What is remembered of a registry beside it survives a power cut: it is synced before it gets its
// name, and so is the name. A program of its own, because it replaces fsync.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "webhook/upkeep/disk_failure.h"
#include "webhook/watch/recovery/registry_memory.h"

namespace truce::testing {
namespace mark_file_test {

std::function<void(const std::string&)>& OnSync() {
  static std::function<void(const std::string&)> on_sync;
  return on_sync;
}

}  // namespace mark_file_test
}  // namespace truce::testing

extern "C" int fsync(int file) {
  if (const auto& on_sync = truce::testing::mark_file_test::OnSync(); on_sync != nullptr) {
    on_sync(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file)).string());
  }
  return static_cast<int>(syscall(SYS_fsync, file));
}

namespace truce::testing {
namespace mark_file_test {

// Runs `write`, which makes the file `name`; expects its content to be synced while it had another
// name, and the folder after that.
void ExpectSynced(const TemporaryFolder& folder, const std::string& name,
                  const std::function<Result<void>(const std::string&)>& write) {
  const std::filesystem::path file = folder.path() / name;
  std::vector<std::string> synced;
  OnSync() = [&](const std::string& path) {
    synced.push_back(path == folder.path() ? "folder" : "file");
    EXPECT_EQ(std::filesystem::exists(file), path == folder.path());
    EXPECT_TRUE(path == folder.path() || std::filesystem::file_size(path) > 0);
  };
  EXPECT_TRUE(write(folder.path().string()).ok());
  OnSync() = nullptr;
  EXPECT_EQ(synced, (std::vector<std::string>{"file", "folder"}));
}

TEST(MarkFile, IsSyncedBeforeItHasItsName) {
  const TemporaryFolder folder;
  const StoreMark mark{"4vzq3r7k2m5n6", 3};
  ExpectSynced(folder, "registry.mark",
               [&mark](const std::string& path) { return WriteMarkFile(path, mark); });
  const auto read = ReadMarkFile(folder.path().string());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(ToText(*read), ToText(mark));
}

TEST(DiskFailureFile, IsSyncedBeforeItHasItsName) {
  const TemporaryFolder folder;
  const Timestamp time = *ParseTimestamp("2026-11-23T18:00:00Z");
  EXPECT_FALSE(LastDiskFailure(folder.path().string()).has_value());
  ExpectSynced(folder, "disk.failure",
               [&time](const std::string& path) { return NoteDiskFailure(path, time); });
  EXPECT_EQ(LastDiskFailure(folder.path().string()), time);
}

}  // namespace mark_file_test
}  // namespace truce::testing
