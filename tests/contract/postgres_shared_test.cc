// What servers on one PostgreSQL database tell each other: nothing is lost or told twice.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "registry/store/postgres/postgres_store.h"
#include "tests/support/fake_clock.h"
#include "tests/support/postgres_server.h"
#include "tests/support/store_samples.h"
#include "webhook/api/orders.h"
#include "webhook/api/watch_reports.h"
#include "webhook/findings/review_news.h"

namespace truce::testing {
namespace postgres_shared_test {

class PostgresShared : public ::testing::Test {
 protected:
  static std::unique_ptr<PostgresStore> OpenAt(
      const std::string& url, const std::string& holder,
      std::chrono::seconds lease_time = std::chrono::seconds(15)) {
    auto opened =
        PostgresStore::Open({.url = url, .counts_age_max = {}, .lease_time = lease_time}, Soon());
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    auto store = std::move(opened).value();
    EXPECT_FALSE(store->BecomeActive(holder, "recipe", Soon()).value().has_value());
    return store;
  }

  const std::string url_ = PostgresServer::Shared().MakeDatabase();
  FakeClock clock_{*ParseTimestamp("2026-11-25T12:00:00Z")};
  const std::unique_ptr<PostgresStore> one_ = OpenAt(url_, "one");
  const std::unique_ptr<PostgresStore> two_ = OpenAt(url_, "two");
  const std::unique_ptr<PostgresStore> three_ = OpenAt(url_, "three");
  Orders orders_{clock_};
};

TEST_F(PostgresShared, EachKnowsHowManyAreBesideIt) {
  const auto wait_for = [](const PostgresStore& store, std::int64_t many) {
    const Deadline until = Soon();
    while (store.servers_beside() != many && std::chrono::steady_clock::now() < until) {
      std::this_thread::yield();
    }
    EXPECT_EQ(store.servers_beside(), many);
  };
  auto four = OpenAt(url_, "four", std::chrono::seconds(3));
  wait_for(*four, 3);
  const auto five = OpenAt(url_, "five", std::chrono::seconds(3));
  wait_for(*four, 4);
  four = nullptr;
  wait_for(*five, 3);
}

TEST_F(PostgresShared, WhatTwoTellAtOnceTheLeaderTakesOnce) {
  constexpr int kRounds = 50;
  ASSERT_FALSE(one_->TakeWatch("one", Soon()).value().has_value());
  std::atomic<int> telling{2};
  const auto tell = [&](Store& store, const std::string& name) {
    return std::thread([&telling, &store, name] {
      for (int round = 0; round < kRounds; ++round) {
        ReviewNews news;
        news.checks.insert(Uid{name + std::to_string(round)});
        EXPECT_TRUE(TellNews(store, news, Soon()).ok());
      }
      --telling;
    });
  };
  std::thread two = tell(*two_, "two-");
  std::thread three = tell(*three_, "three-");
  std::size_t taken = 0;
  ReviewNews all;
  const auto take = [&] {
    const auto news = TakeNews(one_->watch_store(), Soon());
    ASSERT_TRUE(news.ok()) << news.error().message;
    taken += news.value().checks.size();
    all.Add(news.value());
  };
  while (telling.load() > 0) take();
  two.join();
  three.join();
  take();
  EXPECT_EQ(all.checks.size(), 2U * kRounds);
  EXPECT_EQ(taken, 2U * kRounds) << "each of them once";
}

// A leader that stood still takes nothing away from the next one.
TEST_F(PostgresShared, WhoNoLongerLeadsTakesAndTellsNothing) {
  ASSERT_FALSE(one_->TakeWatch("one", Soon()).value().has_value());
  one_->GiveWatchBack();
  ASSERT_FALSE(two_->TakeWatch("two", Soon()).value().has_value());
  ReviewNews news;
  news.checks.insert(Uid{"uid"});
  ASSERT_TRUE(TellNews(*three_, news, Soon()).ok());
  const auto refused = TakeNews(one_->watch_store(), Soon());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  TablePublisher former("reports");
  TablePublisher present("reports");
  const TableContents contents = ContentsOf(WatchReports());
  EXPECT_FALSE(former.Write(one_->watch_store(), contents, clock_.Now(), Soon()).ok());
  PublishedTables tables("reports", ReportTables());
  EXPECT_FALSE(tables.Read(*three_, Soon()).value());
  EXPECT_TRUE(present.Write(two_->watch_store(), contents, clock_.Now(), Soon()).ok());
  EXPECT_TRUE(tables.Read(*three_, Soon()).value());
  EXPECT_EQ(TakeNews(two_->watch_store(), Soon()).value().checks.size(), 1U);
}

TEST_F(PostgresShared, AnOrderIsAnsweredByWhoLeads) {
  ASSERT_FALSE(one_->TakeWatch("one", Soon()).value().has_value());
  Result<std::uint64_t> outcome = std::uint64_t{0};
  std::thread asking([&] {
    Orders orders(clock_);
    const Order order{.id = "order", .act = Order::Act::kReleaseBrake, .word = {"alice", "looked"}};
    outcome = orders.Ask(*two_, order, Soon());
  });
  const Deadline until = Soon();
  std::size_t carried_out = 0;
  while (carried_out == 0 && std::chrono::steady_clock::now() < until) {
    const auto orders = orders_.Take(one_->watch_store(), Soon());
    ASSERT_TRUE(orders.ok()) << orders.error().message;
    for (const Order& order : orders.value()) {
      ++carried_out;
      EXPECT_TRUE(orders_.Answer(one_->watch_store(), order, std::uint64_t{7}, Soon()).ok());
    }
  }
  asking.join();
  EXPECT_EQ(carried_out, 1U);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome.value(), 7U);
}

}  // namespace postgres_shared_test
}  // namespace truce::testing
