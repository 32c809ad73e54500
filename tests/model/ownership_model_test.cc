// Random histories (World) on every store. TRUCE_MODEL_SEEDS and TRUCE_MODEL_STEPS make a longer
// run; TRUCE_MODEL_SEED replays one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "registry/store/sqlite/sqlite_store.h"
#include "tests/model/world.h"
#include "tests/support/memory_store.h"
#include "tests/support/store_contents.h"
#include "tests/support/strict_store.h"
#include "tests/support/temporary_folder.h"

namespace truce {
namespace ownership_model_test {

unsigned Setting(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

std::string Tail(const World& world) {
  std::string text;
  const auto& log = world.log();
  for (std::size_t i = log.size() > 14 ? log.size() - 14 : 0; i < log.size(); ++i)
    text += "  " + log[i] + "\n";
  return text;
}

// Runs one history on `store`; gives everything it left there.
void RunOn(Store& store, unsigned seed, unsigned steps, const World::Options& options) {
  World world(store, seed, options);
  for (unsigned i = 0; i < steps; ++i) {
    const auto broken = world.Step();
    ASSERT_FALSE(broken) << *broken << "\nseed " << seed << ", step " << i << "\n" << Tail(world);
  }
  const auto broken = world.Quiet();
  ASSERT_FALSE(broken) << *broken << "\nseed " << seed << ", when quiet\n" << Tail(world);
}

void RunOne(unsigned seed, unsigned steps, const World::Options& options) {
  MemoryStore store;
  RunOn(store, seed, steps, options);
}

// The seeds are spread over so many cases.
constexpr unsigned kShares = 4;

class OwnershipHistories : public ::testing::TestWithParam<unsigned> {
 protected:
  static void RunMany(const World::Options& options);
};

void OwnershipHistories::RunMany(const World::Options& options) {
  const unsigned share = GetParam();
  const unsigned steps = Setting("TRUCE_MODEL_STEPS", 300);
  if (const unsigned seed = Setting("TRUCE_MODEL_SEED", 0); seed != 0) {
    if (share == 0) RunOne(seed, steps, options);  // the first one does it
    return;
  }
  const unsigned seeds = Setting("TRUCE_MODEL_SEEDS", 400);
  for (unsigned seed = 1 + share; seed <= seeds && !HasFatalFailure(); seed += kShares) {
    RunOne(seed, steps, options);
  }
}

TEST_P(OwnershipHistories, EveryRequestIsJudged) { RunMany({}); }
TEST_P(OwnershipHistories, SomeRequestsBypassTruce) { RunMany({.bypass = 0.1, .unenforced = 0}); }
TEST_P(OwnershipHistories, SomeRequestsAreOnlyWarned) { RunMany({.bypass = 0, .unenforced = 0.1}); }
TEST_P(OwnershipHistories, BothAtOnce) { RunMany({.bypass = 0.1, .unenforced = 0.2}); }

INSTANTIATE_TEST_SUITE_P(Rotating, OwnershipHistories, ::testing::Range(0U, kShares));

// What a decision is shown is all that it asked for, whatever its hints: the same history leaves
// the same registry when each is run again until nothing was missing.
TEST(RotatingOwnershipModel, DiscoveryAgreesWithTheReference) {
  const unsigned seeds = Setting("TRUCE_MODEL_STRICT_SEEDS", 40);
  for (unsigned seed = 1; seed <= seeds && !HasFatalFailure(); ++seed) {
    const World::Options options{.bypass = 0.1, .unenforced = 0.1};
    MemoryStore reference;
    RunOn(reference, seed, 150, options);
    testing::StrictStore strict;
    RunOn(strict, seed, 150, options);
    EXPECT_TRUE(ContentsOf(strict).value() == ContentsOf(reference).value()) << "seed " << seed;
    EXPECT_GT(strict.effort().runs, strict.effort().decisions) << "seed " << seed;
  }
}

// The same history leaves the same rows, owners, objects and audit log in every store.
TEST(OwnershipModel, SqliteAgreesWithTheReference) {
  const unsigned seeds = Setting("TRUCE_MODEL_SQLITE_SEEDS", 5);
  for (unsigned seed = 1; seed <= seeds && !HasFatalFailure(); ++seed) {
    const World::Options options{.bypass = 0.1, .unenforced = 0.1};
    MemoryStore reference;
    RunOn(reference, seed, 150, options);
    const TemporaryFolder folder;
    SqliteOptions sqlite;
    sqlite.data_dir = folder.path();
    auto opened = SqliteStore::Open(sqlite);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    RunOn(*opened.value(), seed, 150, options);
    const StoreContents expected = ContentsOf(reference).value();
    const StoreContents actual = ContentsOf(*opened.value()).value();
    EXPECT_TRUE(expected.owners == actual.owners) << "owners, seed " << seed;
    EXPECT_TRUE(expected.rows == actual.rows) << "rows, seed " << seed;
    EXPECT_TRUE(expected.objects == actual.objects) << "objects, seed " << seed;
    EXPECT_TRUE(expected.audit == actual.audit) << "audit log, seed " << seed;
  }
}

}  // namespace ownership_model_test
}  // namespace truce
