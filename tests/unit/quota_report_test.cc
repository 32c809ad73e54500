// How far quotas are used, as people, programs and Prometheus see it; AWS's defaults as data.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "policies/aws_quotas.h"
#include "registry/catalogue/catalogue.h"
#include "registry/ownership/rows.h"
#include "tests/support/memory_store.h"
#include "tests/support/store_samples.h"
#include "webhook/findings/texts/report_quotas.h"

namespace truce::testing {
namespace quota_report_test {

class QuotaReports : public ::testing::Test {
 protected:
  QuotaReports() {
    Changes changes;
    for (int i = 0; i < 5; ++i) {
      Owner owner = SampleOwner("b" + std::to_string(i), "u1");
      owner.root.ns = i < 4 ? "team-a" : "team-b";
      owner.identity.account = i < 2 ? "123456789012" : "";
      changes.put_owners.push_back(owner);
    }
    EXPECT_TRUE(Write(store_, changes).ok());
  }

  static Quotas Compiled(std::vector<Quota> quotas) {
    return Quotas::Compile(std::move(quotas), Catalogue::BuiltIn(), {}, SampleSlot("a").cluster)
        .value();
  }
  QuotaReport ReportOf(const Quotas& quotas, std::string_view ns = {}) const {
    QuotaReport report;
    const ReadFn look = [&](const AllFacts& facts) { report = ReportQuotas(quotas, facts, ns); };
    EXPECT_TRUE(store_.Read(look, Soon()).ok());
    return report;
  }

  MemoryStore store_;
};

TEST_F(QuotaReports, ShowEachSpotTheFullestFirst) {
  const Quotas quotas = Compiled({{.type = "s3/Bucket", .ns = "team-*", .max = 4},
                                  {.type = "s3/Bucket", .account = "*", .max = 100},
                                  {.type = "sqs/Queue", .ns = "team-z", .max = 9}});
  EXPECT_EQ(
      QuotaText(ReportOf(quotas)),
      "TYPE        WHERE                  USED    SHARE                          STATE   AWS "
      "DEFAULT\n"
      "s3/Bucket   namespace \"team-a\"     4/4     [####################] 100 %   full    "
      "10000 per account\n"
      "s3/Bucket   namespace \"team-b\"     1/4     [#####...............] 25 %    free    "
      "10000 per account\n"
      "s3/Bucket   account 123456789012   2/100   [#...................] 2 %     free    "
      "10000 per account\n"
      "sqs/Queue   namespace \"team-z\"     0/9     [....................] 0 %     free    -\n"
      "\n3 s3/Bucket count for no account, because theirs is not known: name the accounts of "
      "their ProviderConfigs (setting providerConfigs).\n");
  const QuotaReport of_one = ReportOf(quotas, "team-b");
  ASSERT_EQ(of_one.lines.size(), 1U);
  EXPECT_EQ(of_one.lines[0].used, 1U);
  ASSERT_EQ(of_one.uncounted.size(), 1U);
  EXPECT_EQ(of_one.uncounted[0].count, 1U);
}

TEST_F(QuotaReports, TellPrometheusOfTheFullestSpot) {
  const Quotas quotas = Compiled({{.type = "s3/Bucket", .ns = "team-*", .max = 4}});
  MetricWriter writer;
  const ReadFn look = [&](const AllFacts& facts) { WriteQuotaMetrics(quotas, facts, writer); };
  EXPECT_TRUE(store_.Read(look, Soon()).ok());
  const std::string text = std::move(writer).Take();
  const std::string labels = R"({type="s3/Bucket",quota="s3/Bucket in each namespace team-*"})";
  EXPECT_NE(text.find("truce_quota_used" + labels + " 4\n"), std::string::npos) << text;
  EXPECT_NE(text.find("truce_quota_max" + labels + " 4\n"), std::string::npos) << text;
}

TEST(AwsQuotas, EachRowIsOfATypeAndNamesItsSource) {
  ASSERT_GE(AwsQuotas().size(), 10U);
  std::string_view last;
  for (const AwsQuota& row : AwsQuotas()) {
    EXPECT_NE(Catalogue::BuiltIn().FindType(row.type), nullptr) << row.type;
    EXPECT_NE(row.type, last);
    EXPECT_GT(row.max, 0U);
    EXPECT_TRUE(row.source.starts_with("https://docs.aws.amazon.com/")) << row.source;
    EXPECT_TRUE(row.read.starts_with("20")) << row.read;
    last = row.type;
  }
  ASSERT_NE(AwsQuotaOf("s3/Bucket"), nullptr);
  EXPECT_EQ(AwsQuotaOf("s3/Bucket")->max, 10'000U);
  EXPECT_EQ(AwsQuotaOf("s3/Bucked"), nullptr);
}

}  // namespace quota_report_test
}  // namespace truce::testing
