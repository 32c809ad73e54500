// LostSync: whether the disk failed to take what the database file had been given.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_LOST_SYNC_H_
#define TRUCE_REGISTRY_STORE_SQLITE_LOST_SYNC_H_

#include <atomic>

namespace truce {

// After a sync that failed the operating system counts the pages as written and forgets them: the
// next sync works, without them. Whoever went on would drop the log that still has them. So it is
// never forgotten here, until a process reads the log anew. Thread-safe.
class LostSync {
 public:
  void Note() { lost_ = true; }
  bool lost() const { return lost_; }

 private:
  std::atomic<bool> lost_ = false;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_LOST_SYNC_H_
