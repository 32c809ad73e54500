// The brake: mass releases by absence wait (I11).
#ifndef TRUCE_REGISTRY_OWNERSHIP_BRAKE_H_
#define TRUCE_REGISTRY_OWNERSHIP_BRAKE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/clock.h"

namespace truce {

class Facts;
class Ledger;

// The answer of the brake on releases by absence.
enum class BrakeVerdict : std::uint8_t {
  kRelease,          // under the limit of this hour, or released by command
  kNeedsSecondList,  // over it: only with a second complete list at least ten minutes after the
                     // first
  kNeedsCommand,     // over twice the limit: an operator must look
};

inline constexpr std::chrono::hours kBrakePeriod{1};
inline constexpr std::chrono::minutes kBrakeSecondLook{10};
inline constexpr std::uint64_t kBrakeFloor = 20;

// Releases by absence per hour that need no second look: max(20, 5 % of the seen rows when the hour
// began).
std::uint64_t BrakeLimit(std::uint64_t seen_rows);

// May one more row of `cluster` be released by absence?
struct BrakeQuestion {
  std::string cluster;
  std::uint64_t seen_rows = 0;  // of the cluster, now: taken when a new hour begins
  Timestamp first_absent{};     // when a complete list first missed the row
  bool second_list = false;     // a later complete list missed it too
  bool commanded = false;       // an operator released the brake
};

// The hour that runs, for people. Nothing before the first release.
struct BrakeHour {
  Timestamp began{};
  std::uint64_t seen_rows = 0;  // of the cluster, when it began
  std::uint64_t released = 0;
  std::uint64_t limit = 0;  // BrakeLimit of seen_rows

  bool operator==(const BrakeHour&) const = default;
};
std::optional<BrakeHour> BrakeOf(const std::string& cluster, const Facts& facts);

// Answers and, when the answer is kRelease, counts the release: one counter per cluster, in the
// store, so that a restart does not reset it.
BrakeVerdict AskBrake(const BrakeQuestion& question, Ledger& ledger);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_BRAKE_H_
