#include "registry/store/postgres/postgres_store.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/store/columns.h"
#include "registry/store/postgres/connection.h"
#include "registry/store/postgres/counts.h"
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
// What Contents may take: it has no deadline of its own.
constexpr std::chrono::seconds kWholeReadMax{60};

constexpr std::string_view kNoStandby =
    "the PostgreSQL server waits for no standby before it acknowledges (synchronous_standby_names "
    "is empty): grants may be lost with its machine; name one there, or set storeDurability to "
    "storage or single";

std::string AllFrom(const char* columns, const char* rest) {
  return std::string("SELECT ") + columns + " FROM truce." + rest;
}

std::vector<PgStatement> ContentsStatements() {
  return {
      {"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", {}},
      {AllFrom(kOwnerColumns,
               "owners o JOIN truce.resources r ON r.id = o.resource ORDER BY r.public_id"),
       {}},
      {AllFrom("r.public_id, r.key",
               "resources r WHERE NOT EXISTS (SELECT FROM truce.owners o WHERE o.resource = r.id) "
               "ORDER BY r.public_id"),
       {}},
      {AllFrom(kRowColumns,
               "declarations d JOIN truce.resources r ON r.id = d.resource ORDER BY r.public_id, "
               "d.uid, d.state"),
       {}},
      {AllFrom(kObjectColumns, "objects b ORDER BY b.uid"), {}},
      {AllFrom(kAgreementColumns,
               "agreements g JOIN truce.resources r ON r.id = g.resource ORDER BY g.id"),
       {}},
      {AllFrom(kNameColumns,
               "names n JOIN truce.resources r ON r.id = n.resource ORDER BY n.name, n.spelling"),
       {}},
      {AllFrom(kAuditColumns, "audit l ORDER BY l.incarnation, l.tx, l.number"), {}},
      {AllFrom("s.name, s.value", "settings s ORDER BY s.name"), {}},
      {"COMMIT", {}}};
}

Result<void> ReadContents(const std::vector<PgAnswer>& answers, StoreContents& contents) {
  TRUCE_ASSIGN_OR_RETURN(contents.owners, AllOf<Owner>(answers[1], OwnerFrom<PgColumns>));
  for (int row = 0; row < answers[2].row_count(); ++row) {
    const PgColumns columns = answers[2].Row(row);
    contents.observed.push_back({{std::string(columns.Text(0))}, {std::string(columns.Text(1))}});
  }
  TRUCE_ASSIGN_OR_RETURN(contents.rows, AllOf<Row>(answers[3], RowFrom<PgColumns>));
  TRUCE_ASSIGN_OR_RETURN(contents.objects, AllOf<Object>(answers[4], ObjectFrom<PgColumns>));
  TRUCE_ASSIGN_OR_RETURN(contents.agreements,
                         AllOf<Agreement>(answers[5], AgreementFrom<PgColumns>));
  TRUCE_ASSIGN_OR_RETURN(contents.names, AllOf<ResourceName>(answers[6], NameFrom<PgColumns>));
  TRUCE_ASSIGN_OR_RETURN(contents.audit, AllOf<AuditEntry>(answers[7], AuditFrom<PgColumns>));
  for (int row = 0; row < answers[8].row_count(); ++row) {
    const PgColumns columns = answers[8].Row(row);
    contents.settings.emplace_back(columns.Text(0), columns.Text(1));
  }
  return {};
}

// How often it is tried whether the server can be reached again, and how long.
constexpr std::chrono::seconds kProbeEvery{1};
// Between two tries to find out what became of a commit.
constexpr std::chrono::milliseconds kBetweenLooks{50};

// How one try of a decision ended.
struct Attempt {
  Result<void> result;
  bool again = false;       // nothing was written, and another try may work: `why`
  bool in_doubt = false;    // it is not known what was written
  bool repeatable = false;  // deciding anew tells what that would have told
  bool told = false;        // whoever asked knows the result
  PgRepeat why = PgRepeat::kContention;

  // Of one behind a commit in doubt: whether the next one may find out what became of that.
  bool MayTell() const {
    if (in_doubt) return repeatable;
    const ErrorCode code = result.error().code;
    return code == ErrorCode::kUnavailable || code == ErrorCode::kDeadlineExceeded;
  }
};

// On whose behalf something is decided.
enum class Writer : std::uint8_t { kReview, kWatch };

// What is to be decided.
struct Asked {
  Writer writer = Writer::kReview;
  const Locks& locks;
  const DecideFn& decide;
  Deadline deadline;
};

// What was submitted.
struct Submitted {
  Writer writer = Writer::kReview;
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
    TRUCE_ASSIGN_OR_RETURN(auto taken, PgLease::Take(pool_, {options_.url, options_.password},
                                                     {PgLease::Sort::kRegistry, holder,
                                                      std::move(word), options_.lease_time},
                                                     deadline));
    if (auto* other = std::get_if<OtherServer>(&taken)) {
      return std::optional<OtherServer>(std::move(*other));
    }
    lease_ = std::get<std::unique_ptr<PgLease>>(std::move(taken));
    return std::optional<OtherServer>();
  }

  Result<std::optional<OtherServer>> TakeWatch(const std::string& holder, Deadline deadline) {
    TRUCE_ASSIGN_OR_RETURN(auto taken, PgLease::Take(pool_, {options_.url, options_.password},
                                                     {PgLease::Sort::kWatch, holder, std::nullopt,
                                                      options_.lease_time},
                                                     deadline));
    if (auto* other = std::get_if<OtherServer>(&taken)) {
      return std::optional<OtherServer>(std::move(*other));
    }
    watch_.With([&](auto& lease) { lease = std::get<std::unique_ptr<PgLease>>(std::move(taken)); });
    return std::optional<OtherServer>();
  }

  void GiveWatchBack() {
    // It asks the database while it ends: nobody waits for that.
    const auto given_back = watch_.With([](auto& lease) { return std::move(lease); });
  }

  bool StandsAside() const {
    return lease_ != nullptr && lease_->standing() == PgLease::Standing::kAside;
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
    if (StandsAside()) return Aside();
    const auto on_link = [&](PgLink& link) {
      PgTransaction transaction(link, PgTransaction::Sort::kRead, deadline,
                                *EpochsOf(Writer::kReview));
      return ReadOn(transaction, hints, read, deadline);
    };
    return pool_.Read(on_link, deadline);
  }

  StoreCounts Counts() { return counts_.Get(); }

  Result<void> ReadAll(StoreContents& contents) {
    const Deadline deadline = In(kWholeReadMax);
    const auto read = [&](PgLink& link) -> Result<void> {
      TRUCE_ASSIGN_OR_RETURN(const auto answers, link.Ask(ContentsStatements(), deadline));
      return ReadContents(answers, contents);
    };
    return pool_.Read(read, deadline);
  }

  Result<void> Health() const {
    const std::optional<Error> error = health_.With([](const auto& last) { return last; });
    if (error) return *error;
    return {};
  }

 private:
  friend class PostgresStore;

  static Error Aside() {
    return {ErrorCode::kUnavailable,
            "a server of another version takes over this registry, and this one stands aside"};
  }

  // Nothing: the watch is not this server's.
  std::optional<PgEpochs> EpochsOf(Writer writer) const {
    PgEpochs epochs{.registry = lease_ == nullptr ? 0 : lease_->epoch()};
    if (writer == Writer::kReview) return epochs;
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
        if (!attempt.told) done({});
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
    if (StandsAside()) return {.result = Aside()};
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
    // Nothing to write, and nothing that the answer rests on must be durable first. Whoever waits
    // for it need not wait until the transaction is ended.
    if (changes.empty() && !changes.repeatable) {
      done({});
      return {.told = true};
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

  // Of each new connection: what the server promises, and whether it has what was acknowledged.
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
    if (options_.observer != nullptr) options_.observer->OnRepeat(why);
  }
  void CountDoubt(bool found_out) {
    if (options_.observer != nullptr) options_.observer->OnDoubt(found_out);
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
      const bool is_free = Apply({Writer::kReview, no_locks, nothing, In(kProbeEvery)}).ok();
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
  PgCounts counts_{pool_, options_.counts_age_max};
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

class PostgresStore::WatchStore final : public Store {
 public:
  explicit WatchStore(PostgresStore& store) : store_(store) {}

  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override {
    return store_.impl_->Apply({Writer::kWatch, locks, decide, deadline});
  }
  void Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) override {
    store_.impl_->Submit({Writer::kWatch, locks, std::move(decide), deadline, std::move(done)});
  }
  using Store::Read;
  Result<void> Read(const Locks& hints, const ReadFn& read, Deadline deadline) const override {
    return store_.Read(hints, read, deadline);
  }
  bool is_remote() const override { return store_.is_remote(); }
  StoreCounts Counts() const override { return store_.Counts(); }
  Result<StoreContents> Contents() const override { return store_.Contents(); }
  Result<void> Health() const override { return store_.Health(); }
  std::optional<Error> FatalFailure() const override { return store_.FatalFailure(); }

 private:
  PostgresStore& store_;
};

PostgresStore::PostgresStore(PostgresOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))),
      watch_store_(std::make_unique<WatchStore>(*this)) {}
PostgresStore::~PostgresStore() = default;

Result<std::unique_ptr<PostgresStore>> PostgresStore::Open(PostgresOptions options,
                                                           Deadline deadline) {
  std::unique_ptr<PostgresStore> store(new PostgresStore(std::move(options)));
  TRUCE_RETURN_IF_ERROR(store->impl_->Prepare(deadline));
  store->impl_->StartWorkers();
  return store;
}

Result<void> PostgresStore::Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) {
  return impl_->Apply({Writer::kReview, locks, decide, deadline});
}

void PostgresStore::Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) {
  impl_->Submit({Writer::kReview, locks, std::move(decide), deadline, std::move(done)});
}

Result<void> PostgresStore::Read(const Locks& hints, const ReadFn& read, Deadline deadline) const {
  return impl_->Read(hints, read, deadline);
}

StoreCounts PostgresStore::Counts() const { return impl_->Counts(); }

Result<StoreContents> PostgresStore::Contents() const {
  StoreContents contents;
  TRUCE_RETURN_IF_ERROR(impl_->ReadAll(contents));
  return contents;
}

Result<void> PostgresStore::Health() const { return impl_->Health(); }

Result<std::optional<OtherServer>> PostgresStore::BecomeActive(
    const std::string& holder, const std::optional<std::string>& shared, Deadline deadline) {
  return impl_->BecomeActive(holder, shared, deadline);
}

bool PostgresStore::stands_aside() const { return impl_->StandsAside(); }

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
