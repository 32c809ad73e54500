// The naming report: what counts as conforming, exempt and violating, and which names it proposes.
#include "webhook/findings/name_census.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/policy_of.h"
#include "webhook/wire/json_reader.h"

namespace truce {
namespace name_census_test {

void AddBucket(NameCensus& census, const std::string& object, const std::string& name,
               const std::string& service) {
  JsonReader reader;
  const auto document = reader.Read(
      R"({"apiVersion": "s3.aws.upbound.io/v1beta1", "kind": "Bucket", "metadata": {"name": ")" +
      object + R"(", "uid": "uid-)" + object + R"(", "labels": {"app.kubernetes.io/part-of": ")" +
      service + R"("}, "annotations": {"crossplane.io/external-name": ")" + name +
      R"("}}, "spec": {"forProvider": {"region": "eu-west-1"}}})");
  ASSERT_TRUE(document.ok()) << document.error().message;
  census.Add(document.value().root(), {"s3.aws.upbound.io", "Bucket"});
}

TEST(NameCensus, CountsPerServiceAndType) {
  NameCensus census(
      PolicyOf("rules: {naming-convention: {mode: audit}}\n"
               "exemptions: [{rule: naming-convention, name: \"old-*\", reason: r}]\n"),
      {});
  AddBucket(census, "a", "payments-prod-bucket", "payments");
  AddBucket(census, "a2", "payments-prod-bucket", "payments");  // the same resource
  AddBucket(census, "b", "payments-production-bucket", "payments");
  AddBucket(census, "c", "old-files", "payments");
  AddBucket(census, "d", "Orders_Prod", "orders");
  census.AddProblem({"Queue.sqs.aws.upbound.io", "forbidden"});
  const NameReport report = census.Take();
  EXPECT_EQ(report.counts.at({"payments", "s3/Bucket"}), (NameCounts{1, 1, 1}));
  EXPECT_EQ(report.counts.at({"orders", "s3/Bucket"}), (NameCounts{0, 0, 1}));
  ASSERT_EQ(report.violations.size(), 2U);
  EXPECT_EQ(report.violations[1].name, "payments-production-bucket");
  EXPECT_EQ(report.violations[1].better, "payments-prod-bucket");
  EXPECT_EQ(report.violations[1].rule, "naming-convention");
  EXPECT_EQ(report.violations[1].mode, "audit");
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_EQ(report.problems[0].problem, "forbidden");
}

TEST(NameCensus, WithoutAConventionAwsAloneSpeaks) {
  NameCensus census(PolicyOf("mode: warn\n"), {});
  AddBucket(census, "a", "anything", "payments");
  AddBucket(census, "b", "Not_A_Bucket", "payments");
  const NameReport report = census.Take();
  EXPECT_EQ(report.counts.at({"payments", "s3/Bucket"}), (NameCounts{1, 0, 1}));
  ASSERT_EQ(report.violations.size(), 1U);
  EXPECT_EQ(report.violations[0].rule, "aws-name");
  EXPECT_EQ(report.violations[0].better, "not-a-bucket");
}

}  // namespace name_census_test
}  // namespace truce
