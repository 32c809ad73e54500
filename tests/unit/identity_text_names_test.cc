// What a text names by itself: ARNs, URLs and ids, by the built-in catalogue.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "registry/identity/text_names.h"

namespace truce {
namespace identity_text_names_test {

TextNames Told(const std::string& text, const ResourceIdentity& place = {}) {
  return NamesInText(text, place, Catalogue::BuiltIn());
}

bool Has(const TextNames& told, const std::string& name, const std::string& account = "") {
  return std::find(told.names.begin(), told.names.end(), TextName{{name}, account}) !=
         told.names.end();
}

TEST(TextNamesTest, AddressesTellWhatTheyHold) {
  EXPECT_TRUE(Has(Told("arn:aws:s3:::logs"), "s3/Bucket|aws|||name=logs"));
  const std::string one = "111111111111";
  const std::string queue = "sqs/Queue|aws|" + one + "|us-east-1|name=jobs";
  EXPECT_TRUE(Has(Told("arn:aws:sqs:us-east-1:" + one + ":jobs"), queue, one));
  EXPECT_TRUE(Has(Told("https://sqs.us-east-1.amazonaws.com/" + one + "/jobs"), queue, one));
  EXPECT_TRUE(Has(Told("arn:aws:iam::" + one + ":role/path/Deployer"),
                  "iam/Role|aws|" + one + "||name=deployer", one))
      << "normalised";
  EXPECT_TRUE(Has(Told("arn:aws-cn:s3:::logs"), "s3/Bucket|aws-cn|||name=logs"));
  EXPECT_TRUE(Told("arn:aws:s3:::logs").recognised);
  const std::string place = ":us-east-1:" + one + ":";
  EXPECT_TRUE(Told("arn:aws:apprunner" + place + "service/x/1").recognised);
  EXPECT_FALSE(Told("arn:aws:nosuchservice" + place + "x").recognised);
}

TEST(TextNamesTest, AFunctionIsToldByEachOfItsForms) {
  const std::string one = "111111111111";
  const std::string name = "lambda/Function|aws|" + one + "|us-east-1|name=orders";
  ResourceIdentity place;
  place.region = "us-east-1";
  for (const std::string& before : {"arn:aws:lambda:us-east-1:" + one + ":function:",
                                    "us-east-1:" + one + ":function:", one + ":function:"}) {
    for (const char* after : {"", ":$LATEST", ":blue", ":7"}) {
      EXPECT_TRUE(Has(Told(before + "orders" + after, place), name, one)) << before << after;
    }
  }
}

TEST(TextNamesTest, APolicyOfAwsIsOneInNoAccount) {
  const std::string arn = "arn:aws:iam::aws:policy/service-role/AWSLambdaRole";
  const TextNames told = Told(arn);
  EXPECT_TRUE(told.recognised);
  EXPECT_TRUE(Has(told, "iam/Policy|aws|||@id=" + arn));
  EXPECT_EQ(told.names.size(), 1U);
}

TEST(TextNamesTest, IdsAreNamesInEachPartitionUntilTheRegionTellsIt) {
  const TextNames anywhere = Told("sg-0a1b2c3d");
  EXPECT_TRUE(Has(anywhere, "ec2/security-group|aws|||@id=sg-0a1b2c3d"));
  EXPECT_TRUE(Has(anywhere, "ec2/security-group|aws-cn|||@id=sg-0a1b2c3d"));
  ResourceIdentity place;
  place.region = "cn-north-1";
  const TextNames there = Told("sg-0a1b2c3d", place);
  EXPECT_FALSE(Has(there, "ec2/security-group|aws|||@id=sg-0a1b2c3d"));
  EXPECT_TRUE(Has(there, "ec2/security-group|aws-cn|||@id=sg-0a1b2c3d"));
}

TEST(TextNamesTest, WhatIsMissingIsSaid) {
  const std::string legacy = "https://queue.amazonaws.com/111111111111/jobs";
  const TextNames nowhere = Told(legacy);
  EXPECT_TRUE(nowhere.names.empty());
  EXPECT_TRUE(nowhere.lacks_region);
  ResourceIdentity place;
  place.region = "us-east-1";
  EXPECT_TRUE(
      Has(Told(legacy, place), "sqs/Queue|aws|111111111111|us-east-1|name=jobs", "111111111111"));
  place.account = "222222222222";
  EXPECT_TRUE(Told(legacy, place).names.empty()) << "of another account than is asked for";
}

TEST(TextNamesTest, OtherTextsTellNothing) {
  for (const char* text : {"", "arn:", "arn:aws:nosuchservice:::x", "https://example.org/x",
                           "arn:aws:s3:::", "jobs jobs"}) {
    EXPECT_TRUE(Told(text).names.empty()) << text;
  }
}

TEST(TextNamesTest, NamesOfTheRegistryAreToldByTheirShape) {
  const Catalogue& types = Catalogue::BuiltIn();
  for (const char* name :
       {"s3/Bucket|aws|||name=logs", "ec2/security-group|aws|||@id=sg-1",
        "sqs/Queue|aws|?local/aws.upbound.io/ProviderConfig//prod|us-east-1|name=jobs"}) {
    EXPECT_TRUE(IsNameOfRegistry(name, types)) << name;
  }
  for (const char* text : {"", "s3/Bucket", "s3/Bucket|aws||", "s3/Bucket||||name=x",
                           "s3/Nothing|aws|||name=x", "s3/Bucket|aws|12||name=x",
                           "s3/Bucket|aws|||name", "s3/Bucket|aws|||nme=x", "id:k3j5x7q2m4n6p"}) {
    EXPECT_FALSE(IsNameOfRegistry(text, types)) << text;
  }
  EXPECT_TRUE(IsRegion("eu-central-1") && IsRegion("us-gov-west-1"));
  EXPECT_FALSE(IsRegion("us-east1") || IsRegion("") || IsRegion("everywhere"));
}

}  // namespace identity_text_names_test
}  // namespace truce
