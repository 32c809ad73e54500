#include <ostream>

#include "registry/store/sqlite/backup.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/config_flags.h"

namespace truce {
namespace {

std::string ContentsText(const BackupContents& contents) {
  return std::to_string(contents.ownerships) + " ownerships and " +
         std::to_string(contents.audit_lines) + " lines of audit log, verified";
}

ExitCode CodeOf(ErrorCode code) {
  const bool is_input = code == ErrorCode::kInvalidArgument || code == ErrorCode::kNotFound;
  if (is_input) return ExitCode::kUsage;
  return code == ErrorCode::kConflict ? ExitCode::kNo : ExitCode::kCannotRun;
}

// The data directory of the flags; empty after a complaint.
std::string DataDirOf(const ConfigFlags& flags, CommandIo& io) {
  const Result<LoadedConfig> loaded = LoadFor(flags, io);
  if (loaded.ok()) return loaded.value().config.data_dir;
  Complain(io, loaded.error().message, ExitCode::kUsage);
  return {};
}

}  // namespace

CommandAction DeclareBackup(CommandLine& app) {
  const auto flags = AddConfigFlags(app, {"dataDir"});
  const auto file = std::make_shared<std::string>();
  const auto verify = std::make_shared<bool>(false);
  app.AddOption("FILE", *file, "Where the copy goes; must not exist").Required();
  app.AddFlag("--verify", *verify, "Copy nothing: check the copy FILE");
  app.Footer(
      "A consistent copy of the registry, made while the server runs and without holding it up. "
      "It\n"
      "is checked as a whole before it gets its name.\n\n"
      "Examples:\n"
      "  truce backup --data-dir /var/lib/truce registry-2026-11-21.db\n"
      "  truce backup --verify registry-2026-11-21.db\n");
  return [=](CommandIo& io) {
    std::string data_dir;
    if (!*verify) data_dir = DataDirOf(*flags, io);
    if (!*verify && data_dir.empty()) return ExitCode::kUsage;
    const auto contents = *verify ? VerifyBackup(*file) : BackUp(data_dir, *file);
    if (!contents.ok()) {
      return Complain(io, contents.error().message, CodeOf(contents.error().code));
    }
    io.out << *file << ": " << ContentsText(contents.value()) << "\n";
    return ExitCode::kOk;
  };
}

CommandAction DeclareRestore(CommandLine& app) {
  const auto flags = AddConfigFlags(app, {"dataDir"});
  const auto file = std::make_shared<std::string>();
  app.AddOption("FILE", *file, "The copy that `truce backup` made").Required();
  app.Footer(
      "Puts a copy in the place of the registry, in one step. No server may run on the data "
      "directory; what stood\n"
      "there is kept as truce.db.replaced. A server that follows a cluster then only warns, until "
      "it\n"
      "has seen everything and `truce recovery finish` is said.\n\n"
      "Example:\n"
      "  truce restore --data-dir /var/lib/truce registry-2026-11-21.db\n");
  return [=](CommandIo& io) {
    const std::string data_dir = DataDirOf(*flags, io);
    if (data_dir.empty()) return ExitCode::kUsage;
    const auto contents = RestoreBackup(*file, data_dir);
    if (!contents.ok()) {
      return Complain(io, contents.error().message, CodeOf(contents.error().code));
    }
    io.out << data_dir << ": " << ContentsText(contents.value()) << "\n";
    return ExitCode::kOk;
  };
}

}  // namespace truce
