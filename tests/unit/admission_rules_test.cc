// Rules about names and attachments on the way of a review: what is refused, what never is, and
// that a refusal writes nothing.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "registry/ownership/rows.h"
#include "tests/support/admission_fixture.h"

namespace truce {
namespace admission_rules_test {

class AdmissionRulesTest : public AdmissionFixture {
 protected:
  // Names are judged; the convention is on in `mode`.
  void JudgeNames(Mode mode) {
    ChangePolicy([&](AdmissionPolicy& policy) {
      auto names = std::make_shared<NamePolicy>();
      names->aws = std::make_shared<const AwsNames>(
          AwsNames::Compile(*policy.catalogue, BuiltInAwsNames()).value());
      if (mode != Mode::kOff) {
        names->convention.emplace(
            NamingConvention::Compile({}, *policy.catalogue, names->aws).value());
      }
      policy.names = std::move(names);
      auto& entries = policy.modes.rules[static_cast<std::size_t>(Rule::kNamingConvention)];
      entries = {{mode, {}, {}, {}, "truce.yaml:1"}};
    });
  }

  // A policy of the bucket `bucket`, in `ns` (a namespaced kind) or cluster-scoped.
  static Sent Policy(const std::string& name, const std::string& bucket, const std::string& ns) {
    Sent sent = Managed("s3", "BucketPolicy", name,
                        R"({"region":"us-west-2","bucket":")" + bucket + R"(","policy":"{}"})");
    if (!ns.empty()) {
      sent.group = "s3.aws.m.upbound.io";
      sent.ns = ns;
    }
    return sent;
  }

  void KnowAccounts() {
    ChangePolicy([](AdmissionPolicy& policy) {
      policy.identity.accounts = {
          {{"aws.m.upbound.io", "ClusterProviderConfig", "", "prod"}, "111111111111"},
          {{"aws.crossplane.io", "ProviderConfig", "", "prod"}, "111111111111"},
          {{"aws.crossplane.io", "ProviderConfig", "", "other"}, "222222222222"}};
    });
  }

  // A namespaced object of `ns` in us-east-1 of the account 111111111111, each time another one.
  Sent Here(const std::string& ns, const std::string& service, const std::string& kind,
            const std::string& name, const std::string& fields) {
    Sent sent = Managed(service, kind, name, R"({"region":"us-east-1")" + fields + "}");
    sent.group = service + ".aws.m.upbound.io";
    sent.ns = ns;
    sent.review = "review-" + std::to_string(++sent_);
    sent.uid = "uid-" + std::to_string(sent_);
    return sent;
  }
  int sent_ = 0;

  static Sent BucketIn(const std::string& ns, const std::string& name) {
    return BucketIn(ns, name, name);
  }
  static Sent BucketIn(const std::string& ns, const std::string& object, const std::string& name) {
    Sent sent = Bucket(object, name);
    sent.group = "s3.aws.m.upbound.io";
    sent.ns = ns;
    return sent;
  }
  // Another life of the object, as `kubectl replace --force` makes one.
  static Sent Anew(Sent sent) {
    sent.uid += "-anew";
    sent.review += "-anew";
    return sent;
  }
  // Composites of the claims declare their bucket, too.
  void MapComposites() {
    ChangePolicy([](AdmissionPolicy& policy) {
      std::vector<MappingRule> rules;
      for (const char* kind : {"ObjectStorage", "XObjectStorage"}) {
        MappingRule& rule = rules.emplace_back();
        rule.kind = {"platform.example.org", kind};
        MappedResource& bucket = rule.declares.emplace_back();
        bucket.type = "s3/Bucket";
        PartSource& name =
            bucket.parts[policy.catalogue->FindType("s3/Bucket")->parts.front().name];
        name.path = FieldPath::Parse("spec.parameters.name", FieldPath::Root::kObject).value();
      }
      policy.identity.mappings = MappingRules::Create(std::move(rules), *policy.catalogue).value();
    });
  }
  // Nothing declares the only resource any more; whose it is, and for whom, `record` says.
  void LeaveOrphaned(Record record = Record::kOrphaned, const std::string& successor = "") {
    const StoreContents contents = Contents();
    Changes changes;
    changes.put_owners = {contents.owners.at(0)};
    changes.put_owners[0].record = record;
    changes.put_owners[0].successor = successor;
    for (const Row& row : contents.rows) changes.drop_rows.push_back(row.id);
    const auto decide = [&](const Facts&) { return changes; };
    ASSERT_TRUE(memory_.Apply({}, decide, Deadline::max()).ok());
  }
};

TEST_F(AdmissionRulesTest, AnInvalidNameIsRefusedAndWritesNothing) {
  JudgeNames(Mode::kOff);
  const Answered answer = Send(Bucket("files", "Team_Files"));
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.code, 403);
  EXPECT_EQ(OnlyFinding().suggestion, "team-files");
  EXPECT_EQ(sink_.last().findings, (std::vector<std::string>{"aws-name enforce"}));
  EXPECT_TRUE(Contents().rows.empty());
  EXPECT_TRUE(Contents().owners.empty());
}

TEST_F(AdmissionRulesTest, TheSuggestedNameIsAcceptedInsteadOfTheRefusedOne) {
  JudgeNames(Mode::kEnforce);
  EXPECT_FALSE(Send(Claim("team-a", "files", "payments-production-bucket", "payments")).allowed);
  EXPECT_EQ(OnlyFinding().suggestion, "payments-prod-bucket");
  EXPECT_TRUE(Send(Claim("team-a", "files", "payments-prod-bucket", "payments")).allowed);
}

TEST_F(AdmissionRulesTest, ADenialProposesOnlyAFreeName) {
  ASSERT_TRUE(Send(Claim("team-a", "files", "artifacts", "service-a")).allowed);
  const Sent second = Claim("team-b", "files", "artifacts", "service-b");
  EXPECT_FALSE(Send(second).allowed);
  EXPECT_EQ(
      OnlyFinding().remedy,
      "Choose another name, for example \"artifacts-service-b\". To take it over, ask service "
      "\"service-a\" to run: `kubectl -n team-a annotate --overwrite "
      "objectstorage.platform.example.org files "
      "truce.dev/transfer-to=ObjectStorage/team-b/files`");
  EXPECT_EQ(Found(), "duplicate-ownership enforce");
  ASSERT_TRUE(Send(Claim("team-c", "files", "artifacts-service-b", "service-c")).allowed);
  EXPECT_FALSE(Send(second).allowed);
  EXPECT_EQ(OnlyFinding().remedy,
            "Choose another name. To take it over, ask service \"service-a\" to run: `kubectl -n "
            "team-a annotate --overwrite objectstorage.platform.example.org files "
            "truce.dev/transfer-to=ObjectStorage/team-b/files`");
}

TEST_F(AdmissionRulesTest, ADenialProposesOnlyWhatEveryRuleTakes) {
  JudgeNames(Mode::kEnforce);
  ASSERT_TRUE(Send(Claim("team-a", "files", "payments-prod-bucket", "payments")).allowed);
  // Behind it the service's name would break the convention.
  EXPECT_FALSE(Send(Claim("team-b", "files", "payments-prod-bucket", "payments")).allowed);
  EXPECT_EQ(OnlyFinding().remedy,
            "Choose another name. To take it over, ask service \"payments\" to run: `kubectl -n "
            "team-a annotate --overwrite objectstorage.platform.example.org files "
            "truce.dev/transfer-to=ObjectStorage/team-b/files`");
  // The name that the convention proposes is taken by now.
  EXPECT_FALSE(Send(Claim("team-b", "more", "payments-production-bucket", "payments")).allowed);
  EXPECT_EQ(OnlyFinding().suggestion, "");
  EXPECT_EQ(OnlyFinding().remedy, "Choose another name.");
  EXPECT_EQ(Found(), "naming-convention enforce");
}

TEST_F(AdmissionRulesTest, AllFindingsAreToldAtOnce) {
  JudgeNames(Mode::kEnforce);
  ChangePolicy([](AdmissionPolicy& policy) {
    auto& entries = policy.modes.rules[static_cast<std::size_t>(Rule::kNamingConvention)];
    entries[0].mode = Mode::kWarn;
  });
  ASSERT_TRUE(Send(Claim("team-a", "files", "payments", "payments")).allowed);
  const Answered answer = Send(Claim("team-b", "files", "payments", "orders"));
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(Found(), "duplicate-ownership enforce, naming-convention warn");
  ASSERT_EQ(answer.warnings.size(), 1U) << answer.body;
  EXPECT_EQ(answer.warnings[0],
            "truce: S3 bucket payments should be named like orders-<env>-bucket");
  JudgeNames(Mode::kEnforce);
  const Answered both = Send(Claim("team-b", "files", "payments", "orders"));
  EXPECT_TRUE(both.warnings.empty());
  EXPECT_EQ(Found(), "duplicate-ownership enforce, naming-convention enforce");
}

TEST_F(AdmissionRulesTest, ModesDecideWhatAFindingDoes) {
  const Sent claim = Claim("team-a", "files", "whatever", "payments");
  JudgeNames(Mode::kAudit);
  const Answered audited = Send(claim);
  EXPECT_TRUE(audited.allowed);
  EXPECT_TRUE(audited.warnings.empty());
  EXPECT_EQ(sink_.last().findings, (std::vector<std::string>{"naming-convention audit"}));
  JudgeNames(Mode::kWarn);
  const Answered warned = Send(claim);
  EXPECT_TRUE(warned.allowed);
  ASSERT_EQ(warned.warnings.size(), 1U);
  EXPECT_LE(warned.warnings[0].size(), 120U);
}

TEST_F(AdmissionRulesTest, WhatWasThereBeforeStaysChangeable) {
  Sent bucket = Bucket("files", "Team_Files");
  ASSERT_TRUE(Send(bucket).allowed);  // names are not judged yet
  JudgeNames(Mode::kEnforce);
  bucket.operation = "UPDATE";
  bucket.old_metadata = bucket.metadata;
  bucket.old_spec = bucket.spec;
  bucket.spec = R"({"forProvider":{"region":"us-west-2","tags":{"a":"b"}}})";
  bucket.review = "update";
  EXPECT_TRUE(Send(bucket).allowed);
}

TEST_F(AdmissionRulesTest, AProviderAndATerminatingObjectAreNeverRefusedForAName) {
  JudgeNames(Mode::kEnforce);
  Sent bucket = Bucket("files", "Team_Files");
  bucket.operation = "UPDATE";
  bucket.old_metadata = "";
  bucket.user = kProvider;
  const Answered late = Send(bucket);
  EXPECT_TRUE(late.allowed) << late.message;
  EXPECT_FALSE(late.warnings.empty());
  bucket.user = "ann";
  bucket.review = "terminating";
  bucket.metadata += R"(,"deletionTimestamp":"2026-11-21T07:59:30Z")";
  EXPECT_TRUE(Send(bucket).allowed);
}

// A rule about names judges who declares a name, not each object that does.
TEST_F(AdmissionRulesTest, WhatIsComposedForAHolderIsNotAskedForItsNameAgain) {
  MapComposites();
  const Sent claim = Claim("team-a", "files", "Team_Files", "payments");
  ASSERT_TRUE(Send(claim).allowed);  // names are not judged yet
  JudgeNames(Mode::kEnforce);
  Sent composite = claim;
  composite.kind = "XObjectStorage";
  composite.ns = "";
  composite.name = "files-x";
  composite.uid = "uid-files-x";
  composite.review = "review-files-x";
  composite.user = kCrossplane;
  composite.metadata = "";
  composite.spec = R"({"parameters":{"name":"Team_Files"},"claimRef":{"apiVersion":)"
                   R"("platform.example.org/v1alpha1","kind":"ObjectStorage",)"
                   R"("namespace":"team-a","name":"files"}})";
  EXPECT_TRUE(Send(composite).allowed);
  Sent bucket = Bucket("files-b", "Team_Files");
  bucket.user = kCrossplane;
  bucket.metadata += R"(,"ownerReferences":[{"apiVersion":"platform.example.org/v1alpha1",)"
                     R"("kind":"XObjectStorage","name":"files-x","uid":"uid-files-x",)"
                     R"("controller":true}])";
  EXPECT_TRUE(Send(bucket).allowed);
  EXPECT_EQ(Found(), "");
  EXPECT_TRUE(Send(Anew(claim)).allowed) << "kubectl replace --force";
  EXPECT_EQ(Found(), "");
  EXPECT_FALSE(Send(Claim("team-a", "more", "More_Files", "payments")).allowed) << "a new name";
  EXPECT_EQ(Found(), "aws-name enforce, naming-convention enforce");
}

TEST_F(AdmissionRulesTest, AHolderIsNotAskedForTheNameAgain) {
  const Sent bucket = BucketIn("team-a", "files", "Team_Files");
  ASSERT_TRUE(Send(bucket).allowed);
  JudgeNames(Mode::kEnforce);
  EXPECT_TRUE(Send(Anew(bucket)).allowed) << "kubectl replace --force";
  EXPECT_EQ(Found(), "");
  EXPECT_FALSE(Send(BucketIn("team-b", "theirs", "Team_Files")).allowed);
  EXPECT_EQ(Found(), "duplicate-ownership enforce, aws-name enforce, naming-convention enforce");
  LeaveOrphaned();
  EXPECT_FALSE(Send(BucketIn("team-b", "theirs", "Team_Files")).allowed) << "not its name";
  EXPECT_TRUE(Send(BucketIn("team-a", "renamed", "Team_Files")).allowed) << "of a record, too";
  EXPECT_EQ(Found(), "");
}

TEST_F(AdmissionRulesTest, ASuccessorIsNotAskedForTheNameThatItTakesOver) {
  ASSERT_TRUE(Send(BucketIn("team-a", "files", "Team_Files")).allowed);
  JudgeNames(Mode::kEnforce);
  LeaveOrphaned(Record::kTransferring, "Bucket/team-b/files");
  EXPECT_FALSE(Send(BucketIn("team-b", "other", "Team_Files")).allowed) << "another object";
  EXPECT_TRUE(Send(BucketIn("team-b", "files", "Team_Files")).allowed);
  EXPECT_EQ(Found(), "");
}

// Whose registry is new knows no holder: what a restorer brings was admitted once.
TEST_F(AdmissionRulesTest, WhatIsRestoredIsNotRefusedForItsName) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.restorers.emplace_back("velero"); });
  JudgeNames(Mode::kEnforce);
  Sent bucket = BucketIn("team-a", "files", "Team_Files");
  bucket.user = "velero";
  EXPECT_TRUE(Send(bucket).allowed);
  EXPECT_EQ(Found(), "aws-name warn, naming-convention warn");
}

// Who asks beforehand hears of it, as of all that is on record.
TEST_F(AdmissionRulesTest, ACheckWarnsOfANameThatItsPartyHas) {
  ASSERT_TRUE(Send(BucketIn("team-a", "files", "Team_Files")).allowed);
  LeaveOrphaned();
  JudgeNames(Mode::kEnforce);
  Sent check;
  check.group = "truce.dev";
  check.version = "v1alpha1";
  check.kind = "OwnershipCheck";
  check.ns = "team-a";
  check.name = "before";
  check.uid = "uid-check";
  check.spec = R"({"declarations":[{"type":"s3/Bucket","name":"Team_Files"}]})";
  EXPECT_TRUE(Check(check).allowed);
  EXPECT_EQ(Found(), "aws-name warn, naming-convention warn");
  check.ns = "team-b";
  EXPECT_FALSE(Check(check).allowed);
}

TEST_F(AdmissionRulesTest, DryRunsGetTheSameAnswer) {
  JudgeNames(Mode::kEnforce);
  Sent claim = Claim("team-a", "files", "whatever", "payments");
  const Answered real = Send(claim);
  claim.dry_run = true;
  EXPECT_EQ(Send(claim).body, real.body);
}

TEST_F(AdmissionRulesTest, AnAttachmentToAnothersBucketIsRefused) {
  ASSERT_TRUE(Send(Claim("team-a", "files", "prod-artifacts", "service-a")).allowed);
  const Answered answer = Send(Policy("mine", "prod-artifacts", "team-b"));
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(sink_.last().findings, (std::vector<std::string>{"foreign-attachment enforce"}));
  EXPECT_EQ(Contents().owners.size(), 1U);
  EXPECT_TRUE(Send(Policy("own", "prod-artifacts", "team-a")).allowed);
}

TEST_F(AdmissionRulesTest, AParentOfAnotherAccountOrRegionIsNobodysHere) {
  KnowAccounts();
  ASSERT_TRUE(Send(Here("team-a", "sns", "Topic", "orders", "")).allowed);
  ASSERT_TRUE(Send(Here("team-a", "lambda", "Function", "orders", "")).allowed);
  const auto subscribe = [&](const std::string& topic) {
    return Send(Here("team-b", "sns", "TopicSubscription", "s" + std::to_string(sent_),
                     R"(,"protocol":"sqs","endpoint":"q","topicArn":")" + topic + "\""));
  };
  EXPECT_TRUE(subscribe("arn:aws:sns:us-east-1:999999999999:orders").warnings.empty());
  EXPECT_TRUE(subscribe("arn:aws:sns:eu-west-1:111111111111:orders").warnings.empty());
  EXPECT_FALSE(subscribe("arn:aws:sns:us-east-1:111111111111:orders").allowed);
  const auto permit = [&](const std::string& function) {
    return Send(Here("team-b", "lambda", "Permission", "p" + std::to_string(sent_),
                     R"(,"statementId":"s","functionName":")" + function + "\""));
  };
  EXPECT_TRUE(permit("arn:aws:lambda:us-east-1:999999999999:function:orders").warnings.empty());
  EXPECT_TRUE(permit("999999999999:function:orders").warnings.empty());
  EXPECT_TRUE(permit("arn:aws:lambda:eu-west-1:111111111111:function:orders").warnings.empty());
  for (const char* own : {"orders", "orders:blue", "111111111111:function:orders",
                          "arn:aws:lambda:us-east-1:111111111111:function:orders:blue"}) {
    EXPECT_FALSE(permit(own).allowed) << own;
  }
}

TEST_F(AdmissionRulesTest, WhatIsNoIdIsNobodysInOtherAccounts) {
  KnowAccounts();
  const auto send = [&](const std::string& config, const std::string& id) {
    Sent sent = Managed("cloudfront", "Distribution", config + id, R"({"region":"us-east-1"})");
    sent.group = "cloudfront.aws.crossplane.io";
    sent.spec.replace(sent.spec.find(R"("prod")"), 6, "\"" + config + "\"");
    sent.metadata = R"(,"annotations":{"crossplane.io/external-name":")" + id + "\"}";
    return Send(sent);
  };
  const Answered first = send("prod", "frontend");
  EXPECT_TRUE(first.allowed);
  EXPECT_EQ(first.warnings,
            std::vector<std::string>{"truce: CloudFront distribution: external name is none of "
                                     "cloudfront/Distribution: frontend"});
  EXPECT_TRUE(send("other", "frontend").allowed);
  EXPECT_TRUE(Contents().owners.empty());
  EXPECT_TRUE(send("prod", "E2K3J4H5G6F7E8").allowed);
  EXPECT_FALSE(send("other", "E2K3J4H5G6F7E8").allowed) << "an id exists once";
}

TEST_F(AdmissionRulesTest, AShareLetsAnAttachmentIn) {
  ASSERT_TRUE(Send(Claim("team-a", "files", "prod-artifacts", "service-a")).allowed);
  Agreement share;
  share.id = {"aaaaaaaaaaaaa"};
  share.resource = Contents().owners.at(0).id;
  share.party = {"ns:local/team-b"};
  Changes changes;
  changes.put_agreements = {share};
  const auto write = [&] {
    return memory_
        .Apply(
            {}, [&](const Facts&) { return changes; }, Deadline::max())
        .ok();
  };
  ASSERT_TRUE(write());
  EXPECT_FALSE(Send(Policy("mine", "prod-artifacts", "team-b")).allowed) << "observe only";
  changes.put_agreements[0].level = ShareLevel::kAttach;
  ASSERT_TRUE(write());
  EXPECT_TRUE(Send(Policy("mine", "prod-artifacts", "team-b")).allowed);
  EXPECT_TRUE(sink_.last().findings.empty());
  EXPECT_FALSE(Send(Policy("theirs", "prod-artifacts", "team-c")).allowed);
}

TEST_F(AdmissionRulesTest, AnAttachmentByHandToAClaimsBucketIsRefused) {
  ASSERT_TRUE(Send(Claim("team-a", "files", "prod-artifacts", "service-a")).allowed);
  EXPECT_FALSE(Send(Policy("mine", "prod-artifacts", "")).allowed);
}

TEST_F(AdmissionRulesTest, TwoObjectsByHandMayBelongTogether) {
  ASSERT_TRUE(Send(Bucket("files", "prod-artifacts")).allowed);
  const Answered answer = Send(Policy("policy", "prod-artifacts", ""));
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(answer.warnings.size(), 1U);
  Sent labelled = Bucket("labelled", "labelled-artifacts");
  labelled.metadata += R"(,"labels":{"app.kubernetes.io/part-of":"payments"})";
  ASSERT_TRUE(Send(labelled).allowed);
  Sent policy = Policy("labelled-policy", "labelled-artifacts", "");
  policy.metadata = R"(,"labels":{"app.kubernetes.io/part-of":"payments"})";
  EXPECT_TRUE(Send(policy).warnings.empty());
}

TEST_F(AdmissionRulesTest, AReferenceIsJudgedOnceItIsKnown) {
  ASSERT_TRUE(Send(BucketIn("team-a", "prod-artifacts")).allowed);
  Sent policy = Policy("mine", "", "team-b");
  policy.spec =
      R"({"forProvider":{"region":"us-west-2","bucketSelector":{"matchLabels":{"a":"b"}}}})";
  EXPECT_TRUE(Send(policy).allowed);
  Sent resolved = policy;
  resolved.operation = "UPDATE";
  resolved.old_spec = policy.spec;
  resolved.spec =
      R"({"forProvider":{"region":"us-west-2","bucket":"prod-artifacts","bucketSelector":{"matchLabels":{"a":"b"}}}})";
  resolved.user = kProvider;
  resolved.review = "resolved";
  // A provider resolves references before it calls AWS: refusing this does no harm.
  EXPECT_FALSE(Send(resolved).allowed);
}

TEST_F(AdmissionRulesTest, AReferenceByNameIsJudgedAtOnce) {
  ASSERT_TRUE(Send(BucketIn("team-a", "prod-artifacts")).allowed);
  Sent policy = Policy("mine", "", "team-a");
  policy.spec = R"({"forProvider":{"region":"us-west-2","bucketRef":{"name":"prod-artifacts"}}})";
  EXPECT_TRUE(Send(policy).allowed);
  EXPECT_TRUE(sink_.last().findings.empty());
}

TEST_F(AdmissionRulesTest, EqualSlotsClashAndOthersDoNot) {
  ASSERT_TRUE(Send(BucketIn("team-a", "prod-artifacts")).allowed);
  ASSERT_TRUE(Send(Policy("one", "prod-artifacts", "team-a")).allowed);
  EXPECT_FALSE(Send(Policy("two", "prod-artifacts", "team-a")).allowed);  // exclusive
  EXPECT_EQ(sink_.last().findings, (std::vector<std::string>{"duplicate-ownership enforce"}));
  const auto role_policy = [](const std::string& object, const std::string& name) {
    Sent sent = Managed("iam", "RolePolicy", object, R"({"role":"payments","policy":"{}"})");
    sent.group = "iam.aws.m.upbound.io";
    sent.ns = "team-a";
    sent.metadata = R"(,"annotations":{"crossplane.io/external-name":")" + name + R"("})";
    return sent;
  };
  ASSERT_TRUE(Send(role_policy("read", "read")).allowed);
  EXPECT_TRUE(Send(role_policy("write", "write")).allowed);  // additive: stands beside it
  EXPECT_FALSE(Send(role_policy("again", "read")).allowed);
}

// It keeps its place, but who owns the bucket by now has a say in what is written there.
TEST_F(AdmissionRulesTest, AnAttachmentOfBeforeStaysButDoesNotWriteAnew) {
  Sent policy = Policy("mine", "prod-artifacts", "team-b");
  ASSERT_TRUE(Send(policy).allowed);
  clock_.Advance(std::chrono::minutes(1));
  ASSERT_TRUE(Send(Claim("team-a", "files", "prod-artifacts", "service-a")).allowed);
  Sent labelled = policy;
  labelled.operation = "UPDATE";
  labelled.review = "label";
  labelled.metadata = R"(,"labels":{"a":"b"})";
  EXPECT_TRUE(Send(labelled).allowed) << "writes nothing";
  Sent leaving = policy;
  leaving.operation = "UPDATE";
  leaving.review = "leave";
  leaving.old_spec = policy.spec;
  leaving.spec = R"({"managementPolicies":["Observe"],"forProvider":{"region":"us-west-2",)"
                 R"("bucket":"prod-artifacts","policy":"{}"}})";
  EXPECT_TRUE(Send(leaving).allowed);
  policy.operation = "UPDATE";
  policy.old_spec = policy.spec;
  policy.spec =
      R"({"forProvider":{"region":"us-west-2","bucket":"prod-artifacts","policy":"{\"a\":1}"}})";
  policy.review = "update";
  EXPECT_FALSE(Send(policy).allowed);
  EXPECT_EQ(Found(), "foreign-attachment enforce");
  policy.user = kProvider;
  EXPECT_TRUE(Send(policy).allowed) << "what the provider fills in";
  policy.user = "ann";
  policy.metadata = policy.old_metadata = R"(,"deletionTimestamp":"2026-11-21T07:59:30Z")";
  EXPECT_TRUE(Send(policy).allowed) << "adds nothing (I10)";
}

// AWS keeps one policy a bucket: who owns that learns who has its place, whatever strangers learn.
TEST_F(AdmissionRulesTest, TheOwnerOfTheParentIsToldWhoWritesIntoIt) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.disclosure = Disclosure::kTaken; });
  ASSERT_TRUE(Send(Policy("mine", "prod-artifacts", "team-b")).allowed);
  ASSERT_TRUE(Send(Claim("team-a", "files", "prod-artifacts", "service-a")).allowed);
  EXPECT_FALSE(Send(Policy("own", "prod-artifacts", "team-a")).allowed) << "no second manager";
  EXPECT_EQ(OnlyFinding().cause,
            "S3 bucket policy \"prod-artifacts\" is owned by BucketPolicy team-b/mine. It writes "
            "into a resource of yours.");
  EXPECT_EQ(
      OnlyFinding().remedy,
      "Only one may write it. Ask its owner to hand it over: `kubectl -n team-b annotate "
      "--overwrite "
      "bucketpolicy.s3.aws.m.upbound.io mine truce.dev/transfer-to=BucketPolicy/team-a/own`. If "
      "nobody answers, an operator runs: `truce transfer s3/BucketPolicy/prod-artifacts --to "
      "team-a --successor BucketPolicy/team-a/own --force --reason '…'`. To only read it, set "
      "spec.managementPolicies: [\"Observe\"].");
  EXPECT_FALSE(Send(Policy("theirs", "prod-artifacts", "team-c")).allowed);
  EXPECT_EQ(sink_.last().told.front().cause.find("team-b"), std::string::npos);
}

// Its deletion would take the policy of a victim away (E6); what it wrote before it lets go (I10).
TEST_F(AdmissionRulesTest, ATerminatingAttachmentIsNotPointedAtAnothers) {
  ASSERT_TRUE(Send(BucketIn("team-a", "prod-artifacts")).allowed);
  Sent role = Managed("iam", "Role", "payments", R"({"assumeRolePolicy":"{}"})");
  role.group = "iam.aws.m.upbound.io";
  role.ns = "team-a";
  ASSERT_TRUE(Send(role).allowed);
  const auto attached = [](const std::string& to) {
    Sent sent = Managed("iam", "RolePolicyAttachment", "readers",
                        R"({"role":")" + to + R"(","policyArn":"arn:aws:iam::aws:policy/Read"})");
    sent.group = "iam.aws.m.upbound.io";
    sent.ns = "team-b";
    return sent;
  };
  const std::vector<std::pair<Sent, Sent>> pointed = {
      {Policy("mine", "scratch", "team-b"), Policy("mine", "prod-artifacts", "team-b")},
      {attached("own"), attached("payments")}};
  for (const auto& [before, after] : pointed) {
    ASSERT_TRUE(Send(before).allowed);
    Sent update = after;
    update.operation = "UPDATE";
    update.review = "points-" + after.kind;
    update.old_spec = before.spec;
    const std::string going =
        R"(,"deletionTimestamp":"2026-11-21T07:59:30Z","finalizers":["example.org/wait"])";
    update.metadata = update.old_metadata = going;
    EXPECT_FALSE(Send(update).allowed) << after.kind;
    EXPECT_EQ(Found(), "foreign-attachment enforce");
    // It stood there before: it goes with whatever it has.
    update.review = "lets-go-" + after.kind;
    update.old_spec = after.spec;
    update.metadata = R"(,"deletionTimestamp":"2026-11-21T07:59:30Z")";
    EXPECT_TRUE(Send(update).allowed) << after.kind;
  }
}

TEST_F(AdmissionRulesTest, AModeOfTheRuleDecidesAboutAttachments) {
  ChangePolicy([](AdmissionPolicy& policy) {
    policy.modes.rules[static_cast<std::size_t>(Rule::kForeignAttachment)] = {
        {Mode::kWarn, {}, {}, {}, "truce.yaml:1"}};
  });
  ASSERT_TRUE(Send(Claim("team-a", "files", "prod-artifacts", "service-a")).allowed);
  const Answered answer = Send(Policy("mine", "prod-artifacts", "team-b"));
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(answer.warnings.size(), 1U);
}

}  // namespace admission_rules_test
}  // namespace truce
