// Detectors composite-not-seen, claim-twice and claim-stale: what was recorded is found, and what
// looks like it and is none, restores among it, is not.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/lifecycle_fixture.h"

namespace truce::testing {
namespace detect_composites_test {

class RecordedTest : public LifecycleTest {};

// ---- Composites that Crossplane does not see ----

TEST_F(RecordedTest, OfTheRecordedCompositesOnesThatAreSeenInTimeAreNone) {
  PlayAll("composites");
  Wait(30min);
  EXPECT_EQ(story_, Story{}) << "late was seen after 99 s; paused, unmatched, Crossplane stopped";
}

TEST_F(RecordedTest, ACompositeThatIsNotSeenIsFoundUntilItIs) {
  Play("composites", At("04:00:00"), At("04:45:16"));
  EXPECT_EQ(story_, Story{});
  Wait(30s);
  const auto found = Found();
  ASSERT_EQ(Resources(), Story{"composite-not-seen XObjectStorage late-pbflv"});
  EXPECT_EQ(found[0].mode, Mode::kWarn);
  EXPECT_EQ(found[0].since, At("04:43:41"));
  ASSERT_EQ(found[0].objects.size(), 2U);
  EXPECT_EQ(found[0].objects[1].ns + "/" + found[0].objects[1].name, "team-b/late");
  EXPECT_EQ(found[0].evidence,
            "created 2026-11-23T04:43:41Z; its claim ObjectStorage team-b/late is Synced and names "
            "it: Crossplane made it");
  EXPECT_EQ(found[0].remedy,
            "Restart Crossplane: `kubectl -n crossplane-system rollout restart deployment "
            "crossplane`. For good: Crossplane 1.20 or newer, or none of "
            "--enable-realtime-compositions. To change or annotate the composite does nothing.");
  EXPECT_EQ(UnseenKinds(found), (std::map<GroupKind, Timestamp>{{kXStorage, At("04:43:41")},
                                                                {kStorage, At("04:43:41")}}))
      << "who creates more of them is warned";
  Play("composites", At("04:45:16"), At("04:59:59"));
  Wait(30min);
  EXPECT_TRUE(UnseenKinds(Found()).empty());
  EXPECT_EQ(story_, (Story{"+ composite-not-seen XObjectStorage late-pbflv",
                           "- composite-not-seen XObjectStorage late-pbflv"}));
}

class UnseenTest : public LifecycleTest {
 protected:
  UnseenTest() { by_hand_.created = "2026-11-23T04:00:00Z"; }
  // Another composite, of which Crossplane wrote a condition at `time`.
  static SmallObject Written(const std::string& time) {
    SmallObject other{kXStorage, "", "other", "other", {}, {}};
    other.rest =
        R"("status":{"conditions":[{"type":"Synced","status":"True","lastTransitionTime":")" +
        FormatTimestamp(At(time)) + R"("}]})";
    return other;
  }
  // A claim and the composite that Crossplane made for it.
  void PutChain(const std::string& name) {
    SmallObject claim{kStorage, "team-a", name, "claim-" + name, {}, {}};
    claim.rest =
        R"("spec":{"resourceRef":{"apiVersion":"platform.example.org/v1","kind":"XObjectStorage","name":")" +
        name + R"("}},"status":{"conditions":[{"type":"Synced","status":"True"}]})";
    SmallObject xr{kXStorage, "", name, "xr-" + name, {}, {}};
    xr.created = "2026-11-23T04:00:00Z";
    xr.rest =
        R"("spec":{"claimRef":{"apiVersion":"platform.example.org/v1","kind":"ObjectStorage","namespace":"team-a","name":")" +
        name + R"("}})";
    cluster_.Put(claim);
    cluster_.Put(xr);
  }

  SmallObject by_hand_{kXStorage, "", "by-hand", "by-hand", {}, R"("spec":{})"};
};

TEST_F(UnseenTest, OneByHandNeedsCrossplaneToBeAtWork) {
  cluster_.Put(Written("03:59:00"));
  cluster_.Put(by_hand_);
  Wait(30min);
  EXPECT_EQ(story_, Story{}) << "Crossplane may be stopped";
  cluster_.Put(Written("04:29:00"));
  Wait(110s);
  EXPECT_EQ(story_, Story{}) << "it may have come back just now";
  Wait(20s);
  EXPECT_EQ(story_, Story{"+ composite-not-seen XObjectStorage by-hand"});
}

TEST_F(UnseenTest, APausedOneIsNone) {
  by_hand_.metadata = R"("annotations":{"crossplane.io/paused":"true"})";
  cluster_.Put(by_hand_);
  cluster_.Put(Written("04:01:00"));
  Wait(30min);
  EXPECT_EQ(story_, Story{});
}

TEST_F(UnseenTest, InABacklogItTakesTenMinutes) {
  constexpr std::size_t kBacklog = 100;
  for (std::size_t i = 0; i <= kBacklog; ++i) PutChain("x" + std::to_string(i));
  Wait(9min);
  EXPECT_EQ(story_, Story{});
  Wait(70s);
  EXPECT_EQ(story_.size(), kBacklog + 1);
}

TEST_F(UnseenTest, OfAKindThatCannotBeReadAnyMoreNothingIsSaid) {
  PutChain("x");
  Wait(1min);
  cluster_.FailLists(kXStorage, ApiError{ApiErrorKind::kForbidden, 403, "no right", {}});
  cluster_.Compact();
  driver_->EndWatches(ApiError{ApiErrorKind::kExpired, 410, "too old resource version", {}});
  Wait(10min);
  EXPECT_EQ(story_, Story{});
}

// ---- Claims and composites that are not one and one ----

TEST_F(RecordedTest, OfTheRecordedClaimsTheOneThatNamesADeadCompositeIsFound) {
  PlayAll("claims");
  Wait(10min);
  EXPECT_EQ(story_, Story{"+ claim-stale ObjectStorage team-a/one"});
  ASSERT_EQ(Found().size(), 1U);
  EXPECT_EQ(Found()[0].cause,
            "ObjectStorage team-a/one names composite XObjectStorage free, which does not exist: "
            "nothing stands behind the claim.");
}

TEST_F(RecordedTest, AClaimOfABoundCompositeIsFoundAfterFiveMinutes) {
  Play("claims", At("04:00:00"), At("04:57:03"));
  Wait(4min + 30s);
  EXPECT_EQ(story_, Story{});
  Wait(4min);
  EXPECT_EQ(story_, Story{"+ claim-stale ObjectStorage team-a/one"});
  const auto found = Found();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].mode, Mode::kWarn);
  EXPECT_EQ(found[0].objects.size(), 1U) << "no Event on what is another's";
  EXPECT_EQ(found[0].evidence, "claimRef of XObjectStorage free names ObjectStorage team-b/two");
  EXPECT_EQ(found[0].remedy,
            "Delete this claim, which touches nothing of the composite, and use what it made by "
            "another way: a resource with managementPolicies: [\"Observe\"] that the owner allows "
            "with `truce share`, an EnvironmentConfig that the owner publishes, or a hand-over "
            "with truce.dev/transfer-to.");
}

class BindingTest : public LifecycleTest {
 protected:
  static SmallObject Claim(const std::string& composite) {
    SmallObject claim{kStorage, "team-a", "flux", "claim", {}, {}};
    claim.rest =
        composite.empty()
            ? R"("spec":{})"
            : R"("spec":{"resourceRef":{"apiVersion":"platform.example.org/v1","kind":"XObjectStorage","name":")" +
                  composite + R"("}})";
    return claim;
  }
  static SmallObject Composite(const std::string& name) {
    SmallObject xr{kXStorage, "", name, "xr-" + name, {}, {}};
    xr.rest =
        R"("spec":{"claimRef":{"apiVersion":"platform.example.org/v1","kind":"ObjectStorage","namespace":"team-a","name":"flux"}},
           "status":{"conditions":[{"type":"Synced","status":"True"}]})";
    return xr;
  }
  const std::string deleted_ = R"("deletionTimestamp":"2026-11-23T04:00:00Z","finalizers":["x"])";
};

TEST_F(BindingTest, TwoCompositesOfOneClaimAreFound) {
  cluster_.Put(Claim("new"));
  cluster_.Put(Composite("new"));
  cluster_.Put(Composite("old"));
  Wait(5min);
  EXPECT_EQ(story_, Story{});
  Wait(3min);
  EXPECT_EQ(story_, Story{"+ claim-twice ObjectStorage team-a/flux"});
  ASSERT_EQ(Found().size(), 1U);
  EXPECT_EQ(Found()[0].objects.size(), 3U);
  EXPECT_EQ(
      Found()[0].evidence,
      "XObjectStorage new is what the claim's resourceRef names; XObjectStorage old's claimRef "
      "names the claim, which does not name it");
}

TEST_F(BindingTest, TwoCompositesOfAClaimThatNamesNoneAreFound) {
  cluster_.Put(Claim(""));
  cluster_.Put(Composite("new"));
  cluster_.Put(Composite("old"));
  Wait(10min);
  EXPECT_EQ(story_, Story{"+ claim-twice ObjectStorage team-a/flux"});
}

TEST_F(BindingTest, ACompositeWhoseClaimNamesAnotherIsFoundThoughThatIsMissing) {
  cluster_.Put(Claim("new"));
  cluster_.Put(Composite("old"));
  Wait(10min);
  EXPECT_EQ(story_, (Story{"+ claim-twice ObjectStorage team-a/flux",
                           "+ claim-stale ObjectStorage team-a/flux"}));
}

TEST_F(BindingTest, ACompositeThatTerminatesIsNoSecondOne) {
  cluster_.Put(Claim("new"));
  cluster_.Put(Composite("new"));
  SmallObject old = Composite("old");
  old.metadata = deleted_;
  cluster_.Put(old);
  Wait(30min);
  EXPECT_EQ(story_, Story{});
}

TEST_F(BindingTest, AClaimThatIsAboutToBindAFreeCompositeIsNone) {
  cluster_.Put(Claim("free"));
  cluster_.Put({kXStorage, "", "free", "xr-free", {}, R"("spec":{})"});
  Wait(30min);
  EXPECT_EQ(story_, Story{});
}

TEST_F(BindingTest, APausedOrTerminatingClaimIsNotStale) {
  SmallObject claim = Claim("missing");
  claim.metadata = R"("annotations":{"crossplane.io/paused":"true"})";
  cluster_.Put(claim);
  SmallObject going{kStorage, "team-a", "going", "going", deleted_, claim.rest};
  cluster_.Put(going);
  Wait(30min);
  EXPECT_EQ(story_, Story{});
}

TEST_F(BindingTest, NothingIsMissingOfAKindThatCannotBeReadAndCoverageSaysSo) {
  cluster_.FailLists(kXStorage, ApiError{ApiErrorKind::kForbidden, 403, "no right", {}});
  cluster_.Put(Claim("somewhere"));
  Wait(30min);
  EXPECT_EQ(story_, Story{});
  const auto gaps = GapsOf("XObjectStorage.platform.example.org");
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].why,
            "Its objects cannot be listed, so claims that share a composite and composites that "
            "Crossplane does not see are not found: forbidden: no right");
}

// ---- Restores ----

TEST_F(RecordedTest, OfARestoreTheTwinAndTheOrphanAreFoundAndNoOther) {
  PlayAll("restore-1.16.1");
  Wait(30min);
  EXPECT_EQ(story_, (Story{"+ unreferenced-resource Bucket.s3.aws.upbound.io r-late-txdbj-w4ws9",
                           "+ unreferenced-resource Queue.sqs.aws.upbound.io r-drop-f9gpr-n5gck"}));
  const auto found = Found();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(
      found[0].cause,
      "Bucket.s3.aws.upbound.io r-late-txdbj-w4ws9 says that it is composed, for "
      "XObjectStorage.platform.example.org r-late-txdbj, but has no controller and no "
      "composite references it (a restored backup leaves such objects): nobody updates or "
      "deletes it; another object of XObjectStorage.platform.example.org r-late-txdbj has the "
      "same cloud resource, and whichever of both is deleted deletes it.");
  EXPECT_EQ(found[0].remedy,
            "Keep one of them. To keep the other one, delete this one without what it has in AWS: "
            "`kubectl patch bucket.s3.aws.upbound.io r-late-txdbj-w4ws9 --type merge -p "
            "'{\"spec\":{\"managementPolicies\":[\"Observe\"]}}' && kubectl delete "
            "bucket.s3.aws.upbound.io r-late-txdbj-w4ws9`.");
  EXPECT_EQ(found[1].cause,
            "Queue.sqs.aws.upbound.io r-drop-f9gpr-n5gck says that it is composed, for "
            "XObjectStorage.platform.example.org r-drop-f9gpr, but has no controller and no "
            "composite references it (a restored backup leaves such objects): nobody updates or "
            "deletes it.");
  EXPECT_EQ(found[1].remedy,
            "Let XObjectStorage.platform.example.org r-drop-f9gpr adopt it: put its template back "
            "into the Composition and it into spec.resourceRefs; or patch its controller reference "
            "(metadata.ownerReferences). To be rid of it without the cloud resource: set "
            "spec.managementPolicies: [\"Observe\"], then delete it.");
}

TEST_F(RecordedTest, OfARestoreOnANewerCrossplaneTheTwinIsFoundAndNoOther) {
  PlayAll("restore-1.20");
  Wait(30min);
  EXPECT_EQ(story_, Story{"+ unreferenced-resource Bucket.s3.aws.upbound.io r-late-8dg5m-v5r6k"})
      << "what was dropped is deleted, not orphaned";
}

}  // namespace detect_composites_test
}  // namespace truce::testing
