#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "registry/base/nearest.h"
#include "registry/base/one_line.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"

namespace truce {
namespace {

std::string ExitCodeTable() {
  constexpr std::size_t kColumnsMax = 100;
  constexpr std::size_t kCodeColumns = 6;
  std::string out = "Exit codes:\n";
  for (const ExitCodeRow& row : ExitCodes()) {
    std::string code = std::to_string(static_cast<int>(row.code));
    out.append("  ").append(code).append(code.size() < 2 ? "   " : "  ");
    const bool fits = kCodeColumns + row.meaning.size() + row.commands.size() < kColumnsMax - 2;
    out.append(row.meaning).append(fits ? " (" : "\n      (").append(row.commands).append(")\n");
  }
  return out +
         "\nSettings: `truce config --keys` lists every one with flag, variable and default.\n";
}

std::string Suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  const std::string_view nearest = Nearest(word.substr(0, word.find('=')), views);
  return nearest.empty() ? std::string() : "; did you mean '" + std::string(nearest) + "'?";
}

ExitCode UsageError(std::string_view command, const CommandLine& line,
                    const CommandLine::Reading& refused, CommandIo& io) {
  std::string message = refused.text;
  if (!refused.unknown.empty()) {
    const std::string& word = refused.unknown.front();
    const bool is_flag = word.starts_with("-");
    message = std::string(is_flag ? "unknown flag '" : "unexpected argument '") + word + "'";
    std::vector<std::string> flags;
    for (CommandLine::Described& each : line.Arguments()) {
      std::move(each.flags.begin(), each.flags.end(), std::back_inserter(flags));
    }
    const std::string hint = is_flag ? Suggestion(word, flags) : std::string();
    message +=
        hint.empty() ? "; `truce " + std::string(command) + " --help` lists what it takes" : hint;
  }
  return Complain(io, message, ExitCode::kUsage);
}

ExitCode UnknownCommand(const std::string& word, CommandIo& io) {
  std::vector<std::string> names;
  for (const Command& command : Commands()) names.emplace_back(command.name);
  std::string hint = Suggestion(word, names);
  if (hint.empty()) hint = "; `truce --help` lists all commands";
  const bool is_flag = word.starts_with("-");
  return Complain(io, (is_flag ? "unknown flag '" : "unknown command '") + word + "'" + hint,
                  ExitCode::kUsage);
}

std::string Help() {
  std::string out = "truce: one owner for every cloud resource\n\nUsage: truce COMMAND [FLAGS]\n\n";
  std::size_t widest = 0;
  for (const Command& command : Commands()) widest = std::max(widest, command.name.size());
  std::string_view heading;
  for (const Command& command : Commands()) {
    if (command.heading != heading) {
      out.append(heading.empty() ? "" : "\n").append(command.heading).append(":\n");
      heading = command.heading;
    }
    out.append("  ").append(command.name);
    out.append(widest - command.name.size() + 2, ' ');
    out.append(command.summary).append("\n");
  }
  out += "\n`truce help COMMAND` explains one command, `truce --version` prints the version.\n\n";
  return out + ExitCodeTable();
}

ExitCode RunCommand(const Command& command, std::span<const std::string> arguments, CommandIo& io) {
  CommandLine line(command.name, command.summary);
  const CommandAction action = command.declare(line);
  const CommandLine::Reading reading = line.Read(arguments);
  switch (reading.outcome) {
    case CommandLine::Outcome::kRead: return action(io);
    case CommandLine::Outcome::kHelp: io.out << reading.text; return ExitCode::kOk;
    case CommandLine::Outcome::kRefused: break;
  }
  return UsageError(command.name, line, reading, io);
}

bool IsReaderGone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

ExitCode Dispatch(std::span<const std::string> arguments, CommandIo& io) {
  if (arguments.empty()) {
    io.err << Help();
    return ExitCode::kUsage;
  }
  const std::string& word = arguments.front();
  if (word == "--version" || word == "version") {
    return RunCommand(
        {"--version", "print the version, and what it was built from", &DeclareVersion, {}},
        arguments.subspan(1), io);
  }
  const bool is_help = word == "--help" || word == "-h" || word == "help";
  const bool names_one =
      arguments.size() > 1 && arguments[1] != "help" && !arguments[1].starts_with("-");
  if (is_help && !names_one) {
    io.out << Help();
    return ExitCode::kOk;
  }
  if (is_help) {
    const std::vector<std::string> of_one = {arguments[1], "--help"};
    return Dispatch(of_one, io);
  }
  for (const Command& command : Commands()) {
    if (command.name == word) return RunCommand(command, arguments.subspan(1), io);
  }
  return UnknownCommand(word, io);
}

}  // namespace

std::span<const Command> Commands() {
  constexpr std::string_view kAsk = "Ask who owns what";
  constexpr std::string_view kDeploy = "Before you deploy";
  constexpr std::string_view kAgree = "Agree with other teams";
  constexpr std::string_view kCluster = "See what is wrong and roll out";
  constexpr std::string_view kOperate = "Run it";
  static constexpr std::array<Command, 37> kCommands = {{
      {"who-owns", "find the owner of a resource, or that it is free", &DeclareWhoOwns, kAsk},
      {"list", "list resources and their owners", &DeclareList, kAsk},
      {"describe", "show one resource with everything known of it", &DeclareDescribe, kAsk},
      {"services", "list the services that own something", &DeclareServices, kAsk},
      {"denials", "show who was refused what, lately", &DeclareDenials, kAsk},
      {"audit", "show grants, releases and administration", &DeclareAudit, kAsk},
      {"page", "open the page for people in a browser on this machine", &DeclarePage, kAsk},
      {"check", "check manifests or a chart's values before they are deployed", &DeclareCheck,
       kDeploy},
      {"explain", "explain a type, or with --policy which rule applies to an object",
       &DeclareExplain, kDeploy},
      {"types", "list the known types of cloud resources", &DeclareTypes, kDeploy},
      {"reserve", "take a name for another tool, for a time, before it creates the resource",
       &DeclareReserve, kDeploy},
      {"share", "let another team observe a resource or attach to it, for a time", &DeclareShare,
       kAgree},
      {"transfer", "hand an ownership over: its steps, and which are done", &DeclareTransfer,
       kAgree},
      {"protect", "mark a resource as not to be deleted", &DeclareProtect, kAgree},
      {"findings", "list what is wrong in the cluster, with proof and remedy; mute what is known",
       &DeclareFindings, kCluster},
      {"conflicts", "list resources with more than one manager, and how to end each",
       &DeclareConflicts, kCluster},
      {"resolve", "say who of several managers must step back, in which order", &DeclareResolve,
       kCluster},
      {"baseline", "report what a live cluster declares and what conflicts already",
       &DeclareBaseline, kCluster},
      {"simulate", "show what enforcing would have refused, per service and rule", &DeclareSimulate,
       kCluster},
      {"coverage", "show what is not protected, and why", &DeclareCoverage, kCluster},
      {"quotas", "show how far each quota is used, and where", &DeclareQuotas, kCluster},
      {"serve", "answer admission reviews and keep the registry", &DeclareServe, kOperate},
      {"config", "print the effective configuration and where each value comes from",
       &DeclareConfig, kOperate},
      {"doctor", "check the whole installation, each failure with its remedy", &DeclareDoctor,
       kOperate},
      {"override", "show, make or end timed overrides (break-glass): audited, not denied",
       &DeclareOverride, kOperate},
      {"release", "end an ownership, so that the name is free", &DeclareRelease, kOperate},
      {"confirm", "tell a server on this machine, without cluster, that an object was really made",
       &DeclareConfirm, kOperate},
      {"recovery", "show, start or finish recovery mode, in which conflicts only warn",
       &DeclareRecovery, kOperate},
      {"brake", "show or let go releases that wait because too many objects are missing",
       &DeclareBrake, kOperate},
      {"import", "record resources that are owned outside the cluster (Terraform, AWS lists, CSV)",
       &DeclareImport, kOperate},
      {"export", "write all ownerships as NDJSON, JSON or CSV, or shares as OwnershipGrants",
       &DeclareExport, kOperate},
      {"backup", "copy the registry while the server runs, and verify the copy", &DeclareBackup,
       kOperate},
      {"restore", "put a copy of the registry back, on the server's machine", &DeclareRestore,
       kOperate},
      {"prepare-store", "make the tables of a registry in PostgreSQL", &DeclarePrepareStore,
       kOperate},
      {"migrate-store", "move the registry between SQLite and PostgreSQL", &DeclareMigrateStore,
       kOperate},
      {"reference", "write the reference pages of the manual", &DeclareReference, kOperate},
      {"completion", "write a script that completes commands and flags in a shell",
       &DeclareCompletion, kOperate},
  }};
  return kCommands;
}

ExitCode Complain(CommandIo& io, std::string_view message, ExitCode code) {
  io.err << "truce: " << OneLine(message) << "\n";
  return code;
}

void Warn(CommandIo& io, std::string_view message) {
  io.err << "truce: warning: " << OneLine(message) << "\n";
}

ExitCode RunCli(std::span<const std::string> arguments, CommandIo& io) {
  // Libraries may throw (out of memory); no exception leaves the program as a crash.
  try {
    const ExitCode code = Dispatch(arguments, io);
    // The reader of a pipe may have had enough, as head has: the code alone says that it is cut.
    if (io.out.flush() || code == ExitCode::kCannotRun) return code;
    if (!IsReaderGone()) Complain(io, "standard output cannot be written", code);
    return ExitCode::kCannotRun;
  } catch (const std::exception& error) {
    return Complain(io, std::string("internal error: ") + error.what(), ExitCode::kBug);
  }
}

std::string_view TruceVersion() { return TRUCE_VERSION; }

}  // namespace truce
