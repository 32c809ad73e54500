#include "webhook/cli/server/api_call.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <ostream>

#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/output.h"
#include "webhook/cli/server/server_finder.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds kCallTime{30};
constexpr std::size_t kPageItems = 1000;

// An operator gets the fault alone; everybody else the remedy, too.
std::string TextOfProblem(const std::string& body, int status, bool with_remedy) {
  const Json problem = ParseJson(body);
  std::string text = "the server answered " + std::to_string(status);
  if (const std::string detail = TextIn(problem, "detail"); !detail.empty()) {
    const std::string remedy = with_remedy ? TextIn(problem, "remedy") : std::string();
    text = remedy.empty() ? detail : detail + "; " + remedy;
  } else if (const std::string message = TextIn(problem, "message"); !message.empty()) {
    text = "the API server answered: " + message;
  }
  return Folded(text);
}

template <typename AnyJson>
bool HasList(const AnyJson& json, const char* name) {
  return json.is_object() && json.contains(name) && json[name].is_array();
}

}  // namespace

Result<std::unique_ptr<ApiConnection>> ApiConnection::Open(const ApiFlags& flags,
                                                           const CommandIo& io) {
  TRUCE_ASSIGN_OR_RETURN(ServerPlace place, FindServer(flags, io));
  return ConnectTo(std::move(place), std::chrono::steady_clock::now() + kCallTime);
}

std::string ProblemText(const std::string& body, int status) {
  return TextOfProblem(body, status, true);
}

std::shared_ptr<ApiFlags> AddOperatorFlags(CommandLine& app,
                                           std::initializer_list<std::string_view> settings) {
  auto flags = std::make_shared<ApiFlags>();
  flags->config = AddConfigFlags(app, settings, kConnectionFlags);
  flags->beside_only = true;
  return flags;
}

std::shared_ptr<ApiFlags> AddApiFlags(CommandLine& app,
                                      std::initializer_list<std::string_view> settings) {
  auto flags = std::make_shared<ApiFlags>();
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    return app.AddOption(name, value, help).Type(type).Group(kConnectionFlags);
  };
  add("--server", flags->server, "URL",
      "Address of the API, as https://truce.example.org; also TRUCE_SERVER. Without it the server "
      "beside --data-dir is asked, else the one in the cluster of your kubeconfig");
  add("--via", flags->via, "NAMESPACE/NAME[:PORT]",
      "Service of the API, asked through the Kubernetes API server; also TRUCE_VIA; default "
      "truce-system/truce-api");
  add("--service-account", flags->account, "NAMESPACE/NAME",
      "With --via: the ServiceAccount whose token to request and show; also TRUCE_SERVICE_ACCOUNT");
  add("--kubeconfig", flags->kubeconfig, "FILE",
      "Kubeconfig of the API server; default KUBECONFIG, else ~/.kube/config");
  add("--context", flags->context, "NAME", "Context of the kubeconfig; default its current one");
  add("--as", flags->as, "USER",
      "User for whom the API server is to take you, as kubectl's; for a ServiceAccount "
      "system:serviceaccount:NAMESPACE:NAME");
  app.AddOption("--as-group", flags->as_groups, "Group of that user; may be given several times")
      .Type("GROUP")
      .Group(kConnectionFlags);
  add("--token-file", flags->token_file, "FILE",
      "File with the token to show; also TRUCE_TOKEN_FILE, or the token itself in TRUCE_TOKEN");
  add("--ca-file", flags->ca_file, "FILE",
      "PEM file of the server's authority; also TRUCE_CA_FILE; default the system's");
  flags->config = AddConfigFlags(app, settings, kConnectionFlags);
  return flags;
}

ApiReply AskApi(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io) {
  const Deadline deadline = std::chrono::steady_clock::now() + question.within;
  const Result<ServerPlace> place = FindServer(flags, io);
  if (!place.ok()) return {Complain(io, place.error().message, ExitCode::kUsage), {}};
  for (const std::string& warning : place.value().warnings) {
    Warn(io, warning);
  }
  const auto connection = ConnectTo(place.value(), deadline);
  if (!connection.ok()) {
    const Error& error = connection.error();
    return {Complain(io, error.message, ExitCodeOfOpening(error.code)), {}};
  }
  const Result<ApiResponse> reply = connection.value()->Send(question, deadline);
  if (!reply.ok()) {
    const bool has_advice = reply.error().code == ErrorCode::kInvalidArgument;
    const ServerPlace& asked = place.value();
    const char* advice =
        asked.is_guess          ? "; name the server: with --server URL, with --kubeconfig "
                                  "FILE, or on its own machine with --data-dir"
        : !asked.socket.empty() ? "; is it running, and is --data-dir its directory?"
        : asked.name.starts_with("http://") ? "; check the address: Truce's API is at https://"
                                            : "; check the address and --ca-file";
    return {Complain(io,
                     "cannot reach the server at " + place.value().name + ": " +
                         reply.error().message + (has_advice ? "" : advice),
                     ExitCode::kUnreachable),
            {}};
  }
  const int status = reply.value().status;
  if (status == 200 || status == 201) return {ExitCode::kOk, reply.value().body, status};
  const std::string text = TextOfProblem(reply.value().body, status, !flags.beside_only);
  return {Complain(io, text, ExitCodeOfStatus(status)), {}, status};
}

ExitCode NoServer(CommandIo& io) {
  return Complain(io, "what answers is not a Truce server", ExitCode::kUnreachable);
}

Asked AskForObject(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io) {
  const ApiReply reply = AskApi(flags, question, io);
  if (reply.code != ExitCode::kOk) return reply.code;
  nlohmann::json answer = ParseJson(reply.answer);
  if (!answer.is_object()) return NoServer(io);
  return answer;
}

Asked AskForList(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io) {
  TRUCE_ASSIGN_OR_RETURN(nlohmann::json answer, AskForObject(flags, question, io));
  if (!HasList(answer, question.list.c_str())) return NoServer(io);
  return answer;
}

ExitCode AskForEach(const ApiFlags& flags, const ApiList& list, CommandIo& io,
                    const std::function<bool(const nlohmann::ordered_json&)>& take) {
  Progress progress(io, list.counted);
  ApiQuestion of_page = list.question;
  auto& parameters = of_page.parameters;
  parameters.emplace_back("limit", "");
  parameters.emplace_back("cursor", "");
  std::size_t count = 0;
  do {
    parameters[parameters.size() - 2].second =
        std::to_string(std::min(kPageItems, list.items_max - count));
    const ApiReply reply = AskApi(flags, of_page, io);
    if (reply.code != ExitCode::kOk) return reply.code;
    const nlohmann::ordered_json page = ParseOrderedJson(reply.answer);
    if (!HasList(page, "items")) return NoServer(io);
    for (const auto& item : page["items"]) {
      if (!take(item)) return ExitCode::kOk;
    }
    count += page["items"].size();
    parameters.back().second = TextIn(page, "nextCursor");
    const bool is_shown = list.counted != nullptr && !parameters.back().second.empty();
    if (is_shown) progress.Show(count);
  } while (!parameters.back().second.empty() && count < list.items_max);
  return ExitCode::kOk;
}

Asked AskForItems(const ApiFlags& flags, const ApiList& list, CommandIo& io) {
  nlohmann::json items = Json::array();
  const ExitCode code = AskForEach(flags, list, io, [&](const nlohmann::ordered_json& item) {
    items.push_back(Json(item));
    return true;
  });
  if (code != ExitCode::kOk) return code;
  return items;
}

}  // namespace truce
