#include "registry/store/postgres/lease.h"

#include <algorithm>
#include <utility>

namespace truce {
namespace {

constexpr const char* kTakeLease =
    "SELECT epoch, other, left_ms FROM truce.take_lease($1, $2, $3, $4, $5)";
constexpr const char* kExtend =
    "UPDATE truce.lease SET expires = clock_timestamp() + make_interval(secs => $3) WHERE sort = "
    "$1 AND epoch = $2 RETURNING epoch, floor(extract(epoch FROM clock_timestamp()) * "
    "1000)::bigint";
// After a renewal that failed.
constexpr std::chrono::seconds kBetweenTries{1};
constexpr std::chrono::seconds kGiveBackTime{3};

const char* TextOf(PgLease::Sort sort) {
  return sort == PgLease::Sort::kRegistry ? "registry" : "watch";
}

}  // namespace

Result<std::variant<std::unique_ptr<PgLease>, OtherServer>> PgLease::Take(PgPool& asked,
                                                                          const PgTarget& target,
                                                                          const Claim& claim,
                                                                          Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(const auto loan, asked.Borrow(deadline));
  TRUCE_ASSIGN_OR_RETURN(
      const auto answers,
      loan->link().Ask({{kTakeLease,
                         {TextOf(claim.sort), claim.holder, std::to_string(claim.time.count()),
                          claim.shared, LockWaitOf(deadline)}}},
                       deadline));
  if (answers[0].row_count() != 1) {
    return Error{ErrorCode::kDataLoss, "truce.take_lease answered what was not asked"};
  }
  const PgColumns row = answers[0].Row(0);
  using Taken = std::variant<std::unique_ptr<PgLease>, OtherServer>;
  if (row.IsNull(0)) {
    return Taken(OtherServer{std::string(row.Text(1)), std::chrono::milliseconds(row.Integer(2))});
  }
  return Taken(std::unique_ptr<PgLease>(new PgLease(target, row.Integer(0), claim)));
}

PgLease::PgLease(const PgTarget& target, std::int64_t epoch, const Claim& claim)
    : pool_(target, 1),
      sort_(claim.sort),
      epoch_(epoch),
      is_shared_(claim.shared.has_value()),
      time_(claim.time),
      keeper_([this] { Keep(); }) {}

PgLease::~PgLease() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ending_changed_.notify_all();
  keeper_.join();
  if (lost() || is_shared_) return;
  // It ends by itself where this fails.
  static_cast<void>(Extend(std::chrono::seconds(0), In(kGiveBackTime)).ok());
}

Result<bool> PgLease::Extend(std::chrono::seconds time, Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(const auto loan, pool_.Borrow(deadline));
  const Timestamp before = SystemClock().Now();
  TRUCE_ASSIGN_OR_RETURN(
      const auto answers,
      loan->link().Ask(
          {{kExtend, {TextOf(sort_), std::to_string(epoch_), std::to_string(time.count())}}},
          deadline));
  if (answers[0].row_count() != 1) return false;
  // The database looked at its clock between the two looks at this one.
  const std::int64_t there = answers[0].Row(0).Integer(1);
  const std::int64_t least = there - SystemClock().Now().time_since_epoch().count();
  const std::int64_t most = there - before.time_since_epoch().count();
  clock_difference_.store(least > 0 ? least : std::min<std::int64_t>(most, 0));
  return true;
}

// A renewal that comes too late is one all the same, if nobody was faster.
void PgLease::Keep() {
  std::chrono::milliseconds wait{0};  // at once: it tells what the database's clock is
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (ending_changed_.wait_for(lock, wait, [this] { return ending_; })) return;
    }
    const Result<bool> extended = Extend(time_, In(std::chrono::milliseconds(time_) / 3));
    if (extended.ok() && !extended.value()) {
      lost_.store(true);
      return;
    }
    wait = std::chrono::milliseconds(time_) / 3;
    if (!extended.ok()) wait = std::min<std::chrono::milliseconds>(wait, kBetweenTries);
  }
}

}  // namespace truce
