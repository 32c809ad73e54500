#include "webhook/upkeep/database_metrics.h"

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

void DatabaseMetrics::Count(const PgEvent& event) {
  if (event.round_trip) round_trips_.Observe(event.round_trip->count());
  if (event.repeat) repeats_.At({NameOf(*event.repeat)}).Add();
  if (event.doubt_found_out) doubts_.At({*event.doubt_found_out ? "yes" : "no"}).Add();
  if (!event.many_runs) return;
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
  writer.Family("truce_store_long_decisions_total");
  writer.Sample(static_cast<double>(many_runs_.value()));
  writer.Family("truce_store_missing_changes_total");
  writer.Sample(static_cast<double>(missing_.value()));
  writer.Family("truce_server_active");
  writer.Sample(standing.epoch == 0 ? 0 : 1);
  writer.Family("truce_server_epoch");
  writer.Sample(static_cast<double>(standing.epoch));
  writer.Family("truce_store_standby");
  writer.Sample(standing.has_standby ? 1 : 0);
  writer.Family("truce_store_clock_difference_seconds");
  writer.Sample(std::chrono::duration<double>(standing.clock_difference).count());
}

}  // namespace truce
