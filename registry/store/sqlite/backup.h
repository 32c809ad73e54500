// Copies of a registry in SQLite: made while a server runs, verified, and put back.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_BACKUP_H_
#define TRUCE_REGISTRY_STORE_SQLITE_BACKUP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "registry/base/result.h"
#include "registry/store/sqlite/files.h"

namespace truce {

// The contents of a copy.
struct BackupContents {
  std::int64_t ownerships = 0;
  std::int64_t audit_lines = 0;
  std::int64_t commits = 0;  // writes since the registry began: tells older from newer
  std::int64_t schema = 0;   // version

  bool operator==(const BackupContents&) const = default;
};

// Copies the registry of `data_dir` as it is at one moment to the file `target`, which must not
// exist; beside it lies `target`.part until the copy is whole, verified and on the disk. A server
// may run meanwhile and is not held up. Errors: kNotFound (no registry there), kInvalidArgument
// (target exists, not a registry), kUnavailable (not readable, not writable, full), kDataLoss
// (registry or copy damaged).
Result<BackupContents> BackUp(const std::string& data_dir, const std::string& target,
                              const Disk& disk = {});

// A copy of a registry that is read once and kept nowhere: its file has no name. External
// synchronization.
class HandedOutCopy final {
 public:
  ~HandedOutCopy();
  HandedOutCopy(HandedOutCopy&& other) noexcept;
  HandedOutCopy(const HandedOutCopy&) = delete;
  HandedOutCopy& operator=(const HandedOutCopy&) = delete;
  HandedOutCopy& operator=(HandedOutCopy&&) = delete;

  std::uint64_t size() const { return size_; }
  const BackupContents& contents() const { return contents_; }
  // The next bytes, kPieceBytes at most; empty at the end. Errors: kUnavailable.
  Result<std::string> Next();

  static constexpr std::size_t kPieceBytes = std::size_t{256} * 1024;

 private:
  friend Result<HandedOutCopy> BackUpToHandOut(const std::string& data_dir, const Disk& disk);
  HandedOutCopy(int file, std::uint64_t size, const BackupContents& contents)
      : file_(file), size_(size), contents_(contents) {}

  int file_;
  std::uint64_t size_;
  BackupContents contents_;
};

// As BackUp, into the data directory itself, which needs room for it as long as it is read.
Result<HandedOutCopy> BackUpToHandOut(const std::string& data_dir, const Disk& disk = {});

// A copy that comes from elsewhere piece by piece. External synchronization.
class IncomingCopy final {
 public:
  // `target` must not exist; beside it lies `target`.part until Finish, and no longer. Errors:
  // kInvalidArgument (target exists), kUnavailable.
  static Result<std::unique_ptr<IncomingCopy>> Begin(const std::string& target,
                                                     const Disk& disk = {});
  ~IncomingCopy();
  IncomingCopy(const IncomingCopy&) = delete;
  IncomingCopy& operator=(const IncomingCopy&) = delete;

  // Errors: kUnavailable.
  Result<void> Append(std::string_view piece);
  // Checks the whole and gives it its name. Errors: as VerifyBackup.
  Result<BackupContents> Finish();

 private:
  struct State;
  explicit IncomingCopy(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

// Checks the whole of a copy: that it is a registry of this program or an older one, and intact.
// Takes time in proportion to its size. Errors: kNotFound, kInvalidArgument, kUnavailable,
// kDataLoss.
Result<BackupContents> VerifyBackup(const std::string& file, const Disk& disk = {});

// Puts a verified copy in the place of the registry of `data_dir`, which no server may use and
// nobody may have open. The registry so far is kept as truce.db.replaced, in place of an earlier
// one. They change places in one step: killed or without power at any moment, the next start finds
// the old registry or the new one. The server that starts on it notices that the registry is older
// than what it remembers, and only warns until a full resync is done. Errors: those of
// VerifyBackup; kConflict: a server runs there.
Result<BackupContents> RestoreBackup(const std::string& file, const std::string& data_dir,
                                     const Disk& disk = {});

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_BACKUP_H_
