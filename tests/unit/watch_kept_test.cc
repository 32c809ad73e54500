// The watch reads its tables back as it wrote them, for each cluster.
#include "webhook/watch/kept.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <memory>
#include <string>

#include "registry/catalogue/catalogue.h"
#include "registry/ownership/ledger.h"
#include "tests/support/fake_clock.h"
#include "tests/support/memory_store.h"

namespace truce {
namespace watch_kept_test {

class WatchKept : public ::testing::Test {
 protected:
  ReconcileStore Of(const std::string& cluster) {
    ReconcileRules rules;
    rules.catalogue = std::make_shared<const Catalogue>(Catalogue::BuiltIn());
    rules.identity.cluster = cluster;
    const auto deadline = [] { return In(std::chrono::seconds(20)); };
    return {ReconcilePorts{store_, clock_, RandomIds(), deadline}, std::move(rules)};
  }

  const ProviderConfigName prod_{"aws.upbound.io", "ProviderConfig", "", "prod"};
  const ProviderConfigName own_{"aws.m.upbound.io", "ProviderConfig", "n", "o d\nd"};
  FakeClock clock_{*ParseTimestamp("2026-11-22T12:00:00Z")};
  MemoryStore store_;
  ReconcileStore one_ = Of("one");
  ReconcileStore other_ = Of("other");
};

TEST_F(WatchKept, PositionsComeBack) {
  const WatchPositions positions{{{"s3", "Bucket"}, {"12", 5}},
                                 {{"", "Secret"}, {"x", std::numeric_limits<std::uint64_t>::max()}},
                                 {{"sqs", "Queue"}, {"7", {}}}};
  ASSERT_TRUE(WritePositions(positions, one_).ok());
  EXPECT_EQ(ReadPositions(one_).value(), positions);
  EXPECT_TRUE(ReadPositions(other_).value().empty());
  ASSERT_TRUE(WritePositions({}, one_).ok());
  EXPECT_TRUE(ReadPositions(one_).value().empty());
}

TEST_F(WatchKept, EachPartOfAProviderConfigChangesAlone) {
  const AccountMap learned{{prod_, "111111111111"}};
  const AccountMap brought{{prod_, "222222222222"}, {own_, "333333333333"}};
  const OutsideEndpoints outside{{prod_, {"localstack:4566", {"s3", "sqs"}}}, {own_, {"", {}}}};
  const DefaultsMap defaults{{prod_, {"eu-west-1", {"s3", "sqs"}, {}}}, {own_, {"", {}, {"rds"}}}};
  const KnownSpecs specs{{own_, {{"u", "1"}, 10}}};
  ASSERT_TRUE(ChangeConfigs([&](KeptConfigs& kept) { kept.learned = learned; }, one_).ok());
  ASSERT_TRUE(ChangeConfigs([&](KeptConfigs& kept) { kept.brought = brought; }, one_).ok());
  ASSERT_TRUE(ChangeConfigs([&](KeptConfigs& kept) { kept.outside = outside; }, one_).ok());
  ASSERT_TRUE(ChangeConfigs([&](KeptConfigs& kept) { kept.defaults = defaults; }, one_).ok());
  ASSERT_TRUE(ChangeConfigs([&](KeptConfigs& kept) { kept.specs = specs; }, one_).ok());
  const KeptConfigs kept = ReadConfigs(one_).value();
  EXPECT_EQ(kept.learned, learned);
  EXPECT_EQ(kept.brought, brought);
  EXPECT_EQ(kept.outside, outside);
  EXPECT_EQ(kept.defaults, defaults);
  EXPECT_EQ(kept.specs, specs);
  EXPECT_TRUE(ReadConfigs(other_).value().brought.empty());
  ASSERT_TRUE(ChangeConfigs([](KeptConfigs& all) { all.outside.clear(); }, one_).ok());
  EXPECT_TRUE(ReadConfigs(one_).value().outside.empty());
  EXPECT_EQ(ReadConfigs(one_).value().learned, learned);
}

TEST_F(WatchKept, MappedKindsComeBack) {
  const Unmapped unmapped({{{"a.example", "X"}, clock_.Now()}, {{"b.example", "Y"}, std::nullopt}});
  ASSERT_TRUE(WriteUnmapped(unmapped, one_).ok());
  EXPECT_EQ(ReadUnmapped(one_).value().kinds(), unmapped.kinds());
}

TEST_F(WatchKept, ARowThatCannotBeReadIsLeftOut) {
  TableRow bad = kWatchPositionsTable.Row({"one", {"s3", "Bucket"}, {"12", 5}});
  bad.back() = std::string("not a number");
  ASSERT_TRUE(
      one_.Write([&](Ledger& ledger) { ledger.PutTableRow(kWatchPositionsTable, bad); }).ok());
  EXPECT_TRUE(ReadPositions(one_).value().empty());
}

}  // namespace watch_kept_test
}  // namespace truce
