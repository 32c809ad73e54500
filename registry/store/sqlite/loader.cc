#include "registry/store/sqlite/loader.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/store/sqlite/records.h"

namespace truce {
namespace {

// More threads than this wait for the disk, not for a processor.
constexpr unsigned kThreadsMax = 4;
// Instructions of SQLite's machine between two looks at the reasons to stop: under a millisecond.
constexpr int kProgressSteps = 10000;
constexpr auto kHoldBackPause = std::chrono::seconds(2);

Result<void> LoadResources(Connection& connection, Known& known) {
  TRUCE_ASSIGN_OR_RETURN(Statement resources, connection.Use(Sql::kAllResources));
  std::string shape;
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(const bool more, resources.Step());
    if (!more) return {};
    TRUCE_ASSIGN_OR_RETURN(const OwnerTexts texts, ReadOwnerTexts(resources, shape));
    if (texts.owned) {
      known.LoadOwner(texts);
    } else {
      known.LoadRowsWithoutOwner(texts.key);
    }
  }
}

Result<void> LoadRows(Connection& connection, Signposts& rows_by_uid) {
  TRUCE_ASSIGN_OR_RETURN(Statement rows, connection.Use(Sql::kRowUids));
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) break;
    rows_by_uid.Load(rows.Text(0), rows.Integer(1));
  }
  rows_by_uid.Loaded();
  return {};
}

Result<void> LoadObjects(Connection& connection, SignpostsOfTables& signposts) {
  TRUCE_ASSIGN_OR_RETURN(Statement objects, connection.Use(Sql::kObjectTexts));
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(const bool more, objects.Step());
    if (!more) break;
    signposts.objects_by_uid.Load(objects.Text(0), objects.Integer(1));
    signposts.objects_by_slot.Load(objects.Text(2), objects.Integer(1));
    signposts.objects_by_kind.Load(objects.Text(3), objects.Integer(1));
  }
  signposts.objects_by_uid.Loaded();
  signposts.objects_by_slot.Loaded();
  signposts.objects_by_kind.Loaded();
  return {};
}

Result<void> LoadReservations(Connection& connection, Known& known) {
  TRUCE_ASSIGN_OR_RETURN(Statement reservations, connection.Use(Sql::kAllReservations));
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(const bool more, reservations.Step());
    if (!more) return {};
    TRUCE_ASSIGN_OR_RETURN(const auto reservation, ReadReservation(reservations));
    if (reservation) known.LoadReservation(*reservation);
  }
}

Result<void> LoadNames(Connection& connection, Known& known) {
  TRUCE_ASSIGN_OR_RETURN(Statement names, connection.Use(Sql::kNamesAsWritten));
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(const bool more, names.Step());
    if (!more) return {};
    TRUCE_ASSIGN_OR_RETURN(const ResourceName name, ReadName(names));
    known.LoadName(name);
  }
}

Result<void> LoadKnown(Connection& connection, Known& known) {
  TRUCE_RETURN_IF_ERROR(LoadResources(connection, known));
  TRUCE_RETURN_IF_ERROR(LoadNames(connection, known));
  TRUCE_RETURN_IF_ERROR(LoadReservations(connection, known));
  known.Loaded();
  return {};
}

Result<void> LoadVersion(Connection& connection, Memory& memory) {
  TRUCE_ASSIGN_OR_RETURN(const std::int64_t count, connection.Integer("SELECT count FROM commits"));
  const auto version = static_cast<std::uint64_t>(count);
  memory.known.LoadVersion(version);
  memory.signposts.LoadVersion(version);
  return {};
}

Result<void> Check(Connection& connection, const std::string& pragma, const std::string& table) {
  TRUCE_ASSIGN_OR_RETURN(Statement check,
                         connection.Prepare("PRAGMA " + pragma + "(\"" + table + "\")"));
  TRUCE_ASSIGN_OR_RETURN(const bool found, check.Step());
  if (found && check.Text(0) == "ok") return {};
  return Error{ErrorCode::kDataLoss,
               "table " + table + ": " + (found ? std::string(check.Text(0)) : "no answer")};
}

// The largest first, so that no thread is alone with it at the end.
Result<std::vector<std::string>> Tables(Connection& connection) {
  TRUCE_ASSIGN_OR_RETURN(Statement names,
                         connection.Prepare("SELECT name FROM sqlite_schema WHERE type = 'table' "
                                            "AND name NOT LIKE 'sqlite_%' "
                                            "ORDER BY name = 'resources' DESC, name"));
  std::vector<std::string> tables;
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(const bool more, names.Step());
    if (!more) return tables;
    tables.emplace_back(names.Text(0));
  }
}

using Task = std::function<Result<void>(Connection&)>;

// Runs all tasks, each thread on a connection of its own; the first error wins and ends the rest.
Result<void> RunAll(const ConnectionOptions& options, const std::vector<Task>& tasks) {
  std::atomic<std::size_t> next = 0;
  Guarded<std::optional<Error>> failure;
  const auto work = [&] {
    const auto all = [&]() -> Result<void> {
      TRUCE_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection,
                             Connection::Open(options));
      for (std::size_t task = next++; task < tasks.size(); task = next++) {
        TRUCE_RETURN_IF_ERROR(tasks[task](*connection));
      }
      return {};
    };
    Result<void> done = all();
    if (done.ok()) return;
    next = tasks.size();
    failure.With([&](std::optional<Error>& first) {
      if (!first.has_value()) first = std::move(done).error();
    });
  };
  {
    const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1U, kThreadsMax);
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < threads; ++i) workers.emplace_back(work);
  }
  std::optional<Error> first = failure.With([](const auto& error) { return error; });
  if (first.has_value()) return *std::move(first);
  return {};
}

// Why a check is interrupted; lives as long as the connection has the handler.
struct Interruption {
  const std::stop_token& stop;
  const std::function<bool()>& hold_back;

  static int Ask(void* self) {
    const auto* const interruption = static_cast<const Interruption*>(self);
    return interruption->stop.stop_requested() || interruption->hold_back() ? 1 : 0;
  }
};

void PauseUnlessStopped(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, kHoldBackPause, [] { return false; });
}

}  // namespace

Result<void> Load(const ConnectionOptions& options, Memory& memory) {
  ConnectionOptions reading = options;
  reading.read_only = true;
  std::vector<std::string> tables;
  {
    TRUCE_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(reading));
    TRUCE_ASSIGN_OR_RETURN(tables, Tables(*connection));
    TRUCE_RETURN_IF_ERROR(LoadVersion(*connection, memory));
  }
  // What fills one thing is one task.
  std::vector<Task> tasks = {
      [&](Connection& connection) { return LoadKnown(connection, memory.known); },
      [&](Connection& connection) { return LoadObjects(connection, memory.signposts); },
      [&](Connection& connection) { return LoadRows(connection, memory.signposts.rows_by_uid); }};
  for (const std::string& table : tables) {
    tasks.emplace_back(
        [&table](Connection& connection) { return Check(connection, "quick_check", table); });
  }
  return RunAll(reading, tasks);
}

Result<void> CheckIntegrity(const ConnectionOptions& options, const std::stop_token& stop,
                            const std::function<bool()>& hold_back) {
  ConnectionOptions reading = options;
  reading.read_only = true;
  TRUCE_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(reading));
  Interruption interruption{stop, hold_back};
  sqlite3_progress_handler(connection->handle(), kProgressSteps, &Interruption::Ask, &interruption);
  TRUCE_ASSIGN_OR_RETURN(const std::vector<std::string> tables, Tables(*connection));
  for (auto table = tables.begin(); table != tables.end() && !stop.stop_requested();) {
    Result<void> checked = Check(*connection, "integrity_check", *table);
    if (checked.ok()) {
      ++table;
    } else if (!Interruption::Ask(&interruption)) {
      return checked;
    } else {
      PauseUnlessStopped(stop);
    }
  }
  return {};
}

}  // namespace truce
