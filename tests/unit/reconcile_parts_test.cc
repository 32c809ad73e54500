// The smaller parts of the reconciliation: kinds, observed versions, accounts, recovery, unresolved
// holders.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "registry/store/administration.h"
#include "tests/support/memory_store.h"
#include "webhook/watch/accounts.h"
#include "webhook/watch/kinds.h"
#include "webhook/watch/observed_version.h"
#include "webhook/watch/recovery/recovery.h"
#include "webhook/watch/review_inbox.h"
#include "webhook/watch/unresolved_holders.h"
#include "webhook/wire/json_reader.h"

namespace truce {
namespace reconcile_parts_test {

using namespace std::chrono_literals;

Deadline Soon() { return std::chrono::steady_clock::now() + 10s; }

std::string AccountIn(const std::string& spec) {
  JsonReader reader;
  const auto document = reader.Read(R"({"metadata":{"name":"x"},"spec":)" + spec + "}");
  return AccountOfProviderConfig(document.value().root());
}

TEST(Accounts, TheLastRoleOfTheChainCounts) {
  EXPECT_EQ(AccountIn(R"({"assumeRoleChain":[{"roleARN":"arn:aws:iam::111111111111:role/a"},
                          {"roleARN":"arn:aws:iam::222222222222:role/b"}]})"),
            "222222222222");
  EXPECT_EQ(AccountIn(R"({"assumeRoleChain":[{"roleARN":"arn:aws:iam::111111111111:role/a"},{}],
      "credentials":{"webIdentity":{"roleARN":"arn:aws:iam::333333333333:role/c"}}})"),
            "")
      << "a last role that is not written out: nothing before it counts";
}

TEST(Accounts, EveryPlaceOfARole) {
  const std::string role = R"({"roleARN":"arn:aws-cn:iam::111111111111:role/a"})";
  for (const std::string& spec :
       {R"({"credentials":{"webIdentity":)" + role + "}}",
        R"({"credentials":{"upbound":{"webIdentity":)" + role + "}}}",
        R"({"assumeRole":)" + role + "}", R"({"assumeRoleWithWebIdentity":)" + role + "}",
        std::string(R"({"assumeRoleARN":"arn:aws:iam::111111111111:role/a"})")}) {
    EXPECT_EQ(AccountIn(spec), "111111111111") << spec;
  }
}

TEST(Accounts, NothingElseIsEvidence) {
  for (const char* spec :
       {R"({})", R"({"credentials":{"source":"IRSA"}})", R"({"assumeRoleChain":[]})",
        R"({"assumeRoleChain":"x"})", R"({"assumeRoleChain":[{"roleARN":7}]})",
        R"({"assumeRoleARN":"arn:aws:iam::12:role/a"})", R"({"assumeRoleARN":"role/a"})"}) {
    EXPECT_EQ(AccountIn(spec), "") << spec;
  }
}

TEST(Accounts, EndpointsOutsideOfAws) {
  const auto outside = [](const std::string& endpoint) {
    JsonReader reader;
    const auto document = reader.Read(R"({"spec":{"endpoint":)" + endpoint + "}}");
    return OutsideEndpointOf(document.value().root());
  };
  const auto fixed = [&](const std::string& url) {
    return outside(R"({"url":{"type":"Static","static":")" + url + R"("}})");
  };
  for (const char* url :
       {"https://sqs.eu-west-1.amazonaws.com", "https://iam.amazonaws.com/",
        "sts.amazonaws.com:443", "https://sqs.cn-north-1.amazonaws.com.cn",
        "https://s3-fips.us-gov-west-1.amazonaws.com",
        "https://vpce-0a-1b.sqs.eu-west-1.vpce.amazonaws.com", "https://ec2.eu-west-1.api.aws"}) {
    EXPECT_FALSE(fixed(url).has_value()) << url;
  }
  for (const char* url :
       {"http://localhost:4566", "https://localhost.localstack.cloud", "http://10.0.0.1",
        "https://sqs.eu-west-1.amazonaws.com.example.org", "https://x.example.org/amazonaws.com",
        "https://amazonaws.com@example.org", "https://evilamazonaws.com", "https://.amazonaws.com",
        "https://my-lb-1.eu-west-1.elb.amazonaws.com", "https://my-nlb.elb.eu-west-1.amazonaws.com",
        "https://abc.execute-api.eu-west-1.amazonaws.com",
        "https://ec2-1-2-3-4.compute-1.amazonaws.com",
        "https://vpce-0a.vpce-svc-1.eu-west-1.vpce.amazonaws.com", "https://"}) {
    EXPECT_TRUE(fixed(url).has_value()) << url;
  }
  EXPECT_TRUE(outside(R"({"url":{"type":"Dynamic","dynamic":{"protocol":"http","host":"fake"}}})")
                  .has_value());
  EXPECT_FALSE(
      outside(R"({"url":{"type":"Dynamic","dynamic":{"protocol":"https","host":"amazonaws.com"}}})")
          .has_value());
  EXPECT_FALSE(outside(R"({"partitionId":"aws"})").has_value()) << "no URL: AWS";
  EXPECT_FALSE(outside("null").has_value());
  EXPECT_EQ(fixed("http://LocalStack.dev:4566/x")->host, "localstack.dev:4566");
  EXPECT_EQ(fixed("http://me@minio.:80")->host, "minio");
  EXPECT_FALSE(fixed("https://SQS.eu-west-1.Amazonaws.com.").has_value()) << "as DNS reads it";
  EXPECT_EQ(fixed("https://minio:443/")->host, "minio");
  EXPECT_EQ(fixed("https://minio:80/")->host, "minio:80");
  EXPECT_EQ(fixed("http://" + std::string(5000, 'a'))->host.size(), 16U);
  EXPECT_EQ(outside(R"({"url":{"static":"http://a"},"services":["s3","SQS","*"]})")->services,
            (std::set<std::string>{"s3", "sqs"}));
}

TEST(Accounts, ConfigurationWinsAndWhatIsKnownStays) {
  Accounts accounts;
  const ProviderConfigName config{"aws.upbound.io", "ProviderConfig", "", "prod"};
  EXPECT_EQ(accounts.Saw(config, "111111111111"), Accounts::News::kLearned);
  EXPECT_EQ(accounts.Saw(config, "111111111111"), Accounts::News::kNone);
  EXPECT_EQ(accounts.Saw(config, ""), Accounts::News::kNone) << "it says nothing now";
  EXPECT_EQ(accounts.Effective().at(config), "111111111111");
  EXPECT_EQ(accounts.Saw(config, "222222222222"), Accounts::News::kMoved);
  accounts.Configure({{config, "999999999999"}}, {});
  EXPECT_EQ(accounts.Saw(config, "333333333333"), Accounts::News::kNone) << "configuration wins";
  EXPECT_EQ(accounts.Effective().at(config), "999999999999");
}

TEST(Accounts, TellWhatIsNotThrough) {
  Accounts accounts;
  const ProviderConfigName prod{"aws.upbound.io", "ProviderConfig", "", "prod"};
  const ProviderConfigName stage{"aws.upbound.io", "ProviderConfig", "", "stage"};
  accounts.Remember({{prod, "111111111111"}}, {});
  accounts.Configure({{stage, "111111111111"}}, {});
  const AccountMap both = accounts.Moving();
  EXPECT_EQ(both, (AccountMap{{prod, "111111111111"}, {stage, "111111111111"}}));
  const std::vector<std::string> provisional_accounts{"?test/aws.upbound.io/ProviderConfig//prod",
                                                      "?test/aws.upbound.io/ProviderConfig//stage"};
  EXPECT_EQ(ProvisionalAccountsOf(both, "test").at("111111111111"), provisional_accounts);
  accounts.Brought(both);
  EXPECT_TRUE(accounts.Moving().empty());
  accounts.Saw(prod, "222222222222");
  EXPECT_EQ(accounts.Moving(), (AccountMap{{prod, "222222222222"}}));
  accounts.Begin(accounts.Moving());
  accounts.Saw(prod, "111111111111");
  EXPECT_EQ(accounts.Moving(), (AccountMap{{prod, "111111111111"}})) << "back, half way";
  accounts.Saw(prod, "222222222222");
  accounts.Remember(accounts.learned(), AccountMap(accounts.brought()));
  EXPECT_EQ(accounts.Moving(), (AccountMap{{prod, "222222222222"}})) << "by a later process";
}

TEST(Accounts, ATenantsProviderConfigLeadsToNoAccountOfOthers) {
  Accounts accounts;
  const std::string one = "111111111111";
  const ProviderConfigName theirs{"aws.m.upbound.io", "ProviderConfig", "team-b", "p"};
  const ProviderConfigName own{"aws.m.upbound.io", "ProviderConfig", "team-a", "p"};
  const ProviderConfigName shared{"aws.m.upbound.io", "ClusterProviderConfig", "", "p"};
  const ProviderConfigName configured{"aws.m.upbound.io", "ProviderConfig", "team-c", "p"};
  const ProviderConfigName their_namespace{"", "Namespace", "", "team-b"};
  const ProviderConfigName own_namespace{"", "Namespace", "", "team-a"};
  accounts.Configure({{configured, one}}, {{one, {"team-a"}}});
  AccountMap all{{configured, one}};
  for (const ProviderConfigName& config : {theirs, own, shared, their_namespace, own_namespace}) {
    accounts.Saw(config, one);
    all[config] = one;
  }
  AccountMap followed = all;
  followed.erase(theirs);
  followed.erase(their_namespace);
  EXPECT_EQ(accounts.Effective(), all) << "by which its declarations are refused";
  EXPECT_EQ(accounts.Followed(), followed);
  EXPECT_EQ(accounts.Moving(), followed);
  accounts.Configure({{configured, one}}, {{"222222222222", {"team-a"}}});
  EXPECT_EQ(accounts.Followed(), all) << "bound to nobody";
}

TEST(Accounts, ProviderConfigsOfAllGroups) {
  EXPECT_TRUE(IsProviderConfig({"aws.upbound.io", "ProviderConfig"}));
  EXPECT_TRUE(IsProviderConfig({"aws.crossplane.io", "ProviderConfig"}));
  EXPECT_TRUE(IsProviderConfig({"aws.m.upbound.io", "ProviderConfig"}));
  EXPECT_TRUE(IsProviderConfig({"aws.m.upbound.io", "ClusterProviderConfig"}));
  EXPECT_TRUE(IsProviderConfig({"", "Namespace"})) << "of ACK";
  EXPECT_FALSE(IsProviderConfig({"services.k8s.aws", "Namespace"}));
  EXPECT_FALSE(IsProviderConfig({"aws.upbound.io", "ClusterProviderConfig"}));
  EXPECT_FALSE(IsProviderConfig({"gcp.upbound.io", "ProviderConfig"}));
}

Discovery Served() {
  Discovery discovery;
  const auto add = [&](const char* group, const char* kind, std::vector<std::string> verbs) {
    discovery.kinds.push_back({{group, "v1", kind, "plural", false}, std::move(verbs)});
  };
  add("s3.aws.upbound.io", "Bucket", {"get", "list", "watch"});
  add("sqs.aws.upbound.io", "Queue", {"get", "list"});
  add("acme.example.org", "XStorage", {"list", "watch"});
  add("acme.example.org", "Storage", {"list", "watch"});
  add("apps", "Deployment", {"list", "watch"});
  add("aws.upbound.io", "ProviderConfig", {"list", "watch"});
  add("apiextensions.k8s.io", "CustomResourceDefinition", {"list", "watch"});
  return discovery;
}

TEST(Kinds, RolesAndTheirOrder) {
  const MappingRules mappings;
  const CompositeKinds xrd{{"acme.example.org", "XStorage"},
                           GroupKind{"acme.example.org", "Storage"}};
  const auto kinds = KindsToFollow(Served(), {&Catalogue::BuiltIn(), &mappings, {}}, {&xrd, 1});
  std::vector<std::pair<std::string, Role>> found;
  for (const FollowedKind& kind : kinds) found.emplace_back(kind.selection.kind.kind, kind.role);
  const std::vector<std::pair<std::string, Role>> expected{
      {"CustomResourceDefinition", Role::kDefinition},
      {"ProviderConfig", Role::kProviderConfig},
      {"Bucket", Role::kManaged},
      {"XStorage", Role::kComposite},
      {"Storage", Role::kClaim}};
  EXPECT_EQ(found, expected) << "what cannot be watched is left out, and so is what nobody knows";
  EXPECT_TRUE(kinds[0].selection.metadata_only);
  EXPECT_TRUE(kinds[0].always);
  EXPECT_FALSE(kinds[2].always);
}

TEST(Kinds, NamespacesAreFollowedForAckAlone) {
  const MappingRules mappings;
  Discovery served = Served();
  served.kinds.push_back({{"", "v1", "Namespace", "namespaces", false}, {"list", "watch"}});
  const auto namespaces = [&] {
    auto kinds = KindsToFollow(served, {&Catalogue::BuiltIn(), &mappings, {}}, {});
    std::erase_if(kinds, [](const FollowedKind& kind) { return !kind.group_kind().group.empty(); });
    return kinds;
  };
  EXPECT_TRUE(namespaces().empty());
  served.kinds.push_back({{"s3.services.k8s.aws", "v1alpha1", "Bucket", "buckets", true}, {}});
  ASSERT_EQ(namespaces().size(), 1U);
  EXPECT_EQ(namespaces()[0].role, Role::kProviderConfig);
  EXPECT_TRUE(namespaces()[0].selection.metadata_only);
}

TEST(Kinds, DefinitionsByName) {
  const ServedKind bucket{"s3.aws.upbound.io", "v1", "Bucket", "buckets", false};
  EXPECT_TRUE(IsDefinitionOf("buckets.s3.aws.upbound.io", bucket));
  EXPECT_FALSE(IsDefinitionOf("buckets.s3.aws.crossplane.io", bucket));
  EXPECT_FALSE(IsDefinitionOf("s3.aws.upbound.io", bucket));
}

TEST(ObservedVersions, WhatDetectorsNeed) {
  JsonReader reader;
  const auto document = reader.Read(R"({"metadata":{"name":"a","uid":"u","generation":7,
      "resourceVersion":"12","labels":{"crossplane.io/composite":"x"},"managedFields":[{"a":1}]},
      "status":{"atProvider":{"tags":{"crossplane-name":"rival","b":"1"}},
      "conditions":[{"type":"Ready","status":"False","reason":"Creating",
      "lastTransitionTime":"2026-01-01T00:00:00Z"},{"type":"Synced","status":"True"}]}})");
  ASSERT_TRUE(document.ok());
  EXPECT_FALSE(document.value().root().Child("metadata").Child("managedFields").exists());
  FollowedKind kind;
  kind.selection.kind = {"s3.aws.upbound.io", "v1", "Bucket", "buckets", false};
  IdentityRules rules;
  rules.cluster = "test";
  rules.catalogue = &Catalogue::BuiltIn();
  const ObservedVersion seen = ReadObservedVersion(document.value().root(), kind, rules);
  EXPECT_EQ(seen.generation, 7);
  EXPECT_EQ(seen.facts.version, 12U);
  EXPECT_EQ(seen.ready.status, ConditionSeen::Status::kFalse);
  EXPECT_EQ(seen.ready.reason, "Creating");
  EXPECT_EQ(seen.synced.status, ConditionSeen::Status::kTrue);
  EXPECT_TRUE(seen.has_tags);
}

TEST(ObservedVersions, ConditionsOfAck) {
  FollowedKind kind;
  kind.selection.kind = {"s3.services.k8s.aws", "v1alpha1", "Bucket", "buckets", true};
  IdentityRules rules;
  rules.catalogue = &Catalogue::BuiltIn();
  const auto seen = [&](const std::string& finalizers, const std::string& conditions) {
    JsonReader reader;
    const auto document = reader.Read(R"({"metadata":{"name":"a","finalizers":[)" + finalizers +
                                      R"(]},"status":{"conditions":[)" + conditions + "]}}");
    return ReadObservedVersion(document.value().root(), kind, rules);
  };
  const std::string terminal =
      R"({"type":"ACK.Terminal","status":"True","message":"Resource already exists"})";
  const std::string own = R"("finalizers.s3.services.k8s.aws/Bucket")";
  EXPECT_TRUE(seen("", terminal).dormant);
  EXPECT_EQ(seen("", terminal).trouble, "Resource already exists\n");
  EXPECT_FALSE(seen(own, terminal).dormant) << "it manages, and an update is refused";
  EXPECT_FALSE(seen("", R"({"type":"ACK.Terminal","status":"False"})").dormant);
  EXPECT_EQ(
      seen(own, R"({"type":"ACK.Recoverable","status":"True","message":"Throttling"})").trouble,
      "Throttling\n");
  const ObservedVersion unsynced =
      seen(own, R"({"type":"ACK.ResourceSynced","status":"False","message":"waits"})");
  EXPECT_EQ(unsynced.trouble, "") << "a state, no error";
  EXPECT_EQ(unsynced.synced.status, ConditionSeen::Status::kFalse);
}

TEST(ObservedVersions, BadJsonIsAnError) {
  JsonReader reader;
  for (const char* json : {"", "{", "[]", "7", "<html>", "{\"a\":\"\xff\"}"}) {
    EXPECT_FALSE(reader.Read(json).ok()) << json;
  }
  const auto nested = [&](std::size_t depth) {
    std::string json;
    for (std::size_t i = 0; i < depth; ++i) json += "{\"a\":";
    return reader.Read(json + "1" + std::string(depth, '}')).ok();
  };
  EXPECT_TRUE(nested(1'000'000)) << "what lies deep is not ours to judge";
  EXPECT_TRUE(reader.Read("{}").ok()) << "and the reader goes on";
}

TEST(Recovery, AStoreOfAnotherClusterIsRefusedWithTheWaysOut) {
  MemoryStore store;
  ASSERT_TRUE(BindCluster(store, "prod", {"uid-1"}, Soon()).ok());
  ASSERT_TRUE(BindCluster(store, "prod", {"uid-1"}, Soon()).ok());
  ASSERT_TRUE(BindCluster(store, "other", {"uid-2"}, Soon()).ok());
  const auto refused = BindCluster(store, "prod", {"uid-2"}, Soon());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_EQ(refused.error().message,
            "the registry knows cluster \"prod\" by the uid uid-1 of its kube-system namespace, "
            "and this one has uid-2: use the kubeconfig of that cluster, or give this one another "
            "--cluster-id, or another registry (--data-dir, --store)");
}

TEST(Recovery, MarksTellARestoredAndARebuiltRegistry) {
  MemoryStore store;
  int ids = 0;
  const IdSource source = [&] { return PublicId{"id" + std::to_string(++ids)}; };
  const StoreMark first = CountStart(store, source, Soon()).value();
  const StoreMark second = CountStart(store, source, Soon()).value();
  EXPECT_EQ(first.id, second.id);
  EXPECT_EQ(CompareMarks(first, std::nullopt), Behind::kNo);
  EXPECT_EQ(CompareMarks(second, first), Behind::kNo);
  EXPECT_EQ(CompareMarks(second, second), Behind::kOlder) << "this start is remembered already";
  EXPECT_EQ(CompareMarks(first, second), Behind::kOlder);
  EXPECT_EQ(CompareMarks({"another", 9}, second), Behind::kOther);
  EXPECT_EQ(StoreMarkFromText(ToText(second) + "\n"), second);
  for (const char* text : {"", "x", " 1", "x y", "x 1z"}) EXPECT_FALSE(StoreMarkFromText(text));
}

TEST(Recovery, EnteredResyncedFinished) {
  MemoryStore store;
  const auto run = [&](const std::function<void(Administration&)>& change) {
    ASSERT_TRUE(Administer(store, Timestamp(5h), Soon(), change).ok());
  };
  RecoveryEnd end = RecoveryEnd::kEnded;
  run([&](Administration& books) { end = FinishRecovery("me", false, books); });
  EXPECT_EQ(end, RecoveryEnd::kNotEntered);
  run([](Administration& books) { EnterRecovery("restored", "start", books); });
  run([](Administration& books) { EnterRecovery("again", "start", books); });
  auto state = ReadRecovery(store, Soon()).value();
  ASSERT_TRUE(state);
  EXPECT_EQ(state->reason, "restored");
  EXPECT_EQ(state->since, Timestamp(5h));
  run([&](Administration& books) { end = FinishRecovery("me", false, books); });
  EXPECT_EQ(end, RecoveryEnd::kNotResynced);
  run(&NoteResynced);
  EXPECT_TRUE(ReadRecovery(store, Soon()).value()->resynced);
  run([&](Administration& books) { end = FinishRecovery("me", false, books); });
  EXPECT_EQ(end, RecoveryEnd::kEnded);
  EXPECT_FALSE(ReadRecovery(store, Soon()).value());
}

TEST(UnresolvedHolders, SlotsAndKinds) {
  UnresolvedHolders holders;
  const Slot slot{"c", "g", "K", "", "a"};
  EXPECT_EQ(holders.ReasonOf(slot), "");
  holders.SetKind({"g", "K"}, "frozen");
  EXPECT_EQ(holders.ReasonOf(slot), "frozen");
  holders.Add(slot, "missing");
  EXPECT_EQ(holders.ReasonOf(slot), "missing");
  holders.Remove(slot);
  holders.SetKind({"g", "K"}, "");
  EXPECT_EQ(holders.ReasonOf(slot), "");
  EXPECT_EQ(holders.size(), 0U);
}

TEST(ReviewInbox, TheInboxIsBoundedAndEmptied) {
  ReviewInbox inbox;
  for (std::size_t i = 0; i < ReviewInbox::kMax + 10; ++i) {
    inbox.Unknown({"c", "g", "K", "", std::to_string(i)});
  }
  inbox.Admitted({"g", "K"});
  const ReviewInbox::Contents contents = inbox.Take();
  EXPECT_EQ(contents.unknown.size(), ReviewInbox::kMax);
  EXPECT_EQ(contents.admitted.size(), 1U);
  EXPECT_TRUE(inbox.Take().empty());
}

}  // namespace reconcile_parts_test
}  // namespace truce
