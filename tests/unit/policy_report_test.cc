// Findings as reports of other tools, and the keeping of those objects.
#include "webhook/findings/reports/policy_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/memory_cluster_api.h"
#include "webhook/findings/reports/report_keeper.h"

namespace truce {
namespace policy_report_test {

using nlohmann::json;

const ServedKind kReport{"wgpolicyk8s.io", "v1alpha2", "PolicyReport", "policyreports", true};
const ServedKind kClusterReport{"wgpolicyk8s.io", "v1alpha2", "ClusterPolicyReport",
                                "clusterpolicyreports", false};
const ServedKind kOpenReport{"openreports.io", "v1alpha1", "Report", "reports", true};
const ServedKind kOpenClusterReport{"openreports.io", "v1alpha1", "ClusterReport", "clusterreports",
                                    false};

LiveFinding FindingIn(std::vector<std::string> namespaces, Mode mode = Mode::kWarn) {
  LiveFinding finding;
  finding.detector = Detector::kOwnershipConflict;
  finding.mode = mode;
  finding.subject = "s3/Bucket|aws|||name=a";
  finding.resource = "S3 bucket \"a\"";
  finding.cause = "S3 bucket \"a\" is declared by team-a and team-b.";
  finding.remedy = "One of them gives it up.";
  finding.id = "abcdefghij";
  finding.evidence = "changes from look to look";
  finding.objects = {{"prod", "platform.example.org", "ObjectStorage", "team-a", "files"},
                     {"prod", "platform.example.org", "ObjectStorage", "team-b", "copy"}};
  finding.namespaces = std::move(namespaces);
  return finding;
}

ReportContext Context(bool discreet = false) {
  return {[](const GroupKind& kind) {
            return std::optional(ServedKind{kind.group, "v1", kind.kind, "x", true});
          },
          discreet};
}

TEST(ReportKinds, WhicheverIsServed) {
  EXPECT_FALSE(ReportKindsOf("", {}));
  EXPECT_FALSE(ReportKindsOf("", {kReport}));
  EXPECT_EQ(ReportKindsOf("", {kOpenReport, kOpenClusterReport})->namespaced, kOpenReport);
  const std::vector<ServedKind> both = {kOpenReport, kOpenClusterReport, kReport, kClusterReport};
  EXPECT_EQ(ReportKindsOf("", both)->cluster, kClusterReport);
  EXPECT_EQ(ReportKindsOf("openreports.io", both)->cluster, kOpenClusterReport);
  EXPECT_FALSE(ReportKindsOf("openreports.io", {kReport, kClusterReport}));
}

TEST(PolicyReport, EachNamespaceHasItsOwn) {
  const auto reports =
      ReportsOf({FindingIn({"team-a", "team-b"}), FindingIn({}, Mode::kEnforce)}, Context());
  ASSERT_EQ(reports.size(), 3U);
  const json of_a = json::parse(reports.at("team-a"));
  ASSERT_EQ(of_a["results"].size(), 1U);
  const json& result = of_a["results"][0];
  EXPECT_EQ(result["source"], "Truce");
  EXPECT_EQ(result["policy"], "ownership-conflict");
  EXPECT_EQ(result["result"], "warn");
  EXPECT_EQ(result["severity"], "medium");
  EXPECT_EQ(result["resources"],
            json::parse(R"([{"apiVersion":"platform.example.org/v1","kind":"ObjectStorage",
                             "namespace":"team-a","name":"files"}])"));
  EXPECT_EQ(reports.at("team-a").find("look to look"), std::string::npos);
  EXPECT_EQ(of_a["summary"]["warn"], 1);
  const json of_cluster = json::parse(reports.at(""));
  EXPECT_EQ(of_cluster["results"][0]["result"], "fail");
  EXPECT_EQ(of_cluster["results"][0]["severity"], "high");
  EXPECT_EQ(of_cluster["summary"]["fail"], 1);
}

// I8.
TEST(PolicyReport, BelowFullDisclosureNoOtherOwnerIsNamed) {
  const auto reports = ReportsOf({FindingIn({"team-a", "team-b"})}, Context(true));
  EXPECT_EQ(reports.at("team-a").find("team-b"), std::string::npos) << reports.at("team-a");
  EXPECT_EQ(reports.at("team-b").find("team-a"), std::string::npos) << reports.at("team-b");
}

TEST(PolicyReport, IsBoundedAndTellsTheWorst) {
  std::vector<LiveFinding> findings(kReportResultsMax + 20, FindingIn({"team-a"}));
  findings.push_back(FindingIn({"team-a"}, Mode::kEnforce));
  for (int i = 0; i < 600; ++i) findings.push_back(FindingIn({"x-" + std::to_string(i)}));
  const auto reports = ReportsOf(findings, Context());
  EXPECT_EQ(reports.size(), kReportNamespacesMax + 1);
  const json of_a = json::parse(reports.at("team-a"));
  EXPECT_EQ(of_a["results"].size(), kReportResultsMax + 1);
  EXPECT_EQ(of_a["results"][0]["result"], "fail");
  EXPECT_EQ(of_a["results"].back()["message"],
            "21 further findings are not shown here; `truce findings` lists all.");
  EXPECT_EQ(of_a["summary"]["skip"], 1);
  EXPECT_NE(reports.at("").find("101 further namespaces"), std::string::npos) << reports.at("");
}

Deadline Soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }

TEST(ReportKeeper, WritesWhatDiffersAndDeletesWhatIsOver) {
  MemoryClusterApi api;
  ReportKeeper keeper(api, {.every = std::chrono::milliseconds(1)});
  const ReportKinds kinds{kReport, kClusterReport};
  const auto keep = [&](std::map<std::string, std::string> reports) {
    keeper.Keep(kinds, std::move(reports));
    ASSERT_TRUE(keeper.Flush(Soon()));
  };
  const std::string some = R"({"results":[{"policy":"a"}],"summary":{"warn":1}})";
  const std::string none = R"({"results":[],"summary":{"warn":0}})";
  keep({{"", none}, {"team-a", some}});
  const json written = json::parse(api.Object(kReport, "team-a", "truce"));
  EXPECT_EQ(written["results"][0]["policy"], "a");
  EXPECT_EQ(written["metadata"]["labels"]["app.kubernetes.io/managed-by"], "truce");
  const auto writes = api.writes();
  keep({{"", none}, {"team-a", some}});
  EXPECT_EQ(api.writes(), writes);
  keep({{"", none}, {"team-a", none}});
  EXPECT_EQ(json::parse(api.Object(kReport, "team-a", "truce"))["results"].size(), 0U);
  keep({{"", none}});
  EXPECT_EQ(api.Object(kReport, "team-a", "truce"), "");
  EXPECT_NE(api.Object(kClusterReport, "", "truce"), "");
}

TEST(ReportKeeper, TriesAgainAndTellsOnceOfTrouble) {
  MemoryClusterApi api;
  std::atomic<int> failures{3};
  std::atomic<int> told{0};
  api.SetFault([&](std::string_view verb, std::string_view) -> std::optional<ApiError> {
    if (verb != "patch" || failures-- <= 0) return std::nullopt;
    return ApiError{ApiErrorKind::kForbidden, 403, "forbidden", std::nullopt};
  });
  ReportKeeper keeper(api, {.every = std::chrono::milliseconds(1),
                            .on_trouble = [&](const std::string&) { ++told; }});
  keeper.Keep(ReportKinds{kReport, kClusterReport}, {{"team-a", R"({"results":[]})"}});
  while (api.Object(kReport, "team-a", "truce").empty()) std::this_thread::yield();
  // The report is there before its round has ended, which tells that the trouble is over.
  ASSERT_TRUE(keeper.Flush(Soon()));
  keeper.Stop();
  EXPECT_EQ(told, 2);
}

}  // namespace policy_report_test
}  // namespace truce
