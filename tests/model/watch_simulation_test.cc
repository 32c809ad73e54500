// The registry follows a cluster, by seed (WatchSimulation). TRUCE_SIMULATION_SEEDS makes a longer
// run, TRUCE_SIMULATION_SECONDS one by the clock; TRUCE_SIMULATION_SEED replays one.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>

#include "registry/store/memory/memory_store.h"
#include "registry/store/sqlite/sqlite_store.h"
#include "tests/model/watch_simulation.h"
#include "tests/support/temporary_folder.h"

namespace truce {
namespace {

unsigned Setting(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

std::string Tail(const WatchSimulation& simulation) {
  std::string text;
  const auto& log = simulation.log();
  const std::size_t lines = Setting("TRUCE_SIMULATION_LINES", 20);
  for (std::size_t i = log.size() > lines ? log.size() - lines : 0; i < log.size(); ++i)
    text += "  " + log[i] + "\n";
  return text;
}

// What a seed exposes the world to. TRUCE_SIMULATION_FAULTS says which faults may occur, as a sum:
// 1 restarts, 2 the API server's errors and broken streams, 4 the store's, 8 requests that bypass
// Truce, 16 lost answers, 32 etcd restores, compactions, clock jumps; 255 all.
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
  options.fail_open = random() % 2 == 0;
  options.map_composite = random() % 2 == 0;
  return options;
}

void RunOn(Store& store, unsigned seed, unsigned level) {
  WatchSimulation simulation(store, seed, OptionsOf(seed, level));
  const unsigned steps = Setting("TRUCE_SIMULATION_STEPS", 150);
  const std::string again = "TRUCE_SIMULATION_FAULTS=" + std::to_string(level) +
                            " TRUCE_SIMULATION_SEED=" + std::to_string(seed) +
                            " build/release/tests/model/watch_simulation_test";
  for (unsigned round = 0; round < 2; ++round) {
    for (unsigned i = 0; i < steps; ++i) {
      const auto broken = simulation.Step();
      ASSERT_FALSE(broken) << *broken << "\n" << Tail(simulation) << again;
    }
    const auto broken = simulation.Quiet();
    ASSERT_FALSE(broken) << *broken << "\n" << Tail(simulation) << again;
  }
}

// Without the setting each kind of fault in turn, and none.
unsigned LevelOf(unsigned seed) {
  constexpr std::array<unsigned, 6> kInTurn = {0, 1, 2, 4, 8, 32};
  return Setting("TRUCE_SIMULATION_FAULTS", kInTurn[seed % kInTurn.size()]);
}

void RunOne(unsigned seed) {
  const unsigned level = LevelOf(seed);
  if (seed % 50 != 0) {
    MemoryStore store;
    return RunOn(store, seed, level);
  }
  const TemporaryFolder folder;
  SqliteOptions options;
  options.data_dir = folder.path();
  auto opened = SqliteStore::Open(options);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  RunOn(*opened.value(), seed, level);
}

TEST(WatchSimulation, WhenQuietTheRegistryIsWhatARebuildWouldGive) {
  if (const unsigned seed = Setting("TRUCE_SIMULATION_SEED", 0); seed != 0) return RunOne(seed);
  const unsigned first = Setting("TRUCE_SIMULATION_FIRST", 1);
  const unsigned seeds = Setting("TRUCE_SIMULATION_SEEDS", 600);
  const unsigned seconds = Setting("TRUCE_SIMULATION_SECONDS", 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{seconds};
  for (unsigned seed = first; !HasFatalFailure(); ++seed) {
    if (seconds == 0 ? seed >= first + seeds : std::chrono::steady_clock::now() >= end) return;
    RunOne(seed);
  }
}

}  // namespace
}  // namespace truce
