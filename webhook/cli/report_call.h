// Commands that print a report of a running server.
#ifndef TRUCE_WEBHOOK_CLI_REPORT_CALL_H_
#define TRUCE_WEBHOOK_CLI_REPORT_CALL_H_

#include <cstdint>
#include <string>

#include "webhook/cli/command.h"
#include "webhook/cli/config_flags.h"

namespace truce {

// A report for people, as the server wrote it. Prints it, and sets `count` to what it counts:
// conflicts, gaps. `path` holds the output wanted: "/api/v1/conflicts?output=text".
ExitCode PrintReport(const ConfigFlags& flags, const std::string& path, CommandIo& io,
                     std::uint64_t& count);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_REPORT_CALL_H_
