// ReservedTimes: when reservations were made, by who shares a limit; kept up to date as rows
// change.
#ifndef TRUCE_REGISTRY_STORE_RESERVED_TIMES_H_
#define TRUCE_REGISTRY_STORE_RESERVED_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/terms.h"

namespace truce {

// What a reservation counts as.
struct Reservation {
  // Nothing: it counts for nobody, since it has no user.
  static std::optional<Reservation> Of(const Slot& slot, std::string_view user, Timestamp at);

  std::string ns;
  std::string user;  // empty where there is a namespace
  GroupKind kind;
  Timestamp at;
};

// What changed since the times were taken. Small: of one batch. External synchronization.
using ReservationChanges = std::vector<std::pair<Reservation, int>>;  // 1: made; -1: gone

// Counts in time that grows with what is counted and with the kinds of one namespace or user. Less
// than 100 bytes for each millisecond in which it made one. External synchronization.
class ReservedTimes {
 public:
  // A count never falls below 0: that is a programmer's error.
  void Add(const Reservation& reservation, int count);

  // As Facts::CountReserved, in the state with `changes`.
  std::size_t Count(const ReservedRange& range, const std::set<GroupKind>& left_out,
                    std::size_t limit, const ReservationChanges& changes = {}) const;

 private:
  using Sharer = std::pair<std::string, std::string>;  // namespace, user
  using Times = std::map<Timestamp, std::uint32_t>;

  std::map<Sharer, std::map<GroupKind, Times>> sharers_;
};

// Whether a count of `range` without kinds `left_out` counts it.
bool Counts(const ReservedRange& range, const std::set<GroupKind>& left_out,
            const Reservation& reservation);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_RESERVED_TIMES_H_
