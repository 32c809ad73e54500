// What the watch does when it learns the accounts of ProviderConfigs.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "registry/ownership/names.h"
#include "tests/support/store_samples.h"
#include "tests/support/watcher_fixture.h"

namespace truce::testing {
namespace watcher_accounts_test {

constexpr const char* kOne = "111111111111";
constexpr const char* kTwo = "222222222222";
const ProviderConfigName kProd{kConfig.group, kConfig.kind, "", "prod"};

class WatcherAccountsTest : public WatcherTest {
 protected:
  WatcherAccountsTest() {
    cluster_.Serve({kConfig.group, "v1beta1", kConfig.kind, "providerconfigs", false});
  }

  void PutConfig(const std::string& name, const std::string& account) {
    cluster_.Put(
        {kConfig,
         "",
         name,
         "pc-" + name,
         {},
         R"("spec":{"assumeRoleChain":[{"roleARN":"arn:aws:iam::)" + account + R"(:role/a"}]})"});
  }

  static SmallObject Queue(const std::string& name, const std::string& policy = "Delete") {
    SmallObject queue{kQueue, "", name, "u-" + name, {}, {}};
    queue.rest = R"("spec":{"deletionPolicy":")" + policy +
                 R"(","forProvider":{"region":"eu-west-1","name":")" + name +
                 R"("},"providerConfigRef":{"name":"prod"}},
                 "status":{"conditions":[{"type":"Ready","status":"True"}]})";
    return queue;
  }

  // `count` queues that live and as many that are orphaned.
  void PutQueues(int count) {
    for (int i = 0; i < count; ++i) {
      cluster_.Put(Queue("live-" + std::to_string(i)));
      cluster_.Put(Queue("old-" + std::to_string(i), "Orphan"));
    }
    driver_->Settle();
    for (int i = 0; i < count; ++i) cluster_.Remove(kQueue, "", "old-" + std::to_string(i));
    driver_->Settle();
  }

  // A queue "jobs" that is declared in `account`, and that nothing says is made.
  void PlanIn(const std::string& account) {
    SmallObject queue = Queue("jobs");
    queue.rest.erase(queue.rest.rfind(',', queue.rest.find("\"status\"")));
    PutConfig("prod", account);
    cluster_.Put(Queue("other", "Orphan"));  // the kind is watched, not polled
    driver_->Advance(10s);
    Admit(queue);
    cluster_.Put(queue);
    driver_->Advance(10s);
    ASSERT_FALSE(OwnerOf("jobs")->real);
  }

  void ExpectOrphanedInOneLivesInTwo() {
    EXPECT_TRUE(Refused("jobs"));
    std::vector<Owner> owners = Contents().owners;
    std::erase_if(owners, [](const Owner& owner) { return owner.name != "jobs"; });
    ASSERT_EQ(owners.size(), 2U);
    for (const Owner& owner : owners) {
      EXPECT_EQ(owner.record == Record::kOrphaned, owner.identity.account == kOne);
    }
  }

  static KeyText NameOf(const std::string& queue, const std::string& account) {
    return WithAccount({"sqs/Queue|aws||eu-west-1|name=" + queue}, account);
  }

  // Whether a review of another team's queue by ProviderConfig `other`, of account kOne, is
  // refused.
  bool Refused(const std::string& name) {
    ReviewRequest request;
    request.uid = {"review-b"};
    const PartyRules parties{.statuses_guarded = true};
    request.parties = &parties;
    request.object.slot = {"test", kQueue.group, kQueue.kind, "", "b-" + name};
    request.object.uid = {"u-b"};
    request.object.managed = true;
    DeclaredResource& queue = request.object.resources.emplace_back();
    queue.identity = {"sqs/Queue", "aws", kOne, "eu-west-1", {{"name", name}}};
    queue.names = {{NameOf(name, kOne), false}};
    queue.name = name;
    FillPendingNames(driver_->learned.moving, request.object);
    bool allowed = true;
    const auto look = [&](const Facts& facts) {
      allowed = Decide(request, facts, clock_.Now(), [] { return PublicId{"id-b"}; }).allowed;
    };
    EXPECT_TRUE(store_.Read(look, std::chrono::steady_clock::now() + 10s).ok());
    return !allowed;
  }

  // In the name by which people are shown the resource.
  std::string AccountOf(const ResourceId& id) const {
    for (const Owner& owner : Contents().owners) {
      if (owner.id == id) return AccountIn(owner.key);
    }
    return {};
  }

  std::size_t In(const std::string& account) const {
    const std::vector<Owner> owners = Contents().owners;
    return static_cast<std::size_t>(
        std::count_if(owners.begin(), owners.end(),
                      [&](const Owner& owner) { return owner.identity.account == account; }));
  }
};

// A ProviderConfig of a tenant's own: what was declared by it before anybody knew where it leads,
// or before its edit, takes no name in an account that is bound to others.
TEST_F(WatcherAccountsTest, WhatATenantWritesIntoItsProviderConfigTakesNoNameOfAnothersAccount) {
  const GroupKind config{"aws.m.upbound.io", "ProviderConfig"};
  const GroupKind kind{"sqs.aws.m.upbound.io", "Queue"};
  cluster_.Serve({config.group, "v1beta1", config.kind, "providerconfigs", true});
  cluster_.Serve({kind.group, "v1beta1", kind.kind, "queues", true});
  rules_.account_parties = {{kOne, {"team-a"}}};
  Start();
  const auto put = [&](const std::string& ns, const std::string& account) {
    cluster_.Put(
        {config,
         ns,
         "p",
         "pc-" + ns,
         {},
         R"("spec":{"assumeRoleChain":[{"roleARN":"arn:aws:iam::)" + account + R"(:role/a"}]})"});
    driver_->Advance(20s);
  };
  for (const char* ns : {"team-a", "team-b"}) {
    SmallObject queue{kind, ns, "jobs", std::string("u-") + ns, {}, {}};
    queue.rest = R"("spec":{"forProvider":{"region":"eu-west-1","name":"jobs-)" + std::string(ns) +
                 R"("},"providerConfigRef":{"kind":"ProviderConfig","name":"p"}},
                 "status":{"conditions":[{"type":"Ready","status":"True"}]})";
    cluster_.Put(queue);
    put(ns, kTwo);
    put(ns, kOne);
  }
  const auto is_owned = [&](const std::string& queue, const std::string& account) {
    bool owned = false;
    const auto look = [&](const Facts& facts) {
      owned = OwnerByName(NameOf(queue, account), facts).has_value();
    };
    EXPECT_TRUE(store_.Read(look, std::chrono::steady_clock::now() + 10s).ok());
    return owned;
  };
  EXPECT_TRUE(is_owned("jobs-team-a", kOne));
  EXPECT_FALSE(is_owned("jobs-team-b", kOne));
  EXPECT_TRUE(is_owned("jobs-team-b", kTwo)) << "nothing is given away";
  EXPECT_EQ(driver_->learned.accounts.at({config.group, config.kind, "team-b", "p"}), kOne)
      << "by which reviews refuse what it declares";
}

// 25: reviews go on between two portions, and see what is not through as if it were.
TEST_F(WatcherAccountsTest, PortionsAreBoundedAndReviewsGoOnBetweenThem) {
  PutQueues(200);
  PutConfig("prod", kOne);
  std::size_t before = 0;
  std::size_t portions = 0;
  for (driver_->Settle(); In(kOne) < 400; driver_->Advance(options_.portions)) {
    ASSERT_LT(++portions, 200U);
    EXPECT_LE(In(kOne) - before, kPortion);
    before = In(kOne);
    EXPECT_FALSE(driver_->learned.moving.empty());
    for (const char* name : {"live-0", "live-199", "old-0", "old-199"}) {
      EXPECT_TRUE(Refused(name)) << name << " after portion " << portions;
    }
    EXPECT_FALSE(Refused("free"));
  }
  EXPECT_GE(portions, 200 * 3 / kPortion) << "a living queue has a row, too";
  driver_->Advance(1s);
  EXPECT_TRUE(driver_->learned.moving.empty());
  EXPECT_TRUE(Refused("live-199"));
  EXPECT_TRUE(Refused("old-199"));
}

// 25, with a restart between two portions.
TEST_F(WatcherAccountsTest, AProcessThatEndsBetweenTwoPortionsBeginsThePassAnew) {
  PutQueues(200);
  PutConfig("prod", kOne);
  driver_->Settle();
  ASSERT_GT(In(kOne), 0U);
  ASSERT_LT(In(kOne), 400U);
  cluster_.Remove(kConfig, "", "prod");  // nobody can tell its account once more
  cluster_.FailLists(kQueue, ApiError{ApiErrorKind::kForbidden, 403, "no", {}});
  Start();
  driver_->Settle();
  EXPECT_FALSE(driver_->learned.moving.empty());
  EXPECT_TRUE(Refused("live-199"));
  EXPECT_TRUE(Refused("old-199"));
  driver_->Advance(options_.kind_grace + 10s);
  EXPECT_EQ(In(kOne), 400U) << "what cannot be listed holds nothing up for ever";
  EXPECT_TRUE(driver_->learned.moving.empty());
  Start();
  driver_->Settle();
  EXPECT_TRUE(driver_->learned.moving.empty()) << "through is through";
}

// 2: what lives is declared in the new account before its objects are listed again.
TEST_F(WatcherAccountsTest, AProviderConfigThatMovesTakesWhatLivesAlong) {
  PutQueues(100);
  PutConfig("prod", kOne);
  driver_->Advance(10s);
  ASSERT_EQ(In(kOne), 200U);
  cluster_.FailLists(kQueue, ApiError{ApiErrorKind::kForbidden, 403, "no", {}});
  PutConfig("prod", kTwo);
  driver_->Advance(20s);
  EXPECT_EQ(In(kOne), 200U) << "what was there stays";
  EXPECT_EQ(In(kTwo), 100U);
  EXPECT_TRUE(Refused("live-7"));
  const std::vector<Row> rows = Contents().rows;
  EXPECT_EQ(rows.size(), 100U);
  for (const Row& row : rows) EXPECT_EQ(AccountOf(row.id.resource), kTwo);
  const std::vector<Owner> owners = Contents().owners;
  EXPECT_TRUE(std::all_of(owners.begin(), owners.end(), [](const Owner& owner) {
    return (owner.record == Record::kNone) == (owner.identity.account == kTwo);
  }));
}

// I16: it was made where its ProviderConfig led then. The watches of the two kinds have no order
// between them.
TEST_F(WatcherAccountsTest, WhatWasMadeBeforeItsProviderConfigMovedIsNotFree) {
  PlanIn(kOne);
  driver_->hold_kind = kQueue;
  cluster_.Put(Queue("jobs"));
  PutConfig("prod", kTwo);
  driver_->Advance(4s);
  EXPECT_TRUE(Refused("jobs")) << "not told yet";
  driver_->hold_kind.reset();
  driver_->Advance(20s);
  ExpectOrphanedInOneLivesInTwo();
}

// The same, after an edit that was taken back before anything moved.
TEST_F(WatcherAccountsTest, AnEditThatIsTakenBackLeavesNothingForTheNextOne) {
  PlanIn(kOne);
  PutConfig("prod", kTwo);
  driver_->Advance(1s);
  PutConfig("prod", kOne);
  driver_->Advance(20s);
  driver_->hold_kind = kQueue;
  cluster_.Put(Queue("jobs"));
  PutConfig("prod", kTwo);
  driver_->Advance(4s);
  driver_->hold_kind.reset();
  driver_->Advance(20s);
  ExpectOrphanedInOneLivesInTwo();
}

// What is made after the edit is made there, and leaves nothing behind where it was planned.
TEST_F(WatcherAccountsTest, WhatIsMadeAfterItsProviderConfigMovedLeavesNoRecord) {
  PlanIn(kOne);
  PutConfig("prod", kTwo);
  cluster_.Put(Queue("jobs"));
  driver_->Advance(20s);
  ASSERT_TRUE(OwnerOf("jobs"));
  EXPECT_EQ(OwnerOf("jobs")->identity.account, kTwo);
  EXPECT_FALSE(Refused("jobs"));
}

// The same, and nobody followed the cluster meanwhile.
TEST_F(WatcherAccountsTest, WhatWasMadeBeforeAMoveThatNobodySawIsNotFree) {
  PlanIn(kOne);
  cluster_.Put(Queue("jobs"));
  PutConfig("prod", kTwo);
  cluster_.FailLists(kQueue, ApiError{ApiErrorKind::kServer, 503, "busy", {}});
  Start();
  driver_->Advance(60s);
  EXPECT_TRUE(Refused("jobs")) << "not listed yet";
  cluster_.FailLists(kQueue, std::nullopt);
  driver_->Advance(120s);
  ExpectOrphanedInOneLivesInTwo();
}

// What was never made by then goes along, and leaves nothing behind.
TEST_F(WatcherAccountsTest, WhatWasNotMadeBeforeItsProviderConfigMovedLeavesNoRecord) {
  PlanIn(kOne);
  PutConfig("prod", kTwo);
  driver_->Advance(20s);
  ASSERT_TRUE(OwnerOf("jobs"));
  EXPECT_EQ(OwnerOf("jobs")->identity.account, kTwo);
  EXPECT_FALSE(Refused("jobs"));
}

// For quotas.
TEST_F(WatcherAccountsTest, WhatAnAccountHoldsCountsOnceItIsKnown) {
  const auto count = [this](const std::string& account) {
    std::uint64_t held = 0;
    const ReadFn read = [&](const AllFacts& facts) {
      held = facts.CountOwned({.type = "sqs/Queue", .account = account});
    };
    EXPECT_TRUE(store_.Read(read, Soon()).ok());
    return held;
  };
  PutQueues(2);
  EXPECT_EQ(count(kOne), 0U);
  PutConfig("prod", kOne);
  driver_->Settle();
  EXPECT_EQ(count(kOne), 4U) << "the living and the orphaned";
}

// N6: a name there is none in AWS, also where the ProviderConfig moves later, or moves back.
TEST_F(WatcherAccountsTest, AnEndpointOutsideOfAwsIsANameSpaceOfItsOwn) {
  const auto config = [&](const std::string& spec) {
    cluster_.Put({kConfig, "", "prod", "pc-prod", {}, R"("spec":)" + spec});
    driver_->Advance(60s);
  };
  const auto record_of = [&](const std::string& key) -> std::optional<Record> {
    for (const Owner& owner : Contents().owners) {
      if (owner.key.text == key) return owner.record;
    }
    return std::nullopt;
  };
  const std::string in_aws = "s3/Bucket|aws|||name=data-x";
  const std::string local = "s3/Bucket|@localstack:4566|||name=data-x";
  const std::string other = "s3/Bucket|@other:4566|||name=data-x";
  SmallObject bucket{kBucket, "", "dev", "u-dev", {}, {}};
  bucket.rest = R"("spec":{"forProvider":{"region":"us-east-1"},
      "providerConfigRef":{"name":"prod"}},
      "status":{"atProvider":{"arn":"arn:aws:s3:::data-x"},
                "conditions":[{"type":"Ready","status":"True"}]})";
  bucket.metadata = R"("annotations":{"crossplane.io/external-name":"data-x"})";
  cluster_.Put(bucket);
  config(R"({"endpoint":{"url":{"type":"Static","static":"http://localstack:4566"}}})");
  EXPECT_EQ(record_of(local), Record::kNone);
  EXPECT_FALSE(record_of(in_aws));
  config(R"({"endpoint":{"url":{"type":"Static","static":"http://other:4566"}}})");
  EXPECT_EQ(record_of(local), Record::kOrphaned) << "what was made there may live on";
  EXPECT_EQ(record_of(other), Record::kNone) << "read again, though nobody touched it";
  Start();
  driver_->Settle();
  EXPECT_EQ(record_of(other), Record::kNone) << "also after a restart";
  config(R"({"credentials":{"source":"IRSA"}})");
  EXPECT_EQ(record_of(in_aws), Record::kNone);
  EXPECT_EQ(record_of(other), Record::kOrphaned);
}

// N6: whoever owns an endpoint outside of AWS writes the statuses there.
TEST_F(WatcherAccountsTest, AStatusUnderAnEndpointOutsideOfAwsGivesNoName) {
  const auto queue = [](const std::string& name, const std::string& account) {
    SmallObject object = Queue(name);
    object.rest = R"("spec":{"forProvider":{"region":"eu-west-1","name":")" + name +
                  R"("},"providerConfigRef":{"name":"prod"}},"status":{"atProvider":{"arn":
                  "arn:aws:sqs:eu-west-1:)" +
                  account + ":" + name + R"("}})";
    return object;
  };
  cluster_.Put(
      {kConfig,
       "",
       "prod",
       "pc-prod",
       {},
       R"("spec":{"endpoint":{"url":{"type":"Static","static":"http://aws.evil:4566"}}})"});
  cluster_.Put(queue("jobs", kOne));
  driver_->Settle();
  EXPECT_FALSE(Refused("jobs"));
  ASSERT_TRUE(OwnerOf("jobs"));
  EXPECT_TRUE(OwnerOf("jobs")->arn.empty());
  // It is remembered when the ProviderConfig is gone: what its endpoint made up is not.
  cluster_.Remove(kConfig, "", "prod");
  Start();
  driver_->Settle();
  cluster_.Put(queue("jobs", kOne));
  driver_->Settle();
  EXPECT_FALSE(Refused("jobs"));
  EXPECT_TRUE(driver_->learned.outside.contains(kProd));
  cluster_.Put({kConfig, "", "prod", "pc-2", {}, R"("spec":{"credentials":{"source":"IRSA"}})"});
  driver_->Advance(1s);
  cluster_.Put(queue("jobs", kOne));
  driver_->Settle();
  EXPECT_TRUE(Refused("jobs"));
}

TEST_F(WatcherAccountsTest, AProviderConfigThatLeadsBackBeforeItsPassIsThrough) {
  PutQueues(60);
  PutConfig("prod", kOne);
  driver_->Advance(10s);
  PutConfig("prod", kTwo);
  while (In(kTwo) == 0) driver_->Advance(options_.portions);
  ASSERT_LT(In(kTwo), 60U);
  PutConfig("prod", kOne);
  driver_->Advance(20s);
  const std::vector<Row> rows = Contents().rows;
  EXPECT_EQ(rows.size(), 60U);
  for (const Row& row : rows) EXPECT_NE(AccountOf(row.id.resource), kTwo);
  for (int i = 0; i < 60; ++i) EXPECT_TRUE(Refused("live-" + std::to_string(i)));
}

TEST_F(WatcherAccountsTest, APassThatARestartCutOffIsDoneAgain) {
  PutQueues(40);
  ASSERT_EQ(In(kOne), 0U);
  PutConfig("prod", kOne);
  faulty_.LoseNextAnswer({ErrorCode::kUnavailable, "disk slow"});
  driver_->Settle();  // one commit, then nothing for a while
  ASSERT_LT(In(kOne), 80U);
  Start();
  driver_->Advance(60s);
  EXPECT_EQ(In(kOne), 80U) << "records too";
}

TEST_F(WatcherAccountsTest, AnAccountThatIsConfiguredBeforeTheStartNamesRecordsToo) {
  PutQueues(3);
  rules_.identity.accounts[kProd] = kOne;
  Start();
  driver_->Advance(60s);
  EXPECT_EQ(In(kOne), 6U);
}

}  // namespace watcher_accounts_test
}  // namespace truce::testing
