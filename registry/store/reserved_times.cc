#include "registry/store/reserved_times.h"

#include <algorithm>

#include "registry/base/assert.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

// Whose limit a range is about, as the first and second part of a sharer.
std::string_view UserOf(const ReservedRange& range) {
  return range.ns.empty() ? range.user : std::string_view();
}

}  // namespace

std::optional<Reservation> Reservation::Of(const Slot& slot, std::string_view user, Timestamp at) {
  if (user.empty()) return std::nullopt;
  return Reservation{.ns = slot.ns,
                     .user = std::string(slot.ns.empty() ? user : std::string_view()),
                     .kind = {slot.group, slot.kind},
                     .at = at};
}

bool Counts(const ReservedRange& range, const std::set<GroupKind>& left_out,
            const Reservation& reservation) {
  return reservation.ns == range.ns && reservation.user == UserOf(range) &&
         reservation.at >= range.from && reservation.at < range.before &&
         !left_out.contains(reservation.kind);
}

void ReservedTimes::Add(const Reservation& reservation, int count) {
  auto& kinds = sharers_[{reservation.ns, reservation.user}];
  Times& times = kinds[reservation.kind];
  // Nearly always the latest.
  const auto time = times.try_emplace(times.end(), reservation.at, 0);
  TRUCE_ASSERT(count >= 0 || time->second >= static_cast<std::uint32_t>(-count));
  time->second += static_cast<std::uint32_t>(count);
  if (time->second != 0) return;
  times.erase(time);
  if (times.empty()) kinds.erase(reservation.kind);
  if (kinds.empty()) sharers_.erase({reservation.ns, reservation.user});
}

std::size_t ReservedTimes::Count(const ReservedRange& range, const std::set<GroupKind>& left_out,
                                 std::size_t limit, const ReservationChanges& changes) const {
  std::int64_t changed = 0;
  std::size_t gone = 0;
  for (const auto& [reservation, count] : changes) {
    if (!Counts(range, left_out, reservation)) continue;
    changed += count;
    if (count < 0) ++gone;
  }
  std::size_t count = 0;
  const auto kinds = sharers_.find({std::string(range.ns), std::string(UserOf(range))});
  if (kinds != sharers_.end()) {
    for (const auto& [kind, times] : kinds->second) {
      if (left_out.contains(kind)) continue;
      for (auto time = times.lower_bound(range.from);
           time != times.end() && time->first < range.before && count < limit + gone; ++time) {
        count += time->second;
      }
    }
  }
  const auto all = static_cast<std::int64_t>(count) + changed;
  return std::min(static_cast<std::size_t>(std::max<std::int64_t>(all, 0)), limit);
}

}  // namespace truce
