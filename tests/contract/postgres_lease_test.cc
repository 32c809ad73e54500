// Which of the servers on one PostgreSQL database may do what one of them may do.
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "registry/store/postgres/postgres_store.h"
#include "tests/support/postgres_server.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace postgres_lease_test {

std::unique_ptr<PostgresStore> OpenAt(const std::string& url,
                                      std::chrono::seconds lease_time = std::chrono::seconds{15}) {
  auto opened =
      PostgresStore::Open({.url = url, .counts_age_max = {}, .lease_time = lease_time}, Soon());
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  return opened.ok() ? std::move(opened).value() : nullptr;
}

void ExpectRefused(Store& store, const std::string& name) {
  const auto refused = Write(store, SampleCreate(name, "u-" + name));
  ASSERT_FALSE(refused.ok()) << name;
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict) << refused.error().message;
}

bool Writes(Store& store, const std::string& name) {
  const auto written = Write(store, SampleCreate(name, "u-" + name));
  EXPECT_TRUE(written.ok()) << written.error().message;
  return written.ok();
}

class PostgresLease : public ::testing::Test {
 protected:
  void Share() {
    ASSERT_FALSE(one_->BecomeActive("one", "recipe", Soon()).value().has_value());
    ASSERT_FALSE(two_->BecomeActive("two", "recipe", Soon()).value().has_value());
  }
  // As if the holder of the watch had not renewed it for long.
  void EndWatch() {
    ASSERT_EQ(outsider_.Run("UPDATE truce.lease SET expires = clock_timestamp() - interval '1 min' "
                            "WHERE sort = 'watch'"),
              "");
  }
  // Each time that its holder renews it in between, it ends anew.
  void TakeOver(PostgresStore& store, const std::string& holder) {
    do {
      EndWatch();
    } while (store.TakeWatch(holder, Soon()).value().has_value());
  }

  const std::string url_ = PostgresServer::Shared().MakeDatabase();
  const std::unique_ptr<PostgresStore> one_ = OpenAt(url_);
  const std::unique_ptr<PostgresStore> two_ = OpenAt(url_);
  Outsider outsider_{url_};
};

// Those who say the same share; whoever else comes waits until their time is over, and then writes
// alone.
TEST_F(PostgresLease, IsSharedByThoseWhoSayTheSame) {
  const auto other = OpenAt(url_);
  const auto alone = OpenAt(url_);
  Share();
  EXPECT_EQ(one_->epoch(), two_->epoch());
  EXPECT_TRUE(Writes(*one_, "a"));
  EXPECT_TRUE(Writes(*two_, "b"));
  for (const std::optional<std::string>& shared :
       {std::optional<std::string>("another recipe"), std::optional<std::string>()}) {
    const auto waits = other->BecomeActive("one", shared, Soon()).value();
    ASSERT_TRUE(waits.has_value()) << "even under the name of one of them";
    EXPECT_EQ(waits->holder, "two");
  }
  // Its time is over; perhaps one of them renews it in between.
  do {
    ASSERT_EQ(outsider_.Run("UPDATE truce.lease SET expires = clock_timestamp()"), "");
  } while (alone->BecomeActive("alone", std::nullopt, Soon()).value().has_value());
  EXPECT_GT(alone->epoch(), one_->epoch());
  ExpectRefused(*one_, "c");
  ExpectRefused(*two_, "c");
  EXPECT_TRUE(other->BecomeActive("other", "recipe", Soon()).value().has_value());
  EXPECT_TRUE(Writes(*alone, "c"));
}

TEST_F(PostgresLease, OneOfThoseThatShareWatchesAtATime) {
  Share();
  ExpectRefused(one_->watch_store(), "before");
  ASSERT_FALSE(one_->TakeWatch("one", Soon()).value().has_value());
  const auto waits = two_->TakeWatch("two", Soon()).value();
  ASSERT_TRUE(waits.has_value());
  EXPECT_EQ(waits->holder, "one");
  EXPECT_TRUE(Writes(one_->watch_store(), "a"));
  ExpectRefused(two_->watch_store(), "b");
  EXPECT_TRUE(Writes(*one_, "c"));
  EXPECT_TRUE(Writes(*two_, "d"));
  EXPECT_EQ(two_->watch_store().Contents().value(), one_->Contents().value());
  // Given back, it is the next one's at once.
  one_->GiveWatchBack();
  ASSERT_FALSE(two_->TakeWatch("two", Soon()).value().has_value());
  EXPECT_TRUE(Writes(two_->watch_store(), "e"));
  ExpectRefused(one_->watch_store(), "f");
  EXPECT_TRUE(Writes(*one_, "f"));
  EXPECT_FALSE(one_->watch_lost()) << "what was given back is not lost";
  EXPECT_EQ(one_->FatalFailure(), std::nullopt);
}

TEST_F(PostgresLease, AnActiveServerWithoutTheOthersEndsTheirWatchToo) {
  Share();
  ASSERT_FALSE(one_->TakeWatch("one", Soon()).value().has_value());
  const auto alone = OpenAt(url_);
  do {
    ASSERT_EQ(outsider_.Run("UPDATE truce.lease SET expires = clock_timestamp() - interval '1 min' "
                            "WHERE sort = 'registry'"),
              "");
  } while (alone->BecomeActive("alone", std::nullopt, Soon()).value().has_value());
  ExpectRefused(one_->watch_store(), "a");
}

// It stood still; it still believes to hold the watch.
TEST_F(PostgresLease, WhoLostTheWatchWritesNothingByItAndAnswersReviews) {
  Share();
  ASSERT_FALSE(one_->TakeWatch("one", Soon()).value().has_value());
  TakeOver(*two_, "two");
  int runs = 0;
  const DecideFn decide = [&](const Facts& facts) {
    ++runs;
    static_cast<void>(facts.OwnerOf(SampleKey("a")));
    return SampleCreate("a", "u1");
  };
  const auto refused = one_->watch_store().Apply({}, decide, Soon());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict) << refused.error().message;
  EXPECT_EQ(runs, 0) << "it is refused before it decides";
  std::optional<Result<void>> told;
  std::latch done(1);
  one_->watch_store().Submit({}, decide, Soon(), [&](Result<void> how) {
    told = std::move(how);
    done.count_down();
  });
  done.wait();
  EXPECT_EQ(told->error().code, ErrorCode::kConflict);
  EXPECT_TRUE(two_->Contents().value().owners.empty());
  EXPECT_TRUE(Writes(*one_, "b"));
  EXPECT_TRUE(Writes(two_->watch_store(), "c"));
}

TEST_F(PostgresLease, WhoLostTheWatchIsToldAtTheNextSign) {
  const auto quick = OpenAt(url_, std::chrono::seconds{1});
  ASSERT_FALSE(quick->BecomeActive("quick", "recipe", Soon()).value().has_value());
  ASSERT_FALSE(quick->TakeWatch("quick", Soon()).value().has_value());
  EXPECT_FALSE(quick->watch_lost());
  ASSERT_FALSE(two_->BecomeActive("two", "recipe", Soon()).value().has_value());
  TakeOver(*two_, "two");
  const Deadline until = Soon();
  while (!quick->watch_lost() && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(quick->watch_lost());
  ASSERT_TRUE(quick->FatalFailure().has_value());
  EXPECT_EQ(quick->FatalFailure()->code, ErrorCode::kConflict);
  EXPECT_EQ(two_->FatalFailure(), std::nullopt);
}

// What the former watch is in the middle of is written before the next one has it, or not at all.
TEST_F(PostgresLease, ATakeOverOfTheWatchWaitsForItsDecisionsAndForNoReview) {
  Share();
  ASSERT_FALSE(one_->TakeWatch("one", Soon()).value().has_value());
  std::latch begun(2);
  std::latch watch_may_end(1);
  std::latch review_may_end(1);
  const auto held = [&](Store& store, const std::string& name, std::latch& may_end) {
    return std::jthread([&] {
      bool first = true;
      const DecideFn decide = [&](const Facts& facts) {
        static_cast<void>(facts.OwnerOf(SampleKey(name)));
        if (std::exchange(first, false)) begun.count_down();
        may_end.wait();
        return SampleCreate(name, "u-" + name);
      };
      const auto written = store.Apply({}, decide, Soon());
      EXPECT_TRUE(written.ok()) << written.error().message;
    });
  };
  const std::string of_review = "review";
  const std::string of_watch = "watch";
  std::jthread review = held(*one_, of_review, review_may_end);
  std::jthread watch = held(one_->watch_store(), of_watch, watch_may_end);
  begun.wait();
  EndWatch();
  const auto tried = two_->TakeWatch("two", In(std::chrono::milliseconds{300}));
  ASSERT_FALSE(tried.ok());
  EXPECT_EQ(tried.error().code, ErrorCode::kDeadlineExceeded) << tried.error().message;
  watch_may_end.count_down();
  watch.join();
  // Who gave up waiting did not get it afterwards.
  EXPECT_TRUE(Writes(one_->watch_store(), "after"));
  TakeOver(*two_, "two");
  EXPECT_TRUE(OwnerIn(*two_, SampleKey(of_watch)));
  ExpectRefused(one_->watch_store(), "late");
  review_may_end.count_down();
  review.join();
  EXPECT_TRUE(OwnerIn(*two_, SampleKey(of_review)));
}

}  // namespace postgres_lease_test
}  // namespace truce::testing
