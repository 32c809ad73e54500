#include "registry/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "registry/base/descriptor.h"

namespace truce {
namespace {

Error FileError(ErrorCode code, std::string_view verb, const std::filesystem::path& path,
                std::string_view why) {
  return Error{code, std::string(verb) + " \"" + path.string() + "\": " + std::string(why)};
}

std::string Cause() { return std::generic_category().message(errno); }

bool WriteAll(int descriptor, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t count = ::write(descriptor, contents.data(), contents.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    contents.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

}  // namespace

Result<std::string> ReadSmallFile(const std::filesystem::path& path) {
  // Non-blocking: a FIFO must not hold us up before it is refused.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument;
    return FileError(code, "read", path, Cause());
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    return FileError(ErrorCode::kInvalidArgument, "read", path, Cause());
  }
  if (!S_ISREG(status.st_mode)) {
    return FileError(ErrorCode::kInvalidArgument, "read", path, "not a regular file");
  }
  std::string contents;
  for (;;) {
    const size_t before = contents.size();
    if (before > kSmallFileBytesMax) {
      return FileError(ErrorCode::kInvalidArgument, "read", path, "larger than 1 MiB");
    }
    contents.resize(before + 8192);
    const ssize_t count = ::read(file.get(), contents.data() + before, 8192);
    if (count < 0 && errno != EINTR) {
      return FileError(ErrorCode::kInvalidArgument, "read", path, Cause());
    }
    contents.resize(before + (count > 0 ? static_cast<size_t>(count) : 0));
    if (count == 0) return contents;
  }
}

Result<void> ReplaceFile(const std::filesystem::path& path, std::string_view contents,
                         mode_t mode) {
  const std::filesystem::path temporary = path.string() + ".new";
  ::unlink(temporary.c_str());
  {
    const Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file.get() < 0 || ::fchmod(file.get(), mode) != 0 || !WriteAll(file.get(), contents) ||
        ::fsync(file.get()) != 0) {
      const std::string cause = Cause();
      ::unlink(temporary.c_str());
      return FileError(ErrorCode::kUnavailable, "write", path, cause);
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string cause = Cause();
    ::unlink(temporary.c_str());
    return FileError(ErrorCode::kUnavailable, "write", path, cause);
  }
  const Descriptor folder(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || ::fsync(folder.get()) != 0) {
    return FileError(ErrorCode::kUnavailable, "write", path, Cause());
  }
  return {};
}

}  // namespace truce
