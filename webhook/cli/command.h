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

namespace truce {

class CommandLine;

// Where a command reads and writes. Data goes to `out`, messages to `err`.
struct CommandIo {
  std::ostream& out;
  std::ostream& err;
  std::map<std::string, std::string> variables;  // TRUCE_…, HOME, KUBE…, BROWSER, …PROXY
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

// Runs a command whose arguments were read.
using CommandAction = std::function<ExitCode(CommandIo&)>;

struct Command {
  std::string_view name;
  std::string_view summary;  // one line
  // Adds the command's arguments to its own parser and returns what it does with them.
  CommandAction (*declare)(CommandLine& app);
  std::string_view heading;  // its heading in the help text
};

// All commands, in the order of the help text; those of one heading come together.
std::span<const Command> Commands();

CommandAction DeclareServe(CommandLine& app);
CommandAction DeclareConfig(CommandLine& app);
CommandAction DeclareTypes(CommandLine& app);
CommandAction DeclareExplain(CommandLine& app);
CommandAction DeclareCheck(CommandLine& app);
CommandAction DeclareConfirm(CommandLine& app);
CommandAction DeclareRelease(CommandLine& app);
CommandAction DeclareWhoOwns(CommandLine& app);
CommandAction DeclareList(CommandLine& app);
CommandAction DeclareDescribe(CommandLine& app);
CommandAction DeclareServices(CommandLine& app);
CommandAction DeclareAudit(CommandLine& app);
CommandAction DeclareDenials(CommandLine& app);
CommandAction DeclareFindings(CommandLine& app);
CommandAction DeclareConflicts(CommandLine& app);
CommandAction DeclareBaseline(CommandLine& app);
CommandAction DeclareSimulate(CommandLine& app);
CommandAction DeclareCoverage(CommandLine& app);
CommandAction DeclareQuotas(CommandLine& app);
CommandAction DeclareRecovery(CommandLine& app);
CommandAction DeclareBrake(CommandLine& app);
CommandAction DeclareOverride(CommandLine& app);
CommandAction DeclareShare(CommandLine& app);
CommandAction DeclareTransfer(CommandLine& app);
CommandAction DeclareProtect(CommandLine& app);
CommandAction DeclareResolve(CommandLine& app);
CommandAction DeclareDoctor(CommandLine& app);
CommandAction DeclareCompletion(CommandLine& app);
CommandAction DeclareImport(CommandLine& app);
CommandAction DeclareReserve(CommandLine& app);
CommandAction DeclareBackup(CommandLine& app);
CommandAction DeclareRestore(CommandLine& app);
CommandAction DeclarePrepareStore(CommandLine& app);
CommandAction DeclareMigrateStore(CommandLine& app);
CommandAction DeclareExport(CommandLine& app);
CommandAction DeclarePage(CommandLine& app);
CommandAction DeclareReference(CommandLine& app);
// `truce --version`, which no list of commands names.
CommandAction DeclareVersion(CommandLine& app);

// Writes "truce: warning: message" to `io.err`, on one line.
void Warn(CommandIo& io, std::string_view message);
// Writes "truce: message" to `io.err`, on one line, and returns `code`.
ExitCode Complain(CommandIo& io, std::string_view message, ExitCode code);

// Reads arguments (without the program's name), runs one command. Never throws.
ExitCode RunCli(std::span<const std::string> arguments, CommandIo& io);

// "0.1.0".
std::string_view TruceVersion();

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_COMMAND_H_
