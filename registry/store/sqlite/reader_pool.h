// ReaderPool: read-only connections, opened when first needed and shared by readers.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_READER_POOL_H_
#define TRUCE_REGISTRY_STORE_SQLITE_READER_POOL_H_

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/store/sqlite/connection.h"

namespace truce {

// Thread-safe. Must outlive its loans.
class ReaderPool {
 public:
  ReaderPool(ConnectionOptions options, std::size_t size_max);

  // A connection inside a read transaction, whose state is that of commit number `version`. Ends
  // the transaction and gives the connection back when destroyed. External synchronization.
  class Loan {
   public:
    Loan(ReaderPool& pool, std::unique_ptr<Connection> connection);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    Connection& connection() { return *connection_; }
    std::uint64_t version() const { return version_; }

   private:
    friend class ReaderPool;
    Result<void> Begin();

    ReaderPool& pool_;
    std::unique_ptr<Connection> connection_;
    std::uint64_t version_ = 0;
  };

  // Waits for a free connection until `deadline`. Errors: kDeadlineExceeded, kUnavailable,
  // kDataLoss.
  Result<std::unique_ptr<Loan>> Borrow(Deadline deadline);

 private:
  Result<std::unique_ptr<Connection>> Take(Deadline deadline);
  void Return(std::unique_ptr<Connection> connection);
  // A connection that was taken is gone: another may be opened in its place.
  void Forget();

  const ConnectionOptions options_;
  const std::size_t size_max_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Connection>> idle_;  // guarded by mutex_
  std::size_t open_ = 0;                           // guarded by mutex_
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_READER_POOL_H_
