// Orders of a server for the leader: carried out once, and answered.
#include "webhook/api/orders.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "registry/store/administration.h"
#include "tests/support/fake_clock.h"
#include "tests/support/memory_store.h"

namespace truce {
namespace orders_test {

class OrdersTest : public ::testing::Test {
 protected:
  static Deadline Soon() { return In(std::chrono::seconds(20)); }
  static Order ReleaseOf(const std::string& id) {
    return {.id = id,
            .act = Order::Act::kReleaseBrake,
            .kind = GroupKind{"s3.aws.upbound.io", "Bucket"},
            .word = {"alice", "looked at all"}};
  }
  std::size_t Rows() const { return ReadRows(store_, kOrdersTable, Soon()).value().size(); }
  // As the leader does each second, until there is an order.
  Order TakeOrder() {
    const Deadline patience = Soon();
    while (std::chrono::steady_clock::now() < patience) {
      const auto taken = leader_.Take(store_, Soon());
      if (taken.ok() && !taken.value().empty()) return taken.value().front();
    }
    ADD_FAILURE() << "no order came";
    return {};
  }

  FakeClock clock_{*ParseTimestamp("2026-11-25T12:00:00Z")};
  MemoryStore store_;
  Orders leader_{clock_};
  Orders other_{clock_};
};

TEST_F(OrdersTest, AnOrderIsCarriedOutOnceAndAnswered) {
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
  EXPECT_TRUE(leader_.Answer(store_, ReleaseOf("another"), std::uint64_t{3}, Soon()).ok());
  EXPECT_TRUE(leader_.Answer(store_, order, std::uint64_t{12}, Soon()).ok());
  asking.join();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome.value(), 12U);
}

TEST_F(OrdersTest, TheLeadersErrorIsTheAnswer) {
  Result<std::uint64_t> outcome = std::uint64_t{0};
  Order order = ReleaseOf("one");
  order.act = Order::Act::kStartRecovery;
  order.kind = {};
  std::thread asking([&] { outcome = other_.Ask(store_, order, Soon()); });
  const Order taken = TakeOrder();
  EXPECT_EQ(taken.act, Order::Act::kStartRecovery);
  EXPECT_EQ(taken.kind, GroupKind());
  const Error refused{ErrorCode::kNotFound, "no such kind is followed"};
  EXPECT_TRUE(leader_.Answer(store_, taken, refused, Soon()).ok());
  asking.join();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error(), refused);
}

TEST_F(OrdersTest, AnOrderThatNobodyTookIsWithdrawn) {
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

TEST_F(OrdersTest, AnOrderThatWasTakenAndNotAnsweredIsNotRepeatedBlindly) {
  Result<std::uint64_t> outcome = std::uint64_t{0};
  std::thread asking([&] { outcome = other_.Ask(store_, ReleaseOf("one"), Soon()); });
  TakeOrder();
  other_.Stop();
  asking.join();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::kDeadlineExceeded);
}

// Whoever gave it died before it could withdraw it.
TEST_F(OrdersTest, AnOldOrderIsNoneAnyMore) {
  Result<std::uint64_t> outcome = std::uint64_t{0};
  std::thread asking([&] { outcome = other_.Ask(store_, ReleaseOf("one"), Soon()); });
  while (Rows() == 0) std::this_thread::yield();
  clock_.Advance(Orders::kOrderLife + std::chrono::seconds(1));
  const auto taken = leader_.Take(store_, Soon());
  EXPECT_TRUE(taken.ok() && taken.value().empty());
  other_.Stop();
  asking.join();
  EXPECT_FALSE(outcome.ok());
  EXPECT_EQ(Rows(), 0U);
}

TEST_F(OrdersTest, TooManyAreRefusedAndAnsweredOnesGo) {
  const auto answer = [&](int i) {
    Order order = ReleaseOf(std::to_string(i));
    order.at = clock_.Now();
    return leader_.Answer(store_, order, std::uint64_t{1}, Soon()).ok();
  };
  for (int i = 0; i < static_cast<int>(Orders::kOrdersMax); ++i) ASSERT_TRUE(answer(i));
  const auto refused = other_.Ask(store_, ReleaseOf("more"), Soon());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  clock_.Advance(Orders::kOrderLife + std::chrono::seconds(1));
  ASSERT_TRUE(answer(-1));
  EXPECT_EQ(Rows(), 1U);
}

// Of a later version.
TEST_F(OrdersTest, AnOrderThatIsNotUnderstoodIsNotCarriedOut) {
  TableRow row = kOrdersTable.Row(ReleaseOf("one"));
  row[1] = std::string("start-dancing");
  const auto put = [&](Administration& books) { books.SetTableRows(kOrdersTable, {row}); };
  ASSERT_TRUE(Administer(store_, {}, Soon(), put).ok());
  const auto taken = leader_.Take(store_, Soon());
  EXPECT_TRUE(taken.ok() && taken.value().empty());
}

}  // namespace orders_test
}  // namespace truce
