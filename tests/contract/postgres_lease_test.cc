// Which of the servers on one PostgreSQL database may do what one of them may do.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <latch>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "registry/store/postgres/postgres_store.h"
#include "tests/support/postgres_server.h"
#include "tests/support/store_contents.h"
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
  // As if those that share had given no sign for long.
  void EndSigns() {
    // They do not give one in between.
    ASSERT_EQ(outsider_.Run("UPDATE truce.replicas SET holder = holder || ' that was', expires = "
                            "clock_timestamp()"),
              "");
  }
  // Asks until those that say another word stood aside.
  static void TakeTurns(PostgresStore& store, const std::string& holder, const std::string& word) {
    const Deadline until = Soon();
    while (store.BecomeActive(holder, word, until).value().has_value()) {
      ASSERT_LT(std::chrono::steady_clock::now(), until);
    }
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

// Who says nothing waits until all of them have ended, and then writes alone.
TEST_F(PostgresLease, IsSharedByThoseWhoSayTheSame) {
  auto alone = OpenAt(url_);
  Share();
  EXPECT_EQ(one_->epoch(), two_->epoch());
  EXPECT_TRUE(Writes(*one_, "a"));
  EXPECT_TRUE(Writes(*two_, "b"));
  const auto waits = alone->BecomeActive("one", std::nullopt, Soon()).value();
  ASSERT_TRUE(waits.has_value()) << "even under the name of one of them";
  EndSigns();
  ASSERT_FALSE(alone->BecomeActive("alone", std::nullopt, Soon()).value().has_value());
  EXPECT_GT(alone->epoch(), one_->epoch());
  ExpectRefused(*one_, "c");
  ExpectRefused(*two_, "c");
  EXPECT_TRUE(Writes(*alone, "c"));
  const auto third = OpenAt(url_);
  EXPECT_TRUE(third->BecomeActive("third", "recipe", Soon()).value().has_value());
  alone.reset();
  EXPECT_FALSE(third->BecomeActive("third", "recipe", Soon()).value().has_value());
}

TEST_F(PostgresLease, ASharedOneIsGivenBackByTheLastThatEnds) {
  auto first = OpenAt(url_);
  auto last = OpenAt(url_);
  const auto alone = OpenAt(url_);
  ASSERT_FALSE(first->BecomeActive("first", "recipe", Soon()).value().has_value());
  ASSERT_FALSE(last->BecomeActive("last", "recipe", Soon()).value().has_value());
  first.reset();
  const auto waits = alone->BecomeActive("alone", std::nullopt, Soon()).value();
  ASSERT_TRUE(waits.has_value());
  EXPECT_EQ(waits->holder, "last");
  last.reset();
  EXPECT_FALSE(alone->BecomeActive("alone", std::nullopt, Soon()).value().has_value());
}

TEST_F(PostgresLease, ThoseThatSayAnotherWordStandAsideForWhoAnnouncesItself) {
  Share();
  EXPECT_TRUE(Writes(*one_, "a"));
  const auto newer = OpenAt(url_);
  ASSERT_TRUE(newer->BecomeActive("newer", "new recipe", Soon()).value().has_value())
      << "they have not seen it yet";
  TakeTurns(*newer, "newer", "new recipe");
  for (PostgresStore* store : {one_.get(), two_.get()}) {
    EXPECT_TRUE(store->is_standby());
    EXPECT_EQ(store->FatalFailure(), std::nullopt) << "somebody else ends it";
    const auto refused = Write(*store, SampleCreate("b", "u2"));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable) << refused.error().message;
    EXPECT_FALSE(store->Read([](const AllFacts&) {}, Soon()).ok());
  }
  EXPECT_GT(newer->epoch(), one_->epoch());
  EXPECT_TRUE(Writes(*newer, "b"));
  // Nobody that was there before comes back beside it, also when it starts again.
  const auto again = OpenAt(url_);
  const auto waits = again->BecomeActive("one", "recipe", Soon()).value();
  ASSERT_TRUE(waits.has_value());
  EXPECT_EQ(waits->holder, "newer");
  EXPECT_EQ(outsider_.Run("SELECT 1 / (word LIKE '%new recipe')::integer FROM truce.wanted()"), "");
  // A roll-back is a take-over like any.
  const auto older = OpenAt(url_);
  TakeTurns(*older, "older", "recipe");
  EXPECT_TRUE(newer->is_standby());
  EXPECT_FALSE(again->BecomeActive("one", "recipe", Soon()).value().has_value());
  EXPECT_EQ(again->epoch(), older->epoch());
  EXPECT_TRUE(Writes(*older, "c"));
}

TEST_F(PostgresLease, WhoIsNoOtherVersionOfThemIsWaitedForAndWaits) {
  auto first = OpenAt(url_);
  const auto other = OpenAt(url_);
  ASSERT_FALSE(first->BecomeActive("first", "recipe of one", Soon()).value().has_value());
  const auto waits = other->BecomeActive("other", "new recipe of another", Soon()).value();
  ASSERT_TRUE(waits.has_value());
  EXPECT_EQ(waits->holder, "first");
  EXPECT_EQ(outsider_.Run("SELECT 1 / (count(*) = 1)::integer FROM truce.replicas"), "")
      << "it is not announced";
  EXPECT_TRUE(Writes(*first, "a"));
  first.reset();
  EXPECT_FALSE(other->BecomeActive("other", "new recipe of another", Soon()).value().has_value());
}

TEST_F(PostgresLease, WhoStoodAsideHoldsItAgainWhenTheNewcomerIsGoneWithoutIt) {
  Share();
  const auto newer = OpenAt(url_);
  // One more holds the lease and does not stand aside.
  ASSERT_EQ(outsider_.Run("INSERT INTO truce.replicas SELECT 'still', word, announced - interval "
                          "'1 s', epoch, clock_timestamp() + interval '1 h' FROM truce.replicas "
                          "WHERE holder = 'one'"),
            "");
  while (!one_->is_standby() || !two_->is_standby()) {
    ASSERT_TRUE(newer->BecomeActive("newer", "new recipe", Soon()).value().has_value());
  }
  ASSERT_EQ(outsider_.Run("DELETE FROM truce.replicas WHERE holder = 'newer'"), "");
  while (one_->is_standby() || two_->is_standby()) std::this_thread::yield();
  EXPECT_TRUE(Writes(*one_, "a"));
  EXPECT_TRUE(Writes(*two_, "b"));
  EXPECT_EQ(one_->epoch(), two_->epoch());
}

TEST_F(PostgresLease, WhoStoodAsideIsLostWhenTheNewcomerHadTheLeaseAndIsGone) {
  Share();
  auto newer = OpenAt(url_);
  TakeTurns(*newer, "newer", "new recipe");
  newer.reset();
  const Deadline until = Soon();
  while (!one_->FatalFailure() && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
  ASSERT_TRUE(one_->FatalFailure().has_value());
  EXPECT_EQ(one_->FatalFailure()->code, ErrorCode::kConflict);
  ExpectRefused(*one_, "a");
  const auto again = OpenAt(url_);
  EXPECT_FALSE(again->BecomeActive("one", "recipe", Soon()).value().has_value());
  EXPECT_TRUE(Writes(*again, "a"));
}

constexpr const char* kKeys = "keys";  // the word of the keys that the registry has

// One server of some version, until it is told to end: asks for the registry, re-keys it, decides.
class VersionedServer final {
 public:
  VersionedServer(const std::string& url, std::string holder, std::string word)
      : store_(OpenAt(url, std::chrono::seconds{1})),
        holder_(std::move(holder)),
        word_(std::move(word)),
        thread_([this](const std::stop_token& ended) { Run(ended); }) {}

  int decided() const { return decided_; }
  int strange() const { return strange_; }

 private:
  void Run(const std::stop_token& ended) {
    while (true) {
      if (ended.stop_requested()) return;
      const auto other = store_->BecomeActive(holder_, word_, Soon());
      if (other.ok() && !other.value()) break;
    }
    const auto rekey = [&](const AllFacts&) {
      Changes changes;
      changes.put_settings = {{kKeys, word_}};
      return changes;
    };
    if (!store_->Apply({}, rekey, Soon()).ok()) return;
    while (!ended.stop_requested() && !store_->FatalFailure()) {
      std::string seen;
      const auto decide = [&](const AllFacts& facts) {
        seen = facts.Setting(kKeys).value_or("");
        Changes changes;
        changes.put_settings = {{"last of " + word_, holder_}};
        return changes;
      };
      if (store_->Apply({}, decide, Soon()).ok()) Note(seen);
      const auto look = [&](const AllFacts& facts) { seen = facts.Setting(kKeys).value_or(""); };
      if (store_->Read(look, Soon()).ok()) Note(seen);
    }
  }
  void Note(const std::string& seen) {
    ++decided_;
    if (seen != word_) ++strange_;
  }

  const std::unique_ptr<PostgresStore> store_;
  const std::string holder_;
  const std::string word_;
  std::atomic<int> decided_ = 0;
  std::atomic<int> strange_ = 0;
  std::jthread thread_;  // last: it uses all of the above
};

// Servers of three versions come and go; some are forgotten by the database, as those are that
// stand still for long.
TEST_F(PostgresLease, NothingIsDecidedOnTheKeysOfAnotherWord) {
  constexpr int kEvents = 15;
  constexpr std::size_t kServersMax = 4;
  std::mt19937 random(5);
  std::deque<std::unique_ptr<VersionedServer>> servers;
  int decided = 0;
  for (int event = 0; event < kEvents; ++event) {
    const std::string holder = "server-" + std::to_string(random() % 6);
    const std::string word = "word-" + std::to_string(random() % 3);
    servers.push_back(std::make_unique<VersionedServer>(url_, holder, word));
    const Deadline until = In(std::chrono::milliseconds{random() % 800});
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    if (random() % 4 == 0) {
      ASSERT_EQ(
          outsider_.Run("UPDATE truce.replicas SET expires = clock_timestamp() WHERE holder = "
                        "(SELECT holder FROM truce.replicas ORDER BY random() LIMIT 1)"),
          "");
    }
    while (servers.size() >= kServersMax) {
      decided += servers.front()->decided();
      EXPECT_EQ(servers.front()->strange(), 0) << "event " << event;
      servers.pop_front();
    }
  }
  EXPECT_GT(decided, kEvents);
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
  EXPECT_EQ(ContentsOf(two_->watch_store()).value(), ContentsOf(*one_).value());
  // Given back, it is the next one's at once.
  one_->GiveWatchBack();
  ASSERT_FALSE(two_->TakeWatch("two", Soon()).value().has_value());
  EXPECT_TRUE(Writes(two_->watch_store(), "e"));
  ExpectRefused(one_->watch_store(), "f");
  EXPECT_TRUE(Writes(*one_, "f"));
  EXPECT_EQ(one_->FatalFailure(), std::nullopt) << "what was given back is not lost";
}

TEST_F(PostgresLease, AnActiveServerWithoutTheOthersEndsTheirWatchToo) {
  Share();
  ASSERT_FALSE(one_->TakeWatch("one", Soon()).value().has_value());
  const auto alone = OpenAt(url_);
  EndSigns();
  ASSERT_FALSE(alone->BecomeActive("alone", std::nullopt, Soon()).value().has_value());
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
    static_cast<void>(facts.OwnerOf(SampleId("a")));
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
  EXPECT_TRUE(ContentsOf(*two_).value().owners.empty());
  EXPECT_TRUE(Writes(*one_, "b"));
  EXPECT_TRUE(Writes(two_->watch_store(), "c"));
}

TEST_F(PostgresLease, WhoLostTheWatchIsToldAtTheNextSign) {
  const auto quick = OpenAt(url_, std::chrono::seconds{1});
  ASSERT_FALSE(quick->BecomeActive("quick", "recipe", Soon()).value().has_value());
  ASSERT_FALSE(quick->TakeWatch("quick", Soon()).value().has_value());
  EXPECT_EQ(quick->FatalFailure(), std::nullopt);
  ASSERT_FALSE(two_->BecomeActive("two", "recipe", Soon()).value().has_value());
  TakeOver(*two_, "two");
  const Deadline until = Soon();
  while (!quick->FatalFailure() && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
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
        static_cast<void>(facts.OwnerOf(SampleId(name)));
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
  std::optional<Result<std::optional<OtherServer>>> tried;
  // Each time that its holder renews it in between, it ends anew.
  do {
    EndWatch();
    tried = two_->TakeWatch("two", In(std::chrono::milliseconds{300}));
  } while (tried->ok() && tried->value().has_value());
  EXPECT_EQ(tried->ok() ? std::nullopt : std::optional(tried->error().code),
            ErrorCode::kDeadlineExceeded);
  watch_may_end.count_down();
  watch.join();
  // Who gave up waiting did not get it afterwards.
  EXPECT_TRUE(Writes(one_->watch_store(), "after"));
  TakeOver(*two_, "two");
  EXPECT_TRUE(OwnerIn(*two_, SampleId(of_watch)));
  ExpectRefused(one_->watch_store(), "late");
  review_may_end.count_down();
  review.join();
  EXPECT_TRUE(OwnerIn(*two_, SampleId(of_review)));
}

}  // namespace postgres_lease_test
}  // namespace truce::testing
