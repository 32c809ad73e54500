// Random histories (World) on every store. TRUCE_MODEL_SEEDS and TRUCE_MODEL_STEPS make a longer
// run; TRUCE_MODEL_SEED replays one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "registry/store/memory/memory_store.h"
#include "tests/model/world.h"

namespace truce {
namespace {

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

void RunOne(unsigned seed, unsigned steps, const World::Options& options) {
  MemoryStore store;
  World world(store, seed, options);
  for (unsigned i = 0; i < steps; ++i) {
    const auto broken = world.Step();
    ASSERT_FALSE(broken) << *broken << "\nseed " << seed << ", step " << i << "\n" << Tail(world);
  }
  const auto broken = world.Quiet();
  ASSERT_FALSE(broken) << *broken << "\nseed " << seed << ", when quiet\n" << Tail(world);
}

void RunMany(const World::Options& options) {
  const unsigned steps = Setting("TRUCE_MODEL_STEPS", 300);
  if (const unsigned seed = Setting("TRUCE_MODEL_SEED", 0); seed != 0)
    return RunOne(seed, steps, options);
  const unsigned seeds = Setting("TRUCE_MODEL_SEEDS", 400);
  for (unsigned seed = 1; seed <= seeds && !::testing::Test::HasFatalFailure(); ++seed) {
    RunOne(seed, steps, options);
  }
}

TEST(OwnershipModel, EveryRequestIsJudged) { RunMany({}); }
TEST(OwnershipModel, SomeRequestsBypassTruce) { RunMany({.bypass = 0.1, .unenforced = 0}); }
TEST(OwnershipModel, SomeRequestsAreOnlyWarned) { RunMany({.bypass = 0, .unenforced = 0.1}); }
TEST(OwnershipModel, BothAtOnce) { RunMany({.bypass = 0.1, .unenforced = 0.2}); }

}  // namespace
}  // namespace truce
