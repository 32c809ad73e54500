#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "registry/catalogue/explain.h"

namespace truce {
namespace catalogue_explain_test {

TEST(Explain, ShowsTheRowOfABucketPolicy) {
  const TypeSpec& spec = *Catalogue::BuiltIn().FindType("s3/BucketPolicy");
  const std::string expected = R"(s3/BucketPolicy
  kinds             BucketPolicy.s3.aws.upbound.io     upjet cluster-scoped
                    BucketPolicy.s3.aws.m.upbound.io   upjet namespaced
                    BucketPolicy.s3.aws.crossplane.io  community
  unique in         its parent, which is unique in the partition
  how sure          researched
  conflicts         denied by default: the scope is researched
  key               s3/BucketPolicy|partition|||bucket
  key parts         bucket = spec.forProvider.bucket -> s3/Bucket
    of community    bucket = spec.forProvider.bucketName -> s3/Bucket
  region            spec.forProvider.region
  ARN               arn:{partition}:s3:::{bucket}
  external name     {bucket}
  attachment of     s3/Bucket, exclusive: the parent has this slot once
                    bucket is its name
  default quota     1/bucket
  if it exists      overwrites (PutBucketPolicy)
  provider names by provider-assigned
  note              one policy per bucket: two MRs for one bucket overwrite each other for ever
  row               )" + spec.origin +
                               "\n";
  EXPECT_EQ(Explain(spec), expected);
}

TEST(Explain, ShowsWhereKindsOfAckSayIt) {
  const std::string grant = Explain(*Catalogue::BuiltIn().FindType("kms/Grant"));
  EXPECT_NE(grant.find("of ACK          id = status.grantID: an id that AWS assigns"),
            std::string::npos)
      << grant;
  EXPECT_NE(grant.find("of ACK          keyId = spec.keyID (made equal: basename) -> kms/Key"),
            std::string::npos)
      << grant;
  const std::string key = Explain(*Catalogue::BuiltIn().FindType("kms/Key"));
  EXPECT_NE(key.find("Key.kms.services.k8s.aws   ack, judged: conflicts warn"), std::string::npos)
      << key;
}

TEST(Explain, SaysWhyConflictsOfAnUnsureTypeOnlyWarn) {
  const TypeSpec& spec = *Catalogue::BuiltIn().FindType("sqs/QueueRedrivePolicy");
  EXPECT_EQ(DefaultConflict(spec), "warn");
  EXPECT_NE(Explain(spec).find("the scope is judged, not researched"), std::string::npos);
}

TEST(Explain, ShowsHowNamesComeAbout) {
  const std::string group = Explain(*Catalogue::BuiltIn().FindType("ec2/SecurityGroup"));
  EXPECT_NE(group.find(R"(
  external name     {@id:sg-}
                    arn:{partition}:ec2:{region}:{account}:security-group/{@id:sg-}
                    its id exists once, over all accounts
)"),
            std::string::npos)
      << group;
}

TEST(Explain, ShowsWhatPartsMakeOfEachOther) {
  const TypeSpec& spec = *Catalogue::BuiltIn().FindType("ec2/SecurityGroupEgressRule");
  EXPECT_EQ(Describe(spec.parts[0]),
            "spec.forProvider.securityGroupId, in a form of ec2/SecurityGroup");
  EXPECT_EQ(
      Describe(spec.parts[3]),
      "spec.forProvider.fromPort, default \"-1\", read where protocol is tcp or udp or icmp or "
      "icmpv6");
  EXPECT_TRUE(Describe(spec.parts[5])
                  .ends_with("(made equal: cidr, strip-account), \"self\" where it is its "
                             "securityGroupId"));
}

TEST(Explain, KeepsEveryTypeReadable) {
  for (const TypeSpec& spec : Catalogue::BuiltIn().types()) {
    std::istringstream lines(Explain(spec));
    for (std::string line; std::getline(lines, line);) {
      const std::size_t text = line.find_first_not_of(' ');
      const bool one_word = line.find(' ', text == 2 ? 20 : text) == std::string::npos;
      EXPECT_TRUE(line.size() <= 102 || one_word) << spec.name << ": " << line;
      EXPECT_FALSE(line.ends_with(' ')) << spec.name << ": " << line;
    }
  }
}

TEST(Explain, SummarisesATypeInOneLine) {
  const TypeSummary policy = Summarise(*Catalogue::BuiltIn().FindType("s3/BucketPolicy"));
  EXPECT_EQ(policy.type, "s3/BucketPolicy");
  EXPECT_EQ(policy.scope, "parent");
  EXPECT_EQ(policy.certainty, "researched");
  EXPECT_EQ(policy.conflict, "deny");
  EXPECT_EQ(policy.key, "bucket");
  EXPECT_EQ(policy.attachment, "s3/Bucket (exclusive)");
  const TypeSummary singleton = Summarise(*Catalogue::BuiltIn().FindType("iam/AccountAlias"));
  EXPECT_EQ(singleton.key, "-");
  EXPECT_EQ(singleton.attachment, "account (exclusive)");
}

}  // namespace catalogue_explain_test
}  // namespace truce
