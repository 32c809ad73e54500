#include <gtest/gtest.h>

#include <algorithm>

#include "registry/ownership/ledger.h"
#include "registry/ownership/rows.h"
#include "registry/store/catalogue_change.h"
#include "tests/support/memory_store.h"
#include "tests/support/store_contents.h"

namespace truce {
namespace catalogue_change_test {

constexpr Timestamp kNow{std::chrono::hours{1}};

class CatalogueChangeTest : public ::testing::Test {
 protected:
  std::size_t Follow(const Catalogue& catalogue) {
    const auto changed = RespellForCatalogue(
        store_, {SpellingOf(catalogue), catalogue.version(), parties_, ids_, kNow});
    EXPECT_TRUE(changed.ok());
    return changed.ok() ? changed.value() : 0;
  }

  void Own(const ResourceIdentity& identity, const KeyText& name) {
    const auto decide = [&](const Facts& facts) {
      Ledger ledger(facts, kNow, ids_, parties_);
      Owner owner;
      owner.id = ledger.NewResource();
      owner.record = Record::kImported;
      owner.identity = identity;
      ledger.Audit(
          {.action = AuditAction::kAdministered, .key = name, .id = owner.id, .cause = "test"});
      ledger.PutOwner(owner);
      ledger.PutName({.name = name, .resource = owner.id, .sort = SortOf(name)});
      return ledger.Take();
    };
    ASSERT_TRUE(
        store_.Apply({}, decide, std::chrono::steady_clock::now() + std::chrono::seconds{5}).ok());
  }

  std::vector<std::string> Keys() {
    std::vector<std::string> keys;
    const StoreContents contents = ContentsOf(store_).value();
    for (const Owner& owner : contents.owners) keys.push_back(owner.key.text);
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  MemoryStore store_;
  PartyRules parties_;
  int last_id_ = 0;
  IdSource ids_ = [this] { return PublicId{"aaaaaaaaaaa" + std::to_string(10 + ++last_id_)}; };
};

TEST_F(CatalogueChangeTest, KeysFollowTheCatalogueOnce) {
  const ResourceIdentity bucket{"s3/Bucket", "aws", "", "us-west-2", {{"name", "data"}}};
  Own(bucket, {"key of an older catalogue"});
  EXPECT_EQ(Follow(Catalogue::BuiltIn()), 1U);
  const auto key = KeyOf(bucket, *Catalogue::BuiltIn().FindType("s3/Bucket"));
  EXPECT_EQ(Keys(), std::vector<std::string>{key->text});
  EXPECT_EQ(Follow(Catalogue::BuiltIn()), 0U) << "the version is remembered";
}

TEST_F(CatalogueChangeTest, APartThatIsNewHasItsDefaultAndPartsFoldAnew) {
  const std::string account = "111111111111";
  Own({"secretsmanager/SecretVersion", "aws", account, "us-west-2", {{"secretId", "db"}}},
      {"secretsmanager/SecretVersion|aws|111111111111|us-west-2|secretId=db"});
  Own({"ec2/SecurityGroupRule",
       "aws",
       account,
       "us-west-2",
       {{"securityGroupId", "sg-0a1b"},
        {"direction", "egress"},
        {"protocol", "all"},
        {"fromPort", "0"},
        {"toPort", "0"},
        {"source", "0.0.0.0/0"}}},
      {"ec2/security-group-rule|aws|||securityGroupId=sg-0a1b|direction=egress|protocol=all|"
       "fromPort=0|toPort=0|source=0.0.0.0/0"});
  Follow(Catalogue::BuiltIn());
  EXPECT_EQ(Keys(), (std::vector<std::string>{
                        "ec2/security-group-rule|aws|||securityGroupId=sg-0a1b|direction=egress|"
                        "protocol=all|fromPort=-1|toPort=-1|source=0.0.0.0/0",
                        "secretsmanager/SecretVersion|aws|111111111111|us-west-2|secretId=db|"
                        "stage=AWSCURRENT"}));
}

TEST_F(CatalogueChangeTest, ATypeThatIsNoLongerKnownKeepsItsKey) {
  Own({"gone/Type", "aws", "", "", {{"name", "x"}}}, {"gone/Type|aws|||name=x"});
  EXPECT_EQ(Follow(Catalogue::BuiltIn()), 0U);
  EXPECT_EQ(Keys(), std::vector<std::string>{"gone/Type|aws|||name=x"});
}

}  // namespace catalogue_change_test
}  // namespace truce
