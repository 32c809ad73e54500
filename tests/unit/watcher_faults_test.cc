// The watcher when things fail: kinds that cannot be listed, rights, definitions, stores, odd
// objects; and what accounts and rules change.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/watcher_fixture.h"

namespace truce::testing {
namespace watcher_faults_test {

TEST_F(WatcherTest, AKindThatCannotBeListedDoesNotStopTheStart) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  cluster_.FailLists(kQueue, ApiError{ApiErrorKind::kForbidden, 403, "no right", {}});
  driver_->Settle();
  EXPECT_TRUE(driver_->watcher().ready());
  EXPECT_TRUE(OwnerOf("alpha"));
  EXPECT_EQ(seen_.states.at(kQueue).state, KindState::kFailing);
  EXPECT_EQ(driver_->watcher().Unwatched(), std::set<GroupKind>{kQueue});
  EXPECT_EQ(driver_->watcher().KnownFor(driver_->now, "s3/Bucket"), Watcher::Known::kYes);
  EXPECT_EQ(driver_->watcher().KnownFor(driver_->now, "sqs/Queue"), Watcher::Known::kGrace);
  EXPECT_EQ(driver_->watcher().KnownFor(driver_->now + 301s, "sqs/Queue"), Watcher::Known::kOver);
  cluster_.FailLists(kQueue, std::nullopt);
  driver_->Advance(60s);
  EXPECT_EQ(driver_->watcher().KnownFor(driver_->now, "sqs/Queue"), Watcher::Known::kYes);
  EXPECT_FALSE(driver_->watcher().resynced() &&
               seen_.states.at(kQueue).state == KindState::kFailing);
}

TEST_F(WatcherTest, RightsTakenAwayAndGivenBackReleaseNothing) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  driver_->Settle();
  cluster_.FailLists(kBucket, ApiError{ApiErrorKind::kForbidden, 403, "no right", {}});
  cluster_.FailWatches(ApiError{ApiErrorKind::kForbidden, 403, "no right", {}});
  driver_->Advance(600s);
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kNone);
  EXPECT_EQ(driver_->unresolved.ReasonOf(OwnerOf("alpha")->root),
            "objects of Bucket.s3.aws.upbound.io cannot be seen (forbidden: no right): nothing of "
            "it is released until they can");
  cluster_.FailLists(kBucket, std::nullopt);
  cluster_.FailWatches(std::nullopt);
  driver_->Advance(60s);
  EXPECT_EQ(driver_->unresolved.size(), 0U);
  EXPECT_EQ(seen_.states.at(kBucket).state, KindState::kWatched);
}

TEST_F(WatcherTest, AKindThatIsNoLongerServedReleasesNothing) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  driver_->Settle();
  cluster_.Stop(kBucket);
  driver_->Advance(600s);
  EXPECT_EQ(seen_.states.at(kBucket).state, KindState::kUnserved);
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kNone);
  EXPECT_FALSE(driver_->unresolved.ReasonOf(OwnerOf("alpha")->root).empty());
  cluster_.Serve({kBucket.group, "v1beta2", kBucket.kind, "buckets", false});
  driver_->Advance(60s);
  EXPECT_EQ(seen_.states.at(kBucket).state, KindState::kWatched);
  EXPECT_EQ(driver_->unresolved.size(), 0U);
}

TEST_F(WatcherTest, DeletionsWithTheirDefinitionWitnessNothing) {
  cluster_.Serve({kCrd.group, "v1", kCrd.kind, "customresourcedefinitions", false});
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  driver_->Settle();
  cluster_.Put({kCrd,
                "",
                "buckets.s3.aws.upbound.io",
                "crd-1",
                R"("deletionTimestamp":"2026-01-01T00:00:00Z")",
                {}});
  driver_->Settle();
  cluster_.Put(Finished(Bucket("a", "u1", "alpha")));
  cluster_.Remove(kBucket, "", "a");
  driver_->Settle();
  ASSERT_TRUE(OwnerOf("alpha"));
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kOrphaned);
}

TEST_F(WatcherTest, AProviderInstalledLaterIsPickedUp) {
  driver_->Settle();
  const GroupKind topic{"sns.aws.upbound.io", "Topic"};
  cluster_.Serve({topic.group, "v1beta1", topic.kind, "topics", false});
  driver_->Advance(30s);
  ASSERT_TRUE(seen_.states.contains(topic));
  EXPECT_EQ(seen_.states.at(topic).state, KindState::kEmpty);
}

TEST_F(WatcherTest, ADuplicatedAndAReplayedEventChangeNothing) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  driver_->Settle();
  const StoreContents once = Contents();
  driver_->Advance(5s);
  driver_->EndWatches(std::nullopt);
  driver_->Advance(5s);
  EXPECT_EQ(Contents(), once);
}

TEST_F(WatcherTest, AQuorumReadAheadOfTheStreamWaitsForWhatLivedInBetween) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  driver_->Settle();
  driver_->hold_events = true;
  cluster_.Put(Real(Bucket("a", "u1", "beta")));
  cluster_.Put(Real(Bucket("a", "u1", "gamma")));
  driver_->watcher().reconciler().LookAt({"test", kBucket.group, kBucket.kind, "", "a"});
  driver_->Settle();
  EXPECT_FALSE(OwnerOf("gamma")) << "the stream has not told of what came before";
  driver_->hold_events = false;
  driver_->Settle();
  ASSERT_TRUE(OwnerOf("beta"));
  EXPECT_EQ(OwnerOf("beta")->record, Record::kOrphaned) << "it was made, and left";
  EXPECT_EQ(OwnerOf("gamma")->record, Record::kNone);
}

// History 24: a read saw the id that AWS gave, then the watch tells an older version.
TEST_F(WatcherTest, AnOlderVersionThanTheOneThatAProofSawEndsNothing) {
  const GroupKind kind{"ec2.aws.upbound.io", "SecurityGroup"};
  cluster_.Serve({kind.group, "v1beta1", kind.kind, "securitygroups", false});
  SmallObject group{kind, "", "web", "u1", {}, {}};
  group.rest = R"("spec":{"forProvider":{"region":"eu-west-1","name":"web","vpcId":"vpc-1"}})";
  cluster_.Put(group);
  driver_->Settle();
  const auto has_id = [&] {
    for (const ResourceName& name : Contents().names) {
      if (name.name.text.ends_with("sg-0123456789abcdef0")) return true;
    }
    return false;
  };
  driver_->hold_events = true;
  group.metadata = R"("labels":{"tier":"gold"})";
  cluster_.Put(group);
  group.metadata = R"("annotations":{"crossplane.io/external-name":"sg-0123456789abcdef0"})";
  cluster_.Put(Real(group));
  driver_->watcher().reconciler().LookAt({"test", kind.group, kind.kind, "", "web"});
  driver_->Settle();
  driver_->hold_events = false;
  driver_->Settle();
  EXPECT_TRUE(has_id());
  driver_->EndWatches(std::nullopt);
  driver_->Advance(5s);
  EXPECT_TRUE(has_id());
  for (const AuditEntry& line : Contents().audit) {
    EXPECT_EQ(line.action, AuditAction::kGranted) << line.cause;
  }
}

TEST_F(WatcherTest, AReservationThatCameTrueAndEndedBehindALaggingStreamIsReal) {
  cluster_.Put(Real(Bucket("b", "u2", "beta")));
  driver_->Settle();
  Admit(Bucket("a", "u1", "alpha"));
  driver_->Settle();
  driver_->hold_events = true;
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  cluster_.Remove(kBucket, "", "a");
  driver_->Advance(240s);  // its reservation is due: the read finds nothing
  ASSERT_TRUE(OwnerOf("alpha")) << "the stream has not passed the question";
  driver_->hold_events = false;
  driver_->Advance(10s);
  ASSERT_TRUE(OwnerOf("alpha"));
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kOrphaned);
}

TEST_F(WatcherTest, AWatchThatNeverSaysHowFarItCameBlocksNoNameForEver) {
  cluster_.Put(Real(Bucket("b", "u2", "beta")));
  driver_->Settle();
  Admit(Bucket("a", "u1", "alpha"));
  driver_->Settle();
  driver_->hold_events = true;
  cluster_.Put({kCrd, "", "others.example.org", "crd-1", {}, {}});  // versions go on
  driver_->Advance(400s);
  EXPECT_TRUE(OwnerOf("alpha"));
  driver_->Advance(600s);
  EXPECT_FALSE(OwnerOf("alpha"));
}

TEST_F(WatcherTest, AnAnswerThatSawAnObjectBeforeItsEndDoesNotBringItBack) {
  driver_->Settle();
  Admit(Bucket("a", "u1", "alpha"));
  driver_->Settle();
  driver_->hold_events = true;
  driver_->hold_answers = true;
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  driver_->Advance(190s);  // its reservation is due: the GET sees it alive
  cluster_.Remove(kBucket, "", "a");
  driver_->hold_events = false;
  driver_->Settle();
  ASSERT_TRUE(RowsOf("u1").empty()) << "the watch told its end";
  driver_->hold_answers = false;
  driver_->Advance(60s);
  EXPECT_TRUE(RowsOf("u1").empty());
  EXPECT_TRUE(Contents().objects.empty());
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kOrphaned);
}

TEST_F(WatcherTest, AnAnswerOlderThanThePollOfAnEmptyKindIsAskedForAgain) {
  driver_->Settle();
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  driver_->hold_answers = true;
  driver_->watcher().reconciler().LookAt({"test", kBucket.group, kBucket.kind, "", "a"});
  driver_->Settle();
  cluster_.Remove(kBucket, "", "a");
  driver_->Advance(
      700s);  // polled: what comes after this version is watched, the end before is not
  driver_->hold_answers = false;
  driver_->Advance(60s);
  EXPECT_FALSE(OwnerOf("alpha")) << "nobody would ever tell of its end";
  EXPECT_TRUE(Contents().objects.empty());
}

TEST_F(WatcherTest, AFailingStoreLosesNothing) {
  driver_->Settle();
  Admit(Bucket("a", "u1", "alpha"));
  faulty_.BreakWrites({ErrorCode::kUnavailable, "disk full"});
  cluster_.Put(Bucket("a", "u1", "alpha"));
  driver_->Advance(30s);
  EXPECT_FALSE(driver_->watcher().status().store_problem.empty());
  EXPECT_EQ(OwnerOf("alpha")->state, HolderState::kReserved);
  faulty_.Mend();
  driver_->Advance(15s);
  EXPECT_EQ(OwnerOf("alpha")->state, HolderState::kHeld);
  EXPECT_TRUE(driver_->watcher().status().store_problem.empty());
}

TEST_F(WatcherTest, TheStartSurvivesAStoreThatFailsAndLosesAnswers) {
  for (int i = 0; i < 300; ++i) {
    const std::string n = std::to_string(i);
    cluster_.Put(Real(Bucket("a" + n, "u" + n, "name-" + n)));
  }
  faulty_.FailNextRead({ErrorCode::kUnavailable, "busy"});
  faulty_.LoseNextAnswer({ErrorCode::kDeadlineExceeded, "too slow"});
  faulty_.FailNextApply({ErrorCode::kUnavailable, "busy"});
  driver_->Advance(60s);
  EXPECT_TRUE(driver_->watcher().ready());
  EXPECT_EQ(store_.Counts().held, 300U);
}

TEST_F(WatcherTest, ListsInPagesAreAppliedWhole) {
  options_.times.page = 7;
  Start();
  for (int i = 0; i < 50; ++i) {
    const std::string n = std::to_string(i);
    cluster_.Put(Real(Bucket("a" + n, "u" + n, "name-" + n)));
  }
  driver_->Settle();
  EXPECT_EQ(store_.Counts().held, 50U);
}

TEST_F(WatcherTest, AnUnchangedRelistTouchesTheStoreNotAtAll) {
  for (int i = 0; i < 50; ++i) {
    const std::string n = std::to_string(i);
    cluster_.Put(Real(Bucket("a" + n, "u" + n, "name-" + n)));
  }
  driver_->Settle();
  const auto before = driver_->watcher().status().reconcile;
  driver_->EndWatches(ApiError{ApiErrorKind::kExpired, 410, "too old", {}});
  driver_->Advance(5s);
  EXPECT_EQ(driver_->watcher().status().reconcile.observed_versions, before.observed_versions);
  driver_->watcher().Resync(driver_->now);
  EXPECT_FALSE(driver_->watcher().resynced());
  driver_->Advance(5s);
  EXPECT_TRUE(driver_->watcher().resynced());
  EXPECT_EQ(driver_->watcher().status().reconcile.skipped, before.skipped + 50)
      << "looked at, but nothing to write";
}

TEST_F(WatcherTest, AConfigurationOfAnAccountReKeysWhatStoodUnderAProvisionalAccount) {
  cluster_.Serve({kConfig.group, "v1beta1", kConfig.kind, "providerconfigs", false});
  SmallObject queue{kQueue, "", "q", "u1", {}, {}};
  queue.rest = R"("spec":{"forProvider":{"region":"eu-west-1","name":"orders"},
      "providerConfigRef":{"name":"prod"}})";
  cluster_.Put(queue);
  driver_->Settle();
  ASSERT_EQ(Contents().owners.size(), 1U);
  const Owner before = Contents().owners.front();
  EXPECT_EQ(before.identity.account, "?test/aws.upbound.io/ProviderConfig//prod");
  cluster_.Put({kConfig,
                "",
                "prod",
                "pc-1",
                {},
                R"("spec":{"credentials":{"source":"IRSA"},"assumeRoleChain":[
                   {"roleARN":"arn:aws:iam::111111111111:role/a"},
                   {"roleARN":"arn:aws:iam::222222222222:role/b"}]})"});
  driver_->Settle();
  ASSERT_EQ(Contents().owners.size(), 1U);
  const Owner after = Contents().owners.front();
  EXPECT_EQ(after.identity.account, "222222222222");
  EXPECT_EQ(after.id, before.id) << "the public id stays";
  EXPECT_EQ(driver_->accounts.at({kConfig.group, kConfig.kind, "", "prod"}), "222222222222");
  // The ProviderConfig goes, the process starts anew: what is known stays known.
  cluster_.Remove(kConfig, "", "prod");
  Start();
  driver_->Settle();
  EXPECT_EQ(Contents().owners.front().identity.account, "222222222222");
}

TEST_F(WatcherTest, OtherKindsAreHandedOn) {
  FollowedKind events;
  events.selection.kind = {"", "v1", "Event", "events", true};
  events.selection.field_selector = "reason=UpdatedExternalResource";
  events.role = Role::kOther;
  options_.others = {events};
  cluster_.Serve(events.selection.kind);
  Start();
  driver_->Settle();
  cluster_.Put({{"", "Event"}, "default", "e", "e1", {}, R"("reason":"UpdatedExternalResource")"});
  driver_->Settle();
  EXPECT_EQ(seen_.others, std::vector<std::string>{"Event"});
}

TEST_F(WatcherTest, UnreadableObjectsArePassedOver) {
  cluster_.Put({kBucket, "", "a", "", {}, {}});
  cluster_.Put({kBucket, "", "b", "u2", "\"x\":", {}});
  cluster_.Put(Real(Bucket("c", "u3", "gamma")));
  driver_->Settle();
  EXPECT_TRUE(OwnerOf("gamma"));
  EXPECT_EQ(driver_->watcher().reconciler().status().unreadable, 2U);
  const auto names = [&] {
    std::set<std::string> out;
    for (const auto& [object, gone] : seen_.unread) out.insert(object.name + (gone ? " gone" : ""));
    return out;
  };
  EXPECT_EQ(names(), (std::set<std::string>{"a", "b"}));
  cluster_.Remove(kBucket, "", "b");
  driver_->Settle();
  EXPECT_EQ(names(), (std::set<std::string>{"a", "b", "b gone"}));
}

// Whatever an API server stores: numbers as Go writes them, depth, number of values, size.
TEST_F(WatcherTest, NothingHidesADeclaration) {
  std::string deep = "1";
  for (int i = 0; i < 5000; ++i) deep = R"({"a":[)" + deep + "]}";
  std::string values = "[0";
  for (int i = 0; i < 1'000'000; ++i) values += ",0";
  values += "]";
  const std::string half(4'500'000, 'x');
  const std::vector<std::string> fillings = {"18446744073709551616",
                                             "100000000000000000000",
                                             "-9223372036854775809",
                                             "1e+21",
                                             "1e400",
                                             "1e-7",
                                             deep,
                                             values,
                                             "[" + deep + "," + values + "]",
                                             '"' + half + half + '"'};
  int number = 0;
  for (const std::string& filling : fillings) {
    const std::string name = "hidden-" + std::to_string(++number);
    SmallObject object = Bucket(name, "u-" + name, name);
    for (const char* place : {"aaa", "spec"}) {
      SmallObject hidden = object;
      hidden.rest = place == std::string("aaa")
                        ? R"("aaa":)" + filling + "," + hidden.rest
                        : R"("spec":{"forProvider":{"region":"eu-west-1","zzz":)" + filling + "}}";
      hidden.name += std::string("-") + place;
      hidden.uid += std::string("-") + place;
      cluster_.Put(hidden);
    }
    driver_->Settle();
    EXPECT_TRUE(OwnerOf(name)) << number;
    EXPECT_EQ(RowsOf("u-" + name + "-aaa").size(), 1U) << number;
    EXPECT_EQ(RowsOf("u-" + name + "-spec").size(), 1U) << number;
  }
  EXPECT_EQ(driver_->watcher().reconciler().status().unreadable, 0U);
}

TEST_F(WatcherTest, ASlotWhoseReviewEndedUnknownIsLookedAtFirst) {
  driver_->Settle();
  cluster_.Put(Bucket("a", "u1", "alpha"));
  driver_->inbox.Unknown({"test", kBucket.group, kBucket.kind, "", "a"});
  driver_->Settle();
  EXPECT_TRUE(OwnerOf("alpha"));
}

TEST_F(WatcherTest, MemoryOfEventsIsBounded) {
  options_.queue_max = 16;
  Start();
  driver_->Settle();
  faulty_.BreakWrites({ErrorCode::kUnavailable, "disk full"});
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i);
    cluster_.Put(Bucket("a" + n, "u" + n, "name-" + n));
    if (i == 0) driver_->inbox.Admitted(kBucket);
    if (i % 10 == 0) driver_->Advance(100ms);
  }
  driver_->Advance(1s);
  EXPECT_FALSE(driver_->watcher().room());
  EXPECT_LT(driver_->watcher().status().queued, 16U + 10U);
  faulty_.Mend();
  driver_->Advance(30s);
  EXPECT_EQ(store_.Counts().held, 40U);
}

}  // namespace watcher_faults_test
}  // namespace truce::testing
