// The settings' flags on a command line.
#ifndef TRUCE_WEBHOOK_CLI_CONFIG_FLAGS_H_
#define TRUCE_WEBHOOK_CLI_CONFIG_FLAGS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"
#include "webhook/cli/command.h"
#include "webhook/config/load.h"

namespace truce {

class CommandLine;

// Settings on the command line; lives as long as the parser.
struct ConfigFlags {
  std::string file;                           // --config
  std::map<std::string, std::string> values;  // key name -> text; only those that were given
};

// The heading of the help for flags that choose the server.
inline constexpr const char* kConnectionFlags = "Connection";

// Adds --config and the flag of every setting, or of `only` those, to `app`. The file and the data
// directory have the heading `place`.
std::shared_ptr<ConfigFlags> AddConfigFlags(CommandLine& app,
                                            std::initializer_list<std::string_view> only = {},
                                            const char* place = "Options");

// The sources that the flags and variables name: the file is --config, else TRUCE_CONFIG.
ConfigSources SourcesOf(const ConfigFlags& flags, const CommandIo& io);

// Loads them; prints warnings.
// Errors: those of LoadConfig.
Result<LoadedConfig> LoadFor(const ConfigFlags& flags, CommandIo& io);

// The catalogue: built in, with the rows of the file `types` when one is named.
// Errors: kNotFound, kUnavailable, kInvalidArgument ("FILE:LINE: …").
Result<Catalogue> CatalogueWith(const std::string& types);

// The settings, with the catalogue that they name. Errors: as LoadFor and CatalogueWith.
struct Settings {
  Config config;
  std::shared_ptr<const Catalogue> catalogue;
};
Result<Settings> LoadWithCatalogue(const ConfigFlags& flags, CommandIo& io);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_CONFIG_FLAGS_H_
