#include "registry/store/sqlite/sqlite_store.h"

#include <stop_token>
#include <thread>
#include <utility>

#include "registry/base/guarded.h"
#include "registry/base/threads.h"
#include "registry/store/sqlite/committer.h"
#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/copies.h"
#include "registry/store/sqlite/data_directory.h"
#include "registry/store/sqlite/facts.h"
#include "registry/store/sqlite/integrity.h"
#include "registry/store/sqlite/migrations.h"
#include "registry/store/sqlite/readers.h"
#include "registry/store/sqlite/write_ahead_log.h"

namespace truce {
namespace {

// While writing fails, one attempt in this time finds out whether it works again.
constexpr auto kProbePause = std::chrono::seconds(1);
constexpr auto kIdlePause = std::chrono::hours(1);
constexpr auto kCountWithin = std::chrono::seconds(2);
// The check of the whole pauses while the log is so long: its snapshot may be the cause.
constexpr std::uint64_t kLogBehindCheck = 128ULL << 20;

ConnectionOptions Reading(ConnectionOptions options, const SqliteOptions& store) {
  options.read_only = true;
  options.cache_bytes = store.cache_bytes / 2 / store.readers_max;
  return options;
}

Deadline In(std::chrono::seconds time) { return std::chrono::steady_clock::now() + time; }

Error Damaged(const std::string& file, const Error& cause) {
  return {ErrorCode::kDataLoss,
          "database \"" + file + "\" is damaged (" + cause.message +
              "); stop Truce and put the latest backup in its place, or move the file away: an "
              "empty registry is rebuilt from the live objects, but without imported and orphaned "
              "ownerships"};
}

// One line: the error, the file, the remedy.
Error Refusal(const std::string& file, Error cause) {
  if (cause.code == ErrorCode::kDataLoss) return Damaged(file, cause);
  return std::move(cause).Within("open database \"" + file + "\"");
}

}  // namespace

class SqliteStore::Impl {
 public:
  Impl(const SqliteOptions& options, DataDirectory directory, ConnectionOptions connection)
      : options_(options),
        directory_(std::move(directory)),
        connection_(std::move(connection)),
        queue_(options.queue_length_max),
        readers_(Reading(connection_, options), options.readers_max) {}

  ~Impl() { queue_.Close(); }

  Result<void> Start() {
    // The log may still show pages that the last process could not bring to the disk, and the
    // database may lack some: neither is built upon.
    TRUCE_RETURN_IF_ERROR(TakeLogIn(connection_));
    TRUCE_ASSIGN_OR_RETURN(writer_, Connection::Open(connection_));
    TRUCE_RETURN_IF_ERROR(
        Migrate(*writer_, BuiltInMigrations(), connection_.path, *options_.disk.files));
    log_.emplace(*writer_, options_.checkpoint_bytes, options_.wal_bytes_max);
    writer_thread_ = std::jthread([this] { WriteBatches(); });
    if (options_.full_check) {
      checker_ = std::jthread([this](const std::stop_token& stop) { CheckAll(stop); });
    }
    return {};
  }

  RequestQueue& queue() { return queue_; }

  // A damaged database may answer wrongly: an index that lacks a row finds no owner.
  Result<void> Read(const ReadFn& read, Deadline deadline) {
    if (const auto damage = health_.damage()) return *damage;
    const auto run = [&](Connection& connection) -> Result<void> {
      const SqliteFacts facts(connection);
      read(facts);
      if (facts.error()) return *facts.error();
      return {};
    };
    Result<void> done = readers_.Run(run, deadline);
    if (!done.ok() && done.error().code == ErrorCode::kDataLoss) health_.Damaged(done.error());
    return done;
  }

  // Those of before when they cannot be counted in time.
  StoreCounts Counts() {
    StoreCounts counts;
    const auto count = [&](Connection& connection) -> Result<void> {
      TRUCE_ASSIGN_OR_RETURN(counts, CountsOf(connection));
      return {};
    };
    const bool counted = readers_.Run(count, In(kCountWithin)).ok();
    return counts_.With([&](StoreCounts& last) {
      if (counted) last = counts;
      return last;
    });
  }

  std::optional<Error> FatalFailure() const {
    if (!log_->lost_sync()) return std::nullopt;
    return Error{ErrorCode::kUnavailable,
                 "a sync of database \"" + connection_.path +
                     "\" failed, so the disk may lack what it was given. What was answered is in "
                     "the log: Truce ends, and takes it from there when it starts again. If that "
                     "happens again, replace the disk"};
  }

  Result<void> Health() const {
    std::optional<Error> fatal = FatalFailure();
    return fatal.has_value() ? *std::move(fatal) : health_.Get();
  }

 private:
  void WriteBatches() {
    // On one processor a batch would often be a single request, and each batch costs a sync.
    WorkInBatches();
    Committer committer(*writer_, health_);
    while (true) {
      const bool failing = !Health().ok();
      const auto wake = std::chrono::steady_clock::now() +
                        (failing ? std::chrono::nanoseconds(kProbePause) : kIdlePause);
      // Those whom the last batch answered may bring more before the next one begins.
      std::this_thread::yield();
      const std::optional<RequestQueue::Batch> batch = queue_.Take(options_.batch_length_max, wake);
      if (!batch.has_value()) return;
      std::optional<Error> refusal = log_->Refusal();
      if (const auto damage = health_.damage()) refusal = damage;
      if (const auto fatal = FatalFailure()) refusal = fatal;
      if (!batch->empty()) {
        committer.Run(*batch, refusal);
      } else if (failing && !refusal.has_value()) {
        committer.Probe();
      }
    }
  }

  void CheckAll(const std::stop_token& stop) {
    WorkInBackground();
    const auto hold_back = [this] { return log_->bytes() > kLogBehindCheck; };
    const Result<void> checked = CheckIntegrity(connection_, stop, hold_back);
    if (!checked.ok() && checked.error().code == ErrorCode::kDataLoss) {
      health_.Damaged(Damaged(connection_.path, checked.error()));
    }
  }

  const SqliteOptions options_;
  const DataDirectory directory_;
  const ConnectionOptions connection_;
  Guarded<StoreCounts> counts_;  // as last counted
  WriteHealth health_;
  RequestQueue queue_;
  std::unique_ptr<Connection> writer_;  // of the writer's thread once that runs
  Readers readers_;
  std::optional<WriteAheadLog> log_;
  // Last: they use all of the above.
  std::jthread checker_;
  std::jthread writer_thread_;
};

Result<std::unique_ptr<SqliteStore>> SqliteStore::Open(const SqliteOptions& options) {
  TRUCE_ASSIGN_OR_RETURN(DataDirectory directory, DataDirectory::Hold(options.data_dir));
  TRUCE_ASSIGN_OR_RETURN(const std::string file, directory.DatabaseFile());
  ConnectionOptions connection;
  connection.path = file;
  connection.vfs = options.disk.vfs;
  connection.cache_bytes = options.cache_bytes / 2;
  connection.keep_log = true;  // which says whether a sync failed
  auto impl = std::make_unique<Impl>(options, std::move(directory), std::move(connection));
  Result<void> started = impl->Start();
  if (!started.ok()) return Refusal(file, std::move(started).error());
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(impl)));
}

SqliteStore::SqliteStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SqliteStore::~SqliteStore() = default;

Result<void> SqliteStore::Apply(const Locks& /*locks*/, const DecideFn& decide, Deadline deadline) {
  return impl_->queue().Apply(decide, deadline);
}

void SqliteStore::Submit(const Locks& /*locks*/, DecideFn decide, Deadline deadline, OnDone done) {
  impl_->queue().Submit(std::move(decide), deadline, std::move(done));
}

Result<void> SqliteStore::Read(const Locks& /*hints*/, const ReadFn& read,
                               Deadline deadline) const {
  return impl_->Read(read, deadline);
}

StoreCounts SqliteStore::Counts() const { return impl_->Counts(); }

Result<void> SqliteStore::Health() const { return impl_->Health(); }

std::optional<Error> SqliteStore::FatalFailure() const { return impl_->FatalFailure(); }

}  // namespace truce
