#include "webhook/cli/server/server_finder.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "registry/base/file.h"
#include "registry/base/text.h"
#include "webhook/cli/server/forwarded_token.h"
#include "webhook/kube/http_call.h"
#include "webhook/kube/kube_config.h"
#include "webhook/kube/proxy.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

// Behind the API server's proxy, which keeps Authorization to itself (webhook/api/auth).
constexpr const char* kForwardedToken = "X-Truce-Authorization";
constexpr int kTokenSeconds = 600;
constexpr std::size_t kNameBytesMax = 253;
constexpr const char* kAccountFlag = "--service-account";
// A file of a token is read again this often: kubelet and others write new ones into it.
constexpr std::chrono::seconds kReread{20};

constexpr char kServerFlag[] = "--server";

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
      std::all_of(text.begin(), text.end(), [](char c) { return IsDnsCharacter(c) || c == '/'; });
  if (good) return NamespacedName{text.substr(0, slash), text.substr(slash + 1)};
  return Error{ErrorCode::kInvalidArgument,
               std::string(flag) + ": '" + text + "' is not of the form NAMESPACE/NAME"};
}

// The token for Truce: a file, or the text itself.
TextSource TokenOf(const ApiFlags& flags, const CommandIo& io) {
  TextSource token;
  token.file = FlagOr(flags.token_file, "TRUCE_TOKEN_FILE", io);
  if (token.file.empty()) token.text = FlagOr({}, "TRUCE_TOKEN", io);
  return token;
}

// Checks the file of a flag before any request, for a message that names the flag.
Result<void> CheckFile(const std::filesystem::path& file, const char* flag, const char* holds) {
  if (file.empty()) return {};
  const Result<std::string> text = ReadSmallFile(file);
  if (!text.ok()) return Error(text.error()).Within(flag);
  if (text.value().find(holds) != std::string::npos) return {};
  return InvalidArgument(std::string(flag) + ": \"" + file.string() + "\" holds no " + holds);
}

Result<ServerPlace> AtAddress(const std::string& server, const ApiFlags& flags,
                              const CommandIo& io) {
  ServerPlace place;
  place.name = server;
  Result<ServerAddress> address =
      ParseServerAddress(server.find("://") == std::string::npos ? "https://" + server : server);
  if (!address.ok()) return std::move(address).error().Within("--server");
  place.network.address = std::move(address).value();
  place.network.origin = kServerFlag;
  place.network.authority.file = FlagOr(flags.ca_file, "TRUCE_CA_FILE", io);
  place.network.user.token = TokenOf(flags, io);
  return place;
}

std::string ViaOr(std::string_view otherwise, const ApiFlags& flags, const CommandIo& io) {
  const std::string via = FlagOr(flags.via, "TRUCE_VIA", io);
  return via.empty() ? std::string(otherwise) : via;
}

// The Service of --via, and its port where that is not the chart's.
struct ViaService {
  NamespacedName name;
  std::string port;  // digits; empty: the chart's
};

Result<ViaService> ServiceIn(const std::string& via) {
  constexpr const char* kFlag = "--via";
  const std::size_t colon = std::min(via.find(':'), via.size());
  ViaService out;
  TRUCE_ASSIGN_OR_RETURN(out.name, NameIn(via.substr(0, colon), kFlag));
  if (colon == via.size()) return out;
  out.port = via.substr(colon + 1);
  const bool is_port = !out.port.empty() && out.port.size() <= 5 &&
                       out.port.find_first_not_of("0123456789") == std::string::npos;
  if (is_port) return out;
  return InvalidArgument(std::string(kFlag) + ": '" + out.port + "' is not a port");
}

Result<ServerPlace> InPod(const ApiFlags& flags, const CommandIo& io, const PodFiles& pod) {
  TRUCE_ASSIGN_OR_RETURN(const ViaService service, ServiceIn(ViaOr(kDefaultVia, flags, io)));
  std::string address = "https://" + service.name.name + "." + service.name.ns + ".svc";
  if (!service.port.empty()) address += ":" + service.port;
  TRUCE_ASSIGN_OR_RETURN(ServerPlace place, AtAddress(address, flags, io));
  if (!place.network.user.token.given()) place.network.user.token.file = pod.token;
  std::error_code ignored;
  if (!place.network.authority.given() && std::filesystem::exists(pod.authority, ignored)) {
    place.network.authority.file = pod.authority;
  }
  return place;
}

Result<ServerPlace> BehindApiServer(const ApiFlags& flags, const CommandIo& io) {
  const std::string via = ViaOr(kDefaultVia, flags, io);
  TRUCE_ASSIGN_OR_RETURN(const ViaService service, ServiceIn(via));
  TRUCE_ASSIGN_OR_RETURN(ServerPlace place, ApiServerOf(flags, io));
  place.name = "service " + via + " behind " + place.network.origin;
  place.prefix = "/api/v1/namespaces/" + service.name.ns + "/services/https:" + service.name.name +
                 ":" + (service.port.empty() ? "api" : service.port) + "/proxy";
  place.token = TokenOf(flags, io);
  place.account = FlagOr(flags.account, "TRUCE_SERVICE_ACCOUNT", io);
  if (!place.account.empty()) TRUCE_RETURN_IF_ERROR(NameIn(place.account, kAccountFlag));
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

// Path and parameters, as a request line has them.
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

// A whole token file, without the line end that editors leave.
Result<FreshToken> ReadToken(const std::string& file, Timestamp now) {
  TRUCE_ASSIGN_OR_RETURN(std::string text, ReadConfigFile(file));
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.pop_back();
  }
  return FreshToken{std::move(text), now + 2 * kReread};
}

// Truce, or the Kubernetes API server. Thread-safe once it is set up.
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
  std::string_view prefix() const override { return prefix_; }

  // From now on each call shows the token that Truce is to see where the API server keeps
  // Authorization to itself: of the account, else of the source. Errors: there is none.
  Result<void> ShowToken(const std::string& account, const TextSource& source, Deadline deadline) {
    if (!source.text.empty()) {
      token_.emplace([text = source.text](Deadline) { return FreshToken{text, {}}; }, clock_);
    } else if (!source.file.empty()) {
      token_.emplace(
          [this, file = source.file.string()](Deadline) { return ReadToken(file, clock_.Now()); },
          clock_);
    } else {
      token_.emplace([this, account](Deadline until) { return RequestToken(account, until); },
                     clock_);
    }
    const Result<std::string> first = token_->Current(deadline);
    return first.ok() ? Result<void>() : Result<void>(first.error());
  }

  Result<ApiResponse> Send(const ApiQuestion& question, Deadline deadline) override {
    std::error_code ignored;
    if (!socket_.empty() && !std::filesystem::exists(socket_, ignored)) {
      return Error{ErrorCode::kNotFound, "No such file or directory"};
    }
    HttpCall call = CallFor(question);
    call.target = prefix_ + call.target;
    if (token_) {
      TRUCE_ASSIGN_OR_RETURN(const std::string token, token_->Current(deadline));
      call.headers.emplace_back(kForwardedToken, "Bearer " + token);
    }
    return Do(call, deadline);
  }

 private:
  // Of the client below: the server's certificate does not fit the authority.
  static constexpr std::string_view kNotAccepted = "its certificate is not accepted";

  // A report about a large cluster.
  static constexpr std::size_t kAnswerBytesMax = 256 * 1024 * 1024;

  explicit ServerApi(const ServerPlace& place)
      : name_(place.name),
        prefix_(place.prefix),
        socket_(place.socket),
        impersonation_(place.impersonation) {}

  static HttpCall CallFor(const ApiQuestion& question) {
    HttpCall call;
    call.target = TargetOf(question);
    call.method = MethodOf(question);
    call.body = question.body;
    call.receive = question.receive;
    if (!call.body.empty()) call.content_type = "application/json";
    if (!question.if_match.empty()) call.headers.emplace_back("If-Match", question.if_match);
    for (const auto& [name, value] : question.headers) {
      if (EqualsIgnoringCase(name, "content-type")) {
        call.content_type = value;
      } else if (EqualsIgnoringCase(name, "accept")) {
        call.accept = value;
      } else {
        call.headers.emplace_back(name, value);
      }
    }
    return call;
  }

  Result<ApiResponse> Do(HttpCall call, Deadline deadline) {
    call.headers.insert(call.headers.end(), impersonation_.begin(), impersonation_.end());
    auto reply = pool_->Do(call, session_->Current(), deadline);
    if (reply.ok()) {
      HttpReply& got = reply.value();
      return ApiResponse{got.head.status,
                         std::move(got.body),
                         got.head.retry_after,
                         std::move(got.head.warnings),
                         std::move(got.head.media_type),
                         std::move(got.head.others)};
    }
    const std::string& message = reply.error().message;
    if (!socket_.empty()) return Error{ErrorCode::kUnavailable, OnSocket(reply.error())};
    if (message.find(kNotAccepted) == std::string::npos) {
      return Error{ErrorCode::kUnavailable, message};
    }
    return Error{ErrorCode::kInvalidArgument, message + "; check the address and --ca-file"};
  }

  // A token of the account, of audience truce, as the API server gives it to this user.
  Result<FreshToken> RequestToken(const std::string& account, Deadline deadline) {
    TRUCE_ASSIGN_OR_RETURN(const NamespacedName name, NameIn(account, kAccountFlag));
    HttpCall call;
    call.method = "POST";
    call.target = "/api/v1/namespaces/" + name.ns + "/serviceaccounts/" + name.name + "/token";
    call.content_type = "application/json";
    const Json spec = {{"audiences", {"truce"}}, {"expirationSeconds", kTokenSeconds}};
    call.body =
        Json{{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}, {"spec", spec}}
            .dump();
    const Timestamp asked = clock_.Now();
    TRUCE_ASSIGN_OR_RETURN(const ApiResponse reply, Do(call, deadline));
    const Json answer = ParseJson(reply.body);
    const auto status = answer.is_object() ? answer.find("status") : answer.end();
    const std::string token = reply.status == 201 && status != answer.end() && status->is_object()
                                  ? TextIn(*status, "token")
                                  : std::string();
    if (!token.empty()) {
      const auto expires = ParseTimestamp(TextIn(*status, "expirationTimestamp"));
      return FreshToken{token, expires.value_or(asked + std::chrono::seconds(kTokenSeconds))};
    }
    return Error{ErrorCodeOfStatus(reply.status), "no token of ServiceAccount " + account + ": " +
                                                      ProblemText(reply.body, reply.status)};
  }

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
  const Parameters impersonation_;
  std::shared_ptr<ServerSession> session_;
  std::optional<HttpPool> pool_;
  std::optional<ForwardedToken> token_;
};

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
  const bool acts_as = !flags.as.empty() || !flags.as_groups.empty();
  if (!server.empty() && acts_as) {
    return InvalidArgument("--as is for the Kubernetes API server; leave out --server");
  }
  if (!server.empty()) {
    TRUCE_ASSIGN_OR_RETURN(ServerPlace place, AtAddress(server, flags, io));
    TRUCE_ASSIGN_OR_RETURN(place.network.proxy, ProxyFor(place.network.address, io.variables));
    return place;
  }
  const std::filesystem::path kubeconfig = KubeConfigOf(flags, io);
  std::error_code ignored;
  const bool has_kubeconfig = !kubeconfig.empty() && std::filesystem::exists(kubeconfig, ignored);
  const bool in_pod = !has_kubeconfig && flags.kubeconfig.empty() && flags.context.empty() &&
                      !acts_as && !FlagOr({}, "KUBERNETES_SERVICE_HOST", io).empty();
  const bool says_via = !ViaOr({}, flags, io).empty();
  if (in_pod && says_via) return InPod(flags, io, pod);
  if (says_via || !flags.kubeconfig.empty() || !flags.context.empty() || acts_as) {
    return BehindApiServer(flags, io);
  }
  TRUCE_ASSIGN_OR_RETURN(LoadedConfig loaded, LoadConfig(SourcesOf(*flags.config, io)));
  ServerPlace local = AtSocket(std::move(loaded));
  const bool says_local =
      !flags.config->file.empty() || flags.config->values.count("dataDir") > 0 ||
      io.variables.count("TRUCE_DATA_DIR") > 0 || io.variables.count("TRUCE_CONFIG") > 0;
  if (says_local || std::filesystem::exists(local.socket, ignored)) return local;
  if (has_kubeconfig) return BehindApiServer(flags, io);
  if (in_pod) return InPod(flags, io, pod);
  local.is_guess = true;
  return local;
}

Result<ServerPlace> ApiServerOf(const ApiFlags& flags, const CommandIo& io) {
  if (flags.as.empty() && !flags.as_groups.empty()) {
    return InvalidArgument("--as-group needs --as, as kubectl does");
  }
  ServerPlace place;
  TRUCE_ASSIGN_OR_RETURN(place.network,
                         ReadKubeConfig(KubeConfigOf(flags, io), flags.context, io.variables));
  place.name = place.network.origin;
  if (HasControl(flags.as) ||
      std::any_of(flags.as_groups.begin(), flags.as_groups.end(), HasControl)) {
    return InvalidArgument("--as: a name has no control characters");
  }
  if (!flags.as.empty()) place.impersonation.emplace_back("Impersonate-User", flags.as);
  for (const std::string& group : flags.as_groups) {
    place.impersonation.emplace_back("Impersonate-Group", group);
  }
  return place;
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
  const TextSource token = place.token;
  if (place.network.origin == kServerFlag) {
    TRUCE_RETURN_IF_ERROR(
        CheckFile(place.network.authority.file, "--ca-file", "-----BEGIN CERTIFICATE-----"));
    TRUCE_RETURN_IF_ERROR(CheckFile(place.network.user.token.file, "--token-file", ""));
  }
  TRUCE_ASSIGN_OR_RETURN(std::unique_ptr<ServerApi> api, ServerApi::Open(std::move(place)));
  if (!is_proxied) return std::unique_ptr<ApiConnection>(std::move(api));
  if (!token.given() && account.empty()) {
    return Error{
        ErrorCode::kInvalidArgument,
        "the API server does not pass on who you are: name a ServiceAccount whose token you "
        "may request with --service-account NAMESPACE/NAME, or give a token with --token-file"};
  }
  TRUCE_RETURN_IF_ERROR(api->ShowToken(account, token, deadline));
  return std::unique_ptr<ApiConnection>(std::move(api));
}

}  // namespace truce
