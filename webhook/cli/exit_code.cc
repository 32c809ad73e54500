#include "webhook/cli/exit_code.h"

#include <array>

namespace truce {

std::span<const ExitCodeRow> ExitCodes() {
  static constexpr std::array<ExitCodeRow, 8> kRows = {{
      {ExitCode::kOk, "done", "all"},
      {ExitCode::kNo,
       "the answer is no: not found, refused, a conflict (HTTP 401, 403, 404, 409, 412)",
       "all but serve, config, completion, prepare-store"},
      {ExitCode::kUsage, "wrong arguments, configuration or input (every other HTTP 4xx)", "all"},
      {ExitCode::kUnreachable,
       "no answer, or not now (HTTP 408, 429, 5xx), or Truce is not asked; nothing was decided",
       "all that ask a server"},
      {ExitCode::kWarnings, "only warnings, where they were asked to count",
       "check, coverage, doctor, protect"},
      {ExitCode::kCannotRun,
       "cannot start, go on or print: address in use, data directory, database, certificates",
       "all"},
      {ExitCode::kDiskFailed,
       "the disk failed a sync of the registry; start it again: it recovers from its log", "serve"},
      {ExitCode::kBug, "a fault of Truce itself; please report it", "all"},
  }};
  return kRows;
}

ExitCode ExitCodeOfStatus(int status) {
  switch (status) {
    case 401:
    case 403:
    case 404:
    case 409:
    case 412: return ExitCode::kNo;
    case 408:
    case 429: return ExitCode::kUnreachable;
    default: break;
  }
  if (status >= 200 && status < 300) return ExitCode::kOk;
  return status >= 400 && status < 500 ? ExitCode::kUsage : ExitCode::kUnreachable;
}

ErrorCode ErrorCodeOfStatus(int status) {
  const ExitCode code = ExitCodeOfStatus(status);
  if (code == ExitCode::kNo) return ErrorCode::kConflict;
  return code == ExitCode::kUsage ? ErrorCode::kInvalidArgument : ErrorCode::kUnavailable;
}

ExitCode ExitCodeOfOpening(ErrorCode code) {
  switch (code) {
    case ErrorCode::kConflict: return ExitCode::kNo;
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadlineExceeded: return ExitCode::kUnreachable;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kDataLoss:
    case ErrorCode::kInternal: break;
  }
  return ExitCode::kUsage;
}

}  // namespace truce
