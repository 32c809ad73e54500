// The table of one object's life, and why a name is not free.
#include "registry/ownership/life.h"

#include <gtest/gtest.h>

#include "registry/ownership/rows.h"

namespace truce {
namespace life_test {

TEST(LifeTest, AVersionThatIsNotLaterSaysNothing) {
  EXPECT_EQ(NextStep(LifeEvidence::kShown, {.version = 5, .newest = 5}), LifeStep::kIgnore);
  EXPECT_EQ(NextStep(LifeEvidence::kShown, {.version = 4, .newest = 5}), LifeStep::kIgnore);
  EXPECT_EQ(NextStep(LifeEvidence::kShown, {.version = 6, .newest = 5}), LifeStep::kSee);
  EXPECT_EQ(NextStep(LifeEvidence::kShown, {.version = 6}), LifeStep::kSee);
  EXPECT_EQ(NextStep(LifeEvidence::kShown, {.newest = 5}), LifeStep::kSee) << "no number";
}

TEST(LifeTest, AListShowsWhatNobodyWatched) {
  EXPECT_EQ(NextStep(LifeEvidence::kListed, {.version = 5, .newest = 5}), LifeStep::kSeeAgain);
  EXPECT_EQ(NextStep(LifeEvidence::kListed, {.version = 5}), LifeStep::kSeeUnwatched);
  EXPECT_EQ(NextStep(LifeEvidence::kListed, {.version = 5, .stored = 5}), LifeStep::kSeeStored);
  EXPECT_EQ(NextStep(LifeEvidence::kListed, {.version = 6, .stored = 5}), LifeStep::kSeeUnwatched);
  EXPECT_EQ(NextStep(LifeEvidence::kListed, {.version = 8, .goes_on = 7}), LifeStep::kIgnore)
      << "its watch shows it";
  EXPECT_EQ(NextStep(LifeEvidence::kListed, {.version = 4, .newest = 5, .goes_on = 7}),
            LifeStep::kIgnore)
      << "a quorum read ran ahead of the list";
}

TEST(LifeTest, AnEndWaitsForItsProviderConfig) {
  Life life{.version = 9, .settled = 7};
  EXPECT_EQ(NextStep(LifeEvidence::kDeleted, life), LifeStep::kEnd);
  life.by_config = true;
  EXPECT_EQ(NextStep(LifeEvidence::kDeleted, life), LifeStep::kAwaitConfig);
  life.has_room = false;
  EXPECT_EQ(NextStep(LifeEvidence::kDeleted, life), LifeStep::kEndUnproved);
  EXPECT_EQ(NextStep(LifeEvidence::kDeleted, {.version = 9, .by_config = true}),
            LifeStep::kEndUnproved);
  EXPECT_EQ(NextStep(LifeEvidence::kConfig, {}), LifeStep::kAwaitConfig);
  EXPECT_EQ(NextStep(LifeEvidence::kConfig, {.late = true}), LifeStep::kEndUnproved);
  EXPECT_EQ(NextStep(LifeEvidence::kConfig, {.config_known = true}), LifeStep::kEndUnproved);
  EXPECT_EQ(NextStep(LifeEvidence::kConfig, {.config_known = true, .config_same = true}),
            LifeStep::kEnd);
}

TEST(LifeTest, AListOnlyNominates) {
  using Rows = Life::Rows;
  const auto step = [](Rows rows, bool is_old, bool whole) {
    return NextStep(LifeEvidence::kUnlisted, {.rows = rows, .is_old = is_old, .whole = whole});
  };
  EXPECT_EQ(step(Rows::kSeen, true, true), LifeStep::kLoseAndLookFor);
  EXPECT_EQ(step(Rows::kSeen, false, false), LifeStep::kLookFor);
  EXPECT_EQ(step(Rows::kReserved, true, false), LifeStep::kLose);
  EXPECT_EQ(step(Rows::kReserved, true, true), LifeStep::kIgnore);
  EXPECT_EQ(step(Rows::kReserved, false, false), LifeStep::kIgnore);
  EXPECT_EQ(step(Rows::kNone, true, true), LifeStep::kLookFor);
  EXPECT_EQ(step(Rows::kNone, false, false), LifeStep::kIgnore);
  EXPECT_EQ(NextStep(LifeEvidence::kStored, {.is_old = true}), LifeStep::kLookFor);
  EXPECT_EQ(NextStep(LifeEvidence::kStored, {.is_old = true, .gap = true}), LifeStep::kIgnore);
  EXPECT_EQ(NextStep(LifeEvidence::kStored, {.is_old = true, .frozen = true}), LifeStep::kIgnore);
  EXPECT_EQ(NextStep(LifeEvidence::kNotThere, {}), LifeStep::kRelease);
  EXPECT_EQ(NextStep(LifeEvidence::kNotThere, {.frozen = true}), LifeStep::kHoldBack);
}

TEST(LifeTest, AQuorumReadCountsWhenTheWatchHasShownAsMuch) {
  EXPECT_EQ(NextStep(LifeEvidence::kReadFailed, {}), LifeStep::kAskAgain);
  EXPECT_EQ(NextStep(LifeEvidence::kReadFailed, {.overtaken = true}), LifeStep::kAskAtOnce);
  EXPECT_EQ(NextStep(LifeEvidence::kRead, {.overtaken = true}), LifeStep::kAskAtOnce);
  EXPECT_EQ(NextStep(LifeEvidence::kRead, {.gap = true, .blind = true}), LifeStep::kAskAgain);
  EXPECT_EQ(NextStep(LifeEvidence::kRead, {}), LifeStep::kProveGone) << "only missing objects";
  Life life{.rows = Life::Rows::kReserved, .read = 8, .passed = 7};
  EXPECT_EQ(NextStep(LifeEvidence::kRead, life), LifeStep::kAwaitWatch);
  life.passed = 8;
  EXPECT_EQ(NextStep(LifeEvidence::kRead, life), LifeStep::kProveGone);
  Life found{.version = 5, .newest = 4, .read = 8, .found = true};
  EXPECT_EQ(NextStep(LifeEvidence::kRead, found), LifeStep::kAwaitWatch);
  found.late = true;
  EXPECT_EQ(NextStep(LifeEvidence::kRead, found), LifeStep::kProve);
  found.newest = 6;
  EXPECT_EQ(NextStep(LifeEvidence::kRead, found), LifeStep::kProveOnly);
}

class WhyNotFreeTest : public ::testing::Test {
 protected:
  WhyNotFreeTest() {
    owner_.root = slot_;
    owner_.since = *ParseTimestamp("2026-11-21T08:00:00Z");
    row_.id = {{"resource"}, {"uid"}, RowState::kSeen};
    row_.slot = row_.root = slot_;
    row_.intent = Intent::kDeletes;
    row_.managed = true;
    row_.at = owner_.since;
  }
  std::string Why(const std::string& doubt = {}) const {
    return WhyNotFree(owner_, rows_, [&](const Slot&) { return doubt; });
  }

  const Slot slot_{"test", "s3.aws.upbound.io", "Bucket", "", "logs"};
  Owner owner_;
  Row row_;
  std::vector<Row> rows_;
};

TEST_F(WhyNotFreeTest, SomebodyHoldsIt) {
  rows_ = {row_};
  EXPECT_EQ(Why(), "held by Bucket.s3.aws.upbound.io logs since 2026-11-21T08:00:00Z");
  EXPECT_EQ(Why("it is being looked for"), "it is being looked for");
  rows_[0].terminating = true;
  EXPECT_EQ(Why(),
            "held by Bucket.s3.aws.upbound.io logs, which is being deleted, and waits for its end");
}

TEST_F(WhyNotFreeTest, AReservationWaitsForItsProof) {
  row_.id.state = RowState::kReserved;
  rows_ = {row_};
  EXPECT_EQ(
      Why(),
      "reserved for Bucket.s3.aws.upbound.io logs, and waits since 2026-11-21T08:00:00Z until "
      "it is seen, or a quorum read of it finds nothing");
  rows_.push_back(row_);
  rows_[1].id.state = RowState::kSeen;
  EXPECT_EQ(Why(), "held by Bucket.s3.aws.upbound.io logs since 2026-11-21T08:00:00Z");
}

TEST_F(WhyNotFreeTest, ARecordWaitsForPeople) {
  owner_.record = Record::kOrphaned;
  EXPECT_EQ(Why(),
            "orphaned since 2026-11-21T08:00:00Z: nothing proves that the resource is gone; it "
            "waits for its party to declare it again, or for an operator to release it");
  owner_.record = Record::kTransferring;
  owner_.successor = "team-b";
  EXPECT_EQ(Why(), "orphaned since 2026-11-21T08:00:00Z, and waits for team-b to declare it");
  owner_.record = Record::kImported;
  owner_.root = ImportRoot("terraform:network");
  EXPECT_EQ(Why(), "owned outside of Kubernetes, by terraform:network");
}

}  // namespace life_test
}  // namespace truce
