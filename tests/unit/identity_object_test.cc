// What Identify reads of one object besides its keys: intent, account, service, lineage, status.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "registry/identity/evidence.h"
#include "registry/identity/identity.h"
#include "tests/support/identity_text.h"
#include "tests/support/json_document.h"

namespace truce {
namespace identity_object_test {

const GroupKind kBucket{"s3.aws.upbound.io", "Bucket"};
const GroupKind kTable{"dynamodb.aws.upbound.io", "Table"};
const GroupKind kNamespacedTable{"dynamodb.aws.m.upbound.io", "Table"};
const GroupKind kCommunityTable{"dynamodb.aws.crossplane.io", "Table"};

IdentityRules Rules() {
  IdentityRules rules;
  rules.cluster = "local";
  rules.catalogue = &Catalogue::BuiltIn();
  return rules;
}

ObjectFacts Read(const std::string& json, const GroupKind& kind, const IdentityRules& rules) {
  const Document document = DocumentFromJson(json);
  EXPECT_TRUE(document.root().is_object()) << json;
  return Identify(document.root(), kind, rules);
}

std::string TableJson(const std::string& metadata, const std::string& rest) {
  return R"({"metadata":{"name":"orders")" + metadata +
         R"(},"spec":{"forProvider":{"region":"us-west-2"})" + rest + "}";
}

struct PolicyRow {
  const char* reason;
  const char* spec;
  Intent cluster;
  Intent namespaced;
};

const PolicyRow kPolicies[] = {
    {"defaults", "", Intent::kDeletes, Intent::kDeletes},
    {"all", R"(,"managementPolicies":["*"])", Intent::kDeletes, Intent::kDeletes},
    {"null list", R"(,"managementPolicies":null)", Intent::kDeletes, Intent::kDeletes},
    {"empty list pauses, and goes on owning", R"(,"managementPolicies":[])", Intent::kDeletes,
     Intent::kDeletes},
    {"exactly Observe", R"(,"managementPolicies":["Observe"])", Intent::kObserves,
     Intent::kObserves},
    {"a set: Observe twice", R"(,"managementPolicies":["Observe","Observe"])", Intent::kObserves,
     Intent::kObserves},
    {"late initialisation is not Observe alone",
     R"(,"managementPolicies":["Observe","LateInitialize"])", Intent::kManages, Intent::kManages},
    {"an unknown action is not Observe alone", R"(,"managementPolicies":["Observe","Other"])",
     Intent::kManages, Intent::kManages},
    {"no Delete in the list", R"(,"managementPolicies":["Observe","Create","Update"])",
     Intent::kManages, Intent::kManages},
    {"Observe and Delete deletes", R"(,"managementPolicies":["Observe","Delete"])",
     Intent::kDeletes, Intent::kDeletes},
    {"all but Update", R"(,"managementPolicies":["Observe","Create","Delete"])", Intent::kDeletes,
     Intent::kDeletes},
    {"Orphan with the default list; the namespaced kind has no such field",
     R"(,"deletionPolicy":"Orphan")", Intent::kManages, Intent::kDeletes},
    {"Orphan with the star", R"(,"deletionPolicy":"Orphan","managementPolicies":["*"])",
     Intent::kManages, Intent::kDeletes},
    {"Orphan with an empty list", R"(,"deletionPolicy":"Orphan","managementPolicies":[])",
     Intent::kManages, Intent::kDeletes},
    {"an explicit list with Delete wins over Orphan",
     R"(,"deletionPolicy":"Orphan","managementPolicies":["Observe","Delete"])", Intent::kDeletes,
     Intent::kDeletes},
    {"Orphan and no Delete in the list",
     R"(,"deletionPolicy":"Orphan","managementPolicies":["Observe","Update"])", Intent::kManages,
     Intent::kManages},
    {"Delete does not add to a list without it",
     R"(,"deletionPolicy":"Delete","managementPolicies":["Observe","Update"])", Intent::kManages,
     Intent::kManages},
    {"Delete and exactly Observe", R"(,"deletionPolicy":"Delete","managementPolicies":["Observe"])",
     Intent::kObserves, Intent::kObserves},
    {"the old field: ObserveOnly", R"(,"managementPolicy":"ObserveOnly")", Intent::kObserves,
     Intent::kDeletes},
    {"the old field: OrphanOnDelete", R"(,"managementPolicy":"OrphanOnDelete")", Intent::kManages,
     Intent::kDeletes},
    {"the old field: FullControl", R"(,"managementPolicy":"FullControl")", Intent::kDeletes,
     Intent::kDeletes},
    {"the list replaces the old field",
     R"(,"managementPolicy":"ObserveOnly","managementPolicies":["*"])", Intent::kDeletes,
     Intent::kDeletes},
};

TEST(IdentityIntent, FollowsBothSemanticsOfManagementPolicies) {
  const IdentityRules rules = Rules();
  for (const PolicyRow& row : kPolicies) {
    SCOPED_TRACE(row.reason);
    const std::string json = TableJson("", std::string(row.spec) + "}");
    const auto intent = [&](const GroupKind& kind) {
      return Read(json, kind, rules).resources.at(0).intent;
    };
    EXPECT_EQ(intent(kTable), row.cluster);
    EXPECT_EQ(intent(kCommunityTable), row.cluster);
    EXPECT_EQ(intent(kNamespacedTable), row.namespaced);
  }
}

TEST(IdentityIntent, APausedObjectGoesOnOwning) {
  const ObjectFacts facts =
      Read(TableJson(R"(,"annotations":{"crossplane.io/paused":"true"})", "}"), kTable, Rules());
  EXPECT_EQ(facts.resources.at(0).intent, Intent::kDeletes);
  EXPECT_FALSE(facts.resources.at(0).key().empty());
}

TEST(IdentityAccount, UnknownOnesHaveAProvisionalAccountPerProviderConfig) {
  struct Row {
    const char* reason;
    GroupKind kind;
    const char* metadata;
    const char* spec;
    const char* account;
  };
  const Row rows[] = {
      {"default ProviderConfig", kTable, "", "", "?local/aws.upbound.io/ProviderConfig//default"},
      {"a named one", kTable, "", R"(,"providerConfigRef":{"name":"prod"})",
       "?local/aws.upbound.io/ProviderConfig//prod"},
      {"community", kCommunityTable, "", R"(,"providerConfigRef":{"name":"prod"})",
       "?local/aws.crossplane.io/ProviderConfig//prod"},
      {"namespaced default", kNamespacedTable, R"(,"namespace":"team-a")", "",
       "?local/aws.m.upbound.io/ClusterProviderConfig//default"},
      {"namespaced, cluster-wide config", kNamespacedTable, R"(,"namespace":"team-a")",
       R"(,"providerConfigRef":{"kind":"ClusterProviderConfig","name":"prod"})",
       "?local/aws.m.upbound.io/ClusterProviderConfig//prod"},
      {"namespaced, own config: another namespace is another one", kNamespacedTable,
       R"(,"namespace":"team-a")",
       R"(,"providerConfigRef":{"kind":"ProviderConfig","name":"prod"})",
       "?local/aws.m.upbound.io/ProviderConfig/team-a/prod"},
      {"a name that would end a part is encoded", kTable, "",
       R"(,"providerConfigRef":{"name":"a/b%"})", "?local/aws.upbound.io/ProviderConfig//a%2Fb%25"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.reason);
    const ObjectFacts facts =
        Read(TableJson(row.metadata, std::string(row.spec) + "}"), row.kind, Rules());
    const DeclaredResource& resource = facts.resources.at(0);
    EXPECT_EQ(resource.identity.account, row.account);
    EXPECT_TRUE(resource.key().text.starts_with("dynamodb/Table|aws|?local/"))
        << resource.key().text;
    EXPECT_TRUE(resource.arn.empty());
    EXPECT_EQ(IdentityFromText(ToText(resource.identity)), resource.identity);
  }
}

TEST(IdentityAccount, EvidenceIsTakenStrongestFirst) {
  const char* arn = "arn:aws:dynamodb:us-west-2:222222222222:table/orders";
  const std::string status = std::string(R"(},"status":{"atProvider":{"arn":")") + arn + "\"}}";
  IdentityRules rules = Rules();

  const ObjectFacts by_arn = Read(TableJson("", status), kTable, rules);
  EXPECT_EQ(by_arn.resources.at(0).names.at(1).text.text,
            "dynamodb/Table|aws|222222222222|us-west-2|name=orders")
      << "beside the declared name";
  EXPECT_TRUE(by_arn.resources.at(0).key().text.starts_with("dynamodb/Table|aws|?local/"));
  EXPECT_EQ(by_arn.resources.at(0).arn, arn);
  EXPECT_TRUE(by_arn.account_disagreement.empty());

  const ProviderConfigName config{"aws.upbound.io", "ProviderConfig", "", "default"};
  rules.accounts = {{config, "333333333333"}};
  const ObjectFacts disputed = Read(TableJson("", status), kTable, rules);
  EXPECT_EQ(disputed.resources.at(0).identity.account, "333333333333");
  EXPECT_EQ(disputed.resources.at(0).names.at(1).text, by_arn.resources.at(0).key());
  EXPECT_EQ(disputed.account_disagreement,
            "status.atProvider.arn names account 222222222222, the configuration of its "
            "ProviderConfig names 333333333333");

  rules.accounts = {{config, "222222222222"}};
  EXPECT_TRUE(Read(TableJson("", status), kTable, rules).account_disagreement.empty());

  rules.accounts.clear();
  for (const char* other : {"arn:aws:s3:::orders", "arn:aws:iam::aws:policy/x", "orders", "",
                            "arn:aws:dynamodb:us-west-2:12345:table/x", "arn:"}) {
    const std::string odd = std::string(R"(},"status":{"atProvider":{"arn":")") + other + "\"}}";
    EXPECT_TRUE(
        Read(TableJson("", odd), kTable, rules).resources.at(0).identity.account.starts_with("?"))
        << other;
    EXPECT_EQ(Read(TableJson("", odd), kTable, rules).resources.at(0).names.size(), 1U) << other;
  }
}

// Under an endpoint outside of AWS its owner writes what the status shows.
TEST(IdentityAccount, AnEndpointOutsideOfAwsShowsNoNames) {
  IdentityRules rules = Rules();
  const std::string status =
      R"(},"status":{"atProvider":{"arn":"arn:aws:dynamodb:us-west-2:222222222222:table/orders"}})";
  const ProviderConfigName config{"aws.upbound.io", "ProviderConfig", "", "default"};
  rules.outside = {{{"aws.upbound.io", "ProviderConfig", "", "localstack"}, {"localstack", {}}}};
  EXPECT_EQ(Read(TableJson("", status), kTable, rules).resources.at(0).names.size(), 2U);
  rules.outside[config].host = "aws.evil:4566";
  const ObjectFacts facts = Read(TableJson("", status), kTable, rules);
  ASSERT_EQ(facts.resources.size(), 1U);
  EXPECT_TRUE(
      facts.resources.at(0).key().text.starts_with("dynamodb/Table|@aws.evil:4566|?local/"));
  EXPECT_EQ(facts.resources.at(0).names.size(), 1U);
  EXPECT_TRUE(facts.resources.at(0).arn.empty());
  EXPECT_EQ(facts.shown_account, "") << "nor does it witness an end";
  rules.accounts = {{config, "333333333333"}};
  const ObjectFacts known = Read(TableJson("", status), kTable, rules);
  EXPECT_EQ(known.resources.at(0).identity.account, "333333333333");
  EXPECT_EQ(known.account_disagreement, "") << "a status that says nothing disagrees with nothing";
}

// N6: each endpoint outside of AWS is a name space of its own, for names without account and for
// assigned ids, too.
TEST(IdentityAccount, AnEndpointOutsideOfAwsIsANameSpaceOfItsOwn) {
  IdentityRules rules = Rules();
  const std::string bucket =
      R"({"metadata":{"name":"b","annotations":{"crossplane.io/external-name":"data-x"}},
          "spec":{"forProvider":{"region":"us-east-1"},"providerConfigRef":{"name":"default"}}})";
  const std::string group =
      R"({"metadata":{"name":"g","annotations":{"crossplane.io/external-name":"sg-0a1b2c3d"}},
          "spec":{"forProvider":{"region":"us-east-1"},"providerConfigRef":{"name":"default"}}})";
  const std::string topic =
      R"({"metadata":{"name":"t","annotations":{"crossplane.io/external-name":
          "arn:aws:sns:us-east-1:000000000000:orders"}},
          "spec":{"forProvider":{"region":"us-east-1"},"providerConfigRef":{"name":"default"}}})";
  const GroupKind kGroup{"ec2.aws.upbound.io", "SecurityGroup"};
  const GroupKind kTopic{"sns.aws.upbound.io", "Topic"};
  const auto key = [&](const std::string& json, const GroupKind& kind) {
    const ObjectFacts facts = Read(json, kind, rules);
    EXPECT_EQ(facts.name_finding, "");
    return facts.resources.at(0).key().text;
  };
  EXPECT_EQ(key(bucket, kBucket), "s3/Bucket|aws|||name=data-x");
  OutsideEndpoint& endpoint = rules.outside[{"aws.upbound.io", "ProviderConfig", "", "default"}];
  endpoint.host = "localstack.dev:4566";
  EXPECT_EQ(key(bucket, kBucket), "s3/Bucket|@localstack.dev:4566|||name=data-x");
  EXPECT_TRUE(Read(bucket, kBucket, rules).resources.at(0).arn.empty());
  EXPECT_NE(key(group, kGroup).find("|@localstack.dev:4566|"), std::string::npos);
  EXPECT_NE(key(topic, kTopic).find("|@localstack.dev:4566|"), std::string::npos);
  endpoint.host = "aws";
  EXPECT_EQ(key(bucket, kBucket), "s3/Bucket|@aws|||name=data-x") << "no host is a partition";
  endpoint.services = {"sqs"};
  EXPECT_EQ(key(bucket, kBucket), "s3/Bucket|aws|||name=data-x") << "these requests go to AWS";
  endpoint.services = {"s3"};
  rules.name_spaces = {"localstack*", "minio.*"};
  EXPECT_EQ(key(bucket, kBucket), "s3/Bucket|aws|||name=data-x") << "a host that is not named";
  endpoint.host = "minio.dev:9000";
  EXPECT_EQ(key(bucket, kBucket), "s3/Bucket|@minio.dev:9000|||name=data-x");
}

// The ARN of a status that is not of what the fields declare gives no name.
TEST(IdentityAccount, AnArnOfAnotherResourceIsAFinding) {
  const IdentityRules rules = Rules();
  const auto read = [&](const std::string& arn) {
    const std::string status = R"(},"status":{"atProvider":{"arn":")" + arn + R"("}})";
    return Read(TableJson("", status), kTable, rules);
  };
  for (const char* other :
       {"arn:aws:dynamodb:us-west-2:222222222222:table/orders2",
        "arn:aws:dynamodb:us-west-2:222222222222:table/my-orders",
        "arn:aws:dynamodb:eu-west-1:222222222222:table/orders",
        "arn:aws-cn:dynamodb:us-west-2:222222222222:table/orders",
        "arn:aws:sqs:us-west-2:222222222222:orders", "arn:aws:dynamodb:us-west-2:222222222222:"}) {
    const ObjectFacts facts = read(other);
    EXPECT_EQ(facts.resources.at(0).names.size(), 1U) << other;
    EXPECT_EQ(facts.account_disagreement,
              "status.atProvider.arn names another resource: " + std::string(other));
  }
  const ObjectFacts below = read("arn:aws:dynamodb:us-west-2:222222222222:table/team/orders");
  EXPECT_EQ(below.resources.at(0).names.size(), 2U) << "a path that the fields do not tell";
}

TEST(IdentityAccount, AnIdentityIsKeyedAgainWhenItsAccountBecomesKnown) {
  const ObjectFacts facts = Read(TableJson("", "}"), kTable, Rules());
  ResourceIdentity identity = facts.resources.at(0).identity;
  const TypeSpec* type = Catalogue::BuiltIn().FindType(identity.type);
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(KeyOf(identity, *type), facts.resources.at(0).key());
  identity.account = "111111111111";
  EXPECT_EQ(KeyOf(identity, *type)->text, "dynamodb/Table|aws|111111111111|us-west-2|name=orders");
  identity.account.clear();
  EXPECT_FALSE(KeyOf(identity, *type).has_value());
}

TEST(IdentityAccount, ABucketNeedsNone) {
  const ObjectFacts facts = Read(TableJson("", "}"), kBucket, Rules());
  EXPECT_EQ(facts.resources.at(0).key().text, "s3/Bucket|aws|||name=orders");
  EXPECT_TRUE(facts.resources.at(0).identity.account.empty());
  EXPECT_EQ(facts.resources.at(0).identity.region, "us-west-2");
}

TEST(IdentityFields, InitProviderStandsInForWhatForProviderLeavesOut) {
  const GroupKind policy{"s3.aws.upbound.io", "BucketPolicy"};
  struct Row {
    const char* reason;
    const char* spec;
    const char* key;
    const char* missing;
  };
  const Row rows[] = {
      {"only in initProvider", R"({"initProvider":{"bucket":"b","region":"cn-north-1"}})",
       "s3/BucketPolicy|aws-cn|||bucket=b", ""},
      {"forProvider wins", R"({"forProvider":{"bucket":"a"},"initProvider":{"bucket":"b"}})",
       "s3/BucketPolicy|aws|||bucket=a", ""},
      {"an empty one counts as absent",
       R"({"forProvider":{"bucket":""},"initProvider":{"bucket":"b"}})",
       "s3/BucketPolicy|aws|||bucket=b", ""},
      {"what forProvider's reference gives will win",
       R"({"forProvider":{"bucketRef":{"name":"x"}},"initProvider":{"bucket":"b"}})", "",
       "spec.forProvider.bucketRef is not resolved yet"},
      {"a reference in initProvider", R"({"initProvider":{"bucketSelector":{"matchLabels":{}}}})",
       "", "spec.initProvider.bucketSelector is not resolved yet"},
      {"a null reference is none", R"({"forProvider":{"bucketRef":null}})", "",
       "spec.forProvider.bucket is not set"},
      {"nothing at all", "{}", "", "spec.forProvider.bucket is not set"},
      {"an object is no value", R"({"forProvider":{"bucket":{"a":"b"}}})", "",
       "spec.forProvider.bucket is not a single value"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.reason);
    const ObjectFacts facts =
        Read(std::string(R"({"metadata":{"name":"x"},"spec":)") + row.spec + "}", policy, Rules());
    const DeclaredResource& resource = facts.resources.at(0);
    EXPECT_EQ(resource.key().text, row.key);
    const std::vector<std::string> missing =
        *row.missing == '\0' ? std::vector<std::string>() : std::vector<std::string>{row.missing};
    EXPECT_EQ(resource.missing, missing);
  }
}

TEST(IdentityFields, AReferenceIsResolvedByWhatTheRegistryKnows) {
  const GroupKind kind{"eks.aws.upbound.io", "NodeGroup"};
  const ObjectFacts facts = Read(
      R"({"metadata":{"name":"workers"},"spec":{"forProvider":{"region":"us-west-2",
          "clusterNameRef":{"name":"main"}},"providerConfigRef":{"name":"prod"}}})",
      kind, Rules());
  DeclaredResource resource = facts.resources.at(0);
  ASSERT_EQ(resource.references.size(), 1U);
  const Reference reference = resource.references.front();
  EXPECT_EQ(reference, (Reference{"clusterName", "eks/Cluster", "spec.forProvider.clusterNameRef",
                                  "main", ""}));
  Resolve(resource, reference, "prod", *Catalogue::BuiltIn().FindType("eks/NodeGroup"));
  EXPECT_EQ(resource.key().text,
            "eks/NodeGroup|aws|?local/aws.upbound.io/ProviderConfig//prod|us-west-2|"
            "clusterName=prod|name=workers");
  EXPECT_TRUE(resource.missing.empty());
  EXPECT_TRUE(resource.references.empty());
}

TEST(IdentityFields, AnAttachmentKnowsItsParent) {
  const Catalogue& catalogue = Catalogue::BuiltIn();
  const ObjectFacts policy =
      Read(R"({"metadata":{"name":"x"},"spec":{"forProvider":{"bucket":"prod-artifacts"}}})",
           {"s3.aws.upbound.io", "BucketPolicy"}, Rules());
  EXPECT_EQ(ParentKeyOf(policy.resources.at(0).identity, *catalogue.FindType("s3/BucketPolicy"),
                        catalogue),
            KeyText{"s3/Bucket|aws|||name=prod-artifacts"});
  const ObjectFacts bucket = Read(TableJson("", "}"), kBucket, Rules());
  EXPECT_FALSE(
      ParentKeyOf(bucket.resources.at(0).identity, *catalogue.FindType("s3/Bucket"), catalogue)
          .has_value());
}

TEST(IdentityFields, MoreResourcesThanAnyObjectHasAreRefused) {
  const GroupKind kind{"iam.aws.upbound.io", "UserGroupMembership"};
  const auto read = [&](std::size_t count) {
    std::string groups;
    for (std::size_t i = 0; i < count; ++i)
      groups += (i ? ",\"g" : "\"g") + std::to_string(i) + '"';
    return Read(R"({"metadata":{"name":"x"},"spec":{"forProvider":{"user":"u","groups":[)" +
                    groups + "]}}}",
                kind, Rules());
  };
  EXPECT_EQ(read(kResourcesMax).resources.size(), kResourcesMax);
  const ObjectFacts refused = read(kResourcesMax + 1);
  ASSERT_EQ(refused.bad_names.size(), 1U);
  EXPECT_EQ(refused.bad_names[0].reason, "declares more than 1024 resources");
  ASSERT_EQ(refused.resources.size(), 1U);
  EXPECT_TRUE(refused.resources[0].key().empty());
}

struct ServiceRow {
  const char* reason;
  const char* metadata;
  const char* service;
  const char* from;  // see ServiceSourceOf
};

const ServiceRow kServices[] = {
    {"nothing: namespace and name", R"("name":"n","namespace":"ns")", "ns/n", ""},
    {"nothing, cluster-scoped: the name", R"("name":"n")", "n", ""},
    {"Helm release", R"("name":"n","annotations":{"meta.helm.sh/release-name":"rel"})", "rel",
     "annotation meta.helm.sh/release-name"},
    {"instance before Helm",
     R"("name":"n","labels":{"app.kubernetes.io/instance":"inst"},
        "annotations":{"meta.helm.sh/release-name":"rel"})",
     "inst", "label app.kubernetes.io/instance"},
    {"part-of before instance",
     R"("name":"n","labels":{"app.kubernetes.io/instance":"inst",
        "app.kubernetes.io/part-of":"part"})",
     "part", "label app.kubernetes.io/part-of"},
    {"Argo CD application before part-of",
     R"("name":"n","labels":{"app.kubernetes.io/part-of":"part"},
        "annotations":{"argocd.argoproj.io/tracking-id":"app:s3.aws.upbound.io/Bucket:ns/n"})",
     "app", "annotation argocd.argoproj.io/tracking-id"},
    {"Argo CD label", R"("name":"n","labels":{"argocd.argoproj.io/instance":"app"})", "app",
     "label argocd.argoproj.io/instance"},
    {"the core group is empty in a tracking id",
     R"("name":"n","annotations":{"argocd.argoproj.io/tracking-id":"app:/Service:ns/n"})", "app",
     "annotation argocd.argoproj.io/tracking-id"},
    {"a tracking id of another form is none",
     R"("name":"n","annotations":{"argocd.argoproj.io/tracking-id":"app"})", "n", ""},
    {"too many parts",
     R"("name":"n","annotations":{"argocd.argoproj.io/tracking-id":"a:b/c/d:e/f"})", "n", ""},
    {"a configured label before all",
     R"("name":"n","labels":{"example.org/service":"svc","app.kubernetes.io/part-of":"part"},
        "annotations":{"argocd.argoproj.io/tracking-id":"app:g/K:ns/n"})",
     "svc", "label example.org/service"},
    {"the second configured label", R"("name":"n","labels":{"team":"t"})", "t", "label team"},
    {"what cannot stand in a sentence is passed over",
     R"("name":"n","annotations":{"argocd.argoproj.io/tracking-id":"a\nb:g/K:ns/n",
        "meta.helm.sh/release-name":"rel"})",
     "rel", "annotation meta.helm.sh/release-name"},
};

TEST(IdentityService, FollowsTheGlossarysPrecedence) {
  IdentityRules rules = Rules();
  rules.service_labels = {"example.org/service", "team"};
  for (const ServiceRow& row : kServices) {
    SCOPED_TRACE(row.reason);
    const std::string json = std::string(R"({"metadata":{)") + row.metadata + "}}";
    const Document document = DocumentFromJson(json);
    const ObjectFacts facts = Identify(document.root(), kBucket, rules);
    EXPECT_EQ(facts.service, row.service);
    EXPECT_EQ(ServiceSourceOf(document.root(), facts, rules), row.from);
  }
}

TEST(IdentityService, AMappingsFieldComesBeforeLabels) {
  MappingRule rule;
  rule.kind = {"platform.example.org", "ObjectStorage"};
  rule.service = FieldPath::Parse("spec.appName", FieldPath::Root::kObject).value();
  rule.declares = {{.type = "s3/Bucket", .parts = {{"name", {std::nullopt, "logs"}}}}};
  IdentityRules rules = Rules();
  rules.mappings = MappingRules::Create({rule}, Catalogue::BuiltIn()).value();
  const auto source = [&](const std::string& spec, const std::string& service) {
    const Document document = DocumentFromJson(
        R"({"metadata":{"name":"n","labels":{"app.kubernetes.io/part-of":"part"}},"spec":{)" +
        spec + "}}");
    const ObjectFacts facts = Identify(document.root(), rule.kind, rules);
    EXPECT_EQ(facts.service, service);
    return ServiceSourceOf(document.root(), facts, rules);
  };
  EXPECT_EQ(source(R"("appName":"app")", "app"), "field spec.appName");
  EXPECT_EQ(source(R"("appName":"part")", "part"), "field spec.appName");
  EXPECT_EQ(source("", "part"), "label app.kubernetes.io/part-of");
  EXPECT_EQ(source(R"("appName":7)", "7"), "field spec.appName");
}

TEST(IdentityObject, LineageFieldsAreReadAsTheyStand) {
  const ObjectFacts facts = Read(
      R"({"metadata":{"name":"x","namespace":"ns","annotations":
          {"crossplane.io/composition-resource-name":"bucket"},"ownerReferences":[
          {"apiVersion":"v1","kind":"ConfigMap","name":"c","uid":"u1"},
          {"apiVersion":"g.io/v1","kind":"XR","name":"xr","uid":"u2","controller":true},
          {"apiVersion":"g.io/v1","kind":"XR","name":"xr2","uid":"u3","controller":true}]},
          "spec":{"claimRef":{"apiVersion":"g.io/v1","kind":"Claim","namespace":"ns","name":"c"},
          "resourceRef":{"apiVersion":"g.io/v1","kind":"XR","name":"xr"},
          "resourceRefs":[{"apiVersion":"a.io/v1","kind":"K","name":"one"},
            {"apiVersion":"a.io/v1","kind":"K","name":""},"odd",
            {"apiVersion":"a.io/v1","kind":"K","name":"two","namespace":"other"}],
          "crossplane":{"resourceRefs":[{"apiVersion":"a.io/v1","kind":"K","name":"three"}]}}})",
      {"g.io", "XR"}, Rules());
  EXPECT_EQ(facts.lineage.controller, (ObjectRef{"g.io", "XR", "ns", "xr", {"local/u2"}}));
  EXPECT_EQ(facts.lineage.claim, (ObjectRef{"g.io", "Claim", "ns", "c", {}}));
  EXPECT_EQ(facts.lineage.composite, (ObjectRef{"g.io", "XR", "", "xr", {}}));
  EXPECT_EQ(facts.lineage.resources, (std::vector<ObjectRef>{{"a.io", "K", "", "one", {}},
                                                             {"a.io", "K", "other", "two", {}},
                                                             {"a.io", "K", "ns", "three", {}}}));
  EXPECT_TRUE(facts.lineage.composed);
  EXPECT_FALSE(facts.known_kind);
  EXPECT_TRUE(facts.resources.empty());
}

TEST(IdentityObject, StatusTellsWhetherTheResourceIsRealOrBeingDeleted) {
  struct Row {
    const char* reason;
    const char* status;
    bool real;
    bool deleting;
  };
  const Row rows[] = {
      {"no status", "{}", false, false},
      {"an ARN", R"({"atProvider":{"arn":"arn:aws:s3:::x"}})", true, false},
      {"an id", R"({"atProvider":{"id":"x"}})", true, false},
      {"an empty id", R"({"atProvider":{"id":"","arn":null}})", false, false},
      {"Ready", R"({"conditions":[{"type":"Ready","status":"True"}]})", true, false},
      {"not Ready", R"({"conditions":[{"type":"Ready","status":"False"}]})", false, false},
      {"Synced alone", R"({"conditions":[{"type":"Synced","status":"True"}]})", false, false},
      {"deleting",
       R"({"conditions":[{"type":"Ready","status":"False","reason":"Deleting"},
           {"type":"Synced","status":"True"}]})",
       false, true},
      {"deleting, but the provider fails",
       R"({"conditions":[{"type":"Ready","status":"False","reason":"Deleting"},
           {"type":"Synced","status":"False"}]})",
       false, false},
      {"creating",
       R"({"conditions":[{"type":"Ready","status":"False","reason":"Creating"},
           {"type":"Synced","status":"True"}]})",
       false, false},
      {"conditions of a wrong form", R"({"conditions":{"type":"Ready","status":"True"}})", false,
       false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.reason);
    const ObjectFacts facts = Read(
        std::string(R"({"metadata":{"name":"x"},"status":)") + row.status + "}", kBucket, Rules());
    EXPECT_EQ(facts.real, row.real);
    EXPECT_EQ(facts.deleting, row.deleting);
  }
}

TEST(IdentityObject, MetadataIsReadAndDamagedMetadataIsNot) {
  const ObjectFacts facts = Read(
      R"({"metadata":{"name":"x","namespace":"ns","uid":"u","resourceVersion":"700",
          "creationTimestamp":"2026-11-21T07:50:30Z","deletionTimestamp":"2026-11-21T08:00:00Z",
          "finalizers":["a","b"],"annotations":{"truce.dev/transfer-to":"Bucket/ns/y",
          "truce.dev/contact":"team@example.org"}}})",
      kBucket, Rules());
  EXPECT_EQ(facts.slot, (Slot{"local", "s3.aws.upbound.io", "Bucket", "ns", "x"}));
  EXPECT_EQ(facts.uid.text, "local/u");
  EXPECT_EQ(facts.version, 700U);
  EXPECT_EQ(facts.created, ParseTimestamp("2026-11-21T07:50:30Z"));
  EXPECT_TRUE(facts.terminating);
  EXPECT_EQ(facts.finalizers, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(facts.transfer_to, "Bucket/ns/y");
  EXPECT_EQ(facts.contact, "team@example.org");

  const char* damaged[] = {
      "null",
      "[]",
      "\"x\"",
      "{}",
      R"({"metadata":[]})",
      R"({"metadata":{"name":7}})",
      R"({"metadata":{"labels":[1],"annotations":"x","finalizers":{},"ownerReferences":7}})",
      R"({"spec":"x","status":[]})",
      R"({"spec":{"forProvider":[],"initProvider":7}})",
      R"({"metadata":{"resourceVersion":"7x","creationTimestamp":"yesterday"}})"};
  for (const char* json : damaged) {
    SCOPED_TRACE(json);
    const Document document = DocumentFromJson(json);
    const ObjectFacts read = Identify(document.root(), kBucket, Rules());
    EXPECT_FALSE(read.version.has_value() || read.created.has_value() || read.terminating);
    ASSERT_EQ(read.resources.size(), 1U);
    EXPECT_EQ(read.resources[0].missing, (std::vector<std::string>{"metadata.name is not set"}));
  }
}

TEST(IdentityObject, PartyIsTheNamespaceOrTheSlot) {
  const Slot claim{"blue", "g.io", "Claim", "team-a", "x"};
  const Slot composite{"blue", "g.io", "XR", "", "x"};
  PartyRules rules;
  EXPECT_EQ(Bound(PartyOf(claim), rules).text, "ns:blue/team-a");
  EXPECT_EQ(Bound(PartyOf(composite), rules).text, "slot:blue/g.io/XR//x");
  rules.services = {{"blue/team-a", "artifacts"}, {"green/team-a", "other"}};
  EXPECT_EQ(Bound(PartyOf(claim), rules).text, "service:artifacts");
  EXPECT_EQ(Bound(PartyOf(composite), rules).text, "slot:blue/g.io/XR//x");
}

}  // namespace identity_object_test
}  // namespace truce
