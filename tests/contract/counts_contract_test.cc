// The contract of what is counted (Facts::CountOwned, CountReserved): in the state that a decision
// changes, on every store.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/contract/every_store.h"
#include "tests/support/recount.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace counts_contract_test {

constexpr std::string_view kAccount = "123456789012";

// An ownership of the resource `name` that lies there.
Owner OwnerAt(std::string_view name, std::string_view account, std::string_view region,
              std::string_view ns) {
  Owner owner = SampleOwner(name, "u1");
  owner.identity.account = account;
  owner.identity.region = region;
  owner.root.ns = ns;
  return owner;
}

class CountsContract : public StoreContract {
 protected:
  void TearDown() override { EXPECT_EQ(Miscounts(store()), std::vector<std::string>()); }

  std::uint64_t Count(const OwnedRange& range) {
    std::uint64_t count = 0;
    OnFacts([&](const Facts& facts) { count = facts.CountOwned(range); });
    return count;
  }
  static OwnedRange Buckets(std::string account = {}, std::string region = {},
                            std::string ns = {}) {
    OwnedRange range{
        .type = "s3/Bucket", .account = std::move(account), .region = std::move(region)};
    if (!ns.empty()) range.namespaces = {{SampleSlot("a").cluster, std::move(ns)}};
    return range;
  }
};

TEST_P(CountsContract, CountsByTypeAccountRegionAndNamespace) {
  Changes changes;
  changes.put_owners = {
      OwnerAt("a", kAccount, "eu-west-1", "team-a"), OwnerAt("b", kAccount, "us-east-1", "team-a"),
      OwnerAt("c", "?provisional account", "eu-west-1", "team-a"),
      OwnerAt("d", "", "eu-west-1", "team-b"), OwnerAt("e", "210987654321", "", "")};
  changes.put_owners[4].identity.type = "sqs/Queue";
  WriteAll(changes);
  const std::string account(kAccount);
  EXPECT_EQ(Count(Buckets()), 4U);
  EXPECT_EQ(Count(Buckets(account)), 2U);
  EXPECT_EQ(Count(Buckets(account, "us-east-1")), 1U);
  EXPECT_EQ(Count(Buckets("", "eu-west-1")), 3U);
  EXPECT_EQ(Count(Buckets("", "", "team-a")), 3U);
  EXPECT_EQ(Count(Buckets(account, "", "team-a")), 2U);
  EXPECT_EQ(Count(Buckets("", "eu-west-1", "team-b")), 1U);
  EXPECT_EQ(Count(Buckets("210987654321")), 0U);
  EXPECT_EQ(Count(Buckets("", "", "team")), 0U);
  EXPECT_EQ(Count({.type = "sqs/Queue"}), 1U);
  EXPECT_EQ(Count({.type = "sns/Topic"}), 0U);
  OwnedRange both = Buckets("", "eu-west-1", "team-a");
  both.namespaces.emplace_back(SampleSlot("a").cluster, "team-b");
  EXPECT_EQ(Count(both), 3U);
  OnFacts([](const AllFacts& facts) {
    EXPECT_EQ(facts.PlacesOf("s3/Bucket", 9).size(), 4U);
    EXPECT_EQ(facts.PlacesOf("s3/Bucket", 2).size(), 2U);
    EXPECT_TRUE(facts.PlacesOf("sns/Topic", 9).empty());
  });
}

TEST_P(CountsContract, FollowsAnOwnershipWhereverItGoes) {
  Changes changes;
  changes.put_owners = {OwnerAt("a", "?provisional account", "eu-west-1", "team-a")};
  WriteAll(changes);
  const std::string account(kAccount);
  EXPECT_EQ(Count(Buckets(account)), 0U);
  changes.put_owners[0].identity.account = account;  // it becomes known
  WriteAll(changes);
  EXPECT_EQ(Count(Buckets(account)), 1U);
  changes.put_owners[0].root.ns = "team-b";  // transferred
  changes.put_owners[0].record = Record::kOrphaned;
  WriteAll(changes);
  EXPECT_EQ(Count(Buckets("", "", "team-a")), 0U);
  EXPECT_EQ(Count(Buckets("", "", "team-b")), 1U) << "orphaned ones count";
  // Another resource: dropped and put in one change.
  Changes moved;
  moved.drop_owners = {SampleId("a")};
  moved.put_owners = {OwnerAt("b", account, "eu-west-1", "team-b")};
  WriteAll(moved);
  EXPECT_EQ(Count(Buckets(account)), 1U);
  if (kind_->Reopen()) {
    EXPECT_EQ(Count(Buckets(account, "eu-west-1", "team-b")), 1U);
  }
  Changes released;
  released.drop_owners = {SampleId("b"), SampleId("b"), SampleId("never")};
  WriteAll(released);
  EXPECT_EQ(Count(Buckets()), 0U);
}

TEST_P(CountsContract, OfSeveralPutsOfOneOwnerTheLastCounts) {
  Changes changes;
  changes.put_owners = {OwnerAt("a", kAccount, "eu-west-1", "team-a"),
                        OwnerAt("a", kAccount, "eu-west-1", "team-b")};
  WriteAll(changes);
  EXPECT_EQ(Count(Buckets()), 1U);
  EXPECT_EQ(Count(Buckets("", "", "team-b")), 1U);
}

TEST_P(CountsContract, WhatIsRefusedDoesNotCount) {
  Changes broken = SampleCreate("a", "u1");
  broken.put_rows[0].id.resource = SampleId("other");  // a reservation without owner
  EXPECT_FALSE(Write(store(), broken).ok());
  EXPECT_EQ(Count(Buckets()), 0U);
}

// Many at once, so that a batch holds several: whoever counts sees what stands before it there.
TEST_P(CountsContract, TheLastPlaceIsTakenOnce) {
  constexpr std::size_t kMax = 20;
  constexpr std::size_t kThreads = 8;
  const auto create_all = [&](std::size_t thread) {
    for (std::size_t i = 0; i < kMax; ++i) {
      const std::string name = std::to_string(thread) + "-" + std::to_string(i);
      const DecideFn decide = [&](const AllFacts& facts) {
        return facts.CountOwned(Buckets()) < kMax ? SampleCreate(name, "u" + name) : Changes{};
      };
      EXPECT_TRUE(store().Apply({}, decide, Soon()).ok());
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) threads.emplace_back(create_all, i);
  }
  EXPECT_EQ(Count(Buckets()), kMax);
}

TEST_P(CountsContract, ReservationsAsTheyAreAfterTheyChangedOrWent) {
  const std::string ns = SampleSlot("a").ns;
  const auto counted = [&](const ReservedRange& range) {
    std::size_t count = 0;
    OnFacts([&](const Facts& facts) { count = facts.CountReserved(range, {}, 99); });
    return count;
  };
  Changes changes;
  for (const char* uid : {"u1", "u2", "u3"}) {
    changes.put_rows.push_back(SampleRow("a", uid));
    changes.put_rows.back().user = "alice";
    changes.put_rows.back().at = At(5);
  }
  changes.put_owners.push_back(SampleOwner("a", "u1"));
  WriteAll(changes);
  EXPECT_EQ(counted({.ns = ns, .from = At(5)}), 3U);

  Changes later;
  later.put_rows = {changes.put_rows[0], changes.put_rows[1]};
  later.put_rows[0].at = At(9);
  later.put_rows[1].slot.ns = "elsewhere";
  WriteAll(later);
  EXPECT_EQ(counted({.ns = ns}), 2U);
  EXPECT_EQ(counted({.ns = ns, .from = At(6)}), 1U);
  EXPECT_EQ(counted({.ns = "elsewhere"}), 1U);

  Changes nobodys;
  nobodys.put_rows = {later.put_rows[0]};
  nobodys.put_rows[0].user.clear();
  nobodys.drop_rows = {changes.put_rows[2].id};
  WriteAll(nobodys);
  EXPECT_EQ(counted({.ns = ns}), 0U);
  EXPECT_EQ(counted({.ns = "elsewhere"}), 1U);
}

INSTANTIATE_TEST_SUITE_P(Stores, CountsContract, EveryStore(), NameOfStore);

}  // namespace counts_contract_test
}  // namespace truce::testing
