// The own webhook configuration, and coverage: what is not protected, and why.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "policies/policy.h"
#include "tests/support/json_document.h"
#include "webhook/findings/coverage.h"
#include "webhook/findings/examiner.h"
#include "webhook/findings/webhook_configuration.h"

namespace truce {
namespace detect_webhook_test {

const ServedKind kBucket{"s3.aws.upbound.io", "v1beta2", "Bucket", "buckets", false};
const ServedKind kQueue{"sqs.aws.m.upbound.io", "v1beta1", "Queue", "queues", true};
const ServedKind kCheck{"truce.dev", "v1alpha1", "OwnershipCheck", "ownershipchecks", true};
const ServedKind kPolicy{"truce.dev", "v1alpha1", "NamingPolicy", "namingpolicies", false};
constexpr char kPath[] = "/validate/0123456789abcdef0123456789abcdef";

// What the chart writes, with parts to replace.
struct Written {
  std::string client =
      R"("service":{"namespace":"truce-system","name":"truce","path":"/validate/0123456789abcdef0123456789abcdef"},"caBundle":"Q0E=")";
  std::string groups = R"("s3.aws.upbound.io","sqs.aws.m.upbound.io")";
  std::string operations = R"("CREATE","UPDATE")";
  std::string resources = R"("*")";
  std::string scope = "*";
  std::string failure_policy = "Ignore";
  std::string match_policy = "Equivalent";
  std::string condition{kUpdateCondition};
  std::string selector =
      R"({"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["kube-system"]}]})";
  std::string objects = "{}";
  // The entries besides the one for declarations.
  std::string deletions =
      R"({"name":"deletions.truce.dev","failurePolicy":"Ignore","clientConfig":{"service":{"namespace":"truce-system","name":"truce","path":"/validate/0123456789abcdef0123456789abcdef"},"caBundle":"Q0E="},"rules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["DELETE"],"resources":["*"]}]})";
  std::string finalizers =
      R"({"name":"finalizers.truce.dev","failurePolicy":"Ignore","clientConfig":{"service":{"namespace":"truce-system","name":"truce","path":"/validate/0123456789abcdef0123456789abcdef"},"caBundle":"Q0E="},"rules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["UPDATE"],"resources":["*"]}],"matchConditions":[{"name":"f","expression":")" +
      std::string(kFinalizersCondition) + R"("},{"name":"n","expression":")" +
      OtherUpdatesCondition() + R"("}]})";
  std::string checks =
      R"({"name":"checks.truce.dev","failurePolicy":"Fail","clientConfig":{"service":{"namespace":"truce-system","name":"truce","path":"/validate-check/0123456789abcdef0123456789abcdef"},"caBundle":"Q0E="},"rules":[{"apiGroups":["truce.dev"],"apiVersions":["v1alpha1"],"operations":["CREATE"],"resources":["ownershipchecks"],"scope":"Namespaced"}]})";
  std::string status =
      R"({"name":"status.truce.dev","failurePolicy":"Ignore","clientConfig":{"service":{"namespace":"truce-system","name":"truce","path":"/validate-status/0123456789abcdef0123456789abcdef"},"caBundle":"Q0E="},"matchConditions":[{"name":"not-providers","expression":"request.userInfo.username != 'p'"}],"rules":[{"apiGroups":["s3.aws.upbound.io","sqs.aws.m.upbound.io"],"apiVersions":["*"],"operations":["UPDATE"],"resources":["*/status"],"scope":"*"}]})";
  std::string policies =
      R"({"name":"policies.truce.dev","failurePolicy":"Ignore","clientConfig":{"service":{"namespace":"truce-system","name":"truce","path":"/validate-check/0123456789abcdef0123456789abcdef"},"caBundle":"Q0E="},"rules":[{"apiGroups":["truce.dev"],"apiVersions":["v1alpha1"],"operations":["CREATE","UPDATE"],"resources":["namingpolicies"],"scope":"Cluster"}]})";
};

void Replace(std::string& text, const std::string& part, const std::string& with) {
  const std::size_t at = text.find(part);
  ASSERT_NE(at, std::string::npos) << part;
  text.replace(at, part.size(), with);
}

std::string Json(const Written& w) {
  return R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"truce"},"webhooks":[{"name":"marker.example.org","clientConfig":{"url":"https://127.0.0.1:1/marker"},"rules":[]},{"name":"declarations.truce.dev","clientConfig":{)" +
         w.client + R"(},"failurePolicy":")" + w.failure_policy + R"(","matchPolicy":")" +
         w.match_policy + R"(","namespaceSelector":)" + w.selector + R"(,"objectSelector":)" +
         w.objects + R"(,"matchConditions":[{"name":"c","expression":")" + w.condition +
         R"("}],"rules":[{"apiGroups":[)" + w.groups + R"(],"apiVersions":["*"],"operations":[)" +
         w.operations + R"(],"resources":[)" + w.resources + R"(],"scope":")" + w.scope +
         R"("}]},)" + w.finalizers + "," + w.deletions + "," + w.checks + "," + w.policies + "," +
         w.status + "]}";
}

ExpectedWebhook Expected() {
  ExpectedWebhook expected;
  expected.paths = {kPath,
                    kPath,
                    "/validate-status/0123456789abcdef0123456789abcdef",
                    "/validate-check/0123456789abcdef0123456789abcdef",
                    "/validate-check/0123456789abcdef0123456789abcdef",
                    "/validate-composition/0123456789abcdef0123456789abcdef"};
  expected.kinds = {kBucket, kQueue};
  expected.own_kinds = {kCheck, kPolicy};
  expected.status_kinds = expected.kinds;
  expected.status.emplace().emplace_back("not-providers", "request.userInfo.username != 'p'");
  expected.failure_policy = "Ignore";
  expected.trusts = [](std::string_view pem) { return pem == "CA"; };
  return expected;
}

std::vector<LiveFinding> CheckJson(const std::string& json) {
  const Document document = DocumentFromJson(json);
  const auto configuration = ReadWebhookConfiguration(document.root());
  EXPECT_TRUE(configuration) << json;
  return CheckWebhookConfiguration(configuration ? &*configuration : nullptr, Expected());
}

TEST(WebhookConfigurationTest, AsTheChartWritesItNothingIsWrong) {
  const auto found = CheckJson(Json({}));
  EXPECT_TRUE(found.empty()) << found.front().cause;
}

TEST(WebhookConfigurationTest, Missing) {
  const auto found = CheckWebhookConfiguration(nullptr, Expected());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "truce/missing");
  EXPECT_EQ(found[0].mode, Mode::kEnforce);
}

struct FaultRow {
  const char* subject;
  void (*spoil)(Written&);
};

TEST(WebhookConfigurationTest, EachFaultIsFoundAloneAndShowsNoSecret) {
  const std::vector<FaultRow> rows = {
      {"truce/path",
       [](Written& w) {
         w.client = R"("url":"https://truce.example.org/validate")";
         w.deletions = "null";
       }},
      {"truce/ca-bundle/declarations.truce.dev",
       [](Written& w) { Replace(w.client, "Q0E=", "T0xE"); }},
      {"truce/ca-bundle/declarations.truce.dev",
       [](Written& w) { w.client.resize(w.client.find(",\"caBundle\"")); }},
      {"truce/failure-policy/declarations.truce.dev",
       [](Written& w) { w.failure_policy = "Fail"; }},
      {"truce/match-policy/declarations.truce.dev", [](Written& w) { w.match_policy = "Exact"; }},
      {"truce/condition/declarations.truce.dev/c",
       [](Written& w) { w.condition = "!has(object.metadata.deletionTimestamp)"; }},
      {"truce/namespace-selector/declarations.truce.dev",
       [](Written& w) { w.selector = R"({"matchLabels":{"truce":"on"}})"; }},
      {"truce/namespace-selector/declarations.truce.dev",
       [](Written& w) { w.selector.replace(w.selector.find("NotIn"), 5, "In"); }},
      {"truce/object-selector/declarations.truce.dev",
       [](Written& w) { w.objects = R"({"matchLabels":{"truce":"on"}})"; }},
      {"truce/rule/UPDATE", [](Written& w) { w.operations = R"("CREATE")"; }},
      {"truce/rule/CREATE", [](Written& w) { w.operations = R"("UPDATE","DELETE")"; }},
      {"truce/rule/DELETE", [](Written& w) { w.deletions = "null"; }},
      {"truce/ownershipchecks/missing", [](Written& w) { w.checks = "null"; }},
      {"truce/ownershipchecks/missing",
       [](Written& w) { Replace(w.checks, "\"CREATE\"", "\"UPDATE\""); }},
      {"truce/ownershipchecks/elsewhere",
       [](Written& w) { Replace(w.checks, "validate-check/", "other/"); }},
      {"truce/ownershipchecks/elsewhere",
       [](Written& w) { Replace(w.checks, "truce-system", "other"); }},
      {"truce/failure-policy/checks.truce.dev",
       [](Written& w) { Replace(w.checks, "Fail", "Ignore"); }},
      {"truce/ca-bundle/checks.truce.dev", [](Written& w) { Replace(w.checks, "Q0E=", "T0xE"); }},
      {"truce/object-selector/checks.truce.dev",
       [](Written& w) {
         Replace(w.checks, "\"rules\"",
                 R"("objectSelector":{"matchLabels":{"truce":"on"}},"rules")");
       }},
      {"truce/status/missing", [](Written& w) { w.status = "null"; }},
      {"truce/status/missing", [](Written& w) { Replace(w.status, "validate-status/", "other/"); }},
      {"truce/status/missing", [](Written& w) { Replace(w.status, "UPDATE", "CREATE"); }},
      {"truce/status/missing",
       [](Written& w) { Replace(w.status, "*/status", R"(buckets/status","queues)"); }},
      {"truce/status/missing",
       [](Written& w) { Replace(w.status, R"("s3.aws.upbound.io",)", ""); }},
      {"truce/condition/status.truce.dev/not-providers",
       [](Written& w) { Replace(w.status, "!= 'p'", "!= 'ann'"); }},
      {"truce/ca-bundle/status.truce.dev", [](Written& w) { Replace(w.status, "Q0E=", "T0xE"); }},
      {"truce/object-selector/status.truce.dev",
       [](Written& w) {
         Replace(w.status, "\"rules\"",
                 R"("objectSelector":{"matchLabels":{"truce":"on"}},"rules")");
       }},
      {"truce/namingpolicies/missing", [](Written& w) { w.policies = "null"; }},
      {"truce/namingpolicies/missing", [](Written& w) { Replace(w.policies, "\"CREATE\",", ""); }},
      {"truce/namingpolicies/elsewhere",
       [](Written& w) { Replace(w.policies, "validate-check/", "other/"); }},
  };
  for (const FaultRow& row : rows) {
    Written written;
    row.spoil(written);
    const auto found = CheckJson(Json(written));
    ASSERT_EQ(found.size(), 1U) << row.subject;
    EXPECT_EQ(found[0].subject, row.subject);
    EXPECT_FALSE(found[0].remedy.empty());
    for (const std::string& text : {found[0].cause, found[0].evidence, found[0].remedy}) {
      EXPECT_EQ(text.find("0123456789abcdef"), std::string::npos) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
  }
}

TEST(WebhookConfigurationTest, DeletionsThatFailWithTruce) {
  Written written;
  Replace(written.deletions, "Ignore", "Fail");
  const Document document = DocumentFromJson(Json(written));
  const auto configuration = ReadWebhookConfiguration(document.root());
  ASSERT_TRUE(configuration);
  ExpectedWebhook expected = Expected();
  expected.failure_policy.clear();
  const auto found = CheckWebhookConfiguration(&*configuration, expected);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "truce/deletions/deletions.truce.dev");
  EXPECT_EQ(found[0].mode, Mode::kWarn);
}

TEST(WebhookConfigurationTest, WhoElseWritesItIsNamed) {
  const Document document = DocumentFromJson(Json({}));
  const auto configuration = ReadWebhookConfiguration(document.root());
  ExpectedWebhook expected = Expected();
  expected.rival = "cainjector";
  const auto found = CheckWebhookConfiguration(&*configuration, expected);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "truce/fight");
  EXPECT_EQ(
      found[0].cause,
      "Somebody else (field manager cainjector) keeps writing authority or path of the "
      "ValidatingWebhookConfiguration \"truce\", which Truce writes itself: between its turns "
      "no review comes. Truce puts it right once a minute, no oftener.");
}

// What is deleted could not end while Truce is away.
TEST(WebhookConfigurationTest, FinalizersThatWaitForTruceAreTold) {
  const std::string with_clause =
      std::string(kUpdateCondition) + " || (" + std::string(kFinalizersCondition) + ")";
  struct Row {
    std::string condition, policy, of_finalizers, subject;
  };
  const std::vector<Row> rows = {
      {std::string(kUpdateCondition), "Fail", "Ignore", ""},
      {std::string(kUpdateCondition), "Fail", "Fail", "truce/finalizers/finalizers.truce.dev"},
      {std::string(kUpdateCondition), "Ignore", "none", "truce/rule/finalizers"},
      // As charts rendered it before there was that entry.
      {with_clause, "Ignore", "none", ""},
      {with_clause, "Fail", "none", "truce/finalizers/declarations.truce.dev"},
      {"true", "Fail", "none", "truce/finalizers/declarations.truce.dev"},
  };
  for (const Row& row : rows) {
    Written written;
    written.condition = row.condition;
    written.failure_policy = row.policy;
    if (row.of_finalizers == "none") written.finalizers = "null";
    if (row.of_finalizers == "Fail") Replace(written.finalizers, "Ignore", "Fail");
    const Document document = DocumentFromJson(Json(written));
    const auto configuration = ReadWebhookConfiguration(document.root());
    ASSERT_TRUE(configuration);
    ExpectedWebhook expected = Expected();
    expected.failure_policy.clear();
    std::vector<std::string> subjects;
    for (const LiveFinding& finding : CheckWebhookConfiguration(&*configuration, expected)) {
      // That the condition is not the usual one is told too.
      if (finding.subject.find("/condition/") != std::string::npos) continue;
      subjects.push_back(finding.subject);
      EXPECT_EQ(finding.mode, Mode::kWarn);
    }
    EXPECT_EQ(subjects, row.subject.empty() ? std::vector<std::string>{}
                                            : std::vector<std::string>{row.subject})
        << row.condition << " " << row.policy;
  }
}

// What a command says of a mark that protects nothing.
TEST(WebhookConfigurationTest, WhatKeepsDeletionsAwayIsTold) {
  const auto kept_away = [](const std::vector<LiveFinding>& findings) {
    return std::count_if(findings.begin(), findings.end(), KeepsDeletionsAway);
  };
  Written written;
  EXPECT_EQ(kept_away(CheckJson(Json(written))), 0);
  Replace(written.deletions, R"("DELETE")", R"("CONNECT")");
  EXPECT_EQ(kept_away(CheckJson(Json(written))), 1);
  Written narrow;
  narrow.selector = R"({"matchLabels":{"a":"b"}})";
  EXPECT_EQ(kept_away(CheckJson(Json(narrow))), 0) << "something else is wrong";
  EXPECT_EQ(kept_away(CheckWebhookConfiguration(nullptr, {})), 1);
}

TEST(WebhookConfigurationTest, AFailingCallShowsASecretThatWrites) {
  Written written;
  written.failure_policy = "Fail";
  const Document document = DocumentFromJson(Json(written));
  const auto configuration = ReadWebhookConfiguration(document.root());
  ASSERT_TRUE(configuration);
  ExpectedWebhook expected = Expected();
  expected.failure_policy.clear();
  EXPECT_TRUE(CheckWebhookConfiguration(&*configuration, expected).empty())
      << "the API server shows itself otherwise, or it is accepted";
  expected.secret_alone = true;
  const auto found = CheckWebhookConfiguration(&*configuration, expected);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "truce/secret-in-errors/declarations.truce.dev");
  EXPECT_EQ(found[0].cause.find("0123456789abcdef"), std::string::npos);
}

TEST(WebhookConfigurationTest, KindsThatAreNotServedAreNotAskedFor) {
  Written written;
  written.checks = written.policies = "null";
  const Document document = DocumentFromJson(Json(written));
  const auto configuration = ReadWebhookConfiguration(document.root());
  ASSERT_TRUE(configuration);
  ExpectedWebhook expected = Expected();
  expected.own_kinds.clear();
  EXPECT_TRUE(CheckWebhookConfiguration(&*configuration, expected).empty());
}

TEST(WebhookConfigurationTest, AnEntryForStatusesIsWantedOnlyWhereTheyAreGuarded) {
  Written written;
  written.status = "null";
  const Document document = DocumentFromJson(Json(written));
  const auto configuration = ReadWebhookConfiguration(document.root());
  ASSERT_TRUE(configuration);
  ExpectedWebhook expected = Expected();
  EXPECT_EQ(CheckWebhookConfiguration(&*configuration, expected).size(), 1U);
  expected.status.reset();
  EXPECT_TRUE(CheckWebhookConfiguration(&*configuration, expected).empty());
}

TEST(WebhookConfigurationTest, KindsOutsideTheRulesAreNamed) {
  for (const auto& [groups, resources, scope] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {R"("s3.aws.upbound.io")", R"("*")", "*"},
           {R"("s3.aws.upbound.io","sqs.aws.m.upbound.io")", R"("buckets","queues/status")", "*"},
           {R"("*")", R"("*/*")", "Cluster"}}) {
    Written written;
    written.groups = groups;
    written.resources = resources;
    written.scope = scope;
    const auto found = CheckJson(Json(written));
    ASSERT_EQ(found.size(), 2U) << groups;  // CREATE and UPDATE
    EXPECT_EQ(found[0].cause,
              "No rule of the webhook sends CREATE of queues.sqs.aws.m.upbound.io to Truce: they "
              "are not checked.");
    EXPECT_EQ(found[0].cause.find("buckets.s3"), std::string::npos) << found[0].cause;
  }
}

TEST(WebhookConfigurationTest, WhiteSpaceInTheConditionMeansNothing) {
  Written written;
  std::size_t at = 0;
  while ((at = written.condition.find(" || ", at)) != std::string::npos) {
    written.condition.replace(at, 4, "\\n  || ");
    at += 6;
  }
  EXPECT_TRUE(CheckJson(Json(written)).empty());
}

TEST(WebhookConfigurationTest, OddObjectsAreNone) {
  for (const char* json :
       {"{}", "[]", R"({"kind":"Secret","metadata":{"name":"truce"}})", R"("x")"}) {
    const Document document = DocumentFromJson(json);
    EXPECT_FALSE(ReadWebhookConfiguration(document.root())) << json;
  }
  const Document odd = DocumentFromJson(
      R"({"metadata":{"name":"truce"},"webhooks":[{"clientConfig":{"caBundle":"%%%"},"rules":"x"},7,null]})");
  const auto configuration = ReadWebhookConfiguration(odd.root());
  ASSERT_TRUE(configuration);
  EXPECT_EQ(CheckWebhookConfiguration(&*configuration, Expected()).size(), 1U);
}

// As the API server has it: items of a list do not name their kind.
TEST(WebhookConfigurationTest, AnItemOfAListIsOne) {
  std::string json = Json({});
  const std::string kind = R"("kind":"ValidatingWebhookConfiguration",)";
  const std::size_t at = json.find(kind);
  ASSERT_NE(at, std::string::npos) << json;
  json.erase(at, kind.size());
  EXPECT_TRUE(CheckJson(json).empty());
}

class CoverageTest : public ::testing::Test {
 protected:
  // A kind that is followed, or cannot be read.
  struct Known {
    ServedKind kind;
    std::size_t objects = 0;
    std::string problem;
    Role role = Role::kManaged;
    std::optional<Timestamp> since = {};
  };

  CoverageTest() {
    Read({});
    policy_.catalogue = std::make_shared<const Catalogue>(Catalogue::BuiltIn());
    around_.policy = std::shared_ptr<const AdmissionPolicy>(std::shared_ptr<void>(), &policy_);
    around_.webhook = Expected();
  }
  void Read(const Written& written) {
    const Document document = DocumentFromJson(Json(written));
    cluster_.configuration = ReadWebhookConfiguration(document.root());
  }
  CoverageReport Report() {
    WatchedCluster cluster = cluster_;
    for (const Known& known : kinds_) {
      WatchedCluster::Kind& kind = cluster.kinds[{known.kind.group, known.kind.kind}];
      kind.status.kind.selection.kind = known.kind;
      kind.status.kind.role = known.role;
      kind.status.problem = known.problem;
      kind.status.since = known.since;
      const bool is_failing = !known.problem.empty() || known.since;
      kind.status.state = is_failing ? KindState::kFailing : KindState::kWatched;
      for (std::size_t i = 0; i < known.objects; ++i) kind.objects.insert(i);
    }
    return CoverageOf(cluster, around_, {});
  }
  std::vector<std::string> Gaps() {
    std::vector<std::string> out;
    for (const CoverageGap& gap : Report().gaps) {
      out.push_back(std::string(Name(gap.reason)) + " " + gap.subject);
    }
    return out;
  }

  AdmissionPolicy policy_;
  Surroundings around_;
  WatchedCluster cluster_;
  std::vector<Known> kinds_ = {{kBucket, 12, ""}, {kQueue, 3, ""}};
};

using Texts = std::vector<std::string>;

TEST_F(CoverageTest, EverythingProtected) {
  const CoverageReport report = Report();
  EXPECT_EQ(report.kinds, 2U);
  EXPECT_EQ(report.protected_kinds, 2U);
  EXPECT_EQ(Gaps(), Texts{});
}

TEST_F(CoverageTest, WithoutWebhookThatIsTheOneGap) {
  cluster_.configuration.reset();
  EXPECT_EQ(Gaps(), Texts{"no-webhook truce"});
  EXPECT_EQ(Report().protected_kinds, 0U);
}

TEST_F(CoverageTest, KindsOutsideRulesListsAndCatalogue) {
  Written written;
  written.groups = R"("s3.aws.upbound.io")";
  Read(written);
  kinds_[0].problem = "403: forbidden";
  kinds_.push_back({{"s3.aws.upbound.io", "v1", "Unheard", "unheards", false}, 2, ""});
  kinds_.push_back({{"aws.upbound.io", "v1", "ProviderConfig", "providerconfigs", false}, 1, ""});
  EXPECT_EQ(Gaps(),
            (Texts{"no-rule Queue.sqs.aws.m.upbound.io", "not-listed Bucket.s3.aws.upbound.io",
                   "unknown-kind Unheard.s3.aws.upbound.io"}));
  EXPECT_EQ(Report().protected_kinds, 0U);
}

TEST_F(CoverageTest, ClaimsWithoutMappingAccountsAndModes) {
  kinds_.push_back({{"platform.example.org", "v1", "ObjectStorage", "objectstorages", true},
                    5,
                    "",
                    Role::kClaim});
  policy_.claims = {
      {{"platform.example.org", "ObjectStorage"}, {"platform.example.org", "XObjectStorage"}}};
  cluster_.provisional_accounts["prod/aws.upbound.io/ProviderConfig//default"] = 3;
  policy_.modes.types = {{"sqs/Queue", Mode::kAudit}};
  EXPECT_EQ(
      Gaps(),
      (Texts{"xrd-group platform.example.org", "no-mapping ObjectStorage.platform.example.org",
             "account-unknown ProviderConfig.aws.upbound.io default", "warns-only sqs/Queue"}));
  const auto findings = FindingsOf(Report());
  EXPECT_EQ(std::count_if(findings.begin(), findings.end(),
                          [](const LiveFinding& finding) { return finding.mode == Mode::kWarn; }),
            3);  // accounts have a detector of their own
}

TEST_F(CoverageTest, GroupsOfXrdsOutsideTheRules) {
  const ServedKind claim{"apps.example.org", "v1", "Storage", "storages", true};
  const ServedKind composite{"apps.example.org", "v1", "XStorage", "xstorages", false};
  const ServedKind sent{"s3.aws.upbound.io", "v1", "XBucket", "xbuckets", false};
  kinds_ = {{composite, 2, "", Role::kComposite},
            {claim, 5, "", Role::kClaim},
            {sent, 0, "", Role::kComposite}};
  const Texts others = {"unknown-kind XBucket.s3.aws.upbound.io",
                        "no-mapping Storage.apps.example.org"};
  Texts gaps = others;
  gaps.insert(gaps.begin(), "xrd-group apps.example.org");
  EXPECT_EQ(Gaps(), gaps) << "one gap for a group";
  EXPECT_EQ(Report().gaps.front().objects, 7U);
  EXPECT_EQ(Report().gaps.front().why,
            "The webhook's rules leave out this group of claims and composites (Storage, "
            "XStorage): a claim that binds somebody else's composite is found by the watch only.");
  EXPECT_EQ(Report().xrd_groups, (Texts{"apps.example.org", "s3.aws.upbound.io"}));
  EXPECT_EQ(Report().missing_xrd_groups, Texts{"apps.example.org"});
  Written written;
  written.groups = R"("apps.example.org","s3.aws.upbound.io","sqs.aws.m.upbound.io")";
  Read(written);
  EXPECT_EQ(Gaps(), others);
  EXPECT_EQ(Report().missing_xrd_groups, Texts{});
  kinds_ = {{claim, 0, "403: forbidden", Role::kClaim}};
  EXPECT_EQ(Report().missing_xrd_groups, Texts{"apps.example.org"}) << "sent, but not read";
}

TEST_F(CoverageTest, XrdsThatCannotBeRead) {
  const ServedKind xrd{"apiextensions.crossplane.io", "v1", "CompositeResourceDefinition",
                       "compositeresourcedefinitions", false};
  kinds_.push_back({xrd, 0, "403: forbidden", Role::kCompositeDefinition});
  EXPECT_EQ(Gaps(), Texts{"not-listed CompositeResourceDefinition.apiextensions.crossplane.io"});
  EXPECT_EQ(Report().gaps.back().why,
            "Its objects cannot be listed, so the kinds of claims and composites are not found: "
            "403: forbidden");
}

TEST_F(CoverageTest, CompositionsThatAreNotSent) {
  cluster_.served[{"apiextensions.crossplane.io", "Composition"}] = {
      "apiextensions.crossplane.io", "v1", "Composition", "compositions", false};
  EXPECT_EQ(Gaps(), Texts{"no-rule Composition.apiextensions.crossplane.io"});
  Written written;
  written.status +=
      R"(,{"name":"compositions.truce.dev","failurePolicy":"Ignore","clientConfig":{"service":{"namespace":"truce-system","name":"truce","path":"/validate-composition/0123456789abcdef0123456789abcdef"},"caBundle":"Q0E="},"rules":[{"apiGroups":["apiextensions.crossplane.io"],"apiVersions":["*"],"operations":["UPDATE"],"resources":["compositions"],"scope":"Cluster"}]})";
  Read(written);
  EXPECT_EQ(Gaps(), Texts{});
}

TEST_F(CoverageTest, StatusesThatNobodyGuards) {
  around_.webhook.status.reset();
  EXPECT_EQ(Gaps(), Texts{"status-unguarded truce"});
  EXPECT_EQ(Report().gaps.back().why,
            "Changes of statuses do not come to Truce: a name that is known from a status alone, "
            "such as one in an account that only an ARN shows, is answered with a warning.");
  around_.webhook = Expected();
  around_.webhook.statuses_deny = false;
  EXPECT_EQ(Gaps(), Texts{"status-unguarded truce"});
  EXPECT_EQ(Report().gaps.back().why,
            "Configuration lets tenants change statuses (rule status-names): a name that is known "
            "from a status alone, such as one in an account that only an ARN shows, is answered "
            "with a warning.");
}

TEST_F(CoverageTest, KindsThatNobodyReadsAnyMore) {
  around_.unmapped[{"platform.example.org", "Storage"}] = *ParseTimestamp("2026-11-22T08:00:00Z");
  kinds_.push_back(
      {{"platform.example.org", "v1", "Storage", "storages", true}, 3, "no rule", Role::kMapped});
  kinds_.push_back(
      {{"platform.example.org", "v1", "XDatabase", "xdatabases", false}, 2, "403", Role::kMapped});
  EXPECT_EQ(Gaps(), (Texts{"unwatched XDatabase.platform.example.org",
                           "unwatched Storage.platform.example.org"}));
  EXPECT_EQ(Report().gaps.back().why,
            "No mapping rule names it any more: what it declared stays on record, unread, until "
            "2026-11-22T08:00:00Z, then it is left orphaned.");
}

TEST_F(CoverageTest, AccountsThatAreBoundToNobody) {
  cluster_.accounts = {{"111111111111", 2}, {"222222222222", 3}};
  policy_.identity.accounts[{"aws.upbound.io", "ProviderConfig", "", "prod"}] = "333333333333";
  EXPECT_EQ(Gaps(), Texts{}) << "accountParties is not in use";
  policy_.account_parties["111111111111"];
  EXPECT_EQ(Gaps(), (Texts{"account-unbound account 222222222222",
                           "account-unbound account 333333333333"}));
}

TEST_F(CoverageTest, ExclusionsAreTold) {
  Written written;
  written.condition = "request.userInfo.username != 'admin'";
  written.objects = R"({"matchLabels":{"truce":"on"}})";
  Read(written);
  EXPECT_EQ(Gaps(), (Texts{"excluded declarations.truce.dev", "excluded declarations.truce.dev"}));
}

// The chart always leaves out kube-system and its own namespace; others stand in the gap alone.
TEST_F(CoverageTest, NamespacesThatEveryInstallationLeavesOutAreNoGap) {
  const auto gaps_without = [&](const std::string& namespaces) {
    Written written;
    Replace(written.selector, R"("kube-system")", namespaces);
    Read(written);
    std::vector<std::string> out;
    for (const CoverageGap& gap : Report().gaps) out.push_back(gap.why);
    return out;
  };
  EXPECT_EQ(gaps_without(R"("kube-system","truce-system")"), Texts{});
  EXPECT_EQ(gaps_without(R"("kube-system","team-a","truce-system","team-b")"),
            Texts{"Objects in other namespaces than those selected are not checked: "
                  "namespaceSelector kubernetes.io/metadata.name NotIn team-a team-b."});
}

TEST_F(CoverageTest, TellsTheFailurePolicyOfDeclarationsAndSinceWhenAKindFails) {
  EXPECT_EQ(Report().failure_policy, "Ignore");
  EXPECT_FALSE(Report().failing_since);
  Written written;
  written.failure_policy = "Fail";
  Read(written);
  EXPECT_EQ(Report().failure_policy, "Fail") << "those of deletions and finalizers are Ignore";
  cluster_.configuration.reset();
  EXPECT_EQ(Report().failure_policy, "");
  const Timestamp first = *ParseTimestamp("2026-11-25T12:00:00Z");
  kinds_[0].since = first + std::chrono::minutes(1);
  kinds_[1].since = first;
  EXPECT_EQ(Report().failing_since, first);
}

}  // namespace detect_webhook_test
}  // namespace truce
