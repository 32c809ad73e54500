#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "registry/store/postgres/host_finder.h"

namespace truce {
namespace store_hosts_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kLong{20};

Deadline In(std::chrono::nanoseconds time) { return std::chrono::steady_clock::now() + time; }

// A resolver that answers when it is let go.
class Resolver {
 public:
  ~Resolver() {
    LetGo();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return inside_ == 0; });
  }

  HostFinder::AskFn Fn() {
    return [this](const std::string& host) -> Result<std::vector<std::string>> {
      std::unique_lock lock(mutex_);
      ++asked_;
      ++inside_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return is_let_go_; });
      --inside_;
      changed_.notify_all();
      if (host == "nowhere") return Error{ErrorCode::kUnavailable, "none"};
      return std::vector<std::string>{"10.0.0." + std::to_string(asked_)};
    };
  }
  void LetGo() {
    const std::lock_guard lock(mutex_);
    is_let_go_ = true;
    changed_.notify_all();
  }
  void AwaitAsked(int times) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, kLong, [&] { return asked_ >= times; }));
  }
  int asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int asked_ = 0;
  int inside_ = 0;
  bool is_let_go_ = false;
};

TEST(HostFinder, AResolverThatNeverAnswersHoldsNobodyPastTheDeadline) {
  Resolver resolver;
  HostFinder finder(resolver.Fn());
  const auto begin = std::chrono::steady_clock::now();
  const auto found = finder.Find("db-1", In(milliseconds(50)));
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLong);
}

TEST(HostFinder, NothingWaitsForItsThreadsAtTheEnd) {
  Resolver resolver;
  {
    HostFinder finder(resolver.Fn());
    EXPECT_FALSE(finder.Find("db-1", In(milliseconds(1))).ok());
    resolver.AwaitAsked(1);
  }
  EXPECT_EQ(resolver.asked(), 1);
}

TEST(HostFinder, AHostIsAskedForOnceAtATimeAndAnewAfterwards) {
  Resolver resolver;
  HostFinder finder(resolver.Fn());
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(finder.Find("db-1", In(milliseconds(1))).ok());
  resolver.AwaitAsked(1);
  EXPECT_EQ(resolver.asked(), 1);
  EXPECT_FALSE(finder.Find("db-2", In(milliseconds(1))).ok());
  resolver.AwaitAsked(2);
  std::thread other([&] { EXPECT_TRUE(finder.Find("db-1", In(kLong)).ok()); });
  resolver.LetGo();
  other.join();
  const int before = resolver.asked();
  const auto found = finder.Find("db-1", In(kLong));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(resolver.asked(), before + 1);
}

TEST(HostFinder, WhatTheResolverSaysIsTheAnswer) {
  Resolver resolver;
  resolver.LetGo();
  HostFinder finder(resolver.Fn());
  const auto found = finder.Find("db-1", In(kLong));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value(), std::vector<std::string>{"10.0.0.1"});
  const auto none = finder.Find("nowhere", In(kLong));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kUnavailable);
}

TEST(HostFinder, TheSystemsResolverKnowsThisMachineAndNoInvalidName) {
  HostFinder finder;
  const auto found = finder.Find("localhost", In(kLong));
  ASSERT_TRUE(found.ok()) << found.error().message;
  for (const std::string& address : found.value()) {
    EXPECT_TRUE(address == "127.0.0.1" || address == "::1") << address;
  }
  const auto none = finder.Find("nowhere.invalid", In(kLong));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kUnavailable);
}

}  // namespace store_hosts_test
}  // namespace truce
