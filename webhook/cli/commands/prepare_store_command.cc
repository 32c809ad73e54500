#include <memory>
#include <ostream>

#include "registry/store/postgres/setup.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/config_flags.h"
#include "webhook/upkeep/store_access.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kPrepareTime{60};

ExitCode CodeOf(ErrorCode code) {
  return code == ErrorCode::kInternal ? ExitCode::kBug : ExitCode::kCannotRun;
}

}  // namespace

CommandAction DeclarePrepareStore(CommandLine& app) {
  const auto flags = AddConfigFlags(app, {"store", "storePasswordFile", "storePasswordCommand"});
  const auto roles = std::make_shared<bool>(false);
  app.AddFlag("--roles", *roles, "Print the SQL that makes the roles, and do nothing else");
  app.Footer(
      "Makes the tables of a registry in PostgreSQL, or brings them up to this version: for users\n"
      "that may do so, where the server's own may not. A server whose user may does it itself.\n\n"
      "Examples:\n"
      "  truce prepare-store --roles | psql \"host=db-1 user=postgres dbname=truce\"\n"
      "  truce prepare-store --store postgres://truce_migrate@db-1:5432/truce "
      "--store-password-file migrate.password\n");
  return [=](CommandIo& io) {
    if (*roles) {
      io.out << PostgresRoles();
      return ExitCode::kOk;
    }
    const Result<LoadedConfig> loaded = LoadFor(*flags, io);
    if (!loaded.ok()) return Complain(io, loaded.error().message, ExitCode::kUsage);
    const Config& config = loaded.value().config;
    if (!IsPostgresUrl(config.store)) {
      return Complain(io,
                      "store '" + config.store +
                          "' needs no preparation; --store postgres://USER@HOST:PORT/NAME names "
                          "the database",
                      ExitCode::kUsage);
    }
    const Result<void> prepared =
        PreparePostgres({config.store, PasswordOf(config)}, In(kPrepareTime));
    if (!prepared.ok()) {
      return Complain(io, prepared.error().message, CodeOf(prepared.error().code));
    }
    io.out << "the tables of schema truce are those of this version\n";
    return ExitCode::kOk;
  };
}

}  // namespace truce
