// ManifestFile: the documents of a file, one after another, as kubectl reads them.
#ifndef TRUCE_WEBHOOK_CLI_COMMANDS_MANIFEST_FILE_H_
#define TRUCE_WEBHOOK_CLI_COMMANDS_MANIFEST_FILE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/descriptor.h"
#include "registry/base/result.h"
#include "webhook/check/manifest_reader.h"

namespace truce {

// Of all files of one command together.
inline constexpr std::size_t kManifestFilesBytesMax = 512 * 1024 * 1024;

// External synchronization.
class ManifestFile final {
 public:
  // `path`: "-" is standard input. `bytes` counts what is read, and must outlive it.
  ManifestFile(const std::string& path, std::size_t& bytes);
  ManifestFile(const ManifestFile&) = delete;
  ManifestFile& operator=(const ManifestFile&) = delete;

  // For messages.
  const std::string& name() const { return name_; }

  // The first bytes, at most 1 KiB: they tell a plan from a manifest. Before anything is read.
  std::string_view Begin();
  // Up to `size` bytes into `buffer`; 0: the end, or an error, which Verdict tells.
  std::size_t Read(char* buffer, std::size_t size);
  // Errors: kInvalidArgument: the file cannot be read; too many bytes.
  Result<void> Verdict() const;

  // The next document; nothing at the end. Errors: kInvalidArgument: as ManifestReader::Next; the
  // file cannot be read; too many bytes.
  Result<std::optional<Manifest>> Next();

 private:
  std::size_t ReadOn(char* buffer, std::size_t size);

  const std::string name_;
  const Descriptor file_;
  int error_ = 0;
  std::size_t& bytes_;
  std::string begin_;  // read ahead
  ManifestReader reader_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_COMMANDS_MANIFEST_FILE_H_
