#include "registry/store/sqlite/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "registry/base/text.h"
#include "registry/store/sqlite/files.h"

namespace truce {
namespace {

struct Magic {
  std::uint64_t number;
  std::string_view name;
};

// From linux/magic.h and the file systems' own sources.
constexpr std::array kNetworkFileSystems = {
    Magic{0x6969, "NFS"},      Magic{0x517B, "SMB"},      Magic{0xFE534D42, "SMB2"},
    Magic{0xFF534D42, "CIFS"}, Magic{0x65735546, "FUSE"}, Magic{0x01021997, "9P"},
    Magic{0x00C36400, "CEPH"}, Magic{0x5346414F, "AFS"},  Magic{0x0BD00BD0, "LUSTRE"},
    Magic{0x01161970, "GFS2"}, Magic{0x7461636F, "OCFS2"}};

Error Unavailable(const std::string& path, int error) {
  return {ErrorCode::kUnavailable, "cannot open " + InQuotes(path) + ": " + std::strerror(error) +
                                       "; make it readable and writable for user id " +
                                       std::to_string(geteuid())};
}

Result<void> CheckFolder(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) return Unavailable(path, errno);
    return Error{ErrorCode::kInvalidArgument, "data directory " + InQuotes(path) +
                                                  " does not exist; create it (mkdir -p), or "
                                                  "choose another one with --data-dir"};
  }
  if (!S_ISDIR(status.st_mode)) {
    return Error{ErrorCode::kInvalidArgument,
                 InQuotes(path) + " is not a folder; choose another one with --data-dir"};
  }
  struct statfs file_system {};
  if (statfs(path.c_str(), &file_system) != 0) return Unavailable(path, errno);
  // Some magic numbers have the sign bit of 32 bits set.
  const auto network =
      NetworkFileSystem(static_cast<std::uint64_t>(file_system.f_type) & 0xFFFFFFFFU);
  if (!network.has_value()) return {};
  return Error{
      ErrorCode::kInvalidArgument,
      "data directory " + InQuotes(path) + " is on a " + std::string(*network) +
          " file system, where a write-ahead log is not safe; use a local or block volume"};
}

std::string Holder(int lock) {
  std::array<char, 32> text{};
  const ssize_t length = pread(lock, text.data(), text.size(), 0);
  if (length <= 0) return "unknown";
  std::string holder(text.data(), static_cast<std::size_t>(length));
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder;
}

// The newest copy that a migration made before it changed the database.
std::string CopyBefore(const std::string& file) {
  std::string newest;
  for (int version = 2; Exists(file + ".before-" + std::to_string(version)); ++version) {
    newest = file + ".before-" + std::to_string(version);
  }
  return newest;
}

// An empty registry would forget every owner without a word.
Result<void> CheckRemains(const std::string& folder, const std::string& file) {
  const std::string restore = "`truce restore --data-dir " + folder + " ";
  const std::string or_empty = "; or, to begin with an empty registry, move that file away too";
  const auto refused = [&file](const std::string& found, const std::string& remedy) {
    return Error{ErrorCode::kInvalidArgument,
                 "the registry " + file + " is gone, but " + found + " is there: " + remedy};
  };
  const std::string copy = CopyBefore(file);
  if (HasContent(file + "-wal")) {
    return refused("its log " + file + "-wal",
                   "put back what the log belongs to, or a copy with " + restore +
                       "FILE`; or, to begin with an empty registry, move the log away too");
  }
  if (Exists(file + ".part")) {
    return refused(file + ".part",
                   "a restore did not end; repeat it: " + restore + "FILE`" + or_empty);
  }
  if (HasContent(file + ".replaced")) {
    return refused(file + ".replaced",
                   "put it back with " + restore + file + ".replaced`" + or_empty);
  }
  if (!copy.empty()) return refused(copy, "put it back with " + restore + copy + "`" + or_empty);
  return {};
}

}  // namespace

std::optional<std::string_view> NetworkFileSystem(std::uint64_t magic) {
  for (const Magic& known : kNetworkFileSystems) {
    if (known.number == magic) return known.name;
  }
  return std::nullopt;
}

Result<DataDirectory> DataDirectory::Hold(const std::string& path) {
  TRUCE_RETURN_IF_ERROR(CheckFolder(path));
  const std::string file = path + "/truce.lock";
  const int lock = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return Unavailable(file, errno);
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    const std::string holder = Holder(lock);
    close(lock);
    return Error{ErrorCode::kConflict, "data directory " + InQuotes(path) +
                                           " is in use by process " + holder +
                                           "; stop that one, or choose another --data-dir"};
  }
  DataDirectory directory(path, lock);
  // For the message of a second process only: it need not be durable, nor succeed on a full disk.
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(lock, 0) == 0) static_cast<void>(pwrite(lock, pid.data(), pid.size(), 0) < 0);
  return directory;
}

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

DataDirectory::~DataDirectory() {
  if (lock_ >= 0) close(lock_);
}

Result<std::string> DataDirectory::DatabaseFile() const {
  std::string file = path_ + "/truce.db";
  if (!HasContent(file)) TRUCE_RETURN_IF_ERROR(CheckRemains(path_, file));
  const int database = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (database < 0) return Unavailable(file, errno);
  // No connection is open yet, so this close drops no lock of SQLite.
  close(database);
  return file;
}

}  // namespace truce
