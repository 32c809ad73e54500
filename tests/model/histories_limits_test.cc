// Named histories of limits: what a flood of reservations may take of names and of the audit log.
#include <gtest/gtest.h>

#include <string>

#include "tests/model/scene.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace histories_limits_test {

using scene::ManagedBucket;
using scene::SlotOf;

class HistoriesOfLimits : public ::testing::Test {
 protected:
  ~HistoriesOfLimits() override {
    for (const std::string& breach : CheckInvariants(registry_.Contents())) ADD_FAILURE() << breach;
  }

  testing::StrictStore store_;
  scene::Registry registry_{store_};
};

TEST_F(HistoriesOfLimits, TooManyUnprovedReservationsOfOneNamespaceAreRefused) {
  registry_.limits = {3, 100};
  for (int i = 0; i < 3; ++i) {
    const std::string name = "n" + std::to_string(i);
    ASSERT_TRUE(registry_
                    .Create(ManagedBucket(SlotOf("Bucket", "team-a", name), name, name,
                                          Intent::kDeletes, 1))
                    .allowed);
  }
  registry_.Advance(std::chrono::seconds{61});
  const ObjectFacts more =
      ManagedBucket(SlotOf("Bucket", "team-a", "more"), "more", "more", Intent::kDeletes, 1);
  EXPECT_EQ(registry_.Create(more).limit, ReservationLimit::kOld);
  EXPECT_EQ(registry_.Create(more, "somebody else").limit, ReservationLimit::kOld)
      << "another account of the namespace goes on where the first one ended";
  const ObjectFacts elsewhere =
      ManagedBucket(SlotOf("Bucket", "team-b", "more"), "more", "more", Intent::kDeletes, 1);
  EXPECT_TRUE(registry_.Create(elsewhere).allowed);
}

TEST_F(HistoriesOfLimits, ReservationsOfOneMinuteAreLimitedAcrossUsers) {
  registry_.limits = {3, 5};
  const auto create = [&](int i, const std::string& ns, const std::string& user) {
    const std::string name = ns + std::to_string(i);
    return registry_.Create(
        ManagedBucket(SlotOf("Bucket", ns, name), name, name, Intent::kDeletes, 1), user);
  };
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(create(i, "team-a", "user-" + std::to_string(i)).allowed) << i;
  }
  EXPECT_EQ(create(5, "team-a", "user-9").limit, ReservationLimit::kYoung);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(create(i, "", "ann").allowed) << i;
  EXPECT_EQ(create(5, "", "ann").limit, ReservationLimit::kYoung);
  EXPECT_TRUE(create(6, "", "bob").allowed) << "cluster-scoped: each user's own";
  registry_.See(ManagedBucket(SlotOf("Bucket", "team-a", "team-a0"), "team-a0", "team-a0",
                              Intent::kDeletes, 1));
  EXPECT_TRUE(create(7, "team-a", "user-0").allowed) << "what was seen counts no more";
}

// A rename whose former name was never made leaves nothing: what the provider wrote when it made
// the first one is no word about those that came later.
TEST_F(HistoriesOfLimits, ARenameOfWhatWasNeverMadeLeavesNothing) {
  registry_.limits = {3, 100};
  ObjectFacts before =
      ManagedBucket(SlotOf("Bucket", "team-a", "x"), "x", "n0", Intent::kDeletes, 1);
  ASSERT_TRUE(registry_.Create(before, "ann").allowed);
  registry_.See(before);
  ObjectFacts made = before;
  made.version = 2;
  made.created_marks = "2026-11-21T07:52:08Z 2026-11-21T07:52:09Z ";
  ASSERT_TRUE(registry_.Update(before, made, scene::kProvider).allowed);
  registry_.See(made);
  for (int i = 1; i <= 20; ++i) {
    ObjectFacts now = ManagedBucket(made.slot, "x", "n" + std::to_string(i), Intent::kDeletes,
                                    static_cast<std::uint64_t>(i) + 2);
    now.created_marks = made.created_marks;
    ASSERT_TRUE(registry_.Update(i == 1 ? made : before, now, "ann").allowed) << i;
    registry_.See(now);
    if (i > 1) {
      EXPECT_FALSE(registry_.OwnerOf("n" + std::to_string(i - 1))) << i;
    }
    before = now;
  }
  EXPECT_EQ(registry_.OwnerOf("n0")->record, Record::kOrphaned) << "that one was made";
  EXPECT_EQ(registry_.Contents().owners.size(), 2U);
}

// The cap bounds the names that renames do leave: their resources may exist, and nothing frees
// them.
TEST_F(HistoriesOfLimits, WhatRenamesLeaveCountsToTheCap) {
  registry_.limits = {3, 100};
  ObjectFacts before =
      ManagedBucket(SlotOf("Bucket", "team-a", "x"), "x", "n0", Intent::kDeletes, 1);
  before.real = true;
  ASSERT_TRUE(registry_.Create(before, "ann").allowed);
  registry_.See(before);
  const auto rename = [&](int i) {
    ObjectFacts now = ManagedBucket(before.slot, "x", "n" + std::to_string(i), Intent::kDeletes,
                                    static_cast<std::uint64_t>(i) + 1);
    now.real = true;
    const Decision decision = registry_.Update(before, now, "ann");
    if (!decision.allowed) return decision;
    registry_.See(now);
    before = now;
    return decision;
  };
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(rename(i).allowed) << i;
    EXPECT_EQ(registry_.OwnerOf("n" + std::to_string(i - 1))->record, Record::kOrphaned);
  }
  const Decision decision = rename(4);
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.limit, ReservationLimit::kLeft);
  EXPECT_FALSE(registry_.OwnerOf("n4"));
  // What adds a name and gives none up goes on, and so does every other chain.
  EXPECT_TRUE(
      registry_
          .Create(ManagedBucket(SlotOf("Bucket", "team-a", "y"), "y", "y", Intent::kDeletes, 1),
                  "ann")
          .allowed);
}

// What a creation writes that another admission plugin refuses: all that a flood of them can add.
TEST_F(HistoriesOfLimits, ARefusedCreationAddsTwoLinesToTheAuditLog) {
  const std::size_t before = registry_.Contents().audit.size();
  const ObjectFacts bucket =
      ManagedBucket(SlotOf("Bucket", "team-a", "x"), "u1", "x", Intent::kDeletes, 1);
  ASSERT_TRUE(registry_.Create(bucket).allowed);
  ObjectFacts again = bucket;
  for (const char* uid : {"u2", "u3", "u4"}) {
    again.uid.text = uid;
    ASSERT_TRUE(registry_.Create(again).allowed);
  }
  EXPECT_EQ(registry_.Contents().audit.size(), before + 1) << "repeated, it adds none";
  registry_.Advance(std::chrono::minutes{4});
  for (const Row& row : registry_.Contents().rows)
    registry_.Prove(row.id, {Proof::Answer::kGone, std::nullopt});
  EXPECT_FALSE(registry_.OwnerOf("x"));
  EXPECT_EQ(registry_.Contents().audit.size(), before + 2);
}

}  // namespace histories_limits_test
}  // namespace truce
