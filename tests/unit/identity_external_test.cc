// Names that external names, URLs, ARNs and ids tell beside the fields.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "registry/identity/draft.h"
#include "registry/identity/identity.h"
#include "tests/support/json_document.h"

namespace truce {
namespace identity_external_test {

const GroupKind kQueue{"sqs.aws.upbound.io", "Queue"};
const GroupKind kGroup{"ec2.aws.upbound.io", "SecurityGroup"};
const GroupKind kSecret{"secretsmanager.aws.upbound.io", "Secret"};
const GroupKind kTopic{"sns.aws.upbound.io", "Topic"};
const GroupKind kVpc{"ec2.aws.upbound.io", "VPC"};
const GroupKind kRole{"iam.aws.upbound.io", "Role"};
const GroupKind kCertificate{"acm.aws.upbound.io", "Certificate"};
const GroupKind kDistribution{"cloudfront.aws.upbound.io", "Distribution"};
const GroupKind kSubnet{"ec2.aws.upbound.io", "Subnet"};
const GroupKind kIamPolicy{"iam.aws.upbound.io", "Policy"};
const GroupKind kOriginRequest{"cloudfront.aws.upbound.io", "OriginRequestPolicy"};
const GroupKind kPolicy{"sqs.aws.upbound.io", "QueuePolicy"};

constexpr const char* kOne = "111111111111";
constexpr const char* kUrl = "https://sqs.us-east-1.amazonaws.com/111111111111/jobs";
const std::string kProvisionalAccount = "?local/aws.upbound.io/ProviderConfig//default";

IdentityRules Rules(const std::string& account = "") {
  IdentityRules rules;
  rules.cluster = "local";
  rules.catalogue = &Catalogue::BuiltIn();
  if (!account.empty()) {
    rules.accounts = {{{"aws.upbound.io", "ProviderConfig", "", "default"}, account}};
  }
  return rules;
}

struct Subject {
  GroupKind kind;
  std::string fields;         // of forProvider besides the region
  std::string external_name;  // empty: none
  std::string status;         // of atProvider
  std::string account;        // of its ProviderConfig; empty: not known
};

ObjectFacts Read(const Subject& subject) {
  std::string json = R"({"metadata":{"name":"x")";
  if (!subject.external_name.empty()) {
    json += R"(,"annotations":{"crossplane.io/external-name":")" + subject.external_name + "\"}";
  }
  json += R"(},"spec":{"forProvider":{"region":"us-east-1")" +
          (subject.fields.empty() ? "" : "," + subject.fields) + "}}";
  if (!subject.status.empty()) json += R"(,"status":{"atProvider":{)" + subject.status + "}}";
  const Document document = DocumentFromJson(json + "}");
  return Identify(document.root(), subject.kind, Rules(subject.account));
}

// All names, a line each: the key, then the further ones, "~" before what only a status shows. An
// account that is not known is "?". Resources stand apart by "--".
std::vector<std::string> NamesOf(const ObjectFacts& facts) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& mark, std::string text) {
    const std::size_t provisional_account = text.find(kProvisionalAccount);
    if (provisional_account != std::string::npos)
      text.replace(provisional_account, kProvisionalAccount.size(), "?");
    names.push_back(mark + text);
  };
  for (const DeclaredResource& resource : facts.resources) {
    if (!names.empty()) names.emplace_back("--");
    if (resource.names.empty()) add("", "");
    for (const DeclaredName& name : resource.names) add(name.observed ? "~" : "", name.text.text);
  }
  return names;
}

struct Row {
  const char* reason;
  Subject subject;
  std::vector<std::string> names;
  std::string finding;
};

void Check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.reason);
    const ObjectFacts facts = Read(row.subject);
    EXPECT_EQ(NamesOf(facts), row.names);
    EXPECT_EQ(facts.name_finding, row.finding);
    EXPECT_TRUE(facts.bad_names.empty());
    for (const DeclaredResource& resource : facts.resources) {
      EXPECT_LE(resource.names.size(), kDeclaredNamesMax);
    }
  }
}

TEST(IdentityExternalName, ALocatedNameIsTold) {
  const std::string jobs = R"("name":"jobs")";
  Check({
      {"by URL, as the fields say",
       {kQueue, jobs, kUrl, "", ""},
       {"sqs/Queue|aws|?|us-east-1|name=jobs", "sqs/Queue|aws|111111111111|us-east-1|name=jobs"},
       ""},
      {"by the older URL",
       {kQueue, jobs, "https://us-east-1.queue.amazonaws.com/111111111111/jobs", "", ""},
       {"sqs/Queue|aws|?|us-east-1|name=jobs", "sqs/Queue|aws|111111111111|us-east-1|name=jobs"},
       ""},
      {"by URL alone",
       {kQueue, "", kUrl, "", ""},
       {"sqs/Queue|aws|?|us-east-1|name=jobs", "sqs/Queue|aws|111111111111|us-east-1|name=jobs"},
       ""},
      {"where the account is known already",
       {kQueue, jobs, kUrl, "", kOne},
       {"sqs/Queue|aws|111111111111|us-east-1|name=jobs", "sqs/Queue|aws|?|us-east-1|name=jobs"},
       ""},
      {"another one than the fields: both are declared",
       {kQueue, R"("name":"mine")", kUrl, "", ""},
       {"sqs/Queue|aws|?|us-east-1|name=mine", "--", "sqs/Queue|aws|?|us-east-1|name=jobs",
        "sqs/Queue|aws|111111111111|us-east-1|name=jobs"},
       "external name names another resource than the fields: "
       "https://sqs.us-east-1.amazonaws.com/111111111111/jobs"},
      {"a secret, without the six characters that AWS adds",
       {kSecret, R"("name":"db")", "arn:aws:secretsmanager:us-east-1:111111111111:secret:db-aB3xYz",
        "", ""},
       {"secretsmanager/Secret|aws|?|us-east-1|name=db",
        "secretsmanager/Secret|aws|111111111111|us-east-1|name=db"},
       ""},
      {"a topic, named by its annotation",
       {kTopic, "", "arn:aws:sns:us-east-1:111111111111:news", "", ""},
       {"sns/Topic|aws|?|us-east-1|name=news", "sns/Topic|aws|111111111111|us-east-1|name=news"},
       ""},
      {"a role, with its path",
       {kRole, "", "arn:aws:iam::111111111111:role/team/Writer", "", ""},
       {"iam/Role|aws|?||name=writer", "iam/Role|aws|111111111111||name=writer"},
       ""},
      {"a queue's policy, by the queue's URL",
       {kPolicy, R"("queueUrl":"jobs")", kUrl, "", ""},
       {"sqs/QueuePolicy|aws|?|us-east-1|queueUrl=jobs",
        "sqs/QueuePolicy|aws|111111111111|us-east-1|queueUrl=jobs"},
       ""},
  });
}

TEST(IdentityExternalName, AnIdIsANameOfItsOwn) {
  const std::string fields = R"("vpcId":"vpc-1","name":"web")";
  Check({
      {"beside the fields",
       {kGroup, fields, "sg-0a1b", "", ""},
       {"ec2/security-group|aws|?|us-east-1|vpcId=vpc-1|name=web",
        "ec2/security-group|aws|||@id=sg-0a1b"},
       ""},
      {"out of the ARN",
       {kGroup, fields, "arn:aws:ec2:us-east-1:111111111111:security-group/sg-0a1b", "", ""},
       {"ec2/security-group|aws|?|us-east-1|vpcId=vpc-1|name=web",
        "ec2/security-group|aws|||@id=sg-0a1b"},
       ""},
      {"alone",
       {kGroup, R"("vpcIdRef":{"name":"main"})", "sg-0a1b", "", ""},
       {"ec2/security-group|aws|||@id=sg-0a1b"},
       ""},
      {"what is no id says nothing",
       {kGroup, fields, "web", "", ""},
       {"ec2/security-group|aws|?|us-east-1|vpcId=vpc-1|name=web"},
       ""},
      {"beside both accounts",
       {kGroup, fields, "sg-0a1b", "", kOne},
       {"ec2/security-group|aws|111111111111|us-east-1|vpcId=vpc-1|name=web",
        "ec2/security-group|aws|?|us-east-1|vpcId=vpc-1|name=web",
        "ec2/security-group|aws|||@id=sg-0a1b"},
       ""},
      {"a type keyed by its id needs no other",
       {kVpc, "", "vpc-0a1b", "", ""},
       {"ec2/vpc|aws|||id=vpc-0a1b"},
       ""},
      {"and takes it out of the ARN",
       {kVpc, "", "arn:aws:ec2:us-east-1:111111111111:vpc/vpc-0a1b", "", ""},
       {"ec2/vpc|aws|||id=vpc-0a1b"},
       ""},
      {"an ARN that tells no part is the id",
       {kCertificate, "", "arn:aws:acm:us-east-1:111111111111:certificate/x1", "", ""},
       {"acm/Certificate|aws|||id=arn:aws:acm:us-east-1:111111111111:certificate/x1"},
       ""},
  });
}

TEST(IdentityExternalName, AStatusAddsWhatIsObserved) {
  const std::string fields = R"("vpcId":"vpc-1","name":"web")";
  const std::string by_fields = "ec2/security-group|aws|?|us-east-1|vpcId=vpc-1|name=web";
  Check({
      {"an id",
       {kGroup, fields, "", R"("id":"sg-0a1b")", ""},
       {by_fields, "~ec2/security-group|aws|||@id=sg-0a1b"},
       ""},
      {"an ARN with an id",
       {kGroup, fields, "", R"("arn":"arn:aws:ec2:us-east-1:111111111111:security-group/sg-0a1b")",
        ""},
       {by_fields, "~ec2/security-group|aws|111111111111|us-east-1|vpcId=vpc-1|name=web",
        "~ec2/security-group|aws|||@id=sg-0a1b"},
       ""},
      {"the external name is stronger",
       {kGroup, fields, "sg-0a1b", R"("id":"sg-0a1c")", ""},
       {by_fields, "ec2/security-group|aws|||@id=sg-0a1b"},
       "status.atProvider.id is not what the external name names: sg-0a1c"},
      {"without fields a status declares nothing",
       {kGroup, R"("vpcIdRef":{"name":"main"})", "", R"("id":"sg-0a1b")", ""},
       {""},
       ""},
      {"a queue's URL",
       {kQueue, R"("name":"jobs")", "", R"("url":")" + std::string(kUrl) + "\"", ""},
       {"sqs/Queue|aws|?|us-east-1|name=jobs", "~sqs/Queue|aws|111111111111|us-east-1|name=jobs"},
       ""},
      {"that of another queue",
       {kQueue, R"("name":"mine")", "", R"("url":")" + std::string(kUrl) + "\"", ""},
       {"sqs/Queue|aws|?|us-east-1|name=mine"},
       ""},
  });
}

// The bad inputs of the design: none of them is anybody's name.
TEST(IdentityExternalName, WhatIsNoneIsNoName) {
  const std::string queue = "sqs/Queue|aws|?|us-east-1|name=jobs";
  struct Bad {
    const char* text;
    const char* problem;
    const char* account;
  };
  const std::string long_url = std::string(kUrl) + std::string(2048, 'x');
  const Bad bads[] = {
      {"arn:aws-cn:sqs:us-east-1:111111111111:jobs", "lies in another partition", ""},
      {"arn:aws-cn:sqs:cn-north-1:111111111111:jobs", "lies in another partition", ""},
      {"arn:aws:sqs:eu-west-1:111111111111:jobs", "lies in another region", ""},
      {"https://sqs.us-east-1.amazonaws.com.cn/111111111111/jobs", "lies in another partition", ""},
      {"arn:aws:sqs:us-east-1:222222222222:jobs", "lies in another account", kOne},
      {"arn:aws:sqs:us-east-1:11111111111:jobs", "is none of sqs/Queue", ""},
      {"arn:aws:sns:us-east-1:111111111111:jobs", "is none of sqs/Queue", ""},
      {"arn:aws:sqs:us-east-1:111111111111:jobs:junk", "is none of sqs/Queue", ""},
      {"https://sqs.us-east-1.amazonaws.com/111111111111/jobs/junk", "is none of sqs/Queue", ""},
      {"https://sqs.us-east-1.amazonaws.com.evil.example/111111111111/jobs", "is none of sqs/Queue",
       ""},
      {"http://sqs.us-east-1.amazonaws.com/111111111111/jobs", "is none of sqs/Queue", ""},
      {"arn:", "is none of sqs/Queue", ""},
      {"https://", "is none of sqs/Queue", ""},
      {long_url.c_str(), "is none of sqs/Queue", ""},
  };
  for (const Bad& bad : bads) {
    SCOPED_TRACE(bad.text);
    const ObjectFacts facts = Read({kQueue, R"("name":"jobs")", bad.text, "", bad.account});
    ASSERT_EQ(facts.resources.size(), 1U);
    const bool known = *bad.account != '\0';
    EXPECT_EQ(facts.resources.front().names.size(), known ? 2U : 1U);
    if (!known) {
      EXPECT_EQ(NamesOf(facts), std::vector<std::string>{queue});
    }
    EXPECT_TRUE(facts.name_finding.starts_with("external name " + std::string(bad.problem) + ": "))
        << facts.name_finding;
    EXPECT_FALSE(facts.resources.front().bound);
  }
  const ObjectFacts topic = Read({kTopic, "", "arn:aws:sns:eu-west-1:111111111111:news", "", ""});
  EXPECT_EQ(
      NamesOf(topic),
      std::vector<std::string>{"sns/Topic|aws|?|us-east-1|name=arn:aws:sns:eu-west-1:111111111111:"
                               "news"})
      << "as it stands: nobody else's";
  EXPECT_FALSE(topic.name_finding.empty());
}

// After a rename, until the provider has looked for the new name.
TEST(IdentityExternalName, WhatItsStatusShowsIsAnother) {
  const GroupKind bucket{"s3.aws.upbound.io", "Bucket"};
  const auto shown = [](const Subject& subject) { return Read(subject).shown_key.text; };
  const auto queue = [](const std::string& name, const std::string& account) {
    return R"("arn":"arn:aws:sqs:us-east-1:)" + account + ":" + name + "\"";
  };
  EXPECT_EQ(shown({bucket, "", "new", R"("arn":"arn:aws:s3:::old","id":"old")", ""}),
            "s3/Bucket|aws|||name=old");
  EXPECT_EQ(shown({bucket, "", "old", R"("arn":"arn:aws:s3:::old","id":"old")", ""}), "");
  EXPECT_EQ(shown({bucket, "", "new", R"("id":"old")", ""}), "");
  EXPECT_EQ(shown({bucket, "", "new", R"("arn":"arn:aws:s3:::")", ""}), "");
  for (const char* account : {"", kOne}) {
    EXPECT_EQ(shown({kQueue, R"("name":"new")", "", queue("old", kOne), account}),
              "sqs/Queue|aws|111111111111|us-east-1|name=old");
    EXPECT_EQ(shown({kQueue, R"("name":"jobs")", "", queue("jobs", "222222222222"), account}), "")
        << "of another account: that is account_disagreement";
  }
  // Told by the forms of the type, where its template does not part what stands in the ARN.
  const auto role = [](const std::string& path) {
    return R"("arn":"arn:aws:iam::111111111111:role)" + path + "\"";
  };
  for (const char* account : {"", kOne}) {
    EXPECT_EQ(shown({kRole, "", "new", role("/Old"), account}),
              "iam/Role|aws|111111111111||name=old");
    EXPECT_EQ(shown({kRole, R"("path":"/a/b/")", "new", role("/a/b/Old"), account}),
              "iam/Role|aws|111111111111||name=old");
    EXPECT_EQ(shown({kRole, "", "Old", role("/a/b/Old"), account}), "") << "at another path";
  }
  // Where there is no ARN: by the id.
  EXPECT_EQ(shown({kPolicy, R"("queueUrl":"new")", "",
                   R"("id":"https://sqs.us-east-1.amazonaws.com/111111111111/old")", kOne}),
            "sqs/QueuePolicy|aws|111111111111|us-east-1|queueUrl=old");
  const GroupKind bucket_policy{"s3.aws.upbound.io", "BucketPolicy"};
  EXPECT_EQ(shown({bucket_policy, R"("bucket":"new")", "", R"("id":"old")", ""}),
            "s3/BucketPolicy|aws|||bucket=old");
  EXPECT_EQ(shown({bucket_policy, R"("bucket":"old")", "", R"("id":"old")", ""}), "");
  EXPECT_EQ(shown({bucket_policy, R"("bucketRef":{"name":"x"})", "", R"("id":"old")", ""}), "")
      << "not known yet";
  EXPECT_EQ(
      shown({kSecret, R"("name":"db")", "",
             R"("arn":"arn:aws:secretsmanager:us-east-1:111111111111:secret:db-aB3xYz")", ""}),
      "");
}

TEST(IdentityExternalName, ATextThatIsNoIdMakesNoName) {
  const std::string id = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
  const std::string managed = "arn:aws:iam::aws:policy/ReadOnlyAccess";
  Check({
      {"as an older provider writes it before there is an id",
       {kDistribution, "", "frontend", "", kOne},
       {""},
       "external name is none of cloudfront/Distribution: frontend"},
      {"of another account",
       {kCertificate, "", "arn:aws:acm:us-east-1:222222222222:certificate/x", "", kOne},
       {""},
       "external name lies in another account: arn:aws:acm:us-east-1:222222222222:certificate/x"},
      {"in a field whose resource's key holds no account",
       {kSubnet, R"("vpcId":"main","cidrBlock":"10.0.0.0/24")", "", "", kOne},
       {""},
       "vpcId is no id of ec2/VPC: main"},
      {"a policy of AWS itself",
       {kIamPolicy, "", managed, "", kOne},
       {"iam/Policy|aws|||@id=" + managed},
       ""},
      {"a name that the provider replaces by the id",
       {kOriginRequest, "", id, "", kOne},
       {"cloudfront/OriginRequestPolicy|aws|111111111111||name=x",
        "cloudfront/OriginRequestPolicy|aws|?||name=x",
        "cloudfront/OriginRequestPolicy|aws|||@id=" + id},
       ""},
  });
}

TEST(IdentityExternalName, AReferenceThatIsFilledMakesTheFieldsTheKey) {
  ObjectFacts facts =
      Read({kGroup, R"("vpcIdRef":{"name":"main"},"name":"web")", "sg-0a1b", "", ""});
  DeclaredResource& resource = facts.resources.at(0);
  ASSERT_EQ(resource.references.size(), 1U);
  const Reference reference = resource.references.front();
  Resolve(resource, reference, "vpc-1", *Catalogue::BuiltIn().FindType("ec2/SecurityGroup"));
  ASSERT_EQ(resource.names.size(), 2U);
  EXPECT_TRUE(IsAssignedName(resource.names.back().text));
  EXPECT_FALSE(IsAssignedName(resource.key()));
}

// Whoever may write a status would else take a name of any account, by a reference.
TEST(IdentityExternalName, AnAccountThatAStatusTellsStaysObservedWhenAReferenceIsResolved) {
  const ObjectFacts facts = Read({{"eks.aws.upbound.io", "NodeGroup"},
                                  R"("clusterNameRef":{"name":"main"})",
                                  "workers",
                                  R"("arn":"arn:aws:eks:us-east-1:111111111111:nodegroup/a/b/c")",
                                  ""});
  ASSERT_EQ(facts.resources.size(), 1U);
  DeclaredResource resource = facts.resources.front();
  ASSERT_EQ(resource.references.size(), 1U);
  const Reference reference = resource.references.front();
  Resolve(resource, reference, "prod", *Catalogue::BuiltIn().FindType("eks/NodeGroup"));
  ASSERT_EQ(resource.names.size(), 2U);
  EXPECT_EQ(resource.names.back().text.text,
            "eks/NodeGroup|aws|111111111111|us-east-1|clusterName=prod|name=workers");
  EXPECT_TRUE(resource.names.back().observed);
}

// "ARN names another resource" is asked when the reference is a value, and when it becomes one.
TEST(IdentityExternalName, AStatusOfAnotherResourceTellsNothingOnceTheReferenceIsResolved) {
  const GroupKind service{"ecs.aws.upbound.io", "Service"};
  const std::string arn = R"("arn":"arn:aws:ecs:us-east-1:111111111111:service/)";
  for (const bool its_own : {true, false}) {
    const std::string shown = arn + (its_own ? "prod/web\"" : "prod/other\"");
    const ObjectFacts facts = Read({service, R"("clusterRef":{"name":"main"})", "web", shown, ""});
    DeclaredResource resource = facts.resources.at(0);
    ASSERT_EQ(resource.references.size(), 1U);
    const Reference reference = resource.references.front();
    EXPECT_EQ(Resolve(resource, reference, "prod", *Catalogue::BuiltIn().FindType("ecs/Service")),
              its_own);
    EXPECT_EQ(resource.names.size(), its_own ? 2U : 1U);
    EXPECT_EQ(resource.further_account, its_own ? kOne : "");
    const ObjectFacts written = Read({service, R"("cluster":"prod")", "web", shown, ""});
    EXPECT_EQ(resource.names, written.resources.at(0).names);
    EXPECT_EQ(resource.identity, written.resources.at(0).identity) << "in one order";
    EXPECT_EQ(resource.name, written.resources.at(0).name);
  }
}

}  // namespace identity_external_test
}  // namespace truce
