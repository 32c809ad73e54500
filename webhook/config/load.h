// Reading the configuration: flag before variable before file before default.
#ifndef TRUCE_WEBHOOK_CONFIG_LOAD_H_
#define TRUCE_WEBHOOK_CONFIG_LOAD_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"
#include "webhook/config/config.h"
#include "webhook/wire/yaml.h"

namespace truce {

// Where values come from. The program fills it from its arguments and environment, a test by hand.
struct ConfigSources {
  std::string file;                          // path; "" = none
  std::map<std::string, std::string> flags;  // key name -> text
  // Variables that begin with TRUCE_.
  std::map<std::string, std::string> variables;
};

// Where one value came from, and its text.
struct Origin {
  enum class Source { kDefault, kFile, kVariable, kFlag };

  Source source = Source::kDefault;
  std::string location;  // "truce.yaml:3", "TRUCE_MODE", "--mode"
  YamlNode value;
};

struct LoadedConfig {
  Config config;
  std::map<std::string, Origin, std::less<>> origins;  // one per key of Keys()
  std::vector<std::string> warnings;  // what was not an error, but looks like a slip
  std::string file_content;           // as read; for telling a change
};

// Reads and checks all sources. Reads the file once.
// Errors: kInvalidArgument, one line "location: key: what is wrong; how to mend it", where location
//   is file:line, the variable or the flag; kNotFound (file does not exist); kUnavailable
//   (unreadable).
Result<LoadedConfig> LoadConfig(const ConfigSources& sources);

// As LoadConfig, with `content` as that of the file.
Result<LoadedConfig> LoadConfigFrom(const ConfigSources& sources, std::string_view content);

// The effective configuration as YAML, every key with its origin as a comment; reading it back
// gives the same configuration.
std::string PrintConfig(const LoadedConfig& loaded);

// Every key with flag, variable, type, default and help, for people.
std::string PrintKeys();

// The settings named TRUCE_… among `environment` (null-terminated "NAME=value" strings).
std::map<std::string, std::string> TruceVariables(const char* const* environment);

// Content of a file of at most kYamlBytesMax bytes.
// Errors: kNotFound, kUnavailable (not readable, a directory), kInvalidArgument (too large).
Result<std::string> ReadConfigFile(const std::string& path);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CONFIG_LOAD_H_
