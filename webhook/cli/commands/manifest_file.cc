#include "webhook/cli/commands/manifest_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace truce {

ManifestFile::ManifestFile(const std::string& path, std::size_t& bytes)
    : name_(path == "-" ? "stdin" : path),
      file_(path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      error_(file_.get() < 0 ? errno : 0),
      bytes_(bytes),
      reader_([this](char* buffer, std::size_t size) { return Read(buffer, size); }, name_) {}

std::string_view ManifestFile::Begin() {
  constexpr std::size_t kBeginBytes = 1024;
  begin_.resize(kBeginBytes);
  std::size_t count = 0;
  while (count < kBeginBytes) {
    const std::size_t got = ReadOn(begin_.data() + count, kBeginBytes - count);
    if (got == 0) break;
    count += got;
  }
  begin_.resize(count);
  return begin_;
}

std::size_t ManifestFile::Read(char* buffer, std::size_t size) {
  if (begin_.empty()) return ReadOn(buffer, size);
  const std::size_t count = begin_.copy(buffer, size);
  begin_.erase(0, count);
  return count;
}

// Nothing more after an error.
std::size_t ManifestFile::ReadOn(char* buffer, std::size_t size) {
  if (error_ != 0) return 0;
  ssize_t got = -1;
  do {
    got = ::read(file_.get(), buffer, size);
  } while (got < 0 && errno == EINTR);
  if (got < 0) error_ = errno;
  if (got > 0) bytes_ += static_cast<std::size_t>(got);
  return got < 0 || bytes_ > kManifestFilesBytesMax ? 0 : static_cast<std::size_t>(got);
}

Result<void> ManifestFile::Verdict() const {
  if (bytes_ > kManifestFilesBytesMax) {
    return Error{ErrorCode::kInvalidArgument, name_ + ": the input is larger than 512 MiB"};
  }
  if (error_ == 0) return {};
  return Error{ErrorCode::kInvalidArgument,
               name_ + ": cannot be read: " + std::string(std::strerror(error_))};
}

Result<std::optional<Manifest>> ManifestFile::Next() {
  Result<std::optional<Manifest>> next = reader_.Next();
  TRUCE_RETURN_IF_ERROR(Verdict());
  return next;
}

}  // namespace truce
