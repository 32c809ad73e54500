#include "webhook/serve/database_metrics.h"

#include <string_view>

namespace truce {
namespace {

std::string_view NameOf(PgRepeat why) {
  switch (why) {
    case PgRepeat::kContention: return "contention";
    case PgRepeat::kConnection: return "connection";
    case PgRepeat::kDoubt: return "doubt";
  }
  return {};
}

}  // namespace

void DatabaseMetrics::OnRepeat(PgRepeat why) { repeats_.At({NameOf(why)}).Add(); }

void DatabaseMetrics::OnManyRuns() {
  many_runs_.Add();
  logger_.Log(LogLevel::kError, "long decision",
              {{"message",
                "a decision asked the registry's database more than 8 times; it goes on until its "
                "deadline. Please report this"}});
}

void DatabaseMetrics::Write(const Standing& standing, MetricWriter& writer) const {
  round_trips_.Write(writer);
  repeats_.Write(writer);
  doubts_.Write(writer);
  writer.Family("truce_store_long_decisions_total", "counter",
                "Decisions and looks that ran more than 8 times, each with its round trip, before "
                "they had all they asked for: a fault.");
  writer.Sample(static_cast<double>(many_runs_.value()));
  writer.Family("truce_store_missing_changes_total", "counter",
                "Changes that the database had acknowledged and no longer has.");
  writer.Sample(static_cast<double>(missing_.value()));
  writer.Family("truce_server_active", "gauge",
                "1 while this server is the active one on the registry's database.");
  writer.Sample(standing.epoch == 0 ? 0 : 1);
  writer.Family("truce_server_epoch", "gauge",
                "Under which epoch this server is active on the registry's database: of a later "
                "take-over it is greater; 0: this one is not active.");
  writer.Sample(static_cast<double>(standing.epoch));
  writer.Family("truce_store_standby", "gauge",
                "1 while commits wait for a standby of the database.");
  writer.Sample(standing.has_standby ? 1 : 0);
  writer.Family("truce_store_clock_difference_seconds", "gauge",
                "The clock of the registry's database less this server's, at the last look.");
  writer.Sample(std::chrono::duration<double>(standing.clock_difference).count());
}

}  // namespace truce
