// The address of the server for a command, and the caller's credentials for it.
#ifndef TRUCE_WEBHOOK_CLI_SERVER_SERVER_FINDER_H_
#define TRUCE_WEBHOOK_CLI_SERVER_SERVER_FINDER_H_

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/kube/server_settings.h"

namespace truce {

// The Service of the API as the chart installs it: --via when nothing else is said.
inline constexpr std::string_view kDefaultVia = "truce-system/truce-api";

struct ServerPlace {
  std::string name;          // for messages
  std::string socket;        // the server beside --data-dir; empty: over the network
  ServerSettings network;    // Truce's own address, or the Kubernetes API server's
  std::string prefix;        // of every path: of the Service behind the API server; empty: none
  Parameters impersonation;  // headers for the API server, of --as and --as-group
  std::string account;       // behind the API server: "namespace/name" of whose token is shown
  TextSource token;          // behind the API server: shown instead
  std::vector<std::string> warnings;  // of the configuration that names the data directory
  bool is_guess = false;              // nothing named a server, and none was found
};

// The files that a Pod that asks Truce has mounted.
struct PodFiles {
  std::filesystem::path token = "/var/run/secrets/truce.dev/token";       // of audience truce
  std::filesystem::path authority = "/var/run/secrets/truce.dev/ca.crt";  // of Truce's API
};

// With `beside_only` the server of the data directory; else the first of these that is given or
// there:
//   1. --server, TRUCE_SERVER: the address of the API;
//   2. --via, --kubeconfig, --context, --as, TRUCE_VIA: through the API server's service proxy; in
//   a Pod
//      without kubeconfig --via is the Service itself, as 5;
//   3. --data-dir, --config, TRUCE_DATA_DIR, or DIR/truce.sock: the server on this machine;
//   4. the kubeconfig of KUBECONFIG or ~/.kube/config: as 2;
//   5. in a Pod (KUBERNETES_SERVICE_HOST): https://NAME.NAMESPACE.svc of --via, with the token
//      of `pod` unless another is given, and its authority where one is mounted.
// Errors: kInvalidArgument, also --as where no API server is on the way.
Result<ServerPlace> FindServer(const ApiFlags& flags, const CommandIo& io,
                               const PodFiles& pod = {});

// The Kubernetes API server itself, of the kubeconfig that kubectl would take. Errors: those of
// ReadKubeConfig.
Result<ServerPlace> ApiServerOf(const ApiFlags& flags, const CommandIo& io);

// Opens a place. Through the API server it first asks for a token of the account, of audience truce
// and ten minutes' life, unless one is given, and for another one before that ends. Errors: as
// ApiConnection::Open; former names of flags and variables (kInvalidArgument).
Result<std::unique_ptr<ApiConnection>> ConnectTo(ServerPlace place, Deadline deadline);

// --kubeconfig, else KUBECONFIG, else ~/.kube/config; empty: no home either.
std::filesystem::path KubeConfigOf(const ApiFlags& flags, const CommandIo& io);

// The value of the flag, else of the variable.
std::string FlagOr(const std::string& flag, const char* variable, const CommandIo& io);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_SERVER_SERVER_FINDER_H_
