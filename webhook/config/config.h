// What Truce was told: every setting as a plain value. How settings are read is in load.h, which
// settings exist in keys.h.
#ifndef TRUCE_WEBHOOK_CONFIG_CONFIG_H_
#define TRUCE_WEBHOOK_CONFIG_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "webhook/log/log.h"

namespace truce {

// How a rule's finding acts; ordered from weakest to strictest.
enum class ConfigMode : std::uint8_t { kOff, kAudit, kWarn, kEnforce };

// What a conflict of a type whose scope of uniqueness is not researched does.
enum class UnsureTypes : std::uint8_t { kWarn, kDeny };

// How much of the holder a denial names: all, the service only, or only that it is taken.
enum class ConfigDisclosure : std::uint8_t { kFull, kService, kTaken };

// Whether a claim may take a composite that no claim has without the composite's own word.
enum class UnboundComposites : std::uint8_t { kRefused, kClaimable };

// "off", "audit", "warn", "enforce".
std::string_view Name(ConfigMode mode);
std::string_view Name(UnsureTypes value);
std::string_view Name(ConfigDisclosure value);
std::string_view Name(UnboundComposites value);

// One value that a mapping rule takes from an object: a path into it, or a constant.
struct MappedValue {
  bool is_constant = false;
  std::string text;  // path, as in IsFieldPath, or the constant

  bool operator==(const MappedValue&) const = default;
};

// What a mapping rule's kind declares.
struct MappedDeclaration {
  std::string type;                          // "s3/Bucket"
  std::map<std::string, MappedValue> parts;  // part of the type's key -> where it stands
  std::optional<MappedValue> account;
  std::optional<MappedValue> region;
  std::string intent = "deletes";  // observes, manages or deletes

  bool operator==(const MappedDeclaration&) const = default;
};

// One mapping rule: which fields of a custom kind, or of a chart's values, declare which resources.
struct ConfigMapping {
  std::string group;  // group and kind are empty for a rule about charts' values
  std::string kind;
  std::string name;  // of a rule about values that an object gives; empty: the configuration's
  std::optional<std::string> service;  // path of the owning service's name
  std::vector<MappedDeclaration> declares;
  std::vector<std::string> namespaces;  // where it holds; empty: everywhere
  std::string place;                    // "truce.yaml:12", for messages

  // The place is no part of what a rule says.
  bool operator==(const ConfigMapping& other) const {
    return group == other.group && kind == other.kind && name == other.name &&
           service == other.service && declares == other.declares && namespaces == other.namespaces;
  }
};

// Binds a service name to the namespaces and users that may act for it.
struct ConfigParty {
  std::string service;
  std::vector<std::string> namespaces;
  std::vector<std::string> users;  // patterns

  bool operator==(const ConfigParty&) const = default;
};

// Which account a ProviderConfig reaches.
struct ConfigProvider {
  std::string group;  // "" = any
  std::string kind;   // ProviderConfig, ClusterProviderConfig
  std::string ns;     // "" = cluster-scoped
  std::string name;
  std::string account;  // twelve digits

  bool operator==(const ConfigProvider&) const = default;
};

// A timed override (break-glass): what it names is audited, not denied, until `until`.
// Exactly one of name, object, ns and group is set.
struct ConfigOverride {
  std::string name;    // of the resource
  std::string object;  // name of the declaration's object or of its root
  std::string ns;
  std::string group;
  Timestamp until;
  std::string reason;

  bool operator==(const ConfigOverride&) const = default;
};

// What a rule's mode, or an exemption, is limited to; all that is set must hold. '*' in a pattern
// is any run of characters.
struct ConfigScope {
  std::string type;    // "s3/Bucket"
  std::string ns;      // pattern
  std::string kind;    // "Bucket", "Bucket.s3.aws.upbound.io"
  std::string object;  // pattern: name of the Kubernetes object
  std::string name;    // pattern: name of the cloud resource
  std::string service;
  std::map<std::string, std::string> selector;  // labels

  bool operator==(const ConfigScope&) const = default;
};

// One step of a rule's roll-out.
struct ConfigRuleMode {
  std::string rule;  // "naming-convention"
  ConfigMode mode = ConfigMode::kEnforce;
  ConfigScope scope;
  std::optional<Timestamp> from;
  std::optional<Timestamp> until;
  std::string place;  // "truce.yaml:12"

  // The place is no part of what it says.
  bool operator==(const ConfigRuleMode& other) const {
    return rule == other.rule && mode == other.mode && scope == other.scope && from == other.from &&
           until == other.until;
  }
};

struct ConfigExemption {
  std::string rule;  // "" = all rules about names and attachments
  ConfigScope scope;
  std::optional<Timestamp> until;
  std::string reason;
  std::string place;

  bool operator==(const ConfigExemption& other) const {
    return rule == other.rule && scope == other.scope && until == other.until &&
           reason == other.reason;
  }
};

// Where the value of a naming variable comes from: exactly one is set.
struct ConfigNamingSource {
  bool declared = false;        // the service as the object says
  std::string label;            // a label's key
  std::string ns;               // RE2 with one group, on the namespace
  std::string provider_config;  // RE2 with one group, on the ProviderConfig's name
  std::string fixed;            // the value itself

  bool operator==(const ConfigNamingSource&) const = default;
};

struct ConfigNamingVariable {
  std::vector<std::string> values;
  std::string pattern;  // RE2
  std::vector<ConfigNamingSource> from;
  std::map<std::string, std::string> spelt;  // key `map`: value of a source -> as names write it

  bool operator==(const ConfigNamingVariable&) const = default;
};

// The naming convention.
struct ConfigNaming {
  bool given = false;
  std::string form;                                 // key `template`; "" = the default
  std::map<std::string, std::string> forms;         // key `templates`: type -> template
  std::map<std::string, std::int64_t> max_lengths;  // type -> bytes
  std::vector<std::string> types;
  std::map<std::string, ConfigNamingVariable> variables;
  std::map<std::string, std::string, std::less<>> places;  // path -> "truce.yaml:12"

  bool operator==(const ConfigNaming& other) const {
    return given == other.given && form == other.form && forms == other.forms &&
           max_lengths == other.max_lengths && types == other.types && variables == other.variables;
  }
};

// Everything that can be set. A value: immutable once loaded, shared as snapshots.
struct Config {
  // Where and as what it runs; a change needs a restart.
  std::string data_dir;
  std::string store;
  std::string cluster_id;
  bool no_cluster = false;
  bool in_cluster = false;
  std::string kubeconfig;
  std::string webhook_configuration;
  std::string certificate_secret;  // "namespace/name"; empty: none
  std::string types;
  std::string admission_address;
  std::string api_address;
  std::string metrics_address;
  std::string probes_address;
  std::string admission_secret_file;
  bool accept_secret_in_errors = false;
  std::string admission_client_ca;
  std::vector<std::string> admission_client_names;
  std::string admission_bearer_file;
  std::string api_token_file;
  std::string api_client_ca;
  std::vector<std::string> api_clients;  // "name=role"
  bool api_anonymous_read = false;
  std::string tls_cert_file;
  std::string tls_key_file;
  std::vector<std::string> server_names;
  std::string public_url;
  LogFormat log_format = LogFormat::kText;
  LogLevel log_level = LogLevel::kInfo;
  std::int64_t connections_max = 0;
  std::int64_t in_flight_max = 0;
  std::int64_t in_flight_bytes_max = 0;
  std::int64_t check_bytes_max = 0;
  std::chrono::milliseconds drain_grace{};
  std::chrono::milliseconds audit_age_max{};
  std::int64_t audit_lines_max = 0;
  std::string audit_export_dir;

  // Policy; taken over while running when the file changes.
  ConfigMode mode = ConfigMode::kEnforce;
  std::map<std::string, ConfigMode> type_modes;
  UnsureTypes unsure_types = UnsureTypes::kWarn;
  std::map<std::string, UnsureTypes> unsure_type_actions;
  std::vector<ConfigOverride> overrides;
  std::vector<ConfigRuleMode> rule_modes;
  std::vector<ConfigExemption> exemptions;
  ConfigNaming naming;
  std::vector<ConfigMapping> mappings;
  std::vector<ConfigProvider> provider_configs;
  std::vector<ConfigParty> parties;
  std::map<std::string, std::vector<std::string>> account_parties;  // account -> namespaces
  std::vector<std::string> providers;
  std::vector<std::string> restorers;
  bool status_guard = false;
  std::vector<std::string> composite_controllers;
  std::int64_t composite_denial_code = 0;
  ConfigDisclosure disclosure = ConfigDisclosure::kFull;
  std::int64_t reservation_cap = 0;
  std::int64_t reservation_burst = 0;
  std::chrono::milliseconds reservation_ttl{};
  std::chrono::milliseconds settle_time{};
  UnboundComposites unbound_composites = UnboundComposites::kRefused;
  std::vector<std::string> service_labels;
  std::string contact_annotation;

  bool operator==(const Config&) const = default;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CONFIG_CONFIG_H_
