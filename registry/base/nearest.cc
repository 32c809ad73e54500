#include "registry/base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "registry/base/text.h"

namespace truce {
namespace {

// Letters to put in, to leave out, to exchange, or that changed places, whatever their case.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  const auto same = [&](std::size_t i, std::size_t j) { return Lower(a[i]) == Lower(b[j]); };
  // Two neighbours that changed places are one slip: a row more than without.
  std::vector<std::size_t> before;
  std::vector<std::size_t> above;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = above[j - 1] + (same(i - 1, j - 1) ? 0 : 1);
      row[j] = std::min({substituted, above[j] + 1, row[j - 1] + 1});
      const bool is_exchanged = i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1);
      if (is_exchanged) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t kWordBytesMax = 64;  // bounds the quadratic distance
  if (word.size() > kWordBytesMax) return {};
  std::string_view best;
  std::size_t best_distance = 1 + std::min<std::size_t>(3, (word.size() + 1) / 3);
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = EditDistance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace truce
