#include "registry/store/sqlite/backup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "registry/base/random_id.h"
#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/copies.h"
#include "registry/store/sqlite/data_directory.h"
#include "registry/store/sqlite/log_look.h"
#include "registry/store/sqlite/migrations.h"

namespace truce {
namespace {

Error Failed(ErrorCode code, const std::string& file, const std::string& what) {
  return {code, file + ": " + what};
}

Result<std::unique_ptr<Connection>> OpenExisting(const ConnectionOptions& options) {
  if (!Exists(options.path)) {
    return Failed(ErrorCode::kNotFound, options.path, "there is no such file");
  }
  auto connection = Connection::Open(options);
  if (!connection.ok()) return std::move(connection).error().Within(options.path);
  return connection;
}

ConnectionOptions OptionsFor(const std::string& file, const Disk& disk) {
  ConnectionOptions options;
  options.path = file;
  options.vfs = disk.vfs;
  return options;
}

constexpr std::string_view kHandedOut = "truce.db.handed-out-";
// Longer than any copy takes until its name is gone.
constexpr std::chrono::hours kLeftoverAfter{1};

// A process that was killed while it copied leaves files.
void RemoveLeftovers(const std::string& data_dir, Files& files) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(data_dir, ignored)) {
    if (!entry.path().filename().string().starts_with(kHandedOut)) continue;
    const auto written = entry.last_write_time(ignored);
    const bool is_old = fs::file_time_type::clock::now() - written > kLeftoverAfter;
    if (is_old) static_cast<void>(files.Remove(entry.path().string()).ok());
  }
}

Error OfSystem(const std::string& file) {
  return Failed(ErrorCode::kUnavailable, file, std::strerror(errno));
}

// The content of `file`, with that of a log beside it, as one file.
Result<void> CopyFile(const std::string& file, Part& part, const Disk& disk) {
  TRUCE_RETURN_IF_ERROR(disk.files->Copy(file, part.path()));
  if (HasContent(file + "-wal")) {
    TRUCE_RETURN_IF_ERROR(disk.files->Make(part.path() + "-wal"));
    TRUCE_RETURN_IF_ERROR(disk.files->Copy(file + "-wal", part.path() + "-wal"));
    TRUCE_RETURN_IF_ERROR(TakeLogIn(OptionsFor(part.path(), disk)));
  }
  return part.Sync();
}

// Gives the registry that is there a second name, which it keeps when the first one goes to
// another. It has no log then, which would be taken for the other one's.
Result<void> KeepReplaced(const std::string& database, const Disk& disk) {
  if (!HasContent(database)) return {};
  Result<void> taken = TakeLogIn(OptionsFor(database, disk));
  // A damaged one is what a restore is for.
  const bool is_damaged = !taken.ok() && taken.error().code == ErrorCode::kDataLoss;
  if (HasContent(database + "-wal") || (!taken.ok() && !is_damaged)) {
    Error error = taken.ok() ? Error{ErrorCode::kUnavailable, "its log has come back"}
                             : std::move(taken).error();
    error.message +=
        "; to restore all the same, move " + database + " and " + database + "-wal away first";
    return std::move(error).Within(database);
  }
  const std::string kept = database + ".replaced";
  const std::string fresh = kept + ".part";
  for (const std::string& former : {fresh, kept + "-wal", kept + "-shm"}) {
    TRUCE_RETURN_IF_ERROR(disk.files->Remove(former));
  }
  TRUCE_RETURN_IF_ERROR(disk.files->Link(database, fresh));
  TRUCE_RETURN_IF_ERROR(disk.files->Rename(fresh, kept));
  return disk.files->Sync(FolderOf(database));
}

}  // namespace

Result<BackupContents> VerifyBackup(const std::string& file, const Disk& disk) {
  ConnectionOptions options = OptionsFor(file, disk);
  options.read_only = true;
  TRUCE_ASSIGN_OR_RETURN(const auto connection, OpenExisting(options));
  const auto integer = [&](const char* sql) -> Result<std::int64_t> {
    Result<std::int64_t> value = connection->Integer(sql);
    if (!value.ok()) return std::move(value).error().Within(file);
    return value;
  };
  TRUCE_ASSIGN_OR_RETURN(const std::int64_t application, integer("PRAGMA application_id"));
  if (application != kApplicationId) {
    return Failed(ErrorCode::kInvalidArgument, file, "it is not a Truce registry");
  }
  BackupContents contents;
  TRUCE_ASSIGN_OR_RETURN(contents.schema, integer("PRAGMA user_version"));
  auto applied = CheckApplied(*connection, BuiltInMigrations());
  if (!applied.ok()) return std::move(applied).error().Within(file);
  if (contents.schema > static_cast<std::int64_t>(BuiltInMigrations().size())) {
    return Failed(ErrorCode::kInvalidArgument, file,
                  "a newer Truce wrote it; use that program or a newer one");
  }
  auto verdict = connection->Text("PRAGMA integrity_check(1)");
  if (!verdict.ok()) return std::move(verdict).error().Within(file);
  if (verdict.value() != "ok") {
    return Failed(ErrorCode::kDataLoss, file, "it is damaged: " + verdict.value());
  }
  TRUCE_ASSIGN_OR_RETURN(contents.ownerships,
                         integer("SELECT count(*) FROM resources WHERE owned = 1"));
  TRUCE_ASSIGN_OR_RETURN(contents.audit_lines, integer("SELECT count(*) FROM audit"));
  TRUCE_ASSIGN_OR_RETURN(contents.commits, integer("SELECT coalesce(max(count), 0) FROM commits"));
  return contents;
}

Result<BackupContents> BackUp(const std::string& data_dir, const std::string& target,
                              const Disk& disk) {
  if (Exists(target)) {
    return Failed(ErrorCode::kInvalidArgument, target, "it exists; choose another name");
  }
  ConnectionOptions options = OptionsFor(data_dir + "/truce.db", disk);
  // Only the server knows what of the log is safe in the database.
  options.keep_log = true;
  TRUCE_ASSIGN_OR_RETURN(const auto source, OpenExisting(options));
  TRUCE_ASSIGN_OR_RETURN(Part part, Part::Begin(target, *disk.files));
  TRUCE_RETURN_IF_ERROR(CopyInto(*source, part));
  TRUCE_ASSIGN_OR_RETURN(const BackupContents contents, VerifyBackup(part.path(), disk));
  TRUCE_RETURN_IF_ERROR(part.PutInPlace());
  return contents;
}

HandedOutCopy::~HandedOutCopy() {
  if (file_ >= 0) ::close(file_);
}

HandedOutCopy::HandedOutCopy(HandedOutCopy&& other) noexcept
    : file_(std::exchange(other.file_, -1)), size_(other.size_), contents_(other.contents_) {}

Result<std::string> HandedOutCopy::Next() {
  std::string piece(kPieceBytes, '\0');
  ssize_t count = -1;
  do {
    count = ::read(file_, piece.data(), piece.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) return OfSystem("the copy");
  piece.resize(static_cast<std::size_t>(count));
  return piece;
}

Result<HandedOutCopy> BackUpToHandOut(const std::string& data_dir, const Disk& disk) {
  RemoveLeftovers(data_dir, *disk.files);
  const std::string name = data_dir + "/" + std::string(kHandedOut) + NewId();
  TRUCE_ASSIGN_OR_RETURN(const BackupContents contents, BackUp(data_dir, name, disk));
  const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  const Result<void> removed = disk.files->Remove(name);
  if (file < 0) return OfSystem(name);
  struct ::stat about {};
  HandedOutCopy copy(
      file, ::fstat(file, &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0, contents);
  TRUCE_RETURN_IF_ERROR(removed);
  if (copy.size() == 0) return OfSystem(name);
  return copy;
}

struct IncomingCopy::State {
  Part part;
  const int file;
  const Disk disk;
};

IncomingCopy::IncomingCopy(std::unique_ptr<State> state) : state_(std::move(state)) {}

IncomingCopy::~IncomingCopy() { ::close(state_->file); }

Result<void> IncomingCopy::Append(std::string_view piece) {
  while (!piece.empty()) {
    const ssize_t count = ::write(state_->file, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return OfSystem(state_->part.path());
    piece.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<BackupContents> IncomingCopy::Finish() {
  Part& part = state_->part;
  TRUCE_RETURN_IF_ERROR(part.Sync());
  TRUCE_ASSIGN_OR_RETURN(const BackupContents contents, VerifyBackup(part.path(), state_->disk));
  TRUCE_RETURN_IF_ERROR(part.PutInPlace());
  return contents;
}

Result<std::unique_ptr<IncomingCopy>> IncomingCopy::Begin(const std::string& target,
                                                          const Disk& disk) {
  if (Exists(target)) {
    return Failed(ErrorCode::kInvalidArgument, target, "it exists; choose another name");
  }
  TRUCE_ASSIGN_OR_RETURN(Part part, Part::Begin(target, *disk.files));
  const int file = ::open(part.path().c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return OfSystem(part.path());
  return std::unique_ptr<IncomingCopy>(
      new IncomingCopy(std::unique_ptr<State>(new State{std::move(part), file, disk})));
}

Result<BackupContents> RestoreBackup(const std::string& file, const std::string& data_dir,
                                     const Disk& disk) {
  TRUCE_ASSIGN_OR_RETURN(const DataDirectory held, DataDirectory::Hold(data_dir));
  TRUCE_ASSIGN_OR_RETURN(const BackupContents contents, VerifyBackup(file, disk));
  const std::string database = data_dir + "/truce.db";
  TRUCE_ASSIGN_OR_RETURN(Part part, Part::Begin(database, *disk.files));
  TRUCE_RETURN_IF_ERROR(CopyFile(file, part, disk));
  TRUCE_ASSIGN_OR_RETURN(const BackupContents copied, VerifyBackup(part.path(), disk));
  if (copied != contents) {
    return Failed(ErrorCode::kDataLoss, part.path(), "the copy differs from the file");
  }
  TRUCE_RETURN_IF_ERROR(TakeUpLog(data_dir, *disk.files));
  TRUCE_RETURN_IF_ERROR(KeepReplaced(database, disk));
  TRUCE_RETURN_IF_ERROR(part.PutInPlace());
  // A mark that stays makes the next start tell a loss that is none.
  static_cast<void>(TakeLogMarkOff(data_dir, *disk.files).ok());
  return contents;
}

}  // namespace truce
