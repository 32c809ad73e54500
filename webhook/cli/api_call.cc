#include "webhook/cli/api_call.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "webhook/cli/operator_call.h"
#include "webhook/cli/socket_client.h"
#include "webhook/cluster/client/http_call.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kCallTime{30};

// What the flag says, else the variable.
std::string Given(const std::string& flag, const char* variable, const CommandIo& io) {
  if (!flag.empty()) return flag;
  const auto found = io.variables.find(variable);
  return found == io.variables.end() ? std::string() : found->second;
}

// `text` as it stands in a query.
std::string Encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' || c == '~') {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  return out;
}

std::string TargetOf(const ApiQuestion& question) {
  std::string target = question.path;
  char separator = '?';
  for (const auto& [name, value] : question.parameters) {
    if (value.empty()) continue;
    target += separator;
    target.append(name).append("=").append(Encoded(value));
    separator = '&';
  }
  return target;
}

std::string MethodOf(const ApiQuestion& question) {
  if (!question.method.empty()) return question.method;
  return question.body.empty() ? "GET" : "POST";
}

ExitCode CodeOf(int status) {
  if (status == 401 || status == 403 || status == 404 || status == 409) return ExitCode::kNo;
  return status >= 429 ? ExitCode::kUnreachable : ExitCode::kUsage;
}

// Over the network.
class RemoteApi final : public ApiConnection {
 public:
  static Result<std::unique_ptr<ApiConnection>> Open(const std::string& server,
                                                     ServerSettings settings) {
    std::unique_ptr<RemoteApi> out(new RemoteApi(server));
    TRUCE_ASSIGN_OR_RETURN(out->session_,
                           ServerSession::Open(std::move(settings), out->clock_, {}));
    out->pool_.emplace(out->session_, HttpPoolOptions{});
    return std::unique_ptr<ApiConnection>(std::move(out));
  }

  const std::string& name() const override { return name_; }

  Result<ApiResponse> Send(const ApiQuestion& question, Deadline deadline) override {
    HttpCall call;
    call.target = TargetOf(question);
    call.method = MethodOf(question);
    call.body = question.body;
    if (!call.body.empty()) call.content_type = "application/json";
    if (!question.if_match.empty()) call.headers.emplace_back("If-Match", question.if_match);
    const auto reply = pool_->Do(call, session_->Current(), deadline);
    if (reply.ok()) {
      const HttpReply& got = reply.value();
      return ApiResponse{got.head.status, got.body, got.head.retry_after};
    }
    const bool refused = reply.error().message.find(kNotAccepted) != std::string::npos;
    return Error{refused ? ErrorCode::kInvalidArgument : ErrorCode::kUnavailable,
                 reply.error().message};
  }

 private:
  // Of the client below: the server's certificate does not fit the authority.
  static constexpr std::string_view kNotAccepted = "its certificate is not accepted";

  explicit RemoteApi(std::string name) : name_(std::move(name)) {}

  const SystemClock clock_;
  const std::string name_;
  std::shared_ptr<ServerSession> session_;
  std::optional<HttpPool> pool_;
};

// Beside the server.
class LocalApi final : public ApiConnection {
 public:
  explicit LocalApi(std::string socket) : socket_(std::move(socket)) {}

  const std::string& name() const override { return socket_; }

  Result<ApiResponse> Send(const ApiQuestion& question, Deadline deadline) override {
    const std::string method = MethodOf(question);
    const std::string target = TargetOf(question);
    TRUCE_ASSIGN_OR_RETURN(
        SocketAnswer answer,
        AskSocket(socket_, {method, target, question.body, question.if_match}, deadline));
    return ApiResponse{answer.status, std::move(answer.body), std::nullopt};
  }

 private:
  const std::string socket_;
};

Result<ServerSettings> SettingsOf(const std::string& server, const ApiFlags& flags,
                                  const CommandIo& io) {
  ServerSettings settings;
  Result<ServerAddress> address =
      ParseServerAddress(server.find("://") == std::string::npos ? "https://" + server : server);
  if (!address.ok()) return std::move(address).error().Within("--server");
  settings.address = std::move(address).value();
  settings.origin = "--server";
  settings.authority.file = Given(flags.ca_file, "TRUCE_CA_FILE", io);
  settings.user.token.file = Given(flags.token_file, "TRUCE_TOKEN_FILE", io);
  if (settings.user.token.file.empty()) settings.user.token.text = Given({}, "TRUCE_TOKEN", io);
  return settings;
}

ApiReply AskServer(const std::string& server, const ApiFlags& flags, const ApiQuestion& question,
                   CommandIo& io) {
  const auto connection = ApiConnection::Open(flags, io);
  if (!connection.ok()) {
    return {Complain(io, connection.error().message, ExitCode::kUsage), {}};
  }
  const Result<ApiResponse> reply =
      connection.value()->Send(question, std::chrono::steady_clock::now() + kCallTime);
  if (!reply.ok()) {
    return {Complain(io,
                     "cannot reach the server at " + server + ": " + reply.error().message +
                         "; check the address and --ca-file",
                     ExitCode::kUnreachable),
            {}};
  }
  const int status = reply.value().status;
  if (status == 200 || status == 201) return {ExitCode::kOk, reply.value().body};
  return {Complain(io, ProblemText(reply.value().body, status), CodeOf(status)), {}};
}

}  // namespace

Result<std::unique_ptr<ApiConnection>> ApiConnection::Open(const ApiFlags& flags, CommandIo& io) {
  const std::string server = Given(flags.server, "TRUCE_SERVER", io);
  if (!server.empty()) {
    TRUCE_ASSIGN_OR_RETURN(ServerSettings settings, SettingsOf(server, flags, io));
    return RemoteApi::Open(server, std::move(settings));
  }
  TRUCE_ASSIGN_OR_RETURN(const LoadedConfig loaded, LoadConfig(SourcesOf(*flags.config, io)));
  return std::unique_ptr<ApiConnection>(
      std::make_unique<LocalApi>(loaded.config.data_dir + "/truce.sock"));
}

std::string ProblemText(const std::string& body, int status) {
  const auto problem = nlohmann::json::parse(body, nullptr, false);
  std::string text = "the server answered " + std::to_string(status);
  if (problem.is_object() && problem.contains("detail") && problem["detail"].is_string()) {
    text = problem["detail"].get<std::string>();
    if (problem.contains("remedy") && problem["remedy"].is_string()) {
      text += "; " + problem["remedy"].get<std::string>();
    }
  }
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text;
}

std::shared_ptr<ApiFlags> AddApiFlags(CLI::App& app,
                                      std::initializer_list<std::string_view> settings) {
  auto flags = std::make_shared<ApiFlags>();
  flags->config = AddConfigFlags(app, settings);
  app.add_option("--server", flags->server,
                 "Address of the API, as https://truce.example.org; also TRUCE_SERVER; without it "
                 "the server beside --data-dir is asked")
      ->type_name("URL");
  app.add_option(
         "--token-file", flags->token_file,
         "File with the token to show; also TRUCE_TOKEN_FILE, or the token itself in TRUCE_TOKEN")
      ->type_name("file");
  app.add_option("--ca-file", flags->ca_file,
                 "PEM file of the server's authority; also TRUCE_CA_FILE; default the system's")
      ->type_name("file");
  return flags;
}

ApiReply AskApi(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io) {
  const std::string server = Given(flags.server, "TRUCE_SERVER", io);
  if (!server.empty()) return AskServer(server, flags, question, io);
  const std::string method = MethodOf(question);
  const std::string target = TargetOf(question);
  OperatorReply reply =
      CallOperator(*flags.config, {target, question.body, method, question.if_match}, io);
  return {reply.code, std::move(reply.answer)};
}

}  // namespace truce
