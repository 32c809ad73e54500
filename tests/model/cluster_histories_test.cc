// Named histories of a registry that meets a living cluster: lineage, accounts, late proofs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "registry/ownership/ledger.h"
#include "tests/model/scene.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace cluster_histories_test {

using scene::Composite;
using scene::ManagedBucket;
using scene::RefTo;
using scene::SlotOf;

class ClusterHistories : public ::testing::Test {
 protected:
  ~ClusterHistories() override {
    for (const std::string& breach : CheckInvariants(registry_.Contents())) ADD_FAILURE() << breach;
  }

  testing::StrictStore store_;
  scene::Registry registry_{store_};
  const Slot a_ = SlotOf("Bucket", "team-a", "a");
};

TEST_F(ClusterHistories, AnUpdateOfAnOldDeclarationIsProvedATtlAfterItsReview) {
  ObjectFacts observes = ManagedBucket(a_, "u1", "k", Intent::kObserves, 10);
  registry_.See(observes);
  registry_.Advance(std::chrono::hours{24});
  ASSERT_TRUE(
      registry_.Update(observes, ManagedBucket(a_, "u1", "k", Intent::kDeletes, 10)).allowed);
  for (const Row& row : registry_.RowsOf("k")) {
    if (row.id.state != RowState::kReserved) continue;
    EXPECT_EQ(row.at, registry_.now()) << "asked for at once, the object had not changed yet";
  }
}

TEST_F(ClusterHistories, LineageMetFirstMakesOneOwnerOfALiveChain) {
  const Slot claim = SlotOf("Storage", "team-a", "data");
  const Slot composite = SlotOf("XStorage", "", "data-x");
  const Slot leaf = SlotOf("Bucket", "", "data-x-1");
  ObjectFacts bucket = ManagedBucket(leaf, "u3", "k", Intent::kDeletes, 3);
  bucket.lineage.controller = RefTo(composite, "u2");
  ObjectFacts xr = Composite(composite, "u2", "", 2);
  xr.lineage.claim = RefTo(claim, "");
  xr.lineage.resources = {RefTo(leaf, "")};
  ObjectFacts top = Composite(claim, "u1", "k", 1);
  top.lineage.composite = RefTo(composite, "");
  const auto meet = [&](const ObjectFacts& object) {
    registry_.Run([&](Ledger& ledger) { Meet(object, ledger); });
  };
  for (const ObjectFacts* object : {&bucket, &xr, &top}) meet(*object);
  EXPECT_TRUE(registry_.Contents().rows.empty()) << "no declaration is judged by that";
  for (const ObjectFacts* object : {&bucket, &xr, &top}) registry_.See(*object, true);
  EXPECT_EQ(registry_.OwnerOf("k")->root, claim);
  EXPECT_FALSE(registry_.OwnerOf("k")->contested);
  const StoreContents once = registry_.Contents();
  for (const ObjectFacts* object : {&top, &bucket, &xr}) meet(*object);
  EXPECT_EQ(registry_.Contents(), once) << "met again: nothing changes";
}

// The composite came past the webhook, or the registry lost it in a restored etcd: its resource was
// admitted below a composite that nobody knew, which was its root for the time being.
TEST_F(ClusterHistories, AParentMadeKnownLaterGivesItsRootToWhatWaitedBelow) {
  const Slot claim = SlotOf("Storage", "team-a", "data");
  const Slot composite = SlotOf("XStorage", "", "data-x");
  ObjectFacts top = Composite(claim, "u1", "k", 1);
  top.lineage.composite = RefTo(composite, "");
  ObjectFacts xr = Composite(composite, "u2", "", 2);
  xr.lineage.claim = RefTo(claim, "");
  xr.lineage.resources = {RefTo(SlotOf("Bucket", "", "data-x-1"), "")};
  ObjectFacts bucket =
      ManagedBucket(SlotOf("Bucket", "", "data-x-1"), "u3", "j", Intent::kDeletes, 3);
  bucket.lineage.controller = RefTo(composite, "u2");
  registry_.See(top);
  ASSERT_TRUE(registry_.Create(bucket, scene::kCrossplane).allowed);
  ASSERT_EQ(registry_.OwnerOf("j")->root, composite);
  registry_.See(xr);
  EXPECT_EQ(registry_.OwnerOf("j")->root, claim) << "by the watch";
}

TEST_F(ClusterHistories, AParentReviewedLaterGivesItsRootToWhatWaitedBelow) {
  const Slot claim = SlotOf("Storage", "team-a", "data");
  const Slot composite = SlotOf("XStorage", "", "data-x");
  ObjectFacts top = Composite(claim, "u1", "k", 1);
  top.lineage.composite = RefTo(composite, "");
  registry_.See(top);
  ObjectFacts bucket =
      ManagedBucket(SlotOf("Bucket", "", "data-x-1"), "u3", "j", Intent::kDeletes, 3);
  bucket.lineage.controller = RefTo(composite, "u2");
  ASSERT_TRUE(registry_.Create(bucket, scene::kCrossplane).allowed);
  ObjectFacts xr = Composite(composite, "u2", "", 2);
  xr.lineage.claim = RefTo(claim, "");
  ObjectFacts later = xr;
  later.service = "data";
  ASSERT_TRUE(registry_.Update(xr, later, scene::kCrossplane).allowed);
  EXPECT_EQ(registry_.OwnerOf("j")->root, claim);
}

}  // namespace cluster_histories_test
}  // namespace truce
