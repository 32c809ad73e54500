// Files: the steps on whole files, beside SQLite's own, whose order decides what a kill or a power
// cut leaves.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_FILES_H_
#define TRUCE_REGISTRY_STORE_SQLITE_FILES_H_

#include <string>

#include "registry/base/result.h"

namespace truce {

// A port, so that tests can cut the power between any two steps. Nothing is durable before Sync: a
// file's content by Sync of the file, its name by Sync of its folder. Errors of all: kUnavailable,
// which names the file and the cause. Thread-safe.
class Files {
 public:
  virtual ~Files() = default;

  // An empty file that only its owner may read; there must be none.
  virtual Result<void> Make(const std::string& path) = 0;
  // Replaces the content of `to`, which exists.
  virtual Result<void> Copy(const std::string& from, const std::string& to) = 0;
  virtual Result<void> Sync(const std::string& path) = 0;
  // In one step, over what has the name `to`.
  virtual Result<void> Rename(const std::string& from, const std::string& to) = 0;
  // One more name of a file; nothing may have it.
  virtual Result<void> Link(const std::string& from, const std::string& to) = 0;
  // No error when there is none.
  virtual Result<void> Remove(const std::string& path) = 0;
};

// Those of the operating system.
Files& RealFiles();

// Where a registry's files are: SQLite's file layer ("": the default one) and the files beside it.
struct Disk {
  std::string vfs;
  Files* files = &RealFiles();
};

// The folder of a file.
std::string FolderOf(const std::string& file);

// Whether there is such a file, and whether anything is in it.
bool Exists(const std::string& path);
bool HasContent(const std::string& path);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_FILES_H_
