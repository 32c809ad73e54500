// OwnershipGrants: objects in, agreements of the registry and verdicts out.
#include "webhook/serve/ownership_grants.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "tests/support/admission_fixture.h"
#include "tests/support/service_policy.h"

namespace truce {
namespace ownership_grants_test {

class OwnershipGrantsTest : public AdmissionFixture {
 protected:
  OwnershipGrantsTest() {
    Sent sent = Claim("team-a", "artifacts", "artifacts", "storage");
    sent.uid = "uid-artifacts";
    EXPECT_TRUE(Send(sent).allowed);
    const std::atomic<bool> stop{false};
    EXPECT_TRUE(indexed_.Fill(stop).ok());
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
  IndexedStore indexed_{store_};
  ServicePolicy policy_{service_};
  OwnershipGrants grants_{{indexed_, clock_, policy_, "local"}};
};

TEST_F(OwnershipGrantsTest, GivesWhatTheOwnersNamespaceSays) {
  const std::vector<OwnObject> objects = {
      Grant("files", bucket_ + "shares: [{namespace: team-b, level: attach, reason: r}]"),
      Grant("thief", bucket_ + "shares: [{namespace: team-b, level: attach}]", "team-b")};
  const auto verdicts = grants_.Take(objects);
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_EQ(verdicts[0], (OwnVerdict{true, "shared with namespace team-b"}));
  EXPECT_FALSE(verdicts[1].accepted);
  EXPECT_NE(verdicts[1].message.find("not owned by namespace team-b"), std::string::npos);
  ASSERT_EQ(All().size(), 1U);
  EXPECT_EQ(All()[0].actor, "OwnershipGrant local/team-a/files");
}

TEST_F(OwnershipGrantsTest, TakesBackWhatIsGoneOnlyOnceAllIsKnown) {
  const OwnObject object = Grant("files", bucket_ + "shares: [{namespace: team-b, level: attach}]");
  grants_.Take(std::vector{object});
  ASSERT_EQ(All().size(), 1U);
  OwnershipGrants restarted{{indexed_, clock_, policy_, "local"}};
  EXPECT_TRUE(restarted.Take({}).empty());
  EXPECT_EQ(All().size(), 1U) << "the objects were not listed yet";
  restarted.SetComplete();
  const OwnObject bad = Grant("files", "resource: {type: s3/Bucket}");
  EXPECT_FALSE(restarted.Take(std::vector{bad})[0].accepted);
  EXPECT_EQ(All().size(), 1U) << "a bad edit takes nothing away";
  restarted.Take({});
  EXPECT_TRUE(All().empty());
}

TEST_F(OwnershipGrantsTest, SaysWhatIsWrongWithPathAndRemedy) {
  const struct {
    std::string spec;
    std::string message;
  } cases[] = {
      {"shares: []", "spec.resource: is missing"},
      {"resource: {type: s3/Bucket}", "names nothing; give type and name, or arn"},
      {"resource: {type: s3/Bukcet, name: a}", "spec.resource.type: is not a type"},
      {bucket_, "says nothing; write shares or transferTo"},
      {bucket_ + "shares: [{level: attach}]", "name one of"},
      {bucket_ + "shares: [{namespace: a, object: Bucket.g/b, level: attach}]", "name one of"},
      {bucket_ + "shares: [{namespace: a, level: own}]", "neither observe nor attach"},
      {bucket_ + "shares: [{namespace: a, level: attach, until: soon}]", "is not a time"},
      {bucket_ + "share: [{namespace: a}]", "spec.share"},
      {bucket_ + "transferTo: {object: artifacts}", "Kind.group/name"},
  };
  for (const auto& each : cases) {
    const OwnVerdict verdict = grants_.Take(std::vector{Grant("bad", each.spec)}).at(0);
    EXPECT_FALSE(verdict.accepted) << each.spec;
    EXPECT_NE(verdict.message.find(each.message), std::string::npos) << verdict.message;
  }
}

TEST_F(OwnershipGrantsTest, TellsNothingWhileTheRegistryIsBeingRead) {
  IndexedStore unfilled{store_};
  OwnershipGrants grants{{unfilled, clock_, policy_, "local"}};
  const OwnObject object = Grant("files", bucket_ + "shares: [{namespace: team-b, level: attach}]");
  EXPECT_TRUE(grants.Take(std::vector{object}).empty());
  EXPECT_LT(*grants.again(), std::chrono::seconds(1));
}

}  // namespace ownership_grants_test
}  // namespace truce
