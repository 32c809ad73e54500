#include "registry/store/sqlite/copies.h"

#include <utility>

namespace truce {

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
  TRUCE_ASSIGN_OR_RETURN(Statement copy, source.Prepare("VACUUM INTO ?"));
  copy.BindText(0, part.path());
  Result<void> copied = copy.Run();
  if (!copied.ok()) return std::move(copied).error().Within(part.path());
  return part.Sync();
}

Result<void> TakeLogIn(ConnectionOptions options) {
  if (!HasContent(options.path + "-wal")) return {};
  options.alone = true;
  const auto take = [&options]() -> Result<void> {
    TRUCE_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(options));
    TRUCE_ASSIGN_OR_RETURN(const std::int64_t busy,
                           connection->Integer("PRAGMA wal_checkpoint(TRUNCATE)"));
    if (busy == 0) return {};
    return Error{ErrorCode::kUnavailable, "database is locked"};
  };
  Result<void> taken = take();
  if (taken.ok()) return {};
  return std::move(taken).error().Within(
      "take in the log that its last user left (whoever has the database open, a `truce backup` "
      "for one, must end first)");
}

}  // namespace truce
