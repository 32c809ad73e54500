// What every rule says, as kubectl and Argo CD show it: one file a rule in texts/, of its denials
// and warnings. A rule without samples does not compile. TRUCE_UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "policies/lifecycle/claim_rules.h"
#include "policies/lifecycle/composition_change.h"
#include "policies/lifecycle/restore_rules.h"
#include "policies/name_rules.h"
#include "policies/quotas.h"
#include "policies/rule_list.h"
#include "policies/rules.h"
#include "policies/sharing_rules.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/review.h"
#include "tests/support/golden.h"

namespace truce {
namespace every_rule_test {

bool IsAboutDeletions(Rule rule) {
  return rule == Rule::kDeletionProtection || rule == Rule::kRestoredDelete;
}

// Deletions and statuses have entries of their own.
std::string Denied(const Finding& finding) {
  std::string entry = "declarations";
  if (IsAboutDeletions(finding.rule)) entry = "deletions";
  if (finding.rule == Rule::kStatusNames) entry = "status";
  return "admission webhook \"" + entry + ".truce.dev\" denied the request: ";
}

std::string AsKubectl(const Finding& finding, const std::string& text) {
  const bool is_creation =
      !IsAboutDeletions(finding.rule) && finding.rule != Rule::kOrphaningUpdate &&
      finding.rule != Rule::kStatusNames && finding.rule != Rule::kRerolledNames &&
      finding.rule != Rule::kClaimTakeover;
  return std::string("Error from server (Forbidden): ") +
         (is_creation ? "error when creating \"files.yaml\": " : "") + Denied(finding) + text;
}

// Argo CD strips what kubectl puts in front, deletes Go's maps to the end of the line, and shows
// one line.
std::string AsArgoCd(const Finding& finding, const std::string& text) {
  std::string out = Denied(finding) + std::regex_replace(text, std::regex("map\\[.*\\]"), "");
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

struct Sample {
  std::string what;
  Finding finding;
};

// A bucket of team-a in another party's hands; an object of team-b that is judged.
class EveryRule : public testing::Test {
 protected:
  EveryRule() {
    holder_.identity = {"s3/Bucket", "aws", "", "us-west-2", {{"name", "prod-artifacts"}}};
    holder_.name = "prod-artifacts";
    holder_.key = {"s3/Bucket|aws|||name=prod-artifacts"};
    holder_.id = {"k3j5x7q2m4n6p"};
    holder_.root = {"prod-eu", "platform.example.org", "ObjectStorage", "team-a", "artifacts"};
    holder_.party = {"ns:prod-eu/team-a"};
    holder_.service = "service-a";
    holder_.contact = "team-a@example.org";
    holder_.since = now_ - std::chrono::hours{24};
    holder_.state = HolderState::kHeld;
    resource_.identity = holder_.identity;
    resource_.name = holder_.name;
    resource_.names = {{holder_.key, false}};
    object_.slot = {"prod-eu", "s3.aws.upbound.io", "Bucket", "", "files"};
    object_.service = "service-b";
    attachment_.identity = {
        "s3/BucketPolicy", "aws", "", "us-west-2", {{"bucket", "prod-artifacts"}}};
    attachment_.name = "prod-artifacts";
    share_.id = {"share"};
    share_.resource = holder_.id;
    share_.party = {"ns:prod-eu/team-b"};
    share_.level = ShareLevel::kAttach;
  }

  Wording Words() const {
    return {.disclosure = disclosure_,
            .public_url = "https://truce.example.org",
            .catalogue = &Catalogue::BuiltIn(),
            .object = &object_,
            .root = &object_.slot};
  }

  // `used` by team-b, below a share that ends in `left`; nothing: there is none.
  UseFacts Use(const DeclaredResource& used, std::optional<std::chrono::hours> left) {
    agreements_.clear();
    if (left) {
      share_.until = now_ + *left;
      agreements_.push_back(share_);
    }
    return {.use = &used,
            .holder = &holder_,
            .party = share_.party,
            .parties = &parties_,
            .agreements = agreements_,
            .existed = left.has_value(),
            .now = now_};
  }

  Finding Deletion(const std::vector<Agreement>& of, const std::vector<Row>& rows) const {
    return *DeletionProtection(
        {.owner = &holder_, .agreements = of, .rows = rows, .parties = &parties_, .now = now_},
        Words());
  }

  std::vector<Sample> Uses(const DeclaredResource& used,
                           std::optional<Finding> (*rule)(const UseFacts&, const Wording&)) {
    std::vector<Sample> out;
    out.push_back({"refused", *rule(Use(used, {}), Words())});
    out.push_back({"its share ends soon", *rule(Use(used, std::chrono::hours{24}), Words())});
    out.push_back({"its share has ended", *rule(Use(used, std::chrono::hours{-24}), Words())});
    disclosure_ = Disclosure::kTaken;
    out.push_back({"refused, disclosure taken", *rule(Use(used, {}), Words())});
    return out;
  }

  std::vector<Sample> Ownership() {
    Clash clash;
    clash.resource = resource_;
    clash.holder = holder_;
    Wording words = Words();
    const std::string name = OtherName(clash.resource, words);
    words.other_name = name;
    return {{"refused", DuplicateOwnership(clash, words)},
            {"perhaps another account's", PerhapsElsewhere(clash, Words())}};
  }

  std::vector<Sample> Rerolls() {
    const Finding refused = Ownership().front().finding;
    object_.slot = {"prod-eu", "platform.example.org", "XObjectStorage", "", "files-x7f2k"};
    return {{"refused", RerolledNames({&refused, "s3/Bucket", "Bucket"}, Words())}};
  }

  std::vector<Sample> Names() const {
    return {
        {"refused",
         AwsNameRefused(resource_, {"Prod_Artifacts", {"contains \"_\"", false}, "prod-artifacts"},
                        Words())},
        {"a caution",
         AwsNameRefused(resource_, {"prod.artifacts", {"contains \".\"", true}, "prod-artifacts"},
                        Words())}};
  }

  std::vector<Sample> Convention() const {
    const NamingFault fault{.part = "env",
                            .got = "production",
                            .expected = "be \"prod\" (from label env)",
                            .form = "{service}-{env}-{type}",
                            .suggestion = "service-b-prod-bucket"};
    return {
        {"refused", NameOutOfConvention(resource_, "service-b-production-bucket", fault, Words())}};
  }

  std::vector<Sample> Deletions() const {
    Agreement mark = share_;
    mark.kind = AgreementKind::kProtection;
    mark.reason = "invoices of ten years";
    Agreement lasting = share_;
    lasting.until.reset();
    Row observer;
    observer.root = {"prod-eu", "platform.example.org", "ObjectStorage", "team-b", "files"};
    observer.intent = Intent::kObserves;
    return {{"protected", Deletion({mark}, {})},
            {"shared", Deletion({lasting}, {})},
            {"observed", Deletion({}, {observer})}};
  }

  std::vector<Sample> Accounts() const {
    DeclaredResource queue = resource_;
    queue.identity = {"sqs/Queue", "aws", "111111111111", "eu-west-1", {{"name", "jobs"}}};
    queue.name = "jobs";
    const Slot root{"prod-eu", "platform.example.org", "Jobs", "team-b", "jobs"};
    Wording words = Words();
    words.root = &root;
    return {{"refused", *AccountOfOthers(queue, {{"111111111111", {"team-a"}}}, words)}};
  }

  static std::vector<Sample> FullQuotas() {
    const Quota per_team{.type = "s3/Bucket", .ns = "team-*", .max = 20};
    const Quota per_account{.type = "s3/Bucket", .account = "*", .max = 10'000};
    QuotaReached reached{.resource = "S3 bucket \"files\"",
                         .quota = &per_team,
                         .spot = {.ns = {"prod-eu", "team-b"}},
                         .used = 20};
    std::vector<Sample> out = {{"refused", *QuotaFull(reached)}};
    reached.used = 15;
    out.push_back({"nearly full", *QuotaFull(reached)});
    reached.quota = &per_account;
    reached.spot = {.account = "111111111111"};
    reached.used = 9'999;
    reached.added = 3;
    out.push_back({"three at once", *QuotaFull(reached)});
    out.push_back({"of no known account", NotCounted(reached.resource)});
    return out;
  }

  std::vector<Sample> Statuses() const {
    return {
        {"refused", StatusNameChanged({.field = "status.atProvider.arn", .user = "ann@example.org"},
                                      Words())}};
  }

  static CompositionCase ChangedComposition() {
    return {.composition = {"prod-eu", "apiextensions.crossplane.io", "Composition", "", "storage"},
            .requester = {},
            .change = {{"platform.example.org", "XObjectStorage"}, {"Bucket"}, true},
            .concerned = {.with_usage = 12, .unadopted = 3}};
  }

  // Of a claim of team-a whose composite was restored.
  std::vector<Sample> Restores(Rule rule) const {
    const Slot composite{"prod-eu", "platform.example.org", "XObjectStorage", "",
                         "artifacts-x7k2q"};
    ObjectFacts object;
    object.slot = rule == Rule::kOrphaningUpdate
                      ? composite
                      : Slot{"prod-eu", "s3.aws.upbound.io", "Bucket", "", "artifacts-x7k2q-9bc2v"};
    const Slot elder{"prod-eu", "s3.aws.upbound.io", "Bucket", "", "artifacts-x7k2q-h9smn"};
    Wording words = Words();
    words.object = &object;
    words.root = &holder_.root;
    if (rule == Rule::kOrphaningUpdate) return {{"refused", OrphaningUpdate(elder, words)}};
    if (rule == Rule::kRestoredTwin) return {{"refused", RestoredTwin(resource_, elder, words)}};
    return {{"refused", RestoredDelete(DeclaredInWords(resource_), composite, words)},
            {"nothing known of it", RestoredDelete("", std::nullopt, words)}};
  }

  // A claim of team-b that names the composite of holder_.
  std::vector<Sample> Bindings() const {
    const Slot composite{"prod-eu", "platform.example.org", "XObjectStorage", "",
                         "artifacts-x7k2q"};
    ObjectFacts claim;
    claim.slot = {"prod-eu", "platform.example.org", "ObjectStorage", "team-b", "files"};
    Wording words = Words();
    words.object = &claim;
    words.root = &claim.slot;
    const BoundElsewhere bound{.composite = composite,
                               .holder = holder_.root,
                               .service = holder_.service,
                               .owner = &holder_};
    std::vector<Sample> out = {{"refused", ClaimBinding(bound, words)}};
    words.disclosure = Disclosure::kService;
    out.push_back({"refused, disclosure service", ClaimBinding(bound, words)});
    words.disclosure = Disclosure::kTaken;
    out.push_back({"refused, disclosure taken", ClaimBinding(bound, words)});
    out.push_back({"the composite does not exist", CompositeMissing(composite, words)});
    return out;
  }

  std::vector<Sample> Takeovers() const {
    ObjectFacts composite;
    composite.slot = {"prod-eu", "platform.example.org", "XObjectStorage", "", "artifacts-x7k2q"};
    Wording words = Words();
    words.object = &composite;
    const Slot to{"prod-eu", "platform.example.org", "ObjectStorage", "team-b", "files"};
    return {{"refused",
             ClaimTakeover({.user = "ann@example.org", .from = holder_.root, .to = to}, words)},
            {"to no claim",
             ClaimTakeover({.user = "ann@example.org", .from = holder_.root, .to = {}}, words)}};
  }

  std::vector<Sample> SamplesOf(Rule rule) {
    const BadName bad{"s3/Bucket", "name", "prod\\u{200b}artifacts",
                      "contains U+200B (zero width space)"};
    DeclaredResource part = resource_;
    part.missing = {"spec.parameters.name is missing"};
    ObjectFacts object;
    switch (rule) {
      case Rule::kDuplicateOwnership: return Ownership();
      case Rule::kResourceName: return {{"refused", BadResourceName(bad, Mode::kEnforce, Words())}};
      case Rule::kReservationCap:
        return {{"refused", ReservationCapReached(
                                {ReservationLimit::kOld, {100, 1000}, "ann@example.org"}, Words())},
                {"too many in a minute",
                 ReservationCapReached({ReservationLimit::kYoung, {100, 1000}, "ann@example.org"},
                                       Words())}};
      case Rule::kUnclearDeclaration:
        object.resources = {resource_};
        object.name_finding = "external name is none of s3/Bucket: arn:aws:s3";
        return {{"a part is missing", UnclearDeclaration(part, Words())},
                {"the external name", UnclearName(object, Words())},
                {"kinds cannot be listed", PerhapsTaken(resource_, Words())}};
      case Rule::kForeignAttachment: return Uses(attachment_, &ForeignAttachment);
      case Rule::kAwsName: return Names();
      case Rule::kNamingConvention: return Convention();
      case Rule::kObserverWithoutShare: return Uses(resource_, &ObserverWithoutShare);
      case Rule::kDeletionProtection: return Deletions();
      case Rule::kStatusNames: return Statuses();
      case Rule::kAccountParty: return Accounts();
      case Rule::kRerolledNames: return Rerolls();
      case Rule::kQuota: return FullQuotas();
      case Rule::kCompositionChange:
        return {{"a Usage is dropped", UsageDropped(ChangedComposition())},
                {"restored objects", RestoredAtRisk(ChangedComposition())}};
      case Rule::kCompositeNotSeen: return {{"created", CompositeNotSeen(now_, Words())}};
      case Rule::kOrphaningUpdate:
      case Rule::kRestoredTwin:
      case Rule::kRestoredDelete: return Restores(rule);
      case Rule::kClaimBinding: return Bindings();
      case Rule::kClaimTakeover: return Takeovers();
    }
    return {};
  }

  const Timestamp now_ = *ParseTimestamp("2026-11-21T08:00:00Z");
  Owner holder_;
  DeclaredResource resource_;
  DeclaredResource attachment_;
  ObjectFacts object_;
  Agreement share_;
  std::vector<Agreement> agreements_;
  PartyRules parties_;
  Disclosure disclosure_ = Disclosure::kFull;
};

TEST_F(EveryRule, IsShownByKubectlAndArgoCd) {
  for (const RuleSpec& spec : RuleList()) {
    SCOPED_TRACE(spec.id);
    disclosure_ = Disclosure::kFull;
    const std::vector<Sample> samples = SamplesOf(spec.rule);
    ASSERT_FALSE(samples.empty());
    std::string shown = "rule " + std::string(spec.id) + ": " + std::string(spec.about) + "\n";
    for (const auto& [what, finding] : samples) {
      EXPECT_EQ(finding.rule, spec.rule);
      const std::vector<Finding> alone = {finding};
      const std::vector<std::string> warnings = Warnings(alone);
      ASSERT_EQ(warnings.size(), 1U);
      EXPECT_LE(warnings[0].size(), kWarningBytesMax);
      shown += "\n== " + what + "\n";
      if (finding.mode == Mode::kEnforce) {
        const std::string text = DenialText(alone);
        // The first line says it all: conditions and lists show no more.
        EXPECT_EQ(text.substr(0, text.find('\n')), finding.cause);
        EXPECT_TRUE(finding.cause.ends_with('.')) << finding.cause;
        shown += "-- kubectl\n" + AsKubectl(finding, text) + "\n-- Argo CD\n" +
                 AsArgoCd(finding, text) + "\n";
      }
      if (spec.rule == Rule::kReservationCap) continue;  // it never only warns
      shown += "-- kubectl, in mode warn\nWarning: " + warnings[0] + "\n";
    }
    ExpectGolden("texts/rule-" + std::string(spec.id) + ".txt", shown);
  }
}

}  // namespace every_rule_test
}  // namespace truce
