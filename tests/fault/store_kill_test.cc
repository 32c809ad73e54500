// kill -9 at random moments: no acknowledged grant is lost, nothing is half written, no loss is
// told.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "registry/ownership/rows.h"
#include "registry/store/sqlite/log_look.h"
#include "registry/store/sqlite/sqlite_store.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"
#include "tests/support/temporary_folder.h"

extern char** environ;

namespace truce::testing {
namespace store_kill_test {

constexpr unsigned kFolders = 8;
constexpr int kKillsPerFolder = 26;  // 208 kills in all

// A child that writes to a store, and what it said.
class Child {
 public:
  Child(const std::string& folder, long first_name) {
    std::array<int, 2> ends{};
    TRUCE_ASSERT(pipe2(ends.data(), O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::string program = TRUCE_STORE_KILL_CHILD;
    std::string first = std::to_string(first_name);
    std::string path = folder;
    std::array<char*, 4> arguments = {program.data(), path.data(), first.data(), nullptr};
    TRUCE_ASSERT(
        posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    output_ = ends[0];
  }

  // Reads until `length` bytes were said or `patience` has passed.
  void Listen(std::size_t length, std::chrono::milliseconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (said_.size() < length) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          end - std::chrono::steady_clock::now());
      pollfd waiting{output_, POLLIN, 0};
      if (left.count() <= 0 || poll(&waiting, 1, static_cast<int>(left.count())) <= 0) return;
      if (!ReadSome()) return;
    }
  }

  // Kills the child and returns all it said, unless it ended by itself: then its status is in
  // `ended`.
  std::string Kill() {
    kill(pid_, SIGKILL);
    while (ReadSome()) {
    }
    close(output_);
    int status = 0;
    waitpid(pid_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended with " << WEXITSTATUS(status);
    return std::move(said_);
  }

 private:
  bool ReadSome() {
    std::array<char, 4096> buffer{};
    const ssize_t length = read(output_, buffer.data(), buffer.size());
    if (length <= 0) return false;
    said_.append(buffer.data(), static_cast<std::size_t>(length));
    return true;
  }

  pid_t pid_ = 0;
  int output_ = -1;
  std::string said_;
};

enum class Fate { kCreated, kEnding, kEnded };

void Note(const std::string& said, std::map<std::string, Fate>& fates) {
  std::istringstream lines(said);
  std::string what;
  std::string name;
  while (lines >> what >> name) {
    fates[name] = what == "created"  ? Fate::kCreated
                  : what == "ending" ? Fate::kEnding
                                     : Fate::kEnded;
  }
}

void Check(const StoreContents& contents, const std::map<std::string, Fate>& fates) {
  std::set<std::string> owners;
  std::set<std::string> rows;
  std::set<std::string> objects;
  std::set<std::string> names;
  for (const Owner& owner : contents.owners) owners.insert(owner.name);
  for (const Row& row : contents.rows) rows.insert(row.id.uid.text);
  for (const Object& object : contents.objects) objects.insert(object.uid.text);
  EXPECT_EQ(owners, rows);
  EXPECT_EQ(owners, objects);
  for (const ResourceName& name : contents.names) {
    names.insert(name.name.text.substr(name.name.text.rfind('=') + 1));
  }
  EXPECT_EQ(owners, names);
  EXPECT_EQ(contents.names.size(), 2 * owners.size());
  for (const auto& [name, fate] : fates) {
    if (fate == Fate::kCreated) {
      EXPECT_TRUE(owners.contains(name)) << name;
    }
    if (fate == Fate::kEnded) {
      EXPECT_FALSE(owners.contains(name)) << name;
    }
  }
}

class StoreKill : public ::testing::TestWithParam<unsigned> {};

TEST_P(StoreKill, I3NoAcknowledgedGrantIsLost) {
  const std::uint64_t seed = 20261121 + GetParam();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  TemporaryFolder folder;
  std::map<std::string, Fate> fates;
  for (int kills = 0; kills < kKillsPerFolder; ++kills) {
    Child child(folder.path().string(), 1'000'000L * kills);
    // One in eight is killed while it opens; the others after some answers.
    if (random() % 8 == 0) {
      child.Listen(1, std::chrono::milliseconds(random() % 30));
    } else {
      child.Listen(1 + random() % 600, std::chrono::seconds(60));
    }
    Note(child.Kill(), fates);
    SqliteOptions options;
    options.data_dir = folder.path().string();
    options.full_check = kills == kKillsPerFolder - 1;
    EXPECT_EQ(TakeUpLog(options.data_dir).value(), "");
    auto opened = SqliteStore::Open(options);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    const auto contents = ContentsOf(*opened.value());
    ASSERT_TRUE(contents.ok());
    Check(contents.value(), fates);
    EXPECT_EQ(opened.value()->Counts().owners, contents.value().owners.size());
    if (HasFailure()) return;
  }
  EXPECT_GT(fates.size(), 1000 / kFolders) << "the children hardly wrote anything";
}

INSTANTIATE_TEST_SUITE_P(Rotating, StoreKill, ::testing::Range(0U, kFolders));

}  // namespace store_kill_test
}  // namespace truce::testing
