// WritingVfs: a file layer under a connection that writes: the log in few system calls, the
// database in small portions.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_WRITING_VFS_H_
#define TRUCE_REGISTRY_STORE_SQLITE_WRITING_VFS_H_

#include <memory>
#include <string>

#include "registry/base/result.h"
#include "registry/store/sqlite/lost_sync.h"

namespace truce {

// SQLite writes each page of the write-ahead log in two calls. Here what follows each other is
// gathered, up to 128 KiB, and written in one call before the next sync, so the sync still covers
// all that SQLite wrote; an error of that write is the sync's. What no sync follows belongs to no
// commit, and is dropped when the file is closed.
//
// SQLite syncs the database once, after the last page of a checkpoint: thousands of pages are then
// on their way to the disk at once, and a commit's sync waits behind them. Here the database
// can be synced in between (SyncEvery).
//
// When a sync of the database fails, that is noted in a LostSync, and no connection that shares it
// writes to the database any more.
//
// One connection's; must outlive it. External synchronization.
class WritingVfs {
 public:
  // Over the layer `real` ("": the default one); null: with a LostSync of its own. Errors:
  // kInternal (no such layer).
  static Result<std::unique_ptr<WritingVfs>> Make(const std::string& real,
                                                  std::shared_ptr<LostSync> lost_sync);
  ~WritingVfs();
  WritingVfs(const WritingVfs&) = delete;
  WritingVfs& operator=(const WritingVfs&) = delete;

  const std::string& name() const;

  // From now on syncs the database each time so many pages of it were written; 0, as at the
  // beginning: only when SQLite asks.
  void SyncEvery(int pages);

 private:
  struct State;
  explicit WritingVfs(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_WRITING_VFS_H_
