// WatchReports: the reports about a cluster that only the server that watches it can make. It
// writes them into tables, and every server reads them from there.
#ifndef TRUCE_WEBHOOK_API_WATCH_REPORTS_H_
#define TRUCE_WEBHOOK_API_WATCH_REPORTS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/ownership/table.h"
#include "registry/store/published.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/findings/coverage.h"
#include "webhook/findings/findings_book.h"
#include "webhook/findings/tag_war.h"
#include "webhook/findings/texts/report_baseline.h"
#include "webhook/watch/kinds.h"

namespace truce {

// A value.
struct WatchReports {
  std::vector<TagWar> wars;           // by key
  std::vector<LiveFinding> findings;  // by detector, then subject
  CoverageReport coverage;
  BaselineReport watched;  // the watch's own part of the baseline (Detectors::Watched)
  std::vector<FollowedKind>
      inhabited;  // kinds that have objects, or may have: selection.kind, role
  BrakeView brake;
  std::vector<RecoveryView::Wait> waits;  // of recovery mode
  bool looked = false;                    // at everything; never read from tables
};

// The most rows of findings, and of gaps; of findings the least severe are left out, of gaps the
// last.
inline constexpr std::size_t kReportedFindingsMax = 5'000;
inline constexpr std::size_t kReportedGapsMax = 2'000;

struct KeptWar {
  TagWar war;
  std::int64_t writes_per_hour = 0;
};
inline constexpr auto kTagWarsTable =
    MakeTable<KeptWar>("tag_wars", 1,
                       StoredColumn(
                           "key", [](auto& kept) -> auto& { return kept.war.key; }),
                       StoredColumn(
                           "since", [](auto& kept) -> auto& { return kept.war.since; }),
                       StoredColumn(
                           "last", [](auto& kept) -> auto& { return kept.war.last; }),
                       StoredColumn("writes_per_hour", &KeptWar::writes_per_hour),
                       StoredColumn(
                           "writes", [](auto& kept) -> auto& { return kept.war.writes; }),
                       StoredColumn(
                           "fighters", [](auto& kept) -> auto& { return kept.war.fighters; }),
                       StoredColumn(
                           "by_tags", [](auto& kept) -> auto& { return kept.war.by_tags; }));

template <>
struct ColumnForm<GapReason> : WordColumn<GapReason, GapReasonFromName> {};
inline constexpr auto kCoverageGapsTable = MakeTable<CoverageGap>(
    "coverage_gaps", 3, StoredColumn("reason", &CoverageGap::reason),
    StoredColumn("subject", &CoverageGap::subject), StoredColumn("why", &CoverageGap::why),
    StoredColumn("remedy", &CoverageGap::remedy), StoredColumn("objects", &CoverageGap::objects));

// A followed kind as the reports show it.
struct KeptWatchedKind {
  std::string name;  // "Bucket.s3.aws.upbound.io"; or "every kind", with a wait alone
  ServedKind served;
  Role role = Role::kOther;
  bool inhabited = false;
  std::string problem;               // why it cannot be listed or watched; empty: it can
  std::string frozen;                // why the brake releases nothing; empty: it does
  std::uint64_t missing = 0;         // objects that the next list decides about
  std::optional<Timestamp> waiting;  // for that list, since
  std::string recovery_wait;         // why recovery mode waits for it; empty: it does not
};
template <>
struct ColumnForm<Role> : WordColumn<Role, RoleFromName> {};
inline constexpr auto kWatchedKindsTable = MakeTable<KeptWatchedKind>(
    "watched_kinds", 1, StoredColumn("name", &KeptWatchedKind::name),
    StoredColumn(
        "group", [](auto& kept) -> auto& { return kept.served.group; }),
    StoredColumn(
        "version", [](auto& kept) -> auto& { return kept.served.version; }),
    StoredColumn(
        "kind", [](auto& kept) -> auto& { return kept.served.kind; }),
    StoredColumn(
        "plural", [](auto& kept) -> auto& { return kept.served.plural; }),
    StoredColumn(
        "namespaced", [](auto& kept) -> auto& { return kept.served.namespaced; }),
    StoredColumn("role", &KeptWatchedKind::role),
    StoredColumn("inhabited", &KeptWatchedKind::inhabited),
    StoredColumn("problem", &KeptWatchedKind::problem),
    StoredColumn("frozen", &KeptWatchedKind::frozen),
    StoredColumn("missing", &KeptWatchedKind::missing),
    StoredColumn("waiting", &KeptWatchedKind::waiting),
    StoredColumn("recovery_wait", &KeptWatchedKind::recovery_wait));

// The numbers of the reports; one row.
struct KeptSummary {
  std::string part;
  CoverageReport coverage;  // without gaps
  bool complete = false;
  std::int64_t took = 0;  // ms
  std::uint64_t kinds = 0;
  std::uint64_t objects = 0;
  std::uint64_t nominated = 0;
  std::uint64_t held_back = 0;
};
inline constexpr auto kWatchSummaryTable = MakeTable<KeptSummary>(
    "watch_summary", 1, StoredColumn("part", &KeptSummary::part),
    StoredColumn(
        "declaring_kinds", [](auto& kept) -> auto& { return kept.coverage.kinds; }),
    StoredColumn(
        "protected_kinds", [](auto& kept) -> auto& { return kept.coverage.protected_kinds; }),
    StoredColumn(
        "xrd_groups", [](auto& kept) -> auto& { return kept.coverage.xrd_groups; }),
    StoredColumn(
        "missing_xrd_groups", [](auto& kept) -> auto& { return kept.coverage.missing_xrd_groups; }),
    StoredColumn(
        "failure_policy", [](auto& kept) -> auto& { return kept.coverage.failure_policy; }),
    StoredColumn(
        "failing_since", [](auto& kept) -> auto& { return kept.coverage.failing_since; }),
    StoredColumn("complete", &KeptSummary::complete), StoredColumn("took", &KeptSummary::took),
    StoredColumn("kinds", &KeptSummary::kinds), StoredColumn("objects", &KeptSummary::objects),
    StoredColumn("nominated", &KeptSummary::nominated),
    StoredColumn("held_back", &KeptSummary::held_back));

inline constexpr std::string_view kReportsPart = "reports";  // as PublishedVersion::part
std::vector<Table> ReportTables();
TableContents ContentsOf(const WatchReports& reports);
WatchReports ReportsOf(const PublishedTables& tables);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_WATCH_REPORTS_H_
