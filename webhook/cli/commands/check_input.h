// The input of `truce check`: files, folders, standard input; manifests, plans and templates.
#ifndef TRUCE_WEBHOOK_CLI_COMMANDS_CHECK_INPUT_H_
#define TRUCE_WEBHOOK_CLI_COMMANDS_CHECK_INPUT_H_

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "registry/base/result.h"
#include "webhook/check/checker.h"
#include "webhook/cli/commands/manifest_file.h"
#include "webhook/imports/planned.h"

namespace truce {

inline constexpr std::size_t kCheckDocumentsMax = 200'000;  // of one check

// Reads and hands on, never holding more than one document. External synchronization.
class CheckInput final {
 public:
  // Settings of reading.
  struct Reading {
    std::vector<std::string> skipped;  // files and folders, wherever they are named or met
    PlanDefaults defaults;             // of plans and templates
    bool is_plan = false;              // all files are plans
  };
  // `catalogue` must outlive it.
  CheckInput(Checker& checker, Reading reading, const Catalogue& catalogue);

  // Adds every document of `path`: a file; a folder with all .yaml, .yml and .json below it, in
  // order of their names, without hidden ones; "-" for standard input. In a folder, a document that
  // is no Kubernetes object is passed over with a note. Sources of renderers (a chart, a
  // kustomization, Jsonnet, CUE, a helmfile) are faults that name the command which renders them:
  // their declarations are not in their text. A plan of Terraform and a template of CloudFormation
  // are known by their content, wherever they are.
  void Read(const std::string& path);
  // Adds a chart's values.
  void ReadValues(const std::string& path);

  // Parts that could not be read, one line each: "file:line: fault".
  struct Fault {
    std::string file;
    std::string message;
  };
  const std::vector<Fault>& faults() const { return faults_; }
  // Documents that were read.
  std::size_t documents() const { return documents_; }
  // Whether something was left out on purpose.
  bool has_skipped() const { return has_skipped_; }

 private:
  bool IsSkipped(const std::filesystem::path& path);
  bool IsSource(const std::filesystem::path& path);
  void ReadFolder(const std::string& path);
  Result<void> ReadFile(const std::string& path, bool in_folder);
  Result<void> ReadPlan(ManifestFile& file);
  Result<void> ReadCloudFormation(const YamlNode& root, const std::string& path,
                                  const std::string& name);
  void Note(const std::string& file, const Result<void>& result);

  Checker& checker_;
  const Reading reading_;
  const Catalogue& catalogue_;
  std::vector<std::filesystem::path> skipped_;
  bool has_skipped_ = false;
  std::vector<Fault> faults_;
  std::size_t bytes_ = 0;
  std::size_t documents_ = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_COMMANDS_CHECK_INPUT_H_
