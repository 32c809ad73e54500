#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <vector>

#include "policies/explain_policy.h"
#include "registry/base/clock.h"
#include "registry/base/text.h"
#include "registry/catalogue/explain.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/commands/manifest_file.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/config/policy.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

// Types that `word` may mean: "s3/bucket", "Bucket", "Bucket.s3.aws.upbound.io".
std::vector<const TypeSpec*> Candidates(const Catalogue& catalogue, std::string_view word) {
  if (const TypeSpec* exact = catalogue.FindType(word); exact != nullptr) return {exact};
  const std::size_t dot = word.find('.');
  if (dot != std::string_view::npos) {
    const KindEntry* entry = catalogue.FindKind(word.substr(dot + 1), word.substr(0, dot));
    if (entry != nullptr) return {entry->type};
  }
  std::vector<const TypeSpec*> found;
  for (const TypeSpec& spec : catalogue.types()) {
    const std::string_view name = spec.name;
    const std::string_view kind = name.substr(name.find('/') + 1);
    if (EqualsIgnoringCase(name, word) || EqualsIgnoringCase(kind, word)) found.push_back(&spec);
  }
  return found;
}

ExitCode NotFound(const Catalogue& catalogue, const std::string& word, CommandIo& io) {
  return Complain(io, NoType(word, catalogue), ExitCode::kNo);
}

ExitCode Ambiguous(const std::vector<const TypeSpec*>& found, const std::string& word,
                   CommandIo& io) {
  std::string message = "'" + word + "' is the name of several types:";
  for (const TypeSpec* spec : found) message.append(" ").append(spec->name);
  return Complain(io, message, ExitCode::kNo);
}

// The arguments of the command line.
struct ExplainArguments {
  std::string word;
  bool policy = false;
  bool offline = false;
  std::string file;
};

// The answer of the running server, which knows NamingPolicies, overrides and owners.
ExitCode AskServer(const YamlNode& object, const ApiFlags& flags, CommandIo& io) {
  ApiQuestion question{"/api/v1/explain"};
  AppendObject(object, question.body);
  TRUCE_ASSIGN_OR_RETURN(const Json answer, AskForObject(flags, question, io));
  io.out << Lines(TextIn(answer, "text"));
  return ExitCode::kOk;
}

// By the configuration alone.
ExitCode ExplainHere(const YamlNode& object, const ExplainArguments& arguments,
                     const Settings& settings, CommandIo& io) {
  const auto policy = PolicyFrom(settings.config, settings.catalogue);
  if (!policy.ok()) return Complain(io, policy.error().message, ExitCode::kUsage);
  const Document document = ReadDocument(object);
  const Result<std::string> text =
      ExplainPolicy(document.root(), *policy.value(), SystemClock().Now(), nullptr);
  if (!text.ok()) {
    return Complain(io, arguments.file + ": " + text.error().message, ExitCode::kUsage);
  }
  io.out << Lines(text.value());
  return ExitCode::kOk;
}

// Whether there is a configuration to explain by: defaults are nobody's.
bool IsConfigured(const ConfigFlags& flags, const CommandIo& io) {
  const bool has_flags = std::any_of(flags.values.begin(), flags.values.end(),
                                     [](const auto& each) { return each.first != "dataDir"; });
  return has_flags || !flags.file.empty() || io.variables.contains("TRUCE_CONFIG");
}

ExitCode ExplainObject(const ExplainArguments& arguments, const ApiFlags& flags,
                       const Settings& settings, CommandIo& io) {
  std::size_t bytes = 0;
  const Result<std::optional<Manifest>> first = ManifestFile(arguments.file, bytes).Next();
  if (!first.ok()) return Complain(io, first.error().message, ExitCode::kUsage);
  const YamlNode object = first.value() ? first.value()->root : YamlNode();
  std::error_code unknown;
  const std::string& data_dir = settings.config.data_dir;
  const bool serves =
      !arguments.offline && std::filesystem::exists(data_dir + "/truce.sock", unknown);
  if (serves) return AskServer(object, flags, io);
  if (!IsConfigured(*flags.config, io)) {
    return Complain(io,
                    "no server runs on " + data_dir +
                        ", and the API does not tell which rules apply: ask on the server's own "
                        "machine with --data-dir, or name its configuration with --config",
                    ExitCode::kUnreachable);
  }
  if (!arguments.offline) {
    io.err << "no server runs on " << data_dir
           << ": by the configuration alone, without NamingPolicy objects and overrides\n";
  }
  return ExplainHere(object, arguments, settings, io);
}

}  // namespace

CommandAction DeclareExplain(CommandLine& app) {
  const auto flags = AddOperatorFlags(
      app, {"dataDir", "types", "clusterId", "noCluster", "mode", "unsureTypes", "serviceLabels"});
  const auto given = std::make_shared<ExplainArguments>();
  Argument file =
      app.AddOption("-f,--file", given->file, "A Kubernetes object, YAML or JSON; with --policy");
  app.AddFlag("--policy", given->policy,
              "Tell which rule applies to an object, in which mode, and why: as the server on this "
              "machine says, or by --config")
      .Needs("--file");
  file.Needs("--policy");
  app.AddOption("TYPE", given->word, "SERVICE/KIND, as s3/Bucket; KIND or KIND.GROUP do too")
      .Excludes("--policy");
  app.AddFlag("--offline", given->offline,
              "With --policy: by --config alone, also while a server runs on --data-dir")
      .Needs("--policy");
  app.Footer(
      "Examples:\n"
      "  truce explain s3/Bucket\n"
      "  truce explain --policy -f bucket.yaml --config truce.yaml\n");
  return [flags, given](CommandIo& io) {
    const std::string* word = &given->word;
    if (word->empty() && !given->policy) {
      return Complain(io, "explain needs a TYPE, or --policy -f FILE", ExitCode::kUsage);
    }
    const Result<Settings> loaded = LoadWithCatalogue(*flags->config, io);
    if (!loaded.ok()) return Complain(io, loaded.error().message, ExitCode::kUsage);
    if (given->policy) return ExplainObject(*given, *flags, loaded.value(), io);
    const Catalogue& catalogue = *loaded.value().catalogue;
    const std::vector<const TypeSpec*> found = Candidates(catalogue, *word);
    if (found.empty()) return NotFound(catalogue, *word, io);
    if (found.size() > 1) return Ambiguous(found, *word, io);
    io.out << Lines(Explain(*found.front()));
    return ExitCode::kOk;
  };
}

}  // namespace truce
