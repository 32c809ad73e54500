// The watcher over a small cluster: what lists, watches, proofs and absences make of the registry.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/store_contents.h"
#include "tests/support/watcher_fixture.h"

namespace truce::testing {
namespace watcher_test {

TEST_F(WatcherTest, TheFirstStartRecordsWhatIsThereAndOnlyThenIsReady) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  EXPECT_FALSE(driver_->watcher().ready());
  driver_->Settle();
  EXPECT_TRUE(driver_->watcher().ready());
  ASSERT_TRUE(OwnerOf("alpha"));
  EXPECT_EQ(OwnerOf("alpha")->state, HolderState::kHeld);
  EXPECT_TRUE(OwnerOf("alpha")->real);
  EXPECT_EQ(seen_.sighted.size(), 1U);
  EXPECT_TRUE(driver_->watcher().resynced());
}

TEST_F(WatcherTest, AClusterWithoutCrossplaneStartsAndSaysSo) {
  cluster_.Stop(kBucket);
  cluster_.Stop(kQueue);
  driver_->Settle();
  EXPECT_TRUE(driver_->watcher().ready());
  EXPECT_FALSE(driver_->watcher().status().crossplane);
}

TEST_F(WatcherTest, TheOldestOfUnrecordedOnesIsTheIncumbent) {
  SmallObject younger = Real(Bucket("a", "u1", "alpha"));
  younger.created = "2026-03-01T00:00:00Z";
  SmallObject older = Real(Bucket("b", "u2", "alpha"));
  older.created = "2026-02-01T00:00:00Z";
  cluster_.Put(younger);
  cluster_.Put(older);
  driver_->Settle();
  ASSERT_TRUE(OwnerOf("alpha"));
  EXPECT_EQ(OwnerOf("alpha")->root.name, "b");
  EXPECT_TRUE(OwnerOf("alpha")->contested);
}

TEST_F(WatcherTest, ReservedHeldDeletedFree) {
  cluster_.Put(Real(Bucket("other", "u0", "other")));
  driver_->Settle();
  Admit(Bucket("a", "u1", "alpha"));
  EXPECT_EQ(OwnerOf("alpha")->state, HolderState::kReserved);
  cluster_.Put(Bucket("a", "u1", "alpha"));
  driver_->Settle();
  EXPECT_EQ(OwnerOf("alpha")->state, HolderState::kHeld);
  EXPECT_FALSE(OwnerOf("alpha")->real);
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  cluster_.Put(Finished(Bucket("a", "u1", "alpha")));
  cluster_.Remove(kBucket, "", "a");
  driver_->Settle();
  EXPECT_FALSE(OwnerOf("alpha")) << "a witnessed end";
  EXPECT_TRUE(seen_.gone.contains("u1"));
}

TEST_F(WatcherTest, TheFirstObjectOfAnEmptyKindIsSeenWithoutGap) {
  driver_->Settle();
  Admit(Bucket("a", "u1", "alpha"));
  cluster_.Put(Bucket("a", "u1", "alpha"));
  driver_->Settle();
  ASSERT_TRUE(OwnerOf("alpha"));
  EXPECT_EQ(OwnerOf("alpha")->state, HolderState::kHeld);
  EXPECT_FALSE(OwnerOf("alpha")->real) << "nothing happened out of sight";
}

TEST_F(WatcherTest, AnEmptyKindIsPolled) {
  driver_->Settle();
  EXPECT_EQ(driver_->watches(), 0U);
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  driver_->Settle();
  EXPECT_FALSE(OwnerOf("alpha"));
  driver_->Advance(options_.times.poll * 6 / 5);
  EXPECT_TRUE(OwnerOf("alpha"));
  EXPECT_EQ(driver_->watches(), 1U);
}

TEST_F(WatcherTest, AReservationThatNeverCameTrueIsDroppedByProof) {
  driver_->Settle();
  Admit(Bucket("a", "u1", "alpha"));
  driver_->Advance(170s);
  EXPECT_TRUE(OwnerOf("alpha"));
  cluster_.FailGets(ApiError{ApiErrorKind::kTimeout, 0, "no answer", {}});
  driver_->Advance(60s);
  EXPECT_TRUE(OwnerOf("alpha")) << "any other answer keeps it";
  cluster_.FailGets(std::nullopt);
  driver_->Advance(90s);
  EXPECT_FALSE(OwnerOf("alpha"));
  EXPECT_TRUE(Contents().objects.empty());
}

TEST_F(WatcherTest, ACreateWithoutDeclarationsThatNeverCameTrueIsForgotten) {
  SmallObject nameless = Bucket("a", "u1", "");
  nameless.metadata.clear();
  nameless.rest = R"("spec":{"forProvider":{"bucketRef":{"name":"b"},"region":"eu-west-1"}})";
  nameless.kind = {"s3.aws.upbound.io", "BucketPolicy"};
  cluster_.Serve({nameless.kind.group, "v1beta1", nameless.kind.kind, "bucketpolicies", false});
  driver_->Advance(60s);
  Admit(nameless);
  ASSERT_EQ(Contents().objects.size(), 1U);
  ASSERT_TRUE(Contents().rows.empty());
  driver_->Advance(170s);
  EXPECT_EQ(Contents().objects.size(), 1U) << "it may still come";
  driver_->Advance(120s);
  EXPECT_TRUE(Contents().objects.empty());
  EXPECT_TRUE(driver_->watcher().reconciler().missing().empty());
}

TEST_F(WatcherTest, AnObjectWithoutDeclarationsThatLivesIsKept) {
  SmallObject nameless = Bucket("a", "u1", "");
  nameless.rest = R"("spec":{"forProvider":{"bucketRef":{"name":"b"},"region":"eu-west-1"}})";
  nameless.kind = {"s3.aws.upbound.io", "BucketPolicy"};
  cluster_.Serve({nameless.kind.group, "v1beta1", nameless.kind.kind, "bucketpolicies", false});
  driver_->Advance(60s);
  Admit(nameless);
  cluster_.Put(nameless);
  driver_->hold_events = true;  // the watch lags for longer than the TTL
  driver_->Advance(600s);
  EXPECT_EQ(Contents().objects.size(), 1U);
  driver_->hold_events = false;
  driver_->Advance(600s);
  EXPECT_EQ(Contents().objects.size(), 1U);
}

TEST_F(WatcherTest, ADenialAsksForTheProofAtOnce) {
  driver_->Settle();
  Admit(Bucket("a", "u1", "alpha"));
  driver_->Advance(61s);
  driver_->inbox.Prove({RowsOf("u1").front().id});
  driver_->Settle();
  EXPECT_FALSE(OwnerOf("alpha"));
}

TEST_F(WatcherTest, AProofOfARowThatAnotherReviewMadeAnewIsVoid) {
  driver_->Settle();
  Admit(Bucket("a", "u1", "alpha"));
  driver_->hold_gets = true;
  driver_->Advance(190s);
  Row row = RowsOf("u1").front();
  row.review = {"another"};
  ASSERT_TRUE(store_
                  .Apply(
                      {}, [&](const Facts&) { return Changes{.put_rows = {row}}; },
                      std::chrono::steady_clock::now() + 10s)
                  .ok());
  driver_->hold_gets = false;
  driver_->Settle();
  EXPECT_EQ(RowsOf("u1").size(), 1U);
}

TEST_F(WatcherTest, TheClockJumpsBackAndReservationsStillEnd) {
  clock_.Advance(48h);
  driver_->Settle();
  Admit(Bucket("a", "u1", "alpha"));
  clock_.Set(clock_.Now() - 24h);
  driver_->Advance(180s);
  EXPECT_FALSE(OwnerOf("alpha"));
}

TEST_F(WatcherTest, ABackwardClockDoesNotEndWhatLives) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  driver_->Settle();
  clock_.Set(Timestamp(1h));
  driver_->EndWatches(ApiError{ApiErrorKind::kExpired, 410, "too old", {}});
  driver_->Advance(60s);
  clock_.Advance(10'000h);
  driver_->Advance(600s);
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kNone);
}

TEST_F(WatcherTest, AbsenceNominatesAndAQuorumGetReleases) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  cluster_.Put(Real(Bucket("b", "u2", "beta")));
  driver_->Settle();
  driver_->hold_events = true;
  cluster_.Remove(kBucket, "", "a");
  cluster_.Compact();
  driver_->hold_gets = true;
  driver_->EndWatches(ApiError{ApiErrorKind::kExpired, 410, "too old", {}});
  driver_->Advance(2s);
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kNone) << "a list only nominates";
  EXPECT_FALSE(driver_->unresolved.ReasonOf(OwnerOf("alpha")->root).empty());
  driver_->hold_gets = false;
  driver_->Settle();
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kOrphaned);
  EXPECT_EQ(OwnerOf("beta")->record, Record::kNone);
  EXPECT_EQ(driver_->unresolved.size(), 0U);
  EXPECT_TRUE(seen_.gone.contains("u1"));
}

TEST_F(WatcherTest, ANominatedObjectThatLivesStays) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  cluster_.Put(Real(Bucket("b", "u2", "beta")));
  driver_->Settle();
  clock_.Advance(1s);
  cluster_.Remove(kBucket, "", "a");
  cluster_.Compact();
  driver_->hold_gets = true;
  driver_->EndWatches(ApiError{ApiErrorKind::kExpired, 410, "too old", {}});
  driver_->Advance(2s);
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));  // the list was wrong
  driver_->hold_gets = false;
  driver_->Settle();
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kNone);
  EXPECT_EQ(driver_->watcher().status().reconcile.nominated, 0U);
  EXPECT_EQ(driver_->unresolved.size(), 0U);
}

TEST_F(WatcherTest, AListOlderThanANewObjectDoesNotEndIt) {
  cluster_.Put(Real(Bucket("b", "u2", "beta")));
  driver_->Settle();
  cluster_.Compact();
  driver_->hold_events = true;  // only the list and GETs speak
  const SmallObject born = Bucket("a", "u1", "alpha");
  bool stored = false;
  driver_->while_listing = [&] {
    Admit(born);
    cluster_.Put(Real(born));
    stored = true;
  };
  driver_->EndWatches(ApiError{ApiErrorKind::kExpired, 410, "too old", {}});
  driver_->Advance(60s);
  ASSERT_TRUE(stored);
  EXPECT_EQ(RowsOf("u1").size(), 1U);
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kNone);
  driver_->hold_events = false;
  driver_->Settle();
  ASSERT_EQ(RowsOf("u1").size(), 1U);
  EXPECT_EQ(RowsOf("u1")[0].id.state, RowState::kSeen);
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kNone);
  EXPECT_EQ(driver_->unresolved.size(), 0U);
  EXPECT_EQ(driver_->watcher().status().reconcile.nominated, 0U);
}

TEST_F(WatcherTest, ARowThatSeemsYoungerThanTheListIsLookedForAsWell) {
  clock_.Advance(48h);
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  cluster_.Put(Real(Bucket("b", "u2", "beta")));
  driver_->Settle();
  ASSERT_TRUE(OwnerOf("alpha"));
  clock_.Set(clock_.Now() - 24h);  // from now on its row is from the future
  cluster_.Remove(kBucket, "", "a");
  cluster_.Compact();
  driver_->EndWatches(std::nullopt);
  driver_->Advance(60s);
  EXPECT_TRUE(RowsOf("u1").empty());
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kOrphaned);
  EXPECT_EQ(RowsOf("u2").size(), 1U);
}

TEST_F(WatcherTest, AnotherLifeInTheSlotEndsTheOldOne) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  cluster_.Put(Real(Bucket("b", "u2", "beta")));
  driver_->Settle();
  clock_.Advance(1s);
  cluster_.Remove(kBucket, "", "a");
  cluster_.Put(Real(Bucket("a", "u3", "gamma")));
  cluster_.Compact();
  driver_->EndWatches(ApiError{ApiErrorKind::kExpired, 410, "too old", {}});
  driver_->Advance(2s);
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kOrphaned);
  EXPECT_EQ(OwnerOf("gamma")->record, Record::kNone);
  EXPECT_TRUE(RowsOf("u1").empty());
}

TEST_F(WatcherTest, AnEmptyListFreezesAndACommandLetsGo) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  driver_->Settle();
  clock_.Advance(1s);
  cluster_.Remove(kBucket, "", "a");
  cluster_.Compact();
  driver_->EndWatches(ApiError{ApiErrorKind::kExpired, 410, "too old", {}});
  driver_->Advance(2h);
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kNone);
  const std::string doubt = driver_->unresolved.ReasonOf(OwnerOf("alpha")->root);
  EXPECT_EQ(
      doubt,
      "the cluster lists no Bucket.s3.aws.upbound.io any more although there were some; if "
      "they are really gone: `truce brake release --kind Bucket.s3.aws.upbound.io --reason '…'`");
  EXPECT_FALSE(seen_.states.at(kBucket).frozen.empty());
  const auto released = driver_->watcher().ReleaseBrake(driver_->now, kBucket, "me", "really gone");
  ASSERT_TRUE(released.ok());
  EXPECT_EQ(released.value(), 1U);
  driver_->Settle();
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kOrphaned);
  EXPECT_TRUE(driver_->watcher().reconciler().FrozenFor(kBucket).empty());
}

TEST_F(WatcherTest, ACommandAboutAKindThatIsNotFollowedIsRefused) {
  driver_->Settle();
  const std::size_t lines = ContentsOf(store_).value().audit.size();
  const GroupKind slip{"s3.aws.upbound.io", "Buckett"};
  const auto released = driver_->watcher().ReleaseBrake(driver_->now, slip, "me", "really gone");
  ASSERT_FALSE(released.ok());
  EXPECT_EQ(released.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ContentsOf(store_).value().audit.size(), lines);
  EXPECT_EQ(driver_->watcher().ReleaseBrake(driver_->now, kBucket, "me", "nothing waits").value(),
            0U);
}

TEST_F(WatcherTest, MassAbsenceWaitsForASecondListThenForACommand) {
  for (int i = 0; i < 70; ++i) {
    const std::string n = std::to_string(i);
    cluster_.Put(Real(Bucket("a" + n, "u" + n, "name-" + n)));
  }
  driver_->Settle();
  clock_.Advance(1s);
  for (int i = 1; i < 70; ++i) cluster_.Remove(kBucket, "", "a" + std::to_string(i));
  cluster_.Compact();
  driver_->EndWatches(ApiError{ApiErrorKind::kExpired, 410, "too old", {}});
  const auto orphaned = [&] { return store_.Counts().orphaned; };
  driver_->Advance(60s);
  EXPECT_EQ(orphaned(), kBrakeFloor);
  EXPECT_EQ(driver_->watcher().status().reconcile.held_back, 49U);
  driver_->Advance(700s);
  EXPECT_EQ(orphaned(), 2 * kBrakeFloor) << "the second list, ten minutes later";
  driver_->Advance(600s);
  EXPECT_EQ(orphaned(), 2 * kBrakeFloor) << "beyond that only by command";
  ASSERT_TRUE(driver_->watcher().ReleaseBrake(driver_->now, std::nullopt, "me", "moved").ok());
  driver_->Settle();
  EXPECT_EQ(orphaned(), 69U);
}

class Lineage : public WatcherTest {
 protected:
  Lineage() {
    cluster_.Serve({kXrd.group, "v1", kXrd.kind, "compositeresourcedefinitions", false});
    cluster_.Serve({kComposite.group, "v1", kComposite.kind, "xstorages", false});
    cluster_.Serve({kClaim.group, "v1", kClaim.kind, "storages", true});
    cluster_.Put({kXrd,
                  "",
                  "xstorages.acme.example.org",
                  "xrd-1",
                  {},
                  R"("spec":{"group":"acme.example.org","names":{"kind":"XStorage"},
                     "claimNames":{"kind":"Storage"}})"});
    SmallObject composite{kComposite, "", "data-x", "u2", {}, {}};
    composite.rest = R"("spec":{"claimRef":{"apiVersion":"acme.example.org/v1","kind":"Storage",
        "namespace":"team-a","name":"data"},"resourceRefs":[{"apiVersion":
        "s3.aws.upbound.io/v1beta2","kind":"Bucket","name":"data-x-1"}]})";
    SmallObject claim{kClaim, "team-a", "data", "u1", {}, {}};
    claim.rest = R"("spec":{"resourceRef":{"apiVersion":"acme.example.org/v1","kind":"XStorage",
        "name":"data-x"}})";
    SmallObject bucket = Real(Bucket("data-x-1", "u3", "alpha"));
    bucket.metadata += R"(,"ownerReferences":[{"apiVersion":"acme.example.org/v1",
        "kind":"XStorage","name":"data-x","uid":"u2","controller":true}])";
    cluster_.Put(bucket);
    cluster_.Put(composite);
    cluster_.Put(claim);
  }
};

TEST_F(Lineage, AClaimItsCompositeAndItsResourcesAreOneOwnerFromTheFirstStart) {
  driver_->Settle();
  ASSERT_TRUE(OwnerOf("alpha"));
  EXPECT_EQ(OwnerOf("alpha")->root.name, "data");
  EXPECT_EQ(OwnerOf("alpha")->party.text, "ns:test/team-a");
  EXPECT_EQ(OwnerOf("alpha")->leaf->name, "data-x-1");
  EXPECT_FALSE(OwnerOf("alpha")->contested);
  const StoreContents once = Contents();
  Start();
  driver_->Settle();
  EXPECT_EQ(Contents(), once) << "a restart changes nothing";
}

TEST_F(WatcherTest, TheRegistryEqualsARebuildAfterARestartAtAnyPoint) {
  for (int cut = 0; cut < 40; ++cut) {
    const std::string n = std::to_string(cut);
    Admit(Bucket("a" + n, "u" + n, "name-" + n));
    cluster_.Put(Real(Bucket("a" + n, "u" + n, "name-" + n)));
    if (cut % 3 == 0 && cut > 2) cluster_.Remove(kBucket, "", "a" + std::to_string(cut - 2));
    // So many ticks, then the process dies.
    driver_->hold_events = cut % 2 == 0;
    for (int i = 0; i < cut % 7; ++i) (void)driver_->watcher().Tick(driver_->now);
    Start();
  }
  driver_->Advance(2h);
  std::set<std::string> held;
  for (const Row& row : Contents().rows) {
    EXPECT_EQ(row.id.state, RowState::kSeen);
    held.insert(row.slot.name);
  }
  std::set<std::string> living;
  for (int i = 0; i < 40; ++i) living.insert("a" + std::to_string(i));
  for (int i = 3; i < 40; i += 3) living.erase("a" + std::to_string(i - 2));
  EXPECT_EQ(held, living);
}

}  // namespace watcher_test
}  // namespace truce::testing
