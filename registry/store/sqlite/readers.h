// Readers: connections for reading, each lent to one read at a time.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_READERS_H_
#define TRUCE_REGISTRY_STORE_SQLITE_READERS_H_

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/store/sqlite/connection.h"

namespace truce {

// Opened when first needed. Thread-safe.
class Readers {
 public:
  // At most `size_max` connections with `options`.
  Readers(ConnectionOptions options, std::size_t size_max);

  // Runs `read` on one committed state and returns what it returns. Waits for a free connection
  // until `deadline`. Errors: kDeadlineExceeded, kUnavailable, kDataLoss, and those of `read`.
  Result<void> Run(const std::function<Result<void>(Connection&)>& read, Deadline deadline);

 private:
  Result<std::unique_ptr<Connection>> Take(Deadline deadline);
  // Null: it is of no use any more; another one may be opened in its place.
  void GiveBack(std::unique_ptr<Connection> connection);

  const ConnectionOptions options_;
  const std::size_t size_max_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Connection>> idle_;  // guarded by mutex_
  std::size_t open_ = 0;                           // guarded by mutex_
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_READERS_H_
