// Small files, read whole and replaced whole.
#ifndef TRUCE_REGISTRY_BASE_FILE_H_
#define TRUCE_REGISTRY_BASE_FILE_H_

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "registry/base/result.h"

namespace truce {

inline constexpr size_t kSmallFileBytesMax = 1024 * 1024;  // many times any real chain

// Errors: kNotFound (no such file); kInvalidArgument (unreadable, no regular file, over
//   kSmallFileBytesMax). Messages name the file.
Result<std::string> ReadSmallFile(const std::filesystem::path& path);

// Replaces `path` by a file of that mode with those contents: readers see the old one or the new
// one. Durable on return. Errors: kUnavailable; names the file.
Result<void> ReplaceFile(const std::filesystem::path& path, std::string_view contents, mode_t mode);

// Files of the machine, not settings: every fault of them is kUnavailable, since the server cannot
// run.
template <typename T>
Result<T> OfMachine(Result<T> found) {
  if (found.ok()) return found;
  Error error = std::move(found).error();
  const bool is_input = error.code == ErrorCode::kInvalidArgument;
  if (is_input || error.code == ErrorCode::kNotFound) error.code = ErrorCode::kUnavailable;
  return error;
}

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_FILE_H_
