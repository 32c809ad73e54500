// SmallDisk: a real file system of few megabytes, to be filled or made read-only.
#ifndef TRUCE_TESTS_SUPPORT_SMALL_DISK_H_
#define TRUCE_TESTS_SUPPORT_SMALL_DISK_H_

#include <cstddef>
#include <string>

#include "tests/support/temporary_folder.h"

namespace truce::testing {

// A tmpfs that only the calling thread and the threads it starts afterwards can see: the calling
// thread gets a mount namespace of its own, which ends with the process. Needs root, or a kernel
// that gives user namespaces to a process of one thread. A mount that does not work is a
// programmer's error. External synchronization.
class SmallDisk final {
 public:
  explicit SmallDisk(std::size_t bytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  std::string path() const { return folder_.path().string(); }

  // Takes all room that is left; gives it back.
  void Fill();
  void Free();
  // Nobody may have a file open on it for writing.
  void MakeReadOnly();

 private:
  TemporaryFolder folder_;
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_SMALL_DISK_H_
