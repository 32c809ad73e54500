// Follower: list, watch, resume, list again, back off, poll.
#include "webhook/watch/follower.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace truce {
namespace follower_test {

using namespace std::chrono_literals;

class FollowerTest : public ::testing::Test {
 protected:
  static FollowedKind Buckets() {
    FollowedKind kind;
    kind.selection.kind = {"s3.aws.upbound.io", "v1beta2", "Bucket", "buckets", false};
    return kind;
  }
  static ListPage Page(std::vector<std::string> objects, std::string next = {},
                       std::string version = "10") {
    return {std::move(version), std::move(next), std::move(objects)};
  }
  static WatchEvent Event(const std::string& version,
                          WatchEvent::Type type = WatchEvent::Type::kModified) {
    return {type, version, "{}"};
  }
  static ApiError Failure(ApiErrorKind kind) { return {kind, 500, "it failed", {}}; }

  // Listed with one object, and watching from version 10.
  void Watching() {
    ASSERT_TRUE(follower_.Tick(now_).list);
    (void)follower_.Listed(now_, Page({"{}"}));
    ASSERT_EQ(follower_.Tick(now_).watch_from, "10");
  }

  Moment now_{1h};
  FollowerTimes times_;
  Follower follower_{Buckets(), times_, 7};
};

TEST_F(FollowerTest, ListsAllPagesBeforeItWatches) {
  FollowerOrders orders = follower_.Tick(now_);
  ASSERT_TRUE(orders.list);
  EXPECT_EQ(orders.list->limit, times_.page);
  EXPECT_TRUE(orders.list->quorum);
  EXPECT_TRUE(follower_.Tick(now_).empty()) << "one page at a time";
  FollowerNews news = follower_.Listed(now_, Page({"a"}, "token"));
  EXPECT_TRUE(news.begins);
  EXPECT_FALSE(news.finished);
  orders = follower_.Tick(now_);
  ASSERT_TRUE(orders.list);
  EXPECT_EQ(orders.list->next, "token");
  news = follower_.Listed(now_, Page({"b"}, {}, "99"));
  EXPECT_FALSE(news.begins);
  EXPECT_TRUE(news.finished);
  EXPECT_FALSE(follower_.gap());
  EXPECT_EQ(follower_.Tick(now_).watch_from, "10") << "the version of the list's begin";
  EXPECT_EQ(follower_.state(), KindState::kWatched);
}

TEST_F(FollowerTest, AnExpiredTokenBeginsTheListAgain) {
  (void)follower_.Tick(now_);
  (void)follower_.Listed(now_, Page({"a"}, "token"));
  (void)follower_.Tick(now_);
  const FollowerNews news = follower_.Listed(now_, Failure(ApiErrorKind::kExpired));
  EXPECT_FALSE(news.failed);
  const FollowerOrders orders = follower_.Tick(now_);
  ASSERT_TRUE(orders.list) << "at once";
  EXPECT_TRUE(orders.list->next.empty());
  EXPECT_TRUE(follower_.Listed(now_, Page({"a"})).begins);
}

TEST_F(FollowerTest, APageThatIsTooLargeIsAskedForInParts) {
  const auto fails = [&] {
    const FollowerOrders orders = follower_.Tick(now_);
    (void)follower_.Listed(now_, Failure(ApiErrorKind::kMalformed));
    now_ += 1min;
    return orders.list ? orders.list->limit : 0;
  };
  EXPECT_EQ(fails(), 500U);
  EXPECT_EQ(fails(), 62U);
  EXPECT_EQ(fails(), 7U);
  EXPECT_EQ(fails(), 1U);
  FollowerOrders orders = follower_.Tick(now_);
  ASSERT_TRUE(orders.list);
  EXPECT_EQ(orders.list->limit, 1U);
  (void)follower_.Listed(now_, Page({"a"}, "token"));
  orders = follower_.Tick(now_);
  ASSERT_TRUE(orders.list);
  EXPECT_EQ(orders.list->limit, 1U) << "the rest of the list, too";
}

TEST_F(FollowerTest, AListThatFailsBacksOffAndCountsAsAttempted) {
  (void)follower_.Tick(now_);
  EXPECT_FALSE(follower_.attempted());
  EXPECT_TRUE(follower_.Listed(now_, Failure(ApiErrorKind::kForbidden)).failed);
  EXPECT_TRUE(follower_.attempted());
  EXPECT_FALSE(follower_.listed());
  EXPECT_EQ(follower_.state(), KindState::kFailing);
  EXPECT_TRUE(follower_.gap());
  EXPECT_TRUE(follower_.Tick(now_).empty());
  std::chrono::milliseconds longest{};
  for (int i = 0; i < 12; ++i) {
    const Moment due = follower_.Due().value();
    longest = std::max(longest, std::chrono::duration_cast<std::chrono::milliseconds>(due - now_));
    now_ = due;
    ASSERT_TRUE(follower_.Tick(now_).list);
    (void)follower_.Listed(now_, Failure(ApiErrorKind::kServer));
  }
  EXPECT_GE(longest, times_.backoff_max / 2);
  EXPECT_LE(longest, times_.backoff_max);
}

TEST_F(FollowerTest, RetryAfterIsHonoured) {
  (void)follower_.Tick(now_);
  (void)follower_.Listed(now_, ApiError{ApiErrorKind::kThrottled, 429, "slow down", 90s});
  EXPECT_EQ(follower_.Due(), now_ + 90s);
}

TEST_F(FollowerTest, DuplicatesReplaysAndBookmarksAreDropped) {
  Watching();
  FollowerNews news = follower_.Events(now_, {Event("11"), Event("12"), Event("12"), Event("11")});
  ASSERT_EQ(news.events.size(), 2U);
  news = follower_.Events(now_, {Event("20", WatchEvent::Type::kBookmark), Event("13")});
  EXPECT_TRUE(news.events.empty()) << "older than the bookmark";
  EXPECT_EQ(follower_.version(), "20");
}

TEST_F(FollowerTest, AStreamThatEndsIsResumedAfterItsLastVersion) {
  Watching();
  (void)follower_.Events(now_, {Event("15")});
  now_ += 10s;
  follower_.Ended(now_, std::nullopt);
  EXPECT_EQ(follower_.Tick(now_).watch_from, "15");
  EXPECT_FALSE(follower_.gap());
  now_ += 10s;
  follower_.Ended(now_, Failure(ApiErrorKind::kUnreachable));
  EXPECT_TRUE(follower_.Tick(now_).empty()) << "after a back-off";
  now_ = follower_.Due().value();
  EXPECT_EQ(follower_.Tick(now_).watch_from, "15");
}

TEST_F(FollowerTest, LostHistoryIsListedAgain) {
  Watching();
  now_ += 10s;
  follower_.Ended(now_, Failure(ApiErrorKind::kExpired));
  EXPECT_TRUE(follower_.gap());
  EXPECT_EQ(follower_.state(), KindState::kRelisting);
  EXPECT_TRUE(follower_.Tick(now_).list);
}

TEST_F(FollowerTest, AVersionThatTheServerHasNotReachedIsLostHistory) {
  Watching();
  now_ += 10s;
  follower_.Ended(
      now_,
      ApiError{ApiErrorKind::kTimeout, 504, "Too large resource version: 15, current: 3", {}});
  EXPECT_TRUE(follower_.gap());
  EXPECT_TRUE(follower_.Tick(now_).list);
  (void)follower_.Listed(now_, Page({"{}"}, {}, "3"));
  EXPECT_EQ(follower_.Tick(now_).watch_from, "3") << "the fence goes back with the cluster";
  EXPECT_EQ(follower_.Events(now_, {Event("4")}).events.size(), 1U);
}

TEST_F(FollowerTest, AWatchThatEndsAtOnceDoesNotSpin) {
  Watching();
  int starts = 0;
  const Moment end = now_ + 60s;
  while (now_ < end) {
    follower_.Ended(now_, std::nullopt);
    now_ = follower_.Due().value();
    if (follower_.Tick(now_).watch_from) ++starts;
  }
  EXPECT_LT(starts, 20);
}

TEST_F(FollowerTest, AnEmptyKindIsPolledAndWatchedFromWhereItWasEmpty) {
  (void)follower_.Tick(now_);
  EXPECT_TRUE(follower_.Listed(now_, Page({})).finished);
  EXPECT_EQ(follower_.state(), KindState::kEmpty);
  EXPECT_LE(follower_.Due().value(), now_ + 2s) << "until a watch can begin at its version";
  now_ = follower_.Due().value();
  FollowerOrders orders = follower_.Tick(now_);
  ASSERT_TRUE(orders.list);
  EXPECT_EQ(orders.list->limit, 1U);
  (void)follower_.Listed(now_, Page({}, {}, "30"));
  EXPECT_GE(follower_.Due().value(), now_ + times_.poll * 4 / 5);
  now_ = follower_.Due().value();
  (void)follower_.Tick(now_);
  EXPECT_TRUE(follower_.Listed(now_, Page({"{}"}, "more", "40")).objects.empty());
  EXPECT_EQ(follower_.Tick(now_).watch_from, "30") << "nothing is missed";
  EXPECT_FALSE(follower_.gap());
}

TEST_F(FollowerTest, AnAdmittedDeclarationStartsTheWatchAtOnce) {
  (void)follower_.Tick(now_);
  (void)follower_.Listed(now_, Page({}));
  follower_.Wanted(now_);
  EXPECT_EQ(follower_.Tick(now_).watch_from, "10");
  follower_.Wanted(now_);
  EXPECT_TRUE(follower_.Tick(now_).empty()) << "watched already";
}

TEST_F(FollowerTest, AListThatRunsWhenItIsToBeginAgainIsDiscarded) {
  (void)follower_.Tick(now_);
  follower_.Relist(now_);
  EXPECT_TRUE(follower_.Tick(now_).empty()) << "the old answer is awaited first";
  EXPECT_FALSE(follower_.Listed(now_, Page({"old"})).finished);
  EXPECT_TRUE(follower_.Tick(now_).list);
  EXPECT_TRUE(follower_.Listed(now_, Page({"new"})).finished);
}

TEST_F(FollowerTest, RelistStopsTheWatch) {
  Watching();
  follower_.Relist(now_);
  const FollowerOrders orders = follower_.Tick(now_);
  EXPECT_TRUE(orders.stop_watch);
  EXPECT_TRUE(orders.list);
  EXPECT_TRUE(follower_.Events(now_, {Event("50")}).events.empty()) << "of a stopped stream";
}

TEST_F(FollowerTest, ARereadLosesNothing) {
  EXPECT_FALSE(follower_.Reread(now_)) << "not listed yet";
  Watching();
  const std::string version = follower_.version();
  ASSERT_TRUE(follower_.Reread(now_));
  const FollowerOrders orders = follower_.Tick(now_);
  EXPECT_TRUE(orders.stop_watch);
  EXPECT_TRUE(orders.list);
  ASSERT_TRUE(follower_.Reread(now_)) << "what is read now was read by other rules";
  EXPECT_FALSE(follower_.Listed(now_, Page({"old"})).finished);
  EXPECT_TRUE(follower_.Tick(now_).list);
  const FollowerNews news = follower_.Listed(now_, Page({}, {}, "50"));
  EXPECT_TRUE(news.finished);
  EXPECT_TRUE(news.passed.empty());
  EXPECT_FALSE(follower_.gap());
  EXPECT_EQ(follower_.Tick(now_).watch_from, version) << "the ends of what is not there are told";
}

TEST_F(FollowerTest, ARereadOfAnEmptyKindLeavesItEmpty) {
  (void)follower_.Tick(now_);
  (void)follower_.Listed(now_, Page({}));
  ASSERT_TRUE(follower_.Reread(now_));
  EXPECT_TRUE(follower_.Tick(now_).list);
  (void)follower_.Listed(now_, Page({}, {}, "50"));
  EXPECT_EQ(follower_.state(), KindState::kEmpty);
  EXPECT_EQ(follower_.version(), "10");
}

TEST_F(FollowerTest, AKindThatIsNotServedRestsUntilItIsServedAgain) {
  Watching();
  follower_.Unserved();
  EXPECT_EQ(follower_.state(), KindState::kUnserved);
  EXPECT_TRUE(follower_.Tick(now_).stop_watch);
  EXPECT_FALSE(follower_.Due());
  follower_.Served(now_, Buckets());
  EXPECT_TRUE(follower_.gap());
  EXPECT_TRUE(follower_.Tick(now_).list);
}

TEST_F(FollowerTest, AnotherVersionOrScopeIsListedAgain) {
  Watching();
  FollowedKind other = Buckets();
  follower_.Served(now_, other);
  EXPECT_TRUE(follower_.Tick(now_).empty()) << "nothing changed";
  other.selection.kind.namespaced = true;
  follower_.Served(now_, other);
  const FollowerOrders orders = follower_.Tick(now_);
  ASSERT_TRUE(orders.list);
  EXPECT_TRUE(orders.list->selection.kind.namespaced);
}

TEST_F(FollowerTest, AListWithoutVersionIsNoList) {
  (void)follower_.Tick(now_);
  EXPECT_TRUE(follower_.Listed(now_, Page({"{}"}, {}, "")).failed);
  EXPECT_FALSE(follower_.listed());
}

}  // namespace follower_test
}  // namespace truce
