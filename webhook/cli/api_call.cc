#include "webhook/cli/api_call.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "webhook/cli/command_line.h"
#include "webhook/cli/operator_call.h"
#include "webhook/cli/server_finder.h"
#include "webhook/cli/socket_client.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kCallTime{30};

// Beside the server.
class LocalApi final : public ApiConnection {
 public:
  explicit LocalApi(std::string socket) : socket_(std::move(socket)) {}

  const std::string& name() const override { return socket_; }

  Result<ApiResponse> Send(const ApiQuestion& question, Deadline deadline) override {
    std::error_code unknown;
    if (!std::filesystem::exists(socket_, unknown)) {
      // Nobody starts a server for a command that waits.
      return Error{ErrorCode::kInvalidArgument,
                   "no server runs beside this command (" + socket_ +
                       " does not exist); name one with --server, --via or --data-dir, or ask none "
                       "with --offline"};
    }
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

ApiReply AskRemote(const ServerPlace& place, const ApiQuestion& question, CommandIo& io) {
  const Deadline deadline = std::chrono::steady_clock::now() + kCallTime;
  const auto connection = ConnectTo(place, deadline);
  if (!connection.ok()) {
    const Error& error = connection.error();
    return {Complain(io, error.message, ExitCodeOfOpening(error.code)), {}};
  }
  const Result<ApiResponse> reply = connection.value()->Send(question, deadline);
  if (!reply.ok()) {
    const bool has_advice = reply.error().code == ErrorCode::kInvalidArgument;
    return {Complain(io,
                     "cannot reach the server at " + place.name + ": " + reply.error().message +
                         (has_advice ? "" : "; check the address and --ca-file"),
                     ExitCode::kUnreachable),
            {}};
  }
  const int status = reply.value().status;
  if (status == 200 || status == 201) return {ExitCode::kOk, reply.value().body, status};
  return {
      Complain(io, ProblemText(reply.value().body, status), ExitCodeOfStatus(status)), {}, status};
}

}  // namespace

Result<std::unique_ptr<ApiConnection>> ApiConnection::Open(const ApiFlags& flags, CommandIo& io) {
  TRUCE_ASSIGN_OR_RETURN(ServerPlace place, FindServer(flags, io));
  if (!place.socket.empty()) {
    return std::unique_ptr<ApiConnection>(std::make_unique<LocalApi>(std::move(place.socket)));
  }
  return ConnectTo(std::move(place), std::chrono::steady_clock::now() + kCallTime);
}

bool IsRemote(const ApiFlags& flags, const CommandIo& io) {
  const auto place = FindServer(flags, io);
  return place.ok() && place.value().socket.empty();
}

Result<std::unique_ptr<ApiConnection>> ApiConnection::OpenAt(std::string name,
                                                             ServerSettings settings) {
  ServerPlace place;
  place.name = std::move(name);
  place.network = std::move(settings);
  return ConnectTo(std::move(place), std::chrono::steady_clock::now() + kCallTime);
}

std::string ProblemText(const std::string& body, int status) {
  const auto problem = ParseJson(body);
  std::string text = "the server answered " + std::to_string(status);
  if (problem.is_object() && problem.contains("detail") && problem["detail"].is_string()) {
    text = problem["detail"].get<std::string>();
    if (problem.contains("remedy") && problem["remedy"].is_string()) {
      text += "; " + problem["remedy"].get<std::string>();
    }
  } else if (problem.is_object() && problem.contains("message") && problem["message"].is_string()) {
    text = "the API server answered: " + problem["message"].get<std::string>();
  }
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text;
}

std::shared_ptr<ApiFlags> AddApiFlags(CommandLine& app,
                                      std::initializer_list<std::string_view> settings) {
  auto flags = std::make_shared<ApiFlags>();
  flags->config = AddConfigFlags(app, settings);
  app.AddOption(
         "--server", flags->server,
         "Address of the API, as https://truce.example.org; also TRUCE_SERVER; without it "
         "the server beside --data-dir is asked, else the one in the cluster of a kubeconfig")
      .Type("URL");
  app.AddOption("--via", flags->via,
                "Service of the API, asked through the Kubernetes API server; also TRUCE_VIA; "
                "default truce-system/truce-api")
      .Type("NAMESPACE/NAME");
  app.AddOption("--as", flags->as,
                "With --via: the ServiceAccount whose token to request and show; also TRUCE_AS")
      .Type("NAMESPACE/NAME");
  app.AddOption("--kubeconfig", flags->kubeconfig,
                "Kubeconfig of the API server; default KUBECONFIG, else ~/.kube/config")
      .Type("file");
  app.AddOption("--context", flags->context, "Context of the kubeconfig; default its current one")
      .Type("name");
  app.AddOption(
         "--token-file", flags->token_file,
         "File with the token to show; also TRUCE_TOKEN_FILE, or the token itself in TRUCE_TOKEN")
      .Type("file");
  app.AddOption("--ca-file", flags->ca_file,
                "PEM file of the server's authority; also TRUCE_CA_FILE; default the system's")
      .Type("file");
  return flags;
}

ApiReply AskApi(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io) {
  const Result<ServerPlace> place = FindServer(flags, io);
  if (!place.ok()) return {Complain(io, place.error().message, ExitCode::kUsage), {}};
  if (place.value().socket.empty()) return AskRemote(place.value(), question, io);
  const std::string method = MethodOf(question);
  const std::string target = TargetOf(question);
  OperatorReply reply =
      CallOperator(*flags.config, {target, question.body, method, question.if_match, true}, io);
  return {reply.code, std::move(reply.answer), reply.status};
}

}  // namespace truce
