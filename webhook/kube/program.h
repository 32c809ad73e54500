// Programs that print credentials: of kubeconfigs (exec plugins) and of the registry's database.
#ifndef TRUCE_WEBHOOK_KUBE_PROGRAM_H_
#define TRUCE_WEBHOOK_KUBE_PROGRAM_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"

namespace truce {

struct ProgramCall {
  std::string command;  // a bare name is looked for in PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // on top of ours
};

inline constexpr std::size_t kProgramOutputBytesMax = 1024 * 1024;

// Runs the program with no terminal and an empty standard input, and gives what it printed; it and
// its children are killed at `deadline`. Errors: kUnavailable, one line that follows the program's
// name ("ended with code 1: no such profile"), with the first line of its standard error, never its
// output: not found, failed, killed at the deadline, output that is too long. Blocks at most until
// `deadline`. Thread-safe.
Result<std::string> RunProgram(const ProgramCall& call, Deadline deadline);

// The first line of `text` that is not empty, cut, without control characters.
std::string FirstPrintedLine(std::string_view text);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_PROGRAM_H_
