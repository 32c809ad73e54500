// The one table of settings. Flags, TRUCE_… variables, the file's keys, `truce config`, its list of
// keys and JSON Schema all follow from it; a new setting is one field and one row.
#ifndef TRUCE_WEBHOOK_CONFIG_KEYS_H_
#define TRUCE_WEBHOOK_CONFIG_KEYS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "webhook/config/config.h"
#include "webhook/wire/yaml.h"

namespace truce {

// The form of a value, beyond its type.
enum class Check : std::uint8_t {
  kNone,
  kAddress,     // HOST:PORT, [IPV6]:PORT
  kClusterId,   // [a-z0-9-]{1,32}
  kStore,       // sqlite, or the URL of a PostgreSQL database without a password
  kHttpUrl,     // http(s)://…, no trailing slash
  kServerName,  // DNS name or IP address
  kPattern,     // one or more characters, '*' for any
  kLabelKey,    // Kubernetes label key
  kObjectName,  // namespace/name of a Kubernetes object
};

// A setting given as text (one line): flags and variables can set it too.
using ScalarField =
    std::variant<std::string Config::*, bool Config::*, std::int64_t Config::*,
                 std::chrono::milliseconds Config::*, std::vector<std::string> Config::*,
                 Mode Config::*, UnsureAction Config::*, Disclosure Config::*,
                 UnboundComposites Config::*, StoreDurability Config::*, PolicyReports Config::*,
                 NotifyForm Config::*, LogFormat Config::*, LogLevel Config::*>;

// A setting that only the file can give: reads `node` into the configuration.
// `where` is the file's name, for messages "file:line: key: …".
using StructuredField = Result<void> (*)(const YamlNode& node, std::string_view where,
                                         Config& config);

struct Key {
  std::string_view name;  // lowerCamelCase
  std::variant<ScalarField, StructuredField> field;
  std::string_view fallback;  // the default, as written on a command line; lists with commas
  std::string_view type;      // as shown to people: "address", "warn|deny", "duration"
  std::string_view help;      // one line; range and unit included
  Check check = Check::kNone;
  std::int64_t minimum = 0;  // integers; durations in milliseconds
  std::int64_t maximum = 0;
  bool reloads = false;  // a changed file takes effect without restart
  // Instead of `fallback` when a cluster is served; empty = the same.
  std::string_view cluster_fallback = {};

  bool IsStructured() const { return field.index() == 1; }
};

// All settings, in the order in which they are shown. Immutable.
std::span<const Key> Keys();

// The row of `name`, or null.
const Key* FindKey(std::string_view name);

// "admissionAddress" -> "--admission-address".
std::string FlagOf(std::string_view key_name);

// "admissionAddress" -> "TRUCE_ADMISSION_ADDRESS".
std::string VariableOf(std::string_view key_name);

// Reads `text` into the field of `key`. A message has the form "what is wrong; how to mend it".
// Errors: kInvalidArgument.
Result<void> SetScalar(const Key& key, std::string_view text, Config& config);

// True for "s3/Bucket": service, one '/', kind.
bool IsTypeName(std::string_view text);

// The path into an object, or into a chart's values, that `text` is; nothing when it is none. As
// FieldPath::Parse reads it, but that names outside of "['…']" hold letters, digits, '-' and '_'
// only: spec.buckets[*].name, labels['example.org/service'].
std::optional<FieldPath> FieldPathOf(std::string_view text, FieldPath::Root root);

// Readers of the structured settings.
Result<void> ReadTypeModes(const YamlNode& node, std::string_view where, Config& config);
Result<void> ReadUnsureTypeActions(const YamlNode& node, std::string_view where, Config& config);
Result<void> ReadOverrides(const YamlNode& node, std::string_view where, Config& config);
Result<void> ReadRules(const YamlNode& node, std::string_view where, Config& config);
Result<void> ReadExemptions(const YamlNode& node, std::string_view where, Config& config);
Result<void> ReadNaming(const YamlNode& node, std::string_view where, Config& config);
Result<void> ReadMappings(const YamlNode& node, std::string_view where, Config& config);
// One item of `mappings`, standing alone; about values, it is known by `name`.
Result<void> ReadMappingObject(const YamlNode& node, std::string_view where,
                               const std::string& name, Config& config);
Result<void> ReadProviderConfigs(const YamlNode& node, std::string_view where, Config& config);
Result<void> ReadParties(const YamlNode& node, std::string_view where, Config& config);
Result<void> ReadAccountParties(const YamlNode& node, std::string_view where, Config& config);
Result<void> ReadQuotas(const YamlNode& node, std::string_view where, Config& config);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CONFIG_KEYS_H_
