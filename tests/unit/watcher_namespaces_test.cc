// The watch follows namespaces: ACK's objects take region, account and deletion policy from them.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/watcher_fixture.h"

namespace truce::testing {
namespace watcher_namespaces_test {

const GroupKind kNamespace{"", "Namespace"};
const GroupKind kAckQueue{"sqs.services.k8s.aws", "Queue"};
const ProviderConfigName kTeam{"", "Namespace", "", "team"};
constexpr const char* kAccount = "111111111111";
const std::string kRegion = R"("services.k8s.aws/default-region":"eu-west-1")";
const std::string kDeletes = R"("sqs.services.k8s.aws/deletion-policy":"delete")";
const std::string kRetains = R"("sqs.services.k8s.aws/deletion-policy":"retain")";

class WatcherNamespaces : public WatcherTest {
 protected:
  WatcherNamespaces() {
    cluster_.Serve({"", "v1", kNamespace.kind, "namespaces", false});
    cluster_.Serve({kAckQueue.group, "v1alpha1", kAckQueue.kind, "queues", true});
  }

  void Say(const std::string& annotations) {
    cluster_.Put({kNamespace, "", "team", "ns-team", R"("annotations":{)" + annotations + "}", {}});
  }

  // With `dying` as its controller is about to let go of it.
  static SmallObject Queue(bool shown, bool dying = false) {
    SmallObject queue{kAckQueue, "team", "q", "u-q", {}, R"("spec":{"queueName":"jobs"})"};
    queue.metadata = R"("finalizers":["finalizers.sqs.services.k8s.aws/Queue"])";
    if (dying) queue.metadata += R"(,"deletionTimestamp":"2026-01-02T00:00:00Z")";
    if (shown) {
      queue.rest += R"(,"status":{"ackResourceMetadata":{"ownerAccountID":"111111111111",)"
                    R"("arn":"arn:aws:sqs:eu-west-1:111111111111:jobs","region":"eu-west-1"}})";
    }
    return queue;
  }

  // The names by which the queue is known.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const ResourceName& name : Contents().names) names.push_back(name.name.text);
    return names;
  }

  // Its controller takes its finalizer off, as a review shows it, and it goes.
  void LetGo() {
    JsonReader reader;
    ListQuery query;
    query.selection.kind = {kAckQueue.group, "v1alpha1", kAckQueue.kind, "queues", true};
    const ListPage page = cluster_.List(query).value();
    ASSERT_EQ(page.objects.size(), 1U);
    const auto stored = reader.Read(page.objects[0]);
    IdentityRules rules = rules_.identity;
    TakeLearned(driver_->learned, rules);
    ReviewRequest request;
    request.operation = Operation::kUpdate;
    request.uid = {"review-q"};
    request.requester = {.user = "provider", .provider = true};
    request.watched = true;
    request.object = Identify(stored.value().root(), kAckQueue, rules);
    request.old_object = request.object;
    request.object.finalizers.clear();
    const auto applied = store_.Apply(
        {},
        [&](const Facts& facts) {
          return Decide(request, facts, clock_.Now(), [] { return PublicId{"id-q"}; }).changes;
        },
        std::chrono::steady_clock::now() + 10s);
    ASSERT_TRUE(applied.ok());
    cluster_.Remove(kAckQueue, "team", "q");
  }

  // What is left of a queue that was made while its namespace said `before`, and whose end comes
  // when it says `at_end` since just then.
  std::optional<Record> LeftAfter(const std::string& before, const std::string& at_end) {
    Say(kRegion + "," + before);
    cluster_.Put(Queue(false));
    cluster_.Put(Queue(true));
    driver_->Advance(40s);
    if (at_end != before) Say(kRegion + "," + at_end);
    driver_->Advance(40s);
    cluster_.Put(Queue(true, true));
    driver_->Settle();
    LetGo();
    driver_->Advance(60s);
    const auto owner = OwnerOf("jobs");
    return owner ? std::optional(owner->record) : std::nullopt;
  }
};

TEST_F(WatcherNamespaces, NothingSaidLeavesTheNameUnknown) {
  Say("");
  cluster_.Put(Queue(false));
  driver_->Settle();
  EXPECT_FALSE(OwnerOf("jobs"));
  EXPECT_TRUE(driver_->learned.defaults.empty());
}

TEST_F(WatcherNamespaces, TheRegionNamesTheQueue) {
  Say(kRegion);
  cluster_.Put(Queue(false));
  driver_->Settle();
  ASSERT_TRUE(OwnerOf("jobs"));
  EXPECT_EQ(Names(),
            (std::vector<std::string>{"sqs/Queue|aws|?test//Namespace//team|eu-west-1|name=jobs"}));
  EXPECT_EQ(driver_->learned.defaults.at(kTeam).region, "eu-west-1");
}

// An object from before the annotation is read anew, and one process after another knows it.
TEST_F(WatcherNamespaces, ARegionThatIsSaidLaterNamesWhatIsThere) {
  Say("");
  cluster_.Put(Queue(false));
  driver_->Advance(10s);
  Say(kRegion);
  driver_->Advance(60s);
  EXPECT_TRUE(OwnerOf("jobs"));
  cluster_.FailLists(kNamespace, ApiError{ApiErrorKind::kForbidden, 403, "no", {}});
  Start();
  driver_->Settle();
  EXPECT_EQ(driver_->learned.defaults.at(kTeam).region, "eu-west-1");
}

// 2: what is made stays where it was made.
TEST_F(WatcherNamespaces, AnotherRegionMovesNothingThatIsMade) {
  Say(kRegion);
  cluster_.Put(Queue(true));
  driver_->Advance(10s);
  Say(R"("services.k8s.aws/default-region":"us-east-1")");
  driver_->Advance(60s);
  ASSERT_TRUE(OwnerOf("jobs"));
  EXPECT_EQ(OwnerOf("jobs")->identity.region, "eu-west-1");
  EXPECT_EQ(OwnerOf("jobs")->record, Record::kNone);
}

TEST_F(WatcherNamespaces, TheAccountLocatesTheQueue) {
  Say(kRegion);
  cluster_.Put(Queue(false));
  driver_->Advance(10s);
  Say(kRegion + R"(,"services.k8s.aws/owner-account-id":")" + kAccount + "\"");
  driver_->Advance(60s);
  ASSERT_TRUE(OwnerOf("jobs"));
  EXPECT_EQ(OwnerOf("jobs")->identity.account, kAccount);
}

TEST_F(WatcherNamespaces, ANamespaceThatIsGoneIsForgottenWithTheNextList) {
  Say(kRegion);
  driver_->Settle();
  cluster_.Remove(kNamespace, "", "team");
  driver_->Settle();
  EXPECT_TRUE(driver_->learned.defaults.contains(kTeam)) << "ends may be told later";
  Start();
  driver_->Settle();
  EXPECT_TRUE(driver_->learned.defaults.empty());
}

TEST_F(WatcherNamespaces, AnEndIsToldWhereTheNamespaceSaysDelete) {
  EXPECT_EQ(LeftAfter(kDeletes, kDeletes), std::nullopt);
}
TEST_F(WatcherNamespaces, NotWhereItSaysRetain) {
  EXPECT_EQ(LeftAfter(kRetains, kRetains), Record::kOrphaned);
}
TEST_F(WatcherNamespaces, NotWhereItSaysNothing) {
  EXPECT_EQ(LeftAfter(R"("a":"b")", R"("a":"b")"), Record::kOrphaned);
}
TEST_F(WatcherNamespaces, NotWhereItSaidAnotherBefore) {
  EXPECT_EQ(LeftAfter(kRetains, kDeletes), Record::kOrphaned);
}

// The watches of two kinds have no order between them.
TEST_F(WatcherNamespaces, NotByWhatItSaysSinceTheEnd) {
  Say(kRegion + "," + kRetains);
  cluster_.Put(Queue(true));
  driver_->Advance(40s);
  cluster_.Put(Queue(true, true));
  driver_->Settle();
  driver_->hold_kind = kAckQueue;
  LetGo();
  Say(kRegion + "," + kDeletes);
  driver_->Advance(4s);
  driver_->hold_kind.reset();
  driver_->Advance(60s);
  ASSERT_TRUE(OwnerOf("jobs"));
  EXPECT_EQ(OwnerOf("jobs")->record, Record::kOrphaned);
}

}  // namespace watcher_namespaces_test
}  // namespace truce::testing
