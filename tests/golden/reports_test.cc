// The reports of `truce baseline`, `truce conflicts` and `truce coverage`, word by word.
// TRUCE_UPDATE_GOLDEN=1 writes the files anew.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policies/suspensions.h"
#include "tests/support/golden.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/findings/conflicts.h"
#include "webhook/findings/coverage.h"
#include "webhook/findings/mute_book.h"
#include "webhook/findings/tag_war.h"
#include "webhook/findings/texts/finding_text.h"
#include "webhook/findings/texts/report_baseline.h"

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
    report_.findings = {{Severity::kCritical, 1}, {Severity::kWarning, 12}};
    report_.muted = 2;
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
  Expect("baseline.json", BaselineJson(report_, {}) + "\n");
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
  report_.findings.clear();
  report_.muted = 0;
  report_.conflicts.clear();
  report_.problems.clear();
  report_.complete = false;
  Expect("baseline-begun.txt", BaselineText(report_) + BaselineJunit(report_));
}

TEST_F(Reports, Coverage) {
  CoverageReport coverage;
  coverage.kinds = 131;
  coverage.protected_kinds = 120;
  const std::string no_rule =
      "The webhook's rules do not cover it: new declarations are found only by the watch, after "
      "they exist.";
  coverage.gaps = {
      {GapReason::kNoRule, "Bucket.s3.aws.upbound.io", no_rule, "Add it to the rules.", 1},
      {GapReason::kNoRule, "Queue.sqs.aws.upbound.io", no_rule, "Add it to the rules.", 7},
      {GapReason::kNoMapping, "Database.platform.example.org", "No mapping says what it declares.",
       "Add a rule for it to the setting mappings.", 3},
      {GapReason::kWarnsOnly, "glue/Job", "Conflicts are not denied.", "Set its mode.", 0}};
  Expect("coverage.txt", CoverageText(coverage, false));
  Expect("coverage-all.txt", CoverageText(coverage, true));
  Expect("coverage.json", CoverageJson(coverage, {}, {}) + "\n");
}

// The bucket's conflict, a war about it, and what a hostile name makes of a finding.
std::vector<LiveFinding> SomeFindings(const Conflict& bucket, const Conflict& queue) {
  std::vector<LiveFinding> findings = {FindingOf(bucket), FindingOf(queue)};
  findings[0].namespaces = {"team-a", "team-b"};
  findings[0].services = {"service-a", "service-b"};
  findings[1].namespaces = {"team-c"};
  LiveFinding missing;
  missing.detector = Detector::kWebhookConfiguration;
  missing.subject = "truce/missing";
  missing.mode = Mode::kEnforce;
  missing.resource = "webhook configuration \"truce\"";
  missing.cause = "There is no webhook configuration \"truce\": the API server asks Truce nothing.";
  missing.remedy = "Install it.";
  findings.push_back(missing);
  for (LiveFinding& finding : findings) {
    finding.id = FindingId(finding.detector, finding.subject);
    finding.first_seen = Time("2026-11-21T08:51:00Z");
    finding.last_seen = Time("2026-11-21T09:00:00Z");
  }
  SortForPeople(findings);
  return findings;
}

TEST_F(Reports, Findings) {
  const auto findings = SomeFindings(report_.conflicts[0], report_.conflicts[1]);
  Expect("findings.txt", FindingsText(findings, 0, false));
  Expect("findings-wide.txt", FindingsText(findings, 2, true));
  Expect("findings-none.txt", FindingsText({}, 0, false) + FindingsText({}, 1, false));
}

TEST_F(Reports, AFindingWithItsProof) {
  const auto findings = SomeFindings(report_.conflicts[0], report_.conflicts[1]);
  std::string text;
  for (const LiveFinding& finding : findings) text += FindingText(finding, std::nullopt) + "\n";
  Expect("finding-explained.txt", text);
  Mute mute = MuteOf(findings[1]);
  mute.until = Time("2026-11-28T18:00:00Z");
  mute.reason = "cut over\x1b[31m on Friday";
  mute.by = "alice (Kubernetes token) from 192.0.2.7";
  Expect("finding-muted.txt", FindingText(findings[1], mute));
  Expect("mutes.txt", MutesText({}) + MutesText(std::vector<Mute>{mute, MuteOf(findings[2])}));
}

}  // namespace reports_test
}  // namespace truce
