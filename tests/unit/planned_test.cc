// Plans of Terraform and templates of CloudFormation: what they are about to create.
#include "webhook/imports/planned.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "webhook/check/manifest_reader.h"
#include "webhook/imports/readers.h"

namespace truce {
namespace planned_test {

constexpr char kAccount[] = "123456789012";

// "ADDRESS KEY", "ADDRESS ? why", "ADDRESS -" (AWS makes the name) or "ADDRESS unknown".
std::vector<std::string> Lines(const Planned& planned) {
  std::vector<std::string> lines;
  for (const PlannedResource& each : planned.resources) {
    for (const DeclaredResource& one : each.declares) {
      lines.push_back(each.address + " " + one.key().text);
    }
    if (!each.unclear.empty()) {
      const std::string remedy = each.remedy.empty() ? "" : ": " + each.remedy;
      lines.push_back(each.address + " ? " + each.unclear + remedy);
    }
    if (!each.known_kind) lines.push_back(each.address + " unknown");
    if (each.known_kind && each.unclear.empty() && each.declares.empty()) {
      lines.push_back(each.address + " -");
    }
  }
  return lines;
}

using Expected = std::vector<std::string>;

Result<Planned> ReadPlan(const std::string& text, const PlanDefaults& defaults = {}) {
  std::istringstream in(text);
  return ReadTerraformPlan(in, defaults, Catalogue::BuiltIn());
}

std::string Change(const std::string& address, const std::string& type, const std::string& change,
                   const std::string& more = "") {
  return R"({"address":")" + address + R"(","mode":"managed","type":")" + type +
         R"(","name":"this","provider_name":"registry.terraform.io/hashicorp/aws",)" + more +
         R"("change":)" + change + "}";
}

std::string Created(const std::string& after, const std::string& unknown = "{}") {
  return R"({"actions":["create"],"before":null,"after":)" + after + R"(,"after_unknown":)" +
         unknown + "}";
}

std::string Plan(const std::vector<std::string>& changes, const std::string& configuration = "{}",
                 const std::string& more = "") {
  std::string list;
  for (const std::string& each : changes) list += (list.empty() ? "" : ",") + each;
  return R"({"format_version":"1.2","terraform_version":"1.9.0","planned_values":{"root_module":{}},)"
         R"("resource_changes":[)" +
         list + R"(],)" + more + R"("configuration":)" + configuration + "}";
}

std::string Bucket(const std::string& name) {
  return Change("aws_s3_bucket.this", "aws_s3_bucket", Created(R"({"bucket":")" + name + R"("})"));
}

TEST(TerraformPlan, CreatedReplacedAndImportedAreDeclared) {
  const std::string bucket = R"({"bucket":"prod-a","force_destroy":false})";
  const auto planned = ReadPlan(Plan(
      {Change("module.logs[\\\"a.b\\\"].aws_s3_bucket.this[0]", "aws_s3_bucket", Created(bucket)),
       Change("aws_s3_bucket.replaced", "aws_s3_bucket",
              R"({"actions":["delete","create"],"before":{},"after":{"bucket":"prod-b"}})"),
       Change("aws_s3_bucket.adopted", "aws_s3_bucket",
              R"({"actions":["no-op"],"after":{"bucket":"prod-c"},"importing":{"id":"prod-c"}})"),
       Change("aws_s3_bucket.kept", "aws_s3_bucket",
              R"({"actions":["no-op"],"after":{"bucket":"prod-d"}})"),
       Change("aws_s3_bucket.moved", "aws_s3_bucket",
              R"({"actions":["update"],"after":{"bucket":"prod-e"}})",
              R"("previous_address":"aws_s3_bucket.old",)"),
       Change("aws_s3_bucket.gone", "aws_s3_bucket",
              R"({"actions":["delete"],"before":{"bucket":"prod-f"},"after":null})"),
       Change("aws_s3_bucket.forgotten", "aws_s3_bucket",
              R"({"actions":["forget"],"before":{"bucket":"prod-g"},"after":null})"),
       Change("random_id.x", "random_id", Created("{}")),
       Change("aws_brand_new.x", "aws_brand_new", Created("{}")),
       R"({"address":"data.aws_s3_bucket.x","mode":"data","type":"aws_s3_bucket","change":{"actions":["read"]}})"}));
  ASSERT_TRUE(planned.ok()) << planned.error().message;
  EXPECT_EQ(
      Lines(planned.value()),
      (Expected{"module.logs[\"a.b\"].aws_s3_bucket.this[0] s3/Bucket|aws|||name=prod-a",
                "aws_s3_bucket.replaced s3/Bucket|aws|||name=prod-b",
                "aws_s3_bucket.adopted s3/Bucket|aws|||name=prod-c", "aws_brand_new.x unknown"}));
  EXPECT_EQ(planned.value().notes,
            (Expected{"1 resource is of other providers than AWS's: passed over"}));
}

// A name that nobody sets is made by the provider: nobody has it. One that is set and known later
// is named. A parent that is made in the same plan has no stranger's attachments.
TEST(TerraformPlan, NamesThatAreKnownAfterTheApply) {
  const std::string configuration = R"({"root_module":{"resources":[
    {"address":"aws_s3_bucket.this","expressions":{"bucket":{"references":["random_id.x.hex"]}}},
    {"address":"aws_sqs_queue.this","expressions":{"name_prefix":{"constant_value":"jobs-"}}},
    {"address":"aws_s3_bucket_policy.this","expressions":{"bucket":{"references":["aws_s3_bucket.this.id"]}}}
    ]}})";
  const auto planned =
      ReadPlan(Plan({Change("aws_s3_bucket.this", "aws_s3_bucket",
                            Created("{}", R"({"bucket":true,"arn":true})")),
                     Change("aws_sqs_queue.this", "aws_sqs_queue",
                            Created("{}", R"({"name":true,"id":true})")),
                     Change("aws_s3_bucket_policy.this", "aws_s3_bucket_policy",
                            Created(R"({"policy":"{}"})", R"({"bucket":true})")),
                     Change("aws_vpc.this", "aws_vpc", Created(R"({"cidr_block":"10.0.0.0/16"})"))},
                    configuration),
               {.account = kAccount, .region = "eu-west-1", .parameters = {}});
  ASSERT_TRUE(planned.ok()) << planned.error().message;
  EXPECT_EQ(Lines(planned.value()),
            (Expected{"aws_s3_bucket.this ? its bucket is known only after the apply",
                      "aws_sqs_queue.this -", "aws_s3_bucket_policy.this -", "aws_vpc.this -"}));
}

// Of an alias, in a module, by a constant, a variable, the resource itself; else the flags.
TEST(TerraformPlan, RegionAndAccountAreThoseOfTheProvider) {
  const std::string queue = Created(R"({"name":"jobs"})");
  const std::string configuration = R"({
    "provider_config":{
      "aws":{"name":"aws","expressions":{"region":{"references":["var.region"]}}},
      "aws.west":{"name":"aws","alias":"west","expressions":{"region":{"constant_value":"us-west-2"},
        "assume_role":[{"role_arn":{"constant_value":"arn:aws:iam::222222222222:role/deploy"}}]}},
      "module.in:aws":{"expressions":{"region":{"constant_value":"us-east-1"},
        "allowed_account_ids":{"constant_value":["333333333333"]}}}},
    "root_module":{
      "resources":[{"address":"aws_sqs_queue.this","provider_config_key":"aws","expressions":{}}],
      "module_calls":{
        "west":{"module":{"resources":[{"address":"aws_sqs_queue.this","provider_config_key":"aws.west"}]}},
        "in":{"module":{"resources":[{"address":"aws_sqs_queue.this","provider_config_key":"module.in:aws"}]}}}}})";
  const auto planned =
      ReadPlan(Plan({Change("aws_sqs_queue.this", "aws_sqs_queue", queue),
                     Change("module.west[\\\"a.module.b\\\"].aws_sqs_queue.this", "aws_sqs_queue",
                            queue, R"("module_address":"module.west[\"a.module.b\"]",)"),
                     Change("module.in.aws_sqs_queue.this", "aws_sqs_queue", queue,
                            R"("module_address":"module.in",)"),
                     Change("module.nowhere.aws_sqs_queue.this", "aws_sqs_queue", queue,
                            R"("module_address":"module.nowhere",)"),
                     Change("aws_sqs_queue.own", "aws_sqs_queue",
                            Created(R"({"name":"jobs","region":"ap-south-1"})"))},
                    configuration, R"("variables":{"region":{"value":"eu-north-1"}},)"),
               {.account = kAccount, .region = {}, .parameters = {}});
  ASSERT_TRUE(planned.ok()) << planned.error().message;
  const std::string west = R"(module.west["a.module.b"].aws_sqs_queue.this)";
  EXPECT_EQ(
      Lines(planned.value()),
      (Expected{
          "aws_sqs_queue.this sqs/Queue|aws|123456789012|eu-north-1|name=jobs",
          west + " sqs/Queue|aws|222222222222|us-west-2|name=jobs",
          "module.in.aws_sqs_queue.this sqs/Queue|aws|333333333333|us-east-1|name=jobs",
          "module.nowhere.aws_sqs_queue.this ? its region is not known: Name it with --region",
          "aws_sqs_queue.own sqs/Queue|aws|123456789012|ap-south-1|name=jobs"}));
  const auto nameless = ReadPlan(Plan({Change("aws_sqs_queue.this", "aws_sqs_queue", queue)}),
                                 {.account = {}, .region = "eu-west-1", .parameters = {}});
  EXPECT_EQ(Lines(nameless.value()),
            (Expected{"aws_sqs_queue.this ? its account is not known: Name it with --account"}));
}

// The attribute that names a resource, of every type whose name Crossplane has as external name.
TEST(TerraformPlan, NamesOfManyTypes) {
  struct Case {
    const char* type;
    const char* after;
    const char* key;
  };
  constexpr Case kCases[] = {
      {"aws_lambda_function", R"({"function_name":"f"})",
       "lambda/Function|aws|123456789012|eu-west-1|name=f"},
      {"aws_db_instance", R"({"identifier":"Main"})",
       "rds/db|aws|123456789012|eu-west-1|name=main"},
      {"aws_rds_cluster", R"({"cluster_identifier":"c"})",
       "rds/cluster|aws|123456789012|eu-west-1|name=c"},
      {"aws_iam_role", R"({"name":"Deploy","path":"/"})", "iam/Role|aws|123456789012||name=deploy"},
      {"aws_iam_role_policy", R"({"name":"p","role":"Deploy"})",
       "iam/RolePolicy|aws|123456789012||role=deploy|name=p"},
      {"aws_kms_alias", R"({"name":"alias/main"})",
       "kms/Alias|aws|123456789012|eu-west-1|name=main"},
      {"aws_dynamodb_table", R"({"name":"orders"})",
       "dynamodb/Table|aws|123456789012|eu-west-1|name=orders"},
      {"aws_ecs_service", R"({"name":"web","cluster":"main"})",
       "ecs/Service|aws|123456789012|eu-west-1|cluster=main|name=web"},
      {"aws_eks_addon", R"({"cluster_name":"c","addon_name":"dns"})",
       "eks/Addon|aws|123456789012|eu-west-1|clusterName=c|addonName=dns"},
      {"aws_key_pair", R"({"key_name":"k"})", "ec2/KeyPair|aws|123456789012|eu-west-1|name=k"},
      {"aws_cloudwatch_metric_alarm", R"({"alarm_name":"a"})",
       "cloudwatch/MetricAlarm|aws|123456789012|eu-west-1|name=a"},
      {"aws_elasticache_replication_group", R"({"replication_group_id":"R"})",
       "elasticache/ReplicationGroup|aws|123456789012|eu-west-1|name=r"},
      {"aws_glue_catalog_database", R"({"name":"d","catalog_id":"222222222222"})",
       "glue/database|aws|222222222222|eu-west-1|name=d"},
      {"aws_s3_bucket_policy", R"({"bucket":"prod-a","policy":"{}"})",
       "s3/BucketPolicy|aws|||bucket=prod-a"},
      {"aws_route53_record",
       R"({"zone_id":"Z0123456789ABCDEFGHIJ","name":"www.example.org","type":"A"})",
       "route53/"
       "Record|aws|||zoneId=Z0123456789ABCDEFGHIJ|name=www.example.org|type=A|setIdentifier="},
  };
  for (const Case& each : kCases) {
    const auto planned = ReadPlan(Plan({Change("x", each.type, Created(each.after))}),
                                  {.account = kAccount, .region = "eu-west-1", .parameters = {}});
    ASSERT_TRUE(planned.ok()) << planned.error().message;
    EXPECT_EQ(Lines(planned.value()), (Expected{std::string("x ") + each.key})) << each.type;
  }
}

TEST(TerraformPlan, EachRowNamesATypeOfTheCatalogue) {
  for (const std::string_view line : TableLines(TerraformTypesText())) {
    const std::string name(line.substr(0, line.find('\t')));
    const TerraformType* const row = FindTerraformType(name);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_NE(Catalogue::BuiltIn().FindType(row->type), nullptr) << name;
    EXPECT_FALSE(row->name.empty()) << name;
  }
}

TEST(TerraformPlan, BadInputIsToldInOneSentence) {
  const std::string no_json = "is no JSON, or ends in the middle of it";
  const std::map<std::string, std::string> cases = {
      {"{\"format_version\":\"1.2\",\"resource_changes\":[", no_json},
      {"", no_json},
      {"[1,2]", no_json},
      {std::string(100'000, '['), no_json},
      {"{\"resource_changes\":[]}",
       "has no format_version: write it with `terraform show -json PLAN`, where PLAN is what "
       "`terraform plan -out` wrote"},
      {"{\"format_version\":\"2.0\",\"resource_changes\":[]}",
       "has format version 2.0, which is not known; Truce reads plans of version 1"},
      {"{\"format_version\":\"1.0\",\"values\":{\"root_module\":{}}}",
       "is a state, which says what there is: `truce import` records it; a plan is written by "
       "`terraform plan -out PLAN` and `terraform show -json PLAN`"},
  };
  for (const auto& [text, message] : cases) {
    const auto planned = ReadPlan(text);
    EXPECT_EQ(planned.ok() ? "" : planned.error().message, message) << text.substr(0, 60);
  }
  for (
      const char* odd :
      {R"({"format_version":"1.2","resource_changes":[1,null,{},{"change":3}]})",
       R"({"format_version":"1.2","resource_changes":{"a":{"change":{"actions":["create"]}}}})",
       R"({"format_version":"1.2","resource_changes":[{"mode":"managed","type":"aws_s3_bucket","change":{"actions":["create"],"after":{"bucket":{"x":1}},"after_unknown":7}}]})",
       R"({"format_version":"1.2","resource_changes":[],"configuration":[1],"variables":2})"}) {
    const auto planned = ReadPlan(odd);
    ASSERT_TRUE(planned.ok()) << odd;
    for (const PlannedResource& each : planned.value().resources)
      EXPECT_TRUE(each.declares.empty());
  }
  const auto incomplete = ReadPlan(Plan({Bucket("prod-a")}, "{}", R"("complete":false,)"));
  EXPECT_EQ(incomplete.value().notes,
            (Expected{"the plan is not complete: what it leaves out is not checked"}));
}

TEST(TerraformPlan, IsToldByHowItBegins) {
  for (const char* plan : {R"({"format_version":"1.2")", "\xEF\xBB\xBF {\n  \"format_version\" :",
                           R"({"applyable":true,"complete")", R"({"configuration":{)"}) {
    EXPECT_TRUE(BeginsTerraform(plan)) << plan;
  }
  for (const char* other : {"", "{", "{}", "[", R"({"apiVersion":"v1")", R"({"Resources":{)",
                            "format_version: 1", R"({"kind":"List")"}) {
    EXPECT_FALSE(BeginsTerraform(other)) << other;
  }
}

// A secret in every attribute, variable and expression that names nothing: none is kept.
TEST(TerraformPlan, NothingButNamesIsKept) {
  const std::string secret = "hunter2";
  const auto planned = ReadPlan(
      Plan(
          {Change(
              "aws_db_instance.this", "aws_db_instance",
              R"({"actions":["create"],"before":{"password":"hunter2"},"after":{"identifier":"main","password":"hunter2","tags":{"x":"hunter2"}},)"
              R"("after_sensitive":{"password":true},"before_sensitive":"hunter2"})")},
          R"({"provider_config":{"aws":{"expressions":{"secret_key":{"constant_value":"hunter2"},"region":{"references":["var.pw"]}}}},
               "root_module":{"resources":[{"address":"aws_db_instance.this","provider_config_key":"aws",
               "expressions":{"password":{"constant_value":"hunter2"}}}]}})",
          R"("variables":{"pw":{"value":"Hunter2!"}},"output_changes":{"pw":{"after":"hunter2"}},)"),
      {.account = kAccount, .region = "eu-west-1", .parameters = {}});
  ASSERT_TRUE(planned.ok()) << planned.error().message;
  EXPECT_EQ(Lines(planned.value()),
            (Expected{"aws_db_instance.this rds/db|aws|123456789012|eu-west-1|name=main"}));
  for (const PlannedResource& each : planned.value().resources) {
    std::string all = each.address + each.kind + each.unclear;
    for (const DeclaredResource& one : each.declares) {
      all += one.name + one.arn + one.identity.region + one.identity.account;
      for (const auto& [part, value] : one.identity.parts) all += part + value;
    }
    EXPECT_EQ(all.find(secret), std::string::npos) << all;
  }
}

// --- CloudFormation ---

YamlNode Document(const std::string& text) {
  std::size_t at = 0;
  ManifestReader reader(
      [&](char* buffer, std::size_t size) {
        const std::size_t count = std::min(size, text.size() - at);
        text.copy(buffer, count, at);
        at += count;
        return count;
      },
      "template.yaml");
  auto next = reader.Next();
  EXPECT_TRUE(next.ok()) << (next.ok() ? "" : next.error().message);
  if (!next.ok() || !next.value()) return {};
  return std::move(next.value()->root);
}

Result<Planned> ReadYaml(const std::string& text, PlanDefaults defaults = {},
                         const std::map<std::string, std::string>& nested = {}) {
  if (defaults.account.empty()) defaults.account = kAccount;
  if (defaults.region.empty()) defaults.region = "eu-west-1";
  return ReadTemplate(Document(text), defaults, Catalogue::BuiltIn(),
                      [&](const std::string& path) -> Result<YamlNode> {
                        const auto found = nested.find(path);
                        if (path.find("://") != path.npos) return Error{ErrorCode::kNotFound, path};
                        if (found == nested.end()) return InvalidArgument(path + ": no such file");
                        return Document(found->second);
                      });
}

Expected LinesOf(const std::string& text, const PlanDefaults& defaults = {}) {
  const auto planned = ReadYaml(text, defaults);
  if (!planned.ok()) return {planned.error().message};
  return Lines(planned.value());
}

TEST(Template, EachRowNamesPartsOfItsType) {
  std::set<std::string> seen;
  for (const std::string_view line : TableLines(CloudFormationTypesText())) {
    const std::string name(line.substr(0, line.find('\t')));
    EXPECT_TRUE(seen.insert(name).second) << name;
    const CloudFormationType* const row = FindCloudFormationType(name);
    ASSERT_NE(row, nullptr) << name;
    const TypeSpec* const type = Catalogue::BuiltIn().FindType(row->type);
    ASSERT_NE(type, nullptr) << name;
    std::set<std::string> parts{"region", "account"};
    for (const KeyPart& part : type->parts) parts.insert(part.name);
    for (const auto& part : row->parts) {
      EXPECT_TRUE(parts.contains(std::string(part.name))) << name << " " << part.name;
      EXPECT_FALSE(part.sources.empty()) << name << " " << part.name;
    }
    EXPECT_FALSE(!row->parts.empty() && IsGivenByAws(*type)) << name;
  }
  EXPECT_GE(seen.size(), 130U);
}

TEST(Template, FunctionsAreResolvedAsFarAsItTells) {
  const std::string text = R"(
AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Stage: {Type: String, Default: prod}
  Team: {Type: String}
  Ami: {Type: "AWS::SSM::Parameter::Value<String>", Default: /ami/latest}
  Zones: {Type: CommaDelimitedList, Default: "a, b"}
Mappings:
  Names: {prod: {bucket: from-map}}
Conditions:
  IsProd: !Equals [!Ref Stage, prod]
  IsNot: !Not [!Condition IsProd]
  Both: !And [!Condition IsProd, !Not [!Condition IsNot]]
Resources:
  Literal: {Type: "AWS::S3::Bucket", Properties: {BucketName: literal}}
  Sub: {Type: "AWS::S3::Bucket", Properties: {BucketName: !Sub "${Stage}-${AWS::Region}-${!x}"}}
  SubOwn: {Type: "AWS::S3::Bucket", Properties: {BucketName: !Sub ["${A}-b", {A: !Ref Stage}]}}
  Join: {Type: "AWS::S3::Bucket", Properties: {BucketName: !Join ["-", [logs, !Ref "AWS::AccountId", !Ref "AWS::NoValue"]]}}
  Long: {Type: "AWS::S3::Bucket", Properties: {BucketName: {"Fn::Join": ["-", ["a", {"Ref": "Stage"}]]}}}
  Map: {Type: "AWS::S3::Bucket", Properties: {BucketName: !FindInMap [Names, !Ref Stage, bucket]}}
  If: {Type: "AWS::S3::Bucket", Properties: {BucketName: !If [Both, yes-it-is, no-it-is-not]}}
  Select: {Type: "AWS::S3::Bucket", Properties: {BucketName: !Select [1, !Split ["/", "a/picked"]]}}
  Zone: {Type: "AWS::S3::Bucket", Properties: {BucketName: !Sub ["z-${Z}", {Z: !Select [1, !Ref Zones]}]}}
  Off: {Type: "AWS::S3::Bucket", Condition: IsNot, Properties: {BucketName: never}}
  Generated: {Type: "AWS::S3::Bucket"}
  Team1: {Type: "AWS::S3::Bucket", Properties: {BucketName: !Sub "${Team}-x"}}
  Ssm: {Type: "AWS::S3::Bucket", Properties: {BucketName: !Ref Ami}}
  Typo: {Type: "AWS::S3::Bucket", Properties: {BucketName: !Sub "${Stagee}-x"}}
  Imported: {Type: "AWS::S3::Bucket", Properties: {BucketName: !ImportValue other}}
  Made: {Type: "AWS::SQS::Queue", Properties: {QueueName: !Sub "${Generated}-q"}}
  MadeOfId: {Type: "AWS::SQS::Queue", Properties: {QueueName: !Join ["-", [q, !Ref Vpc]]}}
  Vpc: {Type: "AWS::EC2::VPC", Properties: {CidrBlock: 10.0.0.0/16}}
  Told: {Type: "AWS::SQS::Queue", Properties: {QueueName: !Sub "${Literal.WebsiteURL}-q"}}
  Place: {Type: "AWS::SQS::Queue", Properties: {QueueName: !Sub "q-${Vpc.CidrBlock}"}}
  OfArn: {Type: "AWS::SQS::Queue", Properties: {QueueName: !Sub "q-${Generated.Arn}"}}
  Dynamic: {Type: "AWS::IAM::User", Properties: {UserName: "a-{{resolve:ssm:/user:1}}"}}
  Group: {Type: "AWS::EC2::SecurityGroup", Properties: {VpcId: !ImportValue vpc}}
  Custom: {Type: "Custom::Thing"}
  New: {Type: "AWS::BrandNew::Thing"}
)";
  const auto planned = ReadYaml(text);
  ASSERT_TRUE(planned.ok()) << planned.error().message;
  const std::string bucket = " s3/Bucket|aws|||name=";
  const std::string unknown = " ? its name is not known: ";
  EXPECT_EQ(
      Lines(planned.value()),
      (Expected{"Literal" + bucket + "literal",
                "Sub" + bucket + "prod-eu-west-1-%24%7Bx%7D",
                "SubOwn" + bucket + "prod-b",
                "Join" + bucket + "logs-123456789012",
                "Long" + bucket + "a-prod",
                "Map" + bucket + "from-map",
                "If" + bucket + "yes-it-is",
                "Select" + bucket + "picked",
                "Zone" + bucket + "z-b",
                "Generated -",
                "Team1" + unknown + "parameter Team has no value: Give it with --parameter Team=…",
                "Ssm" + unknown + "parameter Ami is read from SSM: Give it with --parameter Ami=…",
                "Typo" + unknown +
                    "it names Stagee, which is no parameter and no resource of the template",
                "Imported" + unknown + "Fn::ImportValue is resolved by CloudFormation alone",
                "Made -",
                "MadeOfId -",
                "Vpc -",
                "Told" + unknown +
                    "it is made of Literal.WebsiteURL, which CloudFormation knows when it has made "
                    "that",
                "Place" + unknown +
                    "it is made of Vpc.CidrBlock, which CloudFormation knows when it has made that",
                "OfArn -",
                "Dynamic" + unknown + "a dynamic reference is resolved by CloudFormation alone",
                "Group -",
                "New unknown"}));
  EXPECT_EQ(planned.value().resources.front().at.line, 15);
  EXPECT_EQ(planned.value().notes,
            (Expected{"1 resource is not of AWS (custom resources, modules): passed over"}));
  const Expected given =
      LinesOf(text, {.account = {}, .region = {}, .parameters = {{"Team", "t"}, {"Stage", "dev"}}});
  EXPECT_NE(std::find(given.begin(), given.end(), "Team1" + bucket + "t-x"), given.end());
  EXPECT_NE(std::find(given.begin(), given.end(), "Off" + bucket + "never"), given.end());
  EXPECT_NE(std::find(given.begin(), given.end(), "If" + bucket + "no-it-is-not"), given.end());
}

TEST(Template, OneDeclarationForEachElement) {
  const std::string record = "Records route53/Record|aws|||zoneId=Z0123456789ABCDEFGHIJ|name=";
  EXPECT_EQ(LinesOf(R"(
Resources:
  Role: {Type: "AWS::IAM::Role", Properties: {RoleName: Deploy}}
  Policy:
    Type: AWS::IAM::Policy
    Properties: {PolicyName: p, Roles: [!Ref Role, other], Groups: [admins]}
  Table:
    Type: AWS::DynamoDB::GlobalTable
    DeletionPolicy: Retain
    Properties: {TableName: orders, Replicas: [{Region: eu-west-1}, {Region: us-east-1}]}
  Records:
    Type: AWS::Route53::RecordSetGroup
    Properties:
      HostedZoneId: Z0123456789ABCDEFGHIJ
      RecordSets: [{Name: a.example.org., Type: A}, {Name: b.example.org, Type: A}]
  Zone: {Type: "AWS::Route53::HostedZone", Properties: {Name: example.org}}
  Record: {Type: "AWS::Route53::RecordSet", Properties: {HostedZoneId: !Ref Zone, Name: c.example.org, Type: A}}
  Function: {Type: "AWS::Lambda::Function", Properties: {FunctionName: f}}
  Alias: {Type: "AWS::Lambda::Alias", Properties: {FunctionName: !GetAtt Function.Arn, Name: live}}
  Unnamed: {Type: "AWS::Lambda::Function"}
  Dark: {Type: "AWS::Lambda::Alias", Properties: {FunctionName: !Ref Unnamed, Name: live}}
  Secret: {Type: "AWS::SecretsManager::Secret", Properties: {Name: s, SecretString: hunter2}}
  Sam: {Type: "AWS::Serverless::Function", Properties: {FunctionName: sam}}
)"),
            (Expected{"Role iam/Role|aws|123456789012||name=deploy",
                      "Policy iam/RolePolicy|aws|123456789012||role=deploy|name=p",
                      "Policy iam/RolePolicy|aws|123456789012||role=other|name=p",
                      "Table dynamodb/Table|aws|123456789012|eu-west-1|name=orders",
                      "Table dynamodb/Table|aws|123456789012|us-east-1|name=orders",
                      record + "a.example.org|type=A|setIdentifier=",
                      record + "b.example.org|type=A|setIdentifier=", "Zone -", "Record -",
                      "Function lambda/Function|aws|123456789012|eu-west-1|name=f",
                      "Alias lambda/Alias|aws|123456789012|eu-west-1|functionName=f|name=live",
                      "Unnamed -", "Dark -",
                      "Secret secretsmanager/Secret|aws|123456789012|eu-west-1|name=s",
                      "Sam lambda/Function|aws|123456789012|eu-west-1|name=sam"}));
}

TEST(Template, StacksAreNestedByFile) {
  const std::string inner = R"(
Parameters: {Name: {Type: String}}
Resources:
  Logs: {Type: "AWS::S3::Bucket", Properties: {BucketName: !Sub "${Name}-logs"}}
)";
  const std::string outer = R"(
Resources:
  Local:
    Type: AWS::CloudFormation::Stack
    Properties: {TemplateURL: ./inner.yaml, Parameters: {Name: prod}}
  Asset:
    Type: AWS::CloudFormation::Stack
    Metadata: {"aws:asset:path": inner.yaml}
    Properties: {TemplateURL: {"Fn::Join": ["", ["https://x/", !Ref "AWS::URLSuffix"]]}}
  Far: {Type: "AWS::CloudFormation::Stack", Properties: {TemplateURL: "https://s3/x.yaml"}}
  Gone: {Type: "AWS::CloudFormation::Stack", Properties: {TemplateURL: gone.yaml}}
  Empty: {Type: "AWS::CloudFormation::Stack", Properties: {TemplateURL: empty.yaml}}
)";
  const auto planned = ReadYaml(
      outer, {}, {{"./inner.yaml", inner}, {"inner.yaml", inner}, {"empty.yaml", "Outputs: {}"}});
  ASSERT_TRUE(planned.ok()) << planned.error().message;
  EXPECT_EQ(Lines(planned.value()),
            (Expected{"Local/Logs s3/Bucket|aws|||name=prod-logs",
                      "Asset/Logs ? its name is not known: parameter Name has no value: Give it "
                      "with --parameter Name=…",
                      "Gone ? its template gone.yaml: no such file: Put it beside this template",
                      "Empty ? its template empty.yaml has no Resources: Put it beside this "
                      "template"}));
  EXPECT_EQ(planned.value().notes,
            (Expected{"Far nests a template that is no file: what it declares is not checked"}));
  const std::string self = R"(
Resources:
  Again: {Type: "AWS::CloudFormation::Stack", Properties: {TemplateURL: self.yaml}}
)";
  const auto endless = ReadYaml(self, {}, {{"self.yaml", self}});
  ASSERT_FALSE(endless.ok());
  EXPECT_EQ(
      endless.error().message,
      "3: Again/Again/Again/Again/Again/Again/Again/Again/Again nests templates deeper than 8");
}

TEST(Template, WhatRefersToItselfEnds) {
  EXPECT_EQ(LinesOf(R"(
Conditions:
  A: !Condition B
  B: !Not [!Condition A]
Resources:
  One: {Type: "AWS::S3::Bucket", Properties: {BucketName: !If [A, a, b]}}
  Two: {Type: "AWS::S3::Bucket", Condition: A, Properties: {BucketName: two}}
  Three: {Type: "AWS::S3::Bucket", Properties: {BucketName: !Ref Four}}
  Four: {Type: "AWS::S3::Bucket", Properties: {BucketName: !Ref Three}}
)"),
            (Expected{"One ? its name is not known: the condition of its Fn::If is not known",
                      "Two s3/Bucket|aws|||name=two",
                      "Three ? its name is not known: its functions nest too deep",
                      "Four ? its name is not known: its functions nest too deep"}));
}

TEST(Template, OddOnesAreToldOrPassedOver) {
  EXPECT_EQ(LinesOf("AWSTemplateFormatVersion: x\nResources: [1]"),
            (Expected{"1: Resources is no mapping"}));
  EXPECT_EQ(LinesOf("AWSTemplateFormatVersion: x"), (Expected{"1: Resources is no mapping"}));
  EXPECT_EQ(LinesOf("Resources:\n  A: {Type: \"AWS::S3::Bucket\"}\n  B: {}\n"),
            (Expected{"3: resource B has no Type"}));
  const auto planned = ReadYaml(R"(
Transform: AWS::Serverless-2016-10-31
Resources:
  "Fn::ForEach::Topics": [Name, [a, b], {"T${Name}": {Type: "AWS::SNS::Topic"}}]
  A: {Type: "AWS::S3::Bucket", Properties: {BucketName: [1, 2]}}
  B: {Type: "AWS::S3::Bucket", Properties: text}
  C: {Type: "AWS::IAM::Policy", Properties: {PolicyName: p, Roles: !Ref Nope}}
)");
  ASSERT_TRUE(planned.ok()) << planned.error().message;
  EXPECT_EQ(Lines(planned.value()), (Expected{"A ? its name is not known: it is no text", "B -",
                                              "C ? its Roles are known to CloudFormation alone"}));
  EXPECT_EQ(planned.value().notes.size(), 2U);
  EXPECT_TRUE(IsTemplate(Document("Resources: {A: {Type: \"AWS::S3::Bucket\"}}")));
  for (const char* other : {"apiVersion: v1\nkind: X\nResources: {A: {Type: x}}", "Resources: {}",
                            "[1]", "Resources: x", "resources: {A: {Type: x}}"}) {
    EXPECT_FALSE(IsTemplate(Document(other))) << other;
  }
}

}  // namespace planned_test
}  // namespace truce
