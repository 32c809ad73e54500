#include "registry/store/sqlite/sqlite_store.h"

#include <stop_token>
#include <thread>
#include <utility>

#include "registry/base/threads.h"
#include "registry/store/sqlite/checkpointer.h"
#include "registry/store/sqlite/committer.h"
#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/copies.h"
#include "registry/store/sqlite/data_directory.h"
#include "registry/store/sqlite/facts.h"
#include "registry/store/sqlite/known.h"
#include "registry/store/sqlite/layers.h"
#include "registry/store/sqlite/loader.h"
#include "registry/store/sqlite/migrations.h"
#include "registry/store/sqlite/records.h"

namespace truce {
namespace {

// While writing fails, one attempt in this time finds out whether it works again.
constexpr auto kProbePause = std::chrono::seconds(1);
constexpr auto kIdlePause = std::chrono::hours(1);
// Reads of memory are overtaken by commits now and then; the last attempt cannot be.
constexpr int kReadAttempts = 3;

ConnectionOptions Reading(ConnectionOptions options) {
  options.read_only = true;
  return options;
}

Error Damaged(const std::string& file, const Error& cause) {
  return {ErrorCode::kDataLoss,
          "database \"" + file + "\" is damaged (" + cause.message +
              "); stop Truce and put the latest backup in its place, or move the file away: an "
              "empty registry is rebuilt from the live objects, but without imported and orphaned "
              "ownerships"};
}

// What went wrong, where, and what to do, in one line.
Error Refusal(const std::string& file, Error cause) {
  if (cause.code == ErrorCode::kDataLoss) return Damaged(file, cause);
  return std::move(cause).Within("open database \"" + file + "\"");
}

template <typename T, typename Read>
Result<void> ReadAll(Connection& connection, Sql sql, std::vector<T>& values, const Read& read) {
  TRUCE_ASSIGN_OR_RETURN(Statement statement, connection.Use(sql));
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(const bool more, statement.Step());
    if (!more) return {};
    TRUCE_ASSIGN_OR_RETURN(T value, read(statement));
    values.push_back(std::move(value));
  }
}

Result<std::pair<std::string, std::string>> ReadSetting(const Statement& statement) {
  return std::pair(std::string(statement.Text(0)), std::string(statement.Text(1)));
}

}  // namespace

class SqliteStore::Impl {
 public:
  Impl(const SqliteOptions& options, DataDirectory directory, ConnectionOptions connection)
      : options_(options),
        directory_(std::move(directory)),
        connection_(std::move(connection)),
        queue_(options.queue_length_max),
        readers_(Reading(connection_), options.readers_max) {}

  ~Impl() {
    queue_.Close();
    if (!writer_thread_.joinable()) return;
    writer_thread_.join();
    checker_ = std::jthread();
    checkpointer_.reset();
    // Best effort: a log that stays is read at the next opening.
    static_cast<void>(writer_->Execute("PRAGMA wal_checkpoint(TRUNCATE)").ok());
  }

  Result<void> Start() {
    // What the last process could not bring to the disk may still be seen in its log, and what it
    // could not bring to the database be missing there: neither is built upon.
    TRUCE_RETURN_IF_ERROR(TakeLogIn(connection_));
    TRUCE_ASSIGN_OR_RETURN(writer_, Connection::Open(connection_));
    TRUCE_RETURN_IF_ERROR(
        Migrate(*writer_, BuiltInMigrations(), connection_.path, *options_.disk.files));
    if (options_.uids_get_clusters) TRUCE_RETURN_IF_ERROR(GiveUidsTheirCluster(*writer_));
    TRUCE_RETURN_IF_ERROR(DropIndexesOfMemory(*writer_));
    TRUCE_RETURN_IF_ERROR(Load(connection_, memory_));
    TRUCE_ASSIGN_OR_RETURN(
        checkpointer_, Checkpointer::Start(connection_, *writer_,
                                           {options_.wal_restart_bytes, options_.wal_bytes_max}));
    TRUCE_ASSIGN_OR_RETURN(const std::int64_t commits,
                           writer_->Integer("SELECT count FROM commits"));
    committer_.emplace(*writer_, memory_.known, memory_.signposts, health_);
    committer_->StartAt(static_cast<std::uint64_t>(commits));
    writer_thread_ = std::jthread([this] { WriteBatches(); });
    if (options_.full_check) {
      checker_ = std::jthread([this](const std::stop_token& stop) { CheckAll(stop); });
    }
    return {};
  }

  Result<void> Apply(const DecideFn& decide, Deadline deadline) {
    return queue_.Apply(decide, deadline);
  }

  void Submit(DecideFn decide, Deadline deadline, OnDone done) {
    queue_.Submit(std::move(decide), deadline, std::move(done));
  }

  Result<void> Read(const ReadFn& read, Deadline deadline) {
    for (int attempt = 1; attempt <= kReadAttempts; ++attempt) {
      if (std::chrono::steady_clock::now() >= deadline) {
        return Error{ErrorCode::kDeadlineExceeded, "the deadline passed before the read's turn"};
      }
      const SnapshotFacts facts({memory_.known, memory_.signposts, readers_}, deadline,
                                attempt == kReadAttempts);
      read(facts);
      if (facts.error().has_value()) return *facts.error();
      if (!facts.overtaken()) return {};
    }
    return Error{ErrorCode::kInternal, "a snapshot was overtaken by a commit"};
  }

  Result<StoreContents> Contents() {
    TRUCE_ASSIGN_OR_RETURN(
        const std::unique_ptr<ReaderPool::Loan> loan,
        readers_.Borrow(std::chrono::steady_clock::now() + std::chrono::seconds(30)));
    Connection& reader = loan->connection();
    StoreContents contents;
    TRUCE_RETURN_IF_ERROR(ReadAll(reader, Sql::kAllOwners, contents.owners, ReadOwner));
    TRUCE_RETURN_IF_ERROR(ReadAll(reader, Sql::kAllRows, contents.rows, ReadRow));
    TRUCE_RETURN_IF_ERROR(ReadAll(reader, Sql::kAllObjects, contents.objects, ReadObject));
    TRUCE_RETURN_IF_ERROR(ReadAll(reader, Sql::kAllAgreements, contents.agreements, ReadAgreement));
    TRUCE_RETURN_IF_ERROR(ReadAll(reader, Sql::kAllNames, contents.names, ReadName));
    TRUCE_RETURN_IF_ERROR(ReadAll(reader, Sql::kAllAudit, contents.audit, ReadAudit));
    TRUCE_RETURN_IF_ERROR(ReadAll(reader, Sql::kAllSettings, contents.settings, ReadSetting));
    return contents;
  }

  const Known& known() const { return memory_.known; }

  std::optional<Error> FatalFailure() const {
    if (!connection_.lost_sync->lost()) return std::nullopt;
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
    while (true) {
      const bool failing = !Health().ok();
      const auto wake = std::chrono::steady_clock::now() +
                        (failing ? std::chrono::nanoseconds(kProbePause) : kIdlePause);
      const std::optional<RequestQueue::Batch> batch = queue_.Take(options_.batch_length_max, wake);
      if (!batch.has_value()) return;
      std::optional<Error> refusal = checkpointer_->BeforeBatch();
      // A damaged database takes no more writes; memory still names the owners it has.
      if (const auto damage = health_.damage()) refusal = damage;
      if (const auto fatal = FatalFailure()) refusal = fatal;
      if (!batch->empty()) {
        committer_->Run(*batch, refusal);
      } else if (failing && !refusal.has_value()) {
        committer_->Probe();
      }
    }
  }

  void CheckAll(const std::stop_token& stop) {
    WorkInBackground();
    const auto hold_back = [this] {
      return checkpointer_->log_bytes() > 2 * options_.wal_restart_bytes;
    };
    const Result<void> checked = CheckIntegrity(connection_, stop, hold_back);
    if (!checked.ok() && checked.error().code == ErrorCode::kDataLoss) {
      health_.Damaged(Damaged(connection_.path, checked.error()));
    }
  }

  const SqliteOptions options_;
  const DataDirectory directory_;
  const ConnectionOptions connection_;
  Memory memory_;
  WriteHealth health_;
  RequestQueue queue_;
  std::unique_ptr<Connection> writer_;  // of the writer's thread once that runs
  ReaderPool readers_;                  // after the writer: it closes the file last
  std::unique_ptr<Checkpointer> checkpointer_;
  std::optional<Committer> committer_;
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
  connection.lost_sync = std::make_shared<LostSync>();
  auto impl = std::make_unique<Impl>(options, std::move(directory), std::move(connection));
  Result<void> started = impl->Start();
  if (!started.ok()) return Refusal(file, std::move(started).error());
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(impl)));
}

SqliteStore::SqliteStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SqliteStore::~SqliteStore() = default;

Result<void> SqliteStore::Apply(const Locks& /*locks*/, const DecideFn& decide, Deadline deadline) {
  return impl_->Apply(decide, deadline);
}

void SqliteStore::Submit(const Locks& /*locks*/, DecideFn decide, Deadline deadline, OnDone done) {
  impl_->Submit(std::move(decide), deadline, std::move(done));
}

void SqliteStore::Expect(const KeyText& key) const { impl_->known().Expect(key); }
Result<void> SqliteStore::Read(const ReadFn& read, Deadline deadline) const {
  return impl_->Read(read, deadline);
}

StoreCounts SqliteStore::Counts() const { return impl_->known().Counts(); }

Result<StoreContents> SqliteStore::Contents() const { return impl_->Contents(); }

Result<void> SqliteStore::Health() const { return impl_->Health(); }

std::optional<Error> SqliteStore::FatalFailure() const { return impl_->FatalFailure(); }

}  // namespace truce
