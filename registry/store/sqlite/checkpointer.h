// Checkpointer: moves the write-ahead log into the database beside the commits, and bounds it.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_CHECKPOINTER_H_
#define TRUCE_REGISTRY_STORE_SQLITE_CHECKPOINTER_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "registry/base/result.h"
#include "registry/store/sqlite/connection.h"

namespace truce {

struct WalLimits {
  std::uint64_t restart_bytes = 64ULL << 20;  // from here on the log is emptied as soon as possible
  std::uint64_t bytes_max = 512ULL << 20;     // beyond, writes are refused until it shrinks
};

// One thread with a connection of its own does nearly all of each checkpoint while commits go on.
// It cannot do the last bit: the log starts anew only when all of it is in the database, and there
// is always one more commit. So when the log is long, the writer does that last bit between two
// batches (a few hundred pages). Readers hold the log back; when it reaches `bytes_max` all the
// same, the writer is told to refuse.
class Checkpointer {
 public:
  // `writer` is used by the methods for the writer only. It must outlive this.
  // Errors: kUnavailable, kDataLoss.
  static Result<std::unique_ptr<Checkpointer>> Start(const ConnectionOptions& options,
                                                     Connection& writer, WalLimits limits);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // For the writer, between two batches: does its part when there is one, and says why the next
  // batch must not write, if so.
  std::optional<Error> BeforeBatch();

  // Length of the log after the last commit. Thread-safe.
  std::uint64_t log_bytes() const;

 private:
  Checkpointer(std::unique_ptr<Connection> connection, Connection& writer, WalLimits limits);
  static int Committed(void* self, sqlite3* database, const char* name, int frames);
  void Run(const std::stop_token& stop);
  void Checkpoint();
  bool SyncDatabase();
  void Finish();

  const std::unique_ptr<Connection> connection_;  // of the thread
  Connection& writer_;
  const WalLimits limits_;
  std::mutex moving_;  // held by who moves pages and must not be told that another one does
  std::mutex mutex_;
  std::condition_variable_any grown_;
  std::atomic<int> frames_ = 0;  // in the log after the last commit
  std::atomic<bool> finish_wanted_ = false;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_CHECKPOINTER_H_
