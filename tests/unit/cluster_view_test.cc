// What the server that watches the cluster tells the others, over one registry in memory.
#include "webhook/watch/cluster_view.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "registry/store/administration.h"
#include "tests/support/memory_store.h"

namespace truce {
namespace cluster_view_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

PublishedView Everything() {
  PublishedView published;
  ClusterView& view = published.view;
  view.ready = true;
  const ProviderConfigName config{"aws.m.upbound.io", "ProviderConfig", "team-a", "prod"};
  view.learned.accounts = {{config, "111122223333"}};
  view.learned.moving = {{"111122223333", {"?c/aws.m.upbound.io/ProviderConfig/team-a/prod"}}};
  view.learned.outside = {{{"aws.upbound.io", "ProviderConfig", "", "local stack"},
                           {"localstack:4566", {"s3", "sqs"}}}};
  view.learned.defaults = {
      {{"", "Namespace", "", "team-a"}, {"eu-west-1", {"s3"}, {"rds", "sqs"}}}};
  view.learned.composites = {{"example.org", "XStore"}};
  view.learned.claims = {{{"example.org", "Store"}, {"example.org", "XStore"}}};
  view.learned.definitions_known = true;
  view.recovery = "the registry is \"older\"\n";
  view.unlisted = {{"s3/Bucket", false}, {"sqs/Queue", true}};
  view.unwatched = {{"", "Secret"}};
  view.unmapped = {{{"example.org", "Old"}, Timestamp(milliseconds(1'234))}};
  published.unseen = {{{"example.org", "XLost"}, Timestamp(milliseconds(5'678))}};
  published.unresolved.slots = {
      {{"c", "example.org", "Store", "team-a", "files"}, "it was missing"}};
  published.unresolved.kinds = {{{"example.org", "Store"}, "its list is empty"}};
  return published;
}

class ViewReaderTest : public ::testing::Test {
 protected:
  static Deadline Soon() { return In(seconds(10)); }
  bool Read(Deadline now) { return reader_.Read(store_, now, Soon()).value(); }
  bool Tell(const PublishedView& published) {
    return publisher_.Write(store_, ContentsOf(published), Timestamp(), Soon()).ok();
  }
  // A sign of the server that watches, though nothing changed.
  void Sign(const PublishedView& published) { ASSERT_TRUE(Tell(published)); }

  MemoryStore store_;
  TablePublisher publisher_{std::string(kViewPart)};
  ViewReader reader_;
  const Deadline begin_ = In(seconds(1'000));
};

TEST_F(ViewReaderTest, AViewOfLongAgoIsTakenOnceItsServerShowsASign) {
  ASSERT_TRUE(Tell(Everything()));
  EXPECT_FALSE(Read(begin_));
  EXPECT_FALSE(Read(begin_ + seconds(1)));
  EXPECT_EQ(reader_.latest(), std::nullopt);
  Sign(Everything());
  EXPECT_TRUE(Read(begin_ + seconds(2)));
  ASSERT_NE(reader_.latest(), std::nullopt);
  PublishedView latest = *reader_.latest();
  latest.view.is_published = false;
  latest.view.life = nullptr;
  EXPECT_EQ(latest, Everything());
  EXPECT_TRUE(reader_.latest()->view.is_published);
}

TEST_F(ViewReaderTest, WhatIsNotConfirmedForThreeSecondsIsOver) {
  EXPECT_FALSE(Read(begin_));
  ASSERT_TRUE(Tell(Everything()));
  ASSERT_TRUE(Read(begin_));
  const auto life = reader_.latest()->view.life;
  EXPECT_FALSE(life->IsOver(begin_ + milliseconds(2'999)));
  EXPECT_TRUE(life->IsOver(begin_ + seconds(3)));
  EXPECT_FALSE(Read(begin_ + seconds(10)));
  EXPECT_FALSE(life->IsOver(begin_ + seconds(12)));
}

TEST_F(ViewReaderTest, WhatAServerToldThatShowsNoSignIsOverAfterAMinute) {
  EXPECT_FALSE(Read(begin_));
  ASSERT_TRUE(Tell(Everything()));
  ASSERT_TRUE(Read(begin_));
  const auto life = reader_.latest()->view.life;
  EXPECT_FALSE(Read(begin_ + seconds(59)));
  EXPECT_FALSE(life->IsOver(begin_ + milliseconds(59'900)));
  EXPECT_TRUE(life->IsOver(begin_ + seconds(60)));
  EXPECT_EQ(reader_.age(begin_ + seconds(59)), seconds(59));
  Sign(Everything());
  EXPECT_FALSE(Read(begin_ + seconds(90))) << "the same view";
  EXPECT_FALSE(life->IsOver(begin_ + seconds(91)));
}

TEST_F(ViewReaderTest, AnotherServersViewTakesThePlace) {
  EXPECT_FALSE(Read(begin_));
  ASSERT_TRUE(Tell(Everything()));
  ASSERT_TRUE(Read(begin_));
  PublishedView next;
  next.view.ready = true;
  TablePublisher other{std::string(kViewPart)};
  ASSERT_TRUE(other.Write(store_, ContentsOf(next), Timestamp(), Soon()).ok());
  ASSERT_TRUE(Read(begin_ + seconds(1)));
  EXPECT_EQ(reader_.latest()->view.learned, LearnedIdentity());
  EXPECT_TRUE(reader_.latest()->view.recovery.empty());
  EXPECT_TRUE(reader_.latest()->unresolved.slots.empty());
}

// Of each table: a view that lacks a row would call names free that are not.
TEST_F(ViewReaderTest, AViewWithARowThatCannotBeReadIsNone) {
  EXPECT_FALSE(Read(begin_));
  ASSERT_TRUE(Tell(Everything()));
  ASSERT_TRUE(Read(begin_));
  const TableContents whole = ContentsOf(Everything());
  for (const auto& [table, rows] : whole) {
    TableContents broken = whole;
    broken[table].front().front() = std::int64_t{1};
    ASSERT_TRUE(publisher_.Write(store_, broken, Timestamp(), Soon()).ok()) << table.name;
    const auto read = reader_.Read(store_, begin_, Soon());
    ASSERT_FALSE(read.ok()) << table.name;
    EXPECT_EQ(read.error().code, ErrorCode::kDataLoss);
    EXPECT_TRUE(reader_.latest()->view.life->IsOver(begin_ + seconds(3)));
  }
  ASSERT_TRUE(Tell(Everything()));
  EXPECT_TRUE(Read(begin_ + seconds(4)));
}

}  // namespace cluster_view_test
}  // namespace truce
