// Small files, read whole and replaced whole.
#ifndef TRUCE_REGISTRY_BASE_FILE_H_
#define TRUCE_REGISTRY_BASE_FILE_H_

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "registry/base/result.h"

namespace truce {

inline constexpr size_t kSmallFileBytesMax = 1024 * 1024;  // many times any real chain

// Errors: kNotFound (no such file); kInvalidArgument (unreadable, no regular file, over
//   kSmallFileBytesMax). Messages name the file.
Result<std::string> ReadSmallFile(const std::filesystem::path& path);

// Replaces `path` by a file of that mode with those contents: readers see the old one or the new
// one. Durable on return. Errors: kUnavailable; names the file.
Result<void> ReplaceFile(const std::filesystem::path& path, std::string_view contents, mode_t mode);

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_FILE_H_
