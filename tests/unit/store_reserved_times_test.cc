#include "registry/store/reserved_times.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "registry/ownership/rows.h"

namespace truce {
namespace store_reserved_times_test {

Timestamp At(std::uint64_t milliseconds) {
  return Timestamp(std::chrono::milliseconds(milliseconds));
}

Reservation AnyReservation(std::mt19937_64& random) {
  const std::string ns = random() % 3 == 0 ? "" : "ns" + std::to_string(random() % 2);
  const Slot slot{"local", "g", "Kind" + std::to_string(random() % 3), ns, "name"};
  const std::string user = "user" + std::to_string(random() % 2);
  return *Reservation::Of(slot, user, At(random() % 20));
}

ReservedRange AnyRange(std::mt19937_64& random, const Reservation& like) {
  ReservedRange range{.ns = like.ns, .user = like.user};
  // Of a namespace it is every user's.
  if (!range.ns.empty()) range.user = "anybody";
  if (random() % 2 == 0) range.from = At(random() % 20);
  if (random() % 2 == 0) range.before = At(random() % 20);
  return range;
}

TEST(ReservedTimes, AgreeWithAList) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  ReservedTimes times;
  std::vector<Reservation> settled;
  std::vector<Reservation> all;  // with the changes
  ReservationChanges changes;
  for (int step = 0; step < 5'000; ++step) {
    if (all.empty() || random() % 10 < (step / 500 % 2 == 0 ? 7U : 3U)) {
      all.push_back(AnyReservation(random));
      changes.emplace_back(all.back(), 1);
    } else {
      const auto gone = all.begin() + static_cast<std::ptrdiff_t>(random() % all.size());
      changes.emplace_back(*gone, -1);
      all.erase(gone);
    }
    const Reservation like = AnyReservation(random);
    const ReservedRange range = AnyRange(random, like);
    std::set<GroupKind> left_out;
    if (random() % 2 == 0) left_out.insert({"g", "Kind1"});
    const std::size_t limit = random() % 2 == 0 ? 100'000 : random() % 5;
    const auto count_of = [&](const std::vector<Reservation>& list) {
      const auto counted = std::ranges::count_if(
          list, [&](const Reservation& each) { return Counts(range, left_out, each); });
      return std::min(static_cast<std::size_t>(counted), limit);
    };
    ASSERT_EQ(times.Count(range, left_out, limit, changes), count_of(all)) << step;
    ASSERT_EQ(times.Count(range, left_out, limit), count_of(settled)) << step;
    if (random() % 10 != 0) continue;
    for (const auto& [reservation, count] : changes) times.Add(reservation, count);
    changes.clear();
    settled = all;
  }
}

TEST(ReservedTimes, NobodyIsWithoutUser) {
  EXPECT_FALSE(Reservation::Of({"local", "g", "K", "ns", "name"}, "", At(1)).has_value());
}

}  // namespace store_reserved_times_test
}  // namespace truce
