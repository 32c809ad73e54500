// The reports of the leader, as every server reads them.
#include "webhook/api/watch_reports.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/faulty_store.h"
#include "tests/support/memory_store.h"

namespace truce {
namespace watch_reports_test {

Timestamp At(int second) {
  return *ParseTimestamp("2026-11-25T12:00:00Z") + std::chrono::seconds(second);
}

Deadline Soon() { return In(std::chrono::seconds(20)); }

LiveFinding FindingNamed(const std::string& subject, Mode mode) {
  LiveFinding finding;
  finding.detector = Detector::kTagWar;
  finding.subject = subject;
  finding.key = {"s3/Bucket|name=" + subject};
  finding.objects = {{"prod", "s3.aws.upbound.io", "Bucket", "", subject}};
  finding.mode = mode;
  finding.resource = "S3 bucket \"" + subject + "\"";
  finding.cause = "two write \xc3\xbc";
  finding.evidence = "4 writes";
  finding.remedy = "end one";
  finding.since = At(-60);
  finding.namespaces = {"", "team-a"};
  finding.services = {"a"};
  finding.id = FindingId(finding.detector, subject);
  finding.first_seen = At(-30);
  finding.last_seen = At(0);
  return finding;
}

WatchReports SomeReports() {
  WatchReports reports;
  reports.wars = {{{"s3/Bucket|name=a"},
                   At(-60),
                   At(-1),
                   2.25,
                   9,
                   {{"prod", "s3.aws.upbound.io", "Bucket", "", "a"}},
                   true}};
  reports.findings = {FindingNamed("a", Mode::kWarn), FindingNamed("b", Mode::kEnforce)};
  reports.coverage = {12,
                      7,
                      {{GapReason::kXrdGroup, "example.org", "why", "remedy", 3}},
                      {"example.org", "x.org"},
                      {"x.org"},
                      "Fail",
                      At(-40)};
  reports.watched.complete = true;
  reports.watched.took = std::chrono::milliseconds(1234);
  reports.watched.kinds = 12;
  reports.watched.objects = 40;
  reports.watched.problems = {{"Bucket.s3.aws.upbound.io", "forbidden"}};
  FollowedKind kind;
  kind.selection.kind = {"s3.aws.upbound.io", "v1beta2", "Bucket", "buckets", false};
  kind.role = Role::kManaged;
  reports.inhabited = {kind};
  reports.waits = {{"Queue.sqs.aws.upbound.io", "forbidden"}};
  reports.brake = {
      5, 3, {{"Bucket.s3.aws.upbound.io", "too many"}}, {{"Queue.sqs.aws.upbound.io", 2, At(-9)}}};
  return reports;
}

void ExpectEqual(const BrakeView& got, const BrakeView& wanted) {
  EXPECT_EQ(got.nominated, wanted.nominated);
  EXPECT_EQ(got.held_back, wanted.held_back);
  ASSERT_EQ(got.frozen.size(), wanted.frozen.size());
  for (std::size_t i = 0; i < got.frozen.size(); ++i) {
    EXPECT_EQ(got.frozen[i].kind, wanted.frozen[i].kind);
    EXPECT_EQ(got.frozen[i].reason, wanted.frozen[i].reason);
  }
  ASSERT_EQ(got.waiting.size(), wanted.waiting.size());
  for (std::size_t i = 0; i < got.waiting.size(); ++i) {
    EXPECT_EQ(got.waiting[i].kind, wanted.waiting[i].kind);
    EXPECT_EQ(got.waiting[i].objects, wanted.waiting[i].objects);
    EXPECT_EQ(got.waiting[i].since, wanted.waiting[i].since);
  }
}

void ExpectEqual(const WatchReports& got, const WatchReports& wanted) {
  EXPECT_EQ(got.wars, wanted.wars);
  EXPECT_EQ(got.findings, wanted.findings);
  EXPECT_EQ(got.coverage, wanted.coverage);
  EXPECT_EQ(got.watched.complete, wanted.watched.complete);
  EXPECT_EQ(got.watched.took, wanted.watched.took);
  EXPECT_EQ(got.watched.kinds, wanted.watched.kinds);
  EXPECT_EQ(got.watched.objects, wanted.watched.objects);
  EXPECT_EQ(got.watched.problems, wanted.watched.problems);
  EXPECT_EQ(got.inhabited, wanted.inhabited);
  ExpectEqual(got.brake, wanted.brake);
  EXPECT_EQ(got.waits, wanted.waits);
}

class WatchReportsTest : public ::testing::Test {
 protected:
  // As the leader writes them and any server reads them.
  WatchReports Published(const WatchReports& reports) {
    EXPECT_TRUE(publisher_.Write(store_, ContentsOf(reports), At(0), Soon()).ok());
    EXPECT_TRUE(tables_.Read(store_, Soon()).ok());
    return ReportsOf(tables_);
  }

  MemoryStore store_;
  TablePublisher publisher_{std::string(kReportsPart)};
  PublishedTables tables_{std::string(kReportsPart), ReportTables()};
};

TEST_F(WatchReportsTest, ComeBackAsTheyWere) {
  for (const WatchReports& reports : {WatchReports(), SomeReports(), WatchReports()}) {
    ExpectEqual(Published(reports), reports);
  }
}

// Each value has a name of its own, or it would be lost on the way.
TEST_F(WatchReportsTest, HaveEveryReasonRoleSeverityAndDetector) {
  WatchReports reports;
  for (int i = 0; i <= static_cast<int>(GapReason::kWarnsOnly); ++i) {
    reports.coverage.gaps.push_back({static_cast<GapReason>(i), std::to_string(i), "", "", 1});
  }
  for (int i = 0; i <= static_cast<int>(Role::kOther); ++i) {
    FollowedKind kind;
    kind.selection.kind = {"example.org", "v1", std::string("K") + std::to_string(i), "ks", true};
    kind.role = static_cast<Role>(i);
    reports.inhabited.push_back(kind);
  }
  for (std::size_t i = 0; i < kDetectorCount; ++i) {
    LiveFinding finding = FindingNamed("a", i % 2 == 0 ? Mode::kAudit : Mode::kEnforce);
    finding.detector = static_cast<Detector>(i);
    reports.findings.push_back(finding);
  }
  ExpectEqual(Published(reports), reports);
}

// A server of a later version writes what this one does not know.
TEST_F(WatchReportsTest, ARowThatCannotBeReadIsLeftOutAlone) {
  TableContents contents = ContentsOf(SomeReports());
  contents[kFindingsTable].front().front() = std::string("new-rule");
  contents[kCoverageGapsTable].front().front() = std::string("new-reason");
  ASSERT_TRUE(publisher_.Write(store_, contents, At(0), Soon()).ok());
  ASSERT_TRUE(tables_.Read(store_, Soon()).ok());
  const WatchReports back = ReportsOf(tables_);
  EXPECT_EQ(back.findings.size(), 1U);
  EXPECT_TRUE(back.coverage.gaps.empty());
  EXPECT_EQ(back.wars.size(), 1U);
}

TEST_F(WatchReportsTest, AreBoundedAndKeepTheWorst) {
  WatchReports reports;
  for (int i = 0; i < 12'000; ++i) {
    LiveFinding finding = FindingNamed(std::to_string(100'000 + i), Mode::kAudit);
    if (i % 100 == 0) finding.mode = Mode::kEnforce;
    reports.findings.push_back(std::move(finding));
  }
  const WatchReports back = Published(reports);
  EXPECT_EQ(back.findings.size(), kReportedFindingsMax);
  EXPECT_EQ(std::count_if(back.findings.begin(), back.findings.end(),
                          [](const LiveFinding& each) { return each.mode == Mode::kEnforce; }),
            120);
  EXPECT_TRUE(std::is_sorted(
      back.findings.begin(), back.findings.end(),
      [](const LiveFinding& a, const LiveFinding& b) { return a.subject < b.subject; }));
}

// Every look sees every finding; the tables are written for it once a minute.
TEST_F(WatchReportsTest, ALaterLookWritesNothing) {
  WatchReports reports = SomeReports();
  const TableContents before = ContentsOf(reports);
  for (LiveFinding& finding : reports.findings)
    finding.last_seen = At(0) + std::chrono::seconds(50);
  EXPECT_EQ(ContentsOf(reports), before);
  for (LiveFinding& finding : reports.findings) finding.last_seen = At(120);
  EXPECT_NE(ContentsOf(reports), before);
}

class PublishedTest : public ::testing::Test {
 protected:
  static TableContents Some(const std::string& kind) {
    WatchReports reports;
    reports.waits = {{kind, "it is being listed"}};
    return ContentsOf(reports);
  }

  MemoryStore store_;
  testing::FaultyStore faulty_{store_};
  TablePublisher publisher_{"part"};
  PublishedTables tables_{"part", ReportTables()};
};

TEST_F(PublishedTest, AnotherVersionIsReadAnewAndASignAlone) {
  EXPECT_FALSE(tables_.Read(store_, Soon()).value());
  EXPECT_EQ(tables_.version(), std::nullopt) << "nobody wrote yet";
  ASSERT_TRUE(publisher_.Write(store_, Some("a"), At(0), Soon()).ok());
  EXPECT_TRUE(tables_.Read(store_, Soon()).value());
  const PublishedVersion first = *tables_.version();
  EXPECT_EQ(first.at, At(0));
  ASSERT_TRUE(publisher_.Write(store_, Some("a"), At(1), Soon()).ok());
  EXPECT_FALSE(tables_.Read(store_, Soon()).value());
  EXPECT_EQ(tables_.version()->version, first.version);
  EXPECT_NE(tables_.version()->sign, first.sign);
  EXPECT_EQ(tables_.version()->at, At(1));
  ASSERT_TRUE(publisher_.Write(store_, Some("b"), At(2), Soon()).ok());
  EXPECT_TRUE(tables_.Read(store_, Soon()).value());
  EXPECT_EQ(ReportsOf(tables_).waits.front().kind, "b");
  PublishedTables other("another part", ReportTables());
  EXPECT_FALSE(other.Read(store_, Soon()).value());
}

TEST_F(PublishedTest, ContentsStayWhileTheStoreDoesNotAnswer) {
  ASSERT_TRUE(publisher_.Write(store_, Some("a"), At(0), Soon()).ok());
  ASSERT_TRUE(tables_.Read(faulty_, Soon()).ok());
  ASSERT_TRUE(publisher_.Write(store_, Some("b"), At(1), Soon()).ok());
  faulty_.FailNextRead({ErrorCode::kUnavailable, "away"});
  EXPECT_FALSE(tables_.Read(faulty_, Soon()).ok());
  EXPECT_EQ(ReportsOf(tables_).waits.front().kind, "a");
  EXPECT_TRUE(tables_.Read(faulty_, Soon()).value());
  EXPECT_EQ(ReportsOf(tables_).waits.front().kind, "b");
}

// The answer of a write may be lost, and another server may have written since.
TEST_F(PublishedTest, AfterAnErrorAllIsWrittenAgain) {
  ASSERT_TRUE(publisher_.Write(faulty_, Some("a"), At(0), Soon()).ok());
  EXPECT_TRUE(publisher_.Has(Some("a")));
  faulty_.FailNextApply({ErrorCode::kConflict, "another server leads"});
  EXPECT_FALSE(publisher_.Write(faulty_, Some("a"), At(1), Soon()).ok());
  EXPECT_FALSE(publisher_.Has(Some("a")));
  TablePublisher other("part");
  ASSERT_TRUE(other.Write(store_, Some("b"), At(2), Soon()).ok());
  ASSERT_TRUE(publisher_.Write(faulty_, Some("a"), At(3), Soon()).ok());
  ASSERT_TRUE(tables_.Read(store_, Soon()).ok());
  ASSERT_EQ(ReportsOf(tables_).waits.size(), 1U);
  EXPECT_EQ(ReportsOf(tables_).waits.front().kind, "a");
}

}  // namespace watch_reports_test
}  // namespace truce
