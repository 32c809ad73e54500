#include "registry/store/numbers.h"

#include <algorithm>
#include <bit>

#include "registry/base/assert.h"

namespace truce {
namespace {

constexpr std::int64_t kRunLength = 64;

std::uint64_t BitOf(std::int64_t number) {
  return std::uint64_t{1} << static_cast<unsigned>(number % kRunLength);
}

template <typename Runs>
auto FirstNotBefore(Runs& runs, std::int64_t run) {
  return std::lower_bound(runs.begin(), runs.end(), run, [](const auto& each, std::int64_t number) {
    return each.number < number;
  });
}

}  // namespace

std::vector<std::int64_t> Numbers::After(std::uint32_t hash, std::int64_t after,
                                         std::size_t limit) const {
  std::vector<std::int64_t> found;
  const auto of_hash = by_hash_.find(hash);
  if (of_hash == by_hash_.end()) return found;
  const std::deque<Run>& runs = of_hash->second.runs;
  for (auto run = FirstNotBefore(runs, after / kRunLength); run != runs.end(); ++run) {
    for (std::uint64_t bits = run->bits; bits != 0; bits &= bits - 1) {
      if (found.size() == limit) return found;
      const std::int64_t number = run->number * kRunLength + std::countr_zero(bits);
      if (number > after) found.push_back(number);
    }
  }
  return found;
}

void Numbers::Insert(std::uint32_t hash, std::int64_t number) {
  TRUCE_ASSERT(number >= 0);
  Runs& of_hash = by_hash_[hash];
  auto run = FirstNotBefore(of_hash.runs, number / kRunLength);
  if (run == of_hash.runs.end() || run->number != number / kRunLength) {
    run = of_hash.runs.insert(run, Run{number / kRunLength, 0});
  } else if ((run->bits & BitOf(number)) != 0) {
    again_.emplace(hash, number);
    return;
  } else if (run->bits == 0) {
    --of_hash.empty;
  }
  run->bits |= BitOf(number);
}

void Numbers::Erase(std::uint32_t hash, std::int64_t number) {
  if (const auto twice = again_.find({hash, number}); twice != again_.end()) {
    again_.erase(twice);
    return;
  }
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) return;
  Runs& of_hash = found->second;
  const auto run = FirstNotBefore(of_hash.runs, number / kRunLength);
  if (run == of_hash.runs.end() || run->number != number / kRunLength ||
      (run->bits & BitOf(number)) == 0) {
    return;
  }
  run->bits &= ~BitOf(number);
  if (run->bits != 0 || 2 * ++of_hash.empty < of_hash.runs.size()) return;
  std::erase_if(of_hash.runs, [](const Run& each) { return each.bits == 0; });
  of_hash.empty = 0;
}

}  // namespace truce
