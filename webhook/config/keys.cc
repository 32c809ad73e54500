#include "webhook/config/keys.h"

#include <algorithm>
#include <array>

#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::int64_t kSecond = 1000;  // durations in the table are milliseconds
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kMebibyte = 1024 * 1024;

// The least time that the API server may still be working on a request that Truce admitted: its own
// request limit (60 s) and as much again; a shorter TTL would drop rows of objects about to exist.
constexpr std::int64_t kReservationTtlMin = 120 * kSecond;

// clang-format off
const std::array kKeys = {
  // Where and as what it runs.
  Key{"dataDir", &Config::data_dir, "/var/lib/truce", "directory",
      "Where the registry, certificates, secret and operator socket live; made if missing"},
  Key{"store", &Config::store, "sqlite", "sqlite|postgres://USER@HOST:PORT/NAME",
      "Where ownerships are kept: a file in dataDir, or a PostgreSQL database (several hosts: HOST:PORT,HOST:PORT)",
      Check::kStore},
  Key{"storePasswordFile", &Config::store_password_file, "", "file",
      "File with the password for the store's database; read at each connection"},
  Key{"storePasswordCommand", &Config::store_password_command, "", "list of words",
      "Program and arguments that print the password for the store's database, as a token of IAM; run at each connection, for 10 s at most"},
  Key{"storeDurability", &Config::store_durability, "replicated", "replicated|required|storage|single",
      "Where the store's database keeps a grant before it is acknowledged: on a synchronous standby (without one: replicated warns, required refuses), in storage that replicates, or on one server alone"},
  Key{.name = "storeCacheMiB", .field = &Config::store_cache_mib, .fallback = "64", .type = "number",
      .help = "Mebibytes of the file's pages that are kept in memory, 8 to 4096",
      .minimum = 8, .maximum = 4096},
  Key{"clusterId", &Config::cluster_id, "local", "cluster id",
      "Name of the cluster this process speaks for: 1-32 characters of a-z, 0-9 and '-'",
      Check::kClusterId},
  Key{"noCluster", &Config::no_cluster, "false", "true|false",
      "Answer reviews and keep the registry without a connection to a cluster"},
  Key{"kubeconfig", &Config::kubeconfig, "", "file",
      "How to reach the cluster to watch"},
  Key{"inCluster", &Config::in_cluster, "false", "true|false",
      "Watch the cluster this process runs in, with its service account"},
  Key{"webhookConfiguration", &Config::webhook_configuration, "truce", "name",
      "Name of the ValidatingWebhookConfiguration by which the API server asks Truce; watched for faults"},
  Key{.name = "certificateSecret", .field = &Config::certificate_secret,
      .type = "namespace/name",
      .help = "Secret in which Truce keeps certificates that it makes; it then also writes authority, path and mapped groups into webhookConfiguration",
      .check = Check::kObjectName},
  Key{"leaseNamespace", &Config::lease_namespace, "kube-system", "namespace",
      "Where the Lease truce-CLUSTERID is, by which the cluster remembers its registry; those of that name elsewhere are read too"},
  Key{"types", &Config::types, "", "file",
      "File with types that add to the built-in catalogue or replace its rows"},
  Key{.name = "admissionAddress", .field = &Config::admission_address,
      .fallback = "127.0.0.1:8443", .type = "host:port",
      .help = "Where reviews are answered, TLS; 0.0.0.0:8443 when a cluster is served, [::]:8443 for IPv4 and IPv6; port 0 takes a free one",
      .check = Check::kAddress, .cluster_fallback = "0.0.0.0:8443"},
  Key{.name = "apiAddress", .field = &Config::api_address,
      .fallback = "127.0.0.1:8444", .type = "host:port",
      .help = "Where the API is served, TLS; 0.0.0.0:8444 when a cluster is served",
      .check = Check::kAddress, .cluster_fallback = "0.0.0.0:8444"},
  Key{.name = "metricsAddress", .field = &Config::metrics_address,
      .fallback = "127.0.0.1:8080", .type = "host:port",
      .help = "Where /metrics, /livez and /readyz are served, plain HTTP; 0.0.0.0:8080 when a cluster is served",
      .check = Check::kAddress, .cluster_fallback = "0.0.0.0:8080"},
  Key{.name = "probesAddress", .field = &Config::probes_address,
      .fallback = "127.0.0.1:8081", .type = "host:port",
      .help = "Where /livez and /readyz are served for the kubelet alone, plain HTTP; 0.0.0.0:8081 when a cluster is served",
      .check = Check::kAddress, .cluster_fallback = "0.0.0.0:8081"},
  Key{"admissionSecretFile", &Config::admission_secret_file, "", "file",
      "32 hex digits that the secrets of the admission paths follow from; default admission.secret in dataDir, made at first start"},
  Key{"acceptSecretInErrors", &Config::accept_secret_in_errors, "false", "true|false",
      "Do not tell that, with failurePolicy Fail and no other credentials, API servers show the path's secret in errors"},
  Key{"admissionClientCA", &Config::admission_client_ca, "", "file",
      "PEM file of the authorities whose client certificates may send reviews"},
  Key{"admissionClientNames", &Config::admission_client_names, "", "list of names",
      "Names that a client certificate must carry one of; admissionClientCA needs them"},
  Key{"admissionBearerFile", &Config::admission_bearer_file, "", "file",
      "File with the token that reviews must carry in their Authorization header"},
  Key{"apiTokenFile", &Config::api_token_file, "", "file",
      "Static tokens of the API, a line each: SHA-256 of the token in hex, role, name; reread when it changes"},
  Key{"apiClientCA", &Config::api_client_ca, "", "file",
      "PEM file of the authorities whose client certificates may call the API"},
  Key{"apiClients", &Config::api_clients, "", "list of name=role",
      "Names of client certificates and their roles: viewer, auditor or admin"},
  Key{"apiProxyNames", &Config::api_proxy_names, "", "list of names",
      "Names of client certificates of proxies that sign people in and say who calls; needs apiClientCA"},
  Key{"apiProxyUserField", &Config::api_proxy_user_field, "X-Forwarded-User", "name",
      "Header field in which such a proxy names the user"},
  Key{"apiProxyGroupsField", &Config::api_proxy_groups_field, "X-Forwarded-Groups", "name",
      "Header field in which it names the user's groups, joined by commas"},
  Key{"apiAnonymousRead", &Config::api_anonymous_read, "false", "true|false",
      "Let callers of the API who show no credentials read as a viewer does"},
  Key{"tlsCertFile", &Config::tls_cert_file, "", "file",
      "Server certificate, PEM, with its chain; default self-made in dataDir/certs"},
  Key{"tlsKeyFile", &Config::tls_key_file, "", "file",
      "Private key of tlsCertFile, PEM"},
  Key{"serverNames", &Config::server_names, "", "list of names",
      "Further DNS names and addresses that the self-made certificate is valid for",
      Check::kServerName},
  Key{"publicURL", &Config::public_url, "", "URL",
      "Address at which people reach Truce; links in denials begin with it, none without it",
      Check::kHttpUrl},
  Key{"argocdURL", &Config::argocd_url, "", "URL",
      "Address of Argo CD; the page's view of a resource links to the applications there by its service",
      Check::kHttpUrl},
  Key{"logFormat", &Config::log_format, "text", "text|json", "Form of log lines"},
  Key{"logLevel", &Config::log_level, "info", "debug|info|warning|error",
      "Least severity that is logged"},
  Key{.name = "connectionsMax", .field = &Config::connections_max, .fallback = "1024",
      .type = "number", .help = "Open admission connections, 16 to 65536, fewer where the hard limit of open files is small; further ones are closed",
      .minimum = 16, .maximum = 65536},
  Key{.name = "inFlightMax", .field = &Config::in_flight_max, .fallback = "128", .type = "number",
      .help = "Requests answered at once, 1 to 4096, beside 72 that may wait for the API server; beyond it the answer is 503",
      .minimum = 1, .maximum = 4096},
  Key{.name = "inFlightBytesMax", .field = &Config::in_flight_bytes_max, .fallback = "67108864",
      .type = "number",
      .help = "Memory of request bodies over 64 KiB held at once, 16777216 to 8589934592; beyond it the answer is 503",
      .minimum = 16 * kMebibyte, .maximum = 8192 * kMebibyte},
  Key{.name = "checkBytesMax", .field = &Config::check_bytes_max, .fallback = "1048576",
      .type = "number",
      .help = "Bytes of one body of POST /api/v1/checks, 65536 to 8388608; beyond it the answer is 413",
      .minimum = 65536, .maximum = 8 * kMebibyte},
  Key{.name = "drainGrace", .field = &Config::drain_grace, .fallback = "1s", .type = "duration",
      .help = "How long requests are still accepted after SIGTERM, 0s to 5m; 15s when a cluster is served",
      .maximum = 5 * kMinute, .cluster_fallback = "15s"},
  Key{.name = "auditAgeMax", .field = &Config::audit_age_max, .fallback = "2160h", .type = "duration",
      .help = "Age beyond which lines of the audit log go, 5,000 at a time; 0s keeps all",
      .maximum = 10 * 365 * 24 * 60 * kMinute, .reloads = true},
  Key{.name = "auditLinesMax", .field = &Config::audit_lines_max, .fallback = "10000000", .type = "number",
      .help = "Lines of the audit log that are kept; the older ones go as with auditAgeMax; 0 keeps all",
      .maximum = 1'000'000'000, .reloads = true},
  Key{.name = "auditExportDir", .field = &Config::audit_export_dir, .type = "directory",
      .help = "Where lines of the audit log stand in a file before they go, best on another volume; empty: they go",
      .reloads = true},
  Key{"denialEvents", &Config::denial_events, "false", "true|false",
      "Write an Event for each refused object into its namespace, at a limited rate; refused composed resources are told to their claim anyway"},
  Key{"policyReports", &Config::policy_reports, "off", "off|auto|wgpolicyk8s.io|openreports.io",
      "Keep the findings of each namespace as a PolicyReport or Report, which Policy Reporter shows; auto takes whichever the cluster has"},
  Key{"notifyUrlFile", &Config::notify_url_file, "", "file",
      "File with the URL of a webhook to which each new finding and denial is sent, https:// unless it is on this machine; reread when it changes"},
  Key{"notifyForm", &Config::notify_form, "slack", "slack|teams|json",
      "Form of these messages: of Slack, of a Workflow of Teams, or JSON as the API has it"},
  // Policy: a changed file takes effect without restart.
  Key{.name = "mode", .field = &Config::mode, .fallback = "enforce", .type = "off|audit|warn|enforce",
      .help = "What a finding does: nothing, count, warn, deny", .reloads = true},
  Key{.name = "typeModes", .field = &ReadTypeModes, .type = "map of type to mode",
      .help = "Mode by type, before 'mode'", .reloads = true},
  Key{.name = "unsureTypes", .field = &Config::unsure_types, .fallback = "warn", .type = "warn|deny",
      .help = "What conflicts of types do whose scope of uniqueness is not researched", .reloads = true},
  Key{.name = "unsureTypeActions", .field = &ReadUnsureTypeActions,
      .type = "map of type to warn|deny", .help = "The same by type, before 'unsureTypes'",
      .reloads = true},
  Key{.name = "overrides", .field = &ReadOverrides, .type = "list of overrides",
      .help = "Timed overrides (break-glass): {name|object|namespace|group, until, reason} is audited, not denied",
      .reloads = true},
  Key{.name = "rules", .field = &ReadRules, .type = "map of rule to modes",
      .help = "Mode by rule: {mode, modes: [{mode, type, namespace, kind, object, name, selector, service, from, until}]}",
      .reloads = true},
  Key{.name = "exemptions", .field = &ReadExemptions, .type = "list of exemptions",
      .help = "What rules do not apply to: {rule, type, namespace, kind, object, name, selector, service, until, reason}",
      .reloads = true},
  Key{.name = "naming", .field = &ReadNaming, .type = "map of the naming convention",
      .help = "Rule naming-convention: {template, templates, types, maxLengths, variables: {env: {values, pattern, from, map}}}",
      .reloads = true},
  Key{.name = "mappings", .field = &ReadMappings, .type = "list of mapping rules",
      .help = "Which fields of custom kinds, or of charts' values, declare which resources",
      .reloads = true},
  Key{.name = "providerConfigs", .field = &ReadProviderConfigs, .type = "list of provider configs",
      .help = "Which account a ProviderConfig reaches: {name, account, kind, group, namespace}",
      .reloads = true},
  Key{.name = "parties", .field = &ReadParties, .type = "list of parties",
      .help = "Which namespaces may act for a service: {service, namespaces}",
      .reloads = true},
  Key{.name = "accountParties", .field = &ReadAccountParties, .type = "map of account to namespaces",
      .help = "Rule account-party: which namespaces may declare resources in an AWS account; one that is not named is bound to nobody",
      .reloads = true},
  Key{.name = "outsideEndpoints", .field = &Config::outside_endpoints, .fallback = "*",
      .type = "list of host patterns",
      .help = "Endpoints of ProviderConfigs outside of AWS (LocalStack, MinIO, Ceph: host:port) that are name spaces of their own; any other one counts as AWS, since it may be a way to it",
      .reloads = true},
  Key{.name = "quotas", .field = &ReadQuotas, .type = "list of quotas",
      .help = "Rule quota: how many of a type there may be: {type, account, region, namespace, service, max, warnAt}; a pattern gives each that it matches a quota of its own",
      .reloads = true},
  Key{.name = "providers", .field = &Config::providers,
      .fallback = "system:serviceaccount:crossplane-system:provider-*,"
                  "system:serviceaccount:crossplane-system:upbound-provider-*,"
                  "system:serviceaccount:ack-system:ack-*-controller",
      .type = "list of user patterns", .help = "Users that providers run as",
      .check = Check::kPattern, .reloads = true},
  Key{.name = "restorers", .field = &Config::restorers,
      .fallback = "system:serviceaccount:velero:velero,system:serviceaccount:velero:velero-server,"
                  "system:serviceaccount:velero:*-velero-server",
      .type = "list of user patterns",
      .help = "Users that bring objects back from a backup: they may write statuses, and objects without owner references return to their owner",
      .check = Check::kPattern, .reloads = true},
  Key{.name = "statusGuard", .field = &Config::status_guard, .fallback = "false", .type = "true|false",
      .help = "The webhook configuration sends changes of statuses (entry status.truce.dev; with certificateSecret Truce adds it): names known from a status alone deny, else they only warn",
      .reloads = true},
  Key{.name = "compositeControllers", .field = &Config::composite_controllers,
      .fallback = "system:serviceaccount:crossplane-system:crossplane", .type = "list of user names",
      .help = "Users that compose resources; believed about owners, and denied with compositeDenialCode",
      .check = Check::kPattern, .reloads = true},
  Key{.name = "compositeDenialCode", .field = &Config::composite_denial_code, .fallback = "422",
      .type = "422|403",
      .help = "Status of a denial to a composite controller: 422 lets its other resources go on, 403 shows its text",
      .minimum = 403, .maximum = 422, .reloads = true},
  Key{.name = "disclosure", .field = &Config::disclosure, .fallback = "full",
      .type = "full|service|taken", .help = "How much of the owner a denial names", .reloads = true},
  Key{.name = "reservationCap", .field = &Config::reservation_cap, .fallback = "100", .type = "number",
      .help = "Reservations of a namespace, whoever made them (of cluster-scoped objects: of a user), that are older than a minute and not seen, and resources that renames of one root left orphaned, 1 to 1000000; in every mode; off with noCluster",
      .minimum = 1, .maximum = 1'000'000, .reloads = true},
  Key{.name = "reservationBurst", .field = &Config::reservation_burst, .fallback = "1000", .type = "number",
      .help = "The same of those that are younger, at least reservationCap, 1 to 1000000",
      .minimum = 1, .maximum = 1'000'000, .reloads = true},
  Key{.name = "reservationTTL", .field = &Config::reservation_ttl, .fallback = "180s",
      .type = "duration", .help = "How long a reservation waits before its object is looked for, 120s to 24h",
      .minimum = kReservationTtlMin, .maximum = 24 * 60 * kMinute, .reloads = true},
  Key{.name = "settleTime", .field = &Config::settle_time, .fallback = "24h", .type = "duration",
      .help = "How long declarations of a kind stay on record after its mapping rule is gone, 1m to 720h",
      .minimum = kMinute, .maximum = 720 * 60 * kMinute, .reloads = true},
  Key{.name = "unboundComposites", .field = &Config::unbound_composites, .fallback = "refused",
      .type = "refused|claimable",
      .help = "Whether a claim may take a composite that no claim has and that does not offer itself (truce.dev/transfer-to)",
      .reloads = true},
  Key{.name = "serviceLabels", .field = &Config::service_labels, .fallback = "",
      .type = "list of label keys", .help = "Labels that name the owning service, the first present one counts",
      .check = Check::kLabelKey, .reloads = true},
  Key{.name = "contactAnnotation", .field = &Config::contact_annotation, .fallback = "truce.dev/contact",
      .type = "annotation key", .help = "Annotation that says whom to ask about a declaration",
      .check = Check::kLabelKey, .reloads = true},
};
// clang-format on

// Calls `emit(c, starts_word)` for each character of a lowerCamelCase name; a run of capitals is
// one word ("admissionClientCA", "reservationTTL"), a last one ends one ("storeCacheMiB").
template <typename Emit>
void ForEachInWords(std::string_view name, Emit emit) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_upper = IsUpper(name[i]);
    const bool after_lower = i > 0 && !IsUpper(name[i - 1]);
    const bool ends = i + 1 == name.size();
    emit(name[i], is_upper && after_lower && !ends);
  }
}

}  // namespace

std::span<const Key> Keys() { return kKeys; }

const Key* FindKey(std::string_view name) {
  const auto found =
      std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& key) { return key.name == name; });
  return found == kKeys.end() ? nullptr : &*found;
}

std::string FlagOf(std::string_view key_name) {
  std::string flag = "--";
  ForEachInWords(key_name, [&](char c, bool starts_word) {
    if (starts_word) flag += '-';
    flag += Lower(c);
  });
  return flag;
}

std::string VariableOf(std::string_view key_name) {
  std::string variable = "TRUCE_";
  ForEachInWords(key_name, [&](char c, bool starts_word) {
    if (starts_word) variable += '_';
    variable += Upper(c);
  });
  return variable;
}

}  // namespace truce
