// The program: arguments and environment in, exit code out. Everything else is in webhook/cli.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/core_dumps.h"
#include "registry/base/one_line.h"
#include "webhook/cli/command.h"
#include "webhook/config/load.h"

extern char** environ;

// Read by jemalloc. The memory of a large body goes back to the system when it is freed, not after
// ten seconds: the next such body needs the memory of another size.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "oversize_threshold:262144";
}

namespace {

// The output on a terminal, its lines escaped, whichever command prints them and whoever wrote
// them.
class TerminalText final : public std::streambuf {
 public:
  explicit TerminalText(std::streambuf& terminal) : terminal_(terminal) {}

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    waiting_.append(text, static_cast<std::size_t>(size));
    const std::size_t end = waiting_.rfind('\n') + 1;
    const bool is_good = Show(end);
    return is_good ? size : 0;
  }
  int sync() override { return Show(waiting_.size()) ? terminal_.pubsync() : -1; }

 private:
  bool Show(std::size_t bytes) {
    const std::string lines = truce::Lines(std::string_view(waiting_).substr(0, bytes));
    waiting_.erase(0, bytes);
    const auto size = static_cast<std::streamsize>(lines.size());
    return terminal_.sputn(lines.data(), size) == size;
  }

  std::streambuf& terminal_;
  std::string waiting_;  // the line that has not ended
};

// A standard descriptor that is closed would be the next file or socket, and take what is printed:
// it is opened, and cannot be written.
void HoldStandardDescriptors() {
  int descriptor = 0;
  do {
    descriptor = ::open("/dev/null", O_RDONLY);
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) ::close(descriptor);
}

}  // namespace

int main(int argc, char** argv) {
  HoldStandardDescriptors();
  truce::ForbidCoreDumps();  // before any key, token or secret is read
  // A reader that went away (`truce types | head`) is an error of that write, not the end.
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const bool out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  TerminalText terminal(*std::cout.rdbuf());
  std::ostream shown(&terminal);
  truce::CommandIo io{out_is_terminal ? shown : std::cout, std::cerr,
                      truce::TruceVariables(environ), out_is_terminal,
                      ::isatty(STDERR_FILENO) == 1};
  for (const char* name : {"HOME", "KUBECONFIG", "KUBERNETES_SERVICE_HOST", "BROWSER",
                           "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"}) {
    if (const char* value = std::getenv(name); value != nullptr) io.variables.emplace(name, value);
  }
  return static_cast<int>(truce::RunCli(arguments, io));
}
