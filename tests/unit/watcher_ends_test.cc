// Ends of what lies in an account: whether the ProviderConfig was the same all along (E8).
#include "tests/support/watcher_fixture.h"
#include "webhook/watch/history.h"

namespace truce::testing {
namespace watcher_ends_test {

SmallObject Config(const std::string& role, int generation = 1) {
  SmallObject object{kConfig, "", "default", "pc-1", {}, {}};
  object.metadata = R"("generation":)" + std::to_string(generation);
  object.rest =
      R"("spec":{"credentials":{"source":"Upbound","upbound":{"webIdentity":{"roleARN":")" + role +
      R"("}}}})";
  return object;
}

const char* const kRoleA = "arn:aws:iam::111111111111:role/a";
const char* const kRoleB = "arn:aws:iam::222222222222:role/b";

SmallObject Queue(const std::string& status, const std::string& metadata = {}) {
  SmallObject object{kQueue, "", "q", "q1", {}, {}};
  object.metadata = R"("annotations":{"crossplane.io/external-name":"jobs"})" + metadata;
  object.rest = R"("spec":{"forProvider":{"name":"jobs","region":"eu-west-1"},
      "providerConfigRef":{"name":"default"}})" +
                status;
  return object;
}

SmallObject Alive() {
  return Queue(R"(,"status":{"atProvider":{"arn":"arn:aws:sqs:eu-west-1:111111111111:jobs"},
      "conditions":[{"type":"Ready","status":"True","reason":"Available"},
      {"type":"Synced","status":"True","reason":"ReconcileSuccess"}]})");
}

SmallObject Deleting() {
  return Queue(R"(,"status":{"atProvider":{"arn":"arn:aws:sqs:eu-west-1:111111111111:jobs"},
      "conditions":[{"type":"Ready","status":"False","reason":"Deleting"},
      {"type":"Synced","status":"True","reason":"ReconcileSuccess"}]})",
               R"(,"deletionTimestamp":"2026-01-02T00:00:00Z")");
}

class WatcherEnds : public WatcherTest {
 protected:
  WatcherEnds() {
    cluster_.Serve({kConfig.group, "v1beta1", kConfig.kind, "providerconfigs", false});
    cluster_.Put(Config(kRoleA));
    cluster_.Put(Alive());
    driver_->Settle();
    EXPECT_TRUE(OwnerOf("jobs"));
  }
  void Delete() {
    cluster_.Put(Deleting());
    cluster_.Remove(kQueue, "", "q");
  }
};

TEST_F(WatcherEnds, AnEndUnderTheSameProviderConfigFrees) {
  Delete();
  driver_->Settle();
  EXPECT_FALSE(OwnerOf("jobs"));
}

TEST_F(WatcherEnds, AnEndThatNobodyWatchedIsToldAfterwardsWithWhatWasBefore) {
  driver_->Advance(20s);
  cluster_.Put(Alive());
  Delete();
  Start();
  driver_->Advance(10s);
  EXPECT_FALSE(OwnerOf("jobs"));
}

TEST_F(WatcherEnds, WhoseStateBeforeNobodyTellsAfterwardsIsLeftOrphaned) {
  driver_->Advance(20s);
  cluster_.Put(Alive());
  cluster_.Put(Config(kRoleB));
  Delete();
  Start();
  driver_->Advance(10s);
  ASSERT_TRUE(OwnerOf("jobs"));
  EXPECT_EQ(OwnerOf("jobs")->record, Record::kOrphaned);
}

// A change of the server that watches: the next one sees the object only when it is `Deleting`.
class WatcherEndsLedAgain : public WatcherEnds {
 protected:
  WatcherEndsLedAgain() { driver_->Advance(20s); }
  void LeadAgain() {
    Start();
    driver_->Settle();
    ASSERT_TRUE(OwnerOf("jobs"));
  }
  void EndsOrphaned() {
    End();
    ASSERT_TRUE(OwnerOf("jobs"));
    EXPECT_EQ(OwnerOf("jobs")->record, Record::kOrphaned);
  }
  void EndsFree() {
    End();
    EXPECT_FALSE(OwnerOf("jobs"));
  }

 private:
  void End() {
    cluster_.Remove(kQueue, "", "q");
    driver_->Advance(5s);
  }
};

TEST_F(WatcherEndsLedAgain, WhatWasNotDeletingWhenTheRegistryWasToldLastFrees) {
  cluster_.Put(Deleting());
  LeadAgain();
  EndsFree();
}

TEST_F(WatcherEndsLedAgain, WhatTheServerBeforeSawDeletingFrees) {
  cluster_.Put(Deleting());
  driver_->Advance(20s);
  LeadAgain();
  driver_->Advance(20s);
  LeadAgain();
  EndsFree();
}

TEST_F(WatcherEndsLedAgain, WhatTheServerBeforeSawDeletingAndNobodySawEndFrees) {
  cluster_.Put(Deleting());
  driver_->Advance(20s);
  cluster_.Remove(kQueue, "", "q");
  Start();
  driver_->Advance(10s);
  EXPECT_FALSE(OwnerOf("jobs"));
}

TEST_F(WatcherEndsLedAgain, AStatusOfItsProviderConfigChangesNothing) {
  cluster_.Put(Deleting());
  driver_->Advance(20s);
  cluster_.Put(Config(kRoleA));
  LeadAgain();
  EndsFree();
}

TEST_F(WatcherEndsLedAgain, AGapInTheWatchOfProviderConfigsChangesNothing) {
  cluster_.Put(Deleting());
  driver_->Settle();
  driver_->EndWatches(ApiError{ApiErrorKind::kExpired, 410, "too old", {}});
  cluster_.Put(Config(kRoleA));
  cluster_.Compact();
  driver_->Advance(20s);
  EndsFree();
}

TEST_F(WatcherEndsLedAgain, AProviderConfigEditedMeanwhileLeavesItOrphaned) {
  cluster_.Put(Deleting());
  cluster_.Put(Config(kRoleB, 2));
  LeadAgain();
  EndsOrphaned();
}

TEST_F(WatcherEndsLedAgain, AProviderConfigEditedToAndFroLeavesItOrphaned) {
  cluster_.Put(Deleting());
  driver_->Advance(20s);
  cluster_.Put(Config(kRoleB, 2));
  cluster_.Put(Config(kRoleA, 3));
  LeadAgain();
  EndsOrphaned();
}

TEST_F(WatcherEndsLedAgain, AnEditThatTheServerBeforeSawWhileItWasDeletingLeavesItOrphaned) {
  cluster_.Put(Deleting());
  driver_->Settle();
  // Only its generation tells: of an edit that is seen by itself the row knows.
  driver_->EndWatches(ApiError{ApiErrorKind::kExpired, 410, "too old", {}});
  cluster_.Put(Config(kRoleB, 2));
  cluster_.Put(Config(kRoleA, 3));
  cluster_.Compact();
  driver_->Advance(20s);
  LeadAgain();
  EndsOrphaned();
}

TEST_F(WatcherEndsLedAgain, AProviderConfigMadeAnewLeavesItOrphaned) {
  cluster_.Put(Deleting());
  cluster_.Remove(kConfig, "", "default");
  SmallObject anew = Config(kRoleA);
  anew.uid = "pc-2";
  cluster_.Put(anew);
  LeadAgain();
  EndsOrphaned();
}

TEST_F(WatcherEndsLedAgain, WhomNobodySawOtherwiseThanDeletingLeavesItOrphaned) {
  SmallObject other = Deleting();
  other.name = "other";
  other.uid = "q2";
  other.metadata = R"("annotations":{"crossplane.io/external-name":"others"},)"
                   R"("deletionTimestamp":"2026-01-02T00:00:00Z")";
  other.rest.replace(other.rest.find("jobs"), 4, "others");
  other.rest.replace(other.rest.rfind("jobs"), 4, "others");
  cluster_.Put(other);
  Start();
  driver_->Advance(20s);
  Start();
  driver_->Settle();
  ASSERT_TRUE(OwnerOf("others"));
  cluster_.Remove(kQueue, "", "other");
  driver_->Advance(5s);
  ASSERT_TRUE(OwnerOf("others"));
  EXPECT_EQ(OwnerOf("others")->record, Record::kOrphaned);
}

TEST_F(WatcherEnds, AChangeThatTheWatchHasNotToldYetIsAskedFor) {
  // The watch of ProviderConfigs lags: only the quorum read knows of the change.
  driver_->hold_kind = kConfig;
  cluster_.Put(Config(kRoleB));
  Delete();
  driver_->Advance(5s);
  ASSERT_TRUE(OwnerOf("jobs")) << "nobody knows yet under which account it ended";
  driver_->hold_kind.reset();
  driver_->Advance(5s);
  ASSERT_TRUE(OwnerOf("jobs"));
  EXPECT_EQ(OwnerOf("jobs")->record, Record::kOrphaned);
}

TEST_F(WatcherEnds, AChangeToAndFroBeforeTheEndLeavesItOrphaned) {
  driver_->hold_kind = kConfig;
  cluster_.Put(Deleting());
  cluster_.Put(Config(kRoleB));
  cluster_.Remove(kQueue, "", "q");
  cluster_.Put(Config(kRoleA));
  driver_->Advance(5s);
  driver_->hold_kind.reset();
  driver_->Advance(5s);
  ASSERT_TRUE(OwnerOf("jobs"));
  EXPECT_EQ(OwnerOf("jobs")->record, Record::kOrphaned);
}

TEST_F(WatcherEnds, AChangeAfterTheEndDoesNotConcernIt) {
  driver_->hold_kind = kConfig;
  Delete();
  cluster_.Put(Config(kRoleB));
  driver_->Advance(5s);
  ASSERT_TRUE(OwnerOf("jobs"));
  driver_->hold_kind.reset();
  driver_->Advance(5s);
  EXPECT_FALSE(OwnerOf("jobs"));
}

TEST_F(WatcherEnds, AProviderConfigThatGoesAfterTheEndDoesNotConcernIt) {
  driver_->hold_kind = kConfig;
  Delete();
  cluster_.Remove(kConfig, "", "default");
  driver_->Advance(5s);
  driver_->hold_kind.reset();
  driver_->Advance(5s);
  EXPECT_FALSE(OwnerOf("jobs"));
}

TEST_F(WatcherEnds, WithoutAnAnswerItIsLeftOrphaned) {
  cluster_.FailGets(ApiError{ApiErrorKind::kForbidden, 403, "no", {}});
  Delete();
  driver_->Advance(60s);
  ASSERT_TRUE(OwnerOf("jobs"));
  EXPECT_EQ(OwnerOf("jobs")->record, Record::kOrphaned);
}

TEST_F(WatcherEnds, AnEndWhoseLastQuietVersionNobodySawIsLeftOrphaned) {
  cluster_.Put(Deleting());
  driver_->Settle();
  // What an earlier version of Truce kept.
  ASSERT_TRUE(driver_->watcher()
                  .reconciler()
                  .store()
                  .Keep("positions", "Queue." + kQueue.group + " 100\n")
                  .ok());
  Start();  // a new process sees it deleting only
  driver_->Settle();
  cluster_.Remove(kQueue, "", "q");
  driver_->Advance(5s);
  ASSERT_TRUE(OwnerOf("jobs"));
  EXPECT_EQ(OwnerOf("jobs")->record, Record::kOrphaned);
}

TEST(ConfigHistory, TellsWhatWasTheSameThroughout) {
  const ProviderConfigName config{"aws.upbound.io", "ProviderConfig", "", "default"};
  ConfigHistory history;
  EXPECT_EQ(history.Throughout(config, 5, 9), "none");
  history.Saw(config, 10, "a", {});
  EXPECT_EQ(history.Throughout(config, 12, 14), "a");
  EXPECT_EQ(history.Throughout(config, 8, 14), std::nullopt) << "it came in between";
  history.Saw(config, 15, "a", {});  // its status only
  EXPECT_EQ(history.Throughout(config, 12, 14), "a");
  EXPECT_TRUE(history.Knows(config, 15));
  EXPECT_FALSE(history.Knows(config, 16));
  EXPECT_FALSE(history.Knows(config, std::nullopt));
  history.Saw(config, 20, "b", {});
  EXPECT_EQ(history.Throughout(config, 12, 19), "a");
  EXPECT_EQ(history.Throughout(config, 12, 20), std::nullopt);
  EXPECT_EQ(history.Throughout(config, 20, 30), "b");
  history.Saw(config, 30, "a", {});
  EXPECT_EQ(history.Throughout(config, 12, 40), std::nullopt) << "to and fro";
  history.Gone(config, 50);
  EXPECT_TRUE(history.Knows(config, std::nullopt));
  EXPECT_EQ(history.Throughout(config, 35, 49), "a");
  EXPECT_TRUE(history.Fields().empty());
}

TEST(ConfigHistory, AGapHidesWhatWasInIt) {
  const ProviderConfigName config{"aws.upbound.io", "ProviderConfig", "", "default"};
  const ProviderConfigName other{"aws.upbound.io", "ProviderConfig", "", "other"};
  ConfigHistory history;
  history.Saw(config, 10, "a", {});
  history.Saw(other, 11, "o", {});
  history.BeginList({"aws.upbound.io", "ProviderConfig"});
  history.Saw(config, 10, "a", {});
  history.FinishList({"aws.upbound.io", "ProviderConfig"});
  EXPECT_EQ(history.Throughout(config, 10, 20), "a") << "the same version: nothing happened";
  EXPECT_EQ(history.Fields().size(), 1U) << "the list did not hold the other";
  history.BeginList({"aws.upbound.io", "ProviderConfig"});
  history.Saw(config, 30, "a", {});
  EXPECT_EQ(history.Throughout(config, 10, 40), std::nullopt);
  EXPECT_EQ(history.Throughout(config, 30, 40), "a");
}

TEST(ConfigHistory, OfOneGenerationAGapHidesNothing) {
  const ProviderConfigName config{"aws.upbound.io", "ProviderConfig", "", "default"};
  const GroupKind kind{"aws.upbound.io", "ProviderConfig"};
  ConfigHistory history;
  history.Saw(config, 10, "a", {"u", "1"});
  history.BeginList(kind);
  history.Saw(config, 30, "a", {"u", "1"});
  history.FinishList(kind);
  EXPECT_EQ(history.Throughout(config, 10, 40), "a");
  EXPECT_TRUE(history.Knows(config, 30));
  const KnownSpecs known{{config, {{"u", "1"}, 10}}};
  EXPECT_EQ(history.Known(), known);
  history.BeginList(kind);
  history.Saw(config, 50, "a", {"u", "3"});
  EXPECT_EQ(history.Throughout(config, 10, 60), std::nullopt);
}

TEST(ConfigHistory, GoesOnWhereAnotherOneEnded) {
  const ProviderConfigName config{"aws.upbound.io", "ProviderConfig", "", "default"};
  const ProviderConfigName other{"aws.upbound.io", "ProviderConfig", "ns", "other"};
  const KnownSpecs known{{config, {{"u", "1"}, 10}}, {other, {{"o", "2"}, 11}}};
  EXPECT_EQ(KnownSpecsFromText(ToText(known)), known);
  EXPECT_EQ(KnownSpecsFromText("x\n\n" + ToText(known) + "a/b//c u 1 many\na/b//c u\n"), known);
  ConfigHistory history;
  history.Saw(config, 30, "a", {"u", "1"});
  history.Remember(known);  // late: the store did not answer at once
  history.Saw(other, 31, "b", {"o", "3"});
  EXPECT_EQ(history.Throughout(config, 10, 40), "a");
  EXPECT_EQ(history.Throughout(other, 12, 40), std::nullopt);
  EXPECT_EQ(history.Throughout(other, 31, 40), "b");
}

}  // namespace watcher_ends_test
}  // namespace truce::testing
