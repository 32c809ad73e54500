// The reports of `truce baseline`, `truce conflicts` and `truce coverage`, word by word.
// TRUCE_UPDATE_GOLDEN=1 writes the files anew.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/golden.h"
#include "webhook/api/cluster_json.h"
#include "webhook/findings/conflicts.h"
#include "webhook/findings/coverage.h"
#include "webhook/findings/report_baseline.h"
#include "webhook/findings/tag_war.h"

namespace truce {
namespace reports_test {

void Expect(const std::string& name, const std::string& text) {
  ExpectGolden("reports/" + name, text);
}

Timestamp Time(const char* text) { return *ParseTimestamp(text); }

// The bucket of team-a, also managed through a claim of team-b; and a queue with a hostile name.
class Reports : public testing::Test {
 protected:
  Reports() {
    Conflict bucket;
    bucket.owner.key = {"s3/Bucket|aws|||name=prod-artifacts"};
    bucket.owner.id = {"k3j5x7q2m4n6p"};
    bucket.owner.identity = {"s3/Bucket", "aws", "", "us-west-2", {{"name", "prod-artifacts"}}};
    bucket.owner.name = "prod-artifacts";
    bucket.owner.arn = "arn:aws:s3:::prod-artifacts";
    bucket.owner.service = "service-a";
    bucket.owner.contact = "team-a@example.org";
    bucket.owner.since = Time("2026-11-21T07:52:08Z");
    bucket.owner.state = HolderState::kHeld;
    bucket.owner.real = true;
    bucket.owner.contested = true;
    bucket.resource = "S3 bucket \"prod-artifacts\"";
    bucket.sides = {Side("team-a", "artifacts", "service-a", "2026-11-21T07:52:08Z"),
                    Side("team-b", "files", "service-b", "2026-11-21T08:50:26Z")};
    bucket.sides[0].incumbent = true;
    bucket.owner.root = bucket.sides[0].root;
    Conflict queue;
    queue.owner.key = {"sqs/Queue|aws|123456789012|eu-west-1|name=odd%3Cname"};
    queue.owner.id = {"aaaaaaaaaaaaa"};
    queue.owner.identity = {
        "sqs/Queue", "aws", "123456789012", "eu-west-1", {{"name", "odd<name"}}};
    queue.owner.name = "odd<name|&\"\x1b[31m";
    queue.owner.since = Time("2026-11-20T00:00:00Z");
    queue.resource = "SQS queue \"odd<name|&\\u{1b}[31m\"";
    for (const char* name : {"one", "two"}) {
      ConflictSide side;
      side.root = {"prod-eu", "sqs.aws.m.upbound.io", "Queue", "team-c", name};
      side.since = Time("2026-11-20T00:00:00Z");
      side.objects = {{.slot = side.root, .uid = {name}, .seen = true, .since = side.since}};
      queue.sides.push_back(side);
    }
    queue.sides[0].incumbent = true;
    queue.owner.root = queue.sides[0].root;
    report_.conflicts = {bucket, queue};
    TagWar war;
    war.key = bucket.owner.key;
    war.since = Time("2026-11-21T08:50:27Z");
    war.last = Time("2026-11-21T08:55:55Z");
    war.writes = 59;
    war.writes_per_minute = 10.76;
    report_.wars = {war};
    report_.cluster = "prod-eu";
    report_.complete = true;
    report_.at = Time("2026-11-21T09:00:00Z");
    report_.took = std::chrono::milliseconds(12345);
    report_.kinds = 131;
    report_.objects = 20000;
    report_.counts = {.owners = 18000,
                      .reserved = 1,
                      .held = 17990,
                      .orphaned = 8,
                      .imported = 1,
                      .conflicts = 2};
    report_.problems = {{"Topic.sns.aws.upbound.io", "403 | <forbidden>"}};
    report_.names = Names();
  }

  static NameReport Names() {
    NameReport names;
    names.at = Time("2026-11-21T09:00:00Z");
    names.convention = true;
    names.counts = {{{"payments", "s3/Bucket"}, {3, 1, 2}}, {{"", "sqs/Queue"}, {0, 0, 1}}};
    names.conforming = 3;
    names.exempt = 1;
    names.violating = 3;
    names.violations = {
        {"", "sqs/Queue", "Queue odd", "odd<name|", "aws-name", "enforce", "odd-name"},
        {"payments", "s3/Bucket", "Bucket a", "payments-production-bucket", "naming-convention",
         "audit", "payments-prod-bucket"}};
    names.uses = {{"foreign-attachment", "warn", "BucketPolicy theirs",
                   "This S3 bucket policy writes into S3 bucket \"a|b\", which is owned by <b>.",
                   "Ask the owner."}};
    names.problems = {{"Topic.sns.aws.upbound.io", "403 | <forbidden>"}};
    return names;
  }

  static ConflictSide Side(const std::string& ns, const std::string& name,
                           const std::string& service, const char* since) {
    ConflictSide side;
    side.root = {"prod-eu", "platform.example.org", "ObjectStorage", ns, name};
    side.service = service;
    side.since = Time(since);
    const Slot bucket{"prod-eu", "s3.aws.upbound.io", "Bucket", "", name + "-x7f2k-9qzlw"};
    side.objects = {{.slot = bucket, .uid = {name}, .seen = true, .since = side.since},
                    {.slot = side.root,
                     .uid = {name + "-claim"},
                     .seen = true,
                     .managed = false,
                     .since = side.since}};
    return side;
  }

  BaselineReport report_;
};

TEST_F(Reports, ConflictsText) {
  Expect("conflicts.txt", ConflictsText(report_.conflicts, report_.wars, false));
}

TEST_F(Reports, ConflictsWide) {
  Expect("conflicts-wide.txt", ConflictsText(report_.conflicts, report_.wars, true));
}

TEST_F(Reports, TheFindingOfAConflict) {
  const LiveFinding finding = FindingOf(report_.conflicts[0]);
  Expect("finding.txt", finding.cause + "\n" + finding.evidence + "\n" + finding.remedy + "\n");
}

TEST_F(Reports, Baseline) {
  Expect("baseline.txt", BaselineText(report_));
  Expect("baseline.xml", BaselineJunit(report_));
  Expect("baseline.md", BaselineMarkdown(report_));
  Expect("baseline.json", BaselineJson(report_) + "\n");
}

TEST_F(Reports, Names) {
  Expect("names.txt", NameReportText(*report_.names));
  Expect("names.json", NamesJson(*report_.names) + "\n");
  report_.names->violations.pop_back();
  report_.names->convention = false;
  Expect("names-cut.txt", NameReportText(*report_.names));
}

TEST_F(Reports, BaselineOfACleanCluster) {
  report_.names.reset();
  report_.conflicts.clear();
  report_.problems.clear();
  report_.complete = false;
  Expect("baseline-begun.txt", BaselineText(report_) + BaselineJunit(report_));
}

TEST_F(Reports, Coverage) {
  CoverageReport coverage;
  coverage.kinds = 131;
  coverage.protected_kinds = 120;
  coverage.gaps = {
      {GapReason::kNoRule, "Queue.sqs.aws.upbound.io", "The webhook's rules do not cover it.",
       "Add it to the rules.", 7},
      {GapReason::kNoMapping, "Database.platform.example.org", "No mapping says what it declares.",
       "Add a rule for it to the setting mappings.", 3},
      {GapReason::kWarnsOnly, "glue/Job", "Conflicts are not denied.", "Set its mode.", 0}};
  Expect("coverage.txt", CoverageText(coverage, false));
  Expect("coverage-all.txt", CoverageText(coverage, true));
  Expect("coverage.json", CoverageJson(coverage) + "\n");
}

}  // namespace reports_test
}  // namespace truce
