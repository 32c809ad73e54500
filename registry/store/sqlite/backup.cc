#include "registry/store/sqlite/backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/data_directory.h"
#include "registry/store/sqlite/migrations.h"

namespace truce {
namespace {

namespace fs = std::filesystem;

Error Failed(ErrorCode code, const std::string& file, const std::string& what) {
  return {code, file + ": " + what};
}

Result<std::unique_ptr<Connection>> OpenExisting(const std::string& file, bool read_only) {
  std::error_code problem;
  if (!fs::exists(file, problem)) {
    return Failed(ErrorCode::kNotFound, file, "there is no such file");
  }
  ConnectionOptions options;
  options.path = file;
  options.read_only = read_only;
  auto connection = Connection::Open(options);
  if (!connection.ok()) return std::move(connection).error().Within(file);
  return connection;
}

// Makes what was written to `path`, a file or a directory, survive a power cut.
Result<void> Sync(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = file >= 0 && fsync(file) == 0;
  const int problem = errno;
  if (file >= 0) close(file);
  if (done) return {};
  return Failed(ErrorCode::kUnavailable, path, std::strerror(problem));
}

std::string FolderOf(const std::string& file) {
  const std::string folder = fs::path(file).parent_path().string();
  return folder.empty() ? "." : folder;
}

Result<void> Rename(const std::string& from, const std::string& to) {
  std::error_code problem;
  fs::rename(from, to, problem);
  if (problem) return Failed(ErrorCode::kUnavailable, to, problem.message());
  return Sync(FolderOf(to));
}

// Removes a half-made file unless it is kept.
class Unfinished {
 public:
  explicit Unfinished(std::string path) : path_(std::move(path)) {}
  ~Unfinished() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  void Keep() { path_.clear(); }

 private:
  std::string path_;
};

Result<void> MakePart(const std::string& part) {
  std::error_code ignored;
  fs::remove(part, ignored);
  // Its mode keeps others from reading who owns what.
  const int made = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made < 0) return Failed(ErrorCode::kUnavailable, part, std::strerror(errno));
  close(made);
  return {};
}

}  // namespace

Result<BackupContents> VerifyBackup(const std::string& file) {
  TRUCE_ASSIGN_OR_RETURN(const auto connection, OpenExisting(file, true));
  const auto integer = [&](std::string_view sql) -> Result<std::int64_t> {
    Result<std::int64_t> value = connection->Integer(sql);
    if (!value.ok()) return std::move(value).error().Within(file);
    return value;
  };
  TRUCE_ASSIGN_OR_RETURN(const std::int64_t application, integer("PRAGMA application_id"));
  if (application != kApplicationId) {
    return Failed(ErrorCode::kInvalidArgument, file, "it is no registry of Truce");
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

Result<BackupContents> BackUp(const std::string& data_dir, const std::string& target) {
  std::error_code problem;
  if (fs::exists(target, problem)) {
    return Failed(ErrorCode::kInvalidArgument, target, "it exists; choose another name");
  }
  TRUCE_ASSIGN_OR_RETURN(const auto source, OpenExisting(data_dir + "/truce.db", false));
  const std::string part = target + ".part";
  TRUCE_RETURN_IF_ERROR(MakePart(part));
  Unfinished unfinished(part);
  {
    TRUCE_ASSIGN_OR_RETURN(Statement copy, source->Prepare("VACUUM INTO ?"));
    copy.BindText(0, part);
    Result<void> copied = copy.Run();
    if (!copied.ok()) return std::move(copied).error().Within(part);
  }
  TRUCE_ASSIGN_OR_RETURN(const BackupContents contents, VerifyBackup(part));
  TRUCE_RETURN_IF_ERROR(Sync(part));
  TRUCE_RETURN_IF_ERROR(Rename(part, target));
  unfinished.Keep();
  return contents;
}

Result<BackupContents> RestoreBackup(const std::string& file, const std::string& data_dir) {
  TRUCE_ASSIGN_OR_RETURN(const DataDirectory held, DataDirectory::Hold(data_dir));
  TRUCE_ASSIGN_OR_RETURN(const BackupContents contents, VerifyBackup(file));
  const std::string database = data_dir + "/truce.db";
  const std::string part = database + ".part";
  TRUCE_RETURN_IF_ERROR(MakePart(part));
  Unfinished unfinished(part);
  std::error_code problem;
  fs::copy_file(file, part, fs::copy_options::overwrite_existing, problem);
  if (problem) return Failed(ErrorCode::kUnavailable, part, problem.message());
  TRUCE_RETURN_IF_ERROR(Sync(part));
  TRUCE_ASSIGN_OR_RETURN(const BackupContents copied, VerifyBackup(part));
  if (copied != contents) {
    return Failed(ErrorCode::kDataLoss, part, "the copy differs from the file");
  }
  if (fs::exists(database, problem)) {
    {
      // What stands in its log only must not be left to the restored one.
      TRUCE_ASSIGN_OR_RETURN(const auto old, OpenExisting(database, false));
      static_cast<void>(old->Execute("PRAGMA wal_checkpoint(TRUNCATE)").ok());
    }
    TRUCE_RETURN_IF_ERROR(Rename(database, database + ".replaced"));
  }
  for (const char* suffix : {"-wal", "-shm"}) {
    std::error_code ignored;
    fs::remove(database + suffix, ignored);
    fs::remove(part + suffix, ignored);
  }
  TRUCE_RETURN_IF_ERROR(Rename(part, database));
  unfinished.Keep();
  return contents;
}

}  // namespace truce
