// The watch of a server that shares its registry: it watches for all of them, or not yet.
#include <gtest/gtest.h>

#include <string>

#include "registry/ownership/names.h"
#include "tests/support/watcher_fixture.h"

namespace truce::testing {
namespace watcher_leading_test {

constexpr const char* kAccount = "111111111111";
const GroupKind kPolicy{"truce.dev", "NamingPolicy"};

class WatcherLeadingTest : public WatcherTest {
 protected:
  WatcherLeadingTest() {
    cluster_.Serve({kConfig.group, "v1beta1", kConfig.kind, "providerconfigs", false});
    cluster_.Serve({kPolicy.group, "v1alpha1", kPolicy.kind, "namingpolicies", false});
    FollowedKind policy;
    policy.selection.kind = {kPolicy.group, "v1alpha1", kPolicy.kind, "namingpolicies", false};
    policy.role = Role::kOther;
    options_.others = {policy};
    options_.tells_others = true;
  }

  void PutConfig() {
    cluster_.Put({kConfig,
                  "",
                  "prod",
                  "pc-prod",
                  {},
                  std::string(R"("spec":{"assumeRoleChain":[{"roleARN":"arn:aws:iam::)") +
                      kAccount + R"(:role/a"}]})"});
  }
  static SmallObject Queue() {
    SmallObject queue{kQueue, "", "jobs", "u-jobs", {}, {}};
    queue.rest =
        R"("spec":{"forProvider":{"region":"eu-west-1","name":"jobs"},
           "providerConfigRef":{"name":"prod"}},
           "status":{"conditions":[{"type":"Ready","status":"True"}]})";
    return queue;
  }
  bool IsInAccount() const { return OwnerOf("jobs")->identity.account == kAccount; }
  void Tell() { driver_->watcher().ViewStored(driver_->now, driver_->learned); }
};

TEST_F(WatcherLeadingTest, WhoDoesNotLeadFollowsTrucesOwnKindsAndWritesNothing) {
  options_.records = false;
  Start();
  cluster_.Put(Real(Bucket("a", "u-a", "reports")));
  cluster_.Put({kPolicy, "", "names", "u-names", {}, R"("spec":{})"});
  PutConfig();
  driver_->inbox.Admitted(kBucket);
  driver_->Advance(10min);
  EXPECT_EQ(seen_.others, std::vector<std::string>{kPolicy.kind});
  EXPECT_TRUE(seen_.sighted.empty());
  EXPECT_TRUE(driver_->watcher().attempted());
  EXPECT_FALSE(driver_->watcher().ready());
  EXPECT_TRUE(Contents().rows.empty());
  EXPECT_TRUE(Contents().settings.empty());
  EXPECT_FALSE(driver_->inbox.Take().empty()) << "for the server that leads";

  driver_->watcher().BeginRecording(driver_->now);
  driver_->Advance(10s);
  EXPECT_TRUE(driver_->watcher().ready());
  EXPECT_TRUE(OwnerOf("reports").has_value());
  EXPECT_FALSE(driver_->learned.accounts.empty());
}

TEST_F(WatcherLeadingTest, WhoLeadsAfterAnotherKnowsWhatThatHadLearned) {
  Start();
  PutConfig();
  cluster_.Put(Queue());
  driver_->Advance(2min);
  ASSERT_TRUE(IsInAccount());
  cluster_.Remove(kConfig, "", "prod");
  driver_->Advance(10s);

  options_.records = false;
  Start();
  driver_->Advance(10s);
  driver_->watcher().BeginRecording(driver_->now);
  driver_->Advance(2min);
  EXPECT_TRUE(IsInAccount());
  EXPECT_EQ(driver_->learned.accounts.size(), 1U);
}

TEST_F(WatcherLeadingTest, APassWaitsUntilNoServerJudgesByWhatWasBefore) {
  Start();
  cluster_.Put(Queue());
  driver_->Advance(10s);
  PutConfig();
  driver_->Advance(10s);
  EXPECT_FALSE(IsInAccount()) << "nobody was told";
  Tell();
  driver_->Advance(13s);
  EXPECT_FALSE(IsInAccount()) << "somebody may still go by what was told before";
  driver_->Advance(5s);
  EXPECT_TRUE(IsInAccount());
}

TEST_F(WatcherLeadingTest, WhatChangesAgainIsToldAgainAndHoldsUpThePassesOfOthersForAMinute) {
  Start();
  cluster_.Put(Queue());
  driver_->Advance(10s);
  PutConfig();
  driver_->Advance(5s);
  const LearnedIdentity before = driver_->learned;
  // Somebody edits another ProviderConfig all the time.
  for (int i = 0; i < 5; ++i) {
    cluster_.Put({kConfig,
                  "",
                  "mine",
                  "pc-mine",
                  {},
                  R"("spec":{"assumeRoleChain":[{"roleARN":"arn:aws:iam::22222222222)" +
                      std::to_string(i) + R"(:role/a"}]})"});
    driver_->Advance(10s);
    EXPECT_FALSE(IsInAccount()) << i << " " << driver_->learned.accounts.size();
    driver_->watcher().ViewStored(driver_->now, before);  // what no longer holds is not counted
  }
  driver_->Advance(10s);
  EXPECT_TRUE(IsInAccount());
}

}  // namespace watcher_leading_test
}  // namespace truce::testing
