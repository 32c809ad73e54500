#include "registry/ownership/brake.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "registry/ownership/ledger.h"

namespace truce {
namespace {

// "<began, ms> <seen rows then> <released>".
std::optional<BrakeHour> Parse(std::string_view text) {
  BrakeHour hour;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto next = [&](auto& number) {
    const auto result = std::from_chars(at, end, number);
    if (result.ec != std::errc()) return false;
    at = result.ptr == end ? end : result.ptr + 1;
    return true;
  };
  std::int64_t began = 0;
  if (!next(began) || !next(hour.seen_rows) || !next(hour.released)) return std::nullopt;
  hour.began = Timestamp(std::chrono::milliseconds(began));
  hour.limit = BrakeLimit(hour.seen_rows);
  return hour;
}

std::string ToText(const BrakeHour& hour) {
  return std::to_string(hour.began.time_since_epoch().count()) + " " +
         std::to_string(hour.seen_rows) + " " + std::to_string(hour.released);
}

}  // namespace

std::uint64_t BrakeLimit(std::uint64_t seen_rows) { return std::max(kBrakeFloor, seen_rows / 20); }

std::optional<BrakeHour> BrakeOf(const std::string& cluster, const Facts& facts) {
  return Parse(facts.Setting("brake/" + cluster).value_or(""));
}

BrakeVerdict AskBrake(const BrakeQuestion& question, Ledger& ledger) {
  const std::string name = "brake/" + question.cluster;
  auto hour = Parse(ledger.Setting(name).value_or(""));
  // A clock that went backwards must not open the brake: the old hour goes on.
  if (!hour || ledger.now() - hour->began >= kBrakePeriod) {
    hour = BrakeHour{ledger.now(), question.seen_rows, 0, BrakeLimit(question.seen_rows)};
  }
  if (!question.commanded && hour->released >= hour->limit) {
    if (hour->released >= 2 * hour->limit) return BrakeVerdict::kNeedsCommand;
    const bool looked_twice =
        question.second_list && ledger.now() - question.first_absent >= kBrakeSecondLook;
    if (!looked_twice) return BrakeVerdict::kNeedsSecondList;
  }
  ++hour->released;
  ledger.PutSetting(name, ToText(*hour));
  return BrakeVerdict::kRelease;
}

}  // namespace truce
