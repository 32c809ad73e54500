// Settings from a kubeconfig file, or from the files of a Pod's service account.
#ifndef TRUCE_WEBHOOK_KUBE_KUBE_CONFIG_H_
#define TRUCE_WEBHOOK_KUBE_KUBE_CONFIG_H_

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "registry/base/result.h"
#include "webhook/kube/server_settings.h"

namespace truce {

// Reads `file` as kubectl does: `context`, or current-context when that is empty; relative paths
// are resolved against the file's folder. Files that it names are not opened yet.
// The proxy is that of proxy-url, else ProxyFor(`variables`). Left out on purpose and refused: user
// name and password, auth-provider, exec plugins that need a terminal, several files ("a:b").
// Errors: kInvalidArgument: "file:line: key: what is wrong", kNotFound (no such file).
Result<ServerSettings> ReadKubeConfig(const std::filesystem::path& file, std::string_view context,
                                      const std::map<std::string, std::string>& variables);

// Where a Pod finds its service account, and how it learns the server's address.
struct ServiceAccountOptions {
  std::filesystem::path folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  std::string host;  // of KUBERNETES_SERVICE_HOST: a name, or an IPv4 or IPv6 address
  std::string port;  // of KUBERNETES_SERVICE_PORT
};

// The options of this process: the environment's two variables and the usual folder.
ServiceAccountOptions ServiceAccountOfProcess();

// Errors: kNotFound (not in a Pod: says which variable or file is missing), kInvalidArgument.
Result<ServerSettings> ReadServiceAccount(const ServiceAccountOptions& options);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_KUBE_CONFIG_H_
