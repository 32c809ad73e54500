#include "webhook/cli/config_flags.h"

#include <algorithm>
#include <ostream>

#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "webhook/cli/command_line.h"
#include "webhook/config/keys.h"

namespace truce {

std::shared_ptr<ConfigFlags> AddConfigFlags(CommandLine& app,
                                            std::initializer_list<std::string_view> only,
                                            const char* place) {
  auto flags = std::make_shared<ConfigFlags>();
  app.AddOption("--config", flags->file, "Configuration file, YAML; also TRUCE_CONFIG")
      .Type("FILE")
      .Group(place);
  for (const Key& key : Keys()) {
    const bool is_meant =
        only.size() == 0 || std::find(only.begin(), only.end(), key.name) != only.end();
    if (key.IsStructured() || !is_meant) continue;
    const std::string name(key.name);
    std::string help(key.help);
    if (key.type.starts_with("list of ")) help += "; separated by commas";
    if (key.type == "true|false") {
      app.AddFlag(
          FlagOf(key.name),
          [flags, name](bool given) { flags->values[name] = given ? "true" : "false"; }, help);
      continue;
    }
    if (!key.fallback.empty()) help.append("; default ").append(key.fallback);
    Argument option = app.AddOption(
        FlagOf(key.name), [flags, name](const std::string& text) { flags->values[name] = text; },
        help);
    if (key.type.find('|') != std::string_view::npos) option.Type(std::string(key.type));
    if (key.name == "dataDir") option.Group(place);
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
