#include "webhook/metrics/metric_list.h"

#include <algorithm>
#include <array>

#include "registry/base/assert.h"

namespace truce {
namespace {

// Sorted by name.
constexpr auto kMetrics = std::to_array<MetricInfo>({
    {"process_cpu_seconds_total", "counter", "", "CPU time used, in seconds."},
    {"process_resident_memory_bytes", "gauge", "", "Resident memory, in bytes."},
    {"truce_admission_findings_total", "counter", "rule, mode",
     "Findings of reviews since the start, by rule and mode."},
    {"truce_admission_reviews_total", "counter", "operation, verdict",
     "Admission reviews answered."},
    {"truce_admission_seconds", "histogram", "",
     "Time from a review's first byte to its answer, in seconds."},
    {"truce_audit_lines_kept", "gauge", "", "Lines of the audit log that are there."},
    {"truce_audit_lines_max", "gauge", "",
     "Lines of the audit log that may be kept (auditLinesMax); 0: all."},
    {"truce_audit_lines_total", "counter", "",
     "Lines of the audit log ever written into this registry."},
    {"truce_backup_timestamp_seconds", "gauge", "",
     "When the server gave the last copy of its registry, in seconds since 1970; 0: never."},
    {"truce_brake_frozen_kinds", "gauge", "",
     "Kinds of which nothing is released until an operator says so."},
    {"truce_brake_held_objects", "gauge", "",
     "Objects that are missing from lists and whose release the brake holds back."},
    {"truce_build_info", "gauge", "version", "The version that runs; the value is always 1."},
    {"truce_certificate_authority_expiry_timestamp_seconds", "gauge", "",
     "End of the self-made authority's validity, in seconds since 1970; 0: none yet."},
    {"truce_certificate_expiry_timestamp_seconds", "gauge", "",
     "End of the server certificate's validity, in seconds since 1970."},
    {"truce_certificate_renewals_total", "counter", "what",
     "Self-made certificates taken into use."},
    {"truce_conflicts", "gauge", "",
     "Resources that two sides have: managing chains, or one beside a record."},
    {"truce_denials_total", "counter", "namespace",
     "Refused requests by the namespace of their object; of the 200 that were seen first, the "
     "others together as other."},
    {"truce_disk_failure_timestamp_seconds", "gauge", "",
     "When a sync of the registry last failed and ended the server, in seconds since 1970; 0: "
     "never."},
    {"truce_events_total", "counter", "outcome",
     "Kubernetes Events about objects, by what became of them."},
    {"truce_findings", "gauge", "rule, mode",
     "What the detectors find now and nobody muted, by rule and mode."},
    {"truce_findings_muted", "gauge", "rule", "What the detectors find now and somebody muted."},
    {"truce_http_connections", "gauge", "listener", "Open connections."},
    {"truce_http_in_flight", "gauge", "listener", "Requests being handled."},
    {"truce_http_rejections_total", "counter", "listener, reason",
     "Connections and requests refused."},
    {"truce_http_requests_total", "counter", "listener", "Requests handled."},
    {"truce_http_threads", "gauge", "listener", "Threads of the listener."},
    {"truce_late_answers", "gauge", "",
     "Refusals repeated by a composite controller whose answers are kept back now."},
    {"truce_late_answers_total", "counter", "",
     "Refusals repeated by a composite controller whose answers came late."},
    {"truce_log_dropped_total", "counter", "", "Log lines dropped, not waited for."},
    {"truce_notifications_total", "counter", "outcome",
     "Findings and denials for the webhook of notifications: sent; dropped, because they were only "
     "counted in a message or nobody took them for a day; and messages that failed."},
    {"truce_overrides_in_force", "gauge", "",
     "Timed overrides that hold now: what they name is audited, never refused."},
    {"truce_ownerships", "gauge", "state", "Ownerships by state."},
    {"truce_policy_reports_total", "counter", "outcome",
     "Writes of PolicyReports or Reports, by what became of them."},
    {"truce_quota_max", "gauge", "type, quota",
     "Ownerships that a quota allows in each of its places."},
    {"truce_quota_used", "gauge", "type, quota",
     "Ownerships that a quota counts, in the fullest of its places."},
    {"truce_recovery_mode", "gauge", "",
     "1 while nothing is refused, because the registry may be behind the cluster."},
    {"truce_refused_callers_total", "counter", "cause",
     "Requests that did not prove who sends them, by what was wrong: path, certificate, bearer (of "
     "the API server), token (of the API)."},
    {"truce_refused_changes", "gauge", "part",
     "1 while the configuration file, or a file of credentials, was changed and refused: the "
     "former content is in force."},
    {"truce_self_management_trouble", "gauge", "",
     "1 while Truce's own Secret or webhook configuration cannot be read or written, or somebody "
     "else keeps writing it."},
    {"truce_server_active", "gauge", "",
     "1 while this server is the active one on the registry's database."},
    {"truce_server_epoch", "gauge", "",
     "Epoch under which this server is active on the registry's database: a later take-over has a "
     "greater one; 0: not active."},
    {"truce_shares_ending", "gauge", "", "Shares that end within a week."},
    {"truce_store_clock_difference_seconds", "gauge", "",
     "The clock of the registry's database less this server's, at the last look."},
    {"truce_store_commits_in_doubt_total", "counter", "found_out",
     "Commits whose answer was lost, by whether it was found out in time what they did."},
    {"truce_store_long_decisions_total", "counter", "",
     "Decisions and looks that ran more than 8 times, each with its round trip, before they had "
     "all they asked for: a fault."},
    {"truce_store_missing_changes_total", "counter", "",
     "Changes that the database had acknowledged and no longer has."},
    {"truce_store_repeats_total", "counter", "why",
     "Decisions that began anew in the registry's database, by cause."},
    {"truce_store_round_trip_seconds", "histogram", "",
     "Questions to the registry's database, each with its answer."},
    {"truce_store_standby", "gauge", "", "1 while commits wait for a standby of the database."},
    {"truce_unknown_total", "counter", "cause", "Reviews without a verdict (HTTP 503), by cause."},
    {"truce_unlisted_kinds", "gauge", "",
     "Kinds that cannot be listed or watched now: what their objects declare is not known."},
    {"truce_view_age_seconds", "gauge", "",
     "Seconds since the last sign of the server that watches the cluster."},
    {"truce_volume_available_bytes", "gauge", "",
     "Free bytes of the volume of the data directory, for the server."},
    {"truce_volume_size_bytes", "gauge", "", "Size of the volume of the data directory."},
    {"truce_watch_stale_seconds", "gauge", "",
     "For how long the kind that failed first could not be listed or watched; 0: all can."},
    {"truce_watcher_leader", "gauge", "",
     "1 where this server watches the cluster for all servers of the registry."},
    {"truce_webhook_repairs_total", "counter", "",
     "Times that Truce put its own webhook configuration right."},
});

static_assert(std::ranges::is_sorted(kMetrics, {}, &MetricInfo::name));

}  // namespace

std::span<const MetricInfo> MetricList() { return kMetrics; }

const MetricInfo& MetricOf(std::string_view name) {
  const auto* found = std::ranges::lower_bound(kMetrics, name, {}, &MetricInfo::name);
  TRUCE_ASSERT(found != kMetrics.end() && found->name == name);
  return *found;
}

}  // namespace truce
