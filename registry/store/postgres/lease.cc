#include "registry/store/postgres/lease.h"

#include <algorithm>
#include <utility>

namespace truce {
namespace {

constexpr const char* kTakeLease =
    "SELECT epoch, other, left_ms FROM truce.take_lease($1, $2, $3, $4)";
constexpr const char* kShareLease =
    "SELECT epoch, other, left_ms FROM truce.share_lease($1, $2, $3, $4)";
constexpr const char* kExtend =
    "UPDATE truce.lease SET expires = clock_timestamp() + make_interval(secs => $3) WHERE sort = "
    "$1 AND epoch = $2 RETURNING 1, 0, floor(extract(epoch FROM clock_timestamp()) * "
    "1000)::bigint, "
    "0";
constexpr const char* kRenew =
    "SELECT is_active, is_lost, now_ms, beside FROM truce.renew_share($1, $2, $3)";
constexpr const char* kWanted = "SELECT word FROM truce.wanted()";
constexpr const char* kLeave = "DELETE FROM truce.replicas WHERE holder = $1";
// After a renewal that failed.
constexpr std::chrono::seconds kBetweenTries{1};
constexpr std::chrono::seconds kGiveBackTime{3};
// Between two looks for servers that say another word.
constexpr std::chrono::milliseconds kLookEvery{1000};

const char* TextOf(PgLease::Sort sort) {
  return sort == PgLease::Sort::kRegistry ? "registry" : "watch";
}

}  // namespace

Result<std::optional<OtherServer>> PgLease::Take(PgPool& asked, const Claim& claim,
                                                 Deadline deadline,
                                                 std::unique_ptr<PgLease>& taken) {
  TRUCE_ASSIGN_OR_RETURN(const auto loan, asked.Borrow(deadline));
  const std::string seconds = std::to_string(claim.time.count());
  const PgStatement ask =
      claim.shared
          ? PgStatement{kShareLease, {claim.holder, seconds, claim.shared, LockWaitOf(deadline)}}
          : PgStatement{kTakeLease,
                        {TextOf(claim.sort), claim.holder, seconds, LockWaitOf(deadline)}};
  TRUCE_ASSIGN_OR_RETURN(const auto answers, loan->link().Ask({ask}, deadline));
  if (answers[0].row_count() != 1) {
    return Error{ErrorCode::kDataLoss, "the database answered about a lease what was not asked"};
  }
  const PgColumns row = answers[0].Row(0);
  if (row.IsNull(0)) {
    return std::optional(
        OtherServer{std::string(row.Text(1)), std::chrono::milliseconds(row.Integer(2))});
  }
  taken.reset(new PgLease(asked.target(), row.Integer(0), claim));
  return std::optional<OtherServer>();
}

PgLease::PgLease(const PgTarget& target, std::int64_t epoch, const Claim& claim)
    : pool_({target.url, target.password}, 1),
      sort_(claim.sort),
      epoch_(epoch),
      holder_(claim.holder),
      word_(claim.shared),
      time_(claim.time) {
  keeper_.Start();
}

PgLease::~PgLease() {
  keeper_.Stop();
  if (standing() == Standing::kHeld) GiveBack();
}

// The lease ends by itself where this fails. A server on standby stays known: its announcement is
// no newer when it starts again.
void PgLease::GiveBack() {
  const Deadline deadline = In(kGiveBackTime);
  if (!word_) {
    static_cast<void>(Extend(std::chrono::seconds(0), deadline).ok());
    return;
  }
  const auto loan = pool_.Borrow(deadline);
  if (loan.ok()) static_cast<void>(loan.value()->link().Ask({{kLeave, {holder_}}}, deadline).ok());
}

Result<PgLease::Standing> PgLease::Extend(std::chrono::seconds time, Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(const auto loan, pool_.Borrow(deadline));
  const Timestamp before = SystemClock().Now();
  const std::string seconds = std::to_string(time.count());
  const std::string epoch = std::to_string(epoch_);
  TRUCE_ASSIGN_OR_RETURN(
      const auto answers,
      loan->link().Ask({word_ ? PgStatement{kRenew, {holder_, seconds, epoch}}
                              : PgStatement{kExtend, {TextOf(sort_), epoch, seconds}}},
                       deadline));
  if (answers[0].row_count() != 1) return Standing::kLost;
  const PgColumns row = answers[0].Row(0);
  // The database looked at its clock between the two looks at this one.
  const std::int64_t there = row.Integer(2);
  const std::int64_t least = there - SystemClock().Now().time_since_epoch().count();
  const std::int64_t most = there - before.time_since_epoch().count();
  clock_difference_.store(least > 0 ? least : std::min<std::int64_t>(most, 0));
  beside_.store(row.Integer(3));
  if (row.Integer(1) != 0) return Standing::kLost;
  return row.Integer(0) != 0 ? Standing::kHeld : Standing::kStandby;
}

bool PgLease::IsUnwanted(Deadline deadline) {
  const auto loan = pool_.Borrow(deadline);
  if (!loan.ok()) return false;
  const auto answers = loan.value()->link().Ask({{kWanted, {}}}, deadline);
  if (!answers.ok() || answers.value()[0].row_count() != 1) return false;
  const PgColumns row = answers.value()[0].Row(0);
  return !row.IsNull(0) && row.Text(0) != *word_;
}

// A renewal that comes too late is one all the same, if nobody was faster. The first comes at once:
// it tells the database's clock.
Worker::Rest PgLease::Keep() {
  const std::chrono::milliseconds third = std::chrono::milliseconds(time_) / 3;
  const std::chrono::milliseconds look = word_ ? std::min(third, kLookEvery) : third;
  if (word_) {
    const bool was_standby = standing() == Standing::kStandby;
    const bool unwanted = IsUnwanted(In(third));
    // Before the database knows: nothing is answered once the lease may be another's.
    if (unwanted) standing_.store(Standing::kStandby);
    if (unwanted == was_standby && std::chrono::steady_clock::now() < due_) return {In(look)};
  }
  const Result<Standing> extended = Extend(time_, In(third));
  if (!extended.ok()) return {In(std::min<std::chrono::milliseconds>(look, kBetweenTries))};
  due_ = In(third - look / 2);
  standing_.store(extended.value());
  return {lost() ? Deadline::max() : In(look)};
}

}  // namespace truce
