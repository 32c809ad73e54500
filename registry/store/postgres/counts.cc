#include "registry/store/postgres/counts.h"

#include <cstdint>

#include "registry/store/postgres/connection.h"

namespace truce {
namespace {

// What a count may take, which holds up the store's end.
constexpr std::chrono::seconds kCountMax{20};
// How long those who ask wait for new ones.
constexpr std::chrono::seconds kCountPatience{2};

constexpr const char* kCounts =
    "SELECT count(*), count(*) FILTER (WHERE o.record = 'none' AND o.state = 'reserved'), "
    "count(*) FILTER (WHERE o.record = 'none' AND o.state <> 'reserved'), "
    "count(*) FILTER (WHERE o.record IN ('orphaned', 'transferring')), "
    "count(*) FILTER (WHERE o.record = 'imported'), count(*) FILTER (WHERE o.contested) "
    "FROM truce.owners o";

StoreCounts CountsOf(const PgColumns& columns) {
  const auto count = [&](int column) {
    return static_cast<std::uint64_t>(columns.Integer(column));
  };
  return {.owners = count(0),
          .reserved = count(1),
          .held = count(2),
          .orphaned = count(3),
          .imported = count(4),
          .conflicts = count(5)};
}

}  // namespace

PgCounts::PgCounts(PgPool& pool, std::chrono::milliseconds age_max)
    : pool_(pool), age_max_(age_max), keeper_([this] { Keep(); }) {}

PgCounts::~PgCounts() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  keeper_.join();
}

StoreCounts PgCounts::Get() {
  std::unique_lock lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (counted_ && now - *counted_ < age_max_) return counts_;
  wanted_ = true;
  changed_.notify_all();
  changed_.wait_until(lock, now + kCountPatience, [this] { return !wanted_; });
  return counts_;
}

void PgCounts::Keep() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || wanted_; });
    if (ending_) return;
    lock.unlock();
    const auto answer = pool_.ReadOne({kCounts, {}}, In(kCountMax));
    lock.lock();
    if (answer.ok() && answer.value().row_count() == 1) {
      counted_ = std::chrono::steady_clock::now();
      counts_ = CountsOf(answer.value().Row(0));
    }
    wanted_ = false;
    changed_.notify_all();
  }
}

}  // namespace truce
