#include "certs/self_signed.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "registry/base/file.h"

namespace truce {
namespace {

// Held while the folder is looked at and written.
class FolderLock final {
 public:
  static Result<std::unique_ptr<FolderLock>> Take(const std::filesystem::path& folder) {
    std::error_code error;
    const bool made = std::filesystem::create_directories(folder, error);
    if (!error && made)
      std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
    const int descriptor = error ? -1 : ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0 || ::flock(descriptor, LOCK_EX) != 0) {
      if (!error) error.assign(errno, std::generic_category());
      if (descriptor >= 0) ::close(descriptor);
      return Error{ErrorCode::kUnavailable,
                   "open folder \"" + folder.string() + "\": " + error.message()};
    }
    return std::unique_ptr<FolderLock>(new FolderLock(descriptor));
  }
  ~FolderLock() { ::close(descriptor_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  const int descriptor_;
};

CertificateFiles FilesOf(const std::filesystem::path& directory) {
  return {directory / "ca.crt", directory / "tls.crt", directory / "tls.key"};
}

std::filesystem::path AuthorityKeyOf(const std::filesystem::path& directory) {
  return directory / "ca.key";
}

std::string ContentsOrNothing(const std::filesystem::path& path) {
  auto contents = ReadSmallFile(path);
  return contents.ok() ? std::move(contents).value() : std::string();
}

SelfMadeCertificates ReadFolder(const std::filesystem::path& directory) {
  const CertificateFiles files = FilesOf(directory);
  return {ContentsOrNothing(files.authority), ContentsOrNothing(AuthorityKeyOf(directory)),
          ContentsOrNothing(files.certificate), ContentsOrNothing(files.key)};
}

// Only what differs. The bundle before its key, a key before its certificate: a half without its
// other one is noticed and replaced.
Result<void> WriteFolder(const std::filesystem::path& directory,
                         const SelfMadeCertificates& present, const SelfMadeCertificates& wanted) {
  const CertificateFiles files = FilesOf(directory);
  const auto write = [](const std::filesystem::path& path, const std::string& before,
                        const std::string& after, mode_t mode) -> Result<void> {
    if (before == after) return {};
    return ReplaceFile(path, after, mode);
  };
  TRUCE_RETURN_IF_ERROR(write(files.authority, present.authorities, wanted.authorities, 0644));
  TRUCE_RETURN_IF_ERROR(
      write(AuthorityKeyOf(directory), present.authority_key, wanted.authority_key, 0600));
  TRUCE_RETURN_IF_ERROR(write(files.key, present.key, wanted.key, 0600));
  return write(files.certificate, present.certificate, wanted.certificate, 0644);
}

}  // namespace

Result<CertificateFiles> EnsureSelfSigned(const SelfSignedOptions& options, Timestamp now) {
  TRUCE_ASSIGN_OR_RETURN(const auto lock, FolderLock::Take(options.directory));
  const SelfMadeCertificates present = ReadFolder(options.directory);
  const SelfMadeRules rules{options.names, options.authority_life, options.leaf_life};
  TRUCE_ASSIGN_OR_RETURN(const SelfMadeRenewal renewal,
                         RenewSelfMade(present, rules, std::nullopt, now));
  TRUCE_RETURN_IF_ERROR(WriteFolder(options.directory, present, renewal.certificates));
  CertificateFiles files = FilesOf(options.directory);
  files.renewed = renewal.new_authority || renewal.new_leaf;
  const bool was_there = !present.authorities.empty() || !present.authority_key.empty();
  files.replaced_authority = renewal.new_authority && was_there;
  return files;
}

SelfMadeCertificates ReadSelfMade(const std::filesystem::path& directory) {
  return ReadFolder(directory);
}

Result<void> WriteSelfMade(const std::filesystem::path& directory,
                           const SelfMadeCertificates& certificates) {
  TRUCE_ASSIGN_OR_RETURN(const auto lock, FolderLock::Take(directory));
  return WriteFolder(directory, ReadFolder(directory), certificates);
}

}  // namespace truce
