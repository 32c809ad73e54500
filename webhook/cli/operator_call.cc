#include "webhook/cli/operator_call.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <nlohmann/json.hpp>

#include "webhook/cli/api_call.h"
#include "webhook/cli/socket_client.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kOperatorCallTime{30};

// The detail of a problem document, on one line, with the keys it names.
std::string AnswerProblem(const SocketAnswer& answer) {
  const auto problem = ParseJson(answer.body);
  std::string text = "the server answered " + std::to_string(answer.status);
  if (!problem.is_object()) return text;
  if (problem.contains("detail") && problem["detail"].is_string()) text = problem["detail"];
  if (problem.contains("keys") && problem["keys"].is_array()) {
    text += "; keys:";
    for (const auto& key : problem["keys"]) {
      if (key.is_string()) text.append(" ").append(key.get<std::string>());
    }
  }
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text;
}

}  // namespace

OperatorReply CallOperator(const ConfigFlags& flags, const OperatorCall& call, CommandIo& io) {
  const Result<LoadedConfig> loaded = LoadFor(flags, io);
  if (!loaded.ok()) return {Complain(io, loaded.error().message, ExitCode::kUsage), {}};
  const std::string socket = loaded.value().config.data_dir + "/truce.sock";
  const Result<SocketAnswer> answer =
      AskSocket(socket, {call.method, call.path, call.body, call.if_match},
                std::chrono::steady_clock::now() + kOperatorCallTime);
  if (!answer.ok()) {
    return {Complain(io,
                     "cannot reach the server at " + socket + ": " + answer.error().message +
                         "; is it running, and is --data-dir its directory?",
                     ExitCodeOf(answer.error().code)),
            {}};
  }
  if (answer.value().status == 200 || answer.value().status == 201)
    return {ExitCode::kOk, answer.value().body, answer.value().status};
  const int status = answer.value().status;
  const std::string text =
      call.with_remedy ? ProblemText(answer.value().body, status) : AnswerProblem(answer.value());
  return {Complain(io, text, ExitCodeOfStatus(status)), {}, status};
}

}  // namespace truce
