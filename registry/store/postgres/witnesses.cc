#include "registry/store/postgres/witnesses.h"

#include <utility>
#include <vector>

#include "registry/store/columns.h"
#include "registry/store/postgres/records.h"

namespace truce {
namespace {

// Its answer differs after a fail-over, a restore and a restart.
constexpr const char* kPlace = "SELECT truce.arrive()";

// Lines that the registry let go itself are not missed.
constexpr const char* kMissing =
    "SELECT count(*) FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS w (number, at, id) "
    "WHERE w.number > coalesce((SELECT value::bigint FROM truce.settings WHERE name = "
    "'audit.let-go'), 0) AND NOT EXISTS (SELECT FROM truce.audit l WHERE l.number = w.number AND "
    "l.at = w.at AND l.id = w.id)";

}  // namespace

void Witnesses::Add(Witness witness) {
  state_.With([&](State& state) {
    state.kept.push_back(std::move(witness));
    if (state.kept.size() > kKept) state.kept.pop_front();
  });
}

Result<void> Witnesses::Check(PgLink& link, Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(const auto placed, link.Ask({{kPlace, {}}}, deadline));
  if (placed[0].row_count() != 1) return {};
  const std::string place(placed[0].Row(0).Text(0));
  std::vector<Witness> asked;
  const bool is_known = state_.With([&](State& state) {
    if (state.place == place || state.kept.empty()) {
      state.place = place;
      return true;
    }
    asked.assign(state.kept.begin(), state.kept.end());
    return false;
  });
  if (is_known) return {};
  TextArray numbers;
  TextArray times;
  TextArray ids;
  for (const Witness& witness : asked) {
    numbers.Number(witness.number);
    times.Number(Milliseconds(witness.at));
    ids.Text(witness.id);
  }
  TRUCE_ASSIGN_OR_RETURN(
      const auto answers,
      link.Ask(
          {{kMissing, {std::move(numbers).Take(), std::move(times).Take(), std::move(ids).Take()}}},
          deadline));
  const std::int64_t missing = answers[0].row_count() == 1 ? answers[0].Row(0).Integer(0) : 0;
  state_.With([&](State& state) {
    if (state.place == place) return;  // another connection told it
    state.place = place;
    state.missing += static_cast<std::uint64_t>(missing);
    // Lost changes are not missed again elsewhere.
    if (missing > 0) state.kept.clear();
  });
  return {};
}

std::uint64_t Witnesses::TakeMissing() {
  return state_.With([](State& state) { return std::exchange(state.missing, 0); });
}

}  // namespace truce
