// Layers under SQLite: how it reaches its files, and what its cache of pages does at each commit.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_LAYERS_H_
#define TRUCE_REGISTRY_STORE_SQLITE_LAYERS_H_

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

#include "registry/base/result.h"

namespace truce {

// Whether the disk failed to take what the database file had been given. After a sync that failed
// the operating system counts the pages as written and forgets them: the
// next sync works, without them. Whoever went on would drop the log that still has them. So it is
// never forgotten here, until a process reads the log anew. Thread-safe.
class LostSync {
 public:
  void Note() { lost_ = true; }
  bool lost() const { return lost_; }

 private:
  std::atomic<bool> lost_ = false;
};

// Under a connection that writes: the log in few system calls, the database in small portions.
//
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

// A bound of the numbers in a set that is not kept itself: at least the highest, and the highest
// again after a higher one was added and removed. External synchronization.
class NumberBound {
 public:
  // The set has `number` now; it may have had it before.
  void Add(unsigned number) {
    if (number > top_) {
      below_top_ = top_;
      top_ = number;
    } else if (number < top_) {
      below_top_ = std::max(below_top_, number);
    }
  }
  // The set has `number` no more. A removal that is not told only makes the bound less tight.
  void Remove(unsigned number) {
    if (number == top_) top_ = below_top_;
  }
  // The set has no number from `limit`, at least 1, on.
  void Cut(unsigned limit) {
    top_ = std::min(top_, limit - 1);
    below_top_ = std::min(below_top_, limit - 1);
  }
  // False: the set has none from `limit` on.
  bool MayReach(unsigned limit) const { return top_ >= limit; }

 private:
  unsigned top_ = 0;        // no number is above it
  unsigned below_top_ = 0;  // none but top_ is above it
};

// When a transaction ends, SQLite drops the pages beyond the end of the database, and looks at
// every page it holds if one can be there. Its cache thinks so after every split of a B-tree, where
// a page bears a number far beyond the end for a moment: a walk through the whole cache at nearly
// each commit. A layer over the cache keeps a bound of the numbers in it that forgets such a
// moment.
//
// For all connections of the process that are opened from now on. Idempotent; thread-safe. Best
// effort: without effect when SQLite was in use before.
void LayerPageCache();

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_LAYERS_H_
