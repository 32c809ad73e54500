// The API server and our credentials for it, from a kubeconfig or a Pod's service account.
#ifndef TRUCE_WEBHOOK_KUBE_SERVER_SETTINGS_H_
#define TRUCE_WEBHOOK_KUBE_SERVER_SETTINGS_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/result.h"

namespace truce {

// "https://[fd00::1]:6443/k8s/clusters/c-1".
struct ServerAddress {
  bool tls = true;
  std::string host;  // name or address, without brackets
  std::uint16_t port = 443;
  std::string path;  // prefix of every request path; empty, or begins with '/' and does not end so
  std::string socket = {};  // path of a Unix socket that is meant instead of host and port

  bool operator==(const ServerAddress&) const = default;
};

// Errors: kInvalidArgument (not http or https, no host, a bad port, user information, a query).
Result<ServerAddress> ParseServerAddress(std::string_view url);
// "host:port", with brackets around an IPv6 address; as in the Host field and in messages.
std::string HostAndPort(const ServerAddress& address);
// "localhost", 127.0.0.0/8 or ::1: bytes sent there in clear stay on the machine.
bool IsLoopback(std::string_view host);

// Text in the settings, or in a file that is read again when it changes.
struct TextSource {
  std::string text;
  std::filesystem::path file;  // used when `text` is empty

  bool given() const { return !text.empty() || !file.empty(); }
  bool operator==(const TextSource&) const = default;
};

// A program that prints an ExecCredential (client.authentication.k8s.io).
struct ExecSettings {
  std::string api_version;        // v1 or v1beta1, with its group
  std::filesystem::path command;  // a bare name is looked for in PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // on top of ours
  std::string install_hint;
  bool provide_cluster_info = false;

  bool operator==(const ExecSettings&) const = default;
};

struct UserSettings {
  TextSource certificate;  // PEM, leaf first; with `key`
  TextSource key;
  TextSource token;
  std::optional<ExecSettings> exec;

  bool operator==(const UserSettings&) const = default;
};

// An HTTP proxy. It opens connections to a server when CONNECT asks for one.
struct ProxySettings {
  ServerAddress address;
  std::string authorization;  // "Basic …"; empty: none

  bool operator==(const ProxySettings&) const = default;
};

struct ServerSettings {
  ServerAddress address;
  std::optional<ProxySettings> proxy = {};
  TextSource authority;         // PEM; none: the system's
  std::string tls_server_name;  // instead of the address's host; may be empty
  bool verify = true;           // false: insecure-skip-tls-verify
  UserSettings user;
  std::string ns;      // of the context; may be empty
  std::string origin;  // "context 'prod' of /home/a/.kube/config", for messages

  bool operator==(const ServerSettings&) const = default;
};

// Where its connections go first: to the proxy, else to the server.
inline const ServerAddress& FirstHop(const ServerSettings& settings) {
  return settings.proxy ? settings.proxy->address : settings.address;
}

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_SERVER_SETTINGS_H_
