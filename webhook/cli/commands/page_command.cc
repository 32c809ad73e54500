// page: opens the page for people in a browser on this machine.
#include <fcntl.h>
#include <spawn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "webhook/cli/command_line.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/cli/server/page_proxy.h"
#include "webhook/http/server.h"
#include "webhook/serve/signals.h"
#include "webhook/wire/base64.h"
#include "webhook/wire/digest.h"

extern char** environ;

namespace truce {
namespace {

constexpr std::chrono::seconds kLook{1};
constexpr std::chrono::seconds kStopTime{2};
constexpr int kPortMax = 65535;

struct PageArguments {
  std::string where;
  std::size_t port = 0;
  bool no_browser = false;
};

// The path of an address, of the whole link that a denial shows too.
Result<std::string> PathOf(const std::string& where) {
  std::string path = where;
  const std::size_t scheme = path.find("://");
  if (scheme != std::string::npos) {
    const std::size_t slash = path.find('/', scheme + 3);
    path = slash == std::string::npos ? "/" : path.substr(slash);
  }
  path.resize(std::min(path.find('#'), path.size()));
  const bool is_plain = path.starts_with("/") && !path.starts_with("//") &&
                        path.find_first_of(" \\\"'<>") == std::string::npos;
  if (is_plain) return path;
  return Error{ErrorCode::kInvalidArgument,
               "'" + where +
                   "' is no address of the page; write it as /services/payments, or as "
                   "the link that a denial shows"};
}

std::string Random() { return EncodeBase64Url(RandomBytes(32)); }

// Whether a program was started that shows `address`; its own output is not ours.
bool OpenBrowser(const std::string& address, const CommandIo& io) {
  const auto chosen = io.variables.find("BROWSER");
  std::vector<std::string> programs = {"xdg-open", "open"};
  if (chosen != io.variables.end() && !chosen->second.empty()) {
    programs.insert(programs.begin(), chosen->second);
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {0, 1, 2}) {
    ::posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  }
  // Ctrl-C ends the command and not the browser.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  bool is_open = false;
  for (std::string& program : programs) {
    std::string argument = address;
    std::array<char*, 3> arguments = {program.data(), argument.data(), nullptr};
    pid_t child = 0;
    is_open = ::posix_spawnp(&child, program.c_str(), &actions, &attributes, arguments.data(),
                             environ) == 0;
    if (is_open) break;
  }
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return is_open;
}

ExitCode ShowPage(const ApiFlags& flags, const PageArguments& given, CommandIo& io) {
  const Result<std::string> path = PathOf(given.where);
  if (!path.ok()) return Complain(io, path.error().message, ExitCode::kUsage);
  const Signals signals;
  const ApiReply about = AskApi(flags, {"/api/v1/version"}, io);
  if (about.code != ExitCode::kOk) return about.code;
  auto server = ApiConnection::Open(flags, io);
  if (!server.ok()) {
    return Complain(io, server.error().message, ExitCodeOfOpening(server.error().code));
  }
  PageProxy proxy(*server.value(), {Random(), Random()});
  HttpServerOptions options;
  options.address = "127.0.0.1:" + std::to_string(given.port);
  options.name = "page";
  auto listener = HttpServer::Start(std::move(options), proxy.Routes());
  if (!listener.ok()) return Complain(io, listener.error().message, ExitCode::kCannotRun);
  proxy.SetPort(listener.value()->port());
  const std::string address = proxy.AddressOf(path.value());
  const bool is_open = !given.no_browser && OpenBrowser(address, io);
  io.out << (is_open ? "The browser shows " : "Open ") << address << "\n"
         << "It holds once, for one browser. Ctrl-C ends it.\n"
         << std::flush;
  while (!signals.Wait(kLook)) {
  }
  listener.value()->Stop(std::chrono::steady_clock::now() + kStopTime);
  return ExitCode::kOk;
}

}  // namespace

CommandAction DeclarePage(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto given = std::make_shared<PageArguments>(PageArguments{"/"});
  app.AddOption("WHERE", given->where,
                "What to show: an address of the page, as /services/payments, or the link of a "
                "denial; default the overview");
  app.AddOption("--port", given->port, "Port on 127.0.0.1; default any free one")
      .Between(1, kPortMax);
  app.AddFlag("--no-browser", given->no_browser, "Only print the address");
  app.Footer(
      "Listens on 127.0.0.1 and passes on what the browser asks, as the other commands ask: with\n"
      "your kubeconfig, or what else the flags say. The address that it opens holds once; nobody\n"
      "else on this machine sees the page. A token of --service-account is renewed before it "
      "ends.\n\n"
      "Examples:\n"
      "  truce page --service-account team-a/deployer\n"
      "  truce page https://truce.example.org/r/k3j5x7q2m4n6p\n"
      "  truce page /services/payments --no-browser --port 8080\n");
  return [=](CommandIo& io) { return ShowPage(*flags, *given, io); };
}

}  // namespace truce
