// Ends of what lies in an account: whether the ProviderConfig was the same all along (E8).
#include "tests/support/watcher_fixture.h"
#include "webhook/watch/history.h"

namespace truce::testing {
namespace watcher_ends_test {

SmallObject Config(const std::string& role) {
  SmallObject object{kConfig, "", "default", "pc-1", {}, {}};
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
  history.Saw(config, 10, "a");
  EXPECT_EQ(history.Throughout(config, 12, 14), "a");
  EXPECT_EQ(history.Throughout(config, 8, 14), std::nullopt) << "it came in between";
  history.Saw(config, 15, "a");  // its status only
  EXPECT_EQ(history.Throughout(config, 12, 14), "a");
  EXPECT_TRUE(history.Knows(config, 15));
  EXPECT_FALSE(history.Knows(config, 16));
  EXPECT_FALSE(history.Knows(config, std::nullopt));
  history.Saw(config, 20, "b");
  EXPECT_EQ(history.Throughout(config, 12, 19), "a");
  EXPECT_EQ(history.Throughout(config, 12, 20), std::nullopt);
  EXPECT_EQ(history.Throughout(config, 20, 30), "b");
  history.Saw(config, 30, "a");
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
  history.Saw(config, 10, "a");
  history.Saw(other, 11, "o");
  history.BeginList({"aws.upbound.io", "ProviderConfig"});
  history.Saw(config, 10, "a");
  history.FinishList({"aws.upbound.io", "ProviderConfig"});
  EXPECT_EQ(history.Throughout(config, 10, 20), "a") << "the same version: nothing happened";
  EXPECT_EQ(history.Fields().size(), 1U) << "the list did not hold the other";
  history.BeginList({"aws.upbound.io", "ProviderConfig"});
  history.Saw(config, 30, "a");
  EXPECT_EQ(history.Throughout(config, 10, 40), std::nullopt);
  EXPECT_EQ(history.Throughout(config, 30, 40), "a");
}

}  // namespace watcher_ends_test
}  // namespace truce::testing
