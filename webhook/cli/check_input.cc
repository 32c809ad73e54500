#include "webhook/cli/check_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "registry/base/descriptor.h"

namespace truce {
namespace {

namespace fs = std::filesystem;

// A file as a source of bytes, with what ended it early.
struct FileSource {
  int file = -1;
  int error = 0;
  bool too_large = false;
  std::size_t* bytes;

  std::size_t Read(char* buffer, std::size_t size) {
    ssize_t got = -1;
    do {
      got = ::read(file, buffer, size);
    } while (got < 0 && errno == EINTR);
    if (got < 0) error = errno;
    if (got <= 0) return 0;
    *bytes += static_cast<std::size_t>(got);
    too_large = *bytes > kCheckBytesMax;
    return too_large ? 0 : static_cast<std::size_t>(got);
  }

  Result<void> Verdict(const std::string& name) const {
    if (too_large) {
      return Error{ErrorCode::kInvalidArgument, name + ": the input is larger than 512 MiB"};
    }
    if (error == 0) return {};
    return Error{ErrorCode::kInvalidArgument,
                 name + ": cannot be read: " + std::string(std::strerror(error))};
  }
};

bool IsManifest(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

bool IsKubernetes(const YamlNode& node) {
  return node.kind == YamlNode::Kind::kMapping && node.Find("apiVersion") != nullptr &&
         node.Find("kind") != nullptr;
}

}  // namespace

void CheckInput::Note(const Result<void>& result) {
  if (!result.ok()) errors_.push_back(result.error().message);
}

void CheckInput::Read(const std::string& path) {
  std::error_code ignored;
  if (path == "-") {
    Note(ReadStream(path, "stdin", false));
  } else if (fs::is_directory(path, ignored)) {
    ReadFolder(path);
  } else {
    Note(ReadStream(path, path, false));
  }
}

void CheckInput::ReadFolder(const std::string& path) {
  std::vector<std::string> files;
  std::error_code failure;
  fs::recursive_directory_iterator each(path, failure);
  for (; !failure && each != fs::end(each); each.increment(failure)) {
    const bool hidden = each->path().filename().string().starts_with('.');
    std::error_code ignored;
    if (hidden && each->is_directory(ignored)) each.disable_recursion_pending();
    if (!hidden && IsManifest(each->path()) && each->is_regular_file(ignored)) {
      files.push_back(each->path().string());
    }
  }
  if (failure) {
    errors_.push_back(path + ": cannot be read: " + failure.message());
    return;
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) Note(ReadStream(file, file, true));
}

Result<void> CheckInput::ReadStream(const std::string& path, const std::string& name,
                                    bool in_folder) {
  FileSource source;
  source.bytes = &bytes_;
  source.file = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (source.file < 0) source.error = errno;
  TRUCE_RETURN_IF_ERROR(source.Verdict(name));
  const Descriptor closing(source.file);
  ManifestReader reader(
      [&source](char* buffer, std::size_t size) { return source.Read(buffer, size); }, name);
  while (true) {
    Result<std::optional<Manifest>> manifest = reader.Next();
    TRUCE_RETURN_IF_ERROR(source.Verdict(name));
    if (!manifest.ok()) return std::move(manifest).error();
    if (!manifest.value().has_value()) return {};
    if (++documents_ > kCheckDocumentsMax) {
      return Error{ErrorCode::kInvalidArgument,
                   name + ": more than " + std::to_string(kCheckDocumentsMax) + " documents"};
    }
    if (in_folder && !IsKubernetes(manifest.value()->root)) {
      checker_.AddNote(name, "is not a Kubernetes object: passed over");
      continue;
    }
    TRUCE_RETURN_IF_ERROR(checker_.Add(*manifest.value(), name));
  }
}

void CheckInput::ReadValues(const std::string& path) {
  FileSource source;
  source.bytes = &bytes_;
  const std::string name = path == "-" ? "stdin" : path;
  source.file = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (source.file < 0) source.error = errno;
  if (const Result<void> opened = source.Verdict(name); !opened.ok()) return Note(opened);
  const Descriptor closing(source.file);
  ManifestReader reader(
      [&source](char* buffer, std::size_t size) { return source.Read(buffer, size); }, name);
  Result<std::optional<Manifest>> values = reader.Next();
  if (const Result<void> read = source.Verdict(name); !read.ok()) return Note(read);
  if (!values.ok()) return errors_.push_back(values.error().message);
  ++documents_;
  YamlNode root;
  root.kind = YamlNode::Kind::kMapping;
  if (values.value().has_value()) root = std::move(values.value()->root);
  Note(checker_.AddValues(root, name));
}

}  // namespace truce
