// OwnershipGrants: objects in, agreements of the registry and verdicts out.
#include "webhook/publish/ownership_grants.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "registry/store/opening_store.h"
#include "tests/support/admission_fixture.h"

namespace truce {
namespace ownership_grants_test {

class OwnershipGrantsTest : public AdmissionFixture {
 protected:
  OwnershipGrantsTest() {
    Sent sent = Claim("team-a", "artifacts", "artifacts", "storage");
    sent.uid = "uid-artifacts";
    EXPECT_TRUE(Send(sent).allowed);
  }

  static OwnObject Grant(const std::string& name, const std::string& spec,
                         const std::string& ns = "team-a") {
    OwnObject out;
    out.kind = {"truce.dev", "v1alpha1", "OwnershipGrant", "ownershipgrants", true};
    out.ns = ns;
    out.name = name;
    out.uid = "uid-" + name;
    out.generation = 1;
    const auto parsed = ParseYaml(spec, "spec");
    EXPECT_TRUE(parsed.ok()) << spec;
    out.spec = parsed.value();
    return out;
  }
  std::vector<Agreement> All() const { return Contents().agreements; }

  const std::string bucket_ = "resource: {type: s3/Bucket, name: artifacts}\n";
  const InForce<AdmissionPolicy>& policy_ = service_.in_force();
  OwnershipGrants grants_{{store_, clock_, policy_, "local"}};
};

TEST_F(OwnershipGrantsTest, GivesWhatTheOwnersNamespaceSays) {
  const std::vector<OwnObject> objects = {
      Grant("files", bucket_ + "shares: [{namespace: team-b, level: attach, reason: r}]"),
      Grant("thief", bucket_ + "shares: [{namespace: team-b, level: attach}]", "team-b")};
  const auto verdicts = grants_.Take(objects);
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_EQ(verdicts[0], (OwnVerdict{true, "shared with namespace team-b"}));
  EXPECT_FALSE(verdicts[1].accepted);
  EXPECT_EQ(verdicts[1].message,
            "nothing of it is in force: the resource is not owned by namespace team-b");
  ASSERT_EQ(All().size(), 1U);
  EXPECT_EQ(All()[0].actor, "OwnershipGrant local/team-a/files");
}

TEST_F(OwnershipGrantsTest, TakesBackWhatIsGoneOnlyOnceAllIsKnown) {
  const OwnObject object = Grant("files", bucket_ + "shares: [{namespace: team-b, level: attach}]");
  grants_.Take(std::vector{object});
  ASSERT_EQ(All().size(), 1U);
  OwnershipGrants restarted{{store_, clock_, policy_, "local"}};
  EXPECT_TRUE(restarted.Take({}).empty());
  EXPECT_EQ(All().size(), 1U) << "the objects were not listed yet";
  restarted.SetComplete();
  const OwnObject bad = Grant("files", "resource: {type: s3/Bucket}");
  EXPECT_FALSE(restarted.Take(std::vector{bad})[0].accepted);
  EXPECT_EQ(All().size(), 1U) << "a bad edit takes nothing away";
  restarted.Take({});
  EXPECT_TRUE(All().empty());
}

TEST_F(OwnershipGrantsTest, ARenamedObjectLeavesNothingUnprotected) {
  grants_.SetComplete();
  const OwnObject old = Grant("old", bucket_ + "protection: {reason: customer data}");
  const OwnObject renamed = Grant("new", bucket_ + "protection: {reason: customer data}");
  EXPECT_EQ(grants_.Take(std::vector{old}).at(0), (OwnVerdict{true, "protected against deletion"}));
  EXPECT_EQ(grants_.Take(std::vector{renamed, old}).at(0).message,
            "already protected against deletion, by OwnershipGrant local/team-a/old; this object "
            "leaves that as it is");
  EXPECT_EQ(grants_.Take(std::vector{renamed}).at(0),
            (OwnVerdict{true, "protected against deletion"}));
  ASSERT_EQ(All().size(), 1U);
  EXPECT_EQ(All()[0].actor, "OwnershipGrant local/team-a/new");
  grants_.Take({});
  EXPECT_TRUE(All().empty());
}

TEST_F(OwnershipGrantsTest, SaysWhatIsWrongWithPathAndRemedy) {
  const struct {
    std::string spec;
    std::string message;
  } cases[] = {
      {"shares: []",
       "OwnershipGrant team-a/bad:1: spec.resource: is missing; give type and name, or arn"},
      {"resource: {type: s3/Bucket}",
       "OwnershipGrant team-a/bad:1: spec.resource: names nothing; give type and name, or arn"},
      {"resource: {type: s3/Bukcet, name: a}",
       "OwnershipGrant team-a/bad:1: spec.resource.type: is not a type; `truce types` lists them, "
       "as s3/Bucket"},
      {bucket_,
       "OwnershipGrant team-a/bad:1: spec: says nothing; write shares, protection or transferTo"},
      {bucket_ + "shares: [{level: attach}]",
       "OwnershipGrant team-a/bad:2: spec.shares[0]: name one of \"namespace\" and \"object\""},
      {bucket_ + "shares: [{namespace: a, object: Bucket.g/b, level: attach}]",
       "OwnershipGrant team-a/bad:2: spec.shares[0]: name one of \"namespace\" and \"object\""},
      {bucket_ + "shares: [{namespace: a, level: own}]",
       "OwnershipGrant team-a/bad:2: spec.shares[0].level: is neither observe nor attach"},
      {bucket_ + "shares: [{namespace: a, level: attach, until: soon}]",
       "OwnershipGrant team-a/bad:2: spec.shares[0].until: is not a time; write it as "
       "2027-01-15T00:00:00Z"},
      {bucket_ + "protection: {}",
       "OwnershipGrant team-a/bad:2: spec.protection.reason: is missing"},
      {bucket_ + "protection: {reason: r, until: soon}",
       "OwnershipGrant team-a/bad:2: spec.protection.until: unknown key; the keys are reason"},
      {bucket_ + "protection: true",
       "OwnershipGrant team-a/bad:2: spec.protection: is not a map; its keys are reason"},
      {bucket_ + "share: [{namespace: a}]",
       "OwnershipGrant team-a/bad:2: spec.share: unknown key; did you mean 'shares'?"},
      {bucket_ + "transferTo: {object: artifacts}",
       "OwnershipGrant team-a/bad:2: spec.transferTo: \"object\" is not of the form "
       "Kind.group/name"},
  };
  for (const auto& each : cases) {
    const OwnVerdict verdict = grants_.Take(std::vector{Grant("bad", each.spec)}).at(0);
    EXPECT_FALSE(verdict.accepted) << each.spec;
    EXPECT_EQ(verdict.message, each.message);
  }
}

TEST_F(OwnershipGrantsTest, TellsNothingWhileTheRegistryIsNotOpen) {
  OpeningStore unopened;
  OwnershipGrants grants{{unopened, clock_, policy_, "local"}};
  const OwnObject object = Grant("files", bucket_ + "shares: [{namespace: team-b, level: attach}]");
  EXPECT_TRUE(grants.Take(std::vector{object}).empty());
  EXPECT_LT(*grants.again(), std::chrono::seconds(1));
}

}  // namespace ownership_grants_test
}  // namespace truce
