// Reflector: list, watch, resume, list again, back off, poll.
#include "webhook/watch/reflector.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace truce {
namespace reflector_test {

using namespace std::chrono_literals;

class ReflectorTest : public ::testing::Test {
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
    ASSERT_TRUE(reflector_.Tick(now_).list);
    (void)reflector_.Listed(now_, Page({"{}"}));
    ASSERT_EQ(reflector_.Tick(now_).watch_from, "10");
  }

  Moment now_{1h};
  ReflectorTimes times_;
  Reflector reflector_{Buckets(), times_, 7};
};

TEST_F(ReflectorTest, ListsAllPagesBeforeItWatches) {
  ReflectorOrders orders = reflector_.Tick(now_);
  ASSERT_TRUE(orders.list);
  EXPECT_EQ(orders.list->limit, times_.page);
  EXPECT_TRUE(orders.list->quorum);
  EXPECT_TRUE(reflector_.Tick(now_).empty()) << "one page at a time";
  ReflectorNews news = reflector_.Listed(now_, Page({"a"}, "token"));
  EXPECT_TRUE(news.begins);
  EXPECT_FALSE(news.finished);
  orders = reflector_.Tick(now_);
  ASSERT_TRUE(orders.list);
  EXPECT_EQ(orders.list->next, "token");
  news = reflector_.Listed(now_, Page({"b"}, {}, "99"));
  EXPECT_FALSE(news.begins);
  EXPECT_TRUE(news.finished);
  EXPECT_FALSE(reflector_.gap());
  EXPECT_EQ(reflector_.Tick(now_).watch_from, "10") << "the version of the list's begin";
  EXPECT_EQ(reflector_.state(), KindState::kWatched);
}

TEST_F(ReflectorTest, AnExpiredTokenBeginsTheListAgain) {
  (void)reflector_.Tick(now_);
  (void)reflector_.Listed(now_, Page({"a"}, "token"));
  (void)reflector_.Tick(now_);
  const ReflectorNews news = reflector_.Listed(now_, Failure(ApiErrorKind::kExpired));
  EXPECT_FALSE(news.failed);
  const ReflectorOrders orders = reflector_.Tick(now_);
  ASSERT_TRUE(orders.list) << "at once";
  EXPECT_TRUE(orders.list->next.empty());
  EXPECT_TRUE(reflector_.Listed(now_, Page({"a"})).begins);
}

TEST_F(ReflectorTest, APageThatIsTooLargeIsAskedForInParts) {
  const auto fails = [&] {
    const ReflectorOrders orders = reflector_.Tick(now_);
    (void)reflector_.Listed(now_, Failure(ApiErrorKind::kMalformed));
    now_ += 1min;
    return orders.list ? orders.list->limit : 0;
  };
  EXPECT_EQ(fails(), 500U);
  EXPECT_EQ(fails(), 62U);
  EXPECT_EQ(fails(), 7U);
  EXPECT_EQ(fails(), 1U);
  ReflectorOrders orders = reflector_.Tick(now_);
  ASSERT_TRUE(orders.list);
  EXPECT_EQ(orders.list->limit, 1U);
  (void)reflector_.Listed(now_, Page({"a"}, "token"));
  orders = reflector_.Tick(now_);
  ASSERT_TRUE(orders.list);
  EXPECT_EQ(orders.list->limit, 1U) << "the rest of the list, too";
}

TEST_F(ReflectorTest, AListThatFailsBacksOffAndCountsAsAttempted) {
  (void)reflector_.Tick(now_);
  EXPECT_FALSE(reflector_.attempted());
  EXPECT_TRUE(reflector_.Listed(now_, Failure(ApiErrorKind::kForbidden)).failed);
  EXPECT_TRUE(reflector_.attempted());
  EXPECT_FALSE(reflector_.listed());
  EXPECT_EQ(reflector_.state(), KindState::kFailing);
  EXPECT_TRUE(reflector_.gap());
  EXPECT_TRUE(reflector_.Tick(now_).empty());
  std::chrono::milliseconds longest{};
  for (int i = 0; i < 12; ++i) {
    const Moment due = reflector_.Due().value();
    longest = std::max(longest, std::chrono::duration_cast<std::chrono::milliseconds>(due - now_));
    now_ = due;
    ASSERT_TRUE(reflector_.Tick(now_).list);
    (void)reflector_.Listed(now_, Failure(ApiErrorKind::kServer));
  }
  EXPECT_GE(longest, times_.backoff_max / 2);
  EXPECT_LE(longest, times_.backoff_max);
}

TEST_F(ReflectorTest, RetryAfterIsHonoured) {
  (void)reflector_.Tick(now_);
  (void)reflector_.Listed(now_, ApiError{ApiErrorKind::kThrottled, 429, "slow down", 90s});
  EXPECT_EQ(reflector_.Due(), now_ + 90s);
}

TEST_F(ReflectorTest, DuplicatesReplaysAndBookmarksAreDropped) {
  Watching();
  ReflectorNews news =
      reflector_.Events(now_, {Event("11"), Event("12"), Event("12"), Event("11")});
  ASSERT_EQ(news.events.size(), 2U);
  news = reflector_.Events(now_, {Event("20", WatchEvent::Type::kBookmark), Event("13")});
  EXPECT_TRUE(news.events.empty()) << "older than the bookmark";
  EXPECT_EQ(reflector_.version(), "20");
}

TEST_F(ReflectorTest, AStreamThatEndsIsResumedAfterItsLastVersion) {
  Watching();
  (void)reflector_.Events(now_, {Event("15")});
  now_ += 10s;
  reflector_.Ended(now_, std::nullopt);
  EXPECT_EQ(reflector_.Tick(now_).watch_from, "15");
  EXPECT_FALSE(reflector_.gap());
  now_ += 10s;
  reflector_.Ended(now_, Failure(ApiErrorKind::kUnreachable));
  EXPECT_TRUE(reflector_.Tick(now_).empty()) << "after a back-off";
  now_ = reflector_.Due().value();
  EXPECT_EQ(reflector_.Tick(now_).watch_from, "15");
}

TEST_F(ReflectorTest, LostHistoryIsListedAgain) {
  Watching();
  now_ += 10s;
  reflector_.Ended(now_, Failure(ApiErrorKind::kExpired));
  EXPECT_TRUE(reflector_.gap());
  EXPECT_EQ(reflector_.state(), KindState::kRelisting);
  EXPECT_TRUE(reflector_.Tick(now_).list);
}

TEST_F(ReflectorTest, AVersionThatTheServerHasNotReachedIsLostHistory) {
  Watching();
  now_ += 10s;
  reflector_.Ended(
      now_,
      ApiError{ApiErrorKind::kTimeout, 504, "Too large resource version: 15, current: 3", {}});
  EXPECT_TRUE(reflector_.gap());
  EXPECT_TRUE(reflector_.Tick(now_).list);
  (void)reflector_.Listed(now_, Page({"{}"}, {}, "3"));
  EXPECT_EQ(reflector_.Tick(now_).watch_from, "3") << "the fence goes back with the cluster";
  EXPECT_EQ(reflector_.Events(now_, {Event("4")}).events.size(), 1U);
}

TEST_F(ReflectorTest, AWatchThatEndsAtOnceDoesNotSpin) {
  Watching();
  int starts = 0;
  const Moment end = now_ + 60s;
  while (now_ < end) {
    reflector_.Ended(now_, std::nullopt);
    now_ = reflector_.Due().value();
    if (reflector_.Tick(now_).watch_from) ++starts;
  }
  EXPECT_LT(starts, 20);
}

TEST_F(ReflectorTest, AnEmptyKindIsPolledAndWatchedFromWhereItWasEmpty) {
  (void)reflector_.Tick(now_);
  EXPECT_TRUE(reflector_.Listed(now_, Page({})).finished);
  EXPECT_EQ(reflector_.state(), KindState::kEmpty);
  EXPECT_LE(reflector_.Due().value(), now_ + 2s) << "until a watch can begin at its version";
  now_ = reflector_.Due().value();
  ReflectorOrders orders = reflector_.Tick(now_);
  ASSERT_TRUE(orders.list);
  EXPECT_EQ(orders.list->limit, 1U);
  (void)reflector_.Listed(now_, Page({}, {}, "30"));
  EXPECT_GE(reflector_.Due().value(), now_ + times_.poll * 4 / 5);
  now_ = reflector_.Due().value();
  (void)reflector_.Tick(now_);
  EXPECT_TRUE(reflector_.Listed(now_, Page({"{}"}, "more", "40")).objects.empty());
  EXPECT_EQ(reflector_.Tick(now_).watch_from, "30") << "nothing is missed";
  EXPECT_FALSE(reflector_.gap());
}

TEST_F(ReflectorTest, AnAdmittedDeclarationStartsTheWatchAtOnce) {
  (void)reflector_.Tick(now_);
  (void)reflector_.Listed(now_, Page({}));
  reflector_.Wanted(now_);
  EXPECT_EQ(reflector_.Tick(now_).watch_from, "10");
  reflector_.Wanted(now_);
  EXPECT_TRUE(reflector_.Tick(now_).empty()) << "watched already";
}

TEST_F(ReflectorTest, AListThatRunsWhenItIsToBeginAgainIsDiscarded) {
  (void)reflector_.Tick(now_);
  reflector_.Relist(now_);
  EXPECT_TRUE(reflector_.Tick(now_).empty()) << "the old answer is awaited first";
  EXPECT_FALSE(reflector_.Listed(now_, Page({"old"})).finished);
  EXPECT_TRUE(reflector_.Tick(now_).list);
  EXPECT_TRUE(reflector_.Listed(now_, Page({"new"})).finished);
}

TEST_F(ReflectorTest, RelistStopsTheWatch) {
  Watching();
  reflector_.Relist(now_);
  const ReflectorOrders orders = reflector_.Tick(now_);
  EXPECT_TRUE(orders.stop_watch);
  EXPECT_TRUE(orders.list);
  EXPECT_TRUE(reflector_.Events(now_, {Event("50")}).events.empty()) << "of a stopped stream";
}

TEST_F(ReflectorTest, ARereadLosesNothing) {
  EXPECT_FALSE(reflector_.Reread(now_)) << "not listed yet";
  Watching();
  const std::string version = reflector_.version();
  ASSERT_TRUE(reflector_.Reread(now_));
  const ReflectorOrders orders = reflector_.Tick(now_);
  EXPECT_TRUE(orders.stop_watch);
  EXPECT_TRUE(orders.list);
  ASSERT_TRUE(reflector_.Reread(now_)) << "what is read now was read by other rules";
  EXPECT_FALSE(reflector_.Listed(now_, Page({"old"})).finished);
  EXPECT_TRUE(reflector_.Tick(now_).list);
  const ReflectorNews news = reflector_.Listed(now_, Page({}, {}, "50"));
  EXPECT_TRUE(news.finished);
  EXPECT_TRUE(news.passed.empty());
  EXPECT_FALSE(reflector_.gap());
  EXPECT_EQ(reflector_.Tick(now_).watch_from, version) << "the ends of what is not there are told";
}

TEST_F(ReflectorTest, ARereadOfAnEmptyKindLeavesItEmpty) {
  (void)reflector_.Tick(now_);
  (void)reflector_.Listed(now_, Page({}));
  ASSERT_TRUE(reflector_.Reread(now_));
  EXPECT_TRUE(reflector_.Tick(now_).list);
  (void)reflector_.Listed(now_, Page({}, {}, "50"));
  EXPECT_EQ(reflector_.state(), KindState::kEmpty);
  EXPECT_EQ(reflector_.version(), "10");
}

TEST_F(ReflectorTest, AKindThatIsNotServedRestsUntilItIsServedAgain) {
  Watching();
  reflector_.Unserved();
  EXPECT_EQ(reflector_.state(), KindState::kUnserved);
  EXPECT_TRUE(reflector_.Tick(now_).stop_watch);
  EXPECT_FALSE(reflector_.Due());
  reflector_.Served(now_, Buckets());
  EXPECT_TRUE(reflector_.gap());
  EXPECT_TRUE(reflector_.Tick(now_).list);
}

TEST_F(ReflectorTest, AnotherVersionOrScopeIsListedAgain) {
  Watching();
  FollowedKind other = Buckets();
  reflector_.Served(now_, other);
  EXPECT_TRUE(reflector_.Tick(now_).empty()) << "nothing changed";
  other.selection.kind.namespaced = true;
  reflector_.Served(now_, other);
  const ReflectorOrders orders = reflector_.Tick(now_);
  ASSERT_TRUE(orders.list);
  EXPECT_TRUE(orders.list->selection.kind.namespaced);
}

TEST_F(ReflectorTest, AListWithoutVersionIsNoList) {
  (void)reflector_.Tick(now_);
  EXPECT_TRUE(reflector_.Listed(now_, Page({"{}"}, {}, "")).failed);
  EXPECT_FALSE(reflector_.listed());
}

}  // namespace reflector_test
}  // namespace truce
