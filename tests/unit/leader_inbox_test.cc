// What a server tells its leader: it comes once, whole, and orders are answered.
#include "webhook/serve/shared/leader_inbox.h"
#include "tests/support/store_contents.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "registry/store/memory/memory_store.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_store.h"

namespace truce {
namespace leader_inbox_test {

ReviewNews SomeNews() {
  ReviewNews news;
  news.reviews.admitted = {{"s3.aws.upbound.io", "Bucket"}, {"", "ConfigMap"}};
  news.reviews.prove = {{{"s3/Bucket|name=a\n\"ü"}, {"uid-1"}, RowState::kReserved},
                        {{"s3/Bucket|name=b"}, {""}, RowState::kSeen}};
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

class LeaderInboxTest : public ::testing::Test {
 protected:
  static Deadline Soon() { return In(std::chrono::seconds(20)); }
  static Order ReleaseOf(const std::string& id) {
    return {.id = id,
            .act = Order::Act::kReleaseBrake,
            .kind = GroupKind{"s3.aws.upbound.io", "Bucket"},
            .word = {"alice", "looked at all"}};
  }
  std::string Setting(const std::string& name) const {
    std::string out;
    const auto read = [&](const Facts& facts) { out = facts.Setting(name).value_or(""); };
    EXPECT_TRUE(store_.Read(read, Soon()).ok());
    return out;
  }
  // As the leader does each second, until there is an order.
  Order TakeOrder() {
    const Deadline patience = Soon();
    while (std::chrono::steady_clock::now() < patience) {
      const auto taken = leader_.Take(store_, Soon());
      if (taken.ok() && !taken.value().orders.empty()) return taken.value().orders.front();
    }
    ADD_FAILURE() << "no order came";
    return {};
  }

  FakeClock clock_{*ParseTimestamp("2026-11-25T12:00:00Z")};
  MemoryStore store_;
  LeaderInbox leader_{clock_};
  LeaderInbox other_{clock_};
};

TEST_F(LeaderInboxTest, NewsComeBackFromTheirTextAsTheyWere) {
  ExpectEqual(NewsFromJson(ToJson(SomeNews())), SomeNews());
  ExpectEqual(NewsFromJson(nlohmann::json::array()), ReviewNews());
}

TEST_F(LeaderInboxTest, WhatCannotBeReadIsLeftOutAlone) {
  nlohmann::json json = ToJson(SomeNews());
  json["prove"].push_back({"key alone"});
  json["unknown"].push_back("not/a/slot");
  json["admitted"].push_back(7);
  json["deletions"].push_back(nullptr);
  json["checks"].push_back({{"uid", "x"}});
  ExpectEqual(NewsFromJson(json), SomeNews());
}

TEST_F(LeaderInboxTest, TwoServersAddAndTheLeaderTakesAllOnce) {
  ReviewNews more;
  more.checks = {{"uid-3"}};
  ASSERT_TRUE(LeaderInbox::Tell(store_, SomeNews(), Soon()).ok());
  ASSERT_TRUE(LeaderInbox::Tell(store_, more, Soon()).ok());
  const auto taken = leader_.Take(store_, Soon());
  ASSERT_TRUE(taken.ok());
  ReviewNews both = SomeNews();
  both.Add(more);
  ExpectEqual(taken.value().news, both);
  const auto again = leader_.Take(store_, Soon());
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again.value().empty());
  const auto contents = ContentsOf(store_);
  ASSERT_TRUE(contents.ok());
  EXPECT_TRUE(contents.value().audit.empty()) << "it is no act of anybody's";
}

TEST_F(LeaderInboxTest, NothingIsWrittenWhereThereIsNothingToTell) {
  testing::FaultyStore faulty(store_);
  faulty.BreakWrites({ErrorCode::kUnavailable, "away"});
  EXPECT_TRUE(LeaderInbox::Tell(faulty, ReviewNews(), Soon()).ok());
  EXPECT_TRUE(leader_.Take(faulty, Soon()).ok());
}

using RotatingLeaderInbox = LeaderInboxTest;  // by that name it rotates with sanitizers
TEST_F(RotatingLeaderInbox, ItStaysBoundedWhileNobodyLeads) {
  const auto tell = [&](int from, int count) {
    ReviewNews news;
    for (int i = from; i < from + count; ++i) {
      news.reviews.prove.insert(
          RowId{.resource = {std::string(1000, 'k') + std::to_string(i)}, .uid = {"uid"}});
    }
    EXPECT_TRUE(LeaderInbox::Tell(store_, news, Soon()).ok());
  };
  for (int round = 0; round < 8; ++round) tell(round * 1000, 1000);
  const std::size_t size = Setting("inbox").size();
  EXPECT_GT(size, LeaderInbox::kBytesMax / 2);
  EXPECT_LE(size, LeaderInbox::kBytesMax);
  NewsBox box;
  for (std::size_t i = 0; i <= ReviewNews::kMax; ++i) {
    box.CheckAdmitted({std::to_string(i)});
    box.DeletionAsked({"c", "g", "k", "n", std::to_string(i)});
  }
  const ReviewNews news = box.Take();
  EXPECT_EQ(news.checks.size(), ReviewNews::kMax);
  EXPECT_EQ(news.deletions.size(), ReviewNews::kMax);
}

TEST_F(LeaderInboxTest, WhatCouldNotBeToldIsTakenWithTheNext) {
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
  EXPECT_EQ(NewsFromJson(ToJson(both)).provider_acts, both.provider_acts);
  EXPECT_EQ(both.provider_acts.size(), 1U);
}

TEST_F(LeaderInboxTest, AnOrderIsCarriedOutOnceAndAnswered) {
  Result<std::uint64_t> outcome = std::uint64_t{0};
  std::thread asking([&] { outcome = other_.Ask(store_, ReleaseOf("one"), Soon()); });
  const Order order = TakeOrder();
  EXPECT_EQ(order.id, "one");
  EXPECT_EQ(order.act, Order::Act::kReleaseBrake);
  EXPECT_EQ(order.kind, ReleaseOf("one").kind);
  EXPECT_EQ(order.word.actor, "alice");
  EXPECT_EQ(order.word.reason, "looked at all");
  const auto again = leader_.Take(store_, Soon());
  EXPECT_TRUE(again.ok() && again.value().empty());
  EXPECT_TRUE(leader_.Answer(store_, "another", std::uint64_t{3}, Soon()).ok());
  EXPECT_TRUE(leader_.Answer(store_, order.id, std::uint64_t{12}, Soon()).ok());
  asking.join();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome.value(), 12U);
}

TEST_F(LeaderInboxTest, TheLeadersErrorIsTheAnswer) {
  Result<std::uint64_t> outcome = std::uint64_t{0};
  Order order = ReleaseOf("one");
  order.act = Order::Act::kStartRecovery;
  order.kind.reset();
  std::thread asking([&] { outcome = other_.Ask(store_, order, Soon()); });
  const Order taken = TakeOrder();
  EXPECT_EQ(taken.act, Order::Act::kStartRecovery);
  EXPECT_FALSE(taken.kind.has_value());
  const Error refused{ErrorCode::kNotFound, "no such kind is followed"};
  EXPECT_TRUE(leader_.Answer(store_, taken.id, refused, Soon()).ok());
  asking.join();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error(), refused);
}

TEST_F(LeaderInboxTest, AnOrderThatNobodyTookIsWithdrawn) {
  other_.Stop();  // it waits for nothing
  const auto outcome = other_.Ask(store_, ReleaseOf("one"), Soon());
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(outcome.error().message,
            "no server watches the cluster at present, so nothing was done");
  const auto taken = leader_.Take(store_, Soon());
  ASSERT_TRUE(taken.ok());
  EXPECT_TRUE(taken.value().empty()) << "nobody carries it out later";
}

TEST_F(LeaderInboxTest, AnOrderThatWasTakenAndNotAnsweredIsNotRepeatedBlindly) {
  Result<std::uint64_t> outcome = std::uint64_t{0};
  std::thread asking([&] { outcome = other_.Ask(store_, ReleaseOf("one"), Soon()); });
  TakeOrder();
  other_.Stop();
  asking.join();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::kDeadlineExceeded);
}

// Whoever gave it died before it could withdraw it.
TEST_F(LeaderInboxTest, AnOldOrderIsNoneAnyMore) {
  Result<std::uint64_t> outcome = std::uint64_t{0};
  std::thread asking([&] { outcome = other_.Ask(store_, ReleaseOf("one"), Soon()); });
  while (Setting("inbox").empty()) std::this_thread::yield();
  clock_.Advance(LeaderInbox::kOrderLife + std::chrono::seconds(1));
  const auto taken = leader_.Take(store_, Soon());
  EXPECT_TRUE(taken.ok() && taken.value().orders.empty());
  other_.Stop();
  asking.join();
  EXPECT_FALSE(outcome.ok());
}

}  // namespace leader_inbox_test
}  // namespace truce
