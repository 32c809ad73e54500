// What the server that watches the cluster tells the others, over one registry in memory.
#include "webhook/serve/shared/cluster_view.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "registry/store/administration.h"
#include "registry/store/memory/memory_store.h"
#include "webhook/serve/shared/view_exchange.h"

namespace truce {
namespace cluster_view_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

ToldView Everything() {
  ToldView told;
  ClusterView& view = told.view;
  view.ready = true;
  const ProviderConfigName config{"aws.m.upbound.io", "ProviderConfig", "team-a", "prod"};
  view.learned.accounts = {{config, "111122223333"}};
  view.learned.moving = {{"111122223333", {"?c/aws.m.upbound.io/ProviderConfig/team-a/prod"}}};
  view.learned.outside = {{{"aws.upbound.io", "ProviderConfig", "", "local stack"},
                           {"localstack:4566", {"s3", "sqs"}}}};
  view.learned.composites = {{"example.org", "XStore"}};
  view.learned.claims = {{{"example.org", "Store"}, {"example.org", "XStore"}}};
  view.learned.definitions_known = true;
  view.recovery = "the registry is \"older\"\n";
  view.unlisted = {{"s3/Bucket", false}, {"sqs/Queue", true}};
  view.unwatched = {{"", "Secret"}};
  view.unmapped = {{{"example.org", "Old"}, Timestamp(milliseconds(1'234))}};
  told.unseen = {{{"example.org", "XLost"}, Timestamp(milliseconds(5'678))}};
  told.doubts.slots = {{{"c", "example.org", "Store", "team-a", "files"}, "it was missing"}};
  told.doubts.kinds = {{{"example.org", "Store"}, "its list is empty"}};
  return told;
}

TEST(ClusterViewTest, EverythingComesBackAsItWasTold) {
  EXPECT_EQ(ToldViewFromText(ToText(Everything())), Everything());
  ToldView nothing;
  nothing.view.ready = true;
  EXPECT_EQ(ToldViewFromText(ToText(nothing)), nothing);
}

TEST(ClusterViewTest, WhatLacksSomethingIsNoView) {
  const std::string text = ToText(Everything());
  for (const std::string member :
       {"accounts", "moving", "outside", "composites", "claims", "definitionsKnown", "recovery",
        "unlisted", "unwatched", "unmapped", "unseen", "doubts", "doubtedKinds"}) {
    std::string without = text;
    const std::size_t at = without.find("\"" + member + "\"");
    ASSERT_NE(at, std::string::npos) << member;
    without.replace(at + 1, member.size(), "else");
    EXPECT_EQ(ToldViewFromText(without), std::nullopt) << member;
  }
  EXPECT_EQ(ToldViewFromText(""), std::nullopt);
  EXPECT_EQ(ToldViewFromText("[]"), std::nullopt);
}

class ViewExchangeTest : public ::testing::Test {
 protected:
  static Deadline Soon() { return In(seconds(10)); }
  bool Read(Deadline now) { return reader_.Read(store_, now, Soon()).value(); }
  bool Tell(const ToldView& told) { return publisher_.Tell(store_, told, Soon()).ok(); }
  // A sign of the server that watches, though nothing changed.
  void Sign() {
    const std::string mark_text =
        R"({"text":")" + Text() + R"(","sign":")" + std::to_string(++signs_) + "\"}";
    const auto mark = [&](Administration& books) { books.PutSetting("view.mark", mark_text); };
    ASSERT_TRUE(Administer(store_, Timestamp(), Soon(), mark).ok());
  }
  std::string Text() {
    std::string text;
    const auto read = [&](const Facts& facts) {
      text = facts.Setting("view.mark").value_or("");
      text = text.substr(text.find("\"text\":\"") + 8);
      text = text.substr(0, text.find('"'));
    };
    EXPECT_TRUE(store_.Read(read, Soon()).ok());
    return text;
  }

  MemoryStore store_;
  ViewPublisher publisher_;
  ViewReader reader_;
  const Deadline begin_ = In(seconds(1'000));
  int signs_ = 0;
};

TEST_F(ViewExchangeTest, AViewOfLongAgoIsTakenOnceItsServerShowsASign) {
  ASSERT_TRUE(Tell(Everything()));
  EXPECT_FALSE(Read(begin_));
  EXPECT_FALSE(Read(begin_ + seconds(1)));
  EXPECT_EQ(reader_.latest(), std::nullopt);
  Sign();
  EXPECT_TRUE(Read(begin_ + seconds(2)));
  ASSERT_NE(reader_.latest(), std::nullopt);
  EXPECT_EQ(reader_.latest()->view.learned, Everything().view.learned);
  EXPECT_TRUE(reader_.latest()->view.is_told);
  EXPECT_EQ(reader_.latest()->doubts, Everything().doubts);
}

TEST_F(ViewExchangeTest, WhatIsNotConfirmedForThreeSecondsIsOver) {
  EXPECT_FALSE(Read(begin_));
  ASSERT_TRUE(Tell(Everything()));
  ASSERT_TRUE(Read(begin_));
  const auto life = reader_.latest()->view.life;
  EXPECT_FALSE(life->IsOver(begin_ + milliseconds(2'999)));
  EXPECT_TRUE(life->IsOver(begin_ + seconds(3)));
  EXPECT_FALSE(Read(begin_ + seconds(10)));
  EXPECT_FALSE(life->IsOver(begin_ + seconds(12)));
}

TEST_F(ViewExchangeTest, WhatAServerToldThatShowsNoSignIsOverAfterAMinute) {
  EXPECT_FALSE(Read(begin_));
  ASSERT_TRUE(Tell(Everything()));
  ASSERT_TRUE(Read(begin_));
  const auto life = reader_.latest()->view.life;
  EXPECT_FALSE(Read(begin_ + seconds(59)));
  EXPECT_FALSE(life->IsOver(begin_ + milliseconds(59'900)));
  EXPECT_TRUE(life->IsOver(begin_ + seconds(60)));
  EXPECT_EQ(reader_.age(begin_ + seconds(59)), seconds(59));
  Sign();
  EXPECT_FALSE(Read(begin_ + seconds(90))) << "the same view";
  EXPECT_FALSE(life->IsOver(begin_ + seconds(91)));
}

TEST_F(ViewExchangeTest, AnotherServersViewTakesThePlace) {
  EXPECT_FALSE(Read(begin_));
  ASSERT_TRUE(Tell(Everything()));
  ASSERT_TRUE(Read(begin_));
  ToldView next;
  next.view.ready = true;
  ViewPublisher other;
  ASSERT_TRUE(other.Tell(store_, next, Soon()).ok());
  ASSERT_TRUE(Read(begin_ + seconds(1)));
  EXPECT_EQ(reader_.latest()->view.learned, LearnedIdentity());
  EXPECT_TRUE(reader_.latest()->doubts.slots.empty());
}

}  // namespace cluster_view_test
}  // namespace truce
