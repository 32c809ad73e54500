// Random histories of a cloud and a cluster (CascadeWorld). TRUCE_CASCADE_SEEDS makes a longer run
// from TRUCE_CASCADE_FIRST on, of TRUCE_CASCADE_STEPS steps; TRUCE_CASCADE_SEED replays one, and
// TRUCE_CASCADE_SURVEY=1 tells of each broken history in a line, TRUCE_CASCADE_STORY=1 tells the
// whole of each sound one.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>

#include "tests/model/cascade_world.h"

namespace truce {
namespace cascade_world_test {

unsigned Setting(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

struct Outcome {
  std::string broken;  // empty: nothing
  std::string story;   // of a broken one
  unsigned steps = 0;  // that were run
};

Outcome Run(std::uint64_t seed, unsigned steps, const std::set<unsigned>& without = {}) {
  CascadeWorld world(seed);
  Outcome outcome;
  for (; outcome.steps < steps && world.broken().empty(); ++outcome.steps) {
    if (!without.contains(outcome.steps)) world.Step(outcome.steps);
  }
  if (world.broken().empty()) world.Quiet();
  outcome.broken = world.broken();
  const bool told = std::getenv("TRUCE_CASCADE_STORY") != nullptr;
  if (outcome.broken.empty() && !told) return outcome;
  for (const std::string& line : world.log()) outcome.story += "  " + line + "\n";
  outcome.story += world.State();
  return outcome;
}

// The same failure by as few steps as leaving out one after the other gives.
Outcome Shrunk(std::uint64_t seed, Outcome outcome) {
  std::set<unsigned> without;
  const std::string rule = outcome.broken.substr(0, outcome.broken.find(':'));
  const unsigned steps = outcome.steps;
  for (bool shrinks = true; shrinks;) {
    shrinks = false;
    for (unsigned step = steps; step-- > 0;) {
      if (!without.insert(step).second) continue;
      Outcome shorter = Run(seed, steps, without);
      if (shorter.broken.starts_with(rule)) {
        outcome = std::move(shorter);
        shrinks = true;
      } else {
        without.erase(step);
      }
    }
  }
  return outcome;
}

void Explore(std::uint64_t first, unsigned seeds, unsigned steps) {
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const Outcome outcome = Run(seed, steps);
    if (!outcome.story.empty() && outcome.broken.empty()) std::cout << outcome.story;
    if (outcome.broken.empty()) continue;
    if (std::getenv("TRUCE_CASCADE_SURVEY") != nullptr) {
      ADD_FAILURE() << "seed " << seed << ", " << outcome.steps << " steps: " << outcome.broken;
      continue;
    }
    const Outcome shrunk = Shrunk(seed, outcome);
    ADD_FAILURE() << outcome.broken << "\nTRUCE_CASCADE_SEED=" << seed << ", " << outcome.steps
                  << " steps, shrunk to:\n"
                  << shrunk.broken << "\n"
                  << shrunk.story;
    return;
  }
}

constexpr unsigned kShares = 4;
class CascadeHistories : public ::testing::TestWithParam<unsigned> {};

TEST_P(CascadeHistories, KeepWhatIsPromised) {
  const unsigned steps = Setting("TRUCE_CASCADE_STEPS", 160);
  if (const unsigned seed = Setting("TRUCE_CASCADE_SEED", 0); seed != 0) {
    if (GetParam() == 0) Explore(seed, 1, steps);
    return;
  }
  const unsigned seeds = Setting("TRUCE_CASCADE_SEEDS", 300) / kShares;
  Explore(Setting("TRUCE_CASCADE_FIRST", 1) + GetParam() * seeds, seeds, steps);
}

INSTANTIATE_TEST_SUITE_P(Rotating, CascadeHistories, ::testing::Range(0U, kShares));

}  // namespace cascade_world_test
}  // namespace truce
