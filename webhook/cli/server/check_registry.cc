#include "webhook/cli/server/check_registry.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "registry/base/counted.h"

namespace truce {
namespace {

constexpr std::string_view kChecksPath = "/api/v1/checks";

// Whether the same question may be answered later.
bool MayPass(int status) {
  return status >= 400 && ExitCodeOfStatus(status) == ExitCode::kUnreachable;
}

Error Refused(const ApiResponse& response) {
  const std::string text = ProblemText(response.body, response.status);
  const std::string code = " (" + std::to_string(response.status) + ")";
  const ErrorCode error = ErrorCodeOfStatus(response.status);
  switch (response.status) {
    case 401:
      return {error, "it does not accept the token" + code + ": " + text +
                         "; give one with --token-file or TRUCE_TOKEN"};
    case 403: return {error, "it refuses to answer" + code + ": " + text};
    case 404:
      return {error, "it knows no " + std::string(kChecksPath) + code +
                         "; is --server the address of the API?"};
    default: return {error, text};
  }
}

}  // namespace

PatientRegistry::PatientRegistry(ApiConnection& api, PatienceOptions options)
    : api_(api), options_(std::move(options)) {
  if (options_.wait == nullptr) {
    options_.wait = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); };
  }
}

Result<std::string> PatientRegistry::Ask(const std::string& body) {
  Backoff backoff(options_.backoff, options_.seed);
  const ApiQuestion question{std::string(kChecksPath), {}, body};
  std::string trouble;
  while (true) {
    const Deadline whole = std::chrono::steady_clock::now() + options_.attempt_max;
    const Result<ApiResponse> reply = api_.Send(question, std::min(options_.end, whole));
    std::optional<std::chrono::milliseconds> asked;
    if (!reply.ok()) {
      if (reply.error().code == ErrorCode::kInvalidArgument) {
        return Error{ErrorCode::kUnavailable, reply.error().message};
      }
      // Nobody starts a server for a command that waits.
      if (reply.error().code == ErrorCode::kNotFound) {
        return Error{ErrorCode::kUnavailable,
                     "no server runs beside this command (" + api_.name() +
                         " does not exist); name one with --server, --via or --data-dir, or ask "
                         "none with --offline"};
      }
      // An attempt that --timeout cut short says less than the one before.
      if (trouble.empty() || whole <= options_.end) trouble = reply.error().message;
    } else {
      const ApiResponse& response = reply.value();
      if (response.status == 200) return response.body;
      if (!MayPass(response.status)) return Refused(response);
      trouble = ProblemText(response.body, response.status) + " (" +
                std::to_string(response.status) + ")";
      asked = response.retry_after;
    }
    const std::chrono::milliseconds wait = backoff.Next(asked);
    if (std::chrono::steady_clock::now() + wait >= options_.end) {
      return Error{
          ErrorCode::kUnavailable,
          trouble + " (" + Counted(backoff.failures(), "attempt") + ", --timeout is over)"};
    }
    if (options_.tell) options_.tell(trouble, wait);
    options_.wait(wait);
  }
}

}  // namespace truce
