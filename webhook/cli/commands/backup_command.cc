// backup, restore: the registry as one file.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/counted.h"
#include "registry/base/text.h"
#include "registry/store/sqlite/backup.h"
#include "registry/store/sqlite/log_look.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/config_flags.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/cli/server/server_finder.h"
#include "webhook/upkeep/data_dir.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

namespace fs = std::filesystem;

// Copies in a folder: registry-20261121T031700Z.db.
constexpr std::string_view kCopyBegin = "registry-";
constexpr std::string_view kCopyEnd = ".db";
constexpr std::size_t kCopyTimeBytes = 16;
constexpr int kKeepMax = 10'000;

constexpr const char* kKeptElsewhere =
    "the registry is in PostgreSQL, which keeps its own copies: use pg_dump, or snapshots and "
    "recovery to a point in time of whoever runs it";
constexpr std::chrono::seconds kServerTime{10};
// A registry of a million ownerships over a slow line.
constexpr std::chrono::seconds kCopyTime{3600};

std::string ContentsText(const BackupContents& contents) {
  return Counted(contents.ownerships, "ownership") + " and " +
         Counted(contents.audit_lines, "line") + " of audit log, verified";
}

ExitCode CodeOf(ErrorCode code) {
  const bool is_input = code == ErrorCode::kInvalidArgument || code == ErrorCode::kNotFound;
  if (is_input) return ExitCode::kUsage;
  return code == ErrorCode::kConflict ? ExitCode::kNo : ExitCode::kCannotRun;
}

ExitCode Failed(CommandIo& io, const Error& error) {
  return Complain(io, error.message, CodeOf(error.code));
}

// The data directory of the flags; empty after a complaint.
std::string DataDirOf(const ConfigFlags& flags, CommandIo& io) {
  const Result<LoadedConfig> loaded = LoadFor(flags, io);
  if (loaded.ok() && !IsPostgresUrl(loaded.value().config.store)) {
    return loaded.value().config.data_dir;
  }
  Complain(io, loaded.ok() ? kKeptElsewhere : loaded.error().message.c_str(), ExitCode::kUsage);
  return {};
}

// The data directory that `flags` name, whose registry is a file there: as the server says that
// runs on it, whose store counts and not a file beside it; empty after a complaint, with its code.
struct FileRegistry {
  std::string data_dir;
  ExitCode code = ExitCode::kUsage;
  bool is_served = false;
};
FileRegistry FileRegistryOf(const ApiFlags& flags, CommandIo& io) {
  FileRegistry out;
  const std::string data_dir = DataDirOf(*flags.config, io);
  if (data_dir.empty()) return out;
  const Deadline deadline = std::chrono::steady_clock::now() + kServerTime;
  Result<ServerPlace> place = FindServer(flags, io);
  if (!place.ok()) {
    Complain(io, place.error().message, out.code);
    return out;
  }
  const auto server = ConnectTo(std::move(place).value(), deadline);
  const auto reply = server.ok() ? server.value()->Send({"/api/v1/store"}, deadline)
                                 : Result<ApiResponse>(server.error());
  // A server that ended without its last words leaves its socket behind.
  const bool is_gone =
      !reply.ok() && (reply.error().code == ErrorCode::kNotFound ||
                      reply.error().message.ends_with(std::strerror(ECONNREFUSED)));
  if (!reply.ok() && !is_gone) {
    out.code = Complain(
        io,
        "the server on " + data_dir + " does not say which store it has: " + reply.error().message,
        ExitCode::kUnreachable);
    return out;
  }
  const nlohmann::json answer = reply.ok() ? ParseJson(reply.value().body) : nlohmann::json();
  if (answer.is_object() && !answer.value("inDataDir", true)) {
    Complain(io, kKeptElsewhere, out.code);
    return out;
  }
  out.data_dir = data_dir;
  out.is_served = reply.ok();
  return out;
}

ExitCode Tell(const std::string& file, const Result<BackupContents>& contents, CommandIo& io) {
  if (!contents.ok()) return Failed(io, contents.error());
  io.out << file << ": " << ContentsText(contents.value()) << "\n";
  return ExitCode::kOk;
}

ExitCode NotWritten(CommandIo& io) {
  return Complain(io, "standard output cannot be written; the copy is not whole",
                  ExitCode::kCannotRun);
}

// From the data directory of this machine, whether a server runs there or not.
ExitCode WriteLocalCopy(const std::string& data_dir, CommandIo& io) {
  Result<HandedOutCopy> copy = BackUpToHandOut(data_dir);
  if (!copy.ok()) return Failed(io, copy.error());
  while (true) {
    const Result<std::string> piece = copy.value().Next();
    if (!piece.ok()) return Failed(io, piece.error());
    if (piece.value().empty()) break;
    if (!io.out.write(piece.value().data(), static_cast<std::streamsize>(piece.value().size()))) {
      return NotWritten(io);
    }
  }
  if (!io.out.flush()) return NotWritten(io);
  NoteBackup(data_dir, SystemClock().Now());
  io.err << "truce: " << ContentsText(copy.value().contents()) << "\n";
  return ExitCode::kOk;
}

ApiQuestion QuestionFor(std::function<bool(std::string_view)> receive) {
  ApiQuestion question{"/api/v1/backup"};
  question.within = kCopyTime;
  question.receive = std::move(receive);
  return question;
}

ExitCode WriteCopyOfServer(const ApiFlags& flags, CommandIo& io) {
  bool is_written = true;
  const auto write = [&](std::string_view piece) {
    is_written = io.out.write(piece.data(), static_cast<std::streamsize>(piece.size())).good();
    return is_written;
  };
  std::ostringstream told;
  CommandIo quiet{io.out, told, io.variables};
  const ApiReply reply = AskApi(flags, QuestionFor(write), quiet);
  if (!is_written || !io.out.flush()) return NotWritten(io);
  io.err << told.str();
  return reply.code;
}

ExitCode FetchCopy(const ApiFlags& flags, const std::string& file, CommandIo& io) {
  const auto copy = IncomingCopy::Begin(file);
  if (!copy.ok()) return Failed(io, copy.error());
  Result<void> appended;
  const auto append = [&](std::string_view piece) {
    appended = copy.value()->Append(piece);
    return appended.ok();
  };
  std::ostringstream told;
  CommandIo quiet{io.out, told, io.variables};
  const ApiReply reply = AskApi(flags, QuestionFor(append), quiet);
  if (!appended.ok()) return Failed(io, appended.error());
  io.err << told.str();
  if (reply.code != ExitCode::kOk) return reply.code;
  return Tell(file, copy.value()->Finish(), io);
}

// The name of a copy of now: the time without the separators of its parts.
std::string CopyName() {
  std::string time = FormatTimestamp(std::chrono::floor<std::chrono::seconds>(SystemClock().Now()));
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  return std::string(kCopyBegin) + time + std::string(kCopyEnd);
}

bool IsCopyName(std::string_view name) {
  if (!name.starts_with(kCopyBegin) || !name.ends_with(kCopyEnd)) return false;
  name.remove_prefix(kCopyBegin.size());
  name.remove_suffix(kCopyEnd.size());
  const auto is_part = [](char c) { return IsDigit(c) || c == 'T' || c == 'Z'; };
  return name.size() == kCopyTimeBytes && std::all_of(name.begin(), name.end(), is_part);
}

// Removes the oldest copies of a folder, so that `keep` stay. Files of other names are not its own.
ExitCode RemoveOldCopies(const std::string& folder, std::size_t keep, CommandIo& io) {
  std::vector<fs::path> copies;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (IsCopyName(entry.path().filename().string())) copies.push_back(entry.path());
  }
  std::sort(copies.begin(), copies.end());
  for (std::size_t i = 0; !error && i + keep < copies.size(); ++i) {
    if (fs::remove(copies[i], error)) io.out << copies[i].string() << ": removed\n";
  }
  if (!error) return ExitCode::kOk;
  return Complain(io, folder + ": old copies cannot be removed: " + error.message(),
                  ExitCode::kCannotRun);
}

ExitCode MakeBackup(const ApiFlags& flags, const std::string& file, CommandIo& io) {
  const bool is_stream = file == "-";
  if (is_stream && io.out_is_terminal) {
    return Complain(io, "a registry is no text for a terminal; write it to a file or a pipe",
                    ExitCode::kUsage);
  }
  const Result<ServerPlace> place = FindServer(flags, io);
  if (!place.ok()) return Complain(io, place.error().message, ExitCode::kUsage);
  if (place.value().socket.empty()) {
    return is_stream ? WriteCopyOfServer(flags, io) : FetchCopy(flags, file, io);
  }
  const FileRegistry registry = FileRegistryOf(flags, io);
  if (registry.data_dir.empty()) return registry.code;
  const std::string loss = registry.is_served ? "" : LossInLog(registry.data_dir);
  if (!loss.empty()) io.err << "truce: " << loss << "\n";
  if (is_stream) return WriteLocalCopy(registry.data_dir, io);
  const auto copied = BackUp(registry.data_dir, file);
  if (copied.ok()) NoteBackup(registry.data_dir, SystemClock().Now());
  return Tell(file, copied, io);
}

}  // namespace

CommandAction DeclareBackup(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto file = std::make_shared<std::string>();
  const auto verify = std::make_shared<bool>(false);
  const auto keep = std::make_shared<std::size_t>(0);
  app.AddOption(
         "FILE", *file,
         "Where the copy goes; must not exist. In a folder it is named by its time; - writes "
         "standard output")
      .Required();
  app.AddOption("--keep", *keep, "In a folder: remove the oldest copies, so that that many stay")
      .Between(1, kKeepMax);
  app.AddFlag("--verify", *verify, "Copy nothing: check the copy FILE");
  app.Footer(
      "A consistent copy of the registry, made while the server runs and without holding it up.\n"
      "It is checked as a whole before it gets its name, or before its first byte goes to\n"
      "standard output. On the server's own machine it is made from the data directory; over the\n"
      "network it needs get on backups.truce.dev, which no role has unless you give it: a copy\n"
      "tells everything.\n\n"
      "Examples:\n"
      "  truce backup --data-dir /var/lib/truce registry-2026-11-21.db\n"
      "  truce backup registry.db --service-account truce-system/backup\n"
      "  truce backup - --server https://truce.example.org | gzip > registry.db.gz\n"
      "  truce backup /backups --keep 14\n"
      "  truce backup --verify registry-2026-11-21.db\n");
  return [=](CommandIo& io) {
    std::error_code ignored;
    const bool is_folder = !*verify && fs::is_directory(*file, ignored);
    if (*keep > 0 && !is_folder) {
      return Complain(io, "--keep is for copies in a folder, and '" + *file + "' is none",
                      ExitCode::kUsage);
    }
    if (is_folder) {
      const ExitCode code = MakeBackup(*flags, (fs::path(*file) / CopyName()).string(), io);
      return code == ExitCode::kOk && *keep > 0 ? RemoveOldCopies(*file, *keep, io) : code;
    }
    return *verify ? Tell(*file, VerifyBackup(*file), io) : MakeBackup(*flags, *file, io);
  };
}

CommandAction DeclareRestore(CommandLine& app) {
  const auto flags = AddOperatorFlags(app);
  const auto file = std::make_shared<std::string>();
  app.AddOption("FILE", *file, "The copy that `truce backup` made").Required();
  app.Footer(
      "Puts a copy in the place of the registry, in one step. No server may run on the data\n"
      "directory; what stood there is kept as truce.db.replaced. A server that follows a cluster\n"
      "then only warns, until it has seen everything and `truce recovery finish` is said.\n\n"
      "Example:\n"
      "  truce restore --data-dir /var/lib/truce registry-2026-11-21.db\n");
  return [=](CommandIo& io) {
    const FileRegistry registry = FileRegistryOf(*flags, io);
    if (registry.data_dir.empty()) return registry.code;
    return Tell(registry.data_dir, RestoreBackup(*file, registry.data_dir), io);
  };
}

}  // namespace truce
