// Commands: each is one file and one line in Commands().
#ifndef TRUCE_WEBHOOK_CLI_COMMAND_H_
#define TRUCE_WEBHOOK_CLI_COMMAND_H_

#include <functional>
#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "webhook/cli/exit_code.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the name that the library has
class App;
}  // namespace CLI

namespace truce {

// Where a command reads and writes. Data goes to `out`, messages to `err`.
struct CommandIo {
  std::ostream& out;
  std::ostream& err;
  std::map<std::string, std::string> variables;  // TRUCE_…, HOME, KUBE… of the environment
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

// Runs a command whose arguments were read.
using CommandAction = std::function<ExitCode(CommandIo&)>;

struct Command {
  std::string_view name;
  std::string_view summary;  // one line
  // Adds the command's arguments to its own parser and returns what it does with them.
  CommandAction (*declare)(CLI::App& app);
};

// All commands, in the order of the help text.
std::span<const Command> Commands();

CommandAction DeclareServe(CLI::App& app);
CommandAction DeclareConfig(CLI::App& app);
CommandAction DeclareTypes(CLI::App& app);
CommandAction DeclareExplain(CLI::App& app);
CommandAction DeclareCheck(CLI::App& app);
CommandAction DeclareConfirm(CLI::App& app);
CommandAction DeclareRelease(CLI::App& app);
CommandAction DeclareWhoOwns(CLI::App& app);
CommandAction DeclareList(CLI::App& app);
CommandAction DeclareDescribe(CLI::App& app);
CommandAction DeclareServices(CLI::App& app);
CommandAction DeclareAudit(CLI::App& app);
CommandAction DeclareDenials(CLI::App& app);
CommandAction DeclareConflicts(CLI::App& app);
CommandAction DeclareBaseline(CLI::App& app);
CommandAction DeclareSimulate(CLI::App& app);
CommandAction DeclareCoverage(CLI::App& app);
CommandAction DeclareRecovery(CLI::App& app);
CommandAction DeclareBrake(CLI::App& app);
CommandAction DeclareOverride(CLI::App& app);
CommandAction DeclareShare(CLI::App& app);
CommandAction DeclareTransfer(CLI::App& app);
CommandAction DeclareProtect(CLI::App& app);
CommandAction DeclareResolve(CLI::App& app);
CommandAction DeclareDoctor(CLI::App& app);
CommandAction DeclareCompletion(CLI::App& app);
CommandAction DeclareImport(CLI::App& app);
CommandAction DeclareBackup(CLI::App& app);
CommandAction DeclareRestore(CLI::App& app);
CommandAction DeclareExport(CLI::App& app);

// Writes "truce: message" to `io.err` and returns `code`.
ExitCode Complain(CommandIo& io, std::string_view message, ExitCode code);

// Reads arguments (without the program's name), runs one command. Never throws.
ExitCode RunCli(std::span<const std::string> arguments, CommandIo& io);

// "0.1.0".
std::string_view TruceVersion();

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_COMMAND_H_
