#include "tests/support/small_disk.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "registry/base/assert.h"

namespace truce::testing {
namespace {

void MapUser(unsigned user, unsigned group) {
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
}

void EnterOwnNamespace() {
  const unsigned user = geteuid();
  const unsigned group = getegid();
  if (user == 0) {
    TRUCE_ASSERT(unshare(CLONE_NEWNS) == 0);
  } else {
    TRUCE_ASSERT(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0);
    MapUser(user, group);
  }
  TRUCE_ASSERT(mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
}

}  // namespace

SmallDisk::SmallDisk(std::size_t bytes) {
  EnterOwnNamespace();
  const std::string options = "size=" + std::to_string(bytes);
  TRUCE_ASSERT(mount("none", path().c_str(), "tmpfs", 0, options.c_str()) == 0);
}

SmallDisk::~SmallDisk() { umount2(path().c_str(), MNT_DETACH); }

void SmallDisk::Fill() {
  const int file = open((path() + "/ballast").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  TRUCE_ASSERT(file >= 0);
  const std::string block(4096, 'x');
  while (write(file, block.data(), block.size()) > 0) {
  }
  TRUCE_ASSERT(errno == ENOSPC);
  TRUCE_ASSERT(close(file) == 0);
}

void SmallDisk::Free() { std::filesystem::remove(path() + "/ballast"); }

void SmallDisk::MakeReadOnly() {
  TRUCE_ASSERT(mount("none", path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0);
}

}  // namespace truce::testing
