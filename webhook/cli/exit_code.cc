#include "webhook/cli/exit_code.h"

#include <array>

namespace truce {

std::span<const ExitCodeRow> ExitCodes() {
  static constexpr std::array<ExitCodeRow, 8> kRows = {{
      {ExitCode::kOk, "done", "all"},
      {ExitCode::kNo, "the answer is no: nothing found, refused, a conflict",
       "all but serve, config, types, completion"},
      {ExitCode::kUsage, "wrong arguments, configuration or input", "all"},
      {ExitCode::kUnreachable, "the server cannot be reached; nothing was decided",
       "all that ask a server"},
      {ExitCode::kWarnings, "only warnings, where they were asked to count",
       "check, coverage, doctor"},
      {ExitCode::kCannotRun,
       "cannot start or go on: address in use, data directory, database, certificates",
       "serve, backup, restore"},
      {ExitCode::kDiskFailed,
       "the disk failed a sync of the registry; start it again: it recovers from its log", "serve"},
      {ExitCode::kBug, "a fault of Truce itself; please report it", "all"},
  }};
  return kRows;
}

ExitCode ExitCodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return ExitCode::kUsage;
    case ErrorCode::kNotFound:
    case ErrorCode::kConflict: return ExitCode::kNo;
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadlineExceeded: return ExitCode::kUnreachable;
    case ErrorCode::kDataLoss: return ExitCode::kCannotRun;
    case ErrorCode::kInternal: return ExitCode::kBug;
  }
  return ExitCode::kBug;
}

}  // namespace truce
