#include "webhook/cli/config_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "webhook/config/keys.h"

namespace truce {
namespace {

bool IsSwitch(const Key& key) {
  return std::holds_alternative<bool Config::*>(std::get<ScalarField>(key.field));
}

void AddFlag(CLI::App& app, const Key& key, const std::shared_ptr<ConfigFlags>& flags) {
  const std::string name(key.name);
  if (IsSwitch(key)) {
    app.add_flag_function(
        FlagOf(key.name),
        [flags, name](std::int64_t count) { flags->values[name] = count > 0 ? "true" : "false"; },
        std::string(key.help));
    return;
  }
  const bool is_list =
      std::holds_alternative<std::vector<std::string> Config::*>(std::get<ScalarField>(key.field));
  std::string help(key.help);
  if (is_list) help += "; separated by commas";
  if (!key.fallback.empty()) help.append("; default ").append(key.fallback);
  app.add_option_function<std::string>(
         FlagOf(key.name), [flags, name](const std::string& text) { flags->values[name] = text; },
         help)
      ->type_name(std::string(key.type));
}

std::shared_ptr<ConfigFlags> AddFile(CLI::App& app) {
  auto flags = std::make_shared<ConfigFlags>();
  app.add_option("--config", flags->file, "Configuration file, YAML; also TRUCE_CONFIG")
      ->type_name("file");
  return flags;
}

}  // namespace

std::shared_ptr<ConfigFlags> AddConfigFlags(CLI::App& app) {
  auto flags = AddFile(app);
  for (const Key& key : Keys()) {
    if (!key.IsStructured()) AddFlag(app, key, flags);
  }
  return flags;
}

std::shared_ptr<ConfigFlags> AddConfigFlags(CLI::App& app,
                                            std::initializer_list<std::string_view> only) {
  auto flags = AddFile(app);
  for (const std::string_view name : only) AddFlag(app, *FindKey(name), flags);
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
    io.err << "truce: warning: " << warning << "\n";
  }
  return loaded;
}

}  // namespace truce
