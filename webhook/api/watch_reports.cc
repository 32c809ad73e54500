#include "webhook/api/watch_reports.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>

#include "registry/base/text.h"

namespace truce {
namespace {

constexpr double kMinutesOfHour = 60;

std::vector<TableRow> WarRows(const std::vector<TagWar>& wars) {
  std::vector<TableRow> rows;
  for (const TagWar& war : wars) {
    rows.push_back(kTagWarsTable.Row({war, std::llround(war.writes_per_minute * kMinutesOfHour)}));
  }
  return rows;
}

// When it was last seen, to the minute: else every look would write every finding.
LiveFinding ToTheMinute(LiveFinding finding) {
  const auto minute = std::chrono::floor<std::chrono::minutes>(finding.last_seen);
  finding.last_seen = std::max(finding.first_seen, Timestamp(minute));
  return finding;
}

std::vector<TableRow> FindingRows(const std::vector<LiveFinding>& findings) {
  std::vector<TableRow> rows;
  std::size_t room = kReportedFindingsMax;
  for (const Mode mode : {Mode::kEnforce, Mode::kWarn, Mode::kAudit, Mode::kOff}) {
    for (const LiveFinding& finding : findings) {
      if (finding.mode != mode || room == 0) continue;
      --room;
      rows.push_back(kFindingsTable.Row(ToTheMinute(finding)));
    }
  }
  return rows;
}

std::vector<TableRow> GapRows(const std::vector<CoverageGap>& gaps) {
  std::vector<TableRow> rows;
  for (const CoverageGap& gap : gaps) {
    if (rows.size() < kReportedGapsMax) rows.push_back(kCoverageGapsTable.Row(gap));
  }
  return rows;
}

std::vector<TableRow> KindRows(const WatchReports& reports) {
  std::map<std::string, KeptWatchedKind> kinds;
  for (const FollowedKind& followed : reports.inhabited) {
    const GroupKind name = followed.group_kind();
    KeptWatchedKind& kept = kinds[KindForPeople(name.kind, name.group)];
    kept.served = followed.selection.kind;
    kept.role = followed.role;
    kept.inhabited = true;
  }
  for (const BaselineProblem& each : reports.watched.problems) {
    kinds[each.kind].problem = each.problem;
  }
  for (const BrakeView::Frozen& each : reports.brake.frozen) kinds[each.kind].frozen = each.reason;
  for (const BrakeView::Waiting& each : reports.brake.waiting) {
    kinds[each.kind].missing = each.objects;
    kinds[each.kind].waiting = each.since;
  }
  for (const RecoveryView::Wait& each : reports.waits) kinds[each.kind].recovery_wait = each.why;
  std::vector<TableRow> rows;
  for (auto& [name, kept] : kinds) {
    kept.name = name;
    rows.push_back(kWatchedKindsTable.Row(kept));
  }
  return rows;
}

KeptSummary SummaryOf(const WatchReports& reports) {
  KeptSummary summary;
  summary.part = kReportsPart;
  summary.coverage = reports.coverage;
  summary.complete = reports.watched.complete;
  summary.took = reports.watched.took.count();
  summary.kinds = reports.watched.kinds;
  summary.objects = reports.watched.objects;
  summary.nominated = reports.brake.nominated;
  summary.held_back = reports.brake.held_back;
  return summary;
}

void Add(KeptWatchedKind kept, WatchReports& reports) {
  if (kept.inhabited) {
    FollowedKind followed;
    followed.selection.kind = std::move(kept.served);
    followed.role = kept.role;
    reports.inhabited.push_back(std::move(followed));
  }
  if (!kept.problem.empty()) {
    reports.watched.problems.push_back({kept.name, std::move(kept.problem)});
  }
  if (!kept.frozen.empty()) reports.brake.frozen.push_back({kept.name, std::move(kept.frozen)});
  if (kept.waiting) reports.brake.waiting.push_back({kept.name, kept.missing, *kept.waiting});
  if (!kept.recovery_wait.empty()) {
    reports.waits.push_back({kept.name, std::move(kept.recovery_wait)});
  }
}

void Add(KeptSummary summary, WatchReports& reports) {
  reports.coverage = std::move(summary.coverage);
  reports.watched.complete = summary.complete;
  reports.watched.took = std::chrono::milliseconds(summary.took);
  reports.watched.kinds = summary.kinds;
  reports.watched.objects = summary.objects;
  reports.brake.nominated = summary.nominated;
  reports.brake.held_back = summary.held_back;
}

}  // namespace

std::vector<Table> ReportTables() {
  return {kFindingsTable, kTagWarsTable, kCoverageGapsTable, kWatchedKindsTable,
          kWatchSummaryTable};
}

TableContents ContentsOf(const WatchReports& reports) {
  return {{kFindingsTable, FindingRows(reports.findings)},
          {kTagWarsTable, WarRows(reports.wars)},
          {kCoverageGapsTable, GapRows(reports.coverage.gaps)},
          {kWatchedKindsTable, KindRows(reports)},
          {kWatchSummaryTable, {kWatchSummaryTable.Row(SummaryOf(reports))}}};
}

WatchReports ReportsOf(const PublishedTables& tables) {
  WatchReports reports;
  for (KeptSummary& summary : tables.Readable(kWatchSummaryTable)) Add(std::move(summary), reports);
  for (KeptWar& kept : tables.Readable(kTagWarsTable)) {
    kept.war.writes_per_minute = static_cast<double>(kept.writes_per_hour) / kMinutesOfHour;
    reports.wars.push_back(std::move(kept.war));
  }
  for (KeptWatchedKind& kept : tables.Readable(kWatchedKindsTable)) Add(std::move(kept), reports);
  // Rows come in the order of their texts, lists in that of detectors and reasons.
  reports.findings = tables.Readable(kFindingsTable);
  std::stable_sort(
      reports.findings.begin(), reports.findings.end(),
      [](const LiveFinding& a, const LiveFinding& b) { return a.detector < b.detector; });
  reports.coverage.gaps = tables.Readable(kCoverageGapsTable);
  SortGaps(reports.coverage.gaps);
  return reports;
}

}  // namespace truce
