#include "webhook/cli/commands/check_input.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <istream>
#include <optional>
#include <streambuf>
#include <string_view>
#include <system_error>
#include <utility>

#include "policies/people.h"
#include "registry/base/text.h"
#include "webhook/check/locations.h"

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

// The input of a renderer, known by its folder, or (`by_folder` false) by its name.
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

Error TooMany(const std::string& name) {
  return InvalidArgument(name + ": more than " + std::to_string(kCheckDocumentsMax) + " documents");
}

// A file, for readers of streams.
class FileBuffer final : public std::streambuf {
 public:
  explicit FileBuffer(ManifestFile& file) : file_(file), bytes_(std::size_t{1} << 16U) {}

 protected:
  int_type underflow() override {
    const std::size_t got = file_.Read(bytes_.data(), bytes_.size());
    if (got == 0) return traits_type::eof();
    setg(bytes_.data(), bytes_.data(), bytes_.data() + got);
    return traits_type::to_int_type(bytes_.front());
  }

 private:
  ManifestFile& file_;
  std::vector<char> bytes_;
};

// A file of JSON that CDK writes beside a template; nothing: it is not there.
std::optional<YamlNode> BesideOf(const fs::path& path, std::string_view name) {
  std::size_t bytes = 0;
  std::error_code ignored;
  const fs::path beside = path.parent_path() / name;
  if (!fs::is_regular_file(beside, ignored)) return std::nullopt;
  ManifestFile file(beside.string(), bytes);
  Result<std::optional<Manifest>> read = file.Next();
  if (!read.ok() || !read.value()) return std::nullopt;
  return std::move(read.value()->root);
}

// Whether CDK wrote the folder: its file cdk.out says so.
bool IsAssembly(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "cdk.out", ignored);
}

// Account, region and name of the stack whose template is `path`, which manifest.json beside it
// tells: "environment": "aws://123456789012/eu-west-1". It is deployed there, whatever flags say.
void EnvironmentOf(const fs::path& path, PlanDefaults& defaults) {
  if (path == "-") return;
  const std::optional<YamlNode> manifest = BesideOf(path, "manifest.json");
  const YamlNode* const artifacts = manifest ? FindNode(*manifest, {"artifacts"}) : nullptr;
  if (artifacts == nullptr) return;
  for (std::size_t i = 0; i < artifacts->children.size(); ++i) {
    const YamlNode& artifact = artifacts->children[i];
    const YamlNode* const at = FindNode(artifact, {"environment"});
    const YamlNode* const file_name = FindNode(artifact, {"properties", "templateFile"});
    if (at == nullptr || file_name == nullptr || file_name->scalar != path.filename()) continue;
    const YamlNode* const stack = FindNode(artifact, {"properties", "stackName"});
    const std::string& key = i < artifacts->keys.size() ? artifacts->keys[i].text : std::string();
    defaults.parameters.try_emplace("AWS::StackName", stack != nullptr ? stack->scalar : key);
    std::string_view place = at->scalar;
    constexpr std::string_view kScheme = "aws://";
    if (!place.starts_with(kScheme)) continue;
    place.remove_prefix(kScheme.size());
    const std::string_view account = TakeUntil(place, '/');
    if (AllDigits(account)) defaults.account = account;
    if (place != "unknown-region") defaults.region = place;
  }
}

// The file of the asset that the URL ends with, which the assets of the template `path` name;
// empty: none.
std::string AssetOf(const fs::path& path, std::string_view url) {
  const std::string name = fs::path(url).stem().string();
  std::string stack = path.filename().string();
  stack = stack.substr(0, stack.find(".template."));
  const std::optional<YamlNode> assets = BesideOf(path, stack + ".assets.json");
  const YamlNode* const files = assets ? FindNode(*assets, {"files"}) : nullptr;
  const YamlNode* const file = files == nullptr || name.empty() ? nullptr : files->Find(name);
  const YamlNode* const source = file == nullptr ? nullptr : FindNode(*file, {"source", "path"});
  return source == nullptr ? std::string() : source->scalar;
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

CheckInput::CheckInput(Checker& checker, Reading reading, const Catalogue& catalogue)
    : checker_(checker), reading_(std::move(reading)), catalogue_(catalogue) {
  for (const std::string& path : reading_.skipped) skipped_.push_back(Plain(path));
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
    // The code of a function is an asset.
    const bool is_asset = each->path().filename().string().starts_with("asset.") &&
                          IsAssembly(each->path().parent_path());
    if (hidden || is_asset || IsSkipped(each->path()) || IsSource(each->path())) {
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

Result<void> CheckInput::ReadPlan(ManifestFile& file) {
  if (++documents_ > kCheckDocumentsMax) return TooMany(file.name());
  FileBuffer buffer(file);
  std::istream in(&buffer);
  Result<Planned> planned = ReadTerraformPlan(in, reading_.defaults, catalogue_);
  TRUCE_RETURN_IF_ERROR(file.Verdict());
  if (!planned.ok()) return InvalidArgument(file.name() + ": " + planned.error().message);
  return checker_.AddPlanned(planned.value(), file.name());
}

Result<void> CheckInput::ReadCloudFormation(const YamlNode& root, const std::string& path,
                                            const std::string& name) {
  const fs::path folder = path == "-" ? fs::path() : fs::path(path).parent_path();
  const auto nested = [&](const std::string& named) -> Result<YamlNode> {
    const bool is_url = named.find("://") != std::string::npos;
    const std::string file = is_url ? AssetOf(path, named) : named;
    if (file.empty()) return Error{ErrorCode::kNotFound, named};
    ManifestFile inner((folder / file).lexically_normal().string(), bytes_);
    TRUCE_ASSIGN_OR_RETURN(std::optional<Manifest> document, inner.Next());
    return document ? std::move(document->root) : YamlNode();
  };
  PlanDefaults defaults = reading_.defaults;
  EnvironmentOf(path, defaults);
  const Result<Planned> planned = ReadTemplate(root, defaults, catalogue_, nested);
  if (!planned.ok()) return InvalidArgument(name + ":" + planned.error().message);
  return checker_.AddPlanned(planned.value(), name);
}

Result<void> CheckInput::ReadFile(const std::string& path, bool in_folder) {
  ManifestFile file(path, bytes_);
  const std::string_view begin = file.Begin();
  if (begin.starts_with("\xFF\xFE") || begin.starts_with("\xFE\xFF")) {
    return InvalidArgument(file.name() +
                           ": is UTF-16, as PowerShell's > writes it; write UTF-8: "
                           "`… | Out-File -Encoding utf8 FILE`");
  }
  if (BeginsTerraform(begin) || reading_.is_plan) return ReadPlan(file);
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(const std::optional<Manifest> manifest, file.Next());
    if (!manifest) return {};
    if (++documents_ > kCheckDocumentsMax) return TooMany(file.name());
    if (IsTemplate(manifest->root)) {
      // The template that nests it is read with what it is given.
      if (in_folder && path.find(".nested.template.") != std::string::npos) continue;
      TRUCE_RETURN_IF_ERROR(ReadCloudFormation(manifest->root, path, file.name()));
      continue;
    }
    if (IsKustomization(manifest->root)) {
      return InvalidArgument(file.name() + ":" + std::to_string(manifest->root.location.line) +
                             ": " + Unrendered("a kustomization", kKustomize, "FOLDER"));
    }
    if (in_folder && !IsKubernetes(manifest->root)) {
      if (IsAssembly(fs::path(path).parent_path())) continue;
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
