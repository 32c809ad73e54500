// The registry follows a cluster, by seed (WatchSimulation). TRUCE_SIMULATION_SEEDS makes a longer
// run, TRUCE_SIMULATION_SECONDS one by the clock; TRUCE_SIMULATION_SEED replays one.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>

#include "registry/store/sqlite/sqlite_store.h"
#include "tests/model/simulated_cluster.h"
#include "tests/model/simulated_kinds.h"
#include "tests/model/watch_simulation.h"
#include "tests/support/memory_store.h"
#include "tests/support/strict_store.h"
#include "tests/support/temporary_folder.h"

namespace truce {
namespace watch_simulation_test {

unsigned Setting(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

std::string Tail(const WatchSimulation& simulation) {
  std::string text;
  const auto& log = simulation.log();
  const std::size_t lines = Setting("TRUCE_SIMULATION_LINES", 1000);
  for (std::size_t i = log.size() > lines ? log.size() - lines : 0; i < log.size(); ++i)
    text += "  " + log[i] + "\n";
  return text;
}

// What a seed exposes the world to: each kind of fault in every second seed, so that all come alone
// and combined. TRUCE_SIMULATION_FAULTS says which may occur at all, as a sum:
// 1 restarts, 2 the API server's errors and broken streams, 4 the store's, 8 requests that bypass
// Truce, 16 lost answers, 32 etcd restores, compactions, definitions removed, mass deletions
// unseen, clock jumps; 64 accounts that become known late, 128 mapping rules that change, 256
// watches that stand still while another one takes over; 511 all.
WatchSimulation::Options OptionsOf(unsigned seed, unsigned level) {
  std::mt19937 random(seed);
  const auto share = [&](unsigned bit, double value) {
    return random() % 2 == 0 && (level & bit) != 0 ? value : 0;
  };
  WatchSimulation::Options options;
  options.restarts = share(1, 0.02);
  options.faults = share(2, 0.2);
  options.store_faults = share(4, 0.05);
  options.bypass = share(8, 0.1);
  options.lost_answers = share(16, 0.05);
  options.disasters = share(32, 0.02);
  options.tables = share(64, 1) > 0;
  options.fail_open = random() % 2 == 0;
  options.map_composite = random() % 2 == 0;
  options.discreet = random() % 2 == 0;
  if (options.disasters > 0 && random() % 8 == 0) options.crowd = 100;
  options.remaps = share(128, 1) > 0;
  options.fail_overs = share(256, 0.02);
  return options;
}

// What is wrong, or nothing.
std::optional<std::string> RunOn(Store& store, unsigned seed, unsigned level) {
  WatchSimulation simulation(store, seed, OptionsOf(seed, level));
  const unsigned steps = Setting("TRUCE_SIMULATION_STEPS", 150);
  std::optional<std::string> broken;
  for (unsigned round = 0; round < 2 && !broken; ++round) {
    for (unsigned i = 0; i < steps && !broken; ++i) broken = simulation.Step();
    if (!broken) broken = simulation.Quiet();
  }
  if (broken) *broken += "\n" + Tail(simulation);
  return broken;
}

unsigned Level() { return Setting("TRUCE_SIMULATION_FAULTS", 511); }

std::optional<std::string> RunOne(unsigned seed) {
  const unsigned level = Level();
  if (seed % 10 == 5) {
    testing::StrictStore store;
    return RunOn(store, seed, level);
  }
  if (seed % 50 != 0) {
    MemoryStore store;
    return RunOn(store, seed, level);
  }
  const TemporaryFolder folder;
  SqliteOptions options;
  options.data_dir = folder.path();
  auto opened = SqliteStore::Open(options);
  if (!opened.ok()) return opened.error().message;
  return RunOn(*opened.value(), seed, level);
}

// A failing seed is told in two lines, the second of which repeats it with its whole history; a
// seed that runs alone tells that itself.
void Check(unsigned seed, bool alone) {
  const auto broken = RunOne(seed);
  if (!broken) return;
  const std::string told = alone ? *broken : broken->substr(0, broken->find('\n'));
  ADD_FAILURE() << told << "\nTRUCE_SIMULATION_FAULTS=" << Level()
                << " TRUCE_SIMULATION_SEED=" << seed
                << " build/release/tests/model/watch_simulation_test";
}

// The seeds are spread over so many cases, for as many processors.
constexpr unsigned kShares = 8;
constexpr unsigned kPauseShares = 4;

class WatchSimulationShare : public ::testing::TestWithParam<unsigned> {};

TEST_P(WatchSimulationShare, WhenQuietTheRegistryIsWhatARebuildWouldGive) {
  const unsigned share = GetParam();
  const unsigned seed = Setting("TRUCE_SIMULATION_SEED", 0);
  const unsigned seconds = Setting("TRUCE_SIMULATION_SECONDS", 0);
  const unsigned first = Setting("TRUCE_SIMULATION_FIRST", 1);
  if (seed != 0) return Check(seed, true);
  if (seconds != 0) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{seconds} / kShares;
    for (unsigned at = first + share; std::chrono::steady_clock::now() < end; at += kShares) {
      Check(at, false);
    }
    return;
  }
  const unsigned seeds = Setting("TRUCE_SIMULATION_SEEDS", 2000);
  for (unsigned at = first + share; at < first + seeds; at += kShares) Check(at, false);
}

INSTANTIATE_TEST_SUITE_P(Rotating, WatchSimulationShare, ::testing::Range(0U, kShares));

class WatchSimulationPauses : public ::testing::TestWithParam<unsigned> {};

// Each time somewhere else, wherever it uses the store; what it was in the midst of comes too late.
TEST_P(WatchSimulationPauses, AWatchThatStoodStillWritesNothingWhereverItWas) {
  const unsigned seeds = Setting("TRUCE_SIMULATION_PAUSED", 12) / kPauseShares;
  const unsigned first = 1 + GetParam() * seeds;  // in a row: each share has faulty ones
  std::size_t places = 0;
  for (unsigned seed = first; seed < first + seeds; ++seed) {
    bool failed_over = true;
    for (std::size_t at = 1; failed_over; ++at) {
      WatchSimulation::Options options;
      options.faults = seed % 2 == 0 ? 0.2 : 0;
      options.bypass = seed % 3 == 0 ? 0.1 : 0;
      options.fail_over_at = at;
      testing::StrictStore store;
      WatchSimulation simulation(store, seed, options);
      std::optional<std::string> broken;
      for (unsigned i = 0; i < 40 && !broken; ++i) broken = simulation.Step();
      failed_over = simulation.failed_over();
      if (failed_over) ++places;
      if (!broken && failed_over) broken = simulation.Quiet();
      ASSERT_FALSE(broken) << *broken << "\nseed " << seed << ", call " << at << "\n"
                           << Tail(simulation);
    }
  }
  EXPECT_GT(places, std::size_t{20} * seeds);
  RecordProperty("places", std::to_string(places));
}

INSTANTIATE_TEST_SUITE_P(Rotating, WatchSimulationPauses, ::testing::Range(0U, kPauseShares));

// Else Truce, which knows a cluster by its versions alone, could not tell that history was lost.
TEST(SimulatedCluster, AStreamFromBeforeARestoreIsToldSoAlsoWhenItIsNotTheFirst) {
  SimulatedCluster cluster;
  cluster.Serve({kCompositeKind.group, "v1", kCompositeKind.kind, "xstorages", false});
  SimulatedObject object;
  object.kind = kCompositeKind;
  object.name = "one";
  cluster.Put(object);
  cluster.Backup();
  for (int restore = 0; restore < 4; ++restore) {
    const std::string seen = std::to_string(cluster.Put(object).version);
    cluster.Restore(false);
    SimulatedCluster later = cluster;
    for (int i = 0; i < 100; ++i) later.Put(object);
    const auto events = later.EventsAfter(kCompositeKind, seen, later.life(), 1000);
    ASSERT_FALSE(events.ok()) << "restore " << restore;
    EXPECT_EQ(events.error().kind, ApiErrorKind::kExpired);
  }
}

}  // namespace watch_simulation_test
}  // namespace truce
