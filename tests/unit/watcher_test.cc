// The watcher over a small cluster: what lists, watches, proofs and absences make of the registry.
#include "webhook/cluster/reconcile/watcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "registry/ownership/invariants.h"
#include "registry/ownership/review.h"
#include "registry/store/memory/memory_store.h"
#include "tests/support/faulty_store.h"
#include "tests/support/small_cluster.h"

namespace truce {
namespace {

using namespace std::chrono_literals;
using testing::Driver;
using testing::SmallCluster;
using testing::SmallObject;

const GroupKind kBucket{"s3.aws.upbound.io", "Bucket"};
const GroupKind kQueue{"sqs.aws.upbound.io", "Queue"};
const GroupKind kXrd{"apiextensions.crossplane.io", "CompositeResourceDefinition"};
const GroupKind kComposite{"acme.example.org", "XStorage"};
const GroupKind kClaim{"acme.example.org", "Storage"};
const GroupKind kConfig{"aws.upbound.io", "ProviderConfig"};
const GroupKind kCrd{"apiextensions.k8s.io", "CustomResourceDefinition"};

SmallObject Bucket(const std::string& name, const std::string& uid, const std::string& bucket) {
  SmallObject object{kBucket, "", name, uid, {}, {}};
  object.metadata = R"("annotations":{"crossplane.io/external-name":")" + bucket + R"("})";
  object.rest = R"("spec":{"forProvider":{"region":"eu-west-1"}})";
  return object;
}

// As its provider leaves it once the bucket exists.
SmallObject Real(SmallObject object) {
  object.rest += R"(,"status":{"atProvider":{"arn":"arn:aws:s3:::x"},"conditions":[
      {"type":"Ready","status":"True","reason":"Available"},
      {"type":"Synced","status":"True","reason":"ReconcileSuccess"}]})";
  return object;
}

// The last state before its finalizer goes, once its provider deleted the bucket.
SmallObject Finished(SmallObject object) {
  object.metadata += R"(,"deletionTimestamp":"2026-01-02T00:00:00Z")";
  object.rest = R"("spec":{"forProvider":{"region":"eu-west-1"}},
      "status":{"atProvider":{"arn":"arn:aws:s3:::x"},"conditions":[
      {"type":"Ready","status":"False","reason":"Deleting"},
      {"type":"Synced","status":"True","reason":"ReconcileSuccess"}]})";
  return object;
}

struct Seen final : SightObserver {
  void OnSighted(const Sighting& sighting) override { sighted.push_back(sighting); }
  void OnGone(const Uid& uid, const Slot& /*slot*/) override { gone.insert(uid.text); }
  void OnKindState(const KindStatus& status) override { states[status.kind.group_kind()] = status; }
  void OnOther(const FollowedKind& kind, Value /*object*/, bool /*gone*/) override {
    others.push_back(kind.selection.kind.kind);
  }
  std::vector<Sighting> sighted;
  std::set<std::string> gone;
  std::map<GroupKind, KindStatus> states;
  std::vector<std::string> others;
};

class WatcherTest : public ::testing::Test {
 protected:
  WatcherTest() {
    cluster_.Serve({kBucket.group, "v1beta2", kBucket.kind, "buckets", false});
    cluster_.Serve({kQueue.group, "v1beta1", kQueue.kind, "queues", false});
    rules_.catalogue = std::make_shared<const Catalogue>(Catalogue::BuiltIn());
    rules_.identity.catalogue = rules_.catalogue.get();
    rules_.identity.cluster = "test";
    Start();
  }
  ~WatcherTest() override {
    for (const std::string& breach : CheckInvariants(Contents())) ADD_FAILURE() << breach;
  }

  // A new process on the same store.
  void Start() {
    driver_ = std::make_unique<Driver>(cluster_, faulty_, clock_, rules_, options_, &seen_);
  }
  StoreContents Contents() const { return std::move(store_.Contents()).value(); }
  static KeyText KeyOfBucket(const std::string& name) { return {"s3/Bucket|aws|||name=" + name}; }
  std::optional<Owner> OwnerOf(const std::string& bucket) const {
    for (Owner& owner : Contents().owners) {
      if (owner.name == bucket) return owner;
    }
    return std::nullopt;
  }
  std::vector<Row> RowsOf(const std::string& uid) const {
    std::vector<Row> rows;
    for (Row& row : Contents().rows) {
      if (row.id.uid.text == uid) rows.push_back(row);
    }
    return rows;
  }
  // A CREATE that is admitted.
  void Admit(const SmallObject& object) {
    JsonReader reader;
    const SmallObject as_stored = object;
    SmallCluster scratch;
    scratch.Serve({object.kind.group, "v1", object.kind.kind, "x", false});
    scratch.Put(as_stored);
    ListQuery query;
    query.selection.kind = {object.kind.group, "v1", object.kind.kind, "x", false};
    const auto json = scratch.List(query).value().objects.front();
    const auto document = reader.Read(json);
    ReviewRequest request;
    request.operation = Operation::kCreate;
    request.uid = {"review-" + object.uid};
    request.object = Identify(document.value().root(), object.kind, rules_.identity);
    request.modes.assign(request.object.resources.size(), Mode::kEnforce);
    request.watched = true;
    const IdSource ids = [this] { return PublicId{"id-" + std::to_string(++ids_)}; };
    const auto applied = store_.Apply(
        {},
        [&](const Facts& facts) {
          const Decision decision = Review(request, facts, clock_.Now(), ids);
          EXPECT_TRUE(decision.allowed);
          return decision.changes;
        },
        std::chrono::steady_clock::now() + 10s);
    ASSERT_TRUE(applied.ok());
    driver_->inbox.Admitted(object.kind);
  }

  MemoryStore store_;
  testing::FaultyStore faulty_{store_};
  FakeClock clock_{Timestamp(1000h)};
  SmallCluster cluster_;
  ReconcileRules rules_;
  WatcherOptions options_;
  Seen seen_;
  std::unique_ptr<Driver> driver_;
  std::uint64_t ids_ = 0;
};

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
  EXPECT_FALSE(driver_->doubts.DoubtOf(OwnerOf("alpha")->root).empty());
  driver_->hold_gets = false;
  driver_->Settle();
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kOrphaned);
  EXPECT_EQ(OwnerOf("beta")->record, Record::kNone);
  EXPECT_EQ(driver_->doubts.size(), 0U);
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
  EXPECT_EQ(driver_->doubts.size(), 0U);
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
  const std::string doubt = driver_->doubts.DoubtOf(OwnerOf("alpha")->root);
  EXPECT_NE(doubt.find("truce brake release --kind Bucket.s3.aws.upbound.io"), std::string::npos)
      << doubt;
  EXPECT_FALSE(seen_.states.at(kBucket).frozen.empty());
  const auto released = driver_->watcher().ReleaseBrake(driver_->now, kBucket, "me", "really gone");
  ASSERT_TRUE(released.ok());
  EXPECT_EQ(released.value(), 1U);
  driver_->Settle();
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kOrphaned);
  EXPECT_TRUE(driver_->watcher().reconciler().FrozenFor(kBucket).empty());
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

TEST_F(WatcherTest, AKindThatCannotBeListedDoesNotStopTheStart) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  cluster_.FailLists(kQueue, ApiError{ApiErrorKind::kForbidden, 403, "no right", {}});
  driver_->Settle();
  EXPECT_TRUE(driver_->watcher().ready());
  EXPECT_TRUE(OwnerOf("alpha"));
  EXPECT_EQ(seen_.states.at(kQueue).state, KindState::kFailing);
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
  EXPECT_NE(driver_->doubts.DoubtOf(OwnerOf("alpha")->root).find("no right"), std::string::npos);
  cluster_.FailLists(kBucket, std::nullopt);
  cluster_.FailWatches(std::nullopt);
  driver_->Advance(60s);
  EXPECT_EQ(driver_->doubts.size(), 0U);
  EXPECT_EQ(seen_.states.at(kBucket).state, KindState::kWatched);
}

TEST_F(WatcherTest, AKindThatIsNoLongerServedReleasesNothing) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  driver_->Settle();
  cluster_.Stop(kBucket);
  driver_->Advance(600s);
  EXPECT_EQ(seen_.states.at(kBucket).state, KindState::kUnserved);
  EXPECT_EQ(OwnerOf("alpha")->record, Record::kNone);
  EXPECT_FALSE(driver_->doubts.DoubtOf(OwnerOf("alpha")->root).empty());
  cluster_.Serve({kBucket.group, "v1beta2", kBucket.kind, "buckets", false});
  driver_->Advance(60s);
  EXPECT_EQ(seen_.states.at(kBucket).state, KindState::kWatched);
  EXPECT_EQ(driver_->doubts.size(), 0U);
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

TEST_F(WatcherTest, ADuplicatedAndAReplayedEventChangeNothing) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  driver_->Settle();
  const StoreContents once = Contents();
  driver_->Advance(5s);
  driver_->EndWatches(std::nullopt);
  driver_->Advance(5s);
  EXPECT_EQ(Contents(), once);
}

TEST_F(WatcherTest, AQuorumGetAheadOfTheStreamFencesOlderEvents) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  driver_->Settle();
  driver_->hold_events = true;
  cluster_.Put(Real(Bucket("a", "u1", "beta")));
  cluster_.Put(Real(Bucket("a", "u1", "gamma")));
  driver_->watcher().reconciler().LookAt({"test", kBucket.group, kBucket.kind, "", "a"});
  driver_->Settle();
  ASSERT_TRUE(OwnerOf("gamma"));
  driver_->hold_events = false;
  driver_->Settle();
  EXPECT_FALSE(OwnerOf("beta")) << "a version older than the one known";
  EXPECT_EQ(OwnerOf("gamma")->record, Record::kNone);
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
  EXPECT_EQ(driver_->watcher().status().reconcile.sightings, before.sightings);
  driver_->watcher().Resync(driver_->now);
  EXPECT_FALSE(driver_->watcher().resynced());
  driver_->Advance(5s);
  EXPECT_TRUE(driver_->watcher().resynced());
  EXPECT_EQ(driver_->watcher().status().reconcile.skipped, before.skipped + 50)
      << "looked at, but nothing to write";
}

TEST_F(WatcherTest, AConfigurationOfAnAccountReKeysWhatStoodUnderAStandIn) {
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
  EXPECT_EQ(driver_->watcher().reconciler().unreadable(), 2U);
}

TEST_F(WatcherTest, ASlotWhoseReviewEndedUnknownIsLookedAtFirst) {
  driver_->Settle();
  cluster_.Put(Bucket("a", "u1", "alpha"));
  driver_->inbox.Unknown({"test", kBucket.group, kBucket.kind, "", "a"});
  driver_->Settle();
  EXPECT_TRUE(OwnerOf("alpha"));
}

TEST_F(WatcherTest, MemoryOfEventsIsBounded) {
  options_.queue_max = 256;
  Start();
  driver_->Settle();
  faulty_.BreakWrites({ErrorCode::kUnavailable, "disk full"});
  for (int i = 0; i < 600; ++i) {
    const std::string n = std::to_string(i);
    cluster_.Put(Bucket("a" + n, "u" + n, "name-" + n));
    if (i == 0) driver_->inbox.Admitted(kBucket);
    if (i % 50 == 0) driver_->Advance(100ms);
  }
  driver_->Advance(1s);
  EXPECT_FALSE(driver_->watcher().room());
  EXPECT_LE(driver_->watcher().status().queued, 600U);
  faulty_.Mend();
  driver_->Advance(30s);
  EXPECT_EQ(store_.Counts().held, 600U);
}

}  // namespace
}  // namespace truce
