#include "webhook/upkeep/registry_part.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "policies/policy.h"
#include "registry/base/file.h"
#include "registry/base/threads.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/lists/import.h"
#include "registry/store/administration.h"
#include "registry/store/catalogue_change.h"
#include "registry/store/postgres/postgres_store.h"
#include "registry/store/sqlite/backup.h"
#include "registry/store/sqlite/log_look.h"
#include "registry/store/sqlite/sqlite_store.h"
#include "webhook/upkeep/audit_keeper.h"
#include "webhook/upkeep/data_dir.h"
#include "webhook/upkeep/migrate_store.h"
#include "webhook/upkeep/store_access.h"
#include "webhook/watch/recovery/recovery.h"
#include "webhook/watch/recovery/registry_memory.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kAuditTime{10};
constexpr std::chrono::seconds kBookTime{5};
constexpr std::chrono::seconds kBooksKeptEvery{1};
constexpr std::chrono::seconds kBooksExchangedEvery{10};  // where other servers add to them
constexpr std::chrono::seconds kWitnessTime{5};
constexpr std::chrono::seconds kBetweenWitnesses{10};
constexpr std::chrono::seconds kBetweenProgress{5};
constexpr std::chrono::seconds kNumbersTime{5};
constexpr std::string_view kThisServer = "this server";
constexpr std::string_view kOpened = "store/opened";  // the setting: when
constexpr std::chrono::seconds kNumbersEvery{60};
constexpr std::chrono::seconds kReservationsEvery{10};
constexpr std::chrono::seconds kReservationsTime{5};
constexpr std::size_t kReservationsAtOnce = 100;

// Where clocks differ by more, a time that ends by one clock ends too early by the other.
constexpr std::chrono::milliseconds kClocksApartMax{2000};

constexpr std::chrono::seconds kDatabaseTime{20};  // to open it: a schema may have to be made
constexpr std::chrono::seconds kWaitingTime{5};    // of one question while another server is active

StandbyNeed NeedOf(StoreDurability durability) {
  switch (durability) {
    case StoreDurability::kReplicated: return StandbyNeed::kWanted;
    case StoreDurability::kRequired: return StandbyNeed::kRequired;
    case StoreDurability::kStorage:
    case StoreDurability::kSingle: break;
  }
  return StandbyNeed::kNone;
}

class CopyBody final : public HttpBody {
 public:
  explicit CopyBody(HandedOutCopy copy) : copy_(std::move(copy)) {}

  std::uint64_t size() const override { return copy_.size(); }
  std::optional<std::string> Next() override {
    const BlockingRegion blocking;
    Result<std::string> piece = copy_.Next();
    if (!piece.ok()) return std::nullopt;
    return std::move(piece).value();
  }

 private:
  HandedOutCopy copy_;
};

}  // namespace

RegistryPart::RegistryPart(const Config& config, Logger& logger, const Clock& clock)
    : logger_(logger),
      clock_(clock),
      data_dir_(config.data_dir),
      is_database_(IsPostgresUrl(config.store)) {
  disk_failures_.Begin(data_dir_);
}

RegistryPart::~RegistryPart() {
  // The store empties its log at its end, unless its disk failed.
  if (!is_database_ && is_open() && !store_.FatalFailure()) {
    static_cast<void>(TakeLogMarkOff(data_dir_).ok());
  }
}

Result<std::unique_ptr<Store>> RegistryPart::OpenStore(const Config& config,
                                                       const AdmissionPolicy& policy,
                                                       const KubeSystemFn& kube_system) {
  if (IsPostgresUrl(config.store)) return OpenDatabase(config, policy, kube_system);
  Result<std::unique_ptr<Store>> store = OpenFile(config);
  if (store.ok()) return store;
  const std::string problem = RoomProblem(data_dir_);
  if (problem.empty() || store.error().code != ErrorCode::kUnavailable) return store.error();
  WaitFor("the registry cannot be opened: " + problem);
  return std::unique_ptr<Store>();
}

Result<std::unique_ptr<Store>> RegistryPart::OpenFile(const Config& config) {
  TRUCE_ASSIGN_OR_RETURN(log_loss_, TakeUpLog(data_dir_));
  SqliteOptions options;
  options.data_dir = data_dir_;
  options.cache_bytes = static_cast<std::uint64_t>(config.store_cache_mib) << 20U;
  TRUCE_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, SqliteStore::Open(options));
  TRUCE_RETURN_IF_ERROR(CheckMigrated(*store, In(kDatabaseTime)));
  return store;
}

std::string RegistryPart::WriteProblem() const {
  return write_problem_.With([](const std::string& problem) { return problem; });
}

void RegistryPart::LookAtRoom() {
  if (is_database_) return;
  KeepReserve(data_dir_);
  std::string problem = RoomProblem(data_dir_);
  if (const Result<void> health = store_.Health(); problem.empty() && !health.ok()) {
    problem = health.error().message;
  }
  const bool is_new = write_problem_.With([&](std::string& last) {
    const bool begins = last.empty() && !problem.empty();
    last = problem;
    return begins;
  });
  if (is_new) {
    logger_.Log(LogLevel::kError, "registry cannot be written",
                {{"message", std::string_view(problem)}});
  }
}

Result<bool> RegistryPart::IsOurs(const Config& config, const KubeSystemFn& kube_system) {
  const auto uid = kube_system();
  const Result<void> ours =
      uid.ok() ? CheckCluster(*waiting_, config.cluster_id, uid.value(), In(kDatabaseTime))
               : uid.error();
  if (ours.ok()) return true;
  const ErrorCode code = ours.error().code;
  if (code != ErrorCode::kUnavailable && code != ErrorCode::kDeadlineExceeded) return ours.error();
  WaitFor(
      "nothing is written to the registry's database before it is known whose cluster this is: " +
      ours.error().message);
  return false;
}

Result<std::unique_ptr<Store>> RegistryPart::OpenDatabase(const Config& config,
                                                          const AdmissionPolicy& policy,
                                                          const KubeSystemFn& kube_system) {
  const bool is_first = waiting_ == nullptr;
  if (is_first) {
    PostgresOptions options;
    options.url = config.store;
    options.password = PasswordOf(config);
    options.standby = NeedOf(config.store_durability);
    options.observer = [this](const PgEvent& event) { database_metrics_.Count(event); };
    TRUCE_ASSIGN_OR_RETURN(waiting_, PostgresStore::Open(options, In(kDatabaseTime)));
    TRUCE_RETURN_IF_ERROR(CheckRegistry(*waiting_, config.cluster_id, In(kDatabaseTime)));
    durability_ = waiting_->DurabilityWarning().value_or("");
    if (!durability_.empty()) {
      logger_.Log(LogLevel::kWarning, "durability", {{"message", std::string_view(durability_)}});
    }
  }
  if (!is_ours_ && !config.no_cluster) {
    TRUCE_ASSIGN_OR_RETURN(is_ours_, IsOurs(config, kube_system));
    if (!is_ours_) return std::unique_ptr<Store>();
  }
  TRUCE_ASSIGN_OR_RETURN(const std::string holder, ServerName(data_dir_));
  // Servers that share must make equal keys, or one resource would have two. One of those that
  // follow the cluster watches it for all; a server that does not follow it would tell that one
  // nothing.
  const std::string shared =
      policy.catalogue->version() + " of " + (config.no_cluster ? "no cluster" : config.cluster_id);
  const auto active =
      waiting_->BecomeActive(holder, shared, In(is_first ? kDatabaseTime : kWaitingTime));
  if (!active.ok()) {
    // A database that goes away while a server waits is waited for, too.
    if (is_first) return active.error();
    WaitFor("another server was active on the registry's database, which does not answer: " +
            active.error().message);
    return std::unique_ptr<Store>();
  }
  if (const std::optional<OtherServer>& other = active.value()) {
    WaitFor(
        "server " + other->holder +
        " is active on the registry's database, or about to be, and does not share it with this "
        "one, which follows when that ends");
    return std::unique_ptr<Store>();
  }
  TRUCE_RETURN_IF_ERROR(CheckMigrated(*waiting_, In(kDatabaseTime)));
  TRUCE_RETURN_IF_ERROR(BindRegistry(*waiting_, config.cluster_id, In(kDatabaseTime)));
  active_.store(waiting_.get());
  return std::unique_ptr<Store>(std::move(waiting_));
}

bool RegistryPart::TakeWatch() {
  PostgresStore* database = active_.load();
  if (database == nullptr || watches_) return true;
  if (database->is_standby()) return false;
  const auto holder = ServerName(data_dir_);
  if (!holder.ok()) return false;
  const auto taken = database->TakeWatch(holder.value(), In(kWaitingTime));
  // Where the database does not answer, or what the former one decides is not done: the next time.
  if (!taken.ok()) return false;
  const std::optional<OtherServer>& other = taken.value();
  watches_ = !other.has_value();
  const std::string& watcher = other ? other->holder : holder.value();
  const std::string before = watcher_.With([&](std::string& last) {
    return std::exchange(last, watches_ ? std::string(kThisServer) : "server " + watcher);
  });
  if (before != Watcher()) {
    logger_.Log(LogLevel::kInfo, "watch",
                {{"server", std::string_view(watcher)}, {"is_this_one", watches_}});
  }
  return watches_;
}

std::string RegistryPart::Watcher() const {
  return watcher_.With([](const std::string& last) { return last; });
}

bool RegistryPart::IsBesideAnother() const {
  const PostgresStore* database = active_.load();
  if (database != nullptr && database->servers_beside() > 0) return true;
  const std::string watcher = Watcher();
  return !watcher.empty() && watcher != kThisServer;
}

void RegistryPart::GiveWatchBack() {
  if (!std::exchange(watches_, false)) return;
  active_.load()->GiveWatchBack();
}

std::string RegistryPart::StandbyReason() const {
  const PostgresStore* database = active_.load();
  if (database == nullptr || !database->is_standby()) return {};
  return "a server of another version takes over the registry; this one answers nothing meanwhile";
}

// Logged each time that it changes.
void RegistryPart::WaitFor(std::string what) {
  if (what == waiting_for_) return;
  waiting_for_ = std::move(what);
  logger_.Log(LogLevel::kInfo, "waiting", {{"message", std::string_view(waiting_for_)}});
}

std::optional<Error> RegistryPart::Lost() const {
  std::optional<Error> failure = store_.FatalFailure();
  if (failure && failure->code != ErrorCode::kConflict) failure.reset();
  if (!failure && watched_ && StandbyReason().empty()) {
    failure = Error{ErrorCode::kConflict,
                    "the server of another version, for which this one gave back the watch of the "
                    "cluster, is gone: this one begins anew"};
  }
  return failure;
}

void RegistryPart::Stop() {
  if (!is_open() || Lost() || !StandbyReason().empty()) return;
  KeepBooks();
  KeepWitness();
}

std::function<void(std::size_t, std::size_t)> RegistryPart::RespellProgress() {
  return [this, told = clock_.Now()](std::size_t done, std::size_t all) mutable {
    const Timestamp now = clock_.Now();
    if (now - told < kBetweenProgress) return;
    told = now;
    logger_.Log(
        LogLevel::kInfo, "keys are brought up to the catalogue",
        {{"done", static_cast<std::int64_t>(done)}, {"of", static_cast<std::int64_t>(all)}});
  };
}

Result<bool> RegistryPart::Open(const Config& config, const AdmissionPolicy& policy,
                                const KubeSystemFn& kube_system) {
  TRUCE_ASSIGN_OR_RETURN(std::unique_ptr<Store> store,
                         OfMachine(OpenStore(config, policy, kube_system)));
  if (store == nullptr) return false;
  if (!log_loss_.empty()) {
    TRUCE_RETURN_IF_ERROR(RecoverFrom(log_loss_, *store, !config.no_cluster));
  }
  TRUCE_RETURN_IF_ERROR(CompareWithWitness(*store, !config.no_cluster));
  const IdSource ids = RandomIds();
  TRUCE_ASSIGN_OR_RETURN(
      const std::size_t changed,
      RespellForCatalogue(*store, {SpellingOf(*policy.catalogue), policy.catalogue->version(),
                                   policy.parties, ids, clock_.Now(), RespellProgress()}));
  if (changed > 0) {
    logger_.Log(LogLevel::kInfo, "keys follow the catalogue",
                {{"changed", static_cast<std::int64_t>(changed)}});
  }
  if (PostgresStore* database = active_.load()) watch_store_.Open(database->watch_store());
  if (!is_database_) {
    BeginLog(*store);
    KeepReserve(data_dir_);
  }
  store_.Open(std::move(store));
  is_open_.store(true);
  for (const Result<void>& loaded : {trials_.Load(In(kBookTime)), denials_.Load(In(kBookTime))}) {
    if (loaded.ok()) continue;
    logger_.Log(LogLevel::kWarning, "trial or denials begin anew",
                {{"message", std::string_view(loaded.error().message)}});
  }
  return true;
}

Result<RegistryCopy> RegistryPart::Copy() const {
  if (is_database_) {
    return Error{ErrorCode::kConflict,
                 "the registry is not kept in SQLite; copy it where it is kept"};
  }
  TRUCE_ASSIGN_OR_RETURN(HandedOutCopy copy, BackUpToHandOut(data_dir_));
  NoteBackup(data_dir_, clock_.Now());
  const std::int64_t ownerships = copy.contents().ownerships;
  return RegistryCopy{std::make_shared<CopyBody>(std::move(copy)), ownerships};
}

void RegistryPart::Step(const Config& config, const PartyRules& parties) {
  if (!is_open()) return;
  if (!StandbyReason().empty()) {
    watched_ = watched_ || watches_;
    return GiveWatchBack();
  }
  LookAtRoom();
  TellMissing();
  if (std::chrono::steady_clock::now() >= witness_due_) KeepWitness();
  CompareClocks();
  KeepAudit(config);
  if (std::chrono::steady_clock::now() >= reservations_due_) EndReservations(parties);
  if (std::chrono::steady_clock::now() >= books_due_) KeepBooks();
  if (std::chrono::steady_clock::now() >= numbers_due_) CountNumbers(config);
}

// Rows that cannot be counted now are counted with the next; others tell that the store fails.
void RegistryPart::CountNumbers(const Config& config) {
  numbers_due_ = In(kNumbersEvery);
  static_cast<void>(numbers_.Count(config.audit_lines_max, In(kNumbersTime)).ok());
}

std::string RegistryPart::ClockProblem() const {
  const PostgresStore* database = active_.load();
  if (database == nullptr) return {};
  const auto difference = database->clock_difference();
  if (std::chrono::abs(difference) <= kClocksApartMax) return {};
  const auto seconds = std::chrono::round<std::chrono::seconds>(std::chrono::abs(difference));
  return "the clock of the registry's database is " + std::to_string(seconds.count()) +
         (difference.count() > 0 ? " s ahead of" : " s behind") + " this server's";
}

void RegistryPart::CompareClocks() {
  std::string problem = ClockProblem();
  // Told when it begins: the seconds change with each look.
  if (clock_problem_.empty() && !problem.empty()) {
    logger_.Log(LogLevel::kWarning, "clocks are apart", {{"message", std::string_view(problem)}});
  }
  clock_problem_ = std::move(problem);
}

void RegistryPart::TellMissing() {
  PostgresStore* database = active_.load();
  const std::uint64_t missing = database == nullptr ? 0 : database->TakeMissing();
  if (missing == 0) return;
  loss_ = "the database no longer has " + std::to_string(missing) +
          " of the last changes that it acknowledged: it was failed over to a standby that was "
          "behind, or restored";
  database_metrics_.CountMissing(missing);
  TellLoss(loss_);
}

void RegistryPart::TellLoss(const std::string& loss) {
  logger_.Log(LogLevel::kError, "changes are gone", {{"message", std::string_view(loss)}});
}

Result<void> RegistryPart::RecoverFrom(const std::string& loss, Store& store, bool has_cluster) {
  if (has_cluster) {
    TellLoss(loss);
    return Administer(store, clock_.Now(), In(kDatabaseTime),
                      [&](Administration& books) { EnterRecovery(loss, "server", books); });
  }
  // Nothing shows what is missing: it is only told.
  TellLoss(loss +
           "; without a cluster nothing shows what is missing: end Truce and put a newer copy in "
           "place (truce restore), if there is one");
  return {};
}

void RegistryPart::BeginLog(Store& store) {
  const Result<void> committed =
      Administer(store, clock_.Now(), In(kDatabaseTime), [](Administration& books) {
        books.PutSetting(std::string(kOpened), FormatTimestamp(books.now()));
      });
  const Result<void> marked = committed.ok() ? MarkLog(data_dir_) : committed;
  if (marked.ok()) return;
  logger_.Log(LogLevel::kWarning, "log not marked",
              {{"message", std::string_view(marked.error().message)}});
}

Result<void> RegistryPart::CompareWithWitness(Store& store, bool has_cluster) {
  witness_ = ReadWitnessFile(data_dir_);
  TRUCE_ASSIGN_OR_RETURN(const WitnessLook look, ReadWitness(store, witness_, In(kDatabaseTime)));
  if (!look.loss.empty()) {
    // It goes on with what there is; else the next look would find the same, and end it.
    witness_.reset();
    TRUCE_RETURN_IF_ERROR(RecoverFrom(look.loss, store, has_cluster));
  }
  Remember(look.newest);
  return {};
}

void RegistryPart::KeepWitness() {
  if (!loss_.empty()) return;
  witness_due_ = In(kBetweenWitnesses);
  const auto look = ReadWitness(store_, witness_, In(kWitnessTime));
  if (!look.ok()) return;  // others tell that the store fails
  loss_ = look.value().loss;
  if (loss_.empty()) {
    Remember(look.value().newest);
  } else {
    database_metrics_.CountMissing(1);
    TellLoss(loss_);
  }
}

void RegistryPart::Remember(const std::optional<AuditWitness>& witness) {
  if (!witness || witness == witness_) return;
  const Result<void> written = WriteWitnessFile(data_dir_, *witness);
  const std::string problem = written.ok() ? std::string() : written.error().message;
  if (written.ok()) witness_ = witness;
  if (problem != witness_problem_ && !problem.empty()) {
    logger_.Log(LogLevel::kWarning, "newest audit line not remembered",
                {{"message", std::string_view(problem)}});
  }
  witness_problem_ = problem;
}

void RegistryPart::WriteMetrics(MetricWriter& writer) const {
  disk_failures_.WriteMetrics(writer);
  numbers_.WriteMetrics(writer);
  if (!is_database_) {
    writer.Family("truce_backup_timestamp_seconds");
    writer.Sample(static_cast<double>(LastBackup(data_dir_).count()));
    return;
  }
  const PostgresStore* database = active_.load();
  DatabaseMetrics::Standing standing;
  if (database != nullptr) {
    standing = {database->is_standby() ? 0 : database->epoch(), database->has_standby(),
                database->clock_difference()};
  }
  database_metrics_.Write(standing, writer);
}

// One segment at a time, so that reloading never waits long.
void RegistryPart::KeepAudit(const Config& config) {
  AuditKeeper keeper(store_, clock_, config.audit_export_dir);
  const Result<bool> done =
      keeper.Step({config.audit_age_max, config.audit_lines_max}, In(kAuditTime));
  const std::string problem = done.ok() ? std::string() : done.error().message;
  if (problem != audit_problem_ && !problem.empty()) {
    logger_.Log(LogLevel::kError, "audit log not shortened",
                {{"message", std::string_view(problem)}});
  }
  audit_problem_ = problem;
}

// Each server does it, also where none watches: each is decided on what is in the registry then, so
// one server ends it. A failure is due with the next step.
void RegistryPart::EndReservations(const PartyRules& parties) {
  reservations_due_ = In(kReservationsEvery);
  std::vector<ResourceId> due;
  const auto look = [&](const AllFacts& facts) {
    due = DueReservations(facts, clock_.Now(), kReservationsAtOnce);
  };
  if (!store_.Read(look, In(kReservationsTime)).ok() || due.empty()) return;
  Locks locks;
  locks.resources = due;
  const IdSource fresh = RandomIds();
  DecisionIds decision_ids;
  const auto decide = [&](const AllFacts& facts) {
    const IdSource ids = decision_ids.Run(fresh);
    Ledger ledger(facts, clock_.Now(), ids, parties);
    for (const ResourceId& id : due) EndReservation(id, ledger);
    return ledger.Take();
  };
  const bool ended = store_.Apply(locks, decide, In(kReservationsTime)).ok();
  if (ended && due.size() == kReservationsAtOnce) reservations_due_ = {};
}

// Entries that cannot be written now are written with the next.
void RegistryPart::KeepBooks() {
  books_due_ = In(is_database_ ? kBooksExchangedEvery : kBooksKeptEvery);
  const Result<void> denials = denials_.Flush(In(kBookTime));
  const Result<void> trials = trials_.Flush(In(kBookTime));
  const Result<void>& kept = denials.ok() ? trials : denials;
  const std::string problem = kept.ok() ? std::string() : kept.error().message;
  if (problem != books_problem_ && !problem.empty()) {
    logger_.Log(LogLevel::kWarning, "denials and trial not kept",
                {{"message", std::string_view(problem)}});
  }
  books_problem_ = problem;
}

}  // namespace truce
