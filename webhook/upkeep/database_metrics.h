// DatabaseMetrics: the cost of the registry's database for a server, and its state.
#ifndef TRUCE_WEBHOOK_UPKEEP_DATABASE_METRICS_H_
#define TRUCE_WEBHOOK_UPKEEP_DATABASE_METRICS_H_

#include <chrono>
#include <cstdint>

#include "registry/store/postgres/observer.h"
#include "webhook/log/log.h"
#include "webhook/metrics/metrics.h"

namespace truce {

// Thread-safe; never blocks.
class DatabaseMetrics final {
 public:
  // `logger` must outlive it.
  explicit DatabaseMetrics(Logger& logger) : logger_(logger) {}

  // The state of a server's connection to its database.
  struct Standing {
    std::int64_t epoch = 0;  // 0: it is not the active one
    bool has_standby = false;
    std::chrono::milliseconds clock_difference{};  // the database's clock less this server's
  };

  void Count(const PgEvent& event);
  // The database no longer has so many changes that it had acknowledged.
  void CountMissing(std::uint64_t changes) { missing_.Add(changes); }

  void Write(const Standing& standing, MetricWriter& writer) const;

 private:
  Logger& logger_;
  Histogram round_trips_{"truce_store_round_trip_seconds"};
  MetricFamily<Counter> repeats_{"truce_store_repeats_total",
                                 {{"why", {"contention", "connection", "doubt"}}}};
  MetricFamily<Counter> doubts_{"truce_store_commits_in_doubt_total",
                                {{"found_out", {"yes", "no"}}}};
  Counter many_runs_;
  Counter missing_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_UPKEEP_DATABASE_METRICS_H_
