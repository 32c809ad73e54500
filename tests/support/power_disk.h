// PowerDisk: a disk that keeps a journal, so that a test can ask what a power cut at any moment
// would have left of it; its syncs can fail, and each of its calls.
#ifndef TRUCE_TESTS_SUPPORT_POWER_DISK_H_
#define TRUCE_TESTS_SUPPORT_POWER_DISK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/files.h"

namespace truce::testing {

// What a failing call does. Full, and input/output error: nothing. Short: half of what was to be
// written. A sync that fails loses what it should have brought to the disk, as Linux does: readers
// go on to see it, no later sync brings it; and as Linux does from 4.13 on, the next sync through
// each other handle that had the file open fails too. Killed: nothing is done, and nothing lost.
enum class DiskFault { kFull, kBroken, kShort, kKilled };

// How much of what was not synced a power cut leaves.
enum class Keep { kNothing, kHalf, kMost, kBeginning, kAnything, kAll };

// What is there after a power cut.
struct Remains {
  std::map<std::string, std::string> files;  // content by name
  std::set<std::string> notes;               // made before the cut
};

// A file layer for SQLite (vfs()) and Files, both over the real files of one folder, which always
// show the newest state, as files do while the power is on. What was there before is on the disk.
//
// The disk: of what was written to a file and not synced, each sector of 512 bytes is kept or lost
// by itself, also the older ones of a place that was written twice; a file that grew has its new
// size with zeros in it, or less of it. Names (made, renamed, linked, removed) are kept from the
// first one on up to some one, and all of them once the folder was synced; a log's first sync does
// that too, as SQLite's layer for Unix does.
//
// Thread-safe but for Heal and the faults, which are set while nobody writes. All connections must
// be closed before it is destroyed.
class PowerDisk {
 public:
  explicit PowerDisk(const std::string& folder);
  ~PowerDisk();
  PowerDisk(const PowerDisk&) = delete;
  PowerDisk& operator=(const PowerDisk&) = delete;

  std::string vfs() const;
  Files& files();
  Disk disk() { return {vfs(), &files()}; }

  // Notes in the journal that something happened.
  void Note(const std::string& what);
  // How much has happened so far. A cut is at one of 0 … length().
  std::size_t length() const;
  Remains CutAt(std::size_t moment, Keep keep, std::mt19937_64& random) const;

  // Of each thousand syncs of files whose name ends so ("": all), this many fail and lose what they
  // had.
  void LoseSyncs(const std::string& name_end, unsigned of_thousand, std::uint64_t seed);
  // The n-th call from now on (1 is the next), or each from there on, fails. Counted are opening,
  // deleting, writing, truncating, syncing and the calls of files(); with `reads` reading too.
  struct Failing {
    std::uint64_t nth = 1;
    DiskFault fault = DiskFault::kBroken;
    bool for_good = false;
    bool reads = false;
  };
  void Fail(const Failing& failing);
  // Calls since then.
  std::uint64_t calls() const;
  // No call fails any more but those of LoseSyncs.
  void Heal();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

// A connection to the database `file` through the layer of that name. It must open.
std::unique_ptr<Connection> OpenOn(const std::string& file, const std::string& vfs);

// Makes the files in `folder`, which is empty.
void PutInto(const std::string& folder, const Remains& remains);

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_POWER_DISK_H_
