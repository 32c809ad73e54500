#include "registry/ownership/brake.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "registry/ownership/ledger.h"

namespace truce {
namespace {

// One hour of releases: "<began, ms> <seen rows then> <released>".
struct Hour {
  std::int64_t began = 0;
  std::uint64_t seen_rows = 0;
  std::uint64_t released = 0;
};

std::optional<Hour> Parse(std::string_view text) {
  Hour hour;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto next = [&](auto& number) {
    const auto result = std::from_chars(at, end, number);
    if (result.ec != std::errc()) return false;
    at = result.ptr == end ? end : result.ptr + 1;
    return true;
  };
  if (!next(hour.began) || !next(hour.seen_rows) || !next(hour.released)) return std::nullopt;
  return hour;
}

std::string ToText(const Hour& hour) {
  return std::to_string(hour.began) + " " + std::to_string(hour.seen_rows) + " " +
         std::to_string(hour.released);
}

}  // namespace

std::uint64_t BrakeLimit(std::uint64_t seen_rows) { return std::max(kBrakeFloor, seen_rows / 20); }

std::optional<BrakeHour> BrakeOf(const std::string& cluster, const Facts& facts) {
  const auto hour = Parse(facts.Setting("brake/" + cluster).value_or(""));
  if (!hour) return std::nullopt;
  return BrakeHour{Timestamp(std::chrono::milliseconds(hour->began)), hour->seen_rows,
                   hour->released, BrakeLimit(hour->seen_rows)};
}

BrakeVerdict AskBrake(const BrakeQuestion& question, Ledger& ledger) {
  const std::string name = "brake/" + question.cluster;
  const std::int64_t now = ledger.now().time_since_epoch().count();
  auto hour = Parse(ledger.Setting(name).value_or(""));
  const std::int64_t period = std::chrono::milliseconds(kBrakePeriod).count();
  // A clock that went backwards must not open the brake: the old hour goes on.
  if (!hour || now - hour->began >= period) hour = Hour{now, question.seen_rows, 0};
  const std::uint64_t limit = BrakeLimit(hour->seen_rows);
  if (!question.commanded && hour->released >= limit) {
    if (hour->released >= 2 * limit) return BrakeVerdict::kNeedsCommand;
    const bool looked_twice =
        question.second_list && ledger.now() - question.first_absent >= kBrakeSecondLook;
    if (!looked_twice) return BrakeVerdict::kNeedsSecondList;
  }
  ++hour->released;
  ledger.PutSetting(name, ToText(*hour));
  return BrakeVerdict::kRelease;
}

}  // namespace truce
