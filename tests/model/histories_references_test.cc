// Named histories of references: a bucket policy that names its bucket by an object. From
// manifests, by the built-in catalogue.
#include <gtest/gtest.h>

#include <string>

#include "registry/ownership/ledger.h"
#include "registry/ownership/resolve.h"
#include "tests/model/scene.h"
#include "tests/support/json_document.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace histories_references_test {

class HistoriesOfReferences : public ::testing::Test {
 protected:
  ~HistoriesOfReferences() override {
    for (const std::string& breach : CheckInvariants(registry_.Contents())) ADD_FAILURE() << breach;
  }

  ObjectFacts Object(const std::string& kind, const std::string& ns, const std::string& name,
                     const std::string& rest) {
    const Document document = DocumentFromJson(
        R"({"metadata":{"name":")" + name + R"(","namespace":")" + ns + R"(","uid":"u-)" + ns +
        name + kind + R"(","resourceVersion":")" + std::to_string(++version_) + R"(")" + rest);
    IdentityRules rules;
    rules.cluster = "local";
    rules.catalogue = &Catalogue::BuiltIn();
    return Identify(document.root(), {"s3.aws.m.upbound.io", kind}, rules);
  }
  // A policy whose fields name its bucket by reference, by value, or both.
  ObjectFacts Policy(const std::string& ns, const std::string& fields) {
    return Object("BucketPolicy", ns, "policy",
                  R"(},"spec":{"forProvider":{"region":"us-east-1",)" + fields + "}}}");
  }
  // B reads A's bucket "k" by an object of its own, "x".
  ObjectFacts Reader() {
    return Object("Bucket", "team-b", "x",
                  R"(,"annotations":{"crossplane.io/external-name":"k"}},"spec":{)"
                  R"("managementPolicies":["Observe"],"forProvider":{"region":"us-east-1"}}})");
  }

  // As the admission path does it: by what is known now.
  Decision Create(ObjectFacts object) {
    Resolve(object);
    return registry_.Create(object);
  }
  Decision Update(ObjectFacts before, ObjectFacts object, const std::string& user) {
    registry_.Run(
        [&](Ledger& ledger) { ResolveHeld(Catalogue::BuiltIn(), ledger.facts(), object, before); });
    Resolve(object);
    return registry_.Update(before, object, user);
  }
  void See(ObjectFacts object) {
    Resolve(object);
    registry_.See(object);
  }
  void Resolve(ObjectFacts& object) {
    registry_.Run(
        [&](Ledger& ledger) { ResolveReferences(Catalogue::BuiltIn(), ledger.facts(), object); });
  }

  void PolicyOfA() {
    const ObjectFacts policy = Policy("team-a", R"("bucket":"k")");
    ASSERT_TRUE(Create(policy).allowed);
    See(policy);
  }

  testing::StrictStore store_;
  scene::Registry registry_{store_};
  std::uint64_t version_ = 10;
  const std::string by_reference_ = R"("bucketRef":{"name":"x"})";
  const std::string resolved_ = R"("bucketRef":{"name":"x"},"bucket":"k")";
};

// 6: the object that the reference names comes later; the provider's update names the bucket.
TEST_F(HistoriesOfReferences, AReferenceResolvedLaterIsJudged) {
  PolicyOfA();
  const ObjectFacts policy = Policy("team-b", by_reference_);
  ASSERT_TRUE(Create(policy).allowed) << "nobody knows yet what it names";
  See(policy);
  ASSERT_TRUE(Create(Reader()).allowed);
  See(Reader());
  const Decision decision = Update(policy, Policy("team-b", resolved_), scene::kProvider);
  ASSERT_FALSE(decision.allowed);
  EXPECT_EQ(decision.denied.front().holder.root.ns, "team-a");
}

// 6, the other order: the reference tells at once.
TEST_F(HistoriesOfReferences, AReferenceToWhatIsKnownIsJudgedAtOnce) {
  PolicyOfA();
  ASSERT_TRUE(Create(Reader()).allowed);
  See(Reader());
  EXPECT_FALSE(Create(Policy("team-b", by_reference_)).allowed);
}

// What a reference leads to is held by who declared it first, and stays theirs when it is resolved.
TEST_F(HistoriesOfReferences, AReferenceOfTheOwnerIsResolved) {
  ASSERT_TRUE(Create(Reader()).allowed);
  See(Reader());
  const ObjectFacts policy = Policy("team-b", by_reference_);
  ASSERT_TRUE(Create(policy).allowed);
  See(policy);
  const ObjectFacts labelled = Policy("team-b", by_reference_);
  EXPECT_TRUE(Update(policy, labelled, "dev").allowed);
  EXPECT_TRUE(Update(labelled, Policy("team-b", resolved_), scene::kProvider).allowed);
  EXPECT_FALSE(Create(Policy("team-a", R"("bucket":"k")")).allowed);
}

// In conflict by what became known later: nothing is added, so it may change the rest.
TEST_F(HistoriesOfReferences, AReferenceInConflictMayChangeTheRest) {
  PolicyOfA();
  const ObjectFacts policy = Policy("team-b", by_reference_);
  ASSERT_TRUE(Create(policy).allowed);
  ASSERT_TRUE(Create(Reader()).allowed);
  See(Reader());
  EXPECT_TRUE(Update(policy, Policy("team-b", by_reference_), "dev").allowed);
}

// 13: its finalizer would delete the victim's policy.
TEST_F(HistoriesOfReferences, ATerminatingPolicyIsNotPointedAtAVictim) {
  PolicyOfA();
  ObjectFacts own = Policy("team-b", R"("bucket":"mine")");
  ASSERT_TRUE(Create(own).allowed);
  See(own);
  const auto terminating = [&](const std::string& fields) {
    ObjectFacts object = Policy("team-b", fields);
    object.terminating = true;
    return object;
  };
  own = terminating(R"("bucket":"mine")");
  See(own);
  EXPECT_FALSE(Update(own, terminating(R"("bucket":"k")"), "dev").allowed);
  EXPECT_TRUE(Update(own, terminating(R"("bucket":"mine")"), "dev").allowed);
}

}  // namespace histories_references_test
}  // namespace truce
