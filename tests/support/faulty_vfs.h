// FaultyVfs: a file layer for SQLite whose disk fails when a test says so.
#ifndef TRUCE_TESTS_SUPPORT_FAULTY_VFS_H_
#define TRUCE_TESTS_SUPPORT_FAULTY_VFS_H_

#include <cstdint>
#include <memory>
#include <string>

namespace truce::testing {

// Registered with SQLite under name() for its life; all connections through it must be closed
// before. Thread-safe. Counts what reaches the disk: writes, truncations and syncs of files.
class FaultyVfs {
 public:
  FaultyVfs();
  ~FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;

  std::string name() const;
  // Operations since the last Fail or Heal.
  std::uint64_t operations() const;

  // The n-th operation from now on (1 is the next) fails with SQLite's `code`, and so do all after
  // it.
  void FailFrom(std::uint64_t nth, int code);
  // Only the n-th one fails.
  void FailOnce(std::uint64_t nth, int code);
  // Each reading of a file fails; writing works.
  void FailReads(int code);
  void Heal();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_FAULTY_VFS_H_
