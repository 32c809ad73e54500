// A folder that lives as long as its object.
#ifndef TRUCE_TESTS_SUPPORT_TEMPORARY_FOLDER_H_
#define TRUCE_TESTS_SUPPORT_TEMPORARY_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <string>

#include "registry/base/assert.h"

namespace truce {

class TemporaryFolder final {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "truce-test-XXXXXX").string();
    TRUCE_ASSERT(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_TEMPORARY_FOLDER_H_
