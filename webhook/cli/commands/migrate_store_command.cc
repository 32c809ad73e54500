#include <chrono>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "registry/store/postgres/postgres_store.h"
#include "registry/store/sqlite/data_directory.h"
#include "registry/store/sqlite/log_look.h"
#include "registry/store/sqlite/sqlite_store.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/config_flags.h"
#include "webhook/upkeep/migrate_store.h"
#include "webhook/upkeep/store_access.h"

namespace truce {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kDatabaseOpens{60};
constexpr std::chrono::seconds kProgressEvery{5};

enum class Side : std::uint8_t { kFrom, kTo };

ExitCode CodeOfMigration(ErrorCode code) {
  if (code == ErrorCode::kConflict) return ExitCode::kNo;
  if (code == ErrorCode::kInvalidArgument) return ExitCode::kUsage;
  return code == ErrorCode::kInternal ? ExitCode::kBug : ExitCode::kCannotRun;
}

// Held until it is destroyed: no server becomes active meanwhile. One that was cut off is no other
// one when it is repeated, and two sides of one database are.
Result<std::unique_ptr<Store>> HoldDatabase(const std::string& url, Side side, ConfigFlags flags,
                                            CommandIo& io) {
  flags.values["store"] = url;
  TRUCE_ASSIGN_OR_RETURN(const LoadedConfig loaded, LoadFor(flags, io));
  PostgresOptions options;
  options.url = loaded.config.store;
  options.password = PasswordOf(loaded.config);
  TRUCE_ASSIGN_OR_RETURN(auto store, PostgresStore::Open(options, In(kDatabaseOpens)));
  const char* holder = side == Side::kFrom ? "migrate-store --from" : "migrate-store --to";
  TRUCE_ASSIGN_OR_RETURN(const std::optional<OtherServer> other,
                         store->BecomeActive(holder, std::nullopt, In(kDatabaseOpens)));
  if (!other) return std::unique_ptr<Store>(std::move(store));
  const auto left = std::chrono::ceil<std::chrono::seconds>(other->left);
  return Error{ErrorCode::kConflict, "server " + other->holder +
                                         " is active on the registry in this database: end it, and "
                                         "wait " +
                                         std::to_string(left.count()) + " s if it was killed"};
}

Result<std::unique_ptr<Store>> HoldFolder(const std::string& folder, Side side) {
  std::error_code ignored;
  if (side == Side::kFrom && !fs::exists(folder + "/truce.db", ignored)) {
    return Error{ErrorCode::kInvalidArgument, "there is no registry: truce.db is missing"};
  }
  // Before anything is looked at: the marks of a running server are its own.
  TRUCE_RETURN_IF_ERROR(DataDirectory::Hold(folder));
  if (side == Side::kFrom) {
    TRUCE_ASSIGN_OR_RETURN(const std::string loss, TakeUpLog(folder));
    if (!loss.empty()) {
      return Error{ErrorCode::kDataLoss,
                   loss + "; start a server on it first, which enters recovery mode"};
    }
  }
  SqliteOptions options;
  options.data_dir = folder;
  TRUCE_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, SqliteStore::Open(options));
  return store;
}

Result<std::unique_ptr<Store>> Hold(const std::string& place, Side side, const ConfigFlags& flags,
                                    CommandIo& io) {
  auto held = IsPostgresUrl(place) ? HoldDatabase(place, side, flags, io) : HoldFolder(place, side);
  if (held.ok()) return held;
  return std::move(held).error().Within(side == Side::kFrom ? "--from" : "--to");
}

bool IsOnePlace(const std::string& from, const std::string& to) {
  std::error_code ignored;
  return from == to ||
         (!IsPostgresUrl(from) && !IsPostgresUrl(to) && fs::equivalent(from, to, ignored));
}

// A line now and then, of the table that it is at.
OnMigrated ProgressTo(std::ostream& err) {
  return [&err, told = std::chrono::steady_clock::now()](
             std::string_view act, std::string_view table, std::uint64_t done) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now - told < kProgressEvery) return;
    told = now;
    err << "truce: " << done << ' ' << table << ' ' << act << std::endl;
  };
}

ExitCode RunMigration(const std::string& from, const std::string& to, const ConfigFlags& flags,
                      CommandIo& io) {
  if (IsOnePlace(from, to)) {
    return Complain(io, "--from and --to are the same place", ExitCode::kUsage);
  }
  const auto fail = [&](const Error& error) {
    return Complain(io, error.message, CodeOfMigration(error.code));
  };
  const auto source = Hold(from, Side::kFrom, flags, io);
  if (!source.ok()) return fail(source.error());
  const auto target = Hold(to, Side::kTo, flags, io);
  if (!target.ok()) return fail(target.error());
  const Result<StoreMigration> migrated =
      MigrateStore(*source.value(), *target.value(), ProgressTo(io.err));
  if (!migrated.ok()) return fail(migrated.error());
  for (const auto& [table, count] : migrated.value().tables) {
    io.out << count << ' ' << table << '\n';
  }
  io.out << "sha256 " << migrated.value().digest << ", of both\n";
  return ExitCode::kOk;
}

}  // namespace

CommandAction DeclareMigrateStore(CommandLine& app) {
  const auto flags = AddConfigFlags(app, {"storePasswordFile", "storePasswordCommand"});
  const auto from = std::make_shared<std::string>();
  const auto to = std::make_shared<std::string>();
  app.AddOption("--from", *from, "Where the registry is: a data directory, or postgres://…")
      .Type("PLACE")
      .Required();
  app.AddOption("--to", *to, "Where it goes: an empty one").Type("PLACE").Required();
  app.Footer(
      "Copies the registry with ids, times and the audit log, then compares both by digest. No\n"
      "server may run on either side. Cut off, it goes on when it is repeated; until it has ended\n"
      "no server starts on the target. The registry in --from stays as it is.\n\n"
      "Examples:\n"
      "  truce migrate-store --from /var/lib/truce --to postgres://truce_app@db-1/truce "
      "--store-password-file app.password\n"
      "  truce migrate-store --from postgres://truce_app@db-1/truce --to /var/lib/truce\n\n"
      "Exit code 1: a server runs, or the target is not empty.");
  return [=](CommandIo& io) { return RunMigration(*from, *to, *flags, io); };
}

}  // namespace truce
