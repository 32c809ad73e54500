// Detector stale-usage: the recorded Usage that stays is found; and what looks like it and is none.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/lifecycle_fixture.h"

namespace truce::testing {
namespace detect_usages_test {

class RecordedUsageTest : public LifecycleTest {};

class UsageTest : public LifecycleTest {
 protected:
  // A Usage that its Composition dropped: all proofs hold.
  UsageTest() {
    xr_ = {kXStorage, "", "keep", "xr", {}, {}};
    xr_.rest =
        R"("spec":{"resourceRefs":[{"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket","name":"b"}]})";
    user_ = {kPolicy, "", "p", "policy", {}, R"("spec":{"forProvider":{}})"};
    usage_ = {kUsage, "", "u", "usage", {}, {}};
    usage_.metadata = deleted_ + "," + composed_ + "," + controlled_;
    usage_.rest = used_;
  }
  void PutAll() {
    cluster_.Put(xr_);
    cluster_.Put(user_);
    cluster_.Put(usage_);
  }
  void Lasts() {
    PutAll();
    Wait(4min);
  }

  const std::string deleted_ = R"("deletionTimestamp":"2026-11-23T04:00:00Z")";
  const std::string composed_ =
      R"("annotations":{"crossplane.io/composition-resource-name":"usage"})";
  const std::string controlled_ =
      R"("ownerReferences":[{"apiVersion":"platform.example.org/v1alpha1","kind":"XObjectStorage",
         "name":"keep","uid":"xr","controller":true}])";
  const std::string used_ =
      R"("spec":{"of":{"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket","resourceRef":{"name":"b"}},
         "by":{"apiVersion":"s3.aws.upbound.io/v1beta1","kind":"BucketPolicy","resourceRef":{"name":"p"}}})";
  SmallObject xr_;
  SmallObject user_;
  SmallObject usage_;
};

TEST_F(RecordedUsageTest, OfTheRecordedUsagesTheOneThatStaysIsFoundAndNoOther) {
  PlayAll("usages");
  Wait(30min);
  EXPECT_EQ(story_, (Story{"+ stale-usage Usage keep-j8vff-pzk6h",
                           "- stale-usage Usage keep-j8vff-pzk6h"}));
  ASSERT_EQ(times_.size(), 2U);
  EXPECT_GE(times_[0], At("04:49:21"));
  EXPECT_LE(times_[0], At("04:49:27"));
  EXPECT_LE(times_[1], At("04:49:32")) << "its finalizer was removed at 04:49:27";
}

TEST_F(RecordedUsageTest, AUsageLeftBehindIsToldWithItsProofsAndTheTrapFirst) {
  Play("usages", At("04:00:00"), At("04:48:30"));
  Wait(10min);
  const auto found = Found();
  ASSERT_EQ(found.size(), 1U);
  const LiveFinding& finding = found[0];
  EXPECT_EQ(finding.detector, Detector::kStaleUsage);
  EXPECT_EQ(finding.mode, Mode::kWarn);
  EXPECT_EQ(finding.since, At("04:47:21"));
  ASSERT_EQ(finding.objects.size(), 2U);
  EXPECT_EQ(finding.objects[1].name, "keep-j8vff");
  EXPECT_EQ(finding.cause,
            "Usage keep-j8vff-pzk6h was dropped by XObjectStorage keep-j8vff, but stays while "
            "BucketPolicy keep-j8vff-b8s4c lives, and goes on refusing every deletion of Bucket "
            "keep-j8vff-nwrjl: a composite that drops it as well hangs without a condition or "
            "Event.");
  EXPECT_EQ(
      finding.evidence,
      "terminating since 2026-11-23T04:47:21Z; BucketPolicy keep-j8vff-b8s4c lives and is not "
      "terminating; resourceRefs of XObjectStorage keep-j8vff do not name the Usage");
  EXPECT_EQ(
      finding.remedy,
      "This Usage has replayDeletion: when it ends, Crossplane repeats any deletion of Bucket "
      "keep-j8vff-nwrjl that was ever refused, even a dry run. So, unless that shall go, first: "
      "`kubectl annotate bucket.s3.aws.upbound.io keep-j8vff-nwrjl "
      "usage.crossplane.io/deletion-attempt-with-policy-`. Then: with Crossplane 1.18.2 or newer "
      "`kubectl label usage.apiextensions.crossplane.io keep-j8vff-pzk6h "
      "crossplane.io/composite-`; before 1.18.2 `kubectl patch usage.apiextensions.crossplane.io "
      "keep-j8vff-pzk6h --type json -p "
      "'[{\"op\":\"remove\",\"path\":\"/metadata/finalizers\"}]'`.");
}

TEST_F(RecordedUsageTest, AnUpgradeCuresNoUsage) {
  Play("usages", At("04:00:00"), At("04:51:00"));
  Wait(3min);
  EXPECT_EQ(Resources(),
            (Story{"stale-usage Usage keep-j8vff-jnxcr", "stale-usage Usage stuck-7cg2p-z7n76"}));
}

TEST_F(RecordedUsageTest, AUsageWhoseUsingObjectIsSlowIsNotLeftBehind) {
  Play("usages", At("04:00:00"), At("04:47:05"));
  Wait(30min);
  EXPECT_EQ(story_, Story{}) << "its claim and composite are gone, its using object holds on";
}

TEST_F(UsageTest, WithAllProofsItIsFoundAfterTwoMinutes) {
  PutAll();
  Wait(118s);
  EXPECT_EQ(Resources(), Story{});
  Wait(4s);
  EXPECT_EQ(Resources(), Story{"stale-usage Usage u"});
  EXPECT_EQ(
      Found()[0].remedy,
      "with Crossplane 1.18.2 or newer `kubectl label usage.apiextensions.crossplane.io u "
      "crossplane.io/composite-`; before 1.18.2 `kubectl patch usage.apiextensions.crossplane.io u "
      "--type json -p '[{\"op\":\"remove\",\"path\":\"/metadata/finalizers\"}]'`.");
}

TEST_F(UsageTest, WhileItsCompositeTerminatesItIsNone) {
  xr_.metadata = deleted_;
  Lasts();
  EXPECT_EQ(story_, Story{});
}

TEST_F(UsageTest, WithoutItsCompositeItIsNone) {
  xr_.uid = "another";
  Lasts();
  EXPECT_EQ(story_, Story{});
}

TEST_F(UsageTest, WhileItsCompositeNamesItItIsNone) {
  xr_.rest =
      R"("spec":{"resourceRefs":[{"apiVersion":"apiextensions.crossplane.io/v1beta1","kind":"Usage","name":"u"}]})";
  Lasts();
  EXPECT_EQ(story_, Story{});
}

TEST_F(UsageTest, WhileItsUsingObjectTerminatesItIsNone) {
  user_.metadata = deleted_ + R"(,"finalizers":["x"])";
  Lasts();
  EXPECT_EQ(story_, Story{});
}

TEST_F(UsageTest, WithoutItsUsingObjectItIsNone) {
  user_.name = "another";
  Lasts();
  EXPECT_EQ(story_, Story{});
}

TEST_F(UsageTest, OneByAnObjectThatNobodyFollowsProvesNothing) {
  usage_.rest =
      R"("spec":{"of":{"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket","resourceRef":{"name":"b"}},
         "by":{"apiVersion":"helm.crossplane.io/v1beta1","kind":"Release","resourceRef":{"name":"p"}}})";
  Lasts();
  EXPECT_EQ(story_, Story{});
}

TEST_F(UsageTest, OneThatIsNotDeletedIsNone) {
  usage_.metadata = composed_ + "," + controlled_;
  Lasts();
  EXPECT_EQ(story_, Story{});
}

TEST_F(UsageTest, ARestoredOneWithoutControllerProvesNothing) {
  usage_.metadata = deleted_ + "," + composed_;
  Lasts();
  EXPECT_EQ(story_, Story{});
}

TEST_F(UsageTest, OneMadeByHandThatWaitsByDesignIsForInformation) {
  usage_.metadata = deleted_;
  Lasts();
  ASSERT_EQ(Resources(), Story{"stale-usage Usage u"});
  EXPECT_EQ(Found()[0].mode, Mode::kAudit);
  EXPECT_EQ(
      Found()[0].remedy,
      "with Crossplane 1.18.2 or newer `kubectl label usage.apiextensions.crossplane.io u "
      "crossplane.io/composite-`; before 1.18.2 `kubectl patch usage.apiextensions.crossplane.io u "
      "--type json -p '[{\"op\":\"remove\",\"path\":\"/metadata/finalizers\"}]'`.");
}

// Whoever may write a Usage writes what an operator is to paste.
TEST_F(UsageTest, WhatIsNoNameReachesNoCommand) {
  usage_.rest =
      R"("spec":{"replayDeletion":true,"of":{"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket",
         "resourceRef":{"name":"b; reboot"}},"by":{"apiVersion":"s3.aws.upbound.io/v1beta1",
         "kind":"BucketPolicy","resourceRef":{"name":"p"}}})";
  Lasts();
  ASSERT_EQ(Resources(), Story{"stale-usage Usage u"});
  EXPECT_EQ(
      Found()[0].remedy,
      "This Usage has replayDeletion: when it ends, Crossplane repeats any deletion of Bucket b; "
      "reboot that was ever refused, even a dry run. So, unless that shall go, first: `kubectl "
      "annotate KIND NAME usage.crossplane.io/deletion-attempt-with-policy-`. Then: with "
      "Crossplane 1.18.2 or newer `kubectl label usage.apiextensions.crossplane.io u "
      "crossplane.io/composite-`; before 1.18.2 `kubectl patch usage.apiextensions.crossplane.io u "
      "--type json -p '[{\"op\":\"remove\",\"path\":\"/metadata/finalizers\"}]'`.");
}

TEST_F(UsageTest, AClusterUsageIsFoundAndNoFinalizerIsTakenFromIt) {
  usage_.kind = kClusterUsage;
  Lasts();
  ASSERT_EQ(Resources(), Story{"stale-usage ClusterUsage u"});
  EXPECT_EQ(Found()[0].remedy,
            "`kubectl label clusterusage.protection.crossplane.io u crossplane.io/composite-`.");
}

TEST_F(UsageTest, AUsageInANamespaceIsOfItsCompositeThere) {
  const GroupKind policy{"s3.aws.m.upbound.io", "BucketPolicy"};
  cluster_.Serve({policy.group, "v1beta1", policy.kind, "bucketpolicies", true});
  cluster_.Serve({kXStorage.group, "v1alpha1", kXStorage.kind, "xobjectstorages", true});
  user_.kind = policy;
  xr_.rest =
      R"("spec":{"crossplane":{"resourceRefs":[{"apiVersion":"s3.aws.m.upbound.io/v1beta1","kind":"Bucket","name":"b"}]}})";
  usage_.kind = kNewUsage;
  usage_.rest =
      R"("spec":{"of":{"apiVersion":"s3.aws.m.upbound.io/v1beta1","kind":"Bucket","resourceRef":{"name":"b"}},
         "by":{"apiVersion":"s3.aws.m.upbound.io/v1beta1","kind":"BucketPolicy","resourceRef":{"name":"p"}}})";
  for (SmallObject* object : {&xr_, &user_, &usage_}) object->ns = "team-a";
  Lasts();
  ASSERT_EQ(Resources(), Story{"stale-usage Usage team-a/u"});
  xr_.rest =
      R"("spec":{"crossplane":{"resourceRefs":[{"apiVersion":"protection.crossplane.io/v1beta1","kind":"Usage","name":"u"}]}})";
  cluster_.Put(xr_);
  Wait(10s);
  EXPECT_EQ(Resources(), Story{}) << "its composite names it";
}

TEST_F(UsageTest, OneThatEndedWhileTheWatchWasLostIsNotKept) {
  Lasts();
  ASSERT_EQ(Resources().size(), 1U);
  cluster_.Remove(kUsage, "", "u");
  cluster_.Compact();
  driver_->EndWatches(ApiError{ApiErrorKind::kExpired, 410, "too old resource version", {}});
  Wait(1min);
  EXPECT_EQ(Resources(), Story{});
}

TEST_F(UsageTest, OneThatStaysWhileTheWatchWasLostStaysFound) {
  Lasts();
  cluster_.Compact();
  driver_->EndWatches(ApiError{ApiErrorKind::kExpired, 410, "too old resource version", {}});
  Wait(1min);
  EXPECT_EQ(story_, Story{"+ stale-usage Usage u"});
}

TEST_F(UsageTest, WithoutTheRightToReadThemCoverageSaysSo) {
  cluster_.FailLists(kUsage, ApiError{ApiErrorKind::kForbidden, 403, "no right", {}});
  Lasts();
  EXPECT_EQ(story_, Story{});
  const auto gaps = GapsOf("Usage.apiextensions.crossplane.io");
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].why,
            "Its objects cannot be listed, so Usages that are left behind are not found: "
            "forbidden: no right");
  EXPECT_TRUE(GapsOf("ClusterUsage.protection.crossplane.io").empty());
}

// ---- Deletions that they refuse ----

class BlockedTest : public UsageTest {
 protected:
  BlockedTest() {
    used_object_ = Bucket("b", "bucket", "b");
    used_object_.metadata += R"(,"labels":{"crossplane.io/in-use":"true"})";
  }
  void Asked(int times, std::chrono::milliseconds apart = 1min) {
    for (int i = 0; i < times; ++i) {
      detectors_.OnDeletionAsked({"test", kBucket.group, kBucket.kind, "", "b"});
      Wait(apart);
    }
  }
  std::vector<LiveFinding> Blocked() const {
    std::vector<LiveFinding> out;
    for (LiveFinding& finding : Found()) {
      if (finding.detector == Detector::kDeletionBlocked) out.push_back(std::move(finding));
    }
    return out;
  }

  SmallObject used_object_;
};

TEST_F(BlockedTest, WhatCrossplaneDeletesInVainIsFoundWithTheTrapFirst) {
  cluster_.Put(used_object_);
  usage_.rest.replace(usage_.rest.find("{") + 1, 0, R"("replayDeletion":true,)");
  Lasts();
  Asked(2);
  EXPECT_TRUE(Blocked().empty()) << "twice is not again and again";
  Asked(1);
  const auto found = Blocked();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].resource, "Bucket b");
  EXPECT_EQ(found[0].cause,
            "Crossplane tries to delete Bucket b again and again, and only Usage u, left behind, "
            "refuses it: its composite hangs without a condition or Event, and stays Synced.");
  EXPECT_EQ(
      found[0].remedy,
      "This Usage has replayDeletion: when it ends, Crossplane repeats any deletion of Bucket b "
      "that was ever refused, even a dry run. So, unless that shall go, first: `kubectl annotate "
      "bucket.s3.aws.upbound.io b usage.crossplane.io/deletion-attempt-with-policy-`. Then: with "
      "Crossplane 1.18.2 or newer `kubectl label usage.apiextensions.crossplane.io u "
      "crossplane.io/composite-`; before 1.18.2 `kubectl patch usage.apiextensions.crossplane.io u "
      "--type json -p '[{\"op\":\"remove\",\"path\":\"/metadata/finalizers\"}]'`.");
}

TEST_F(BlockedTest, ItEndsWithTheUsageTheObjectOrTheTries) {
  cluster_.Put(used_object_);
  Lasts();
  Asked(3);
  ASSERT_EQ(Blocked().size(), 1U);
  Wait(11min);
  EXPECT_TRUE(Blocked().empty()) << "nobody tries any more";
  Asked(3);
  ASSERT_EQ(Blocked().size(), 1U);
  cluster_.Remove(kUsage, "", "u");
  Wait(10s);
  EXPECT_TRUE(Blocked().empty());
}

TEST_F(BlockedTest, SlowTriesAreNone) {
  cluster_.Put(used_object_);
  Lasts();
  Asked(6, 6min);
  EXPECT_TRUE(Blocked().empty());
}

TEST_F(BlockedTest, WhatAnotherUsageProtectsIsRightlyRefused) {
  cluster_.Put(used_object_);
  SmallObject other = usage_;
  other.name = "other";
  other.uid = "other";
  other.metadata = composed_ + "," + controlled_;
  cluster_.Put(other);
  Lasts();
  Asked(4);
  EXPECT_TRUE(Blocked().empty());
}

TEST_F(BlockedTest, WhatIsNotInUseOrTerminatesIsNone) {
  cluster_.Put(Bucket("b", "bucket", "b"));
  Lasts();
  Asked(4);
  EXPECT_TRUE(Blocked().empty()) << "no label in-use";
  used_object_.metadata += "," + deleted_ + R"(,"finalizers":["x"])";
  cluster_.Put(used_object_);
  Asked(4);
  EXPECT_TRUE(Blocked().empty()) << "it goes";
}

TEST_F(BlockedTest, ARightfulUsageAloneIsNone) {
  cluster_.Put(used_object_);
  usage_.metadata = composed_ + "," + controlled_;
  Lasts();
  Asked(4);
  EXPECT_EQ(story_, Story{});
}

}  // namespace detect_usages_test
}  // namespace truce::testing
