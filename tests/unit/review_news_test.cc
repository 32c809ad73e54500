// News of reviews for the leader: they come once, whole.
#include "webhook/findings/review_news.h"

#include <gtest/gtest.h>

#include <string>

#include "registry/store/administration.h"
#include "tests/support/faulty_store.h"
#include "tests/support/memory_store.h"
#include "tests/support/store_contents.h"

namespace truce {
namespace review_news_test {

Deadline Soon() { return In(std::chrono::seconds(20)); }

ReviewNews SomeNews() {
  ReviewNews news;
  news.reviews.admitted = {{"s3.aws.upbound.io", "Bucket"}, {"", "ConfigMap"}};
  news.reviews.prove = {{{"a"}, {"uid-1"}, RowState::kReserved}, {{"b"}, {""}, RowState::kSeen}};
  news.reviews.unknown = {{"prod", "s3.aws.upbound.io", "Bucket", "", "a"}};
  news.deletions = {{"prod", "example.org", "Claim", "team-a", "b"}};
  news.checks = {{"uid-2"}};
  return news;
}

void ExpectEqual(const ReviewNews& got, const ReviewNews& wanted) {
  EXPECT_EQ(got.reviews.admitted, wanted.reviews.admitted);
  EXPECT_EQ(got.reviews.prove, wanted.reviews.prove);
  EXPECT_EQ(got.reviews.unknown, wanted.reviews.unknown);
  EXPECT_EQ(got.deletions, wanted.deletions);
  EXPECT_EQ(got.checks, wanted.checks);
}

std::vector<TableRow> Rows(const Store& store) {
  return ReadRows(store, kReviewNewsTable, Soon()).value();
}

TEST(ReviewNewsTest, TwoServersAddAndTheLeaderTakesAllOnce) {
  MemoryStore store;
  ReviewNews more;
  more.checks = {{"uid-3"}};
  ASSERT_TRUE(TellNews(store, SomeNews(), Soon()).ok());
  ASSERT_TRUE(TellNews(store, more, Soon()).ok());
  const auto taken = TakeNews(store, Soon());
  ASSERT_TRUE(taken.ok());
  ReviewNews both = SomeNews();
  both.Add(more);
  ExpectEqual(taken.value(), both);
  EXPECT_TRUE(TakeNews(store, Soon()).value().empty());
  const auto contents = ContentsOf(store);
  ASSERT_TRUE(contents.ok());
  EXPECT_TRUE(contents.value().audit.empty()) << "it is no act of anybody's";
}

TEST(ReviewNewsTest, WhatCannotBeReadIsLeftOutAlone) {
  MemoryStore store;
  ASSERT_TRUE(TellNews(store, SomeNews(), Soon()).ok());
  std::vector<TableRow> rows = Rows(store);
  rows.push_back(kReviewNewsTable.Row({NewsItem::Sort::kUnknown, "", "", {}, false, "no slot"}));
  rows.push_back(rows.front());
  rows.back().front() = std::string("of-a-later-version");
  const auto put = [&](Administration& books) { books.SetTableRows(kReviewNewsTable, rows); };
  ASSERT_TRUE(Administer(store, {}, Soon(), put).ok());
  ExpectEqual(TakeNews(store, Soon()).value(), SomeNews());
}

TEST(ReviewNewsTest, NothingIsWrittenWhereThereIsNothingToTell) {
  MemoryStore store;
  testing::FaultyStore faulty(store);
  faulty.BreakWrites({ErrorCode::kUnavailable, "away"});
  EXPECT_TRUE(TellNews(faulty, ReviewNews(), Soon()).ok());
  EXPECT_TRUE(TakeNews(faulty, Soon()).ok());
}

TEST(RotatingReviewNews, TheyStayBoundedWhileNobodyLeads) {
  MemoryStore store;
  const auto tell = [&](std::size_t from, std::size_t count) {
    ReviewNews news;
    for (std::size_t i = from; i < from + count; ++i) {
      news.reviews.prove.insert(RowId{.resource = {std::to_string(i)}, .uid = {"uid"}});
    }
    EXPECT_TRUE(TellNews(store, news, Soon()).ok());
  };
  tell(0, ReviewNews::kMax - 1);
  tell(ReviewNews::kMax, 1000);
  EXPECT_EQ(Rows(store).size(), ReviewNews::kMax);
  NewsBox box;
  for (std::size_t i = 0; i <= ReviewNews::kMax; ++i) {
    box.CheckAdmitted({std::to_string(i)});
    box.DeletionAsked({"c", "g", "k", "n", std::to_string(i)});
  }
  const ReviewNews news = box.Take();
  EXPECT_EQ(news.checks.size(), ReviewNews::kMax);
  EXPECT_EQ(news.deletions.size(), ReviewNews::kMax);
}

TEST(ReviewNewsTest, WhatCouldNotBeToldIsTakenWithTheNext) {
  MemoryStore store;
  NewsBox box;
  box.CheckAdmitted({"uid-2"});
  const ReviewNews first = box.Take();
  EXPECT_TRUE(box.Take().empty());
  box.DeletionAsked({"prod", "example.org", "Claim", "team-a", "b"});
  box.ProviderActed({"system:serviceaccount:a:b", {"prod", "example.org", "Bucket", "", "c"}});
  box.PutBack(first);
  const ReviewNews both = box.Take();
  EXPECT_EQ(both.checks.size(), 1U);
  EXPECT_EQ(both.deletions.size(), 1U);
  EXPECT_EQ(both.provider_acts.size(), 1U);
  ASSERT_TRUE(TellNews(store, both, Soon()).ok());
  EXPECT_EQ(TakeNews(store, Soon()).value().provider_acts, both.provider_acts);
}

}  // namespace review_news_test
}  // namespace truce
