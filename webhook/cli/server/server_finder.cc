#include "webhook/cli/server/server_finder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "registry/base/text.h"
#include "webhook/kube/http_call.h"
#include "webhook/kube/kube_config.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

// Behind the API server's proxy, which keeps Authorization to itself (webhook/api/auth).
constexpr const char* kForwardedToken = "X-Truce-Authorization";
constexpr int kTokenSeconds = 600;
constexpr std::size_t kNameBytesMax = 253;

// "namespace/name", both names of Kubernetes.
struct NamespacedName {
  std::string ns;
  std::string name;
};
Result<NamespacedName> NameIn(const std::string& text, const char* flag) {
  const std::size_t slash = text.find('/');
  const bool good =
      slash != std::string::npos && slash > 0 && slash + 1 < text.size() &&
      text.size() <= 2 * kNameBytesMax && text.find('/', slash + 1) == std::string::npos &&
      std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
      });
  if (good) return NamespacedName{text.substr(0, slash), text.substr(slash + 1)};
  return Error{ErrorCode::kInvalidArgument,
               std::string(flag) + ": '" + text + "' is not of the form NAMESPACE/NAME"};
}

// What is shown to Truce: a file, or the text itself.
TextSource TokenOf(const ApiFlags& flags, const CommandIo& io) {
  TextSource token;
  token.file = FlagOr(flags.token_file, "TRUCE_TOKEN_FILE", io);
  if (token.file.empty()) token.text = FlagOr({}, "TRUCE_TOKEN", io);
  return token;
}

Result<ServerPlace> AtAddress(const std::string& server, const ApiFlags& flags,
                              const CommandIo& io) {
  ServerPlace place;
  place.name = server;
  Result<ServerAddress> address =
      ParseServerAddress(server.find("://") == std::string::npos ? "https://" + server : server);
  if (!address.ok()) return std::move(address).error().Within("--server");
  place.network.address = std::move(address).value();
  place.network.origin = "--server";
  place.network.authority.file = FlagOr(flags.ca_file, "TRUCE_CA_FILE", io);
  place.network.user.token = TokenOf(flags, io);
  return place;
}

std::string ViaOr(std::string_view otherwise, const ApiFlags& flags, const CommandIo& io) {
  const std::string via = FlagOr(flags.via, "TRUCE_VIA", io);
  return via.empty() ? std::string(otherwise) : via;
}

Result<ServerPlace> InPod(const ApiFlags& flags, const CommandIo& io, const PodFiles& pod) {
  TRUCE_ASSIGN_OR_RETURN(const NamespacedName service,
                         NameIn(ViaOr(kDefaultVia, flags, io), "--via"));
  TRUCE_ASSIGN_OR_RETURN(
      ServerPlace place,
      AtAddress("https://" + service.name + "." + service.ns + ".svc:8444", flags, io));
  if (!place.network.user.token.given()) place.network.user.token.file = pod.token;
  std::error_code ignored;
  if (!place.network.authority.given() && std::filesystem::exists(pod.authority, ignored)) {
    place.network.authority.file = pod.authority;
  }
  return place;
}

Result<ServerPlace> BehindApiServer(const std::filesystem::path& kubeconfig, const ApiFlags& flags,
                                    const CommandIo& io) {
  const std::string via = ViaOr(kDefaultVia, flags, io);
  TRUCE_ASSIGN_OR_RETURN(const NamespacedName service, NameIn(via, "--via"));
  ServerPlace place;
  TRUCE_ASSIGN_OR_RETURN(place.network, ReadKubeConfig(kubeconfig, flags.context));
  place.name = "service " + via + " behind " + place.network.origin;
  place.prefix =
      "/api/v1/namespaces/" + service.ns + "/services/https:" + service.name + ":api/proxy";
  place.token = TokenOf(flags, io);
  place.account = FlagOr(flags.as, "TRUCE_AS", io);
  if (!place.account.empty()) TRUCE_RETURN_IF_ERROR(NameIn(place.account, "--as"));
  return place;
}

ServerPlace AtSocket(LoadedConfig loaded) {
  ServerPlace place;
  place.socket = loaded.config.data_dir + "/truce.sock";
  place.name = place.socket;
  place.network.address = {
      .tls = false, .host = "truce", .port = 80, .path = {}, .socket = place.socket};
  place.warnings = std::move(loaded.warnings);
  return place;
}

// Path and parameters, as they stand in a request line.
std::string TargetOf(const ApiQuestion& question) {
  std::string target = question.path;
  char separator = '?';
  for (const auto& [name, value] : question.parameters) {
    if (value.empty()) continue;
    target += separator;
    target.append(name).append("=").append(UriEncoded(value));
    separator = '&';
  }
  return target;
}

std::string MethodOf(const ApiQuestion& question) {
  if (!question.method.empty()) return question.method;
  return question.body.empty() ? "GET" : "POST";
}

// Truce, or the Kubernetes API server.
class ServerApi final : public ApiConnection {
 public:
  static Result<std::unique_ptr<ServerApi>> Open(ServerPlace place) {
    std::unique_ptr<ServerApi> out(new ServerApi(place));
    TRUCE_ASSIGN_OR_RETURN(out->session_,
                           ServerSession::Open(std::move(place.network), out->clock_, {}));
    out->pool_.emplace(out->session_, HttpPoolOptions{.response_bytes_max = kAnswerBytesMax});
    return out;
  }

  const std::string& name() const override { return name_; }

  // The token that Truce is shown where the API server keeps Authorization to itself.
  void ShowToken(std::string token) { token_ = std::move(token); }

  Result<ApiResponse> Send(const ApiQuestion& question, Deadline deadline) override {
    std::error_code ignored;
    if (!socket_.empty() && !std::filesystem::exists(socket_, ignored)) {
      return Error{ErrorCode::kNotFound, "No such file or directory"};
    }
    return Send(prefix_ + TargetOf(question), question, deadline);
  }
  Result<ApiResponse> Send(std::string target, const ApiQuestion& question, Deadline deadline) {
    HttpCall call;
    call.target = std::move(target);
    call.method = MethodOf(question);
    call.body = question.body;
    call.receive = question.receive;
    if (!call.body.empty()) call.content_type = "application/json";
    if (!question.if_match.empty()) call.headers.emplace_back("If-Match", question.if_match);
    if (!token_.empty()) call.headers.emplace_back(kForwardedToken, "Bearer " + token_);
    const auto reply = pool_->Do(call, session_->Current(), deadline);
    if (reply.ok()) {
      const HttpReply& got = reply.value();
      return ApiResponse{got.head.status, got.body, got.head.retry_after, got.head.warnings};
    }
    const std::string& message = reply.error().message;
    if (!socket_.empty()) return Error{ErrorCode::kUnavailable, OnSocket(reply.error())};
    if (message.find(kNotAccepted) == std::string::npos) {
      return Error{ErrorCode::kUnavailable, message};
    }
    return Error{ErrorCode::kInvalidArgument, message + "; check the address and --ca-file"};
  }

 private:
  // Of the client below: the server's certificate does not fit the authority.
  static constexpr std::string_view kNotAccepted = "its certificate is not accepted";

  // A report about a large cluster.
  static constexpr std::size_t kAnswerBytesMax = 256 * 1024 * 1024;

  explicit ServerApi(const ServerPlace& place)
      : name_(place.name), prefix_(place.prefix), socket_(place.socket) {}

  // Without the address, which says nothing of a socket.
  static std::string OnSocket(const ApiError& error) {
    if (error.kind == ApiErrorKind::kTimeout) return "no answer in time";
    if (error.kind == ApiErrorKind::kMalformed) return "what answers is not a Truce server";
    const std::size_t colon = error.message.rfind(": ");
    return colon == std::string::npos ? error.message : error.message.substr(colon + 2);
  }

  const SystemClock clock_;
  const std::string name_;
  const std::string prefix_;
  const std::string socket_;
  std::string token_;
  std::shared_ptr<ServerSession> session_;
  std::optional<HttpPool> pool_;
};

// A token of the account, of audience truce, as the API server gives it to this user.
Result<std::string> RequestToken(ServerApi& cluster, const std::string& account,
                                 Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(const NamespacedName name, NameIn(account, "--as"));
  ApiQuestion question{};
  question.body = Json{{"apiVersion", "authentication.k8s.io/v1"},
                       {"kind", "TokenRequest"},
                       {"spec", {{"audiences", {"truce"}}, {"expirationSeconds", kTokenSeconds}}}}
                      .dump();
  TRUCE_ASSIGN_OR_RETURN(
      const ApiResponse reply,
      cluster.Send("/api/v1/namespaces/" + name.ns + "/serviceaccounts/" + name.name + "/token",
                   question, deadline));
  const Json answer = ParseJson(reply.body);
  const Json::json_pointer place("/status/token");
  if (reply.status == 201 && answer.is_object() && answer.contains(place) &&
      answer[place].is_string()) {
    return answer[place].get<std::string>();
  }
  return Error{ErrorCodeOfStatus(reply.status), "no token of ServiceAccount " + account + ": " +
                                                    ProblemText(reply.body, reply.status)};
}

}  // namespace

std::string FlagOr(const std::string& flag, const char* variable, const CommandIo& io) {
  if (!flag.empty()) return flag;
  const auto found = io.variables.find(variable);
  return found == io.variables.end() ? std::string() : found->second;
}

Result<ServerPlace> FindServer(const ApiFlags& flags, const CommandIo& io, const PodFiles& pod) {
  if (flags.beside_only) {
    TRUCE_ASSIGN_OR_RETURN(LoadedConfig loaded, LoadConfig(SourcesOf(*flags.config, io)));
    return AtSocket(std::move(loaded));
  }
  const std::string server = FlagOr(flags.server, "TRUCE_SERVER", io);
  if (!server.empty()) return AtAddress(server, flags, io);
  const std::filesystem::path kubeconfig = KubeConfigOf(flags, io);
  std::error_code ignored;
  const bool has_kubeconfig = !kubeconfig.empty() && std::filesystem::exists(kubeconfig, ignored);
  const bool in_pod = !has_kubeconfig && flags.kubeconfig.empty() && flags.context.empty() &&
                      !FlagOr({}, "KUBERNETES_SERVICE_HOST", io).empty();
  const bool says_via = !ViaOr({}, flags, io).empty();
  if (in_pod && says_via) return InPod(flags, io, pod);
  if (says_via || !flags.kubeconfig.empty() || !flags.context.empty()) {
    return BehindApiServer(kubeconfig, flags, io);
  }
  TRUCE_ASSIGN_OR_RETURN(LoadedConfig loaded, LoadConfig(SourcesOf(*flags.config, io)));
  ServerPlace local = AtSocket(std::move(loaded));
  const bool says_local =
      !flags.config->file.empty() || flags.config->values.count("dataDir") > 0 ||
      io.variables.count("TRUCE_DATA_DIR") > 0 || io.variables.count("TRUCE_CONFIG") > 0;
  if (says_local || std::filesystem::exists(local.socket, ignored)) return local;
  if (has_kubeconfig) return BehindApiServer(kubeconfig, flags, io);
  return in_pod ? InPod(flags, io, pod) : Result<ServerPlace>(std::move(local));
}

std::filesystem::path KubeConfigOf(const ApiFlags& flags, const CommandIo& io) {
  if (!flags.kubeconfig.empty()) return flags.kubeconfig;
  const std::string named = FlagOr({}, "KUBECONFIG", io);
  if (!named.empty()) return named;
  const std::string home = FlagOr({}, "HOME", io);
  return home.empty() ? std::filesystem::path() : std::filesystem::path(home) / ".kube/config";
}

Result<std::unique_ptr<ApiConnection>> ConnectTo(ServerPlace place, Deadline deadline) {
  const bool is_proxied = !place.prefix.empty();
  const std::string account = place.account;
  TextSource token = place.token;
  TRUCE_ASSIGN_OR_RETURN(std::unique_ptr<ServerApi> api, ServerApi::Open(std::move(place)));
  if (!is_proxied) return std::unique_ptr<ApiConnection>(std::move(api));
  if (token.text.empty() && !token.file.empty()) {
    TRUCE_ASSIGN_OR_RETURN(token.text, ReadConfigFile(token.file.string()));
    while (!token.text.empty() &&
           std::isspace(static_cast<unsigned char>(token.text.back())) != 0) {
      token.text.pop_back();
    }
  }
  if (token.text.empty() && account.empty()) {
    return Error{
        ErrorCode::kInvalidArgument,
        "the API server does not pass on who you are: name a ServiceAccount whose token you "
        "may request with --as NAMESPACE/NAME, or give a token with --token-file"};
  }
  if (token.text.empty()) {
    TRUCE_ASSIGN_OR_RETURN(token.text, RequestToken(*api, account, deadline));
  }
  api->ShowToken(std::move(token.text));
  return std::unique_ptr<ApiConnection>(std::move(api));
}

}  // namespace truce
