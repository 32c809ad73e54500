// What the leader watches, as the other servers tell it.
#include "webhook/serve/shared/shared_reports.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "registry/store/memory/memory_store.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_store.h"

namespace truce {
namespace shared_reports_test {

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
  finding.last_seen = At(-1) + std::chrono::milliseconds(7);
  return finding;
}

SharedReports SomeReports() {
  SharedReports reports;
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

void ExpectEqual(const SharedReports& got, const SharedReports& wanted) {
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

TEST(SharedReportsText, ComesBackAsItWas) {
  for (const SharedReports& reports : {SomeReports(), SharedReports()}) {
    const auto back = ReportsFromText(ToText(reports));
    ASSERT_TRUE(back.has_value());
    ExpectEqual(*back, reports);
  }
  EXPECT_FALSE(ReportsFromText("").has_value());
  EXPECT_FALSE(ReportsFromText("[]").has_value());
}

// Each value has a name of its own, or it would be lost on the way.
TEST(SharedReportsText, HasEveryReasonRoleAndMode) {
  SharedReports reports;
  for (int i = 0; i <= static_cast<int>(GapReason::kWarnsOnly); ++i) {
    reports.coverage.gaps.push_back({static_cast<GapReason>(i), std::to_string(i), "", "", 0});
  }
  for (int i = 0; i <= static_cast<int>(Role::kOther); ++i) {
    FollowedKind kind;
    kind.role = static_cast<Role>(i);
    reports.inhabited.push_back(kind);
  }
  for (int i = 0; i <= static_cast<int>(Mode::kEnforce); ++i) {
    reports.findings.push_back(FindingNamed(std::to_string(i), static_cast<Mode>(i)));
  }
  const auto back = ReportsFromText(ToText(reports));
  ASSERT_TRUE(back.has_value());
  ExpectEqual(*back, reports);
}

// A server of a later version writes what this one does not know.
TEST(SharedReportsText, WhatIsNotKnownIsLeftOutAlone) {
  std::string text = ToText(SomeReports());
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  replace("\"tag-war\"", "\"new-rule\"");
  replace("\"xrd-group\"", "\"new-reason\"");
  replace("\"managed\"", "\"new-role\"");
  const auto back = ReportsFromText(text);
  ASSERT_TRUE(back.has_value());
  ASSERT_EQ(back->findings.size(), 1U);
  EXPECT_TRUE(back->coverage.gaps.empty());
  EXPECT_TRUE(back->inhabited.empty());
  EXPECT_EQ(back->wars.size(), 1U);
}

TEST(RotatingSharedReportsText, IsBoundedAndKeepsTheWorst) {
  SharedReports reports;
  for (int i = 0; i < 12'000; ++i) {
    LiveFinding finding = FindingNamed(std::to_string(100'000 + i), Mode::kAudit);
    if (i % 100 == 0) finding.mode = Mode::kEnforce;
    reports.findings.push_back(std::move(finding));
  }
  const std::string text = ToText(reports);
  EXPECT_LE(text.size(), kReportsBytesMax);
  const auto back = ReportsFromText(text);
  ASSERT_TRUE(back.has_value());
  EXPECT_LT(back->findings.size(), reports.findings.size());
  EXPECT_EQ(std::count_if(back->findings.begin(), back->findings.end(),
                          [](const LiveFinding& each) { return each.mode == Mode::kEnforce; }),
            120);
  EXPECT_TRUE(std::is_sorted(
      back->findings.begin(), back->findings.end(),
      [](const LiveFinding& a, const LiveFinding& b) { return a.subject < b.subject; }));
}

class SharedReportsTest : public ::testing::Test {
 protected:
  // As the leader, when it is due.
  void Publish(const SharedReports& reports) {
    ReportPublisher publisher(clock_);
    const auto gather = [&] { return std::optional(reports); };
    ASSERT_TRUE(publisher.Step(store_, gather, Soon()).ok());
  }
  void Later() { clock_.Advance(ReportReader::kKept); }

  FakeClock clock_{At(0)};
  MemoryStore store_;
  testing::FaultyStore faulty_{store_};
  ReportReader reader_{faulty_, clock_};
};

TEST_F(SharedReportsTest, AnotherServerReadsWhatTheLeaderWroteLast) {
  EXPECT_EQ(reader_.Latest().at, Timestamp{}) << "nobody told yet";
  ExpectEqual(*reader_.Latest().reports, SharedReports());
  Publish(SomeReports());
  Later();
  ExpectEqual(*reader_.Latest().reports, SomeReports());
  EXPECT_EQ(reader_.Latest().at, At(0));
  Publish(SharedReports());
  ExpectEqual(*reader_.Latest().reports, SomeReports());
  Later();
  ExpectEqual(*reader_.Latest().reports, SharedReports());
}

TEST_F(SharedReportsTest, WhatWasReadStaysWhileTheStoreDoesNotAnswer) {
  Publish(SomeReports());
  ExpectEqual(*reader_.Latest().reports, SomeReports());
  Publish(SharedReports());
  Later();
  faulty_.FailNextRead({ErrorCode::kUnavailable, "away"});
  ExpectEqual(*reader_.Latest().reports, SomeReports());
  ExpectEqual(*reader_.Latest().reports, SharedReports());
}

TEST_F(SharedReportsTest, NothingIsWrittenThatDidNotChange) {
  ReportPublisher publisher(clock_);
  int asked = 0;
  std::optional<SharedReports> present;
  const auto gather = [&] {
    ++asked;
    return present;
  };
  ASSERT_TRUE(publisher.Step(store_, gather, Soon()).ok());
  EXPECT_EQ(reader_.Latest().at, Timestamp{}) << "it has not looked at everything yet";
  present = SomeReports();
  ASSERT_TRUE(publisher.Step(store_, gather, Soon()).ok());
  EXPECT_EQ(asked, 2);
  ASSERT_TRUE(publisher.Step(store_, gather, Soon()).ok());
  EXPECT_EQ(asked, 2) << "it is not due yet";
}

TEST_F(SharedReportsTest, WhatCouldNotBeWrittenIsDueAtOnce) {
  ReportPublisher publisher(clock_);
  const auto gather = [] { return std::optional(SomeReports()); };
  faulty_.FailNextApply({ErrorCode::kConflict, "another server leads"});
  EXPECT_FALSE(publisher.Step(faulty_, gather, Soon()).ok());
  EXPECT_TRUE(publisher.Step(faulty_, gather, Soon()).ok());
  ExpectEqual(*reader_.Latest().reports, SomeReports());
}

}  // namespace shared_reports_test
}  // namespace truce
