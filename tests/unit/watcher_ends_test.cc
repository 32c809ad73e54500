// Ends of what lies in an account: whether the ProviderConfig was the same all along (E8).
#include "tests/support/watcher_fixture.h"
#include "webhook/watch/history.h"
#include "webhook/watch/kept.h"

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
  ASSERT_TRUE(
      WritePositions({{kQueue, {"100", {}}}}, driver_->watcher().reconciler().store()).ok());
  Start();  // a new process sees it deleting only
  driver_->Settle();
  cluster_.Remove(kQueue, "", "q");
  driver_->Advance(5s);
  ASSERT_TRUE(OwnerOf("jobs"));
  EXPECT_EQ(OwnerOf("jobs")->record, Record::kOrphaned);
}

// A bucket's name has no account, but its ProviderConfig leads to AWS or to another endpoint.
class WatcherEndsOfBuckets : public WatcherTest {
 protected:
  WatcherEndsOfBuckets() {
    cluster_.Serve({kConfig.group, "v1beta1", kConfig.kind, "providerconfigs", false});
    cluster_.Put(Bucket("other", "o1", "other"));  // so that the kind is watched, not polled
  }
  // Empty: AWS.
  void LeadTo(const std::string& endpoint) {
    SmallObject object{kConfig, "", "default", "pc-1", {}, {}};
    object.metadata = R"("generation":)" + std::to_string(++generation_);
    object.rest = R"("spec":{"a":)" + std::to_string(generation_);
    if (!endpoint.empty()) {
      object.rest += R"(,"endpoint":{"url":{"static":"http://)" + endpoint + "\"}}";
    }
    object.rest += "}";
    cluster_.Put(object);
  }
  SmallObject Logs() const { return Bucket("b", "uid-" + name_, name_); }
  void Live(const std::string& endpoint) {
    name_ = "logs-" + std::to_string(++generation_);
    Start();
    LeadTo(endpoint);
    driver_->Settle();
    cluster_.Put(Real(Logs()));
    driver_->Settle();
    ASSERT_TRUE(At(endpoint));
  }
  void Delete() {
    cluster_.Put(Finished(Logs()));
    cluster_.Remove(kBucket, "", "b");
  }
  // The owner of the bucket of that name where the endpoint leads.
  std::optional<Owner> At(const std::string& endpoint) const {
    const std::string space = endpoint.empty() ? "aws" : "@" + endpoint;
    for (Owner& owner : Contents().owners) {
      if (owner.name == name_ && owner.identity.partition == space) return owner;
    }
    return std::nullopt;
  }

  std::string name_;
  int generation_ = 0;
};

TEST_F(WatcherEndsOfBuckets, AnEditThatTheWatchTellsAfterTheEndLeavesItOrphaned) {
  for (const auto& [from, to] : {std::pair("", "minio:9000"), std::pair("minio:9000", ""),
                                 std::pair("minio:9000", "other:9000")}) {
    for (const bool before_deleting : {true, false}) {
      SCOPED_TRACE(std::string(from) + " to " + to + std::to_string(before_deleting));
      Live(from);
      driver_->hold_kind = kConfig;
      if (before_deleting) LeadTo(to);
      cluster_.Put(Real(Logs()));
      if (!before_deleting) LeadTo(to);
      Delete();
      driver_->Advance(5s);
      driver_->hold_kind.reset();
      driver_->Advance(5s);
      ASSERT_TRUE(At(from));
      EXPECT_EQ(At(from)->record, Record::kOrphaned);
      EXPECT_FALSE(At(to));
    }
  }
}

TEST_F(WatcherEndsOfBuckets, AnEditThatLeadsWhereItLedFrees) {
  for (const char* endpoint : {"", "minio:9000"}) {
    SCOPED_TRACE(endpoint);
    Live(endpoint);
    driver_->hold_kind = kConfig;
    LeadTo(endpoint);
    Delete();
    driver_->Advance(5s);
    EXPECT_TRUE(At(endpoint)) << "nobody knows yet where it was deleted";
    driver_->hold_kind.reset();
    driver_->Advance(5s);
    EXPECT_FALSE(At(endpoint));
  }
}

TEST_F(WatcherEndsOfBuckets, AnEditAfterTheEndAndAProviderConfigThatGoesFree) {
  Live("");
  driver_->hold_kind = kConfig;
  Delete();
  LeadTo("minio:9000");
  driver_->Advance(5s);
  driver_->hold_kind.reset();
  driver_->Advance(5s);
  EXPECT_FALSE(At(""));

  Live("");
  driver_->hold_kind = kConfig;
  cluster_.Remove(kConfig, "", "default");
  Delete();
  driver_->Advance(5s);
  driver_->hold_kind.reset();
  driver_->Advance(5s);
  EXPECT_FALSE(At(""));
}

// A ProviderConfig that changed while the queue lived (E8): what a later status, written after the
// change, says of it; and what tells nothing of it.
class WatcherEndsHealed : public WatcherEnds {
 protected:
  WatcherEndsHealed() {
    SmallObject other = Queue("");  // so that the kind is watched, not polled
    other.name = "other";
    other.uid = "q9";
    other.metadata.clear();
    other.rest.replace(other.rest.find("jobs"), 4, "else");
    cluster_.Put(other);
    driver_->Settle();
  }
  // By a secret: in which account its key is, nobody can read.
  static SmallObject BySecret(const std::string& secret, int generation) {
    SmallObject object = Config("", generation);
    object.rest =
        R"("spec":{"credentials":{"source":"Secret","secretRef":{"name":")" + secret + R"("}}})";
    return object;
  }
  static SmallObject Shown(const std::string& ready, const std::string& synced,
                           const std::string& at_provider = kArnA) {
    return Queue(R"(,"status":{"atProvider":{)" + at_provider +
                 R"(},"conditions":[{"type":"Ready","lastTransitionTime":"2026-01-01T09:00:00Z",)" +
                 ready + R"(},{"type":"Synced",)" + synced + "}]}");
  }
  // As its provider writes it once it found the queue again.
  static SmallObject AliveAgain(const std::string& at_provider = kArnA) {
    return Shown(kAvailable, kSynced, at_provider);
  }
  static SmallObject Labelled(SmallObject object) {
    object.metadata += R"(,"labels":{"team":"a"})";
    return object;
  }
  // Another life of the queue, of which nothing is made yet, before there is its ProviderConfig.
  void Anew() {
    Delete();
    driver_->Settle();
    ASSERT_FALSE(OwnerOf("jobs"));
    cluster_.Remove(kConfig, "", "default");
    driver_->Settle();
  }
  void EndsFree() {
    Delete();
    driver_->Advance(5s);
    EXPECT_FALSE(OwnerOf("jobs"));
  }
  void EndsOrphaned(const std::string& what) {
    Delete();
    driver_->Advance(5s);
    ASSERT_TRUE(OwnerOf("jobs")) << what;
    EXPECT_EQ(OwnerOf("jobs")->record, Record::kOrphaned) << what;
  }

  static constexpr const char* kArnA = R"("arn":"arn:aws:sqs:eu-west-1:111111111111:jobs")";
  static constexpr const char* kArnB = R"("arn":"arn:aws:sqs:eu-west-1:222222222222:jobs")";
  static constexpr const char* kAvailable = R"("status":"True","reason":"Available")";
  static constexpr const char* kSynced = R"("status":"True","reason":"ReconcileSuccess")";
};

TEST_F(WatcherEndsHealed, AProviderConfigStoredAfterItsQueue) {
  Anew();
  cluster_.Put(Queue(""));
  driver_->Settle();
  cluster_.Put(Config(kRoleA));
  driver_->Settle();
  cluster_.Put(Alive());
  driver_->Settle();
  EndsFree();
}

// Made and used at once: whichever of them the watches tell first.
TEST_F(WatcherEndsHealed, AProviderConfigStoredWithItsQueueIsToldInAnyOrder) {
  for (const bool config_first : {true, false}) {
    for (const GroupKind& late : {kConfig, kQueue}) {
      for (const bool shows : {true, false}) {
        Start();
        Anew();
        driver_->hold_kind = late;
        SmallObject queue = Queue("");
        if (!config_first) cluster_.Put(queue);
        cluster_.Put(Config(kRoleA));
        if (config_first) cluster_.Put(queue);
        driver_->Settle();
        // While it is told late, its provider makes the queue.
        queue = shows ? AliveAgain() : AliveAgain("");
        if (config_first || late == kQueue) cluster_.Put(queue);
        driver_->Settle();
        driver_->hold_kind.reset();
        driver_->Settle();
        cluster_.Put(queue);
        cluster_.Put(Labelled(queue));
        driver_->Advance(10s);
        Delete();
        driver_->Advance(5s);
        EXPECT_FALSE(OwnerOf("jobs")) << config_first << late.kind << shows;
      }
    }
  }
}

TEST_F(WatcherEndsHealed, ARotatedSecret) {
  cluster_.Put(BySecret("one", 2));
  driver_->Advance(10s);
  cluster_.Put(AliveAgain());
  driver_->Settle();
  for (int i = 3; i < 6; ++i) {
    cluster_.Put(BySecret("secret-" + std::to_string(i), i));
    driver_->Settle();
    cluster_.Put(Labelled(AliveAgain()));
    driver_->Settle();
    cluster_.Put(i % 2 == 0 ? AliveAgain() : Alive());  // its provider wrote
    driver_->Settle();
  }
  EndsFree();
}

TEST_F(WatcherEndsHealed, FromASecretToARole) {
  cluster_.Put(BySecret("one", 2));
  driver_->Advance(10s);
  cluster_.Put(AliveAgain());
  driver_->Settle();
  cluster_.Put(Config(kRoleA, 3));
  driver_->Advance(20s);
  cluster_.Put(Labelled(AliveAgain()));
  driver_->Settle();
  cluster_.Put(Alive());
  driver_->Advance(20s);
  EndsFree();
}

TEST_F(WatcherEndsHealed, AStatusThatWasWrittenBeforeItIsToldAfterTheChange) {
  cluster_.Put(BySecret("one", 2));
  driver_->hold_kind = kConfig;
  cluster_.Put(AliveAgain());
  driver_->Settle();
  driver_->hold_kind.reset();
  driver_->Settle();
  cluster_.Put(Labelled(AliveAgain()));  // what it shows was written after the change
  driver_->Settle();
  EndsFree();
}

// Sent to another account, a provider says Deleting of what it finds there.
TEST_F(WatcherEndsHealed, WhatShowsNothingHealsNothing) {
  const std::string failed = R"("status":"False","reason":"ReconcileError")";
  const std::string creating = R"("status":"False","reason":"Creating")";
  struct Case {
    const char* what;
    std::vector<SmallObject> versions;  // after the change
  };
  const Case cases[] = {
      {"nothing was written", {}},
      {"a label", {Labelled(Alive())}},
      {"a failed observation", {Shown(kAvailable, failed)}},
      {"a failed one, and a label",
       {Shown(kAvailable, failed), Labelled(Shown(kAvailable, failed))}},
      {"made anew there", {Shown(creating, kSynced)}},
      {"a status without conditions",
       {Queue(R"(,"status":{"atProvider":{)" + std::string(kArnA) + R"(,"url":"x"}})")}},
      {"its account is not shown", {AliveAgain("")}},
      {"it shows the other account", {AliveAgain(kArnB)}},
      {"Deleting is no version without Deleting", {Deleting(), Labelled(Deleting())}},
  };
  for (const Case& test : cases) {
    Start();
    cluster_.Put(BySecret("one", 2));
    driver_->Advance(10s);
    cluster_.Put(Alive());
    driver_->Settle();
    ASSERT_EQ(OwnerOf("jobs")->record, Record::kNone) << test.what;
    cluster_.Put(BySecret("two", 3));
    driver_->Settle();
    for (const SmallObject& version : test.versions) {
      cluster_.Put(version);
      driver_->Settle();
    }
    EndsOrphaned(test.what);
  }
}

TEST_F(WatcherEndsHealed, AStatusFromBeforeTheChangeHealsNothing) {
  cluster_.Put(BySecret("one", 2));
  driver_->Advance(10s);
  driver_->hold_kind = kQueue;
  cluster_.Put(AliveAgain());
  cluster_.Put(BySecret("two", 3));
  driver_->Settle();
  driver_->hold_kind.reset();
  driver_->Settle();
  cluster_.Put(Labelled(AliveAgain()));
  driver_->Settle();
  EndsOrphaned("told late");
}

// What another ProviderConfig made is not where this one leads, however long that has led there.
TEST_F(WatcherEndsHealed, AStatusUnderAnotherProviderConfigHealsNothing) {
  SmallObject second = BySecret("second", 1);
  second.name = "second";
  second.uid = "pc-2";
  cluster_.Put(second);
  cluster_.Put(BySecret("one", 2));
  driver_->Advance(10s);
  cluster_.Remove(kQueue, "", "q");
  driver_->Settle();
  const auto by_second = [](SmallObject object) {
    object.rest.replace(object.rest.find("default"), 7, "second");
    return object;
  };
  cluster_.Put(Queue(""));
  driver_->Settle();
  cluster_.Put(AliveAgain());
  driver_->Settle();
  cluster_.Put(by_second(AliveAgain()));
  driver_->Settle();
  cluster_.Put(by_second(Labelled(AliveAgain())));
  driver_->Settle();
  cluster_.Put(by_second(Deleting()));
  cluster_.Remove(kQueue, "", "q");
  driver_->Advance(5s);
  ASSERT_TRUE(OwnerOf("jobs"));
  EXPECT_EQ(OwnerOf("jobs")->record, Record::kOrphaned);
}

TEST_F(WatcherEndsHealed, AStatusOfUnknownAgeHealsNothing) {
  cluster_.Put(BySecret("one", 2));
  driver_->Advance(10s);
  cluster_.Put(AliveAgain());
  driver_->Advance(20s);
  cluster_.Put(BySecret("two", 3));
  driver_->Advance(20s);
  cluster_.Put(Labelled(AliveAgain()));
  Start();  // this one never saw another status
  driver_->Advance(20s);
  cluster_.Put(AliveAgain());
  driver_->Settle();
  EndsOrphaned("a restart");
}

TEST_F(WatcherEndsHealed, AnotherChangeMarksItAgain) {
  cluster_.Put(BySecret("one", 2));
  driver_->Advance(10s);
  cluster_.Put(AliveAgain());
  cluster_.Put(BySecret("two", 3));
  driver_->Settle();
  cluster_.Put(Labelled(AliveAgain()));
  driver_->Settle();
  EndsOrphaned("changed twice");
}

// Deleted in the console: its provider finds nothing, and lets go without having said Deleting.
class WatcherEndsLetGo : public WatcherEndsHealed {
 protected:
  static SmallObject Dying(const std::string& annotations = {}) {
    SmallObject object = Alive();
    object.metadata = R"("annotations":{"crossplane.io/external-name":"jobs")" + annotations +
                      R"(},"deletionTimestamp":"2026-01-02T00:00:00Z",)" +
                      R"("finalizers":["finalizer.managedresource.crossplane.io"])";
    return object;
  }
  // The review in which its provider takes its finalizer off what stands there.
  void LetGo() {
    ListQuery query;
    query.selection.kind = {kQueue.group, "v1beta1", kQueue.kind, "queues", false};
    JsonReader reader;
    ReviewRequest request;
    request.operation = Operation::kUpdate;
    request.uid = {"review-q"};
    request.requester = {.user = "provider", .provider = true};
    request.watched = true;
    const ListPage page = cluster_.List(query).value();
    for (const std::string& json : page.objects) {
      const auto document = reader.Read(json);
      ObjectFacts facts = Identify(document.value().root(), kQueue, rules_.identity);
      if (facts.slot.name == "q") request.object = std::move(facts);
    }
    request.old_object = request.object;
    request.object.finalizers.clear();
    const auto applied = store_.Apply(
        {},
        [&](const Facts& facts) {
          const Decision decision = Decide(request, facts, clock_.Now(), [this] {
            return PublicId{"id-" + std::to_string(++ids_)};
          });
          EXPECT_TRUE(decision.allowed);
          return decision.changes;
        },
        std::chrono::steady_clock::now() + 10s);
    ASSERT_TRUE(applied.ok());
  }
  bool Ends() {
    LetGo();
    cluster_.Remove(kQueue, "", "q");
    driver_->Advance(5s);
    return !OwnerOf("jobs");
  }
};

TEST_F(WatcherEndsLetGo, Frees) {
  cluster_.Put(Dying());
  driver_->Settle();
  EXPECT_TRUE(Ends());
}

TEST_F(WatcherEndsLetGo, FreesAfterAnotherServerTookOver) {
  driver_->Advance(20s);
  Start();
  driver_->Advance(20s);
  cluster_.Put(Dying());
  driver_->Settle();
  EXPECT_TRUE(Ends());
}

TEST_F(WatcherEndsLetGo, OfWhatWasMadeAndFailed) {
  cluster_.Put(Dying(R"(,"crossplane.io/external-create-pending":"2026-01-01T00:00:05Z",)"
                     R"("crossplane.io/external-create-failed":"2026-01-01T00:00:05Z")"));
  driver_->Settle();
  EXPECT_TRUE(Ends());
}

TEST_F(WatcherEndsLetGo, NotOfACreationWhoseEndNobodyTold) {
  cluster_.Put(Dying(R"(,"crossplane.io/external-create-pending":"2026-01-01T00:00:05Z",)"
                     R"("crossplane.io/external-create-failed":"2026-01-01T00:00:04Z")"));
  driver_->Settle();
  EXPECT_FALSE(Ends());
}

TEST_F(WatcherEndsLetGo, NotOfWhatWasMadeAfterItsDeletion) {
  cluster_.Put(Dying(R"(,"crossplane.io/external-create-pending":"2026-01-02T00:00:01Z",)"
                     R"("crossplane.io/external-create-succeeded":"2026-01-02T00:00:02Z")"));
  driver_->Settle();
  EXPECT_FALSE(Ends());
}

TEST_F(WatcherEndsLetGo, NotWhereItsProviderWasSentElsewhere) {
  cluster_.Put(BySecret("other", 2));
  driver_->Settle();
  cluster_.Put(Labelled(Alive()));
  driver_->Settle();
  cluster_.Put(Dying());
  driver_->Settle();
  EXPECT_FALSE(Ends());
}

TEST_F(WatcherEndsLetGo, NotWhereItWasSentElsewhereMeanwhile) {
  driver_->hold_kind = kConfig;
  cluster_.Put(Dying());
  cluster_.Put(BySecret("other", 2));
  LetGo();
  cluster_.Remove(kQueue, "", "q");
  driver_->Advance(5s);
  driver_->hold_kind.reset();
  driver_->Advance(5s);
  ASSERT_TRUE(OwnerOf("jobs"));
  EXPECT_EQ(OwnerOf("jobs")->record, Record::kOrphaned);
}

// What was made before the change is told after it.
TEST_F(WatcherEndsLetGo, NotOfWhatWasMadeBeforeItsProviderConfigChanged) {
  Anew();
  cluster_.Put(Config(kRoleA, 5));
  cluster_.Put(BySecret("one", 6));
  driver_->Advance(20s);
  driver_->hold_kind = kQueue;
  cluster_.Put(Queue(""));
  cluster_.Put(Alive());
  cluster_.Put(BySecret("two", 7));
  driver_->Settle();
  driver_->hold_kind.reset();
  driver_->Settle();
  cluster_.Put(Labelled(Alive()));
  driver_->Settle();
  cluster_.Put(Dying());
  driver_->Settle();
  EXPECT_FALSE(Ends());
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

TEST(ConfigHistory, TellsWhereItLedThroughout) {
  const ProviderConfigName config{"aws.upbound.io", "ProviderConfig", "", "default"};
  const OutsideEndpoint minio{"minio:9000", {}};
  ConfigHistory history;
  EXPECT_TRUE(history.LedTo({}, config, 5, 9)) << "it never was";
  history.Saw(config, 10, "a", {});
  history.Saw(config, 20, "b", {});
  EXPECT_TRUE(history.LedTo({}, config, 12, 30)) << "by whichever credentials";
  EXPECT_FALSE(history.LedTo({}, config, 8, 30)) << "it came in between";
  history.Saw(config, 40, "c", {}, minio);
  EXPECT_FALSE(history.LedTo({}, config, 25, 50));
  EXPECT_FALSE(history.LedTo(minio, config, 25, 50));
  EXPECT_TRUE(history.LedTo({}, config, 25, 39)) << "before";
  EXPECT_TRUE(history.LedTo(minio, config, 45, 50));
  EXPECT_FALSE(history.LedTo({}, config, 45, 50));
  history.Gone(config, 60);
  EXPECT_TRUE(history.LedTo(minio, config, 45, 70)) << "while it was there";
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
