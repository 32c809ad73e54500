// WriteAheadLog: moves the log of a database into it after commits, and bounds it.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_WRITE_AHEAD_LOG_H_
#define TRUCE_REGISTRY_STORE_SQLITE_WRITE_AHEAD_LOG_H_

#include <atomic>
#include <cstdint>
#include <optional>

#include "registry/base/result.h"
#include "registry/store/sqlite/connection.h"

namespace truce {

// SQLite's own checkpoint after a commit swallows a sync that failed. After such a sync the
// operating system counts the pages as written and forgets them: the next sync works, without them,
// and a process that went on would drop the log that still has them. So this one never forgets it:
// nothing is moved any more, until another process reads the log anew.
//
// External synchronization: the writer's thread; `bytes` and `lost_sync` by all.
class WriteAheadLog {
 public:
  // Of `writer`, which must outlive it. The log is moved when it has grown by `checkpoint_bytes`:
  // the more, the fewer pages are moved twice and the longer that commit takes. Writes are refused
  // from `bytes_max` on.
  WriteAheadLog(Connection& writer, std::uint64_t checkpoint_bytes, std::uint64_t bytes_max);
  // Moves the rest of the log, unless a sync failed.
  ~WriteAheadLog();
  WriteAheadLog(const WriteAheadLog&) = delete;
  WriteAheadLog& operator=(const WriteAheadLog&) = delete;

  // Before a batch: why it must not write, if so: a reader, or the disk, has kept the log from
  // shrinking until it reached its bound.
  std::optional<Error> Refusal();

  // Length of the log after the last commit.
  std::uint64_t bytes() const;
  // A sync failed: changes that the database was given may be missing from the disk. The log has
  // them.
  bool lost_sync() const { return lost_sync_; }

 private:
  static int Committed(void* self, sqlite3* database, const char* name, int frames);
  // Whether all of the log is in the database.
  bool Checkpoint(int mode);

  Connection& writer_;
  const std::uint64_t checkpoint_bytes_;
  const std::uint64_t bytes_max_;
  int moved_ = 0;                // frames of the log when it was last moved
  std::atomic<int> frames_ = 0;  // of the log after the last commit
  std::atomic<bool> lost_sync_ = false;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_WRITE_AHEAD_LOG_H_
