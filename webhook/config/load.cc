#include "webhook/config/load.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "registry/base/nearest.h"
#include "webhook/config/keys.h"
#include "webhook/wire/node_reader.h"

namespace truce {
namespace {

std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view nearest = Nearest(word, candidates);
  return nearest.empty() ? std::string() : "; did you mean '" + std::string(nearest) + "'?";
}

std::vector<std::string_view> KeyNames() {
  std::vector<std::string_view> names;
  for (const Key& key : Keys()) names.push_back(key.name);
  return names;
}

Error At(std::string_view location, std::string_view name, std::string_view what) {
  return Error{ErrorCode::kInvalidArgument,
               std::string(location).append(": ").append(name).append(": ").append(what)};
}

bool IsListKey(const Key& key) {
  const auto* scalar = std::get_if<ScalarField>(&key.field);
  return scalar != nullptr && std::holds_alternative<std::vector<std::string> Config::*>(*scalar);
}

// True for the keys whose plain value must not look like a number or boolean to YAML.
bool IsTextKey(const Key& key) {
  const auto* scalar = std::get_if<ScalarField>(&key.field);
  return scalar != nullptr && std::holds_alternative<std::string Config::*>(*scalar);
}

YamlNode ListNode(std::string_view text) {
  YamlNode list;
  list.kind = YamlNode::Kind::kSequence;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    list.children.push_back(YamlNode::Scalar(std::string(item), true));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return list;
}

// One loading; fills `loaded_` source by source, from the weakest to the strongest.
class Loader {
 public:
  explicit Loader(const ConfigSources& sources) : sources_(sources) {}

  Result<LoadedConfig> Load(std::string_view content) {
    loaded_.file_content = content;
    YamlNode root;
    root.kind = YamlNode::Kind::kMapping;
    if (!sources_.file.empty()) {
      TRUCE_ASSIGN_OR_RETURN(root, ParseYaml(content, sources_.file));
    }
    TRUCE_RETURN_IF_ERROR(RefuseUnknownKeys(root));
    // noCluster decides defaults of others: it stands before them in the table.
    for (const Key& key : Keys()) TRUCE_RETURN_IF_ERROR(LoadKey(key, root));
    WarnOfUnknownVariables();
    TRUCE_RETURN_IF_ERROR(CheckTogether());
    return std::move(loaded_);
  }

 private:
  Result<void> RefuseUnknownKeys(const YamlNode& root) {
    if (root.kind != YamlNode::Kind::kMapping) {
      return Error{
          ErrorCode::kInvalidArgument,
          sources_.file + ":1: the file is not a map of settings; write 'key: value' lines"};
    }
    for (const YamlKey& key : root.keys) {
      if (FindKey(key.text) != nullptr) continue;
      std::string what = "unknown key" + DidYouMean(key.text, KeyNames());
      if (what == "unknown key") what += "; `truce config --keys` lists all keys";
      return At(sources_.file + ":" + std::to_string(key.location.line), key.text, what);
    }
    return {};
  }

  Result<void> LoadKey(const Key& key, const YamlNode& root) {
    const std::string name(key.name);
    if (const auto flag = sources_.flags.find(name); flag != sources_.flags.end()) {
      return FromText(key, flag->second, Origin::Source::kFlag, FlagOf(key.name));
    }
    const std::string variable = VariableOf(key.name);
    const auto set = sources_.variables.find(variable);
    if (set != sources_.variables.end() && key.IsStructured()) {
      return At(variable, key.name, "can be set in the file only");
    }
    if (set != sources_.variables.end()) {
      return FromText(key, set->second, Origin::Source::kVariable, variable);
    }
    if (const YamlNode* node = root.Find(key.name); node != nullptr) return FromFile(key, *node);
    return FromDefault(key);
  }

  Result<void> FromText(const Key& key, std::string_view text, Origin::Source source,
                        const std::string& location) {
    Result<void> set = SetScalar(key, text, loaded_.config);
    if (!set.ok()) return At(location, key.name, set.error().message);
    Origin& origin = loaded_.origins[std::string(key.name)];
    origin.source = source;
    origin.location = location;
    origin.value =
        IsListKey(key) ? ListNode(text) : YamlNode::Scalar(std::string(text), IsTextKey(key));
    return {};
  }

  Result<void> FromDefault(const Key& key) {
    Origin& origin = loaded_.origins[std::string(key.name)];
    if (key.IsStructured()) {
      const bool is_map = key.type.starts_with("map");
      origin.value.kind = is_map ? YamlNode::Kind::kMapping : YamlNode::Kind::kSequence;
      return {};
    }
    const bool in_cluster = !loaded_.config.no_cluster && !key.cluster_fallback.empty();
    return FromText(key, in_cluster ? key.cluster_fallback : key.fallback, Origin::Source::kDefault,
                    "");
  }

  Result<void> FromFile(const Key& key, const YamlNode& node) {
    const NodeReader reader(sources_.file);
    if (key.IsStructured()) {
      TRUCE_RETURN_IF_ERROR(
          std::get<StructuredField>(key.field)(node, sources_.file, loaded_.config));
    } else if (IsListKey(key)) {
      TRUCE_RETURN_IF_ERROR(ListFromFile(reader, key, node));
    } else {
      TRUCE_RETURN_IF_ERROR(ScalarFromFile(reader, key, node));
    }
    Origin& origin = loaded_.origins[std::string(key.name)];
    origin = Origin{Origin::Source::kFile, reader.LocationOf(node), node};
    return {};
  }

  Result<void> ListFromFile(const NodeReader& reader, const Key& key, const YamlNode& node) {
    TRUCE_ASSIGN_OR_RETURN(const std::vector<std::string> items, reader.Texts(node, key.name));
    auto& list = loaded_.config.*
                 std::get<std::vector<std::string> Config::*>(std::get<ScalarField>(key.field));
    std::vector<std::string> all;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string path = ItemPath(key.name, i);
      if (items[i].find(',') != std::string::npos) {
        return reader.Fail(node.children[i], path, "holds a ','; write each item on its own line");
      }
      Result<void> set = SetScalar(key, items[i], loaded_.config);
      if (!set.ok()) return reader.Fail(node.children[i], path, set.error().message);
      all.push_back(items[i]);
    }
    list = std::move(all);
    return {};
  }

  Result<void> ScalarFromFile(const NodeReader& reader, const Key& key, const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kScalar) {
      return reader.Fail(node, key.name,
                         "is a list or map; write one value: " + std::string(key.type));
    }
    if (!node.quoted && (node.scalar.empty() || node.scalar == "~" || node.scalar == "null")) {
      return reader.Fail(node, key.name,
                         "has no value; write " + std::string(key.type) + ", or remove the line");
    }
    if (IsTextKey(key) && !node.scalar.empty()) {
      TRUCE_RETURN_IF_ERROR(reader.Text(node, key.name));
    }
    Result<void> set = SetScalar(key, node.scalar, loaded_.config);
    if (!set.ok()) return reader.Fail(node, key.name, set.error().message);
    return {};
  }

  // A mistyped variable would silently do nothing. Kubernetes itself adds variables for a Service
  // named "truce" to every container; these are no slips.
  void WarnOfUnknownVariables() {
    // Variables of commands, besides those of settings.
    std::vector<std::string> known = {"TRUCE_CONFIG",     "TRUCE_SERVER",         "TRUCE_TOKEN",
                                      "TRUCE_TOKEN_FILE", "TRUCE_CA_FILE",        "TRUCE_NAMESPACE",
                                      "TRUCE_VIA",        "TRUCE_SERVICE_ACCOUNT"};
    for (const Key& key : Keys()) known.push_back(VariableOf(key.name));
    // The prefix that all share makes no two of them alike.
    constexpr std::string_view kPrefix = "TRUCE_";
    std::vector<std::string_view> candidates;
    for (const std::string_view each : known) candidates.push_back(each.substr(kPrefix.size()));
    for (const auto& [name, value] : sources_.variables) {
      const bool is_ours = name.starts_with(kPrefix);
      if (!is_ours || std::find(known.begin(), known.end(), name) != known.end()) continue;
      std::string hint(Nearest(std::string_view(name).substr(kPrefix.size()), candidates));
      if (!hint.empty()) hint = "; did you mean '" + std::string(kPrefix) + hint + "'?";
      const bool is_service_link =
          name.find("_SERVICE_") != std::string::npos || name.find("_PORT") != std::string::npos;
      if (is_service_link || hint.empty()) continue;
      loaded_.warnings.push_back("variable " + name + " is not known and has no effect" + hint);
    }
  }

  std::string LocationOf(std::string_view key) const {
    const Origin& origin = loaded_.origins.find(key)->second;
    return origin.location.empty() ? "default" : origin.location;
  }

  Error Together(std::string_view key, std::string_view what) const {
    return At(LocationOf(key), key, what);
  }

  Result<void> CheckTogether() {
    const Config& config = loaded_.config;
    if (config.tls_cert_file.empty() != config.tls_key_file.empty()) {
      const bool has_cert = !config.tls_cert_file.empty();
      return Together(has_cert ? "tlsCertFile" : "tlsKeyFile",
                      "tlsCertFile and tlsKeyFile belong together; set both or none");
    }
    if (!config.admission_client_names.empty() && config.admission_client_ca.empty()) {
      return Together("admissionClientNames", "needs admissionClientCA");
    }
    if (config.admission_client_names.empty() && !config.admission_client_ca.empty()) {
      return Together("admissionClientCA",
                      "needs admissionClientNames: without names every certificate of the "
                      "authority could send reviews, with a cluster's own every kubelet's; name "
                      "what the API server shows, for example kube-apiserver-kubelet-client");
    }
    if (!config.api_proxy_names.empty() && config.api_client_ca.empty()) {
      return Together("apiProxyNames", "needs apiClientCA, the authority of the certificates");
    }
    const bool has_clients = !config.api_clients.empty() || !config.api_proxy_names.empty();
    if (has_clients == config.api_client_ca.empty()) {
      return Together(has_clients ? "apiClients" : "apiClientCA",
                      "apiClientCA and apiClients belong together; set both or none");
    }
    const int cluster_count = (config.no_cluster ? 1 : 0) + (config.in_cluster ? 1 : 0) +
                              (config.kubeconfig.empty() ? 0 : 1);
    if (cluster_count > 1) {
      const std::string_view key = config.no_cluster ? "noCluster" : "inCluster";
      return Together(key, "only one of noCluster, inCluster and kubeconfig can be set");
    }
    if (!config.certificate_secret.empty() && !config.tls_cert_file.empty()) {
      return Together(
          "certificateSecret",
          "is for certificates that Truce makes; remove it, or tlsCertFile and tlsKeyFile");
    }
    if (!config.certificate_secret.empty() && config.no_cluster) {
      return Together("certificateSecret", "needs a cluster; remove it or noCluster");
    }
    // They become one condition of the webhook's entry for statuses.
    constexpr std::size_t kPatternsMax = 64;
    constexpr std::size_t kPatternBytesMax = 512;
    for (const auto& [key, patterns] :
         {std::pair{"providers", &config.providers}, std::pair{"restorers", &config.restorers}}) {
      if (patterns->size() > kPatternsMax) {
        return Together(key, "holds more than 64 patterns; join some with '*'");
      }
      for (const std::string& pattern : *patterns) {
        if (pattern.size() <= kPatternBytesMax) continue;
        return Together(key, "holds a pattern of more than 512 bytes; no user's name is as long");
      }
    }
    TRUCE_RETURN_IF_ERROR(CheckStoreTogether());
    TRUCE_RETURN_IF_ERROR(CheckAddresses());
    if (config.data_dir.empty()) return Together("dataDir", "must name a directory");
    return {};
  }

  // Else the second one would find the port taken, and not know by whom.
  Result<void> CheckAddresses() {
    const Config& config = loaded_.config;
    std::map<std::string_view, std::string_view> taken;
    for (const auto& [key, address] : {std::pair{"admissionAddress", &config.admission_address},
                                       std::pair{"apiAddress", &config.api_address},
                                       std::pair{"metricsAddress", &config.metrics_address},
                                       std::pair{"probesAddress", &config.probes_address}}) {
      if (address->ends_with(":0")) continue;  // each gets a free one
      const auto [other, is_new] = taken.emplace(*address, key);
      if (!is_new) {
        return Together(key, "is " + *address + ", as " + std::string(other->second) +
                                 " is; give each a port of its own");
      }
    }
    return {};
  }

  Result<void> CheckStoreTogether() {
    const Config& config = loaded_.config;
    if (!config.store_password_file.empty() && !config.store_password_command.empty()) {
      return Together("storePasswordCommand",
                      "there is storePasswordFile already; remove one of the two");
    }
    if (IsPostgresUrl(config.store)) return {};
    const std::string_view idle = !config.store_password_file.empty()      ? "storePasswordFile"
                                  : !config.store_password_command.empty() ? "storePasswordCommand"
                                  : config.store_durability != StoreDurability::kReplicated
                                      ? "storeDurability"
                                      : "";
    if (!idle.empty()) {
      return Together(idle, "is for a store in PostgreSQL; remove it, or set store to its URL");
    }
    return {};
  }

  const ConfigSources& sources_;
  LoadedConfig loaded_;
};

}  // namespace

Result<LoadedConfig> LoadConfig(const ConfigSources& sources) {
  std::string content;
  if (!sources.file.empty()) {
    Result<std::string> read = ReadConfigFile(sources.file);
    if (!read.ok()) return std::move(read).error().Within("configuration file");
    content = std::move(read).value();
  }
  return LoadConfigFrom(sources, content);
}

Result<LoadedConfig> LoadConfigFrom(const ConfigSources& sources, std::string_view content) {
  return Loader(sources).Load(content);
}

std::map<std::string, std::string> TruceVariables(const char* const* environment) {
  std::map<std::string, std::string> variables;
  for (const char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (!text.starts_with("TRUCE_") || equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Result<std::string> ReadConfigFile(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
    return Error{code, path + ": " + std::strerror(errno)};
  }
  std::string content;
  std::array<char, 65536> chunk{};
  ssize_t got = 0;
  while ((got = ::read(file, chunk.data(), chunk.size())) > 0 && content.size() <= kYamlBytesMax) {
    content.append(chunk.data(), static_cast<std::size_t>(got));
  }
  const int read_error = got < 0 ? errno : 0;
  ::close(file);
  if (read_error != 0)
    return Error{ErrorCode::kUnavailable, path + ": " + std::strerror(read_error)};
  if (content.size() > kYamlBytesMax) {
    return Error{ErrorCode::kInvalidArgument,
                 path + ":1: larger than " + std::to_string(kYamlBytesMax) + " bytes"};
  }
  return content;
}

}  // namespace truce
