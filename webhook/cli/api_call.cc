#include "webhook/cli/api_call.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "webhook/cli/operator_call.h"
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

// Detail and remedy of a problem, on one line.
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

ExitCode CodeOf(int status) {
  if (status == 401 || status == 403 || status == 404 || status == 409) return ExitCode::kNo;
  return status >= 429 ? ExitCode::kUnreachable : ExitCode::kUsage;
}

ApiReply AskServer(const std::string& server, const ApiFlags& flags, const ApiQuestion& question,
                   CommandIo& io) {
  const auto usage = [&](const std::string& message) {
    return ApiReply{Complain(io, message, ExitCode::kUsage), {}};
  };
  ServerSettings settings;
  Result<ServerAddress> address =
      ParseServerAddress(server.find("://") == std::string::npos ? "https://" + server : server);
  if (!address.ok()) return usage("--server: " + address.error().message);
  settings.address = std::move(address).value();
  settings.origin = "--server";
  settings.authority.file = Given(flags.ca_file, "TRUCE_CA_FILE", io);
  settings.user.token.file = Given(flags.token_file, "TRUCE_TOKEN_FILE", io);
  const SystemClock clock;
  const auto session = ServerSession::Open(settings, clock, {});
  if (!session.ok()) return usage(session.error().message);
  HttpPool pool(session.value(), {});
  HttpCall call;
  call.target = TargetOf(question);
  call.method = MethodOf(question);
  call.body = question.body;
  if (!call.body.empty()) call.content_type = "application/json";
  if (!question.if_match.empty()) call.headers.emplace_back("If-Match", question.if_match);
  const auto reply =
      pool.Do(call, session.value()->Current(), std::chrono::steady_clock::now() + kCallTime);
  if (!reply.ok()) {
    return {Complain(io,
                     "cannot reach the server at " + server + ": " + reply.error().message +
                         "; check the address and --ca-file",
                     ExitCode::kUnreachable),
            {}};
  }
  const int status = reply.value().head.status;
  if (status == 200 || status == 201) return {ExitCode::kOk, reply.value().body};
  return {Complain(io, ProblemText(reply.value().body, status), CodeOf(status)), {}};
}

}  // namespace

std::shared_ptr<ApiFlags> AddApiFlags(CLI::App& app) {
  auto flags = std::make_shared<ApiFlags>();
  flags->config = AddConfigFlags(app, {"dataDir"});
  app.add_option("--server", flags->server,
                 "Address of the API, as https://truce.example.org; also TRUCE_SERVER; without it "
                 "the server beside --data-dir is asked")
      ->type_name("URL");
  app.add_option("--token-file", flags->token_file,
                 "File with the token to show; also TRUCE_TOKEN_FILE")
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
