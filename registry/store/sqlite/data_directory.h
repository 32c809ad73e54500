// DataDirectory: the folder of a store, held by one process at a time.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_DATA_DIRECTORY_H_
#define TRUCE_REGISTRY_STORE_SQLITE_DATA_DIRECTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/result.h"

namespace truce {

// The name of a file system on which locks and shared memory are not reliable, by its magic number
// (statfs(2)); nothing for the others.
std::optional<std::string_view> NetworkFileSystem(std::uint64_t magic);

// Holds the lock until destroyed; the operating system lets go of it when the process dies.
class DataDirectory {
 public:
  // Errors: kInvalidArgument (no such folder, not a folder, a network file system); kConflict
  // (another process holds it); kUnavailable (not readable or writable). Each message names what to
  // do.
  static Result<DataDirectory> Hold(const std::string& path);
  ~DataDirectory();
  DataDirectory(DataDirectory&& other) noexcept;
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;
  DataDirectory& operator=(DataDirectory&&) = delete;

  // The database file, which exists afterwards and is readable by its owner only.
  // Errors: kUnavailable; kInvalidArgument when it is gone, or empty, and a file beside it shows
  // that it was not always: its log, a registry that was replaced by a restore, or a restore or
  // migration that did not end. The message names the command that helps.
  Result<std::string> DatabaseFile() const;

 private:
  DataDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_DATA_DIRECTORY_H_
