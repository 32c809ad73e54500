// What becomes of a review's record: its line.
#include "webhook/serve/sinks.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/fake_clock.h"

namespace truce {
namespace sinks_test {

// The lines that the log has of `records`.
std::vector<nlohmann::json> LinesOf(const std::vector<ReviewRecord>& records) {
  const FakeClock clock(*ParseTimestamp("2026-11-21T12:00:00Z"));
  std::FILE* file = std::tmpfile();
  {
    Logger logger({.format = LogFormat::kJson, .file = ::fileno(file)}, clock);
    LogSink sink(logger);
    for (const ReviewRecord& record : records) sink.OnReview(record);
  }
  std::rewind(file);
  std::vector<nlohmann::json> out;
  std::array<char, 4096> line;
  while (std::fgets(line.data(), line.size(), file) != nullptr) {
    out.push_back(nlohmann::json::parse(line.data(), nullptr, false));
  }
  std::fclose(file);
  return out;
}

TEST(LogSink, OneLinePerReview) {
  std::vector<Finding> findings(3);
  findings[1].rule = Rule::kAwsName;
  ReviewRecord record;
  record.uid = "u-1";
  record.operation = "CREATE";
  record.group = "s3.aws.upbound.io";
  record.kind = "Bucket";
  record.ns = "team-a";
  record.name = "x";
  record.user = "alice";
  record.keys = "s3/Bucket|aws|||name=a";
  record.verdict = Verdict::kDenied;
  record.findings = findings;
  record.code = 403;
  record.elapsed = std::chrono::microseconds(120);
  ReviewRecord unknown = record;
  unknown.verdict = Verdict::kUnknown;
  unknown.unknown = UnknownCause::kStoreFull;
  unknown.code = 503;
  unknown.findings = {};
  const std::vector<nlohmann::json> lines = LinesOf({record, unknown});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["event"], "decision");
  EXPECT_EQ(lines[0]["level"], "info");
  EXPECT_EQ(lines[0]["kind"], "s3.aws.upbound.io/Bucket");
  EXPECT_EQ(lines[0]["slot"], "team-a/x");
  EXPECT_EQ(lines[0]["verdict"], "denied");
  EXPECT_EQ(lines[0]["code"], 403);
  EXPECT_EQ(lines[0]["latency_us"], 120);
  EXPECT_EQ(lines[0]["rules"], "duplicate-ownership,aws-name");
  EXPECT_EQ(lines[0]["keys"], "s3/Bucket|aws|||name=a");
  EXPECT_EQ(lines[1]["level"], "warning");
  EXPECT_EQ(lines[1]["cause"], "store_full");
  EXPECT_FALSE(lines[1].contains("rules"));
}

TEST(LogSink, OfRepetitionsEachDoublingIsTold) {
  std::vector<ReviewRecord> records;
  for (std::uint64_t i = 1; i <= 20; ++i) records.push_back({.repetition = i});
  std::vector<int> told;
  for (const nlohmann::json& line : LinesOf(records)) told.push_back(line.value("repetition", 1));
  EXPECT_EQ(told, (std::vector<int>{1, 2, 3, 4, 8, 16}));
}

TEST(ReviewMetrics, NamespacesAreBounded) {
  Metrics metrics({"1", {}});
  ReviewMetrics denials(metrics);
  const auto deny = [&](const std::string& ns, Verdict verdict = Verdict::kDenied) {
    ReviewRecord record;
    record.operation = "CREATE";
    record.ns = ns;
    record.verdict = verdict;
    denials.OnReview(record);
  };
  deny("team-a");
  deny("team-a");
  deny("");
  deny("team-b", Verdict::kAllowed);
  for (int i = 0; i < 1000; ++i) deny("made-up-" + std::to_string(i));
  MetricWriter writer;
  denials.WriteMetrics(writer);
  const std::string text = std::move(writer).Take();
  EXPECT_NE(text.find("truce_denials_total{object_namespace=\"team-a\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("truce_denials_total{object_namespace=\"\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("truce_denials_total{object_namespace=\"other\"} 802\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("team-b"), std::string::npos);
}

}  // namespace sinks_test
}  // namespace truce
