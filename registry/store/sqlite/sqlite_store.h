// SqliteStore: the registry in one SQLite database.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_SQLITE_STORE_H_
#define TRUCE_REGISTRY_STORE_SQLITE_SQLITE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "registry/store/sqlite/files.h"
#include "registry/store/store.h"

namespace truce {

struct SqliteOptions {
  std::string data_dir;                 // must exist; holds truce.db and truce.lock
  Disk disk;                            // where its files are
  std::size_t queue_length_max = 4096;  // callers that wait; more are refused
  std::size_t batch_length_max = 256;   // requests in one transaction
  std::size_t readers_max = 8;          // connections for reading
  // Of pages of the database in memory: one half of the writer, one of all that read.
  std::uint64_t cache_bytes = 64ULL << 20;
  std::uint64_t checkpoint_bytes = 32ULL << 20;  // by which the log grows until it is moved
  std::uint64_t wal_bytes_max = 512ULL << 20;    // of the log; then writes are refused
  bool full_check = true;                        // integrity_check in the background after opening
};

// One writer thread commits for all callers in batches (synchronous=FULL); the batch is what queued
// up while the former commit was at the disk. Reads are prepared statements on a snapshot, each on
// a connection of its own. Thread-safe.
//
// Besides the port's errors Apply gives kResourceExhausted when the write-ahead log has reached its
// bound. After a failed write Health tells the failure, and a probe each second finds out when
// writing works again. A crash right after a commit failed with kUnavailable may bring that
// request's changes back: repeat the review, which is idempotent.
class SqliteStore final : public Store {
 public:
  // Opens or makes the database: holds the data directory against other processes, takes in the log
  // that its last user left, brings the schema up to date. Damage is found later: by the call that
  // meets it, and by the check of the whole. Errors: kInvalidArgument (no such folder, network file
  // system, not Truce's, newer schema); kConflict (another process holds it); kUnavailable (not
  // readable, full, locked); kDataLoss (damaged). Each message is one line that says what, where,
  // and what to do.
  static Result<std::unique_ptr<SqliteStore>> Open(const SqliteOptions& options);

  // Refuses new calls, finishes the queued ones, empties the write-ahead log.
  ~SqliteStore() override;

  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override;
  void Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) override;
  using Store::Read;
  Result<void> Read(const Locks& hints, const ReadFn& read, Deadline deadline) const override;
  StoreCounts Counts() const override;
  Result<void> Health() const override;
  std::optional<Error> FatalFailure() const override;

 private:
  class Impl;
  explicit SqliteStore(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_SQLITE_STORE_H_
