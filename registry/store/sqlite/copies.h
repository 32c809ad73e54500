// Copies of a database file that are there as a whole or not at all, and the log that the last user
// of a database left.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_COPIES_H_
#define TRUCE_REGISTRY_STORE_SQLITE_COPIES_H_

#include <string>

#include "registry/base/result.h"
#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/files.h"

namespace truce {

// A file that is being made as `name`.part, and removed with all that SQLite puts beside it unless
// it got its name.
class Part {
 public:
  // Empty; an earlier attempt's files are removed. Errors: kUnavailable.
  static Result<Part> Begin(const std::string& name, Files& files);
  ~Part();
  Part(Part&& other) noexcept;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  Part& operator=(Part&&) = delete;

  const std::string& path() const { return path_; }

  // Makes the content durable. Errors: kUnavailable.
  Result<void> Sync();
  // Gives it its name, over what has it, durably. Errors: kUnavailable.
  Result<void> PutInPlace();

 private:
  Part(std::string name, Files& files) : name_(std::move(name)), files_(&files) {}
  void RemoveAll();

  std::string name_;
  std::string path_ = name_ + ".part";
  Files* files_;  // null: it has its name
};

// Copies what `source` shows at one moment into `part`, durably. Errors: kUnavailable, kDataLoss.
Result<void> CopyInto(Connection& source, Part& part);

// Brings all of the log that the last user left beside the database into it, durably, and empties
// it. The log is written anew before: no sync brings to the disk what a failed one lost. Nobody
// else may have the database open, for then SQLite would believe what that one says is in the
// database already. Nothing to do without a log. Errors: kUnavailable (also: somebody has it open),
// kDataLoss.
Result<void> TakeLogIn(ConnectionOptions options);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_COPIES_H_
