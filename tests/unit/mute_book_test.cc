// Mutes of findings: what they hide and for how long, bounds, the audit log, restarts; whom a
// finding concerns.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "registry/ownership/rows.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_store.h"
#include "tests/support/memory_store.h"
#include "tests/support/store_contents.h"
#include "webhook/findings/concerned.h"
#include "webhook/findings/mute_book.h"

namespace truce {
namespace mute_book_test {

Deadline Soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(10); }

LiveFinding About(const std::string& subject, std::vector<std::string> namespaces = {"team-a"}) {
  LiveFinding finding;
  finding.detector = Detector::kOwnershipConflict;
  finding.subject = subject;
  finding.resource = "S3 bucket \"" + subject + "\"";
  finding.namespaces = std::move(namespaces);
  return finding;
}

class MuteBookTest : public ::testing::Test {
 protected:
  Mute Wanted(const LiveFinding& finding, int hours = 1) const {
    Mute mute = MuteOf(finding);
    mute.until = clock_.Now() + std::chrono::hours(hours);
    mute.reason = "known";
    mute.by = "alice";
    return mute;
  }
  ErrorCode CodeOf(Mute mute) {
    const auto made = book_.Add(std::move(mute), Soon());
    return made.ok() ? ErrorCode::kInternal : made.error().code;
  }

  FakeClock clock_{*ParseTimestamp("2026-11-21T08:00:00Z")};
  MemoryStore memory_;
  testing::FaultyStore store_{memory_};
  MuteBook book_{store_, clock_};
};

TEST_F(MuteBookTest, HidesOneFindingUntilItsTimeAlsoAfterARestart) {
  const LiveFinding finding = About("x");
  ASSERT_TRUE(book_.Add(Wanted(finding), Soon()).ok());
  EXPECT_TRUE(book_.Hides(finding));
  EXPECT_FALSE(book_.Hides(About("y")));
  LiveFinding of_another = finding;
  of_another.detector = Detector::kTagWar;
  EXPECT_FALSE(book_.Hides(of_another));

  MuteBook again(store_, clock_);
  EXPECT_FALSE(again.Hides(finding));
  ASSERT_TRUE(again.Load(Soon()).ok());
  EXPECT_EQ(again.Present(), book_.Present());
  clock_.Advance(std::chrono::hours(2));
  EXPECT_FALSE(again.Hides(finding));
  EXPECT_TRUE(again.Present().empty());
}

TEST_F(MuteBookTest, HidesNothingThatIsWorseOrConcernsSomebodyElse) {
  const LiveFinding finding = About("x", {"team-a", "team-b"});
  ASSERT_TRUE(book_.Add(Wanted(finding), Soon()).ok());
  LiveFinding now = finding;
  now.mode = Mode::kEnforce;
  EXPECT_FALSE(book_.Hides(now));
  now.mode = Mode::kAudit;
  EXPECT_TRUE(book_.Hides(now));
  now.namespaces = {"team-b"};
  EXPECT_TRUE(book_.Hides(now));
  now.namespaces = {"team-a", "team-c"};
  EXPECT_FALSE(book_.Hides(now));
}

TEST_F(MuteBookTest, MakingAndEndingAreAudited) {
  const LiveFinding finding = About("x");
  ASSERT_TRUE(book_.Add(Wanted(finding), Soon()).ok());
  ASSERT_TRUE(book_.End(finding.detector, finding.subject, "bob", Soon()).ok());
  EXPECT_FALSE(book_.Hides(finding));
  const auto again = book_.End(finding.detector, finding.subject, "bob", Soon());
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kNotFound);
  const auto audit = ContentsOf(memory_).value().audit;
  ASSERT_EQ(audit.size(), 2U);
  EXPECT_EQ(audit[0].cause, "mute of finding ownership-conflict about S3 bucket \"x\" until " +
                                FormatTimestamp(clock_.Now() + std::chrono::hours(1)) + ": known");
  EXPECT_EQ(audit[0].actor, "alice");
  EXPECT_EQ(audit[1].cause, "mute of finding ownership-conflict about S3 bucket \"x\" ended");
  EXPECT_EQ(audit[1].actor, "bob");
}

using RotatingMuteBook = MuteBookTest;  // by that name it rotates with sanitizers
TEST_F(RotatingMuteBook, IsBounded) {
  EXPECT_EQ(CodeOf(Wanted(About("x"), 0)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(Wanted(About("x"), 24 * 90 + 1)), ErrorCode::kInvalidArgument);
  Mute mute = Wanted(About("x"));
  mute.reason.clear();
  EXPECT_EQ(CodeOf(mute), ErrorCode::kInvalidArgument);
  mute.reason.assign(MuteBook::kReasonBytesMax + 1, 'r');
  EXPECT_EQ(CodeOf(mute), ErrorCode::kInvalidArgument);
  for (std::size_t i = 0; i < MuteBook::kMutesMax; ++i) {
    const std::string ns = "team-" + std::to_string(i / MuteBook::kMutesOfNamespaceMax);
    ASSERT_TRUE(book_.Add(Wanted(About(std::to_string(i), {ns})), Soon()).ok()) << i;
    if (i + 1 == MuteBook::kMutesOfNamespaceMax) {
      EXPECT_EQ(CodeOf(Wanted(About("one more", {ns}))), ErrorCode::kConflict);
    }
  }
  EXPECT_EQ(CodeOf(Wanted(About("x", {"else"}))), ErrorCode::kConflict);
  // Anew, for longer: that is no further one.
  EXPECT_TRUE(book_.Add(Wanted(About("0", {"team-0"}), 5), Soon()).ok());
  clock_.Advance(std::chrono::hours(2));
  EXPECT_EQ(book_.Present().size(), 1U);
  EXPECT_TRUE(book_.Add(Wanted(About("x", {"else"})), Soon()).ok());
}

TEST_F(MuteBookTest, AFaultKeepsWhatHeld) {
  ASSERT_TRUE(book_.Add(Wanted(About("x")), Soon()).ok());
  store_.FailNextApply({ErrorCode::kUnavailable, "disk full"});
  EXPECT_EQ(CodeOf(Wanted(About("y"))), ErrorCode::kUnavailable);
  EXPECT_TRUE(book_.Hides(About("x")));
  EXPECT_FALSE(book_.Hides(About("y")));
}

TEST_F(MuteBookTest, WhatCannotBeReadIsToldAndHidesNothing) {
  const TableRow good = kMutesTable.Row(Wanted(About("x")));
  const auto put = [&](const TableRow& row) {
    const auto decide = [&](const Facts&) {
      Changes changes;
      changes.put_table_rows = {{kMutesTable, row}};
      return changes;
    };
    ASSERT_TRUE(store_.Apply({}, decide, Soon()).ok());
  };
  constexpr std::size_t kSeverity = 2;
  for (const std::string text : {"", "unheard of"}) {
    TableRow bad = good;
    bad[kSeverity] = text;
    put(bad);
    const auto loaded = book_.Load(Soon());
    ASSERT_FALSE(loaded.ok()) << text;
    EXPECT_EQ(loaded.error().code, ErrorCode::kDataLoss) << text;
    EXPECT_EQ(CodeOf(Wanted(About("x"))), ErrorCode::kDataLoss) << text;
  }
  put(good);
  ASSERT_TRUE(book_.Load(Soon()).ok());
  EXPECT_EQ(book_.Present().size(), 1U);
  // Of a newer version.
  TableRow newer = good;
  newer[0] = std::string("not-known-yet");
  newer[kSeverity] = std::string("unheard of");
  put(newer);
  EXPECT_TRUE(book_.Load(Soon()).ok());
  EXPECT_EQ(book_.Present().size(), 1U);
}

TEST_F(MuteBookTest, TheGaugeLeavesOutWhatIsMuted) {
  FindingsBook findings;
  findings.Replace(Detector::kOwnershipConflict, {About("x"), About("y"), About("z")},
                   clock_.Now());
  ASSERT_TRUE(book_.Add(Wanted(About("y")), Soon()).ok());
  ASSERT_TRUE(book_.Add(Wanted(About("gone")), Soon()).ok());
  MetricWriter writer;
  WriteFindingsMetrics(findings, book_, writer);
  const std::string text = std::move(writer).Take();
  for (const char* line : {"truce_findings{rule=\"ownership-conflict\",mode=\"warn\"} 2\n",
                           "truce_findings{rule=\"tag-war\",mode=\"enforce\"} 0\n",
                           "truce_findings_muted{rule=\"ownership-conflict\"} 1\n",
                           "truce_findings_muted{rule=\"tag-war\"} 0\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST_F(MuteBookTest, AFindingConcernsTheRootsOfItsObjects) {
  Object composed;
  composed.uid = {"u1"};
  composed.slot = {"prod", "s3.aws.upbound.io", "Bucket", "", "one-x7"};
  composed.root = {"prod", "platform.example.org", "ObjectStorage", "team-a", "one"};
  composed.service = "service-a";
  const auto decide = [&](const Facts&) {
    Changes changes;
    changes.put_objects = {composed};
    return changes;
  };
  ASSERT_TRUE(store_.Apply({}, decide, Soon()).ok());
  LiveFinding finding = About("x", {});
  finding.objects = {composed.slot,
                     {"prod", "s3.aws.m.upbound.io", "Bucket", "team-b", "unknown"},
                     {"prod", "s3.aws.upbound.io", "Bucket", "", "unknown"}};
  const auto look = [&](const Facts& facts) { AddConcerned(finding, facts); };
  ASSERT_TRUE(store_.Read(look, Soon()).ok());
  EXPECT_EQ(finding.namespaces, (std::vector<std::string>{"", "team-a", "team-b"}));
  EXPECT_EQ(finding.services, (std::vector<std::string>{"service-a"}));
  EXPECT_TRUE(Concerns(finding, "team-a"));
  EXPECT_FALSE(Concerns(finding, "team-c"));

  finding.cause = "says who owns it";
  const LiveFinding discreet = DiscreetOf(finding, "team-b");
  EXPECT_EQ(discreet.namespaces, (std::vector<std::string>{"team-b"}));
  EXPECT_EQ(discreet.services, std::vector<std::string>());
  ASSERT_EQ(discreet.objects.size(), 1U);
  EXPECT_EQ(discreet.objects[0].ns, "team-b");
  EXPECT_NE(discreet.cause, finding.cause);
  EXPECT_EQ(discreet.subject, finding.subject);
  finding.subject = ToText(finding.objects[1]);
  EXPECT_EQ(DiscreetOf(finding, "team-b").subject, finding.subject);
  EXPECT_EQ(DiscreetOf(finding, "team-a").subject, "");
}

TEST(DiscreetTest, AThrottledAccountIsToldToAllWhoUseIt) {
  LiveFinding finding;
  finding.detector = Detector::kThrottledApi;
  finding.subject = "123456789012/efs/DescribeFileSystemPolicy";
  finding.cause = "AWS refuses DescribeFileSystemPolicy of EFS in account 123456789012.";
  finding.evidence = "2 objects; most often FileSystemPolicy team-a/x (7)";
  finding.remedy = "End the tag war first.";
  finding.namespaces = {"team-a", "team-b"};
  finding.objects = {{"prod", "efs.aws.m.upbound.io", "FileSystemPolicy", "team-a", "x"},
                     {"prod", "efs.aws.m.upbound.io", "FileSystemPolicy", "team-b", "y"}};
  const LiveFinding discreet = DiscreetOf(finding, "team-b");
  EXPECT_EQ(discreet.cause, finding.cause);
  EXPECT_EQ(discreet.remedy, finding.remedy);
  EXPECT_EQ(discreet.subject, finding.subject);
  EXPECT_EQ(discreet.evidence, "");
  ASSERT_EQ(discreet.objects.size(), 1U);
  EXPECT_EQ(discreet.objects[0].ns, "team-b");
}

}  // namespace mute_book_test
}  // namespace truce
