// What ended while nobody watched, and is told afterwards.
#include "tests/support/watcher_fixture.h"
#include "webhook/watch/replayed_events.h"

namespace truce::testing {
namespace watcher_replay_test {

class WatcherReplayTest : public WatcherTest {
 protected:
  WatcherReplayTest() {
    // Others of the kind live on: an empty list is another matter.
    cluster_.Put(Real(Bucket("other", "u-other", "other")));
    cluster_.Put(Real(Bucket("a", "u-a", "reports")));
    driver_->Advance(20s);
    EXPECT_TRUE(OwnerOf("reports"));
  }
  void Delete() {
    cluster_.Put(Finished(Bucket("a", "u-a", "reports")));
    cluster_.Remove(kBucket, "", "a");
  }
  bool IsOrphaned() const {
    const auto owner = OwnerOf("reports");
    return owner && owner->record == Record::kOrphaned;
  }
};

TEST_F(WatcherReplayTest, AnEndThatNobodyWatchedIsToldAfterwards) {
  Delete();
  Start();
  driver_->Advance(10s);
  EXPECT_FALSE(OwnerOf("reports"));
  EXPECT_TRUE(OwnerOf("other"));
  EXPECT_TRUE(driver_->watcher().ready());
}

TEST_F(WatcherReplayTest, TheLastOneOfItsKindToo) {
  cluster_.Remove(kBucket, "", "other");
  driver_->Advance(20s);
  Delete();
  Start();
  driver_->Advance(10s);
  EXPECT_FALSE(OwnerOf("reports"));
}

TEST_F(WatcherReplayTest, AnotherServerThatLeadsNextIsToldToo) {
  Delete();
  options_.records = false;
  Start();
  driver_->Advance(10s);
  driver_->watcher().BeginRecording(driver_->now);
  driver_->Advance(10s);
  EXPECT_FALSE(OwnerOf("reports"));
}

TEST_F(WatcherReplayTest, WhatTheApiServerHasForgottenIsLeftOrphaned) {
  Delete();
  cluster_.Compact();
  Start();
  driver_->Advance(10s);
  EXPECT_TRUE(IsOrphaned());
}

TEST_F(WatcherReplayTest, AnApiServerThatDoesNotAnswerIsAskedAgain) {
  Delete();
  cluster_.FailWatches(ApiError{ApiErrorKind::kUnreachable, 0, "down", {}});
  Start();
  driver_->Advance(20s);
  EXPECT_FALSE(driver_->watcher().ready());
  cluster_.FailWatches({});
  driver_->Advance(5s);
  EXPECT_FALSE(OwnerOf("reports"));
  EXPECT_TRUE(driver_->watcher().ready());
}

TEST_F(WatcherReplayTest, AWatchThatEndsBeforeItCameAsFarAsTheListIsAskedForAgain) {
  Delete();
  Start();
  driver_->hold_events = true;
  for (int i = 0; i < 5; ++i) {
    driver_->Advance(3s);
    driver_->EndWatches({});
  }
  EXPECT_FALSE(driver_->watcher().ready());
  driver_->hold_events = false;
  driver_->Advance(5s);
  EXPECT_FALSE(OwnerOf("reports"));
}

TEST_F(WatcherReplayTest, WhatIsNotToldUpToTheListIsNotWaitedFor) {
  Delete();
  cluster_.Forget(kBucket);
  Start();
  driver_->Advance(1s);
  EXPECT_TRUE(driver_->watcher().ready());
  driver_->Advance(5s);
  EXPECT_TRUE(IsOrphaned());
}

TEST_F(WatcherReplayTest, NobodyWaitsForHistoryThatDoesNotCome) {
  Delete();
  cluster_.FailWatches(ApiError{ApiErrorKind::kUnreachable, 0, "down", {}});
  Start();
  driver_->Advance(ReplayedEvents::kPatience + 5s);
  EXPECT_TRUE(driver_->watcher().ready());
  EXPECT_TRUE(IsOrphaned());
}

TEST_F(WatcherReplayTest, WithoutAnAnswerTheStartGoesOn) {
  Delete();
  Start();
  driver_->hold_events = true;
  driver_->Advance(ReplayedEvents::kPatience - 1s);
  EXPECT_FALSE(driver_->watcher().ready());
  driver_->Advance(4s);
  EXPECT_TRUE(driver_->watcher().ready());
  driver_->hold_events = false;
  driver_->Advance(10s);
  EXPECT_TRUE(IsOrphaned());
}

TEST_F(WatcherReplayTest, AStrippedFinalizerWitnessesNothing) {
  cluster_.Remove(kBucket, "", "a");
  Start();
  driver_->Advance(10s);
  EXPECT_TRUE(IsOrphaned());
}

TEST_F(WatcherReplayTest, WhoDeclaredSomethingElseMeanwhileFreesNothing) {
  cluster_.Put(Real(Bucket("a", "u-a", "elsewhere")));
  Delete();
  Start();
  driver_->Advance(10s);
  EXPECT_TRUE(IsOrphaned());
}

TEST_F(WatcherReplayTest, WhoseNameSomebodyHasAgainIsPassedOn) {
  Delete();
  cluster_.Put(Real(Bucket("a", "u-again", "reports")));
  Start();
  driver_->Advance(10s);
  ASSERT_TRUE(OwnerOf("reports"));
  EXPECT_EQ(OwnerOf("reports")->record, Record::kNone);
  EXPECT_EQ(RowsOf("u-again").size(), 1U);
  EXPECT_TRUE(RowsOf("u-a").empty());
}

TEST_F(WatcherReplayTest, AStoreThatFailsMeanwhileIsTriedAgain) {
  Delete();
  Start();
  const Error down{ErrorCode::kUnavailable, "down"};
  for (int i = 0; i < 3; ++i) faulty_.FailNextApply(down);
  for (int i = 0; i < 6; ++i) faulty_.FailNextRead(down);
  driver_->Advance(1min);
  EXPECT_FALSE(OwnerOf("reports"));
}

TEST_F(WatcherReplayTest, NothingIsAskedForWhereNothingEnded) {
  Start();
  driver_->Settle();
  EXPECT_TRUE(driver_->watcher().ready());
}

TEST_F(WatcherReplayTest, NothingIsAskedForWhereNothingHappenedSince) {
  Admit(Bucket("b", "u-b", "admitted"));
  driver_->Advance(20s);
  Start();
  driver_->hold_events = true;
  driver_->Settle();
  EXPECT_TRUE(driver_->watcher().ready());
  driver_->hold_events = false;
  driver_->Advance(5min);
  EXPECT_FALSE(OwnerOf("admitted")) << "it was never made";
}

TEST_F(WatcherReplayTest, WhatIsOnlyAdmittedIsFreeInTheEndWhereAllWasTold) {
  Admit(Bucket("b", "u-b", "admitted"));
  driver_->Advance(20s);
  cluster_.Put(Real(Bucket("later", "u-later", "later")));
  Start();
  driver_->Advance(10s);
  ASSERT_TRUE(driver_->watcher().ready());
  ASSERT_TRUE(OwnerOf("admitted"));
  EXPECT_EQ(OwnerOf("admitted")->record, Record::kNone) << "it may still come";
  driver_->Advance(5min);
  EXPECT_FALSE(OwnerOf("admitted"));
}

TEST_F(WatcherReplayTest, AlsoTheFirstOfItsKind) {
  for (const char* name : {"other", "a"}) cluster_.Remove(kBucket, "", name);
  driver_->Advance(20s);
  Admit(Bucket("b", "u-b", "admitted"));
  driver_->Advance(20s);
  cluster_.Put({kCrd, "", "others.example.org", "crd-1", {}, {}});  // versions go on
  Start();
  driver_->Advance(10s);
  ASSERT_TRUE(driver_->watcher().ready());
  driver_->Advance(5min);
  EXPECT_FALSE(OwnerOf("admitted"));
}

TEST_F(WatcherReplayTest, WhatIsOnlyAdmittedMayBeRealWhereHistoryIsForgotten) {
  Admit(Bucket("b", "u-b", "admitted"));
  driver_->Advance(20s);
  cluster_.Put(Real(Bucket("b", "u-b", "admitted")));
  cluster_.Remove(kBucket, "", "b");
  cluster_.Compact();
  Start();
  driver_->Advance(5min);
  ASSERT_TRUE(OwnerOf("admitted"));
  EXPECT_EQ(OwnerOf("admitted")->record, Record::kOrphaned);
}

TEST_F(WatcherReplayTest, WhatCameTrueAndEndedMeanwhileWasReal) {
  Admit(Bucket("b", "u-b", "admitted"));
  driver_->Advance(20s);
  cluster_.Put(Real(Bucket("b", "u-b", "admitted")));
  cluster_.Remove(kBucket, "", "b");
  Start();
  driver_->Advance(5min);
  ASSERT_TRUE(OwnerOf("admitted"));
  EXPECT_EQ(OwnerOf("admitted")->record, Record::kOrphaned) << "its finalizer was stripped";
}

TEST_F(WatcherReplayTest, AClusterThatWentBackInTimeHasNoHistoryToTell) {
  Admit(Bucket("b", "u-b", "admitted"));
  driver_->Advance(20s);
  cluster_ = SmallCluster();
  Serve();
  Start();
  driver_->hold_events = true;
  driver_->Settle();
  EXPECT_TRUE(driver_->watcher().ready());
}

}  // namespace watcher_replay_test
}  // namespace truce::testing
