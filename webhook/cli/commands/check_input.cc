#include "webhook/cli/commands/check_input.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "webhook/cli/commands/manifest_file.h"

namespace truce {
namespace {

namespace fs = std::filesystem;

bool IsManifest(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

bool IsKubernetes(const YamlNode& node) {
  return node.kind == YamlNode::Kind::kMapping && node.Find("apiVersion") != nullptr &&
         node.Find("kind") != nullptr;
}

}  // namespace

void CheckInput::Note(const std::string& file, const Result<void>& result) {
  if (!result.ok()) faults_.push_back({file, result.error().message});
}

void CheckInput::Read(const std::string& path) {
  std::error_code ignored;
  if (path != "-" && fs::is_directory(path, ignored)) return ReadFolder(path);
  Note(path == "-" ? "stdin" : path, ReadFile(path, false));
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
    faults_.push_back({path, path + ": cannot be read: " + failure.message()});
    return;
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) Note(file, ReadFile(file, true));
}

Result<void> CheckInput::ReadFile(const std::string& path, bool in_folder) {
  ManifestFile file(path, bytes_);
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(const std::optional<Manifest> manifest, file.Next());
    if (!manifest) return {};
    if (++documents_ > kCheckDocumentsMax) {
      return Error{
          ErrorCode::kInvalidArgument,
          file.name() + ": more than " + std::to_string(kCheckDocumentsMax) + " documents"};
    }
    if (in_folder && !IsKubernetes(manifest->root)) {
      checker_.AddNote(file.name(), "is not a Kubernetes object: passed over");
      continue;
    }
    TRUCE_RETURN_IF_ERROR(checker_.Add(*manifest, file.name()));
  }
}

void CheckInput::ReadValues(const std::string& path) {
  ManifestFile file(path, bytes_);
  Result<std::optional<Manifest>> values = file.Next();
  if (!values.ok()) return faults_.push_back({file.name(), values.error().message});
  ++documents_;
  YamlNode root;
  root.kind = YamlNode::Kind::kMapping;
  if (values.value().has_value()) root = std::move(values.value()->root);
  Note(file.name(), checker_.AddValues(root, file.name()));
}

}  // namespace truce
