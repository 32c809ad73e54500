#include "webhook/config/load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "webhook/config/keys.h"
#include "webhook/config/reload.h"

namespace truce {
namespace config_load_test {

constexpr const char* kFile = "truce.yaml";

Result<LoadedConfig> LoadText(std::string_view text) {
  ConfigSources sources;
  sources.file = kFile;
  return LoadConfigFrom(sources, text);
}

LoadedConfig Good(std::string_view text) {
  Result<LoadedConfig> loaded = LoadText(text);
  EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message);
  return loaded.ok() ? std::move(loaded).value() : LoadedConfig{};
}

TEST(ConfigKeys, NamesFlagsAndVariablesFollowOneRule) {
  EXPECT_EQ(FlagOf("admissionAddress"), "--admission-address");
  EXPECT_EQ(FlagOf("admissionClientCA"), "--admission-client-ca");
  EXPECT_EQ(FlagOf("publicURL"), "--public-url");
  EXPECT_EQ(VariableOf("reservationTTL"), "TRUCE_RESERVATION_TTL");
  EXPECT_EQ(VariableOf("storeCacheMiB"), "TRUCE_STORE_CACHE_MIB");
  EXPECT_EQ(VariableOf("dataDir"), "TRUCE_DATA_DIR");
  std::set<std::string> flags;
  for (const Key& key : Keys()) {
    EXPECT_TRUE(flags.insert(FlagOf(key.name)).second) << key.name;
    EXPECT_FALSE(key.help.empty()) << key.name;
    EXPECT_FALSE(key.type.empty()) << key.name;
  }
}

TEST(ConfigKeys, EveryDefaultIsValid) {
  for (const Key& key : Keys()) {
    if (key.IsStructured()) continue;
    Config config;
    EXPECT_TRUE(SetScalar(key, key.fallback, config).ok()) << key.name;
    if (key.cluster_fallback.empty()) continue;
    EXPECT_TRUE(SetScalar(key, key.cluster_fallback, config).ok()) << key.name;
  }
}

// Of enumerations and numbers, whose texts `type` has; help and schema show them.
TEST(ConfigKeys, EveryChoiceIsReadAndNoOther) {
  std::size_t count = 0;
  for (const Key& key : Keys()) {
    const bool has_choice = key.type.find('|') != key.type.npos && key.check == Check::kNone;
    if (key.IsStructured() || !has_choice) continue;
    Config config;
    for (std::string_view rest = key.type; !rest.empty(); ++count) {
      const std::size_t end = std::min(rest.find('|'), rest.size());
      EXPECT_TRUE(SetScalar(key, rest.substr(0, end), config).ok()) << key.name << " " << rest;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    for (const char* other : {"", "?", "o", "OFF"}) {
      EXPECT_FALSE(SetScalar(key, other, config).ok()) << key.name << " " << other;
    }
  }
  EXPECT_GT(count, 35U);
}

TEST(ConfigLoad, DefaultsDependOnWhetherAClusterIsServed) {
  const Config with_cluster = Good("").config;
  EXPECT_EQ(with_cluster.admission_address, "0.0.0.0:8443");
  const Config without = Good("noCluster: true").config;
  EXPECT_EQ(without.admission_address, "127.0.0.1:8443");
  EXPECT_EQ(without.api_address, "127.0.0.1:8444");
  EXPECT_EQ(without.metrics_address, "127.0.0.1:8080");
  EXPECT_EQ(without.mode, Mode::kEnforce);
  EXPECT_EQ(without.unsure_types, UnsureAction::kWarn);
  EXPECT_EQ(without.reservation_ttl, std::chrono::seconds(180));
  EXPECT_EQ(without.reservation_cap, 100);
  EXPECT_EQ(without.reservation_burst, 1000);
  EXPECT_EQ(without.composite_denial_code, 422);
  EXPECT_EQ(without.providers.size(), 3U);
  EXPECT_EQ(without.composite_controllers.size(), 1U);
  EXPECT_EQ(without.restorers.size(), 3U);
  EXPECT_FALSE(without.status_guard);
  EXPECT_EQ(without.settle_time, std::chrono::hours(24));
  EXPECT_EQ(without.unbound_composites, UnboundComposites::kRefused);
  EXPECT_EQ(without.cluster_id, "local");
}

TEST(ConfigLoad, FlagBeforeVariableBeforeFileBeforeDefault) {
  ConfigSources sources;
  sources.file = kFile;
  const std::string_view file = "mode: audit\nclusterId: from-file\nlogLevel: debug\n";
  sources.variables = {{"TRUCE_MODE", "warn"}, {"TRUCE_CLUSTER_ID", "from-env"}};
  sources.flags = {{"mode", "off"}};
  const Result<LoadedConfig> loaded = LoadConfigFrom(sources, file);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded.value().config.mode, Mode::kOff);
  EXPECT_EQ(loaded.value().config.cluster_id, "from-env");
  EXPECT_EQ(loaded.value().config.log_level, LogLevel::kDebug);
  EXPECT_EQ(loaded.value().origins.at("mode").location, "--mode");
  EXPECT_EQ(loaded.value().origins.at("clusterId").location, "TRUCE_CLUSTER_ID");
  EXPECT_EQ(loaded.value().origins.at("logLevel").location, "truce.yaml:3");
  EXPECT_EQ(loaded.value().origins.at("store").source, Origin::Source::kDefault);
}

TEST(ConfigLoad, ReadsEveryStructuredSetting) {
  const Config config = Good(R"(
noCluster: true
serverNames: [truce.example.org, 10.0.0.1]
typeModes: {s3/Bucket: enforce, sqs/Queue: off}
unsureTypeActions: {ec2/VPC: deny}
overrides:
  - name: prod-artifacts
    until: 2026-11-21T18:00:00Z
    reason: incident 42
  - {namespace: team-a, until: '2026-11-22T00:00:00Z', reason: migration}
mappings:
  - group: platform.example.org
    kind: ObjectStorage
    service: spec.parameters.serviceName
    declares:
      - type: s3/Bucket
        parts: {name: spec.parameters.name}
        region: {value: us-east-1}
        account: {path: "metadata.labels['example.org/account']"}
        intent: manages
  - chartValues: true
    service: appName
    namespaces: [team-a, team-b]
    declares:
      - type: s3/Bucket
        parts: {name: objectStorage.*.name}
providerConfigs:
  - {name: default, account: "123456789012"}
parties:
  - {service: checkout, namespaces: [checkout-prod]}
)")
                            .config;
  EXPECT_EQ(config.server_names, (std::vector<std::string>{"truce.example.org", "10.0.0.1"}));
  EXPECT_EQ(config.modes.types.at("sqs/Queue"), Mode::kOff);
  EXPECT_EQ(config.modes.unsure_types.at("ec2/VPC"), UnsureAction::kDeny);
  ASSERT_EQ(config.modes.overrides.size(), 2U);
  EXPECT_EQ(FormatTimestamp(config.modes.overrides[0].until), "2026-11-21T18:00:00Z");
  EXPECT_EQ(config.modes.overrides[1].ns, "team-a");
  ASSERT_EQ(config.mappings.size(), 2U);
  const MappedResource& bucket = config.mappings[0].rule.declares[0];
  EXPECT_EQ(bucket.type, "s3/Bucket");
  EXPECT_EQ(bucket.parts.at("name").path->text(), "spec.parameters.name");
  EXPECT_EQ(bucket.region, (PartSource{std::nullopt, "us-east-1"}));
  EXPECT_EQ(bucket.intent, Intent::kManages);
  EXPECT_EQ(config.mappings[0].location, "truce.yaml:12");
  EXPECT_TRUE(config.mappings[1].rule.kind.kind.empty());
  EXPECT_EQ(config.mappings[1].rule.namespaces, (std::vector<std::string>{"team-a", "team-b"}));
  EXPECT_EQ(config.mappings[1].rule.declares[0].intent, Intent::kDeletes);
  EXPECT_EQ(config.accounts.at({"aws.upbound.io", "ProviderConfig", "", "default"}),
            "123456789012");
  EXPECT_EQ(config.services.at("checkout-prod"), "checkout");
}

struct BadConfig {
  const char* reason;
  std::string text;
  std::string message;  // what the message must begin with
};

const std::string kRule =
    "mappings:\n  - group: g.example\n    kind: K\n    declares:\n      - type: s3/Bucket\n";

const std::string kManyPatterns = [] {
  std::string out = "u0";
  for (int i = 1; i <= 64; ++i) out += ", u" + std::to_string(i);
  return out;
}();

TEST(ConfigLoad, RefusesWithFileLineKeyAndRemedy) {
  const BadConfig rows[] = {
      {"unknown key", "mode: audit\nmodes: x\n",
       "truce.yaml:2: modes: unknown key; did you mean 'mode'?"},
      {"unknown key, far", "frobnicate: 1\n",
       "truce.yaml:1: frobnicate: unknown key; `truce config --keys` lists all keys"},
      {"not a map", "- a\n",
       "truce.yaml:1: the file is not a map of settings; write 'key: value' lines"},
      {"wrong enum", "mode: strict\n",
       "truce.yaml:1: mode: 'strict' is not allowed; use one of off|audit|warn|enforce"},
      {"list for scalar", "mode: [audit]\n",
       "truce.yaml:1: mode: is a list or map; write one value: off|audit|warn|enforce"},
      {"no value", "mode:\n",
       "truce.yaml:1: mode: has no value; write off|audit|warn|enforce, or remove the line"},
      {"YAML 1.1 boolean", "noCluster: yes\n",
       "truce.yaml:1: noCluster: 'yes' is neither true nor false; write one of these words"},
      {"octal", "reservationCap: 0777\n",
       "truce.yaml:1: reservationCap: '0777' is not a whole number; write digits only, as 100"},
      {"float", "reservationCap: 1e3\n",
       "truce.yaml:1: reservationCap: '1e3' is not a whole number; write digits only, as 100"},
      {"range", "reservationCap: 0\n",
       "truce.yaml:1: reservationCap: '0' is out of range; it must be 1 to 1000000"},
      {"huge", "reservationCap: 99999999999999999999999\n",
       "truce.yaml:1: reservationCap: '99999999999999999999999' is not a whole number; write "
       "digits only, as 100"},
      {"code", "compositeDenialCode: 409\n",
       "truce.yaml:1: compositeDenialCode: '409' is not allowed; use one of 422|403"},
      {"duration without unit", "reservationTTL: 180\n",
       "truce.yaml:1: reservationTTL: '180' is not a duration; write a number and a unit, as "
       "500ms, 30s, 3m or 1h"},
      {"short TTL", "reservationTTL: 60s\n",
       "truce.yaml:1: reservationTTL: '60s' is out of range; it must be 120s to 86400s"},
      {"text that is a number", "clusterId: 123\n",
       "truce.yaml:1: clusterId: '123' is not text to YAML; write it in quotes"},
      {"cluster id", "clusterId: Prod_EU\n",
       "truce.yaml:1: clusterId: 'Prod_EU' is not a cluster id; use 1 to 32 characters of a-z, 0-9 "
       "and '-'"},
      {"address", "apiAddress: localhost\n",
       "truce.yaml:1: apiAddress: 'localhost' is not an address; write HOST:PORT, as "
       "127.0.0.1:8443 or [::]:8443"},
      {"port", "apiAddress: localhost:70000\n",
       "truce.yaml:1: apiAddress: 'localhost:70000' has no valid port; it must be 0 to 65535"},
      {"store", "store: mysql\n",
       "truce.yaml:1: store: 'mysql' is not a known store; use 'sqlite' or "
       "postgres://USER@HOST:PORT/NAME"},
      {"store for trials", "store: memory\n",
       "truce.yaml:1: store: 'memory' is not a store; for a trial use 'sqlite', with dataDir on a "
       "directory that is thrown away afterwards"},
      {"postgres", "store: postgres://u:secret@h/d\n",
       "truce.yaml:1: store: the URL holds a password, which logs and lists of processes show; "
       "remove it, and give it in storePasswordFile, by storePasswordCommand or in the file that "
       "PGPASSFILE names"},
      {"postgres without user", "store: postgres://h/d\n",
       "truce.yaml:1: store: the URL names no user or no database; write "
       "postgres://USER@HOST:PORT/NAME"},
      {"postgres without host", "store: postgres://u@/d\n",
       "truce.yaml:1: store: the URL names no host; write postgres://USER@HOST:PORT/NAME"},
      {"password of a file", "storePasswordFile: p\n",
       "truce.yaml:1: storePasswordFile: is for a store in PostgreSQL; remove it, or set store to "
       "its URL"},
      {"two passwords",
       "store: postgres://u@h/d\nstorePasswordFile: p\nstorePasswordCommand: [aws]\n",
       "truce.yaml:3: storePasswordCommand: there is storePasswordFile already; remove one of the "
       "two"},
      {"durability", "store: postgres://u@h/d\nstoreDurability: some\n",
       "truce.yaml:2: storeDurability: 'some' is not allowed; use one of "
       "replicated|required|storage|single"},
      {"URL", "publicURL: truce.example.org\n",
       "truce.yaml:1: publicURL: 'truce.example.org' is not a usable URL; write "
       "https://HOST[:PORT][/PATH] without a '/' at its end"},
      {"scalar for list", "serverNames: a\n",
       "truce.yaml:1: serverNames: is not a list; begin each item with '- '"},
      {"list item", "serverNames:\n  - a\n  - 'b c'\n",
       "truce.yaml:3: serverNames[1]: 'b c' is neither a DNS name nor an address"},
      {"many patterns", "restorers: [" + kManyPatterns + "]\n",
       "truce.yaml:1: restorers: holds more than 64 patterns; join some with '*'"},
      {"long pattern", "providers: [" + std::string(513, 'p') + "]\n",
       "truce.yaml:1: providers: holds a pattern of more than 512 bytes; no user's name is as "
       "long"},
      {"everyone restores", "restorers: ['*']\n",
       "truce.yaml:1: restorers[0]: '*' would match everyone or no one; name a user"},
      {"guard", "statusGuard: on\n",
       "truce.yaml:1: statusGuard: 'on' is neither true nor false; write one of these words"},
      {"unbound", "unboundComposites: allowed\n",
       "truce.yaml:1: unboundComposites: 'allowed' is not allowed; use one of refused|claimable"},
      {"settle", "settleTime: 10s\n",
       "truce.yaml:1: settleTime: '10s' is out of range; it must be 60s to 2592000s"},
      {"everyone", "providers: ['*']\n",
       "truce.yaml:1: providers[0]: '*' would match everyone or no one; name a user"},
      {"duplicate", "mode: audit\nmode: warn\n",
       "truce.yaml:2: the key 'mode' stands here a second time; the first is on line 1"},
      {"type modes", "typeModes: {Bucket: audit}\n",
       "truce.yaml:1: typeModes: 'Bucket' is not a type; write SERVICE/KIND, as s3/Bucket"},
      {"type mode", "typeModes: {s3/Bucket: on}\n",
       "truce.yaml:1: typeModes.s3/Bucket: must be one of off, audit, warn, enforce"},
      {"override of nothing", "overrides:\n  - {until: 2026-11-21T18:00:00Z, reason: r}\n",
       "truce.yaml:2: overrides[0]: must have exactly one of name, object, namespace and group"},
      {"override of two",
       "overrides:\n  - {name: a, group: b, until: 2026-11-21T18:00:00Z, reason: r}\n",
       "truce.yaml:2: overrides[0]: must have exactly one of name, object, namespace and group"},
      {"override for ever", "overrides:\n  - {name: a, reason: r}\n",
       "truce.yaml:2: overrides[0].until: is missing"},
      {"override time", "overrides:\n  - {name: a, until: tomorrow, reason: r}\n",
       "truce.yaml:2: overrides[0].until: 'tomorrow' is not a time; write it as "
       "2026-11-21T18:00:00Z"},
      {"override without reason", "overrides:\n  - {name: a, until: 2026-11-21T18:00:00Z}\n",
       "truce.yaml:2: overrides[0].reason: is missing"},
      {"override key", "overrides:\n  - name: a\n    untill: x\n",
       "truce.yaml:3: overrides[0].untill: unknown key; did you mean 'until'?"},
      {"account as number", "providerConfigs:\n  - {name: d, account: 012345678901}\n",
       "truce.yaml:2: providerConfigs[0].account: '012345678901' is not text to YAML; write it in "
       "quotes"},
      {"account", "providerConfigs:\n  - {name: d, account: '1234'}\n",
       "truce.yaml:2: providerConfigs[0].account: must be the 12 digits of an AWS account, in "
       "quotes"},
      {"provider config twice",
       "providerConfigs:\n  - {name: d, account: '123456789012'}\n  - {name: d, account: "
       "'123456789013'}\n",
       "truce.yaml:3: providerConfigs[1]: names a ProviderConfig that stands above already"},
      {"account party", "accountParties: {'1234': [a]}\n",
       "truce.yaml:1: accountParties.1234: must be the 12 digits of an AWS account, in quotes"},
      {"account of nobody", "accountParties:\n  '123456789012': []\n",
       "truce.yaml:2: accountParties.123456789012: is empty; name the namespaces, or leave the "
       "account out"},
      {"account of one", "accountParties:\n  '123456789012': team-a\n",
       "truce.yaml:2: accountParties.123456789012: is not a list; begin each item with '- '"},
      {"accounts in a list", "accountParties: [a]\n",
       "truce.yaml:1: accountParties: is not a map; write '\"ACCOUNT\": [NAMESPACE]' lines below "
       "it"},
      {"quotas as a map", "quotas: {type: s3/Bucket, max: 1}\n",
       "truce.yaml:1: quotas: is not a list; begin each item with '- '"},
      {"quota of nothing", "quotas:\n  - max: 1\n", "truce.yaml:2: quotas[0].type: is missing"},
      {"quota without max", "quotas:\n  - type: s3/Bucket\n",
       "truce.yaml:2: quotas[0].max: is missing; write how many there may be"},
      {"quota of none", "quotas:\n  - {type: s3/Bucket, max: 0}\n",
       "truce.yaml:2: quotas[0].max: must be a whole number, 1 to 1000000000; to refuse a type "
       "altogether use Kubernetes' own permissions"},
      {"quota below none", "quotas:\n  - {type: s3/Bucket, max: -1}\n",
       "truce.yaml:2: quotas[0].max: must be a whole number, 1 to 1000000000; to refuse a type "
       "altogether use Kubernetes' own permissions"},
      {"quota that warns too late", "quotas:\n  - {type: s3/Bucket, max: 9, warnAt: 101%}\n",
       "truce.yaml:2: quotas[0].warnAt: must be a share of max, 1% to 100%"},
      {"quota account as number", "quotas:\n  - {type: s3/Bucket, max: 9, account: 123456789012}\n",
       "truce.yaml:2: quotas[0].account: '123456789012' is not text to YAML; write it in quotes"},
      {"quota key", "quotas:\n  - {type: s3/Bucket, maxx: 9}\n",
       "truce.yaml:2: quotas[0].maxx: unknown key; did you mean 'max'?"},
      {"empty party", "parties:\n  - service: s\n",
       "truce.yaml:2: parties[0]: binds the service to nothing; add namespaces"},
      {"namespace of two parties",
       "parties:\n  - {service: a, namespaces: [ns]}\n  - {service: b, namespaces: [ns]}\n",
       "truce.yaml:3: parties[1]: the namespace 'ns' is bound to a service already"},
      {"mapping without kind", "mappings:\n  - group: g\n    declares: []\n",
       "truce.yaml:2: mappings[0].kind: is missing"},
      {"mapping without declares", "mappings:\n  - {group: g, kind: K}\n",
       "truce.yaml:2: mappings[0].declares: is missing"},
      {"mapping declaring nothing", "mappings:\n  - {group: g, kind: K, declares: []}\n",
       "truce.yaml:2: mappings[0].declares: is empty; name at least one resource"},
      {"mapping twice",
       "mappings:\n  - {group: g, kind: K, declares: [{type: a/B, parts: {name: spec.x}}]}\n  - "
       "{group: g, kind: K, declares: [{type: a/B, parts: {name: spec.x}}]}\n",
       "truce.yaml:3: mappings[1]: maps a kind that is mapped above already; add to its "
       "'declares'"},
      {"mapping for no namespace",
       "mappings:\n  - {group: g, kind: K, namespaces: [], declares: [{type: a/B, parts: {name: "
       "spec.x}}]}\n",
       "truce.yaml:2: mappings[0].namespaces: is empty; leave it out where the rule holds "
       "everywhere"},
      {"mapping twice for a namespace",
       "mappings:\n  - {group: g, kind: K, namespaces: [a], declares: [{type: a/B, parts: {name: "
       "spec.x}}]}\n  - {group: g, kind: K, namespaces: [b, a], declares: [{type: a/B, parts: "
       "{name: spec.x}}]}\n",
       "truce.yaml:3: mappings[1]: maps a kind that is mapped above already; add to its "
       "'declares'"},
      {"mapping without parts", kRule, "truce.yaml:5: mappings[0].declares[0].parts: is missing"},
      {"path root", kRule + "        parts: {name: status.name}\n",
       "truce.yaml:6: mappings[0].declares[0].parts.name: 'status.name' is not a path; a path "
       "starts at spec, labels, annotations or is metadata.name, as spec.parameters.name or "
       "labels['example.org/service']"},
      {"path of metadata", kRule + "        parts: {name: metadata.uid}\n",
       "truce.yaml:6: mappings[0].declares[0].parts.name: 'metadata.uid' is not a path; a path "
       "starts at spec, labels, annotations or is metadata.name, as spec.parameters.name or "
       "labels['example.org/service']"},
      {"path and value", kRule + "        parts: {name: {path: spec.a, value: b}}\n",
       "truce.yaml:6: mappings[0].declares[0].parts.name: must have exactly one of path and value"},
      {"intent", kRule + "        parts: {name: spec.a}\n        intent: owns\n",
       "truce.yaml:7: mappings[0].declares[0].intent: must be one of observes, manages, deletes"},
      {"chart and kind", "mappings:\n  - {chartValues: true, kind: K, declares: []}\n",
       "truce.yaml:2: mappings[0]: must have either group and kind, or chartValues"},
      {"certificate without key", "tlsCertFile: a\n",
       "truce.yaml:1: tlsCertFile: tlsCertFile and tlsKeyFile belong together; set both or none"},
      {"names without authority", "admissionClientNames: [a]\n",
       "truce.yaml:1: admissionClientNames: needs admissionClientCA"},
      {"authority without names", "admissionClientCA: ca.crt\n",
       "truce.yaml:1: admissionClientCA: needs admissionClientNames: without names every "
       "certificate of the authority could send reviews, with a cluster's own every kubelet's; "
       "name what the API server shows, for example kube-apiserver-kubelet-client"},
      {"two clusters", "noCluster: true\ninCluster: true\n",
       "truce.yaml:1: noCluster: only one of noCluster, inCluster and kubeconfig can be set"},
      {"control character", "kubeconfig: \"a\\nb\"\n",
       "truce.yaml:1: kubeconfig: holds a control character or line break; remove it"},
  };
  for (const BadConfig& row : rows) {
    const Result<LoadedConfig> loaded = LoadText(row.text);
    ASSERT_FALSE(loaded.ok()) << row.reason;
    EXPECT_EQ(loaded.error().code, ErrorCode::kInvalidArgument) << row.reason;
    EXPECT_EQ(loaded.error().message, row.message) << row.reason;
    EXPECT_EQ(loaded.error().message.find('\n'), std::string::npos) << row.reason;
    EXPECT_EQ(loaded.error().message.find("secret"), std::string::npos) << row.reason;
  }
}

TEST(ConfigLoad, RefusesBadFlagsAndVariablesByTheirName) {
  ConfigSources sources;
  sources.flags = {{"mode", "strict"}};
  Result<LoadedConfig> loaded = LoadConfigFrom(sources, "");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message,
            "--mode: mode: 'strict' is not allowed; use one of off|audit|warn|enforce");
  sources.flags.clear();
  sources.variables = {{"TRUCE_MODE", "strict"}};
  loaded = LoadConfigFrom(sources, "");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message,
            "TRUCE_MODE: mode: 'strict' is not allowed; use one of off|audit|warn|enforce");
  sources.variables = {{"TRUCE_MAPPINGS", "[]"}};
  loaded = LoadConfigFrom(sources, "");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message, "TRUCE_MAPPINGS: mappings: can be set in the file only");
}

TEST(ConfigLoad, WarnsOfMistypedVariablesOnly) {
  ConfigSources sources;
  sources.variables = {{"TRUCE_MOD", "audit"},
                       {"HOME", "/"},  // commands hand in all there are
                       {"TRUCE_NO", "1"},
                       {"TRUCE_SERVICE_HOST", "10.0.0.1"},
                       {"TRUCE_PORT_443_TCP", "tcp://10.0.0.1:443"},
                       {"TRUCE_SOMETHING_ELSE_ENTIRELY", "x"}};
  const Result<LoadedConfig> loaded = LoadConfigFrom(sources, "");
  ASSERT_TRUE(loaded.ok());
  ASSERT_EQ(loaded.value().warnings.size(), 1U);
  EXPECT_EQ(loaded.value().warnings[0],
            "variable TRUCE_MOD is not known and has no effect; did you mean 'TRUCE_MODE'?");
}

TEST(ConfigLoad, VariablesAreTakenFromTheEnvironmentByPrefix) {
  const char* const environment[] = {"PATH=/bin", "TRUCE_MODE=audit", "TRUCE_EMPTY=", "TRUCE_",
                                     nullptr};
  const auto variables = TruceVariables(environment);
  EXPECT_EQ(variables.size(), 2U);
  EXPECT_EQ(variables.at("TRUCE_MODE"), "audit");
  EXPECT_EQ(variables.at("TRUCE_EMPTY"), "");
}

TEST(ConfigPrint, ReadsBackToTheSameConfiguration) {
  ConfigSources sources;
  sources.file = kFile;
  sources.variables = {{"TRUCE_SERVER_NAMES", "a.example, b.example"}};
  sources.flags = {{"noCluster", "true"}, {"clusterId", "007"}};
  const Result<LoadedConfig> first = LoadConfigFrom(sources, R"(
mode: warn
typeModes: {s3/Bucket: off}
providerConfigs: [{name: "true", account: "012345678901"}]
mappings:
  - group: platform.example.org
    kind: ObjectStorage
    declares:
      - type: s3/Bucket
        parts: {name: "spec['a.b'].*.name"}
)");
  ASSERT_TRUE(first.ok()) << first.error().message;
  const std::string printed = PrintConfig(first.value());
  const Result<LoadedConfig> second = LoadText(printed);
  ASSERT_TRUE(second.ok()) << second.error().message << "\n" << printed;
  EXPECT_EQ(first.value().config, second.value().config) << printed;
  EXPECT_NE(printed.find("mode: warn  # truce.yaml:2\n"), std::string::npos) << printed;
  EXPECT_NE(printed.find("noCluster: true  # --no-cluster\n"), std::string::npos) << printed;
  EXPECT_NE(printed.find("clusterId: \"007\"  # --cluster-id\n"), std::string::npos) << printed;
  EXPECT_NE(printed.find("serverNames:  # TRUCE_SERVER_NAMES\n  - a.example\n"), std::string::npos);
}

TEST(ConfigPrint, ListsEveryKey) {
  const std::string keys = PrintKeys();
  for (const Key& key : Keys()) {
    EXPECT_NE(keys.find(std::string(key.name) + " ("), std::string::npos) << key.name;
  }
}

TEST(FieldPaths, AcceptedAndRefused) {
  for (const std::string_view path :
       {"spec.a", "spec.a.b-c_d", "spec.*.name", "spec.a[*].b", "spec['a.b/c']", "labels['x/y']",
        "annotations.a", "metadata.name", "metadata.labels['x']", "metadata.annotations.a"}) {
    EXPECT_TRUE(FieldPathOf(path, FieldPath::Root::kObject)) << path;
  }
  for (const std::string_view path :
       {"", "spec", ".spec.a", "spec.", "spec..a", "spec.a.", "spec[a]", "spec['a", "spec['']",
        "spec a", "status.a", "metadata", "metadata.uid", "metadata.labels", "metadata.name.x",
        "kind", "spec.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a"}) {
    EXPECT_FALSE(FieldPathOf(path, FieldPath::Root::kObject)) << path;
  }
  EXPECT_TRUE(FieldPathOf("appName", FieldPath::Root::kValues));
  EXPECT_TRUE(FieldPathOf("objectStorage.*.name", FieldPath::Root::kValues));
}

class ConfigFileTest : public ::testing::Test {
 protected:
  ConfigFileTest() {
    std::string name = ::testing::TempDir() + "truce_config_XXXXXX";
    directory_ = ::mkdtemp(name.data());
    sources_.file = directory_ + "/truce.yaml";
  }
  ~ConfigFileTest() override { std::filesystem::remove_all(directory_); }

  void Write(std::string_view text) { std::ofstream(sources_.file) << text; }
  ConfigHolder Holder() {
    Result<LoadedConfig> loaded = LoadConfig(sources_);
    EXPECT_TRUE(loaded.ok());
    return ConfigHolder(sources_, std::move(loaded).value());
  }
  static Result<void> Agree(const std::shared_ptr<const Config>&) { return {}; }

  std::string directory_;
  ConfigSources sources_;
};

using ReloadKind = ReloadOutcome::Kind;

TEST_F(ConfigFileTest, MissingFileAndDirectoryAreErrors) {
  Result<LoadedConfig> loaded = LoadConfig(sources_);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::kNotFound);
  sources_.file = directory_;
  loaded = LoadConfig(sources_);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::kUnavailable);
}

TEST_F(ConfigFileTest, ReloadTakesPolicyAndLeavesTheRestToARestart) {
  Write("mode: warn\nnoCluster: true\n");
  ConfigHolder holder = Holder();
  EXPECT_EQ(holder.Poll(Agree).kind, ReloadKind::kUnchanged);
  Write("mode: audit\nnoCluster: true\napiAddress: 127.0.0.1:1\n");
  const ReloadOutcome outcome = holder.Poll(Agree);
  EXPECT_EQ(outcome.kind, ReloadKind::kReloaded);
  EXPECT_EQ(outcome.restart_keys, std::vector<std::string>{"apiAddress"});
  EXPECT_EQ(holder.Current()->mode, Mode::kAudit);
  EXPECT_EQ(holder.Current()->api_address, "127.0.0.1:8444");
  EXPECT_EQ(holder.Poll(Agree).kind, ReloadKind::kUnchanged);
}

TEST_F(ConfigFileTest, BadFileKeepsTheLastGoodOneAndIsReportedOnce) {
  Write("mode: warn\n");
  ConfigHolder holder = Holder();
  Write("mode: strict\n");
  const ReloadOutcome outcome = holder.Poll(Agree);
  EXPECT_EQ(outcome.kind, ReloadKind::kRefused);
  EXPECT_EQ(outcome.message,
            sources_.file + ":1: mode: 'strict' is not allowed; use one of off|audit|warn|enforce");
  EXPECT_EQ(holder.Poll(Agree).kind, ReloadKind::kUnchanged);
  std::filesystem::remove(sources_.file);
  EXPECT_EQ(holder.Poll(Agree).kind, ReloadKind::kRefused);
  EXPECT_EQ(holder.Poll(Agree).kind, ReloadKind::kUnchanged);
  EXPECT_EQ(holder.Current()->mode, Mode::kWarn);
  Write("mode: off\n");
  EXPECT_EQ(holder.Poll(Agree).kind, ReloadKind::kReloaded);
  EXPECT_EQ(holder.Current()->mode, Mode::kOff);
}

TEST_F(ConfigFileTest, WhatFollowsFromItCanRefuseAFile) {
  Write("mode: warn\n");
  ConfigHolder holder = Holder();
  Write("mode: audit\n");
  const ReloadOutcome outcome = holder.Poll([](const std::shared_ptr<const Config>&) {
    return Result<void>(Error{ErrorCode::kInvalidArgument, "no such type"});
  });
  EXPECT_EQ(outcome.kind, ReloadKind::kRefused);
  EXPECT_EQ(outcome.message, sources_.file + ": no such type");
  EXPECT_EQ(holder.Current()->mode, Mode::kWarn);
}

}  // namespace config_load_test
}  // namespace truce
