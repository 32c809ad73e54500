#include "registry/store/sqlite/integrity.h"

#include <sqlite3.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace truce {
namespace {

// Instructions of SQLite's machine between two looks at the reasons to stop: under a millisecond.
constexpr int kProgressSteps = 10000;
constexpr auto kHoldBackPause = std::chrono::seconds(2);

Result<void> Check(Connection& connection, const std::string& table) {
  TRUCE_ASSIGN_OR_RETURN(Statement check,
                         connection.Prepare("PRAGMA integrity_check(\"" + table + "\")"));
  TRUCE_ASSIGN_OR_RETURN(const bool found, check.Step());
  if (found && check.Text(0) == "ok") return {};
  return Error{ErrorCode::kDataLoss,
               "table " + table + ": " + (found ? std::string(check.Text(0)) : "no answer")};
}

Result<std::vector<std::string>> Tables(Connection& connection) {
  TRUCE_ASSIGN_OR_RETURN(Statement names,
                         connection.Prepare("SELECT name FROM sqlite_schema WHERE type = 'table' "
                                            "AND name NOT LIKE 'sqlite_%' ORDER BY name"));
  std::vector<std::string> tables;
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(const bool more, names.Step());
    if (!more) return tables;
    tables.emplace_back(names.Text(0));
  }
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

Result<void> CheckIntegrity(const ConnectionOptions& options, const std::stop_token& stop,
                            const std::function<bool()>& hold_back) {
  ConnectionOptions reading = options;
  reading.read_only = true;
  TRUCE_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(reading));
  Interruption interruption{stop, hold_back};
  sqlite3_progress_handler(connection->handle(), kProgressSteps, &Interruption::Ask, &interruption);
  TRUCE_ASSIGN_OR_RETURN(const std::vector<std::string> tables, Tables(*connection));
  for (auto table = tables.begin(); table != tables.end() && !stop.stop_requested();) {
    Result<void> checked = Check(*connection, *table);
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
