// The configuration of Truce: every setting as a plain value, in the policies' own types where they
// have one. How settings are read is in load.h, which settings exist in keys.h.
#ifndef TRUCE_WEBHOOK_CONFIG_CONFIG_H_
#define TRUCE_WEBHOOK_CONFIG_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "policies/mode.h"
#include "policies/names/naming.h"
#include "policies/quotas.h"
#include "policies/rules.h"
#include "registry/identity/identity.h"
#include "webhook/log/log.h"

namespace truce {

// Whether a claim may take a composite that no claim has without the composite's own word.
enum class UnboundComposites : std::uint8_t { kRefused, kClaimable };
std::string_view Name(UnboundComposites value);

// Where a PostgreSQL database keeps its acknowledged writes, as far as is known.
enum class StoreDurability : std::uint8_t {
  kReplicated,  // on a synchronous standby too; without one Truce warns
  kRequired,    // the same; without one the server does not start
  kStorage,     // the storage below replicates (RDS Multi-AZ, Aurora, Cloud SQL)
  kSingle,      // one server, knowingly
};
std::string_view Name(StoreDurability value);

// Where findings are also written as objects that other tools read; kAuto: whichever of the two API
// groups the cluster has.
enum class PolicyReports : std::uint8_t { kOff, kAuto, kWgPolicy, kOpenReports };
std::string_view Name(PolicyReports value);  // "off", "auto", "wgpolicyk8s.io", "openreports.io"

// As whom a webhook reads the messages of findings and denials.
enum class NotifyForm : std::uint8_t { kSlack, kTeams, kJson };
std::string_view Name(NotifyForm value);  // "slack", "teams", "json"

// One mapping rule, and whence it is.
struct ConfigMapping {
  std::string name;  // of a rule about values that an object gives; empty: the configuration's
  MappingRule rule;
  std::string location;  // "truce.yaml:12", for messages

  // The location is no part of what it says.
  bool operator==(const ConfigMapping& other) const {
    return name == other.name && rule == other.rule;
  }
};

// The naming convention.
struct ConfigNaming {
  bool given = false;
  NamingSpec spec;
  std::map<std::string, std::string, std::less<>> locations;  // path -> "truce.yaml:12"

  bool operator==(const ConfigNaming& other) const {
    return given == other.given && spec == other.spec;
  }
};

// Everything that can be set. A value: immutable once loaded, shared as snapshots.
struct Config {
  // Where and as what it runs; a change needs a restart.
  std::string data_dir;
  std::string store;  // "sqlite", or the URL of a PostgreSQL database
  std::string store_password_file;
  std::vector<std::string> store_password_command;
  StoreDurability store_durability = StoreDurability::kReplicated;
  std::int64_t store_cache_mib = 0;
  std::string cluster_id;
  bool no_cluster = false;
  bool in_cluster = false;
  std::string kubeconfig;
  std::string webhook_configuration;
  std::string certificate_secret;  // "namespace/name"; empty: none
  std::string lease_namespace;
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
  std::vector<std::string> api_proxy_names;
  std::string api_proxy_user_field;
  std::string api_proxy_groups_field;
  bool api_anonymous_read = false;
  std::string tls_cert_file;
  std::string tls_key_file;
  std::vector<std::string> server_names;
  std::string public_url;
  std::string argocd_url;
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
  bool denial_events = false;
  PolicyReports policy_reports = PolicyReports::kOff;
  std::string notify_url_file;
  NotifyForm notify_form = NotifyForm::kSlack;

  // Policy; taken over while running when the file changes.
  Mode mode = Mode::kEnforce;
  UnsureAction unsure_types = UnsureAction::kWarn;
  ModeRules modes;  // all but `global` and `unsure`, which are the two above
  ConfigNaming naming;
  std::vector<ConfigMapping> mappings;
  std::map<ProviderConfigName, std::string> accounts;        // of ProviderConfigs
  std::map<std::string, std::string, std::less<>> services;  // `parties`, by namespace
  AccountParties account_parties;
  std::vector<std::string> outside_endpoints;
  std::vector<Quota> quotas;
  std::vector<std::string> providers;
  std::vector<std::string> restorers;
  bool status_guard = false;
  std::vector<std::string> composite_controllers;
  std::int64_t composite_denial_code = 0;
  Disclosure disclosure = Disclosure::kFull;
  std::int64_t reservation_cap = 0;
  std::int64_t reservation_burst = 0;
  std::chrono::milliseconds reservation_ttl{};
  std::chrono::milliseconds settle_time{};
  UnboundComposites unbound_composites = UnboundComposites::kRefused;
  std::vector<std::string> service_labels;
  std::string contact_annotation;

  bool operator==(const Config&) const = default;
};

// Whether `store`, as in Config, is the URL of a PostgreSQL database.
bool IsPostgresUrl(std::string_view store);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CONFIG_CONFIG_H_
