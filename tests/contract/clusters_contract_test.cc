// Two clusters that came from one copy of etcd share a registry: their objects have the same
// metadata.uid. On every store.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "registry/identity/uids.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "registry/ownership/review.h"
#include "registry/ownership/sight.h"
#include "tests/contract/every_store.h"
#include "tests/support/json_document.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace clusters_contract_test {

class ClustersContract : public StoreContract {
 protected:
  static ObjectFacts Bucket(const std::string& cluster, const std::string& name) {
    const IdentityRules rules{.cluster = cluster, .catalogue = &Catalogue::BuiltIn()};
    const Document document = DocumentFromJson(
        R"({"metadata":{"name":"files","namespace":"team-a","uid":"4f1d","annotations":)"
        R"({"crossplane.io/external-name":")" +
        name + R"("}},"spec":{"forProvider":{"region":"us-west-2"}}})");
    return Identify(document.root(), {"s3.aws.m.upbound.io", "Bucket"}, rules);
  }
  void Run(const std::function<void(Ledger&)>& change) {
    const auto decide = [&](const Facts& facts) {
      Ledger ledger(facts, Timestamp{}, ids_, parties_);
      change(ledger);
      return ledger.Take();
    };
    ASSERT_TRUE(store().Apply({}, decide, Soon()).ok());
  }
  // The cluster of whoever owns the bucket; empty: nobody does.
  std::string OwnerOf(const std::string& name) {
    std::string cluster;
    const ReadFn look = [&](const Facts& facts) {
      const auto owner = OwnerByName({"s3/Bucket|aws|||name=" + name}, facts);
      cluster = owner ? owner->root.cluster : "";
    };
    EXPECT_TRUE(store().Read(look, Soon()).ok());
    return cluster;
  }

  PartyRules parties_;
  int made_ = 0;
  const IdSource ids_ = [this] { return PublicId{"id" + std::to_string(++made_)}; };
};

TEST_P(ClustersContract, OfOneUidAreTwoObjectsInOneRegistry) {
  Run([](Ledger& ledger) { See(Bucket("east", "east-files"), false, ledger); });
  Run([](Ledger& ledger) { See(Bucket("west", "west-files"), false, ledger); });
  EXPECT_EQ(OwnerOf("east-files"), "east") << "what west shows says nothing of it";
  EXPECT_EQ(OwnerOf("west-files"), "west");
  const StoreContents contents = ContentsOf(store()).value();
  ASSERT_EQ(contents.objects.size(), 2U);
  EXPECT_EQ(contents.objects[0].uid.text, "east/4f1d");
  EXPECT_EQ(contents.objects[1].uid.text, "west/4f1d");
  Run([](Ledger& ledger) { SeeDeleted(Bucket("west", "west-files"), {}, ledger); });
  EXPECT_EQ(OwnerOf("east-files"), "east");
  EXPECT_EQ(ContentsOf(store()).value().objects.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Stores, ClustersContract, EveryStore(), NameOfStore);

}  // namespace clusters_contract_test
}  // namespace truce::testing
