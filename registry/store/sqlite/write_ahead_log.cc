#include "registry/store/sqlite/write_ahead_log.h"

#include <sqlite3.h>

#include <string>

namespace truce {
namespace {

// A page of the database and its header in the log.
constexpr std::uint64_t kFrameBytes = 4096 + 24;

std::uint64_t BytesOf(int frames) { return static_cast<std::uint64_t>(frames) * kFrameBytes; }

}  // namespace

WriteAheadLog::WriteAheadLog(Connection& writer, std::uint64_t checkpoint_bytes,
                             std::uint64_t bytes_max)
    : writer_(writer), checkpoint_bytes_(checkpoint_bytes), bytes_max_(bytes_max) {
  sqlite3_wal_hook(writer_.handle(), &WriteAheadLog::Committed, this);
}

WriteAheadLog::~WriteAheadLog() {
  sqlite3_wal_hook(writer_.handle(), nullptr, nullptr);
  // Best effort: a log that stays is read at the next opening; an empty one goes with the writer.
  if (Checkpoint(SQLITE_CHECKPOINT_TRUNCATE)) {
    sqlite3_db_config(writer_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  }
}

// A failure (full disk) needs no report here: the log stays as it is, and the commits meet the
// cause.
int WriteAheadLog::Committed(void* self, sqlite3* /*database*/, const char* /*name*/, int frames) {
  auto* const log = static_cast<WriteAheadLog*>(self);
  log->frames_ = frames;
  if (frames < log->moved_) log->moved_ = 0;  // it began anew
  if (BytesOf(frames - log->moved_) < log->checkpoint_bytes_) return SQLITE_OK;
  log->moved_ = frames;
  log->Checkpoint(SQLITE_CHECKPOINT_PASSIVE);
  return SQLITE_OK;
}

bool WriteAheadLog::Checkpoint(int mode) {
  if (lost_sync_) return false;
  const int code = sqlite3_wal_checkpoint_v2(writer_.handle(), nullptr, mode, nullptr, nullptr);
  if (code == SQLITE_IOERR_FSYNC) lost_sync_ = true;
  return code == SQLITE_OK;
}

std::optional<Error> WriteAheadLog::Refusal() {
  if (bytes() < bytes_max_) return std::nullopt;
  // It leaves the file its content: an empty log is a loss while a server runs (MarkLog).
  sqlite3_busy_timeout(writer_.handle(), 0);
  const bool is_empty = Checkpoint(SQLITE_CHECKPOINT_RESTART);
  sqlite3_busy_timeout(writer_.handle(), Connection::kBusyMilliseconds);
  if (is_empty) {
    frames_ = 0;
    moved_ = 0;
    return std::nullopt;
  }
  return Error{ErrorCode::kResourceExhausted,
               "the write-ahead log has grown to " + std::to_string(bytes() >> 20U) +
                   " MiB and a reader or the disk keeps it from shrinking"};
}

std::uint64_t WriteAheadLog::bytes() const { return BytesOf(frames_); }

}  // namespace truce
