// Exit codes: every command's answer to the shell. Stable: scripts and Jobs depend on them.
#ifndef TRUCE_WEBHOOK_CLI_EXIT_CODE_H_
#define TRUCE_WEBHOOK_CLI_EXIT_CODE_H_

#include <span>
#include <string_view>

#include "registry/base/result.h"

namespace truce {

enum class ExitCode {
  kOk = 0,
  kNo = 1,           // the answer is no: nothing found, refused, a conflict
  kUsage = 2,        // wrong arguments, configuration or input
  kUnreachable = 3,  // the server cannot be reached, or nobody asks it: nothing was decided
  kWarnings = 4,     // only warnings, where the caller asked that they count
  kCannotRun = 5,   // cannot start, go on or print: address, data directory, database, certificates
  kDiskFailed = 6,  // a sync of the registry failed; started again, it recovers from its log
  kBug = 70,        // a fault of Truce itself
};

struct ExitCodeRow {
  ExitCode code;
  std::string_view meaning;   // one line, for people
  std::string_view commands;  // which commands give it
};

// The table that `truce --help` prints.
std::span<const ExitCodeRow> ExitCodes();

// The exit code for an answer of HTTP status `status`, whichever command asked:
//   2xx                          kOk
//   401, 403, 404, 409, 412      kNo: not allowed, not there, or somebody else was first
//   every other 4xx              kUsage
//   408, 429, 5xx, all others    kUnreachable: not now, or not a Truce server
ExitCode ExitCodeOfStatus(int status);

// The same as an error: kConflict for kNo, kInvalidArgument for kUsage, else kUnavailable.
ErrorCode ErrorCodeOfStatus(int status);

// Why no server could be asked: kNo for kConflict (a credential was refused), kUnreachable where
// its issuer does not answer; everything else is wrong settings, kUsage.
ExitCode ExitCodeOfOpening(ErrorCode code);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_EXIT_CODE_H_
