// Looks into a registry's write-ahead log before SQLite opens it: SQLite passes over what it cannot
// read there without a word.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_LOG_LOOK_H_
#define TRUCE_REGISTRY_STORE_SQLITE_LOG_LOOK_H_

#include <string>

#include "registry/base/result.h"
#include "registry/store/sqlite/files.h"

namespace truce {

// Why acknowledged changes may be gone, in one line; empty: nothing says so. Reads the whole log.
// Nobody may have the registry open for writing.
// - The log lacks frames: SQLite's index beside it (truce.db-shm) counts more committed ones, or
// two
//   commits follow each other behind the first frame that cannot be read. A power cut leaves one
//   there at most, which was never acknowledged: SQLite syncs a commit before it begins the next.
//   After a power cut the index may be old; damage of the last two commits then looks the same, and
//   is not told.
// - DIR/log.mark exists, and the log is gone or empty. Another program that writes to a killed
//   server's registry takes the log away, too.
// - DIR/log.mark holds a loss that TakeUpLog found.
std::string LossInLog(const std::string& data_dir);

// The same, before the log is moved into the database. A loss is kept in the mark until MarkLog or
// TakeLogMarkOff, so that a process that is killed meanwhile hides none; without a loss the mark is
// taken off. Errors: kUnavailable.
Result<std::string> TakeUpLog(const std::string& data_dir, Files& files = RealFiles());

// From now on a log that is gone or empty is a loss: a commit is in it, and nobody empties it
// before TakeLogMarkOff. Durable. Errors: kUnavailable.
Result<void> MarkLog(const std::string& data_dir, Files& files = RealFiles());
// At a clean end, and when a copy took the registry's place. Durable. Errors: kUnavailable.
Result<void> TakeLogMarkOff(const std::string& data_dir, Files& files = RealFiles());

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_LOG_LOOK_H_
