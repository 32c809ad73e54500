// Rule account-party behind the webhook: a namespace declares in the accounts that are bound to it.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/admission_fixture.h"

namespace truce {
namespace account_party_test {

constexpr std::string_view kOne = "111111111111";
constexpr std::string_view kTwo = "222222222222";

// ProviderConfig "one" of each namespace, and the cluster's, reach account kOne, which is team-a's;
// "two" reaches kTwo, which is nobody's.
class AccountParty : public AdmissionFixture {
 protected:
  AccountParty() {
    ChangePolicy([](AdmissionPolicy& policy) {
      policy.account_parties[std::string(kOne)].emplace("team-a");
      for (const std::string ns : {"team-a", "team-b"}) {
        policy.identity.accounts[{"aws.m.upbound.io", "ProviderConfig", ns, "one"}] = kOne;
        policy.identity.accounts[{"aws.m.upbound.io", "ProviderConfig", ns, "two"}] = kTwo;
      }
      policy.identity.accounts[{"aws.upbound.io", "ProviderConfig", "", "one"}] = kOne;
    });
  }
};

TEST_F(AccountParty, RefusesANamespaceThatIsNotBound) {
  const Answered answer = Send(QueueOf("team-b", "jobs", "one"));
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.code, 403);
  EXPECT_EQ(OnlyFinding().cause,
            "SQS queue \"jobs\" is declared in account 111111111111, which is bound to other "
            "namespaces than \"team-b\".");
  EXPECT_EQ(answer.message.find("team-a"), std::string::npos) << "others are not told of";
  EXPECT_EQ(Found(), "account-party enforce");
  EXPECT_TRUE(Contents().owners.empty()) << "nothing is reserved";
}

// Its ProviderConfig does not tell the account, its external name does.
TEST_F(AccountParty, RefusesAnAddressInAnAccountThatIsNotBound) {
  const auto by_address = [](const std::string& ns, std::string_view account) {
    Sent sent = QueueOf(ns, "jobs", "unheard");
    sent.metadata =
        R"(,"annotations":{"crossplane.io/external-name":"https://sqs.eu-west-1.amazonaws.com/)";
    sent.metadata.append(account).append("/jobs\"}");
    return sent;
  };
  EXPECT_FALSE(Send(by_address("team-b", kOne)).allowed);
  EXPECT_EQ(Found(), "account-party enforce");
  EXPECT_TRUE(Send(by_address("team-b", kTwo)).allowed) << "bound to nobody";
  EXPECT_TRUE(Send(by_address("team-a", kOne)).allowed);
}

TEST_F(AccountParty, LeavesEverybodyElseAlone) {
  EXPECT_TRUE(Send(QueueOf("team-a", "jobs", "one")).allowed);
  EXPECT_TRUE(Send(QueueOf("team-b", "other", "two")).allowed) << "bound to nobody";
  EXPECT_TRUE(Send(QueueOf("team-b", "third", "unheard")).allowed) << "account not known";
  EXPECT_TRUE(Send(Managed("sqs", "Queue", "fourth", R"({"region":"eu-west-1"})")).allowed)
      << "no namespace";
  Sent observer = QueueOf("team-b", "jobs", "one");
  observer.spec.replace(observer.spec.find("\"*\""), 3, "\"Observe\"");
  EXPECT_TRUE(Send(observer).allowed);
  ChangePolicy([](AdmissionPolicy& policy) { policy.account_parties.clear(); });
  EXPECT_TRUE(Send(QueueOf("team-b", "fifth", "one")).allowed) << "off by default";
}

TEST_F(AccountParty, JudgesWhatAnUpdateAdds) {
  Sent queue = QueueOf("team-b", "jobs", "two");
  ASSERT_TRUE(Send(queue).allowed);
  Sent moved = QueueOf("team-b", "jobs", "one");
  moved.operation = "UPDATE";
  moved.review = "move";
  moved.old_spec = queue.spec;
  EXPECT_FALSE(Send(moved).allowed);
  // What was declared there before the account was bound stays changeable.
  moved.old_spec = moved.spec;
  moved.spec.replace(moved.spec.find("\"forProvider\":{"), 15, "\"forProvider\":{\"tags\":{},");
  moved.review = "change";
  EXPECT_TRUE(Send(moved).allowed);
}

// Its deletion would delete what lies there (E6).
TEST_F(AccountParty, JudgesWhatAnUpdateOfATerminatingObjectAdds) {
  Sent queue = QueueOf("team-b", "jobs", "two");
  ASSERT_TRUE(Send(queue).allowed);
  Sent moved = QueueOf("team-b", "jobs", "one");
  moved.operation = "UPDATE";
  moved.review = "move";
  moved.old_spec = queue.spec;
  moved.metadata = R"(,"deletionTimestamp":"2026-11-21T07:59:30Z")";
  moved.old_metadata = moved.metadata + R"(,"finalizers":["example.org/wait"])";
  EXPECT_FALSE(Send(moved).allowed);
  EXPECT_EQ(Found(), "account-party enforce");
  moved.old_spec = moved.spec;
  moved.review = "lets-go";
  EXPECT_TRUE(Send(moved).allowed) << "adds nothing (I10)";
}

// Bound later, the account keeps what stands in it: a new life of it is no new declaration.
TEST_F(AccountParty, WhatTheNamespaceHasThereIsOnlyWarnedOf) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.account_parties.clear(); });
  Sent queue = QueueOf("team-b", "jobs", "one");
  ASSERT_TRUE(Send(queue).allowed);
  ChangePolicy(
      [](AdmissionPolicy& policy) { policy.account_parties[std::string(kOne)].emplace("team-a"); });
  queue.uid = "uid-anew";
  queue.review = "replaced by force";
  EXPECT_TRUE(Send(queue).allowed);
  EXPECT_EQ(Found(), "account-party warn");
  EXPECT_FALSE(Send(QueueOf("team-b", "more", "one")).allowed);
}

// A name of that account that the namespace has by a status alone is none that it declared there.
TEST_F(AccountParty, AStatusOpensNoAccount) {
  Sent queue = QueueOf("team-b", "jobs", "unheard");
  queue.status = R"({"atProvider":{"arn":"arn:aws:sqs:eu-west-1:111111111111:jobs"}})";
  ASSERT_TRUE(Send(queue).allowed);
  Sent other = QueueOf("team-b", "jobs", "one");
  other.name = "other";
  other.uid = "uid-other";
  EXPECT_FALSE(Send(other).allowed);
  EXPECT_NE(Found().find("account-party enforce"), std::string::npos) << Found();
}

TEST_F(AccountParty, ProvidersAndRestorersAreOnlyWarned) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.restorers.emplace_back("velero"); });
  Sent queue = QueueOf("team-b", "jobs", "one");
  queue.user = "velero";
  const Answered restored = Send(queue);
  EXPECT_TRUE(restored.allowed);
  ASSERT_EQ(restored.warnings.size(), 1U);
  EXPECT_EQ(restored.warnings[0],
            "truce: SQS queue \"jobs\": account 111111111111 is not bound to namespace team-b");
}

// A question about what is to be declared.
TEST_F(AccountParty, AChecksQuestionIsRefusedUnlessItIsOnRecord) {
  Sent check;
  check.group = "truce.dev";
  check.version = "v1alpha1";
  check.kind = "OwnershipCheck";
  check.ns = "team-b";
  check.name = "before";
  check.uid = "uid-check";
  check.spec = R"({"declarations":[{"type":"sqs/Queue","parts":{"name":"jobs"},)"
               R"("account":"111111111111","region":"eu-west-1"}]})";
  EXPECT_FALSE(Check(check).allowed);
  EXPECT_EQ(Found(), "account-party enforce");
  ChangePolicy(
      [](AdmissionPolicy& policy) { policy.account_parties[std::string(kOne)].emplace("team-b"); });
  ASSERT_TRUE(Send(QueueOf("team-b", "jobs", "one")).allowed);
  ChangePolicy(
      [](AdmissionPolicy& policy) { policy.account_parties[std::string(kOne)].erase("team-b"); });
  EXPECT_TRUE(Check(check).allowed) << "only what is new is refused";
}

TEST_F(AccountParty, FollowsTheModeOfTheRule) {
  ChangePolicy([](AdmissionPolicy& policy) {
    policy.modes.rules[static_cast<std::size_t>(Rule::kAccountParty)].push_back(
        {Mode::kWarn, {}, {}, {}, ""});
  });
  EXPECT_TRUE(Send(QueueOf("team-b", "jobs", "one")).allowed);
  EXPECT_EQ(Found(), "account-party warn");
}

}  // namespace account_party_test
}  // namespace truce
