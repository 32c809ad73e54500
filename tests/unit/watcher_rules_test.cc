// What declares what is changed while the cluster is followed.
#include <string>
#include <utility>
#include <vector>

#include "tests/support/store_samples.h"
#include "tests/support/watcher_chain.h"

namespace truce::testing {
namespace watcher_rules_test {

class WatcherRulesTest : public ChainTest {
 protected:
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

TEST_F(WatcherRulesTest, XrdsTellWhichKindsAreClaims) {
  driver_->Settle();
  EXPECT_TRUE(driver_->learned.definitions_known) << "no Crossplane: there is none to be known";
  PutDefinition();
  SmallObject odd{kXrd, "", "xodds.acme.example.org", "odd", {}, {}};
  for (const char* spec :
       {R"("spec":{"group":"*","names":{"kind":"X"},"claimNames":{"kind":"Y"}})",
        R"("spec":{"group":"apps","names":{"kind":"X"},"claimNames":{"kind":"Y"}})",
        R"("spec":{"group":"rbac.authorization.k8s.io","names":{"kind":"X"}})",
        R"("spec":{"group":"acme.example.org","names":{"kind":""},"claimNames":{"kind":"Y"}})",
        R"("spec":{"group":"acme.example.org"})"}) {
    odd.rest = spec;
    cluster_.Put(odd);
    Start();
    driver_->Settle();
    EXPECT_TRUE(driver_->learned.definitions_known) << spec;
    EXPECT_EQ(driver_->learned.composites, std::set<GroupKind>{kComposite}) << spec;
    EXPECT_EQ(driver_->learned.claims, (std::map<GroupKind, GroupKind>{{kClaim, kComposite}}))
        << spec;
  }
  odd.rest = R"("spec":{"group":"acme.example.org","names":{"kind":"XOdd"},
      "claimNames":{"kind":"XOdd"}})";
  cluster_.Put(odd);
  Start();
  driver_->Settle();
  EXPECT_EQ(driver_->learned.composites.size(), 2U);
  EXPECT_EQ(driver_->learned.claims.size(), 1U) << "a composite is no claim of itself";
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

// What a managed resource witnessed holds only while every other one would be seen (E1).
TEST_F(WatcherRulesTest, AGapOfTheManagedKindVoidsThatItsResourceIsGone) {
  PutDefinition();
  rules_ = Mapped("spec.parameters.name");
  for (const bool gap : {false, true}) {
    SCOPED_TRACE(gap);
    const std::string name = gap ? "two" : "one";
    Start();
    PutChain(name);
    driver_->Settle();
    ASSERT_TRUE(OwnerOf(name + "-prod"));
    cluster_.Put(Finished(Composed(name)));
    cluster_.Remove(kBucket, "", name);
    driver_->Settle();
    ASSERT_TRUE(OwnerOf(name + "-prod"));
    ASSERT_FALSE(OwnerOf(name + "-prod")->real);
    if (gap) {
      cluster_.Compact();
      driver_->EndWatches(ApiError{ApiErrorKind::kExpired, 410, "too old", {}});
      driver_->hold_kind = kClaim;  // its own gap would do it too
      driver_->Advance(2s);
      driver_->hold_kind.reset();
    }
    cluster_.Remove(kComposite, "", name);
    cluster_.Remove(kClaim, "team-a", name);
    driver_->Advance(2s);
    EXPECT_EQ(OwnerOf(name + "-prod").has_value(), gap);
  }
}

// A type may share its space of names with another one, whose name the keys bear.
TEST_F(WatcherRulesTest, AGapVoidsAlsoInASpaceOfAnotherTypesName) {
  const GroupKind cluster{"docdb.aws.upbound.io", "Cluster"};
  cluster_.Serve({cluster.group, "v1beta1", cluster.kind, "clusters", false});
  const TypeSpec& type = *rules_.catalogue->FindKind(cluster.group, cluster.kind)->type;
  ASSERT_NE(type.space, type.name);
  Owner gone = SampleOwner("orders", "u1");
  gone.key = {std::string(type.space) + "|aws|123456789012|eu-west-1|name=orders"};
  gone.name = "orders";
  gone.managed_once = true;
  gone.record = Record::kImported;
  Changes changes;
  changes.put_owners = {gone};
  changes.put_names = {{.name = gone.key, .resource = gone.id, .sort = NameSort::kLocated}};
  changes.audit = {SampleGrant(gone)};
  ASSERT_TRUE(Write(store_, changes).ok());
  Start();
  driver_->Settle();
  EXPECT_TRUE(OwnerOf("orders")->real);
}

// What its definition makes of a kind holds for objects that were seen before, too (W1).
TEST_F(WatcherRulesTest, ADefinitionThatIsReadLateMakesItsKindCompose) {
  PutDefinition();
  rules_ = Mapped("spec.parameters.name", {kComposite});  // followed without its definition, too
  cluster_.FailLists(kXrd, ApiError{ApiErrorKind::kServer, 500, "no", {}});
  Start();
  PutChain("one");
  driver_->Advance(1s);
  cluster_.FailLists(kXrd, std::nullopt);
  driver_->Advance(60s);
  for (const Object& object : Contents().objects) {
    EXPECT_EQ(object.root.kind, "Storage") << ForPeople(object.slot);
  }
  EXPECT_EQ(Contents().objects.size(), 3U);
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

// 20: nobody looks at the object any more, and it is gone.
TEST_F(WatcherRulesTest, AMappingThatIsGoneHoldsNothingForEver) {
  cluster_.Serve({kClaim.group, "v1", kClaim.kind, "storages", true});
  const ReconcileRules without = rules_;
  rules_ = Mapped("spec.parameters.name");
  Start();
  cluster_.Put(Claim("orders", "u1"));
  Admit(Claim("reserved", "u2"));  // and never created
  driver_->Settle();
  Change(without);
  rules_ = without;
  cluster_.Remove(kClaim, "team-a", "orders");
  EXPECT_TRUE(driver_->watcher().Unwatched().contains(kClaim));
  ASSERT_EQ(driver_->watcher().unmapped().size(), 1U);
  driver_->Advance(12h);
  Start();  // a new process remembers since when
  driver_->Settle();
  ASSERT_EQ(driver_->watcher().unmapped().size(), 1U);
  driver_->Advance(11h);
  EXPECT_EQ(OwnerOf("orders-prod")->record, Record::kNone) << "not before the settle time";
  driver_->Advance(2h);
  ASSERT_TRUE(OwnerOf("orders-prod"));
  EXPECT_EQ(OwnerOf("orders-prod")->record, Record::kOrphaned);
  EXPECT_EQ(OwnerOf("reserved-prod")->record, Record::kOrphaned) << "it may have come true";
  EXPECT_TRUE(RowsOf("u1").empty());
  EXPECT_TRUE(Contents().objects.empty());
  EXPECT_FALSE(driver_->watcher().Unwatched().contains(kClaim));
}

TEST_F(WatcherRulesTest, AMappingThatComesBackInTimeEndsNothing) {
  cluster_.Serve({kClaim.group, "v1", kClaim.kind, "storages", true});
  const ReconcileRules without = rules_;
  rules_ = Mapped("spec.parameters.name");
  Start();
  cluster_.Put(Claim("orders", "u1"));
  driver_->Settle();
  Change(without);
  driver_->Advance(23h);
  Change(rules_);
  driver_->Advance(48h);
  EXPECT_EQ(OwnerOf("orders-prod")->record, Record::kNone);
  EXPECT_TRUE(driver_->watcher().unmapped().empty());
  // After the time the object is seen anew, and takes back what is its own.
  Change(without);
  driver_->Advance(25h);
  EXPECT_EQ(OwnerOf("orders-prod")->record, Record::kOrphaned);
  Change(rules_);
  EXPECT_EQ(OwnerOf("orders-prod")->record, Record::kNone);
  EXPECT_EQ(RowsOf("u1").size(), 1U);
}

// What a kind that an XRD defines declared is read on, and is orphaned at once.
TEST_F(WatcherRulesTest, AKindThatIsReadWithoutRuleIsNotUnwatched) {
  cluster_.Serve({kXrd.group, "v1", kXrd.kind, "compositeresourcedefinitions", false});
  cluster_.Serve({kClaim.group, "v1", kClaim.kind, "storages", true});
  cluster_.Serve({kComposite.group, "v1", kComposite.kind, "xstorages", false});
  SmallObject xrd{kXrd, "", "xstorages.acme.example.org", "x1", {}, {}};
  xrd.rest = R"("spec":{"group":"acme.example.org","names":{"kind":"XStorage"},
      "claimNames":{"kind":"Storage"}})";
  cluster_.Put(xrd);
  const ReconcileRules without = rules_;
  rules_ = Mapped("spec.parameters.name");
  Start();
  cluster_.Put(Claim("orders", "u1"));
  driver_->Settle();
  Change(without);
  EXPECT_TRUE(driver_->watcher().unmapped().empty());
  EXPECT_FALSE(driver_->watcher().Unwatched().contains(kClaim));
  EXPECT_EQ(OwnerOf("orders-prod")->record, Record::kOrphaned);
}

TEST(UnmappedTest, RemembersSinceWhenNoRuleNamesAKind) {
  const Timestamp now = *ParseTimestamp("2026-11-21T08:00:00Z");
  Unmapped unmapped;
  EXPECT_TRUE(unmapped.Update({kClaim, kComposite}, {}, now));
  EXPECT_TRUE(unmapped.Update({kComposite}, {}, now));
  EXPECT_FALSE(unmapped.Update({kComposite}, {}, now + 1h));
  EXPECT_EQ(unmapped.kinds(), (Unmapped::Kinds{{kClaim, now}, {kComposite, std::nullopt}}));
  const Unmapped again(unmapped.kinds());
  EXPECT_TRUE(again.Due(now + 23h, 24h).empty());
  EXPECT_EQ(again.Due(now + 24h, 24h), std::vector<GroupKind>{kClaim});
  // The clock jumped back.
  Unmapped later = again;
  EXPECT_TRUE(later.Update({kComposite}, {}, now - 48h));
  EXPECT_EQ(later.Gone().at(kClaim), now - 48h);
  EXPECT_TRUE(later.Update({kComposite}, {kClaim}, now)) << "an XRD defines it";
  EXPECT_TRUE(later.Gone().empty());
}

}  // namespace watcher_rules_test
}  // namespace truce::testing
