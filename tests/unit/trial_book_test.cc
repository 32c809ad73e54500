// What enforce would have refused: collected, counted, bounded, and kept over a restart.
#include "webhook/api/review_books.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/fake_clock.h"
#include "tests/support/faulty_store.h"
#include "tests/support/memory_store.h"

namespace truce {
namespace trial_book_test {

class TrialBookTest : public ::testing::Test {
 protected:
  static Finding Found(Rule rule, Mode mode, const std::string& name) {
    Finding finding;
    finding.rule = rule;
    finding.mode = mode;
    finding.resource = "S3 bucket \"" + name + "\"";
    finding.cause = "The name is wrong.";
    finding.remedy = "Name it better.";
    return finding;
  }

  void See(const Finding& finding, std::string_view object, bool dry_run = false) {
    See(book_, finding, object, dry_run);
  }
  static void See(TrialBook& book, const Finding& finding, std::string_view object,
                  bool dry_run = false) {
    ReviewRecord record;
    const std::vector<Finding> findings = {finding};
    record.findings = findings;
    record.group = "s3.aws.upbound.io";
    record.kind = "Bucket";
    record.name = object;
    record.user = "alice";
    record.service = "payments";
    record.dry_run = dry_run;
    book.OnReview(record);
  }

  static Deadline Soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }

  FakeClock clock_{*ParseTimestamp("2026-11-21T12:00:00Z")};
  MemoryStore store_;
  TrialBook book_{store_, clock_};
};

TEST_F(TrialBookTest, WhatAuditAndWarnFindIsCounted) {
  See(Found(Rule::kNamingConvention, Mode::kAudit, "a"), "a");
  See(Found(Rule::kNamingConvention, Mode::kWarn, "a"), "a");
  See(Found(Rule::kDuplicateOwnership, Mode::kAudit, "b"), "b");
  See(Found(Rule::kNamingConvention, Mode::kEnforce, "c"), "c");  // was refused
  Finding cautious = Found(Rule::kAwsName, Mode::kWarn, "d");     // warns in any mode
  cautious.at_most = Mode::kWarn;
  See(cautious, "d");
  See(Found(Rule::kNamingConvention, Mode::kAudit, "e"), "e", true);
  const std::vector<Trial> trials = book_.Since({});
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0].rule, "duplicate-ownership");
  EXPECT_EQ(trials[1].count, 2U);
  EXPECT_EQ(trials[1].mode, "warn");
  EXPECT_EQ(trials[1].service, "payments");
  EXPECT_EQ(trials[1].text, "The name is wrong. Name it better.");
}

TEST_F(TrialBookTest, TheOldestGivesWay) {
  for (std::size_t i = 0; i <= kTrialsKept; ++i) {
    const std::string name = "n" + std::to_string(i);
    See(Found(Rule::kAwsName, Mode::kAudit, name), name);
  }
  const std::vector<Trial> trials = book_.Since({});
  ASSERT_EQ(trials.size(), kTrialsKept);
  EXPECT_EQ(trials.back().name, "n1");
}

TEST_F(TrialBookTest, ItIsKeptOverARestart) {
  See(Found(Rule::kNamingConvention, Mode::kAudit, "a"), "a");
  clock_.Advance(std::chrono::milliseconds(1));
  See(Found(Rule::kAwsName, Mode::kAudit, "b"), "line\nbreak\"");
  ASSERT_TRUE(book_.Flush(Soon()).ok());
  TrialBook next(store_, clock_);
  ASSERT_TRUE(next.Load(Soon()).ok());
  EXPECT_EQ(next.Since({}), book_.Since({}));
  EXPECT_TRUE(next.Since(clock_.Now() + std::chrono::hours(1)).empty());
}

TEST_F(TrialBookTest, TwoServersCountTogether) {
  TrialBook other(store_, clock_);
  const Finding found = Found(Rule::kNamingConvention, Mode::kAudit, "a");
  See(found, "a");
  ASSERT_TRUE(book_.Flush(Soon()).ok());
  See(other, found, "a");
  See(other, found, "b");
  ASSERT_TRUE(other.Flush(Soon()).ok());
  ASSERT_TRUE(other.Flush(Soon()).ok()) << "nothing new";
  clock_.Advance(std::chrono::seconds(5));
  See(found, "a");
  ASSERT_TRUE(book_.Flush(Soon()).ok());
  const std::vector<Trial> trials = book_.Since({});
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0].name, "a");
  EXPECT_EQ(trials[0].count, 3U);
  EXPECT_LT(trials[0].first, trials[0].last);
  EXPECT_EQ(trials[1].count, 1U);
  ASSERT_TRUE(other.Load(Soon()).ok());
  EXPECT_EQ(other.Since({}), trials);
}

TEST_F(TrialBookTest, WhatCouldNotBeWrittenIsWrittenWithTheNext) {
  testing::FaultyStore faulty(store_);
  TrialBook book(faulty, clock_);
  const Finding found = Found(Rule::kNamingConvention, Mode::kAudit, "a");
  See(book, found, "a");
  faulty.FailNextApply({ErrorCode::kUnavailable, "away"});
  EXPECT_FALSE(book.Flush(Soon()).ok());
  See(book, found, "a");
  ASSERT_TRUE(book.Flush(Soon()).ok());
  TrialBook next(store_, clock_);
  ASSERT_TRUE(next.Load(Soon()).ok());
  ASSERT_EQ(next.Since({}).size(), 1U);
  EXPECT_EQ(next.Since({})[0].count, 2U);
}

}  // namespace trial_book_test
}  // namespace truce
