#include "registry/store/postgres/postgres_store.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/store/columns.h"
#include "registry/store/postgres/connection.h"
#include "registry/store/postgres/lease.h"
#include "registry/store/postgres/pool.h"
#include "registry/store/postgres/queries.h"
#include "registry/store/postgres/setup.h"
#include "registry/store/postgres/transaction.h"
#include "registry/store/postgres/witnesses.h"

namespace truce {
namespace {

// How often one decision is begun anew when another transaction was in its way, or its connection
// was lost before it was committed.
constexpr int kTriesMax = 4;

constexpr std::string_view kNoStandby =
    "the PostgreSQL server waits for no standby before it acknowledges (synchronous_standby_names "
    "is empty): grants may be lost with its machine; name one there, or set storeDurability to "
    "storage or single";

// The longest time of a count, for which the store's end waits, and of a caller's wait for one.
constexpr std::chrono::seconds kCountMax{20};
constexpr std::chrono::seconds kCountPatience{2};

constexpr const char* kCounts =
    "SELECT count(*), count(*) FILTER (WHERE o.record = 'none' AND o.state = 'reserved'), "
    "count(*) FILTER (WHERE o.record = 'none' AND o.state <> 'reserved'), "
    "count(*) FILTER (WHERE o.record IN ('orphaned', 'transferring')), "
    "count(*) FILTER (WHERE o.record = 'imported'), count(*) FILTER (WHERE o.contested) "
    "FROM truce.owners o";

// How many ownerships there are in which state, as the database had them lately.
struct Counted {
  StoreCounts counts;
  std::optional<Deadline> at;
  std::shared_future<void> next;  // the last count that was begun
};

// How often it is tried whether the server can be reached again, and how long.
constexpr std::chrono::seconds kProbeEvery{1};
// Between two tries to find out what became of a commit.
constexpr std::chrono::milliseconds kBetweenLooks{50};

// How one try of a decision ended.
struct Attempt {
  Result<void> result;
  bool again = false;       // nothing was written, and another try may work: `why`
  bool in_doubt = false;    // it is not known what was written
  bool repeatable = false;  // deciding anew answers the same
  bool reported = false;    // the caller knows the result
  PgRepeat why = PgRepeat::kContention;

  // Of one behind a commit in doubt: whether the next one may find out what became of that.
  bool MayTell() const {
    if (in_doubt) return repeatable;
    const ErrorCode code = result.error().code;
    return code == ErrorCode::kUnavailable || code == ErrorCode::kDeadlineExceeded;
  }
};

// A decision that runs.
struct Asked {
  PgWriter writer = PgWriter::kReview;
  const Locks& locks;
  const DecideFn& decide;
  Deadline deadline;
};

// A decision that waits.
struct Submitted {
  PgWriter writer = PgWriter::kReview;
  Locks locks;
  DecideFn decide;
  Deadline deadline;
  OnDone done;
};

}  // namespace

class PostgresStore::Impl {
 public:
  explicit Impl(PostgresOptions options)
      : options_(std::move(options)),
        pool_({options_.url, options_.password, options_.observer}, options_.connections_max,
              [this](PgLink& link, Deadline deadline) { return Greet(link, deadline); }) {}

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    came_.notify_all();
    closing_began_.notify_all();
    trouble_came_.notify_all();
    const auto count = counted_.With([](const Counted& last) { return last.next; });
    if (count.valid()) count.wait();
  }

  Result<void> Prepare(Deadline deadline) {
    TRUCE_ASSIGN_OR_RETURN(const auto first, pool_.Borrow(deadline));
    TRUCE_ASSIGN_OR_RETURN(const auto second, pool_.Borrow(deadline));
    TRUCE_RETURN_IF_ERROR(ProbeServer(first->link(), second->link(), deadline));
    TRUCE_RETURN_IF_ERROR(MigratePostgres(first->link(), PostgresMigrations(), deadline));
    TRUCE_RETURN_IF_ERROR(CheckRights(first->link(), deadline));
    is_prepared_.store(true);
    Result<void> greeted = Greet(first->link(), deadline);
    if (greeted.ok() || greeted.error().message != kNoStandby) return greeted;
    return Error{ErrorCode::kInvalidArgument, std::string(kNoStandby)};
  }

  Result<std::optional<OtherServer>> BecomeActive(const std::string& holder,
                                                  const std::optional<std::string>& shared,
                                                  Deadline deadline) {
    std::optional<std::string> word;
    if (shared) word = "schema " + std::to_string(PostgresMigrations().size()) + ", " + *shared;
    return PgLease::Take(pool_,
                         {PgLease::Sort::kRegistry, holder, std::move(word), options_.lease_time},
                         deadline, lease_);
  }

  Result<std::optional<OtherServer>> TakeWatch(const std::string& holder, Deadline deadline) {
    std::unique_ptr<PgLease> taken;
    auto other = PgLease::Take(
        pool_, {PgLease::Sort::kWatch, holder, std::nullopt, options_.lease_time}, deadline, taken);
    if (taken != nullptr) watch_.With([&](auto& lease) { lease = std::move(taken); });
    return other;
  }

  void GiveWatchBack() {
    // It asks the database while it ends: nobody waits for that.
    const auto given_back = watch_.With([](auto& lease) { return std::move(lease); });
  }

  bool IsStandby() const {
    return lease_ != nullptr && lease_->standing() == PgLease::Standing::kStandby;
  }

  bool WatchLost() const {
    return watch_.With([](const auto& lease) { return lease != nullptr && lease->lost(); });
  }

  std::optional<std::string> DurabilityWarning() const {
    if (options_.standby == StandbyNeed::kNone || has_standby_.load()) return std::nullopt;
    return std::string(kNoStandby);
  }

  std::optional<Error> Lost() const {
    if (lease_ != nullptr && lease_->lost()) {
      return Error{ErrorCode::kConflict, "another server has become active on this registry"};
    }
    if (!WatchLost()) return std::nullopt;
    return Error{ErrorCode::kConflict, "another server has taken over the watch of the cluster"};
  }

  void StartWorkers() {
    prober_ = std::jthread([this] { Probe(); });
    for (std::size_t i = 0; i < options_.workers; ++i) {
      workers_.emplace_back([this] { Work(); });
    }
  }

  Result<void> Apply(const Asked& asked) {
    Result<void> applied;
    Decide(asked, [&](Result<void> result) { applied = std::move(result); });
    return applied;
  }

  // False: there is no room, and the request is as it was.
  bool TakesIn(Submitted& request) {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= options_.queue_max) return false;
    queue_.push_back(std::move(request));
    return true;
  }

  void Submit(Submitted request) {
    // Without the lock, which is the first thing that a woken thread wants.
    if (TakesIn(request)) return came_.notify_one();
    request.done(Error{ErrorCode::kResourceExhausted, "too many reviews wait for the registry"});
  }

  Result<void> Read(const Locks& hints, const ReadFn& read, Deadline deadline) {
    if (IsStandby()) return Standby();
    const auto on_link = [&](PgLink& link) {
      PgTransaction transaction(link, PgTransaction::Sort::kRead, deadline,
                                *EpochsOf(PgWriter::kReview));
      return ReadOn(transaction, hints, read, deadline);
    };
    return pool_.Read(on_link, deadline);
  }

  // Counted aside, since callers are in a hurry: metrics are wanted most while the database does
  // not answer.
  StoreCounts Counts() {
    const Deadline now = std::chrono::steady_clock::now();
    const auto next = counted_.With([&](Counted& last) {
      const bool is_fresh = last.at && now - *last.at < options_.counts_age_max;
      if (is_fresh) return std::shared_future<void>();
      const bool runs = last.next.valid() &&
                        last.next.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
      if (!runs) last.next = std::async(std::launch::async, [this] { Count(); }).share();
      return last.next;
    });
    if (next.valid()) next.wait_until(now + kCountPatience);
    return counted_.With([](const Counted& last) { return last.counts; });
  }

  Result<void> Health() const {
    const std::optional<Error> error = health_.With([](const auto& last) { return last; });
    if (error) return *error;
    return {};
  }

 private:
  friend class PostgresStore;

  static Error Standby() {
    return {ErrorCode::kUnavailable,
            "a server of another version takes over this registry, and this one is on standby"};
  }

  void Count() {
    const auto count = [&](PgLink& link) -> Result<void> {
      TRUCE_ASSIGN_OR_RETURN(const auto answers, link.Ask({{kCounts, {}}}, In(kCountMax)));
      const PgColumns row = answers[0].Row(0);
      const auto number = [&](int column) {
        return static_cast<std::uint64_t>(row.Integer(column));
      };
      counted_.With([&](Counted& last) {
        last.counts = {number(0), number(1), number(2), number(3), number(4), number(5)};
        last.at = std::chrono::steady_clock::now();
      });
      return {};
    };
    static_cast<void>(pool_.Read(count, In(kCountMax)).ok());
  }

  // Nothing: the watch is not this server's.
  std::optional<PgEpochs> EpochsOf(PgWriter writer) const {
    PgEpochs epochs{.registry = lease_ == nullptr ? 0 : lease_->epoch()};
    if (writer == PgWriter::kReview) return epochs;
    epochs.watch =
        watch_.With([](const auto& lease) { return lease == nullptr ? 0 : lease->epoch(); });
    if (epochs.watch == 0) return std::nullopt;
    return epochs;
  }

  // Tells `done` once, as soon as it is known.
  void Decide(const Asked& asked, const OnDone& done) {
    std::optional<Error> doubt;
    for (int tries = 1;; ++tries) {
      Attempt attempt = Try(asked, done);
      if (attempt.result.ok()) {
        if (doubt) CountDoubt(true);
        if (!attempt.reported) done({});
        return;
      }
      if (attempt.in_doubt) doubt = attempt.result.error();
      const bool go_on = doubt ? attempt.MayTell() && Pause(asked.deadline)
                               : attempt.again && tries < kTriesMax &&
                                     std::chrono::steady_clock::now() < asked.deadline;
      if (go_on) {
        CountRepeat(doubt ? PgRepeat::kDoubt : attempt.why);
        continue;
      }
      if (!doubt) return done(std::move(attempt.result));
      CountDoubt(false);
      return done(*std::move(doubt));
    }
  }

  Attempt Try(const Asked& asked, const OnDone& done) {
    if (IsStandby()) return {.result = Standby()};
    const Deadline deadline = asked.deadline;
    const std::optional<PgEpochs> epochs = EpochsOf(asked.writer);
    if (!epochs) {
      return {.result = Error{ErrorCode::kConflict, "this server does not watch the cluster"}};
    }
    const auto loan = pool_.Borrow(deadline);
    if (!loan.ok()) {
      if (loan.error().code != ErrorCode::kDeadlineExceeded) NoteTrouble(loan.error(), true);
      return {.result = loan.error()};
    }
    PgLink& link = loan.value()->link();
    const Deadline began = std::chrono::steady_clock::now();
    PgTransaction transaction(link, PgTransaction::Sort::kDecision, deadline, *epochs);
    const Result<Changes> decided = DecideOn(transaction, asked.locks, asked.decide, deadline);
    if (!decided.ok()) {
      if (!link.may_repeat() && FailsOthersToo(decided.error(), began)) {
        NoteTrouble(decided.error(), !link.usable());
      }
      // An idle connection may have been lost long ago: another one is tried.
      const bool again =
          link.may_repeat() || (!link.usable() && decided.error().code == ErrorCode::kUnavailable);
      return {.result = decided.error(),
              .again = again,
              .why = link.may_repeat() ? PgRepeat::kContention : PgRepeat::kConnection};
    }
    const Changes& changes = decided.value();
    // Nothing to write, and nothing that the answer rests on must be durable first. The caller need
    // not wait until the transaction is ended.
    if (changes.empty() && !changes.repeatable) {
      done({});
      return {.reported = true};
    }
    Attempt attempt{.result = changes.empty() ? transaction.Confirm() : transaction.Write(changes),
                    .in_doubt = transaction.in_doubt(),
                    .repeatable = changes.repeatable};
    if (attempt.result.ok()) {
      health_.With([](auto& last) { last.reset(); });
      if (transaction.last_audit_line() != 0 && !changes.audit.empty()) {
        const AuditEntry& line = changes.audit.back();
        witnesses_.Add({transaction.last_audit_line(), line.at, line.id.text});
      }
      return attempt;
    }
    if (FailsOthersToo(attempt.result.error(), began)) {
      NoteTrouble(attempt.result.error(), link.is_lost());
    }
    attempt.again = !attempt.in_doubt && link.usable() && link.may_repeat();
    return attempt;
  }

  // Checks a new connection: the promises of its server, and the changes that were acknowledged.
  Result<void> Greet(PgLink& link, Deadline deadline) {
    if (!is_prepared_.load()) return {};
    TRUCE_ASSIGN_OR_RETURN(const bool has_standby, NamesStandby(link, deadline));
    has_standby_.store(has_standby);
    if (!has_standby && options_.standby == StandbyNeed::kRequired) {
      return Error{ErrorCode::kUnavailable, std::string(kNoStandby)};
    }
    return witnesses_.Check(link, deadline);
  }

  void CountRepeat(PgRepeat why) {
    if (options_.observer) options_.observer({.repeat = why});
  }
  void CountDoubt(bool found_out) {
    if (options_.observer) options_.observer({.doubt_found_out = found_out});
  }

  // Before another try tells what became of a commit. False: the time is over, or the store closes.
  bool Pause(Deadline deadline) {
    std::unique_lock lock(mutex_);
    const Deadline until =
        std::min<Deadline>(deadline, std::chrono::steady_clock::now() + kBetweenLooks);
    return !closing_began_.wait_until(lock, until, [this] { return closing_; }) && until < deadline;
  }

  // Whether the next write would probably meet `error`, too: it is neither of these changes nor of
  // a caller who had no patience.
  static bool FailsOthersToo(const Error& error, Deadline began) {
    constexpr std::chrono::seconds kPatience{1};
    if (error.code == ErrorCode::kDeadlineExceeded) {
      return std::chrono::steady_clock::now() - began > kPatience;
    }
    return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kDataLoss;
  }

  // `of_way`: to the server, which refused nothing itself.
  void NoteTrouble(const Error& error, bool of_way) {
    health_.With([&](auto& last) { last = error; });
    {
      const std::lock_guard lock(mutex_);
      is_way_blocked_ = of_way;
    }
    if (of_way) trouble_came_.notify_one();
  }

  // Where nobody writes for hours nothing else would find out that the way is free again. Commits
  // nothing: a commit that waits for a standby occupies the server's connection as long as it does.
  void Probe() {
    const DecideFn nothing = [](const AllFacts&) { return Changes(); };
    const Locks no_locks;
    std::unique_lock lock(mutex_);
    while (true) {
      trouble_came_.wait(lock, [this] { return closing_ || is_way_blocked_; });
      if (trouble_came_.wait_for(lock, kProbeEvery, [this] { return closing_; })) return;
      lock.unlock();
      const bool is_free = Apply({PgWriter::kReview, no_locks, nothing, In(kProbeEvery)}).ok();
      lock.lock();
      if (!is_free || !is_way_blocked_) continue;
      is_way_blocked_ = false;
      health_.With([](auto& last) { last.reset(); });
    }
  }

  void Work() {
    while (true) {
      std::optional<Submitted> next;
      {
        std::unique_lock lock(mutex_);
        came_.wait(lock, [this] { return closing_ || !queue_.empty(); });
        if (queue_.empty()) return;
        next.emplace(std::move(queue_.front()));
        queue_.pop_front();
      }
      Decide({next->writer, next->locks, next->decide, next->deadline}, next->done);
    }
  }

  const PostgresOptions options_;
  PgPool pool_;
  std::unique_ptr<PgLease> lease_;           // null: none was asked for
  Guarded<std::unique_ptr<PgLease>> watch_;  // null: this server does not hold the watch
  std::atomic<bool> is_prepared_{false};
  std::atomic<bool> has_standby_{false};  // of the connection that was opened last
  Witnesses witnesses_;
  Guarded<std::optional<Error>> health_;
  Guarded<Counted> counted_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::condition_variable closing_began_;
  std::deque<Submitted> queue_;  // guarded by mutex_
  bool closing_ = false;         // guarded by mutex_
  std::condition_variable trouble_came_;
  bool is_way_blocked_ = false;  // as far as is known; guarded by mutex_
  std::jthread prober_;
  std::vector<std::jthread> workers_;  // last, as that one: they use all of the above
};

PostgresStore::PostgresStore(std::shared_ptr<Impl> impl, PgWriter writer)
    : impl_(std::move(impl)), writer_(writer) {
  if (writer_ == PgWriter::kWatch) return;
  watch_store_.reset(new PostgresStore(impl_, PgWriter::kWatch));
}

PostgresStore::~PostgresStore() = default;

Result<std::unique_ptr<PostgresStore>> PostgresStore::Open(PostgresOptions options,
                                                           Deadline deadline) {
  std::unique_ptr<PostgresStore> store(
      new PostgresStore(std::make_shared<Impl>(std::move(options)), PgWriter::kReview));
  TRUCE_RETURN_IF_ERROR(store->impl_->Prepare(deadline));
  store->impl_->StartWorkers();
  return store;
}

Result<void> PostgresStore::Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) {
  return impl_->Apply({writer_, locks, decide, deadline});
}

void PostgresStore::Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) {
  impl_->Submit({writer_, locks, std::move(decide), deadline, std::move(done)});
}

Result<void> PostgresStore::Read(const Locks& hints, const ReadFn& read, Deadline deadline) const {
  return impl_->Read(hints, read, deadline);
}

StoreCounts PostgresStore::Counts() const { return impl_->Counts(); }

Result<void> PostgresStore::Health() const { return impl_->Health(); }

Result<std::optional<OtherServer>> PostgresStore::BecomeActive(
    const std::string& holder, const std::optional<std::string>& shared, Deadline deadline) {
  return impl_->BecomeActive(holder, shared, deadline);
}

bool PostgresStore::is_standby() const { return impl_->IsStandby(); }

Result<std::optional<OtherServer>> PostgresStore::TakeWatch(const std::string& holder,
                                                            Deadline deadline) {
  return impl_->TakeWatch(holder, deadline);
}

void PostgresStore::GiveWatchBack() { impl_->GiveWatchBack(); }

Store& PostgresStore::watch_store() { return *watch_store_; }

std::optional<std::string> PostgresStore::DurabilityWarning() const {
  return impl_->DurabilityWarning();
}

std::uint64_t PostgresStore::TakeMissing() { return impl_->witnesses_.TakeMissing(); }

std::int64_t PostgresStore::epoch() const {
  return impl_->lease_ == nullptr ? 0 : impl_->lease_->epoch();
}

std::chrono::milliseconds PostgresStore::clock_difference() const {
  return impl_->lease_ == nullptr ? std::chrono::milliseconds(0)
                                  : impl_->lease_->clock_difference();
}

std::int64_t PostgresStore::servers_beside() const {
  return impl_->lease_ == nullptr ? 0 : impl_->lease_->beside();
}

bool PostgresStore::has_standby() const { return impl_->has_standby_.load(); }

std::optional<Error> PostgresStore::FatalFailure() const { return impl_->Lost(); }

}  // namespace truce
