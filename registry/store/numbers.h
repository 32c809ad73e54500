// Numbers: row numbers under hashes, in ascending order, in a few bits each.
#ifndef TRUCE_REGISTRY_STORE_NUMBERS_H_
#define TRUCE_REGISTRY_STORE_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace truce {

// For numbers that come in ascending order, many under each of few hashes: 16 bytes for each run of
// 64 in which a hash has any. One in the middle of the others costs more. External synchronization.
class Numbers {
 public:
  // The first `limit` under `hash` that follow `after`.
  std::vector<std::int64_t> After(std::uint32_t hash, std::int64_t after, std::size_t limit) const;

  // Not below 0. One that stands there already stands there twice.
  void Insert(std::uint32_t hash, std::int64_t number);
  // Once; nothing happens when it does not stand there.
  void Erase(std::uint32_t hash, std::int64_t number);

 private:
  struct Run {
    std::int64_t number = 0;  // of the run; its first number is 64 times that
    std::uint64_t bits = 0;
  };
  struct Runs {
    // Ascending; a deque grows without moving what it holds.
    std::deque<Run> runs;
    std::size_t empty = 0;  // those without a bit go when they are many
  };

  std::map<std::uint32_t, Runs> by_hash_;
  std::multiset<std::pair<std::uint32_t, std::int64_t>> again_;  // beyond the first time
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_NUMBERS_H_
