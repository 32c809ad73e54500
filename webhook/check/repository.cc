#include "webhook/check/repository.h"

#include <filesystem>
#include <system_error>

namespace truce {
namespace {

namespace fs = std::filesystem;

bool IsFile(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// The folder with ".git" at or above `folder`; without one `folder`.
fs::path RootOf(const fs::path& folder) {
  std::error_code ignored;
  for (fs::path each = folder;; each = each.parent_path()) {
    if (fs::exists(each / ".git", ignored)) return each;
    if (!each.has_relative_path()) return folder;
  }
}

bool IsBelow(const fs::path& path) {
  return !path.empty() && path.is_relative() && *path.begin() != "..";
}

}  // namespace

CheckLocation InRepository(const CheckLocation& location, const std::string& prefix) {
  std::error_code ignored;
  const fs::path here = fs::current_path(ignored);
  const fs::path root = RootOf(here);
  const fs::path below = prefix.empty() ? here.lexically_relative(root) : fs::path(prefix);
  if (location.file != "stdin" && IsFile(location.file)) {
    const fs::path file = fs::absolute(location.file, ignored).lexically_normal();
    const fs::path from_here = file.lexically_relative(here);
    const fs::path path = (below / from_here).lexically_normal();
    const bool is_there = IsBelow(from_here) || IsFile(root / path);
    if (IsBelow(path) && is_there) return {path.generic_string(), {}, location.at};
  }
  if (location.source.empty()) return {};
  // Helm begins with the chart's name, which its folder need not have.
  const fs::path source(location.source);
  const fs::path in_chart = source.lexically_relative(*source.begin());
  for (const fs::path& each : {source, in_chart}) {
    const fs::path path = (below / each).lexically_normal();
    if (IsBelow(path) && (IsFile(root / path) || IsFile(each)))
      return {path.generic_string(), {}, {}};
  }
  return {};
}

}  // namespace truce
