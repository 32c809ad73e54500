// The reports of `truce check`, word by word. TRUCE_UPDATE_GOLDEN=1 writes the files anew.
#include <gtest/gtest.h>

#include <string>

#include "policies/rule_list.h"
#include "tests/support/golden.h"
#include "webhook/check/answer.h"
#include "webhook/check/checker.h"
#include "webhook/check/rule_help.h"

namespace truce {
namespace check_reports_test {

void Expect(const std::string& name, const std::string& text) {
  ExpectGolden("checks/" + name, text);
}

constexpr const char* kInput = R"(---
# Source: my-srv/templates/storage.yaml
apiVersion: platform.example.org/v1alpha1
kind: ObjectStorage
metadata:
  name: my-key
spec:
  parameters:
    name: shared-bucket
---
# Source: my-srv/templates/bucket.yaml
apiVersion: s3.aws.upbound.io/v1beta2
kind: Bucket
metadata:
  name: mine
  annotations:
    crossplane.io/external-name: my-bucket
spec:
  forProvider: {region: eu-west-1}
---
apiVersion: s3.aws.m.upbound.io/v1beta1
kind: Bucket
metadata: {name: my-bucket}
spec:
  forProvider: {region: eu-west-1}
---
apiVersion: s3.aws.m.upbound.io/v1beta1
kind: Bucket
metadata: {name: 0123}
---
apiVersion: v1
kind: Secret
metadata: {name: never-sent}
)";

// What a registry answers to the four objects of the input that may declare something.
constexpr const char* kAnswer = R"({"verdict":"denied","items":[
{"object":{},"verdict":"denied","declares":[
  {"type":"s3/Bucket","name":"shared-bucket","key":"s3/Bucket|aws|||name=shared-bucket","intent":"deletes"}],
 "findings":[{"rule":"duplicate-ownership","mode":"enforce","resource":"S3 bucket \"shared-bucket\"",
  "cause":"S3 bucket \"shared-bucket\" is owned by service \"my-srv-one\" <a&b>.",
  "remedy":"Choose another name.","link":"https://truce.example.org/r/k3j5x7q2m4n6p",
  "key":"s3/Bucket|aws|||name=shared-bucket"}]},
{"object":{},"verdict":"allowed","declares":[
  {"type":"s3/Bucket","name":"my-bucket","key":"s3/Bucket|aws|||name=my-bucket","intent":"deletes"}],
 "findings":[{"rule":"naming-convention","mode":"warn","resource":"S3 bucket \"my-bucket\"",
  "cause":"S3 bucket \"my-bucket\" does not follow the naming convention.",
  "remedy":"Name it \"my-srv-prod-bucket\".","link":"","key":""}]},
{"object":{},"verdict":"denied","declares":[
  {"type":"s3/Bucket","name":"my-bucket","key":"s3/Bucket|aws|||name=my-bucket","intent":"deletes"}],
 "findings":[{"rule":"duplicate-ownership","mode":"enforce","resource":"S3 bucket \"my-bucket\"",
  "cause":"left out: the checker says it with places","remedy":"","link":"","key":"","sameCheck":1}]},
{"object":{},"verdict":"allowed","declares":[
  {"type":"s3/Bucket","name":"0123","key":"s3/Bucket|aws|||name=0123","intent":"deletes"}],
 "findings":[{"rule":"aws-name","mode":"audit","resource":"S3 bucket \"0123\"",
  "cause":"seen in audit only.","remedy":"","link":"","key":""}]}]})";

class ScriptedRegistry final : public CheckRegistry {
 public:
  explicit ScriptedRegistry(Result<std::string> answer) : answer_(std::move(answer)) {}

  std::string_view name() const override { return "https://truce.example.org"; }
  Result<std::string> Ask(const std::string& body) override {
    asked += body;
    return answer_;
  }

  std::string asked;

 private:
  Result<std::string> answer_;
};

class CheckReports : public testing::Test {
 protected:
  CheckReports() {
    const Catalogue& built_in = Catalogue::BuiltIn();
    policy_.catalogue = std::shared_ptr<const Catalogue>(std::shared_ptr<void>(), &built_in);
    policy_.identity.catalogue = &built_in;
    policy_.identity.cluster = "local";
  }

  CheckReport Check(CheckRegistry* registry, const std::string& input = kInput) {
    Checker checker({"team-b", ""}, policy_, registry, Timestamp{});
    std::size_t at = 0;
    ManifestReader reader(
        [&](char* buffer, std::size_t size) {
          const std::size_t count = std::min(size, input.size() - at);
          input.copy(buffer, count, at);
          at += count;
          return count;
        },
        "deploy.yaml");
    while (true) {
      Result<std::optional<Manifest>> manifest = reader.Next();
      EXPECT_TRUE(manifest.ok());
      if (!manifest.ok() || !manifest.value().has_value()) break;
      const Result<void> added = checker.Add(*manifest.value(), "deploy.yaml");
      EXPECT_TRUE(added.ok()) << added.error().message;
    }
    Result<CheckReport> report = checker.Finish();
    EXPECT_TRUE(report.ok());
    for (CheckFinding& each : report.value().findings) each.in_repository = each.location;
    return std::move(report).value();
  }

  AdmissionPolicy policy_;
};

TEST_F(CheckReports, OfARefusal) {
  ScriptedRegistry registry{std::string(kAnswer)};
  const CheckReport report = Check(&registry);
  EXPECT_EQ(VerdictOf(report), CheckVerdict::kRefused);
  EXPECT_EQ(registry.asked.find("never-sent"), std::string::npos);
  EXPECT_NE(registry.asked.find(R"("name":"0123")"), std::string::npos) << registry.asked;
  Expect("refused.txt", TextReport(report));
  Expect("refused.json", JsonReport(report));
  Expect("refused.xml", JunitReport(report));
  Expect("refused.sarif", SarifReport(report));
  Expect("refused-github.txt", GithubReport(report, CheckSeverity::kError));
  Expect("refused.md", MarkdownReport(report));
  Expect("refused-termination.txt", TerminationMessage(report));
}

TEST_F(CheckReports, WithoutTheRegistry) {
  ScriptedRegistry away{Error{ErrorCode::kUnavailable, "connection refused (5 attempts)"}};
  const std::string one = std::string(kInput).substr(0, std::string(kInput).find("apiVersion: s3"));
  const CheckReport unknown = Check(&away, one);
  EXPECT_EQ(VerdictOf(unknown), CheckVerdict::kUnknown);
  Expect("unknown.txt", TextReport(unknown) + TerminationMessage(unknown));
  Expect("unknown.xml", JunitReport(unknown));
  Expect("unknown.sarif", SarifReport(unknown));
  Expect("unknown-github.txt", GithubReport(unknown, CheckSeverity::kWarning));
  Expect("unknown.md", MarkdownReport(unknown));
  // The input against itself needs nobody.
  EXPECT_EQ(VerdictOf(Check(&away)), CheckVerdict::kRefused);
  Expect("offline.txt", TextReport(Check(nullptr)));
}

TEST_F(CheckReports, AnswersOfSomethingElse) {
  for (const char* answer : {"", "[]", "{}", R"({"items":[]})", R"({"items":[1,2,3,4]})",
                             R"({"items":[{},{},{},{}]})", "<html>"}) {
    ScriptedRegistry registry{std::string(answer)};
    const CheckReport report = Check(&registry);
    EXPECT_NE(report.unreachable.find("not a check report"), std::string::npos) << answer;
  }
}

TEST_F(CheckReports, TerminationMessageIsBounded) {
  CheckReport report;
  for (int i = 0; i < 100; ++i) {
    CheckFinding finding;
    finding.location.file = "f";
    finding.cause = std::string(400, 'x');
    report.findings.push_back(finding);
  }
  const std::string message = TerminationMessage(report);
  EXPECT_LE(message.size(), 4096U);
  EXPECT_GT(message.size(), 3000U);
  EXPECT_TRUE(message.starts_with("truce check: refused: xxx"));
}

TEST_F(CheckReports, ACommentIsBoundedAndHoldsTextOnly) {
  CheckReport report;
  for (int i = 0; i < 100; ++i) {
    CheckFinding finding;
    finding.location.file = "f.yaml";
    finding.rule = "duplicate-ownership";
    finding.cause = "@team |x| <img> # `truce share` " + std::string(3000, 'x');
    report.findings.push_back(finding);
  }
  const std::string text = MarkdownReport(report);
  EXPECT_LE(text.size(), 65536U);
  EXPECT_NE(text.find("do not fit into a comment"), std::string::npos);
  EXPECT_NE(text.find("@<!-- -->team \\|x\\| \\<img\\> #<!-- --> `truce share` "),
            std::string::npos)
      << text.substr(0, 500);
}

TEST_F(CheckReports, ACommandOfGithubIsOneLine) {
  CheckReport report;
  CheckFinding finding;
  finding.in_repository = {"a,b:c.yaml", "", {3, 4}};
  finding.rule = "input";
  finding.cause = "100 %\n::error::not mine";
  report.findings.push_back(finding);
  const std::string text = GithubReport(report, CheckSeverity::kError);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "::error file=a%2Cb%3Ac.yaml,line=3,col=4,title=truce check (input)::"
            "100 %25%0A::error::not mine");
}

TEST_F(CheckReports, EveryRuleHasHelp) {
  for (const RuleSpec& spec : RuleList()) {
    const RuleHelp help = HelpOf(spec.id);
    EXPECT_EQ(help.about, spec.about);
    EXPECT_FALSE(help.why.empty() || help.help.empty()) << spec.id;
  }
  EXPECT_EQ(HelpOf("of-a-later-server").help, "Read the text of the finding.");
}

}  // namespace check_reports_test
}  // namespace truce
