// What an account that configuration names does where no cluster is followed.
#include "webhook/upkeep/configured_accounts.h"
#include "tests/support/store_contents.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "policies/policy.h"
#include "registry/catalogue/catalogue.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/names.h"
#include "registry/ownership/review.h"
#include "registry/ownership/rows.h"
#include "tests/support/fake_clock.h"
#include "tests/support/memory_store.h"

namespace truce {
namespace configured_accounts_test {

constexpr const char* kOne = "111111111111";
constexpr const char* kTwo = "222222222222";
const ProviderConfigName kProd{"aws.upbound.io", "ProviderConfig", "", "prod"};

KeyText NameOf(const std::string& queue, const std::string& account) {
  return WithAccount({"sqs/Queue|aws||eu-west-1|name=" + queue}, account);
}

class ConfiguredAccountsTest : public ::testing::Test {
 protected:
  static Deadline Soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }

  // Created while nobody knew where `prod` leads.
  void Create(const std::string& name) {
    ReviewRequest request;
    request.uid = {"review-" + name};
    request.operation = Operation::kCreate;
    request.object.slot = {"test", "sqs.aws.upbound.io", "Queue", "", name};
    request.object.uid = {"u-" + name};
    request.object.managed = true;
    DeclaredResource& queue = request.object.resources.emplace_back();
    const std::string provisional_account = ProvisionalAccountFor(kProd, "test");
    queue.identity = {"sqs/Queue", "aws", provisional_account, "eu-west-1", {{"name", name}}};
    queue.names = {{NameOf(name, provisional_account), false}};
    queue.name = name;
    request.modes = {Mode::kEnforce};
    const auto decide = [&](const Facts& facts) {
      const Decision decision =
          Decide(request, facts, clock_.Now(), [&] { return PublicId{"id-" + name}; });
      EXPECT_TRUE(decision.allowed);
      return decision.changes;
    };
    ASSERT_TRUE(store_.Apply({}, decide, Soon()).ok());
  }

  void LeadsTo(const std::string& account) {
    auto policy = std::make_shared<AdmissionPolicy>();
    policy->catalogue = std::make_shared<const Catalogue>(Catalogue::BuiltIn());
    policy->identity.catalogue = policy->catalogue.get();
    policy->identity.cluster = "test";
    policy->identity.accounts = {{kProd, account}};
    policy_ = std::move(policy);
  }
  // How many steps it takes.
  int Bring() {
    for (int steps = 1; steps < 100; ++steps) {
      const Result<bool> done = accounts_->Step(policy_);
      EXPECT_TRUE(done.ok());
      if (!done.ok() || done.value()) return steps;
    }
    return 0;
  }
  bool IsOwned(const KeyText& name) {
    bool owned = false;
    const auto look = [&](const AllFacts& facts) { owned = OwnerByName(name, facts).has_value(); };
    EXPECT_TRUE(store_.Read(look, Soon()).ok());
    return owned;
  }

  MemoryStore store_;
  FakeClock clock_{Timestamp(std::chrono::hours(1000))};
  std::shared_ptr<const AdmissionPolicy> policy_;
  std::unique_ptr<ConfiguredAccounts> accounts_ =
      std::make_unique<ConfiguredAccounts>(store_, clock_);
};

TEST_F(ConfiguredAccountsTest, WhatWasDeclaredBeforeHasItsNameInEachAccountItLay) {
  Create("jobs");
  EXPECT_FALSE(IsOwned(NameOf("jobs", kOne)));
  LeadsTo(kOne);
  EXPECT_EQ(Bring(), 1);
  EXPECT_TRUE(IsOwned(NameOf("jobs", kOne)));
  LeadsTo(kTwo);
  EXPECT_EQ(Bring(), 1);
  EXPECT_TRUE(IsOwned(NameOf("jobs", kTwo)));
  EXPECT_TRUE(IsOwned(NameOf("jobs", kOne))) << "it may have been made there";
}

TEST_F(ConfiguredAccountsTest, ManyAreBroughtInPortionsAndNothingTwice) {
  for (int i = 0; i < 200; ++i) Create("q" + std::to_string(i));
  LeadsTo(kOne);
  EXPECT_GT(Bring(), 1);
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(IsOwned(NameOf("q" + std::to_string(i), kOne))) << i;
  const StoreContents once = ContentsOf(store_).value();
  accounts_ = std::make_unique<ConfiguredAccounts>(store_, clock_);  // a new process
  EXPECT_EQ(Bring(), 1);
  EXPECT_TRUE(ContentsOf(store_).value() == once);
}

}  // namespace configured_accounts_test
}  // namespace truce
