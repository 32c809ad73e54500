// References by object name are filled from objects that the registry knows.
#include <gtest/gtest.h>

#include <string>

#include "registry/ownership/resolve.h"
#include "registry/ownership/review.h"
#include "tests/support/json_document.h"
#include "tests/support/memory_store.h"

namespace truce {
namespace resolve_test {

class ResolveTest : public ::testing::Test {
 protected:
  ResolveTest() {
    rules_.cluster = "local";
    rules_.catalogue = &Catalogue::BuiltIn();
  }

  ObjectFacts Read(const std::string& json, const GroupKind& kind) const {
    const Document document = DocumentFromJson(json);
    return Identify(document.root(), kind, rules_);
  }

  void Create(const ObjectFacts& object) {
    ReviewRequest request;
    request.uid = {"review"};
    request.object = object;
    const auto decide = [&](const Facts& facts) {
      return Decide(request, facts, Timestamp{}, ids_).changes;
    };
    ASSERT_TRUE(
        store_.Apply({}, decide, std::chrono::steady_clock::now() + std::chrono::seconds{5}).ok());
  }

  // The key of the first resource after references were filled; empty while it is not known.
  std::string Resolved(ObjectFacts object) const {
    const auto look = [&](const Facts& facts) {
      ResolveReferences(Catalogue::BuiltIn(), facts, object);
    };
    EXPECT_TRUE(store_.Read(look, std::chrono::steady_clock::now() + std::chrono::seconds{5}).ok());
    return object.resources.at(0).key().text;
  }

  IdentityRules rules_;
  MemoryStore store_;
  const IdSource ids_ = [] { return PublicId{"aaaaaaaaaaaaa"}; };
  const GroupKind bucket_{"s3.aws.upbound.io", "Bucket"};
  const GroupKind policy_{"s3.aws.upbound.io", "BucketPolicy"};
  const std::string by_name_ =
      R"({"metadata":{"name":"p","uid":"2"},"spec":{"forProvider":{"region":"us-west-2",)"
      R"("bucketRef":{"name":"artifacts"}}}})";
};

TEST_F(ResolveTest, AKnownObjectGivesItsResourcesName) {
  EXPECT_EQ(Resolved(Read(by_name_, policy_)), "") << "not known yet";
  Create(Read(R"({"metadata":{"name":"artifacts","uid":"1",)"
              R"("annotations":{"crossplane.io/external-name":"prod-artifacts"}},)"
              R"("spec":{"forProvider":{"region":"us-west-2"}}})",
              bucket_));
  const std::string key = Resolved(Read(by_name_, policy_));
  EXPECT_EQ(key, "s3/BucketPolicy|aws|||bucket=prod-artifacts");
}

TEST_F(ResolveTest, AnObjectOfAnotherFlavourIsAnotherObject) {
  Create(Read(R"({"metadata":{"name":"artifacts","uid":"1"},"spec":{"forProvider":{}}})",
              {"s3.aws.crossplane.io", "Bucket"}));
  EXPECT_EQ(Resolved(Read(by_name_, policy_)), "");
}

// ACK's references name objects of its own kinds, in other namespaces too.
TEST_F(ResolveTest, AReferenceOfAck) {
  const auto subnet = [&](const std::string& from) {
    return Read(R"({"metadata":{"name":"s","namespace":"a","uid":"2","annotations":)"
                R"({"services.k8s.aws/region":"eu-west-1"}},"spec":{"cidrBlock":"10.0.0.0/24",)"
                R"("vpcRef":{"from":)" +
                    from + "}}}",
                {"ec2.services.k8s.aws", "Subnet"});
  };
  const std::string other = R"({"name":"net","namespace":"b"})";
  EXPECT_EQ(Resolved(subnet(other)), "") << "not known yet";
  Create(Read(R"({"metadata":{"name":"net","namespace":"b","uid":"1","annotations":)"
              R"({"services.k8s.aws/region":"eu-west-1"}},"status":{"vpcID":"vpc-0a1b2c3d"}})",
              {"ec2.services.k8s.aws", "VPC"}));
  EXPECT_EQ(Resolved(subnet(other)), "ec2/Subnet|aws|||vpcId=vpc-0a1b2c3d|cidrBlock=10.0.0.0/24");
  EXPECT_EQ(Resolved(subnet(R"({"name":"net"})")), "") << "in its own namespace there is none";
}

// The provider writes the id over the name: what the object was named before stays its name.
TEST_F(ResolveTest, ANameThatTheIdReplacedIsTheOneBefore) {
  const GroupKind kind{"cloudfront.aws.upbound.io", "OriginRequestPolicy"};
  const auto named = [&](const std::string& uid, const std::string& name) {
    return Read(R"({"metadata":{"name":"p","uid":")" + uid +
                    R"(","annotations":{"crossplane.io/external-name":")" + name + R"("}}})",
                kind);
  };
  const std::string account = "?local/aws.upbound.io/ProviderConfig//default";
  const std::string key = "cloudfront/OriginRequestPolicy|aws|" + account + "||name=";
  const std::string id = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
  EXPECT_EQ(Resolved(named("1", id)), key + "p") << "nothing is known of it";
  Create(named("1", "shop"));
  EXPECT_EQ(Resolved(named("1", id)), key + "shop");
  EXPECT_EQ(Resolved(named("1", "other")), key + "other");
  EXPECT_EQ(Resolved(named("2", id)), key + "p") << "another object";
}

TEST_F(ResolveTest, ASelectorStaysUnknown) {
  Create(Read(R"({"metadata":{"name":"artifacts","uid":"1"},"spec":{"forProvider":{}}})", bucket_));
  EXPECT_EQ(Resolved(Read(R"({"metadata":{"name":"p","uid":"2"},"spec":{"forProvider":)"
                          R"({"region":"us-west-2","bucketSelector":{"matchLabels":{"a":"b"}}}}})",
                          policy_)),
            "");
}

}  // namespace resolve_test
}  // namespace truce
