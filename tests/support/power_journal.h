// PowerJournal: everything that was done to a disk, and what a power cut leaves of it.
#ifndef TRUCE_TESTS_SUPPORT_POWER_JOURNAL_H_
#define TRUCE_TESTS_SUPPORT_POWER_JOURNAL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/support/power_disk.h"

namespace truce::testing {

// See PowerDisk for what a disk keeps. Files are numbers, which names point to. External
// synchronization.
class PowerJournal {
 public:
  // The file of that name, which is there from now on.
  int Make(const std::string& name);
  void Remove(const std::string& name);
  void Rename(const std::string& from, const std::string& to);
  void Link(const std::string& from, const std::string& to);
  void SyncFolder();

  void Write(int file, std::size_t offset, std::string bytes);
  void Truncate(int file, std::size_t size);
  void Sync(int file);
  // A sync that failed.
  void LoseSync(int file);
  void Note(const std::string& what);

  std::size_t length() const { return entries_.size(); }
  Remains CutAt(std::size_t moment, Keep keep, std::mt19937_64& random) const;

 private:
  enum class Step {
    kMake,
    kRemove,
    kRename,
    kLink,
    kSyncFolder,
    kWrite,
    kTruncate,
    kSync,
    kLoseSync,
    kNote
  };
  struct Entry {
    Step step;
    int file = -1;
    std::size_t place = 0;
    std::string text;  // bytes, a name or a note
    std::string to;
  };
  using Names = std::map<std::string, int>;
  struct FileOnDisk {
    std::string content;
    std::vector<const Entry*> pending;
  };
  struct OnDisk {
    Names names;
    std::vector<const Entry*> pending_names;
    std::map<int, FileOnDisk> files;
  };

  static void Apply(const Entry& entry, Names& names);
  static void Apply(const Entry& entry, OnDisk& disk);
  static void Settle(FileOnDisk& file, Keep keep, std::mt19937_64& random);

  std::vector<Entry> entries_;
  Names names_;  // as everybody sees them now
  int files_ = 0;
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_POWER_JOURNAL_H_
