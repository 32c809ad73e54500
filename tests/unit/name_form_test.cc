// Forms of external names: the patterns, and what those of the built-in types read.
#include <gtest/gtest.h>

#include <string>

#include "registry/catalogue/catalogue.h"

namespace truce {
namespace name_form_test {

// "aws us-east-1 111122223333 @id name=value": what the reading says, in this order.
std::string InWords(const std::optional<NameReading>& reading) {
  if (!reading) return "-";
  std::string text;
  const auto add = [&text](std::string_view word) {
    if (word.empty()) return;
    text.append(text.empty() ? "" : " ").append(word);
  };
  add(reading->partition);
  add(reading->region);
  add(reading->account);
  add(reading->suffix);
  if (!reading->id.empty()) add("@" + std::string(reading->id));
  for (const auto& [part, value] : reading->parts) {
    add(std::string(part) + "=" + std::string(value));
  }
  return text.empty() ? "nothing" : text;
}

std::string Read(std::string_view form, std::string_view value) {
  return InWords(NameForm::Parse(form).value().Read(value));
}

TEST(NameForm, ReadsWhatItsPlaceholdersSay) {
  struct Row {
    const char* form;
    const char* value;
    const char* reading;
  };
  const Row rows[] = {
      {"{@id:sg-}", "sg-0a1b", "@sg-0a1b"},
      {"{@id:sg-}", "sg-0a1", "-"},
      {"{@id:sg-}", "sg-0a1b/x", "-"},
      {"{@id:sg-}", "sg-0123456789012345678901234567890123", "-"},
      {"{@id:db-4}", "db-ABCD", "@db-ABCD"},
      {"{@id:db-4}", "db-ABCDE", "-"},
      {"{@id:b-uuid}", "b-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
       "@b-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"},
      {"{@id:b-uuid}", "b-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8fz", "-"},
      {"{@id:region_}", "us-east-1_AbCdEfGhI", "@us-east-1_AbCdEfGhI"},
      {"{@id:region_}", "us-east_AbCdEfGhI", "-"},
      {"{@id:region_}", "us-east-1_AbC", "-"},
      {"{@id:region_}", "_AbCdEfGhI", "-"},
      {"a/{@id:region:uuid}", "a/us-east-1:0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
       "@us-east-1:0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"},
      {"{@id:region:uuid}", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", "-"},
      {"a:{name}", "a:b", "name=b"},
      {"a:{name}", "a:", "-"},
      {"a:{name}", "a:b/c", "-"},
      {"a:{name/}", "a:b/c:d", "name=b/c:d"},
      {"a:{name/}", "a:b c", "-"},
      {"a:{name/}", "a:b,c", "-"},
      {"{name}-??????", "prod-db-aB3xYz", "name=prod-db"},
      {"{name}-??????", "prod-aB3xY", "-"},
      {"{name}-??????", "-aB3xYz", "-"},
      {"{*}/{name}/{*}", "app/jobs/1", "name=jobs"},
      {"{*}/{name}/{*}", "app/jobs/1/2", "-"},
      {"r/{*/}{name}", "r/x", "name=x"},
      {"r/{*/}{name}", "r/a/b/x", "name=x"},
      {"r/{*/}{name}", "r/a/b/", "-"},
      {"{partition}:{region}:{account}", "aws-cn:cn-north-1:111122223333",
       "aws-cn cn-north-1 111122223333"},
      {"{partition}:{region}:{account}", "AWS:cn-north-1:111122223333", "-"},
      {"{partition}:{region}:{account}", "aws-:cn-north-1:111122223333", "-"},
      {"{partition}:{region}:{account}", "aws:cn-north:111122223333", "-"},
      {"{partition}:{region}:{account}", "aws:us-east-1:11112222333", "-"},
      {"{partition}:{region}:{account}", "aws:us-east-1:1111222233334", "-"},
      {"h.{suffix}/{name}", "h.amazonaws.com.cn/q", "amazonaws.com.cn name=q"},
      {"h.{suffix}/{name}", "h.amazonaws.com.evil/q", "-"},
      {"{name/}", "arn:aws:s3:::x", "-"},
      {"{name/}", "https://x/y", "-"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Read(row.form, row.value), row.reading) << row.form << " of " << row.value;
  }
  const std::string all_bytes(2048, '\xff');
  for (const char* form : {"{name/}", "{@id:sg-}", "r/{*/}{name}", "{name}-??????"}) {
    EXPECT_EQ(Read(form, ""), "-") << form;
    EXPECT_EQ(Read(form, all_bytes), "-") << form;
  }
}

TEST(NameForm, WhatCannotBeReadInOneWayIsNoForm) {
  for (const char* form : {"", "{name", "name}", "{na me}", "{}", "{@name}", "{name}{region}",
                           "{name}{*}x", "{*/}{name}/x", "{@id:db-99}"}) {
    EXPECT_FALSE(NameForm::Parse(form).ok()) << form;
  }
}

// What the forms of a built-in type say of a text: the first that fits counts.
std::string ReadAs(std::string_view type, std::string_view value) {
  const TypeSpec* spec = Catalogue::BuiltIn().FindType(type);
  if (spec == nullptr) return "no such type";
  for (const NameForm& form : spec->external_name) {
    if (const auto reading = form.Read(value)) return InWords(reading);
  }
  return "-";
}

TEST(NameFormData, TypesReadTheirNames) {
  struct Row {
    const char* type;
    const char* value;
    const char* reading;
  };
  const Row rows[] = {
      {"sqs/Queue", "https://sqs.us-east-1.amazonaws.com/111111111111/jobs",
       "us-east-1 111111111111 amazonaws.com name=jobs"},
      {"sqs/Queue", "https://us-east-1.queue.amazonaws.com/111111111111/jobs.fifo",
       "us-east-1 111111111111 amazonaws.com name=jobs.fifo"},
      {"sqs/Queue", "arn:aws:sqs:us-east-1:111111111111:jobs",
       "aws us-east-1 111111111111 name=jobs"},
      {"sqs/Queue", "arn:aws:sns:us-east-1:111111111111:jobs", "-"},
      {"sqs/Queue", "https://sqs.us-east-1.amazonaws.com/111111111111/jobs?x",
       "us-east-1 111111111111 amazonaws.com name=jobs?x"},
      {"sqs/Queue", "https://sqs.us-east-1.amazonaws.com/11111111111/jobs", "-"},
      {"sqs/Queue", "https://sqs.us-east-1.example.com/111111111111/jobs", "-"},
      {"sqs/Queue", "jobs", "-"},
      {"ec2/SecurityGroup", "sg-0a1b", "@sg-0a1b"},
      {"ec2/SecurityGroup", "arn:aws:ec2:us-east-1:111111111111:security-group/sg-0a1b",
       "aws us-east-1 111111111111 @sg-0a1b"},
      {"ec2/SecurityGroup", "my-group", "-"},
      {"ec2/VPC", "vpc-0a1b2c3d", "id=vpc-0a1b2c3d"},
      {"ec2/VPC", "arn:aws:ec2:us-east-1:111111111111:vpc/vpc-0a1b2c3d",
       "aws us-east-1 111111111111 id=vpc-0a1b2c3d"},
      {"secretsmanager/Secret",
       "arn:aws:secretsmanager:us-east-1:111111111111:secret:prod/db-aB3xYz",
       "aws us-east-1 111111111111 name=prod/db"},
      {"secretsmanager/Secret", "arn:aws:secretsmanager:us-east-1:111111111111:secret:db", "-"},
      {"iam/Role", "arn:aws:iam::111111111111:role/team/Writer", "aws 111111111111 name=Writer"},
      {"cloudwatchevents/Rule", "arn:aws:events:us-east-1:111111111111:rule/bus/nightly",
       "aws us-east-1 111111111111 eventBusName=bus name=nightly"},
      {"cloudwatchevents/Rule", "arn:aws:events:us-east-1:111111111111:rule/nightly",
       "aws us-east-1 111111111111 name=nightly"},
      {"elbv2/LB",
       "arn:aws:elasticloadbalancing:us-east-1:111111111111:loadbalancer/app/web/50dc6c495c0c9188",
       "aws us-east-1 111111111111 name=web"},
      {"rds/Instance", "db-ABCDEFGHIJKLMNOPQRSTUVWXYZ", "@db-ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
      {"rds/Instance", "prod", "name=prod"},
      {"s3/BucketPolicy", "artifacts", "bucket=artifacts"},
      {"route53/Zone", "Z2FDTNDATAQYW2", "id=Z2FDTNDATAQYW2"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(ReadAs(row.type, row.value), row.reading) << row.type << ": " << row.value;
  }
}

TEST(NameFormData, WhatHasAnIdOfItsOwnIsKeyedWithoutAccount) {
  const auto key_has_account = [](std::string_view type) {
    return Catalogue::BuiltIn().FindType(type)->KeyHasAccount();
  };
  EXPECT_FALSE(key_has_account("ec2/VPC"));
  EXPECT_FALSE(key_has_account("acm/Certificate")) << "its id is an ARN";
  EXPECT_TRUE(key_has_account("apigateway/RestAPI")) << "unique in its account and region";
  EXPECT_TRUE(key_has_account("kms/Key")) << "a multi-region key has one id in many regions";
  EXPECT_TRUE(key_has_account("ec2/SecurityGroup")) << "its fields are its key";
}

TEST(NameFormData, AFaultyRowSaysWhatIsWrong) {
  const std::string types =
      "type\tkinds\tscope\tcertainty\tparts\nx/Y\t@upjet\taccount\trule\tname\n";
  const auto error = [&](const std::string& names) {
    const auto parsed = Catalogue::Parse({types, "T"}, {names, "N"});
    return parsed.ok() ? "" : parsed.error().message;
  };
  const std::string head = "type\texternal_name\texample\tcounterexample\n";
  EXPECT_EQ(error(head + "x/Y\ta:{name}\ta:b\tb\n"), "");
  for (const auto& [row, problem] : {
           std::pair{
               "x/Y\ta:{id}\ta:b\tb\n",
               "T:2: external_name: {id} of \"a:{id}\" is neither a key part, which are name, "
               "nor a part of a type that names this one by a ref; write {*} for what is "
               "none"},
           std::pair{"x/Y\ta:{name}\tb\tb\n",
                     "N:2: example: \"b\" has none of the forms of column external_name, which "
                     "must stand before"},
           std::pair{"x/Y\ta:{name}\ta:b\ta:c\n",
                     "N:2: counterexample: \"a:c\" has one of the forms of column external_name, "
                     "which must stand before"},
           std::pair{
               "x/Y\ta:{name}\t-\ta:c\n",
               "N:2: example: a form is proved by a text that has it, and by one that has not"},
           std::pair{"x/Y\ta:{name\ta:b\tb\n",
                     "N:2: external_name: \"a:{name\": braces do not match"},
           std::pair{
               "x/Z\t-\t-\t-\n",
               "N:2: kinds: a new type needs the columns type, kinds, scope, certainty and parts"},
       }) {
    EXPECT_EQ(error(head + row), problem) << row;
  }
  const std::string researched =
      "type\tkinds\tscope\tcertainty\tparts\nx/Y\t@upjet\taccount\tresearched\tname\n";
  const auto missing = Catalogue::Parse({researched, "T"}, {head, "N"});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message,
            "N: x/Y has no row; write - as its external_name if nothing is known of it");
}

}  // namespace name_form_test
}  // namespace truce
