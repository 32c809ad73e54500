// What declares what is changed while the cluster is followed.
#include <string>
#include <utility>
#include <vector>

#include "tests/support/watcher_fixture.h"

namespace truce::testing {
namespace watcher_rules_test {

class WatcherRulesTest : public WatcherTest {
 protected:
  // The claim's field at `path` is a bucket's name.
  ReconcileRules Mapped(const std::string& path) const {
    MappingRule rule;
    rule.kind = kClaim;
    MappedResource bucket;
    bucket.type = "s3/Bucket";
    PartSource name;
    name.path = FieldPath::Parse(path, FieldPath::Root::kObject).value();
    bucket.parts[rules_.catalogue->FindType("s3/Bucket")->parts.front().name] = std::move(name);
    rule.declares.push_back(std::move(bucket));
    std::vector<MappingRule> all{std::move(rule)};
    ReconcileRules rules = rules_;
    rules.identity.mappings = MappingRules::Create(std::move(all), *rules_.catalogue).value();
    return rules;
  }

  void Change(ReconcileRules rules) {
    driver_->watcher().SetRules(driver_->now, std::move(rules));
    driver_->Advance(5s);
    EXPECT_TRUE(driver_->watcher().resynced());
  }

  static SmallObject Claim(const std::string& name, const std::string& uid) {
    SmallObject claim{kClaim, "team-a", name, uid, {}, {}};
    claim.rest = R"("spec":{"parameters":{"name":")" + name + R"(-prod","label":"x"}})";
    return claim;
  }
};

TEST_F(WatcherRulesTest, AMappingThatIsAddedFindsWhatIsThere) {
  cluster_.Serve({kClaim.group, "v1", kClaim.kind, "storages", true});
  cluster_.Put(Claim("orders", "u1"));
  driver_->Settle();
  EXPECT_FALSE(OwnerOf("orders-prod"));
  Change(Mapped("spec.parameters.name"));
  ASSERT_TRUE(OwnerOf("orders-prod"));
  EXPECT_EQ(OwnerOf("orders-prod")->state, HolderState::kHeld);
}

TEST_F(WatcherRulesTest, AMappingThatIsBrokenGivesNothingAwayAndIsMended) {
  constexpr int kClaims = 60;  // more than the brake would let go
  cluster_.Serve({kClaim.group, "v1", kClaim.kind, "storages", true});
  rules_ = Mapped("spec.parameters.name");
  Start();
  cluster_.Put(Claim("c0", "u0"));
  driver_->Settle();
  for (int i = 1; i < kClaims; ++i)  // by the watch: not known to be real
    cluster_.Put(Claim("c" + std::to_string(i), "u" + std::to_string(i)));
  driver_->Settle();
  ASSERT_EQ(store_.Counts().held, std::uint64_t{kClaims});
  const Owner before = *OwnerOf("c7-prod");
  ASSERT_FALSE(before.real);
  Change(Mapped("spec.parameters.nmae"));
  EXPECT_EQ(Contents().owners.size(), std::size_t{kClaims}) << "the objects are as they were";
  ASSERT_TRUE(OwnerOf("c7-prod"));
  EXPECT_EQ(OwnerOf("c7-prod")->record, Record::kOrphaned);
  Change(rules_);
  EXPECT_EQ(store_.Counts().held, std::uint64_t{kClaims});
  EXPECT_EQ(OwnerOf("c7-prod")->record, Record::kNone);
  EXPECT_EQ(OwnerOf("c7-prod")->root, before.root);
  EXPECT_EQ(OwnerOf("c7-prod")->id, before.id) << "the public id stays";
}

TEST_F(WatcherRulesTest, AMappingThatIsRemovedReleasesNothing) {
  cluster_.Serve({kClaim.group, "v1", kClaim.kind, "storages", true});
  const ReconcileRules without = rules_;
  rules_ = Mapped("spec.parameters.name");
  Start();
  cluster_.Put(Claim("orders", "u1"));
  driver_->Settle();
  Change(without);
  ASSERT_TRUE(OwnerOf("orders-prod"));
  cluster_.Remove(kClaim, "team-a", "orders");  // nobody looks any more
  driver_->Advance(600s);
  EXPECT_TRUE(OwnerOf("orders-prod"));
  Change(rules_);
  driver_->Advance(60s);
  ASSERT_TRUE(OwnerOf("orders-prod")) << "the first list is empty: a command decides";
  EXPECT_FALSE(driver_->watcher().reconciler().FrozenFor(kClaim).empty());
}

}  // namespace watcher_rules_test
}  // namespace truce::testing
