// Lists of Terraform, CloudFormation, AWS and CSV: which resources they name, and what cannot be
// told.
#include <gtest/gtest.h>

#include <string>

#include "webhook/imports/import_list.h"

namespace truce {
namespace import_list_test {

constexpr char kAccount[] = "123456789012";

ImportFile Read(const std::string& text, const ImportDefaults& defaults = {}) {
  auto file = ReadImportList(text, std::nullopt, defaults, Catalogue::BuiltIn());
  EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().message);
  return file.ok() ? std::move(file).value() : ImportFile{};
}

std::string ErrorOf(const std::string& text) {
  const auto file = ReadImportList(text, std::nullopt, {}, Catalogue::BuiltIn());
  return file.ok() ? "" : file.error().message;
}

using Parts = std::map<std::string, std::string>;

TEST(Arns, NameTypeAndParts) {
  const auto entry = [](std::string_view arn) {
    return EntryFromArn(arn, "", Catalogue::BuiltIn()).value_or(ImportEntry{});
  };
  EXPECT_EQ(entry("arn:aws:s3:::prod-artifacts").type, "s3/Bucket");
  EXPECT_EQ(entry("arn:aws:s3:::prod-artifacts").parts, (Parts{{"name", "prod-artifacts"}}));
  const ImportEntry queue = entry("arn:aws:sqs:eu-west-1:123456789012:jobs");
  EXPECT_EQ(queue.type, "sqs/Queue");
  EXPECT_EQ(queue.account, kAccount);
  EXPECT_EQ(queue.region, "eu-west-1");
  EXPECT_EQ(entry("arn:aws:dynamodb:us-east-1:123456789012:table/orders").type, "dynamodb/Table");
  const ImportEntry role = entry("arn:aws:iam::123456789012:role/service/Deploy");
  EXPECT_EQ(role.type, "iam/Role");
  EXPECT_EQ(role.parts, (Parts{{"name", "Deploy"}}));
  const ImportEntry object = entry("arn:aws:s3:::prod-artifacts/a/b");
  EXPECT_EQ(object.type, "s3/Object");
  EXPECT_EQ(object.parts.at("bucket"), "prod-artifacts");
  EXPECT_EQ(entry("arn:aws:lambda:us-east-1:123456789012:function:f").type, "lambda/Function");
  for (const char* none :
       {"", "arn", "arn:aws:x:y:z", "not an arn", "arn:aws:sqs:eu-west-1:12:jobs"}) {
    EXPECT_EQ(entry(none).type, "") << none;
  }
}

TEST(Terraform, ShowJson) {
  const ImportFile file = Read(R"({"format_version":"1.0","terraform_version":"1.9.0","values":{
    "root_module":{"resources":[
      {"address":"aws_s3_bucket.a","mode":"managed","type":"aws_s3_bucket","name":"a",
       "provider_name":"registry.terraform.io/hashicorp/aws","values":{"id":"prod-a","bucket":"prod-a",
       "arn":"arn:aws:s3:::prod-a","region":"eu-west-1","tags":{"team":"payments"}}},
      {"address":"data.aws_region.now","mode":"data","type":"aws_region","name":"now","values":{}},
      {"address":"random_id.x","mode":"managed","type":"random_id","name":"x","values":{}}],
     "child_modules":[{"resources":[
      {"address":"module.q.aws_sqs_queue.jobs","mode":"managed","type":"aws_sqs_queue","name":"jobs",
       "values":{"id":"https://sqs.eu-west-1.amazonaws.com/123456789012/jobs","name":"jobs",
                 "arn":"arn:aws:sqs:eu-west-1:123456789012:jobs"}},
      {"address":"module.q.aws_sns_topic.t","mode":"managed","type":"aws_sns_topic","name":"t",
       "values":{"id":"arn:aws:sns:eu-west-1:123456789012:news","name":"news",
                 "arn":"arn:aws:sns:eu-west-1:123456789012:news"}},
      {"address":"module.q.aws_iam_role.r","mode":"managed","type":"aws_iam_role","name":"r",
       "values":{"id":"Deploy","name":"Deploy","path":"/","arn":"arn:aws:iam::123456789012:role/Deploy"}}
      ]}]}}})",
                               ImportDefaults{.service = "other", .service_tag = "team"});
  EXPECT_EQ(file.format, ImportFormat::kTerraformShow);
  EXPECT_EQ(file.foreign, 2U);
  ASSERT_EQ(file.entries.size(), 4U);
  EXPECT_EQ(file.entries[0], (ImportEntry{.address = "aws_s3_bucket.a",
                                          .type = "s3/Bucket",
                                          .parts = {{"name", "prod-a"}},
                                          .region = "eu-west-1",
                                          .arn = "arn:aws:s3:::prod-a",
                                          .service = "payments"}));
  EXPECT_EQ(file.entries[1].type, "sqs/Queue");
  EXPECT_EQ(file.entries[1].parts, (Parts{{"name", "jobs"}}));
  EXPECT_EQ(file.entries[1].account, kAccount);
  EXPECT_EQ(file.entries[1].service, "other");
  EXPECT_EQ(file.entries[2].parts, (Parts{{"name", "news"}}));
  EXPECT_EQ(file.entries[3].type, "iam/Role");
  for (const ImportEntry& entry : file.entries) EXPECT_EQ(entry.problem, "") << entry.address;
}

TEST(Terraform, WhatHasNoRegionSaysHowToNameIt) {
  const std::string text = R"({"format_version":"1.0","values":{"root_module":{"resources":[
    {"address":"aws_lb_target_group_attachment.a","mode":"managed",
     "type":"aws_lb_target_group_attachment","name":"a","values":{"id":"x","availability_zone":"",
     "port":null,"target_id":"i-0123456789abcdef0","target_group_arn":
     "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/a/0123456789abcdef"}}]}}})";
  EXPECT_EQ(Read(text).entries.at(0).problem, "its region is not known; name it with --region");
  const ImportEntry entry =
      Read(text, ImportDefaults{.account = kAccount, .region = "eu-west-1"}).entries.at(0);
  EXPECT_EQ(entry.problem, "");
  EXPECT_EQ(entry.parts.at("targetId"), "i-0123456789abcdef0");
  EXPECT_EQ(entry.parts.at("availabilityZone"), "");
}

TEST(Terraform, StateOfVersionFour) {
  const ImportFile file = Read(R"({"version":4,"terraform_version":"1.5.0","resources":[
    {"module":"module.db","mode":"managed","type":"aws_dynamodb_table","name":"t","instances":[
      {"index_key":"a","attributes":{"id":"orders","name":"orders",
       "arn":"arn:aws:dynamodb:us-east-1:123456789012:table/orders"}},
      {"index_key":1,"attributes":{"id":"items","name":"items"}}]},
    {"mode":"managed","type":"aws_nonsense","name":"n","instances":[{"attributes":{"id":"x"}}]},
    {"mode":"managed","type":"aws_s3_bucket","name":"none","instances":[{}]}]})");
  EXPECT_EQ(file.format, ImportFormat::kTerraformState);
  ASSERT_EQ(file.entries.size(), 4U);
  EXPECT_EQ(file.entries[0].address, "module.db.aws_dynamodb_table.t[\"a\"]");
  EXPECT_EQ(file.entries[0].problem, "");
  EXPECT_EQ(file.entries[0].account, kAccount);
  EXPECT_NE(file.entries[1].problem, "");  // neither account nor region is known
  EXPECT_EQ(file.entries[2].problem, "the catalogue has no type for aws_nonsense");
  EXPECT_NE(file.entries[3].problem, "");
}

TEST(CloudFormation, PhysicalIds) {
  const ImportFile file = Read(R"({"StackResources":[
    {"StackName":"base","StackId":"arn:aws:cloudformation:eu-west-1:123456789012:stack/base/1",
     "LogicalResourceId":"B","PhysicalResourceId":"prod-b","ResourceType":"AWS::S3::Bucket",
     "ResourceStatus":"CREATE_COMPLETE"},
    {"StackName":"base","StackId":"arn:aws:cloudformation:eu-west-1:123456789012:stack/base/1",
     "LogicalResourceId":"Q","PhysicalResourceId":"https://sqs.eu-west-1.amazonaws.com/123456789012/q",
     "ResourceType":"AWS::SQS::Queue"},
    {"StackName":"base","StackId":"arn:aws:cloudformation:eu-west-1:123456789012:stack/base/1",
     "LogicalResourceId":"T","PhysicalResourceId":"arn:aws:sns:eu-west-1:123456789012:t",
     "ResourceType":"AWS::SNS::Topic"},
    {"StackName":"base","LogicalResourceId":"X","PhysicalResourceId":"x","ResourceType":"Custom::X"},
    {"StackName":"base","LogicalResourceId":"Y","PhysicalResourceId":"y",
     "ResourceType":"AWS::Nothing::Such"}]})");
  EXPECT_EQ(file.foreign, 1U);
  ASSERT_EQ(file.entries.size(), 4U);
  EXPECT_EQ(file.entries[0].parts, (Parts{{"name", "prod-b"}}));
  EXPECT_EQ(file.entries[1].parts, (Parts{{"name", "q"}}));
  EXPECT_EQ(file.entries[1].account, kAccount);
  EXPECT_EQ(file.entries[1].region, "eu-west-1");
  EXPECT_EQ(file.entries[2].parts, (Parts{{"name", "t"}}));
  EXPECT_NE(file.entries[3].problem, "");
}

// The list has a record's name alone; an inline policy is no managed one.
TEST(CloudFormation, TypesWhoseWordsAreOthers) {
  const auto entry = [](const std::string& type, const std::string& id) {
    const ImportFile file =
        Read(R"({"StackResources":[{"StackName":"s","StackId":"arn:aws:cloudformation:eu-west-1:)"
             R"(123456789012:stack/s/1","LogicalResourceId":"X","PhysicalResourceId":")" +
             id + R"(","ResourceType":")" + type + R"("}]})");
    return file.entries.at(0);
  };
  const ImportEntry record = entry("AWS::Route53::RecordSet", "www.example.org");
  EXPECT_EQ(record.type, "route53/Record");
  EXPECT_EQ(record.problem,
            "a name alone does not tell which route53/Record it is: write a CSV with part:zoneId, "
            "part:name, part:type");
  EXPECT_EQ(entry("AWS::Route53::RecordSetGroup", "x").type, "route53/Record");
  const ImportEntry inline_policy = entry("AWS::IAM::Policy", "stack-Policy-1ABC");
  EXPECT_EQ(inline_policy.type, "iam/RolePolicy");
  EXPECT_NE(inline_policy.problem, "");
  EXPECT_EQ(entry("AWS::DynamoDB::GlobalTable", "orders").type, "dynamodb/Table");
  const ImportEntry stream = entry("AWS::KinesisFirehose::DeliveryStream", "events");
  EXPECT_EQ(stream.parts, (Parts{{"name", "events"}}));
  EXPECT_EQ(stream.problem, "");
}

TEST(AwsLists, TaggingAndConfig) {
  const ImportFile tagged = Read(
      R"({"ResourceTagMappingList":[{"ResourceARN":"arn:aws:s3:::prod-c","Tags":[
      {"Key":"service","Value":"shop"}]},{"ResourceARN":"arn:aws:ec2:eu-west-1:123456789012:nonsense/1"}]})",
      ImportDefaults{.service_tag = "service"});
  ASSERT_EQ(tagged.entries.size(), 2U);
  EXPECT_EQ(tagged.entries[0].service, "shop");
  EXPECT_EQ(tagged.entries[0].parts, (Parts{{"name", "prod-c"}}));
  EXPECT_NE(tagged.entries[1].problem, "");
  const ImportFile config =
      Read(R"({"Results":["{\"resourceType\":\"AWS::DynamoDB::Table\",\"resourceName\":\"orders\",)"
           R"(\"awsRegion\":\"eu-west-1\",\"accountId\":\"123456789012\"}"]})");
  ASSERT_EQ(config.entries.size(), 1U);
  EXPECT_EQ(config.entries[0].type, "dynamodb/Table");
  EXPECT_EQ(config.entries[0].problem, "");
  const ImportFile plain =
      Read(R"({"resourceIdentifiers":[{"resourceType":"AWS::SQS::Queue","resourceId":"q"}]})");
  EXPECT_NE(plain.entries.at(0).problem, "");  // no account
}

TEST(Csv, WithHeader) {
  const ImportFile file = Read(
      "\xEF\xBB\xBFtype,name,account,region,service,address\r\n"
      "s3/Bucket,prod-d,,,\"a, \"\"b\"\"\",\"two\nlines\"\r\n"
      "\r\nsqs/Queue,jobs,123456789012,eu-west-1,,\r\n"
      "no/Type,x,,,,");
  ASSERT_EQ(file.entries.size(), 3U);
  EXPECT_EQ(file.entries[0].service, "a, \"b\"");
  EXPECT_EQ(file.entries[1].parts, (Parts{{"name", "jobs"}}));
  EXPECT_EQ(file.entries[1].address, "sqs/Queue/jobs");
  EXPECT_NE(file.entries[2].problem, "");
  const ImportFile keyed = Read(
      "type,key,state,root\nec2/SecurityGroup,"
      "ec2%2Fsecurity-group|aws|123456789012|eu-west-1|vpcId=vpc-1|name=a%20b,imported,x\n");
  EXPECT_EQ(keyed.entries.at(0).parts, (Parts{{"vpcId", "vpc-1"}, {"name", "a b"}}));
  EXPECT_EQ(keyed.entries.at(0).account, kAccount);
}

// By columns for its parts, and none where there is one of it in an account.
TEST(Csv, NamesEveryType) {
  for (const TypeSpec& spec : Catalogue::BuiltIn().types()) {
    std::string head = "type,account,region";
    std::string row = spec.name + ",123456789012,eu-west-1";
    Parts parts;
    for (const auto& part : spec.parts) {
      head += ",part:" + part.name;
      row += ",v-" + part.name;
      parts[part.name] = "v-" + part.name;
    }
    const ImportFile file = Read(head + "\n" + row + "\n");
    ASSERT_EQ(file.entries.size(), 1U) << spec.name;
    EXPECT_EQ(file.entries[0].parts, parts) << spec.name;
    EXPECT_EQ(file.entries[0].problem, "") << spec.name;
  }
}

TEST(Csv, WhatWasOnlyReservedIsNoResource) {
  const ImportFile file = Read(
      "type,name,state,until\n"
      "s3/Bucket,a,imported,\n"
      "s3/Bucket,b,imported,2026-11-29T10:00:00Z\n");
  ASSERT_EQ(file.entries.size(), 2U);
  EXPECT_EQ(file.entries[0].problem, "");
  EXPECT_EQ(file.entries[1].problem, "it was only reserved");
}

TEST(Csv, ABadLineIsAProblemOfItsOwn) {
  const ImportFile file = Read(
      "type,name,service\n"
      "s3/Bucket,a,one\n"
      "s3/Bucket,b\n"
      "s3/Bucket,c\"d,two\n"
      "s3/Bucket,\"e,two\n"
      "s3/Bucket,\"f\",two\n"
      "s3/Bucket,\"g\"h,two\n"
      "s3/Bucket,i,\"x\ny\"\n"
      "s3/Bucket,j,two\n");
  std::vector<std::string> told;
  for (const ImportEntry& each : file.entries) told.push_back(each.address + ": " + each.problem);
  EXPECT_EQ(told, (std::vector<std::string>{
                      "s3/Bucket/a: ", "line 3: 2 cells instead of 3",
                      "line 4: a quote inside a cell", "line 5: text behind a closing quote",
                      "s3/Bucket/f: ", "line 7: text behind a closing quote",
                      "s3/Bucket/i: its service is no line of text", "s3/Bucket/j: "}));
  EXPECT_EQ(Read("type,name\ns3/Bucket,a\ns3/Bucket,\"b\n").entries.at(1).problem,
            "a quote is not closed");
  EXPECT_EQ(Read("type,name\ns3/Bucket," + std::string(1025, 'a')).entries.at(0).problem,
            "its name is no line of text");
}

// The tags of Crossplane's providers, ACK's controllers and CloudFormation; then the configured
// one.
TEST(AwsLists, TagsTellTheDeclarer) {
  const auto address = [](const std::string& tags) {
    const ImportFile file =
        Read(R"({"ResourceTagMappingList":[{"ResourceARN":"arn:aws:s3:::prod-a","Tags":[)" + tags +
                 "]}]}",
             ImportDefaults{.declarer_tag = "terraform"});
    return file.entries.size() == 1 ? file.entries.front().address : "";
  };
  const auto tag = [](const std::string& key, const std::string& value) {
    return R"({"Key":")" + key + R"(","Value":")" + value + R"("})";
  };
  const std::string crossplane = tag("crossplane-kind", "bucket.s3.aws.upbound.io") + "," +
                                 tag("crossplane-name", "prod-a-x7k2q");
  EXPECT_EQ(address(crossplane), "Crossplane bucket.s3.aws.upbound.io/prod-a-x7k2q");
  EXPECT_EQ(address(tag("crossplane-name", "x")), "Crossplane x");
  EXPECT_EQ(address(tag("services.k8s.aws/namespace", "team-a")), "ACK namespace team-a");
  EXPECT_EQ(address(tag("aws:cloudformation:stack-name", "base") + "," +
                    tag("aws:cloudformation:logical-id", "Logs")),
            "CloudFormation base/Logs");
  EXPECT_EQ(address(tag("terraform", "network/logs")), "network/logs");
  EXPECT_EQ(address(tag("terraform", "network/logs") + "," + crossplane),
            "Crossplane bucket.s3.aws.upbound.io/prod-a-x7k2q");
  EXPECT_EQ(address(tag("team", "payments")), "arn:aws:s3:::prod-a");
}

// A plan says what will be: it is asked about before the apply, and its state imported after it.
TEST(BadLists, APlanIsNoState) {
  EXPECT_EQ(ErrorOf(R"({"format_version":"1.2","planned_values":{},"resource_changes":[]})")
                .rfind("it is a plan", 0),
            0U);
}

TEST(BadLists, AreRefusedWithTheirPlace) {
  EXPECT_EQ(ErrorOf(""), "the file is of no known format; name it with --format");
  EXPECT_EQ(ErrorOf("[1]"), "the file is of no known format; name it with --format");
  EXPECT_EQ(ErrorOf("{\"a\":1}"), "the file is of no known format; name it with --format");
  EXPECT_EQ(ErrorOf("type,wrong\n").rfind("line 1: unknown column", 0), 0U);
  EXPECT_EQ(ErrorOf("name\nx\n"), "line 1: the header has neither \"type\" nor \"arn\"");
  EXPECT_EQ(ErrorOf("type,type\n"), "line 1: a column appears twice");
  EXPECT_EQ(ErrorOf("{\"format_version\":\"1.0\"} x"), "the file is not a JSON object");
  EXPECT_NE(ErrorOf("{\"format_version\":\"1.0\"}"), "");
  EXPECT_NE(ErrorOf("{\"version\":3,\"terraform_version\":\"0.11\"}"), "");
  EXPECT_NE(ErrorOf("{\"StackResources\":[1]}"), "");
  EXPECT_NE(ErrorOf("{\"StackResources\":" + std::string(100'000, '[')), "");
}

}  // namespace import_list_test
}  // namespace truce
