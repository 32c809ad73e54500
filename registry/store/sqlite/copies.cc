#include "registry/store/sqlite/copies.h"

#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <utility>

namespace truce {
namespace {

// Writes the log over itself. After a failed sync of its last user the log shows pages that are not
// on the disk, but counts them as written: the sync that SQLite begins a checkpoint with would not
// bring them there, and a power cut in the middle of the checkpoint would leave half of it, in the
// database only.
Result<void> WriteLogAgain(Connection& connection, const std::string& path) {
  sqlite3_file* log = nullptr;
  int code = sqlite3_file_control(connection.handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (code == SQLITE_OK && (log == nullptr || log->pMethods == nullptr)) return {};
  sqlite3_int64 size = 0;
  if (code == SQLITE_OK) code = log->pMethods->xFileSize(log, &size);
  std::string bytes(1U << 16U, '\0');
  for (sqlite3_int64 at = 0; at < size && code == SQLITE_OK;) {
    const int length = static_cast<int>(
        std::min<sqlite3_int64>(size - at, static_cast<sqlite3_int64>(bytes.size())));
    code = log->pMethods->xRead(log, bytes.data(), length, at);
    if (code == SQLITE_OK) code = log->pMethods->xWrite(log, bytes.data(), length, at);
    at += length;
  }
  if (code == SQLITE_OK) code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
  if (code == SQLITE_OK) return {};
  return Error{ErrorCode::kUnavailable, path + "-wal: " + sqlite3_errstr(code)};
}

}  // namespace

Result<Part> Part::Begin(const std::string& name, Files& files) {
  Part part(name, files);
  part.RemoveAll();
  TRUCE_RETURN_IF_ERROR(files.Make(part.path_));
  return part;
}

Part::~Part() {
  if (files_ != nullptr) RemoveAll();
}

Part::Part(Part&& other) noexcept
    : name_(std::move(other.name_)),
      path_(std::move(other.path_)),
      files_(std::exchange(other.files_, nullptr)) {}

// A log of another database beside it would be taken for its own.
void Part::RemoveAll() {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    if (Exists(path_ + suffix)) static_cast<void>(files_->Remove(path_ + suffix).ok());
  }
}

Result<void> Part::Sync() { return files_->Sync(path_); }

Result<void> Part::PutInPlace() {
  TRUCE_RETURN_IF_ERROR(files_->Rename(path_, name_));
  return std::exchange(files_, nullptr)->Sync(FolderOf(name_));
}

Result<void> CopyInto(Connection& source, Part& part) {
  Result<void> copied = source.Run("VACUUM INTO ?1", part.path());
  if (!copied.ok()) return std::move(copied).error().Within(part.path());
  return part.Sync();
}

Result<void> TakeLogIn(ConnectionOptions options) {
  if (!HasContent(options.path + "-wal")) return {};
  options.alone = true;
  // Closing after an error moves nothing that may not be on the disk.
  options.keep_log = true;
  const auto take = [&options]() -> Result<void> {
    TRUCE_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(options));
    TRUCE_RETURN_IF_ERROR(WriteLogAgain(*connection, options.path));
    sqlite3_db_config(connection->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
    TRUCE_ASSIGN_OR_RETURN(const std::int64_t busy,
                           connection->Integer("PRAGMA wal_checkpoint(TRUNCATE)"));
    if (busy == 0) return {};
    return Error{ErrorCode::kUnavailable, "database is locked"};
  };
  Result<void> taken = take();
  if (!taken.ok() && taken.error().code == ErrorCode::kDataLoss) {
    // Nobody builds upon a damaged one, and a restore wants its log gone, as SQLite can.
    options.keep_log = false;
    taken = take();
  }
  if (taken.ok()) return {};
  return std::move(taken).error().Within(
      "take in the log that its last user left (whoever has the database open, a `truce backup` "
      "for one, must end first)");
}

}  // namespace truce
