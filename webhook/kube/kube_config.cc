#include "webhook/kube/kube_config.h"

#include <cstdlib>
#include <optional>
#include <system_error>
#include <vector>

#include "registry/base/file.h"
#include "webhook/kube/proxy.h"
#include "webhook/wire/base64.h"
#include "webhook/wire/yaml.h"

namespace truce {
namespace {

constexpr std::string_view kExecV1 = "client.authentication.k8s.io/v1";
constexpr std::string_view kExecV1Beta1 = "client.authentication.k8s.io/v1beta1";

// Nothing, null and "" mean the same in a kubeconfig: not set.
bool IsUnset(const YamlNode* node) {
  if (node == nullptr) return true;
  if (node->kind != YamlNode::Kind::kScalar) return false;
  if (node->scalar.empty()) return true;
  return !node->quoted && (node->scalar == "null" || node->scalar == "~");
}

// Reads members of the file's mappings; every complaint names file, line and key.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file)
      : file_(file.string()), folder_(file.parent_path()) {}

  Error Fail(int line, std::string_view key, std::string_view what) const {
    std::string message = file_ + ":" + std::to_string(line) + ": ";
    message.append(key).append(": ").append(what);
    return Error{ErrorCode::kInvalidArgument, std::move(message)};
  }

  // The text of member `key`, or nothing when it is not set.
  Result<std::optional<std::string>> Text(const YamlNode& mapping, std::string_view key) const {
    const YamlNode* node = mapping.Find(key);
    if (IsUnset(node)) return std::optional<std::string>();
    if (node->kind != YamlNode::Kind::kScalar)
      return Fail(node->location.line, key, "must be text");
    return std::optional<std::string>(node->scalar);
  }

  Result<bool> Flag(const YamlNode& mapping, std::string_view key) const {
    const YamlNode* node = mapping.Find(key);
    if (IsUnset(node)) return false;
    if (node->kind == YamlNode::Kind::kScalar && !node->quoted) {
      if (node->scalar == "true") return true;
      if (node->scalar == "false") return false;
    }
    return Fail(node->location.line, key, "must be true or false");
  }

  // Member `key` when it is a mapping; null when it is not set.
  Result<const YamlNode*> Mapping(const YamlNode& parent, std::string_view key) const {
    const YamlNode* node = parent.Find(key);
    if (IsUnset(node)) return static_cast<const YamlNode*>(nullptr);
    if (node->kind != YamlNode::Kind::kMapping) {
      return Fail(node->location.line, key, "must be a mapping");
    }
    return node;
  }

  // The entry `name` of the list `list`, and in it the mapping `inner`.
  Result<const YamlNode*> Named(const YamlNode& root, std::string_view list, std::string_view name,
                                std::string_view inner) const {
    const YamlNode* entries = root.Find(list);
    if (!IsUnset(entries) && entries->kind != YamlNode::Kind::kSequence) {
      return Fail(entries->location.line, list, "must be a list");
    }
    const std::string quoted = std::string(inner) + " '" + std::string(name) + "'";
    if (IsUnset(entries)) return Fail(1, list, "no " + quoted);
    for (const YamlNode& entry : entries->children) {
      if (entry.kind != YamlNode::Kind::kMapping) {
        return Fail(entry.location.line, list, "each entry must be a mapping with a name");
      }
      TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> own, Text(entry, "name"));
      if (!own) return Fail(entry.location.line, list, "an entry without name");
      if (*own != name) continue;
      TRUCE_ASSIGN_OR_RETURN(const YamlNode* found, Mapping(entry, inner));
      if (found == nullptr) return Fail(entry.location.line, inner, quoted + " is empty");
      return found;
    }
    return Fail(entries->location.line, list, "no " + quoted);
  }

  // Member `key`-data (base64) or `key` (a file); the data win, as in kubectl.
  Result<TextSource> Pem(const YamlNode& mapping, const std::string& key) const {
    TextSource source;
    const std::string data_key = key + "-data";
    TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> data, Text(mapping, data_key));
    if (data) {
      std::optional<std::string> decoded = DecodeBase64(*data);
      if (!decoded) return Fail(mapping.Find(data_key)->location.line, data_key, "is not base64");
      source.text = std::move(*decoded);
      return source;
    }
    TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> file, Text(mapping, key));
    if (file) source.file = Resolve(*file);
    return source;
  }

  std::filesystem::path Resolve(const std::filesystem::path& path) const {
    return path.is_absolute() ? path : (folder_ / path).lexically_normal();
  }

 private:
  std::string file_;
  std::filesystem::path folder_;
};

Result<void> RefuseKeys(const Reader& reader, const YamlNode& mapping,
                        std::initializer_list<std::pair<std::string_view, std::string_view>> keys) {
  for (const auto& [key, why] : keys) {
    const YamlNode* node = mapping.Find(key);
    if (!IsUnset(node)) return reader.Fail(node->location.line, key, why);
  }
  return {};
}

Result<void> ReadCluster(const Reader& reader, const YamlNode& cluster,
                         const std::map<std::string, std::string>& variables,
                         ServerSettings& settings) {
  TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> server, reader.Text(cluster, "server"));
  if (!server) return reader.Fail(cluster.location.line, "server", "is missing");
  Result<ServerAddress> address = ParseServerAddress(*server);
  if (!address.ok()) {
    return reader.Fail(cluster.Find("server")->location.line, "server", address.error().message);
  }
  settings.address = std::move(address).value();
  TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> proxy, reader.Text(cluster, "proxy-url"));
  if (proxy) {
    Result<ProxySettings> parsed = ParseProxy(*proxy);
    if (!parsed.ok()) {
      return reader.Fail(cluster.Find("proxy-url")->location.line, "proxy-url",
                         parsed.error().message);
    }
    settings.proxy = std::move(parsed).value();
  } else {
    TRUCE_ASSIGN_OR_RETURN(settings.proxy, ProxyFor(settings.address, variables));
  }
  TRUCE_ASSIGN_OR_RETURN(settings.authority, reader.Pem(cluster, "certificate-authority"));
  TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> name,
                         reader.Text(cluster, "tls-server-name"));
  settings.tls_server_name = name.value_or("");
  TRUCE_ASSIGN_OR_RETURN(const bool skip, reader.Flag(cluster, "insecure-skip-tls-verify"));
  if (skip && settings.authority.given()) {
    return reader.Fail(cluster.Find("insecure-skip-tls-verify")->location.line,
                       "insecure-skip-tls-verify",
                       "true together with a certificate authority; remove one of them");
  }
  settings.verify = !skip;
  return {};
}

Result<void> ReadExecLists(const Reader& reader, const YamlNode& exec, ExecSettings& settings) {
  if (const YamlNode* arguments = exec.Find("args"); !IsUnset(arguments)) {
    if (arguments->kind != YamlNode::Kind::kSequence) {
      return reader.Fail(arguments->location.line, "args", "must be a list");
    }
    for (const YamlNode& argument : arguments->children) {
      if (argument.kind != YamlNode::Kind::kScalar) {
        return reader.Fail(argument.location.line, "args", "each one must be text");
      }
      settings.arguments.push_back(argument.scalar);
    }
  }
  const YamlNode* variables = exec.Find("env");
  if (IsUnset(variables)) return {};
  if (variables->kind != YamlNode::Kind::kSequence) {
    return reader.Fail(variables->location.line, "env", "must be a list");
  }
  for (const YamlNode& variable : variables->children) {
    if (variable.kind != YamlNode::Kind::kMapping) {
      return reader.Fail(variable.location.line, "env", "each one must have name and value");
    }
    TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> name, reader.Text(variable, "name"));
    TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> value, reader.Text(variable, "value"));
    if (!name || name->find('=') != std::string::npos) {
      return reader.Fail(variable.location.line, "env", "each one must have a valid name");
    }
    settings.environment.emplace_back(*name, value.value_or(""));
  }
  return {};
}

Result<ExecSettings> ReadExec(const Reader& reader, const YamlNode& exec) {
  ExecSettings settings;
  TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> version, reader.Text(exec, "apiVersion"));
  settings.api_version = version.value_or("");
  if (settings.api_version != kExecV1 && settings.api_version != kExecV1Beta1) {
    const YamlNode* node = exec.Find("apiVersion");
    return reader.Fail(node == nullptr ? exec.location.line : node->location.line, "apiVersion",
                       "of an exec plugin must be " + std::string(kExecV1) + " or v1beta1");
  }
  TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> command, reader.Text(exec, "command"));
  if (!command) return reader.Fail(exec.location.line, "command", "is missing");
  // As kubectl: a path is relative to the kubeconfig, a bare name is looked for in PATH.
  const bool is_path = command->find('/') != std::string::npos;
  settings.command = is_path ? reader.Resolve(*command) : std::filesystem::path(*command);
  TRUCE_RETURN_IF_ERROR(ReadExecLists(reader, exec, settings));
  TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> hint, reader.Text(exec, "installHint"));
  settings.install_hint = hint.value_or("");
  TRUCE_ASSIGN_OR_RETURN(settings.provide_cluster_info, reader.Flag(exec, "provideClusterInfo"));
  TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> mode,
                         reader.Text(exec, "interactiveMode"));
  if (mode == "Always") {
    return reader.Fail(exec.Find("interactiveMode")->location.line, "interactiveMode",
                       "'Always': nobody sits at Truce's terminal");
  }
  return settings;
}

Result<void> ReadUser(const Reader& reader, const YamlNode& user, UserSettings& settings) {
  static constexpr std::string_view kNoPassword =
      "API servers take no user name and password since Kubernetes 1.19; use a token, a client "
      "certificate or an exec plugin";
  TRUCE_RETURN_IF_ERROR(
      RefuseKeys(reader, user,
                 {{"username", kNoPassword},
                  {"password", kNoPassword},
                  {"auth-provider", "was removed in Kubernetes 1.26; use an exec plugin"},
                  {"as", "impersonation is not supported"}}));
  TRUCE_ASSIGN_OR_RETURN(settings.certificate, reader.Pem(user, "client-certificate"));
  TRUCE_ASSIGN_OR_RETURN(settings.key, reader.Pem(user, "client-key"));
  if (settings.certificate.given() != settings.key.given()) {
    return reader.Fail(user.location.line,
                       settings.key.given() ? "client-certificate" : "client-key",
                       "is missing: a certificate and its key come together");
  }
  // The file wins over the text, as in kubectl: it is the one that is renewed.
  TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> file, reader.Text(user, "tokenFile"));
  TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> token, reader.Text(user, "token"));
  if (file) {
    settings.token.file = reader.Resolve(*file);
  } else {
    settings.token.text = token.value_or("");
  }
  TRUCE_ASSIGN_OR_RETURN(const YamlNode* exec, reader.Mapping(user, "exec"));
  if (exec == nullptr) return {};
  TRUCE_ASSIGN_OR_RETURN(settings.exec, ReadExec(reader, *exec));
  return {};
}

Result<std::string> ContextName(const Reader& reader, const YamlNode& root,
                                std::string_view asked) {
  if (!asked.empty()) return std::string(asked);
  TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> name,
                         reader.Text(root, "current-context"));
  if (!name) return reader.Fail(1, "current-context", "is not set, and no context was named");
  return *name;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Result<ServerSettings> ReadKubeConfig(const std::filesystem::path& file, std::string_view context,
                                      const std::map<std::string, std::string>& variables) {
  std::error_code ignored;
  if (file.native().find(':') != std::string::npos && !std::filesystem::exists(file, ignored)) {
    return Error{ErrorCode::kInvalidArgument,
                 "kubeconfig '" + file.string() +
                     "': several files are not supported; name one (kubectl config view --flatten "
                     "makes one of them)"};
  }
  const std::filesystem::path absolute = std::filesystem::absolute(file, ignored);
  Result<std::string> text = ReadSmallFile(absolute);
  if (!text.ok()) return std::move(text).error().Within("kubeconfig");
  TRUCE_ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text.value(), file.string()));
  const Reader reader(file.is_absolute() ? file : absolute);
  if (root.kind != YamlNode::Kind::kMapping) {
    return reader.Fail(1, "kind", "not a kubeconfig: it must be a mapping");
  }
  TRUCE_ASSIGN_OR_RETURN(const std::string name, ContextName(reader, root, context));
  TRUCE_ASSIGN_OR_RETURN(const YamlNode* chosen, reader.Named(root, "contexts", name, "context"));
  ServerSettings settings;
  settings.origin = "context '" + name + "' of " + file.string();
  TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> cluster, reader.Text(*chosen, "cluster"));
  if (!cluster) return reader.Fail(chosen->location.line, "cluster", "is missing");
  TRUCE_ASSIGN_OR_RETURN(const YamlNode* server,
                         reader.Named(root, "clusters", *cluster, "cluster"));
  TRUCE_RETURN_IF_ERROR(ReadCluster(reader, *server, variables, settings));
  TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> ns, reader.Text(*chosen, "namespace"));
  settings.ns = ns.value_or("");
  TRUCE_ASSIGN_OR_RETURN(const std::optional<std::string> user, reader.Text(*chosen, "user"));
  if (!user) return settings;
  TRUCE_ASSIGN_OR_RETURN(const YamlNode* found, reader.Named(root, "users", *user, "user"));
  TRUCE_RETURN_IF_ERROR(ReadUser(reader, *found, settings.user));
  return settings;
}

ServiceAccountOptions ServiceAccountOfProcess() {
  ServiceAccountOptions options;
  options.host = Variable("KUBERNETES_SERVICE_HOST");
  options.port = Variable("KUBERNETES_SERVICE_PORT");
  return options;
}

Result<ServerSettings> ReadServiceAccount(const ServiceAccountOptions& options) {
  if (options.host.empty() || options.port.empty()) {
    return Error{ErrorCode::kNotFound,
                 "not in a Pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set"};
  }
  ServerSettings settings;
  const bool is_ipv6 = options.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + options.host + "]" : options.host;
  TRUCE_ASSIGN_OR_RETURN(settings.address,
                         ParseServerAddress("https://" + host + ":" + options.port));
  settings.authority.file = options.folder / "ca.crt";
  settings.user.token.file = options.folder / "token";
  settings.origin = "the service account in " + options.folder.string();
  for (const std::filesystem::path& file : {settings.authority.file, settings.user.token.file}) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
      return Error{ErrorCode::kNotFound, "no service account: '" + file.string() +
                                             "' is missing (automountServiceAccountToken?)"};
    }
  }
  return settings;
}

}  // namespace truce
