#include "registry/store/sqlite/checkpointer.h"

#include <sqlite3.h>

#include <chrono>
#include <string>
#include <utility>

#include "registry/base/threads.h"

namespace truce {
namespace {

// A page of the database and its header in the log.
constexpr std::uint64_t kFrameBytes = 4096 + 24;
// A shorter log is left alone until the pause is over: the longer it is, the more of its pages come
// twice and are moved once.
constexpr auto kPause = std::chrono::seconds(5);
// What the writer may have to move itself: a few milliseconds.
constexpr int kFramesForWriter = 512;
constexpr int kPassesMax = 8;
// So few pages that a commit waits about a millisecond for them, and so many that a pass is faster
// than the commits beside it.
constexpr int kPagesPerSync = 64;
// Where it is not faster, because the processor or the disk is busy, the log grows: from three
// times its usual length on it comes first.
constexpr int kPagesPerSyncBehind = 1024;

std::uint64_t BytesOf(int frames) { return static_cast<std::uint64_t>(frames) * kFrameBytes; }

}  // namespace

Result<std::unique_ptr<Checkpointer>> Checkpointer::Start(const ConnectionOptions& options,
                                                          Connection& writer, WalLimits limits) {
  TRUCE_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, Connection::Open(options));
  return std::unique_ptr<Checkpointer>(new Checkpointer(std::move(connection), writer, limits));
}

Checkpointer::Checkpointer(std::unique_ptr<Connection> connection, Connection& writer,
                           WalLimits limits)
    : connection_(std::move(connection)), writer_(writer), limits_(limits) {
  sqlite3_wal_hook(writer_.handle(), &Checkpointer::Committed, this);
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

Checkpointer::~Checkpointer() {
  thread_.request_stop();
  thread_.join();
  sqlite3_wal_hook(writer_.handle(), nullptr, nullptr);
}

int Checkpointer::Committed(void* self, sqlite3* /*database*/, const char* /*name*/, int frames) {
  auto* const checkpointer = static_cast<Checkpointer*>(self);
  checkpointer->frames_ = frames;
  if (checkpointer->log_bytes() >= checkpointer->limits_.restart_bytes) {
    checkpointer->grown_.notify_one();
  }
  return SQLITE_OK;
}

void Checkpointer::Run(const std::stop_token& stop) {
  // A checkpoint in one piece would hold the commits of its processor up for as long.
  WorkInBackground();
  int done = 0;  // length of the log that the last checkpoint saw
  while (!stop.stop_requested()) {
    std::unique_lock lock(mutex_);
    grown_.wait_for(lock, stop, kPause, [&] {
      const int frames = frames_;
      const int grown = frames < done ? frames : frames - done;  // it may have started anew
      // First the writer does its part: beside another checkpoint it could not.
      return !finish_wanted_ && grown > 0 && BytesOf(grown) >= limits_.restart_bytes;
    });
    lock.unlock();
    if (stop.stop_requested() || frames_ == done) continue;
    done = frames_;
    Checkpoint();
  }
}

// A failure (full disk) needs no report here: the log stays as it is, and the commits meet the
// cause.
void Checkpointer::Checkpoint() {
  std::lock_guard lock(moving_);
  int frames = 0;
  int moved = 0;
  for (int pass = 0; pass < kPassesMax; ++pass) {
    const bool behind = log_bytes() >= 3 * limits_.restart_bytes;
    connection_->SyncEvery(behind ? kPagesPerSyncBehind : kPagesPerSync);
    const int code = sqlite3_wal_checkpoint_v2(connection_->handle(), nullptr,
                                               SQLITE_CHECKPOINT_PASSIVE, &frames, &moved);
    // Held back by a reader, or nothing is left: then SQLite has synced.
    if (code != SQLITE_OK || moved < frames || frames_ <= moved) break;
    // A pass that commits overtake is synced by whoever moves the last page, for all before it:
    // better here than by the writer.
    if (!SyncDatabase() || frames_ - moved < kFramesForWriter) break;
  }
  if (BytesOf(frames) >= limits_.restart_bytes) finish_wanted_ = true;
}

bool Checkpointer::SyncDatabase() {
  sqlite3_file* file = nullptr;
  return sqlite3_file_control(connection_->handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file) ==
             SQLITE_OK &&
         file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) == SQLITE_OK;
}

std::optional<Error> Checkpointer::BeforeBatch() {
  if (finish_wanted_) Finish();
  if (log_bytes() < limits_.bytes_max) return std::nullopt;
  // The last resort blocks the writer, which is what must happen now; but it waits for no reader.
  // It leaves the file its content: an empty log is a loss while a server runs (MarkLog).
  std::lock_guard lock(moving_);
  sqlite3_busy_timeout(writer_.handle(), 0);
  const int code = sqlite3_wal_checkpoint_v2(writer_.handle(), nullptr, SQLITE_CHECKPOINT_RESTART,
                                             nullptr, nullptr);
  sqlite3_busy_timeout(writer_.handle(), 5000);
  if (code == SQLITE_OK) {
    frames_ = 0;
    return std::nullopt;
  }
  return Error{ErrorCode::kResourceExhausted,
               "the write-ahead log has grown to " + std::to_string(log_bytes() >> 20U) +
                   " MiB and a reader or the disk keeps it from shrinking"};
}

void Checkpointer::Finish() {
  const std::unique_lock lock(moving_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  sqlite3_wal_checkpoint_v2(writer_.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  finish_wanted_ = false;
}

std::uint64_t Checkpointer::log_bytes() const { return BytesOf(frames_); }

}  // namespace truce
