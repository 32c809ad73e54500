#include "webhook/kube/backoff.h"

#include <algorithm>
#include <limits>

namespace truce {
namespace {

// splitmix64: every seed, also 0 and 1, gives a good sequence, and the same one everywhere.
std::uint64_t NextRandom(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31U);
}

// Evenly from [low, high].
std::chrono::milliseconds Draw(std::chrono::milliseconds low, std::chrono::milliseconds high,
                               std::uint64_t& state) {
  const auto range = static_cast<std::uint64_t>((high - low).count()) + 1;
  return low + std::chrono::milliseconds(static_cast<std::int64_t>(NextRandom(state) % range));
}

}  // namespace

std::chrono::milliseconds Backoff::Next(std::optional<std::chrono::milliseconds> asked) {
  if (failures_ < std::numeric_limits<int>::max()) ++failures_;
  const std::chrono::milliseconds wait = Draw(ceiling_ / 2, ceiling_, random_);
  ceiling_ = std::min(ceiling_ * 2, options_.longest);
  return std::max(wait, asked.value_or(wait));
}

std::chrono::milliseconds Spread(std::chrono::milliseconds period, std::uint64_t seed) {
  return Draw(period * 4 / 5, period * 6 / 5, seed);
}

}  // namespace truce
