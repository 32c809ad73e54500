#include "webhook/cli/commands/check_input.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "policies/people.h"
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

// Absolute, without "." and "..", and without a slash at its end.
fs::path Plain(const fs::path& path) {
  std::error_code ignored;
  const fs::path plain = fs::absolute(path, ignored).lexically_normal();
  return plain.has_filename() ? plain : plain.parent_path();
}

// A word of a command that is shown.
std::string Word(const fs::path& path, const char* otherwise) {
  const std::string text = path.string();
  return IsPlainWord(text) ? text : otherwise;
}

// What a renderer reads, and how it is called by its folder, or (`by_folder` false) by its name.
struct Source {
  std::string_view name;  // of the file, or how it ends
  std::string_view what;
  std::string_view command;
  bool by_folder = false;
};
constexpr std::string_view kKustomize = "kubectl kustomize ";
constexpr std::array<Source, 8> kSources = {{
    {"Chart.yaml", "a chart", "helm template ", true},
    {"kustomization.yaml", "a kustomization", kKustomize, true},
    {"kustomization.yml", "a kustomization", kKustomize, true},
    {"Kustomization", "a kustomization", kKustomize, true},
    {"helmfile.yaml", "a helmfile", "helmfile template --file "},
    {".jsonnet", "Jsonnet", "jsonnet "},
    {".libsonnet", "Jsonnet", "jsonnet "},
    {".cue", "CUE", "cue export --out yaml "},
}};
constexpr std::string_view kKustomizationGroup = "kustomize.config.k8s.io/";

std::string Unrendered(std::string_view what, std::string_view command, const std::string& word) {
  std::string out = "is " + std::string(what) + ", which declares nothing before it is rendered: `";
  return out.append(command).append(word).append(" | truce check`");
}

bool IsKustomization(const YamlNode& node) {
  const YamlNode* version =
      node.kind == YamlNode::Kind::kMapping ? node.Find("apiVersion") : nullptr;
  return version != nullptr && version->scalar.starts_with(kKustomizationGroup);
}

// The folder of the chart whose template `path` is, or lies in; empty: it is none.
fs::path ChartOf(fs::path path) {
  std::error_code ignored;
  for (; path.has_relative_path(); path = path.parent_path()) {
    if (path.filename() == "templates" && fs::exists(path.parent_path() / "Chart.yaml", ignored)) {
      return path.parent_path();
    }
  }
  return {};
}

}  // namespace

CheckInput::CheckInput(Checker& checker, const std::vector<std::string>& skipped)
    : checker_(checker) {
  for (const std::string& path : skipped) skipped_.push_back(Plain(path));
}

bool CheckInput::IsSkipped(const fs::path& path) {
  const fs::path plain = Plain(path);
  const bool is_skipped = std::any_of(skipped_.begin(), skipped_.end(), [&](const fs::path& each) {
    return std::mismatch(each.begin(), each.end(), plain.begin(), plain.end()).first == each.end();
  });
  has_skipped_ = has_skipped_ || is_skipped;
  return is_skipped;
}

// Notes a fault where `path` is written for a renderer, and says so.
bool CheckInput::IsSource(const fs::path& path) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  for (const Source& source : kSources) {
    const fs::path file = is_folder ? path / source.name : path;
    const std::string name = file.filename().string();
    const bool is_meant = source.name.front() == '.' ? !is_folder && name.ends_with(source.name)
                                                     : name == source.name;
    if (!is_meant || !fs::is_regular_file(file, ignored) || IsSkipped(file)) continue;
    fs::path rendered = source.by_folder ? file.parent_path() : file;
    if (rendered.empty()) rendered = ".";
    const std::string word = Word(rendered, source.by_folder ? "FOLDER" : "FILE");
    faults_.push_back({file.string(), file.string() + ": " +
                                          Unrendered(source.what, source.command, word) +
                                          "; --skip " + word + " leaves it out"});
    return true;
  }
  return false;
}

void CheckInput::Note(const std::string& file, const Result<void>& result) {
  if (!result.ok()) faults_.push_back({file, result.error().message});
}

void CheckInput::Read(const std::string& path) {
  if (path == "-") return Note("stdin", ReadFile(path, false));
  if (IsSkipped(path) || IsSource(path)) return;
  if (const fs::path chart = ChartOf(path); !chart.empty() && IsSource(chart)) return;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return ReadFolder(path);
  Note(path, ReadFile(path, false));
}

void CheckInput::ReadFolder(const std::string& path) {
  std::vector<std::string> files;
  const auto known = static_cast<std::ptrdiff_t>(faults_.size());
  std::error_code failure;
  fs::recursive_directory_iterator each(path, failure);
  for (; !failure && each != fs::end(each); each.increment(failure)) {
    const bool hidden = each->path().filename().string().starts_with('.');
    std::error_code ignored;
    if (hidden || IsSkipped(each->path()) || IsSource(each->path())) {
      if (each->is_directory(ignored)) each.disable_recursion_pending();
    } else if (IsManifest(each->path()) && each->is_regular_file(ignored)) {
      files.push_back(each->path().string());
    }
  }
  if (failure) {
    faults_.push_back({path, path + ": cannot be read: " + failure.message()});
    return;
  }
  std::sort(files.begin(), files.end());
  // A folder has its entries in no order.
  std::sort(faults_.begin() + known, faults_.end(),
            [](const Fault& a, const Fault& b) { return a.file < b.file; });
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
    if (IsKustomization(manifest->root)) {
      return InvalidArgument(file.name() + ":" + std::to_string(manifest->root.location.line) +
                             ": " + Unrendered("a kustomization", kKustomize, "FOLDER"));
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
