#include "webhook/cli/config_flags.h"

#include <algorithm>
#include <ostream>

#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "webhook/cli/command_line.h"
#include "webhook/config/keys.h"

namespace truce {
namespace {

bool IsSwitch(const Key& key) {
  return std::holds_alternative<bool Config::*>(std::get<ScalarField>(key.field));
}

constexpr const char* kSettings = "Flags";

// "NAMES" of "list of names", "HOST:PORT" of "host:port": a value, which stands behind its flag.
std::string PlaceholderOf(std::string_view type) {
  constexpr std::string_view kList = "list of ";
  if (type.starts_with(kList)) type.remove_prefix(kList.size());
  std::string out(type);
  if (out.find('|') != std::string::npos) return out;
  for (char& c : out) {
    c = c == ' ' ? '-' : Upper(c);
  }
  return out;
}

void AddFlag(CommandLine& app, const Key& key, const std::shared_ptr<ConfigFlags>& flags,
             const char* group = kSettings) {
  const std::string name(key.name);
  if (IsSwitch(key)) {
    app.AddFlag(
           FlagOf(key.name),
           [flags, name](bool given) { flags->values[name] = given ? "true" : "false"; },
           std::string(key.help))
        .Group(group);
    return;
  }
  const bool is_list =
      std::holds_alternative<std::vector<std::string> Config::*>(std::get<ScalarField>(key.field));
  std::string help(key.help);
  if (is_list) help += "; separated by commas";
  if (!key.fallback.empty()) help.append("; default ").append(key.fallback);
  app.AddOption(
         FlagOf(key.name), [flags, name](const std::string& text) { flags->values[name] = text; },
         help)
      .Type(PlaceholderOf(key.type))
      .Group(group);
}

std::shared_ptr<ConfigFlags> AddFile(CommandLine& app, const char* group = kSettings) {
  auto flags = std::make_shared<ConfigFlags>();
  app.AddOption("--config", flags->file, "Configuration file, YAML; also TRUCE_CONFIG")
      .Type("FILE")
      .Group(group);
  return flags;
}

}  // namespace

std::shared_ptr<ConfigFlags> AddConfigFlags(CommandLine& app) {
  auto flags = AddFile(app);
  for (const Key& key : Keys()) {
    if (!key.IsStructured()) AddFlag(app, key, flags);
  }
  return flags;
}

std::shared_ptr<ConfigFlags> AddConfigFlags(CommandLine& app,
                                            std::initializer_list<std::string_view> only) {
  auto flags = AddFile(app);
  for (const std::string_view name : only) AddFlag(app, *FindKey(name), flags);
  return flags;
}

std::shared_ptr<ConfigFlags> AddConnectionConfigFlags(
    CommandLine& app, std::initializer_list<std::string_view> only) {
  auto flags = AddFile(app, kConnectionFlags);
  for (const std::string_view name : only) {
    AddFlag(app, *FindKey(name), flags, name == "dataDir" ? kConnectionFlags : kSettings);
  }
  return flags;
}

ConfigSources SourcesOf(const ConfigFlags& flags, const CommandIo& io) {
  ConfigSources sources;
  sources.file = flags.file;
  if (sources.file.empty()) {
    const auto variable = io.variables.find("TRUCE_CONFIG");
    if (variable != io.variables.end()) sources.file = variable->second;
  }
  sources.flags = flags.values;
  sources.variables = io.variables;
  return sources;
}

Result<LoadedConfig> LoadFor(const ConfigFlags& flags, CommandIo& io) {
  TRUCE_ASSIGN_OR_RETURN(LoadedConfig loaded, LoadConfig(SourcesOf(flags, io)));
  for (const std::string& warning : loaded.warnings) {
    Warn(io, warning);
  }
  return loaded;
}

Result<Catalogue> CatalogueWith(const std::string& types) {
  if (types.empty()) return Catalogue::BuiltIn();
  Result<std::string> text = ReadConfigFile(types);
  if (!text.ok()) return std::move(text).error().Within("types");
  return Catalogue::BuiltIn().WithOverrides(text.value(), types);
}

Result<Settings> LoadWithCatalogue(const ConfigFlags& flags, CommandIo& io) {
  TRUCE_ASSIGN_OR_RETURN(LoadedConfig loaded, LoadFor(flags, io));
  TRUCE_ASSIGN_OR_RETURN(Catalogue catalogue, CatalogueWith(loaded.config.types));
  return Settings{std::move(loaded.config),
                  std::make_shared<const Catalogue>(std::move(catalogue))};
}

}  // namespace truce
