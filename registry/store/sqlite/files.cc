#include "registry/store/sqlite/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace truce {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOwnerOnly = 0600;  // ownerships are nobody else's business

Result<void> Failed(const std::string& path, int cause) {
  return Error{ErrorCode::kUnavailable, path + ": " + std::strerror(cause)};
}

Result<void> Outcome(const std::string& path, bool done) {
  return done ? Result<void>() : Failed(path, errno);
}

class OperatingSystem final : public Files {
 public:
  Result<void> Make(const std::string& path) override {
    const int made = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly);
    return Outcome(path, made >= 0 && close(made) == 0);
  }

  Result<void> Copy(const std::string& from, const std::string& to) override {
    std::error_code problem;
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, problem);
    if (problem) return Failed(to, problem.value());
    // The library gives it the mode of the other one.
    return Outcome(to, chmod(to.c_str(), kOwnerOnly) == 0);
  }

  Result<void> Sync(const std::string& path) override {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool done = file >= 0 && fsync(file) == 0;
    const int cause = errno;
    if (file >= 0) close(file);
    return done ? Result<void>() : Failed(path, cause);
  }

  Result<void> Rename(const std::string& from, const std::string& to) override {
    return Outcome(to, std::rename(from.c_str(), to.c_str()) == 0);
  }

  Result<void> Link(const std::string& from, const std::string& to) override {
    return Outcome(to, link(from.c_str(), to.c_str()) == 0);
  }

  Result<void> Remove(const std::string& path) override {
    return Outcome(path, unlink(path.c_str()) == 0 || errno == ENOENT);
  }
};

}  // namespace

Files& RealFiles() {
  static OperatingSystem files;
  return files;
}

std::string FolderOf(const std::string& file) {
  const std::string folder = fs::path(file).parent_path().string();
  return folder.empty() ? "." : folder;
}

bool Exists(const std::string& path) {
  std::error_code problem;
  return fs::exists(path, problem);
}

bool HasContent(const std::string& path) {
  std::error_code problem;
  const auto size = fs::file_size(path, problem);
  return !problem && size > 0;
}

}  // namespace truce
