// The program: arguments and environment in, exit code out. Everything else is in webhook/cli.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "registry/base/core_dumps.h"
#include "webhook/cli/command.h"
#include "webhook/config/load.h"

extern char** environ;

// Read by jemalloc. What is made of a large body goes back to the system when it is freed, not
// after ten seconds: the next such body needs the memory of another size.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "oversize_threshold:262144";
}

int main(int argc, char** argv) {
  truce::ForbidCoreDumps();  // before any key, token or secret is read
  // A reader that went away (`truce types | head`) is an error of that write, not the end.
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  // By this name kubectl asks what to complete behind `kubectl truce`.
  const std::string program = argc > 0 ? argv[0] : "";
  const bool completes = program.substr(program.rfind('/') + 1) == "kubectl_complete-truce";
  if (completes) arguments.insert(arguments.begin(), "__complete");
  truce::CommandIo io{std::cout, std::cerr, truce::TruceVariables(environ),
                      ::isatty(STDOUT_FILENO) == 1, ::isatty(STDERR_FILENO) == 1};
  for (const char* name : {"HOME", "KUBECONFIG", "KUBERNETES_SERVICE_HOST", "BROWSER"}) {
    if (const char* value = std::getenv(name); value != nullptr) io.variables.emplace(name, value);
  }
  const truce::ExitCode code = truce::RunCli(arguments, io);
  std::cout.flush();
  return static_cast<int>(code);
}
