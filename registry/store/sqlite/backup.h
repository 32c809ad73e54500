// Copies of a registry in SQLite: made while a server runs, verified, and put back.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_BACKUP_H_
#define TRUCE_REGISTRY_STORE_SQLITE_BACKUP_H_

#include <cstdint>
#include <string>

#include "registry/base/result.h"
#include "registry/store/sqlite/files.h"

namespace truce {

// What a copy holds.
struct BackupContents {
  std::int64_t ownerships = 0;
  std::int64_t audit_lines = 0;
  std::int64_t commits = 0;  // writes since the registry began: tells older from newer
  std::int64_t schema = 0;   // version

  bool operator==(const BackupContents&) const = default;
};

// Copies the registry of `data_dir` as it is at one moment to the file `target`, which must not
// exist; beside it stands `target`.part until the copy is whole, verified and on the disk. A server
// may run meanwhile and is not held up. Errors: kNotFound (no registry there), kInvalidArgument
// (target exists, not a registry), kUnavailable (not readable, not writable, full), kDataLoss
// (registry or copy damaged).
Result<BackupContents> BackUp(const std::string& data_dir, const std::string& target,
                              const Disk& disk = {});

// Checks the whole of a copy: that it is a registry of this program or an older one, and intact.
// Takes time in proportion to its size. Errors: kNotFound, kInvalidArgument, kUnavailable,
// kDataLoss.
Result<BackupContents> VerifyBackup(const std::string& file, const Disk& disk = {});

// Puts a verified copy in the place of the registry of `data_dir`, which no server may use and
// nobody may have open. What stood there is kept as truce.db.replaced, in place of an earlier one.
// They change places in one step: killed or without power at any moment, the next start finds the
// old registry or the new one. The server that starts on it notices that the registry is older than
// what it remembers, and only warns until a full resync is done. Errors: those of VerifyBackup;
// kConflict: a server runs there.
Result<BackupContents> RestoreBackup(const std::string& file, const std::string& data_dir,
                                     const Disk& disk = {});

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_BACKUP_H_
