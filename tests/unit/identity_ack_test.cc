// Objects of ACK: names, place, intent, and what of them proves something.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "registry/identity/ack.h"
#include "registry/identity/evidence.h"
#include "registry/identity/identity.h"
#include "tests/support/json_document.h"

namespace truce {
namespace identity_ack_test {

const GroupKind kBucket{"s3.services.k8s.aws", "Bucket"};
const GroupKind kQueue{"sqs.services.k8s.aws", "Queue"};
const GroupKind kRole{"iam.services.k8s.aws", "Role"};
const GroupKind kVpc{"ec2.services.k8s.aws", "VPC"};
const GroupKind kSubnet{"ec2.services.k8s.aws", "Subnet"};
const GroupKind kKey{"kms.services.k8s.aws", "Key"};

ObjectFacts Read(const std::string& json, const GroupKind& kind) {
  IdentityRules rules;
  rules.cluster = "local";
  rules.catalogue = &Catalogue::BuiltIn();
  rules.accounts = {{{"", "Namespace", "", "known"}, "444444444444"}};
  rules.defaults = {{{"", "Namespace", "", "told"},
                     {.region = "cn-north-1", .deletes = {"kms"}, .retains = {"s3"}}}};
  const Document document = DocumentFromJson(json);
  EXPECT_TRUE(document.root().is_object()) << json;
  return Identify(document.root(), kind, rules);
}

// `annotations` and `rest` are members, with a comma before each.
std::string Object(const std::string& annotations, const std::string& rest,
                   const std::string& ns = "team-a") {
  return R"({"metadata":{"name":"object","namespace":")" + ns +
         R"(","annotations":{"crossplane.io/external-name":"says-nothing-here")" + annotations +
         "}}" + rest + "}";
}

std::string Annotation(const std::string& name, const std::string& json_text) {
  return ",\"services.k8s.aws/" + name + "\":\"" + json_text + "\"";
}

// The names in order, observed ones with a ~ before; of resources without names what is missing.
std::vector<std::string> Names(const ObjectFacts& facts) {
  std::vector<std::string> names;
  for (const DeclaredResource& resource : facts.resources) {
    for (const DeclaredName& name : resource.names) {
      names.push_back((name.observed ? "~" : "") + name.text.text);
    }
    if (resource.names.empty()) {
      names.insert(names.end(), resource.missing.begin(), resource.missing.end());
    }
  }
  return names;
}

const std::string kNamespace = "?local//Namespace//team-a";

struct NameRow {
  const char* reason;
  GroupKind kind;
  std::string object;
  std::vector<std::string> names;
};

TEST(IdentityAck, NamesOfObjects) {
  const std::string region = Annotation("region", "eu-west-1");
  const std::string adopts = Annotation("adoption-policy", "adopt");
  const auto shown = [](const std::string& more) {
    return R"(,"status":{"ackResourceMetadata":{"ownerAccountID":"111111111111",)"
           R"("region":"us-east-1")" +
           more + "}}";
  };
  const std::vector<NameRow> rows = {
      {"a bucket: the key of upjet's",
       kBucket,
       Object("", R"(,"spec":{"name":"logs"})"),
       {"s3/Bucket|aws|||name=logs"}},
      {"the object's name is no name",
       kBucket,
       Object("", R"(,"spec":{})"),
       {"spec.name is not set"}},
      {"a partition is told by the region",
       kBucket,
       Object(Annotation("region", "cn-north-1"), R"(,"spec":{"name":"logs"})"),
       {"s3/Bucket|aws-cn|||name=logs"}},
      {"no region is known before status shows one",
       kQueue,
       Object("", R"(,"spec":{"queueName":"jobs"})"),
       {"neither annotation services.k8s.aws/region nor the namespace's default-region is set, and "
        "status shows no region yet"}},
      {"its namespace tells it",
       kQueue,
       Object("", R"(,"spec":{"queueName":"jobs"})", "told"),
       {"sqs/Queue|aws-cn|?local//Namespace//told|cn-north-1|name=jobs"}},
      {"the object's annotation counts before that",
       kQueue,
       Object(region, R"(,"spec":{"queueName":"jobs"})", "told"),
       {"sqs/Queue|aws|?local//Namespace//told|eu-west-1|name=jobs"}},
      {"the annotation tells it",
       kQueue,
       Object(region, R"(,"spec":{"queueName":"jobs"})"),
       {"sqs/Queue|aws|" + kNamespace + "|eu-west-1|name=jobs"}},
      {"status wins: another annotation moves nothing",
       kQueue,
       Object(region, R"(,"spec":{"queueName":"jobs"})" + shown("")),
       {"sqs/Queue|aws|" + kNamespace + "|us-east-1|name=jobs",
        "~sqs/Queue|aws|111111111111|us-east-1|name=jobs"}},
      {"configuration knows a namespace's account",
       kQueue,
       Object(region, R"(,"spec":{"queueName":"jobs"})", "known"),
       {"sqs/Queue|aws|444444444444|eu-west-1|name=jobs",
        "sqs/Queue|aws|?local//Namespace//known|eu-west-1|name=jobs"}},
      {"a global service: the region that status shows is the controller's",
       kRole,
       Object("", R"(,"spec":{"name":"Deploy"})" + shown("")),
       {"iam/Role|aws|" + kNamespace + "||name=deploy", "~iam/Role|aws|111111111111||name=deploy"}},
      {"an assigned id is not known before",
       kVpc,
       Object(region, R"(,"spec":{})"),
       {"status.vpcID is assigned by the provider, later"}},
      {"then the status alone shows it",
       kVpc,
       Object(region, R"(,"spec":{},"status":{"vpcID":"vpc-0a1b2c3d4e5f60718"})"),
       {"~ec2/vpc|aws|||id=vpc-0a1b2c3d4e5f60718"}},
      {"adoption: spec may be absent",
       kBucket,
       Object(adopts + Annotation("adoption-fields", R"({ \"name\" : \"logs\" })"), ""),
       {"s3/Bucket|aws|||name=logs"}},
      {"its fields count before those of spec",
       kBucket,
       Object(adopts + Annotation("adoption-fields", R"({\"name\":\"\\u006cogs\"})"),
              R"(,"spec":{"name":"other"})"),
       {"s3/Bucket|aws|||name=logs"}},
      {"what may be created instead is declared, too",
       kBucket,
       Object(Annotation("adoption-policy", "adopt-or-create") +
                  Annotation("adoption-fields", R"({\"name\":\"logs\"})"),
              R"(,"spec":{"name":"other"})"),
       {"s3/Bucket|aws|||name=logs", "s3/Bucket|aws|||name=other"}},
      {"the same is one",
       kBucket,
       Object(Annotation("adoption-policy", "adopt-or-create") +
                  Annotation("adoption-fields", R"({\"name\":\"logs\"})"),
              R"(,"spec":{"name":"logs"})"),
       {"s3/Bucket|aws|||name=logs"}},
      {"by its id: what would be created has no name yet",
       kVpc,
       Object(region + Annotation("adoption-policy", "adopt-or-create") +
                  Annotation("adoption-fields", R"({\"vpcID\":\"vpc-0a1b2c3d4e5f60718\"})"),
              R"(,"spec":{"cidrBlocks":["10.0.0.0/16"]})"),
       {"ec2/vpc|aws|||id=vpc-0a1b2c3d4e5f60718"}},
      {"an account that is a field",
       {"glue.services.k8s.aws", "Table"},
       Object(region,
              R"(,"spec":{"databaseName":"Sales","name":"Orders","catalogID":"222222222222"})"),
       {"glue/CatalogTable|aws|222222222222|eu-west-1|databaseName=sales|name=orders"}},
      {"a parent by its ARN",
       {"s3tables.services.k8s.aws", "Namespace"},
       Object(
           region,
           R"(,"spec":{"tableBucketARN":"arn:aws:s3tables:eu-west-1:1:bucket/lake","name":"raw"})"),
       {"s3tables/Namespace|aws|" + kNamespace + "|eu-west-1|tableBucket=lake|name=raw"}},
      {"one kind for several types",
       {"fsx.services.k8s.aws", "FileSystem"},
       Object(region, R"(,"spec":{},"status":{"fileSystemID":"fs-0a1b2c3d4e5f60718"})"),
       {"~fsx/file-system|aws|||id=fs-0a1b2c3d4e5f60718"}},
      {"until it is done",
       kBucket,
       Object(adopts + Annotation("adopted", "true") +
                  Annotation("adoption-fields", R"({\"name\":\"logs\"})"),
              R"(,"spec":{"name":"other"})"),
       {"s3/Bucket|aws|||name=other"}},
      {"fields without a policy adopt nothing",
       kBucket,
       Object(Annotation("adoption-fields", R"({\"name\":\"logs\"})"), ""),
       {"spec.name is not set"}},
      {"an id to adopt",
       kVpc,
       Object(adopts + Annotation("adoption-fields", R"({\"vpcID\":\"vpc-0a1b2c3d4e5f60718\"})"),
              ""),
       {"ec2/vpc|aws|||id=vpc-0a1b2c3d4e5f60718"}},
      {"a URL to adopt beside another name: both are meant",
       kQueue,
       Object(adopts + region +
                  Annotation("adoption-fields",
                             R"({\"queueURL\":)"
                             R"(\"https://sqs.eu-west-1.amazonaws.com/222222222222/prod\"})"),
              R"(,"spec":{"queueName":"jobs"})"),
       {"sqs/Queue|aws|" + kNamespace + "|eu-west-1|name=jobs",
        "sqs/Queue|aws|" + kNamespace + "|eu-west-1|name=prod",
        "sqs/Queue|aws|222222222222|eu-west-1|name=prod"}},
  };
  for (const NameRow& row : rows) {
    SCOPED_TRACE(row.reason);
    EXPECT_EQ(Names(Read(row.object, row.kind)), row.names);
  }
}

TEST(IdentityAck, AdoptionFieldsThatCannotBeReadAreAFinding) {
  for (const char* const fields :
       {"name", R"({\"name\":1})", R"({\"name\":\"a\")", R"({\"name\":\"a\"} x)",
        R"({\"name\":\"\\ud800\"})", R"({\"name\":\"\\x\"})", R"({\"name\")", "[]"}) {
    SCOPED_TRACE(fields);
    const ObjectFacts facts =
        Read(Object(Annotation("adoption-policy", "adopt") + Annotation("adoption-fields", fields),
                    R"(,"spec":{"name":"logs"})"),
             kBucket);
    EXPECT_EQ(facts.name_finding,
              "annotation services.k8s.aws/adoption-fields is no JSON object of texts");
    EXPECT_EQ(Names(facts), std::vector<std::string>{"s3/Bucket|aws|||name=logs"});
  }
}

TEST(IdentityAck, AReferenceHasTheFieldsNameWithoutItsEnd) {
  const ObjectFacts facts = Read(
      Object(
          Annotation("region", "eu-west-1"),
          R"(,"spec":{"cidrBlock":"10.0.0.0/24","vpcRef":{"from":{"name":"n","namespace":"b"}}})"),
      kSubnet);
  ASSERT_EQ(facts.resources.size(), 1U);
  const DeclaredResource& subnet = facts.resources[0];
  EXPECT_EQ(subnet.missing, std::vector<std::string>{"spec.vpcRef is not resolved yet"});
  const Reference expected{"vpcId", "ec2/VPC", "spec.vpcRef", "n", "b"};
  EXPECT_EQ(subnet.references, std::vector<Reference>{expected});
}

TEST(IdentityAck, Intents) {
  struct Row {
    std::string annotations;
    Intent intent;
  };
  for (const Row& row : std::vector<Row>{
           {"", Intent::kDeletes},
           {Annotation("deletion-policy", "delete"), Intent::kDeletes},
           {Annotation("deletion-policy", "Delete"), Intent::kManages},
           {Annotation("deletion-policy", "retain"), Intent::kManages},
           {Annotation("read-only", "true"), Intent::kObserves},
           {Annotation("read-only", "True"), Intent::kDeletes},
           {Annotation("read-only", "true") + Annotation("deletion-policy", "delete"),
            Intent::kObserves},
           {Annotation("adoption-policy", "adopt"), Intent::kDeletes},
       }) {
    SCOPED_TRACE(row.annotations);
    const ObjectFacts facts = Read(Object(row.annotations, R"(,"spec":{"name":"logs"})"), kBucket);
    ASSERT_EQ(facts.resources.size(), 1U);
    EXPECT_EQ(facts.resources[0].intent, row.intent);
  }
}

// A refused object shows an ARN, an account, and conditions like those of the owner.
TEST(IdentityAck, TheFinalizerAloneShowsThatItManages) {
  const std::string status =
      R"("spec":{"name":"logs"},"status":{"ackResourceMetadata":{"arn":"arn:aws:s3:::logs",)"
      R"("ownerAccountID":"111111111111"},"conditions":[{"type":"Ready","status":"True"},)"
      R"({"type":"ACK.ResourceSynced","status":"True"}]})";
  const auto with = [&](const std::string& finalizer) {
    return Read(R"({"metadata":{"name":"o","finalizers":[")" + finalizer + "\"]}," + status + "}",
                kBucket);
  };
  const ObjectFacts managed = with("finalizers.s3.services.k8s.aws/Bucket");
  EXPECT_TRUE(managed.real);
  EXPECT_EQ(FinalizerOf(kBucket.group, kBucket.kind), managed.finalizers.at(0));
  for (const char* const other : {"finalizers.s3.services.k8s.aws/bucket",
                                  "finalizer.managedresource.crossplane.io", "mine"}) {
    EXPECT_FALSE(with(other).real) << other;
  }
}

TEST(IdentityAck, ANamespaceTellsTheIntentOfTheOthers) {
  const auto intent = [](const std::string& annotations, const GroupKind& kind) {
    const ObjectFacts facts = Read(Object(annotations, R"(,"spec":{"name":"logs"})", "told"), kind);
    return facts.resources.at(0).intent;
  };
  EXPECT_EQ(intent("", kBucket), Intent::kManages);
  EXPECT_EQ(intent(Annotation("deletion-policy", "delete"), kBucket), Intent::kDeletes);
  EXPECT_EQ(intent(Annotation("read-only", "true"), kBucket), Intent::kObserves);
  EXPECT_EQ(intent("", kRole), Intent::kDeletes) << "of another service nothing is said";
  EXPECT_EQ(intent(Annotation("deletion-policy", "retain"), kKey), Intent::kManages);
}

AckNamespace ReadNamespace(const std::string& annotations, const std::string& name = "team-a") {
  const Document document = DocumentFromJson(R"({"metadata":{"name":")" + name +
                                             R"(","annotations":{)" + annotations + "}}}");
  return ReadAckNamespace(document.root());
}

TEST(IdentityAck, ANamespaceSaysSoByItsAnnotations) {
  const AckNamespace said = ReadNamespace(R"("services.k8s.aws/default-region":"eu-west-1",)"
                                          R"("services.k8s.aws/owner-account-id":"444444444444",)"
                                          R"("s3.services.k8s.aws/deletion-policy":"retain",)"
                                          R"("rds.services.k8s.aws/deletion-policy":"Delete",)"
                                          R"("sqs.services.k8s.aws/deletion-policy":"delete")");
  EXPECT_EQ(said.account, "444444444444");
  EXPECT_EQ(said.defaults.region, "eu-west-1");
  EXPECT_EQ(said.defaults.deletes, (std::set<std::string>{"sqs"})) << "the very word deletes";
  EXPECT_EQ(said.defaults.retains, (std::set<std::string>{"rds", "s3"}));
  EXPECT_FALSE(said.fields.empty());
}

TEST(IdentityAck, ANamespaceThatSaysNothing) {
  for (const char* const annotations :
       {"", R"("team":"a")", R"("services.k8s.aws/default-region":"")",
        R"("services.k8s.aws/region":"eu-west-1")", R"("services.k8s.aws/default-region":7)",
        R"("services.k8s.aws/owner-account-id":"12345")",
        R"("services.k8s.aws/default-region":"somewhere")",
        R"("notservices.k8s.aws/default-region":"eu-west-1")",
        R"("services.k8s.aws/deletion-policy":"delete")",
        R"("a b.services.k8s.aws/deletion-policy":"delete")",
        R"("s3.services.k8s.aws/deletion-policy/x":"delete")"}) {
    SCOPED_TRACE(annotations);
    const AckNamespace said = ReadNamespace(annotations);
    EXPECT_EQ(said.account, "");
    EXPECT_EQ(said.defaults, ConfigDefaults());
  }
  const char* const region = R"("services.k8s.aws/default-region":"eu-west-1")";
  EXPECT_EQ(ReadNamespace(region, "kube-system").defaults, ConfigDefaults()) << "ACK reads none";
  EXPECT_EQ(ReadNamespace(region, "kube-system").fields, "");
  EXPECT_EQ(ReadNamespace(R"("team":"a")").fields, "") << "it concerns nobody";
}

// E8: whatever the controller may read counts, in whatever order it is written.
TEST(IdentityAck, FieldsOfANamespaceChangeWithItsAnnotations) {
  const std::string region = R"("services.k8s.aws/default-region":"eu-west-1")";
  const std::string team = R"("services.k8s.aws/team-id":"a")";
  const std::string fields = ReadNamespace(region + "," + team).fields;
  EXPECT_EQ(ReadNamespace(team + R"(,"more":"x",)" + region).fields, fields);
  EXPECT_NE(ReadNamespace(region).fields, fields);
  EXPECT_NE(ReadNamespace(region + R"(,"services.k8s.aws/team-id":"b")").fields, fields);
}

TEST(IdentityAck, AnEndIsToldByTheObjectsOwnWordAndWhatItShowed) {
  struct Row {
    const char* reason;
    std::string annotations;
    std::string status;
    bool told;
    const char* ns = "team-a";
    bool by_config = false;
  };
  const std::string arn = R"("ackResourceMetadata":{"arn":"arn:aws:kms:eu-west-1:1:key/a"})";
  const std::string deletes = Annotation("deletion-policy", "delete");
  for (const Row& row : std::vector<Row>{
           {"the namespace may say retain", "", arn, false},
           {"retained", Annotation("deletion-policy", "retain"), arn, false},
           {"told", deletes, arn, true},
           {"an id does too", deletes, R"("keyID":"0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9")", true},
           {"read only", deletes + Annotation("read-only", "true"), arn, false},
           {"restored without status: let go without a call", deletes, "", false},
           {"the namespace says delete", "", arn, true, "told", true},
           {"of an object without status", "", "", false, "told"},
           {"the object's own word", Annotation("deletion-policy", "retain"), arn, false, "told"},
           {"both", deletes, arn, true, "told"},
           {"what the controller takes for none is not known", Annotation("deletion-policy", ""),
            arn, false, "told"},
       }) {
    SCOPED_TRACE(row.reason);
    const ObjectFacts facts =
        Read(Object(row.annotations, R"(,"spec":{},"status":{)" + row.status + "}", row.ns), kKey);
    EXPECT_EQ(facts.is_end_unknown, !row.told);
    EXPECT_EQ(facts.is_end_by_config, row.by_config);
  }
}

// Whatever names are read from in a status is its controller's to write.
TEST(IdentityAck, ChangesOfNamesInAStatusAreNoticed) {
  const KindEntry& kind = *Catalogue::BuiltIn().FindKind(kVpc.group, kVpc.kind);
  const auto changed = [&](const std::string& status) {
    const Document before = DocumentFromJson(R"({"status":{"vpcID":"vpc-1","state":"a"}})");
    const Document after = DocumentFromJson(R"({"status":{)" + status + "}}");
    return ChangedNameField(after.root(), before.root(), kind);
  };
  EXPECT_EQ(changed(R"("vpcID":"vpc-1","state":"b")"), "");
  EXPECT_EQ(changed(R"("vpcID":"vpc-2")"), "status.vpcID");
  EXPECT_EQ(changed(R"("state":"a")"), "status.vpcID");
  for (const char* const field : {"arn", "ownerAccountID", "region"}) {
    EXPECT_EQ(
        changed(R"("vpcID":"vpc-1","ackResourceMetadata":{")" + std::string(field) + R"(":"x"})"),
        "status.ackResourceMetadata." + std::string(field));
  }
}

// How ACK's objects of a judged row name their resource is not sure, whatever the type is.
TEST(IdentityAck, AJudgedKindIsUnsure) {
  EXPECT_FALSE(Read(Object("", R"(,"spec":{})"), kKey).resources.at(0).sure);
  EXPECT_TRUE(Read(Object("", R"(,"spec":{})"), kVpc).resources.at(0).sure);
}

}  // namespace identity_ack_test
}  // namespace truce
