// Refusals: counted, the latest first, bounded.
#include "webhook/api/review_books.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/fake_clock.h"

namespace truce {
namespace denial_book_test {

class DenialBookTest : public ::testing::Test {
 protected:
  static Finding Refusal(const std::string& key) {
    Finding finding;
    finding.rule = Rule::kDuplicateOwnership;
    finding.mode = Mode::kEnforce;
    finding.key = KeyText{key};
    finding.cause = key + " is taken.";
    return finding;
  }

  void Refuse(const std::vector<Finding>& findings, std::string_view object) {
    ReviewRecord record;
    record.verdict = Verdict::kDenied;
    record.findings = findings;
    record.group = "s3.aws.upbound.io";
    record.kind = "Bucket";
    record.name = object;
    record.user = "alice";
    book_.OnReview(record);
  }

  FakeClock clock_{*ParseTimestamp("2026-11-22T12:00:00Z")};
  DenialBook book_{clock_};
};

TEST_F(DenialBookTest, TheSameRefusalIsOneEntryWithItsLatestWords) {
  const Timestamp first = clock_.Now();
  Refuse({Refusal("a")}, "one");
  Refuse({Refusal("b")}, "one");
  clock_.Advance(std::chrono::seconds(5));
  Finding again = Refusal("a");
  again.cause = "a is taken by another one now.";
  Refuse({again}, "one");
  const std::vector<Denial> all = book_.All();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].key.text, "a");
  EXPECT_EQ(all[0].count, 2U);
  EXPECT_EQ(all[0].first, first);
  EXPECT_EQ(all[0].last, clock_.Now());
  EXPECT_EQ(all[0].cause, again.cause);
  EXPECT_EQ(all[1].key.text, "b");
  EXPECT_EQ(all[1].count, 1U);
}

TEST_F(DenialBookTest, EachResourceAndObjectIsAnEntryOfItsOwn) {
  Finding warned = Refusal("c");
  warned.mode = Mode::kWarn;
  Finding by_rule = Refusal("");
  by_rule.rule = Rule::kNamingConvention;
  Refuse({Refusal("a"), Refusal("b"), warned, by_rule}, "one");
  Refuse({Refusal("a")}, "two");
  EXPECT_EQ(book_.All().size(), 4U);
  const std::vector<Denial> of_a = book_.OfKey(KeyText{"a"}, 9);
  ASSERT_EQ(of_a.size(), 2U);
  EXPECT_EQ(of_a[0].name, "two");
  EXPECT_EQ(book_.OfKey(KeyText{"a"}, 1).size(), 1U);
}

TEST_F(DenialBookTest, TheOneSeenLongestAgoGivesWay) {
  Refuse({Refusal("key 0")}, "object");
  Refuse({Refusal("key 1")}, "object");
  Refuse({Refusal("key 0")}, "object");
  for (std::size_t i = 2; i <= kDenialsKept; ++i) {
    Refuse({Refusal("key " + std::to_string(i))}, "object");
  }
  EXPECT_EQ(book_.All().size(), kDenialsKept);
  EXPECT_TRUE(book_.OfKey(KeyText{"key 1"}, 1).empty());
  Refuse({Refusal("key 1")}, "object");
  EXPECT_EQ(book_.OfKey(KeyText{"key 1"}, 1).front().count, 1U);
  EXPECT_TRUE(book_.OfKey(KeyText{"key 0"}, 1).empty());
}

}  // namespace denial_book_test
}  // namespace truce
