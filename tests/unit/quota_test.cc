// Rule quota behind the webhook: of a type there are no more than configuration allows.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/quotas.h"
#include "tests/support/admission_fixture.h"

namespace truce {
namespace quota_test {

constexpr std::string_view kOne = "111111111111";

// ProviderConfig "one" of each team, and the cluster's, reaches account kOne.
class QuotaRule : public AdmissionFixture {
 protected:
  QuotaRule() {
    ChangePolicy([](AdmissionPolicy& policy) {
      for (const std::string ns : {"team-a", "team-b", "shop-1", "shop-2"}) {
        policy.identity.accounts[{"aws.m.upbound.io", "ProviderConfig", ns, "one"}] = kOne;
      }
      policy.identity.accounts[{"aws.upbound.io", "ProviderConfig", "", "one"}] = kOne;
      const std::string cluster = policy.identity.cluster;
      policy.parties.services = {{cluster + "/shop-1", "shop"}, {cluster + "/shop-2", "shop"}};
    });
  }

  void SetQuotas(std::vector<Quota> quotas) {
    ChangePolicy([&](AdmissionPolicy& policy) {
      auto compiled = Quotas::Compile(std::move(quotas), *policy.catalogue, policy.parties,
                                      policy.identity.cluster);
      ASSERT_TRUE(compiled.ok()) << compiled.error().message;
      policy.quotas = std::make_shared<const Quotas>(std::move(compiled).value());
    });
  }
};

TEST_F(QuotaRule, IsOffWithoutQuotas) {
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_TRUE(Send(QueueOf("team-a", name)).allowed);
    EXPECT_EQ(Found(), "");
  }
}

TEST_F(QuotaRule, EachNamespaceOfAPatternHasAQuotaOfItsOwn) {
  SetQuotas({{.type = "sqs/Queue", .ns = "team-*", .max = 2}});
  EXPECT_TRUE(Send(QueueOf("team-a", "one")).allowed);
  const Answered second = Send(QueueOf("team-a", "two"));
  EXPECT_TRUE(second.allowed);
  EXPECT_EQ(second.warnings,
            std::vector<std::string>({"truce: quota: namespace \"team-a\" has 1 of 2 sqs/Queue"}));
  const Answered third = Send(QueueOf("team-a", "three"));
  EXPECT_FALSE(third.allowed);
  EXPECT_EQ(third.code, 403);
  EXPECT_EQ(OnlyFinding().cause,
            "SQS queue \"three\" is beyond a quota: namespace \"team-a\" has 2 of 2 sqs/Queue, "
            "with this one 3.");
  EXPECT_EQ(Found(), "quota enforce");
  EXPECT_EQ(Contents().owners.size(), 2U) << "nothing is reserved";
  EXPECT_TRUE(Send(QueueOf("team-b", "three")).allowed);
  EXPECT_TRUE(Send(QueueOf("shop-1", "three", "one", "eu-west-2")).allowed) << "matched by none";
}

TEST_F(QuotaRule, CountsByAccountRegionServiceAndType) {
  SetQuotas({{.type = "sqs/Queue", .account = std::string(kOne), .region = "eu-*", .max = 2}});
  EXPECT_TRUE(Send(QueueOf("team-a", "a")).allowed);
  EXPECT_TRUE(Send(QueueOf("team-b", "b")).allowed);
  EXPECT_FALSE(Send(QueueOf("shop-1", "c")).allowed) << "of whatever namespace";
  EXPECT_TRUE(Send(QueueOf("shop-1", "c", "one", "eu-west-2")).allowed) << "another region";
  EXPECT_TRUE(Send(QueueOf("shop-1", "d", "one", "us-east-1")).allowed) << "matched by none";
  SetQuotas({{.type = "sqs/Queue", .service = "shop", .max = 3}});
  EXPECT_TRUE(Send(QueueOf("shop-2", "e")).allowed);
  const Answered beyond = Send(QueueOf("shop-2", "f"));
  EXPECT_FALSE(beyond.allowed) << "both namespaces of the service together";
  EXPECT_EQ(
      OnlyFinding().cause,
      "SQS queue \"f\" is beyond a quota: service \"shop\" has 3 of 3 sqs/Queue, with this one 4.");
  EXPECT_TRUE(Send(QueueOf("team-a", "f")).allowed);
  SetQuotas({{.type = "sqs/Queue", .max = 6}});
  EXPECT_FALSE(Send(QueueOf("team-b", "g")).allowed);
}

TEST_F(QuotaRule, WhatIsInNoKnownAccountWarns) {
  SetQuotas({{.type = "sqs/Queue", .account = "*", .max = 1}});
  const Answered unknown = Send(QueueOf("team-a", "a", "unheard"));
  EXPECT_TRUE(unknown.allowed);
  EXPECT_EQ(
      unknown.warnings,
      std::vector<std::string>({"truce: SQS queue \"a\": no quota counts it: account not known"}));
  EXPECT_EQ(Found(), "quota warn");
  EXPECT_TRUE(Send(QueueOf("team-a", "b")).allowed) << "the first of its account";
  EXPECT_FALSE(Send(QueueOf("team-a", "c")).allowed);
}

// Everything that needs no new place passes, however full the quota is.
TEST_F(QuotaRule, WhatExistsIsNeverRefused) {
  Sent queue = QueueOf("team-a", "jobs");
  ASSERT_TRUE(Send(queue).allowed);
  ASSERT_TRUE(Send(QueueOf("team-a", "more")).allowed);
  SetQuotas({{.type = "sqs/Queue", .ns = "*", .max = 1}});
  Sent again = queue;
  EXPECT_TRUE(Send(again).allowed) << "the same review comes twice";
  Sent change = queue;
  change.operation = "UPDATE";
  change.review = "change";
  change.old_spec = queue.spec;
  change.spec.replace(change.spec.find("\"forProvider\":{"), 15, "\"forProvider\":{\"tags\":{},");
  EXPECT_TRUE(Send(change).allowed);
  Sent renamed = change;
  renamed.review = "rename";
  renamed.spec.replace(renamed.spec.find("\"name\":\"jobs\""), 13, "\"name\":\"other\"");
  EXPECT_FALSE(Send(renamed).allowed) << "another name is another queue";
  Sent observer = QueueOf("team-a", "seen");
  observer.spec.replace(observer.spec.find("\"*\""), 3, "\"Observe\"");
  EXPECT_TRUE(Send(observer).allowed);
  EXPECT_EQ(Found(), "");
  ChangePolicy([](AdmissionPolicy& policy) { policy.restorers.emplace_back("velero"); });
  Sent restored = QueueOf("team-a", "restored");
  restored.user = "velero";
  EXPECT_TRUE(Send(restored).allowed);
  EXPECT_EQ(Found(), "quota warn");
}

// A second manager that only warns takes no place.
// Else a namespace whose quota is full would go on by objects that it is deleting (E6).
TEST_F(QuotaRule, CountsWhatATerminatingObjectAdds) {
  SetQuotas({{.type = "sqs/Queue", .ns = "team-*", .max = 1}});
  const Sent queue = QueueOf("team-a", "one");
  ASSERT_TRUE(Send(queue).allowed);
  Sent renamed = QueueOf("team-a", "one");
  renamed.operation = "UPDATE";
  renamed.review = "rename";
  renamed.old_spec = queue.spec;
  renamed.spec.replace(renamed.spec.find("\"name\":\"one\""), 12, "\"name\":\"two\"");
  renamed.metadata = R"(,"deletionTimestamp":"2026-11-21T07:59:30Z")";
  renamed.old_metadata = renamed.metadata + R"(,"finalizers":["example.org/wait"])";
  EXPECT_FALSE(Send(renamed).allowed);
  EXPECT_EQ(Found(), "quota enforce");
  renamed.spec = queue.spec;
  EXPECT_TRUE(Send(renamed).allowed) << "adds nothing (I10)";
}

TEST_F(QuotaRule, ConflictsDoNotCount) {
  SetQuotas({{.type = "sqs/Queue", .account = "*", .max = 1}});
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kWarn; });
  EXPECT_TRUE(Send(QueueOf("team-a", "jobs")).allowed);
  EXPECT_TRUE(Send(QueueOf("team-b", "jobs")).allowed);
  EXPECT_EQ(Found(), "duplicate-ownership warn");
  EXPECT_TRUE(Send(QueueOf("team-b", "other")).allowed);
  EXPECT_EQ(Found(), "quota warn") << "the mode of the type";
}

TEST_F(QuotaRule, FollowsTheModeOfTheRule) {
  SetQuotas({{.type = "sqs/Queue", .ns = "team-a", .max = 1}});
  ChangePolicy([](AdmissionPolicy& policy) {
    policy.modes.rules[static_cast<std::size_t>(Rule::kQuota)].push_back(
        {Mode::kAudit, {}, {}, {}, ""});
  });
  EXPECT_TRUE(Send(QueueOf("team-a", "a")).allowed);
  const Answered second = Send(QueueOf("team-a", "b"));
  EXPECT_TRUE(second.allowed);
  EXPECT_TRUE(second.warnings.empty());
  EXPECT_EQ(Found(), "quota audit");
}

TEST_F(QuotaRule, ADryRunIsToldTheSame) {
  SetQuotas({{.type = "sqs/Queue", .ns = "team-a", .max = 1}});
  ASSERT_TRUE(Send(QueueOf("team-a", "a")).allowed);
  Sent dry = QueueOf("team-a", "b");
  dry.dry_run = true;
  EXPECT_FALSE(Send(dry).allowed);
  EXPECT_EQ(Found(), "quota enforce");
}

// The bound of what a forged account does, by an external name or, where statuses are not guarded,
// by a status: each fills one place of the account that it names, and costs its author an
// ownership, which its namespace's quota counts.
TEST_F(QuotaRule, AForgedAccountFillsNoMorePlacesThanItsAuthorMayHave) {
  SetQuotas({{.type = "sqs/Queue", .account = std::string(kOne), .max = 3, .warn_at = 100},
             {.type = "sqs/Queue", .ns = "team-*", .max = 2, .warn_at = 100}});
  const auto forged = [](const std::string& name) {
    Sent sent = QueueOf("team-b", name, "unheard");
    sent.status = R"({"atProvider":{"arn":"arn:aws:sqs:eu-west-1:111111111111:)" + name + "\"}}";
    return sent;
  };
  EXPECT_TRUE(Send(forged("a")).allowed);
  Sent by_name = QueueOf("team-b", "b", "unheard");
  by_name.metadata = R"(,"annotations":{"crossplane.io/external-name":)"
                     R"("https://sqs.eu-west-1.amazonaws.com/111111111111/b"})";
  EXPECT_TRUE(Send(by_name).allowed);
  EXPECT_FALSE(Send(forged("c")).allowed);
  EXPECT_TRUE(Send(QueueOf("team-a", "mine")).allowed) << "the third of the account";
  EXPECT_FALSE(Send(QueueOf("team-a", "more")).allowed);
  ASSERT_EQ(Found(), "quota enforce, quota warn");
  EXPECT_EQ(sink_.last().told[0].cause,
            "SQS queue \"more\" is beyond a quota: account 111111111111 has 3 of 3 sqs/Queue, with "
            "this one 4.");
}

// A question about what is to be declared.
TEST_F(QuotaRule, ACheckIsToldBeforehand) {
  SetQuotas({{.type = "sqs/Queue", .ns = "team-a", .max = 2}});
  ASSERT_TRUE(Send(QueueOf("team-a", "jobs")).allowed);
  Sent check;
  check.group = "truce.dev";
  check.version = "v1alpha1";
  check.kind = "OwnershipCheck";
  check.ns = "team-a";
  check.name = "before";
  check.uid = "uid-check";
  const auto queue = [](const std::string& name) {
    return R"({"type":"sqs/Queue","parts":{"name":")" + name +
           R"("},"account":"111111111111","region":"eu-west-1"})";
  };
  check.spec = R"({"declarations":[)" + queue("jobs") + "," + queue("new") + "]}";
  EXPECT_TRUE(Check(check).allowed) << "one of them is there already";
  EXPECT_EQ(Found(), "quota warn");
  check.spec = R"({"declarations":[)" + queue("new") + "," + queue("newer") + "]}";
  const Answered refused = Check(check);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.message,
            "2 resources of this object are refused: SQS queue \"new\", SQS queue \"newer\".\nSQS "
            "queue \"new\" is beyond a quota: namespace \"team-a\" has 1 of 2 sqs/Queue, with the "
            "2 of this object 3.\nAsk your platform team for more (setting quotas), or give up "
            "what nobody "
            "needs: `truce list --type sqs/Queue -n team-a` shows them, orphaned ones too. "
            "[quota]\nSQS queue \"newer\" is beyond a quota: namespace "
            "\"team-a\" has 1 of 2 sqs/Queue, with the 2 of this object 3.\nAsk your platform team "
            "for more (setting quotas), or give up what nobody needs: `truce list --type sqs/Queue "
            "-n team-a` shows them, orphaned ones too. [quota]");
}

// Its manifests together, and what it declares beside them: each resource once, in order.
TEST_F(QuotaRule, ACheckIsToldOfAllThatItAsks) {
  SetQuotas({{.type = "sqs/Queue", .ns = "team-*", .max = 3, .warn_at = 100}});
  ASSERT_TRUE(Send(QueueOf("team-a", "there")).allowed);
  const auto manifest = [](const std::string& ns, const std::string& name) {
    return R"({"apiVersion":"sqs.aws.m.upbound.io/v1beta1","kind":"Queue","metadata":{"name":")" +
           name + R"(","namespace":")" + ns + R"("},"spec":)" + QueueOf(ns, name).spec + "}";
  };
  const auto check = [](const std::string& declarations, const std::string& manifests) {
    Sent sent;
    sent.group = "truce.dev";
    sent.version = "v1alpha1";
    sent.kind = "OwnershipCheck";
    sent.ns = "team-a";
    sent.name = "before";
    sent.uid = "uid-check";
    sent.spec = R"({"declarations":[)" + declarations + R"(],"manifests":[)" + manifests + "]}";
    return sent;
  };
  const std::string one = manifest("team-a", "one");
  const std::string two = manifest("team-a", "two");
  const std::string three = manifest("team-a", "three");
  EXPECT_TRUE(Check(check("", one)).allowed);
  EXPECT_EQ(Found(), "");
  const Answered last = Check(check("", one + "," + two));
  EXPECT_TRUE(last.allowed);
  EXPECT_EQ(Found(), "quota warn") << "of the second alone";
  const Answered beyond = Check(check("", one + "," + two + "," + three));
  EXPECT_FALSE(beyond.allowed);
  ASSERT_EQ(Found(), "quota warn, quota enforce") << "the two that come first have a place";
  EXPECT_EQ(sink_.last().told[1].cause,
            "SQS queue \"three\" is beyond a quota: namespace \"team-a\" has 1 of 3 sqs/Queue, "
            "with this one and the 2 before it in this check 4.");
  EXPECT_TRUE(Check(check("", manifest("team-a", "there") + "," + one + "," + two)).allowed)
      << "what is there needs none";
  EXPECT_TRUE(Check(check("", one + "," + two + "," + manifest("team-b", "x"))).allowed)
      << "another namespace's";
  const std::string declared =
      R"({"type":"sqs/Queue","parts":{"name":"one"},"account":"111111111111","region":"eu-west-1"})";
  EXPECT_TRUE(Check(check(declared, one + "," + two)).allowed) << "declared, and said again";
  EXPECT_FALSE(Check(check(declared, two + "," + three)).allowed);
  EXPECT_EQ(Contents().owners.size(), 1U) << "nothing is written";
}

TEST(QuotaRules, TheWarningBeginsAtItsShare) {
  EXPECT_EQ(WarnsFrom({.max = 20}), 16U);
  EXPECT_EQ(WarnsFrom({.max = 1}), 1U);
  EXPECT_EQ(WarnsFrom({.max = 3, .warn_at = 50}), 2U);
  EXPECT_EQ(WarnsFrom({.max = 1'000'000'000, .warn_at = 100}), 1'000'000'000U);
  const Quota quota{.type = "s3/Bucket", .max = 10, .warn_at = 100};
  EXPECT_FALSE(QuotaFull({.resource = "x", .quota = &quota, .used = 8}).has_value());
  EXPECT_EQ(QuotaFull({.resource = "x", .quota = &quota, .used = 9})->mode, Mode::kWarn);
  EXPECT_EQ(QuotaFull({.resource = "x", .quota = &quota, .used = 10})->mode, Mode::kEnforce);
}

TEST(QuotaRules, BadOnesAreRefusedInOneLine) {
  const PartyRules parties{.services = {{"local/shop-1", "shop"}}};
  struct Case {
    Quota quota;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{.type = "s3/Bucked"}, "t.yaml:2: quotas: no type 's3/Bucked'; did you mean 's3/Bucket'?"},
      {{.type = "s3/Bucket", .account = "12"},
       "t.yaml:2: quotas: account '12' is neither the 12 digits of an AWS account, in quotes, nor "
       "a pattern of digits and '*'"},
      {{.type = "s3/Bucket", .region = "EU"},
       "t.yaml:2: quotas: region 'EU' is none; write eu-west-1, or a pattern as eu-*"},
      {{.type = "iam/Role", .region = "eu-west-1"},
       "t.yaml:2: quotas: type iam/Role lies in no region; leave 'region' out"},
      {{.type = "s3/Bucket", .ns = "team_[ab]"},
       "t.yaml:2: quotas: namespace 'team_[ab]' is none; write team-a, or a pattern as team-*"},
      {{.type = "s3/Bucket", .ns = "a", .service = "shop"},
       "t.yaml:2: quotas: has a namespace and a service; a service is counted in all namespaces "
       "that parties binds to it, so leave one of the two out"},
      {{.type = "s3/Bucket", .service = "cart"},
       "t.yaml:2: quotas: no service 'cart' is bound to namespaces, and labels are anyone's to "
       "write; bind it in parties: [{service: …, namespaces: […]}]"}};
  for (Case each : cases) {
    each.quota.location = "t.yaml:2";
    const auto compiled = Quotas::Compile({each.quota}, Catalogue::BuiltIn(), parties, "local");
    ASSERT_FALSE(compiled.ok()) << each.message;
    EXPECT_EQ(compiled.error().message, each.message);
  }
  const Quota first{.type = "s3/Bucket", .ns = "team-*", .max = 1, .location = "t.yaml:2"};
  const Quota second{.type = "s3/Bucket", .ns = "team-*", .max = 9, .location = "t.yaml:5"};
  const auto twice = Quotas::Compile({first, second}, Catalogue::BuiltIn(), parties, "local");
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().message,
            "t.yaml:5: quotas: counts the same as the quota at t.yaml:2; remove one of the two");
}

}  // namespace quota_test
}  // namespace truce
