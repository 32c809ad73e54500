#include "webhook/serve/following.h"

#include <string_view>
#include <utility>

#include "webhook/kube/backoff.h"
#include "webhook/serve/registry_memory.h"
#include "webhook/wire/json_reader.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kOpeningCallTime{10};  // of one call of the API server while opening
constexpr std::chrono::seconds kOpenedStoreTime{30};  // a registry that was just opened may be slow
constexpr std::chrono::milliseconds kLookInterval{1000};
constexpr std::chrono::milliseconds kFirstLookInterval{50};  // until ready

Error Unreachable(const ServerSettings& server, const ApiError& error) {
  return {ErrorCode::kUnavailable, "the API server (" + server.origin + ") cannot be used: " +
                                       std::string(Name(error.kind)) + ": " + error.message};
}

// Reads from the registry whether and why Truce is in recovery mode.
std::string RecoveryReason(const Store& store, const std::string& before) {
  const auto state = ReadRecovery(store, In(kOpenedStoreTime));
  if (!state.ok()) return before;
  return state.value() ? state.value()->reason : std::string();
}

// Types that `status` speaks of.
void AddTypes(const KindStatus& status, const ReconcileRules& rules, std::set<std::string>& types) {
  const GroupKind kind = status.kind.group_kind();
  if (const KindEntry* entry = rules.catalogue->FindKind(kind.group, kind.kind)) {
    types.insert(entry->type->name);
  }
  for (const MappingRule& rule : rules.identity.mappings.Of(kind.group, kind.kind)) {
    for (const MappedResource& resource : rule.declares) types.insert(resource.type);
  }
}

// What one look at the watcher gives.
struct Looked {
  bool ready = false;
  bool resynced = false;
  WatcherStatus status;
  std::map<std::string, bool> unlisted;
  std::set<GroupKind> unwatched;
  std::map<GroupKind, Timestamp> unmapped;
};

Looked LookAt(Watcher& watcher, Moment now) {
  Looked looked;
  looked.ready = watcher.ready();
  looked.resynced = watcher.resynced();
  looked.status = watcher.status();
  if (!looked.ready) return looked;
  looked.unwatched = watcher.Unwatched();
  looked.unmapped = watcher.unmapped();
  std::set<std::string> types;
  for (const KindStatus& status : watcher.Kinds()) {
    if (!status.listed) AddTypes(status, watcher.reconciler().rules(), types);
  }
  for (const std::string& type : types) {
    const Watcher::Known known = watcher.KnownFor(now, type);
    if (known != Watcher::Known::kYes) {
      looked.unlisted.emplace(type, known == Watcher::Known::kOver);
    }
  }
  return looked;
}

std::string Progress(const WatcherStatus& status) {
  if (!status.discovery_problem.empty()) return "discovery: " + status.discovery_problem;
  if (!status.store_problem.empty()) return "store: " + status.store_problem;
  return "listing " + std::to_string(status.followed) + " kinds";
}

}  // namespace

Following::Following(ServerSettings server, FollowingOptions options, ReconcileRules rules,
                     FollowingPorts ports)
    : server_(std::move(server)),
      options_(std::move(options)),
      ports_(std::move(ports)),
      rules_(std::move(rules)) {
  learned_.accounts = rules_.identity.accounts;
}

Result<std::unique_ptr<Following>> Following::Start(ServerSettings server, FollowingOptions options,
                                                    ReconcileRules rules, FollowingPorts ports) {
  std::unique_ptr<Following> following(
      new Following(std::move(server), std::move(options), std::move(rules), std::move(ports)));
  following->ports_.health.SetNotReady("cluster", "connecting");
  const Result<void> opened = following->Open();
  if (!opened.ok() && opened.error().code != ErrorCode::kUnavailable &&
      opened.error().code != ErrorCode::kDeadlineExceeded) {
    return opened.error();
  }
  if (!opened.ok()) following->Report(opened.error().message);
  following->keeper_ = std::thread([self = following.get()] { self->Keep(); });
  return following;
}

Following::~Following() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (keeper_.joinable()) keeper_.join();
  if (engine_ != nullptr) engine_->Stop();
  streams_.reset();  // calls the engine until it is gone
}

void Following::SetRules(ReconcileRules rules) {
  Engine* running = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    rules_ = rules;
    running = engine_.get();
  }
  if (running == nullptr) return;
  // Not waited for: it is done in order with everything else.
  const Result<void> asked = running->Ask(
      [rules = std::move(rules)](Watcher& watcher, Moment now) { watcher.SetRules(now, rules); },
      In(std::chrono::milliseconds(0)));
  static_cast<void>(asked);
}

void Following::Wake() {
  if (Engine* running = engine()) running->Wake();
}

Result<void> Following::Ask(Engine::Work work, Deadline deadline) {
  if (Engine* running = engine()) return running->Ask(std::move(work), deadline);
  return Error{ErrorCode::kUnavailable, "the cluster was not reached yet"};
}

ClusterApi* Following::api() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return engine_ == nullptr ? nullptr : api_.get();
}

Engine* Following::engine() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return engine_.get();
}

// May be repeated until it succeeds.
Result<void> Following::Open() {
  if (session_ == nullptr) {
    TRUCE_ASSIGN_OR_RETURN(session_, ServerSession::Open(server_, ports_.clock, {}));
  }
  if (api_ == nullptr) {
    auto api = MakeApiClient(session_, {});
    const std::lock_guard<std::mutex> lock(mutex_);
    api_ = std::move(api);
  }
  TRUCE_RETURN_IF_ERROR(Bind(*api_));
  TRUCE_RETURN_IF_ERROR(CompareWithMemory(*api_));
  return Watch();
}

Result<void> Following::Bind(ClusterApi& api) {
  const ServedKind kind{"", "v1", "Namespace", "namespaces", false};
  const ApiResult<std::string> answer = api.Get(kind, "", "kube-system", In(kOpeningCallTime));
  if (!answer.ok()) return Unreachable(server_, answer.error());
  JsonReader reader;
  TRUCE_ASSIGN_OR_RETURN(const Document document, reader.Read(answer.value()));
  const Uid uid{std::string(document.root().Child("metadata").Child("uid").text())};
  if (uid.text.empty()) {
    return Error{ErrorCode::kUnavailable, "the API server (" + server_.origin +
                                              ") gave its kube-system namespace without a uid"};
  }
  return BindCluster(ports_.store, options_.cluster, uid, In(kOpenedStoreTime));
}

// A registry that is older than what is remembered of it, or another one, may be behind the
// cluster.
Result<void> Following::CompareWithMemory(ClusterApi& api) {
  if (remembered_) return {};
  LeaseMemory lease(api, options_.lease_namespace, options_.cluster);
  const auto of_lease = lease.Read(In(kOpeningCallTime));
  TRUCE_ASSIGN_OR_RETURN(const StoreMark present,
                         CountStart(ports_.store, ports_.ids, In(kOpenedStoreTime)));
  Behind behind = CompareMarks(present, ReadMarkFile(options_.data_dir));
  if (behind == Behind::kNo && of_lease.ok()) behind = CompareMarks(present, of_lease.value());
  if (behind != Behind::kNo) {
    const std::string reason = behind == Behind::kOlder
                                   ? "the registry is older than what is remembered of it"
                                   : "the cluster remembers another registry";
    // By value: the store may still run it when our time is over.
    const auto enter = [this, reason](const Facts& facts) {
      const PartyRules parties;
      Ledger ledger(facts, ports_.clock.Now(), ports_.ids, parties);
      EnterRecovery(reason, "server", ledger);
      return ledger.Take();
    };
    TRUCE_RETURN_IF_ERROR(ports_.store.Apply({}, enter, In(kOpenedStoreTime)));
    ports_.logger.Log(LogLevel::kWarning, "recovery mode", {{"reason", std::string_view(reason)}});
  }
  TRUCE_RETURN_IF_ERROR(WriteMarkFile(options_.data_dir, present));
  const std::optional<ApiError> failed = lease.Write(present, In(kOpeningCallTime));
  if (failed || !of_lease.ok()) {
    // The file remembers too: only a registry that was lost with its volume goes unnoticed.
    const ApiError& error = failed ? *failed : of_lease.error();
    ports_.logger.Log(LogLevel::kWarning, "lease cannot be used",
                      {{"namespace", std::string_view(options_.lease_namespace)},
                       {"message", std::string_view(error.message)}});
  }
  remembered_ = true;
  return {};
}

Result<void> Following::Watch() {
  WatcherOptions options;
  options.others = options_.others;
  options.seed = std::hash<std::string>()(session_->settings().origin + options_.cluster);
  WatcherPorts ports{{ports_.store, ports_.clock, ports_.ids, [] { return In(kOpenedStoreTime); },
                      ports_.observer, &ports_.doubts},
                     &ports_.inbox,
                     [this](const LearnedIdentity& learned) {
                       {
                         const std::lock_guard<std::mutex> lock(mutex_);
                         learned_ = learned;
                         looking_due_ = true;
                       }
                       changed_.notify_all();
                     }};
  const std::lock_guard<std::mutex> lock(mutex_);
  auto watcher = std::make_unique<Watcher>(std::move(ports), rules_, std::move(options));
  auto engine = std::make_unique<Engine>(std::move(watcher), *api_, EngineOptions{});
  TRUCE_ASSIGN_OR_RETURN(streams_, StartWatchClient(session_, *engine, {}));
  engine_ = std::move(engine);
  engine_->Start(*streams_);
  return {};
}

void Following::Keep() {
  Backoff backoff({}, std::hash<std::string>()(options_.cluster));
  while (engine() == nullptr) {
    if (!Sleep(backoff.Next())) return;
    const Result<void> opened = Open();
    if (!opened.ok()) Report(opened.error().message);
  }
  do {
    Look();
  } while (Sleep(view_.ready ? kLookInterval : kFirstLookInterval));
}

// False: it is time to end.
bool Following::Sleep(std::chrono::milliseconds time) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, time, [&] { return stopping_ || looking_due_; });
  looking_due_ = false;
  return !stopping_;
}

void Following::Look() {
  const auto looked = std::make_shared<Looked>();
  const Result<void> asked =
      engine()->Ask([looked](Watcher& watcher, Moment now) { *looked = LookAt(watcher, now); },
                    In(kOpenedStoreTime));
  if (!asked.ok()) return;
  Report(looked->ready ? std::string() : Progress(looked->status));
  NoteRecovery(looked->resynced);
  if (const ReconcileStatus& reconcile = looked->status.reconcile; reconcile.breaches > breaches_) {
    breaches_ = reconcile.breaches;
    ports_.logger.Log(LogLevel::kError, "what the watch saw was left out",
                      {{"message", std::string_view(reconcile.breach)},
                       {"total", static_cast<std::int64_t>(breaches_)}});
  }
  ClusterView view;
  view.ready = looked->ready;
  view.recovery = recovery_;
  view.unlisted = std::move(looked->unlisted);
  view.unwatched = std::move(looked->unwatched);
  view.unmapped = std::move(looked->unmapped);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    view.learned = learned_;
  }
  if (view_told_ && view == view_) return;
  if (view.ready && !view_.ready) {
    ports_.logger.Log(
        LogLevel::kInfo,
        looked->status.crossplane ? "cluster followed" : "cluster followed: it has no Crossplane",
        {{"kinds", static_cast<std::int64_t>(looked->status.followed)},
         {"failing", static_cast<std::int64_t>(looked->status.failing)}});
  }
  view_ = std::move(view);
  view_told_ = true;
  ports_.on_view(view_);
}

void Following::NoteRecovery(bool resynced) {
  recovery_ = RecoveryReason(ports_.store, recovery_);
  if (recovery_.empty() || !resynced) return;
  const auto note = [this](const Facts& facts) {
    const PartyRules parties;
    Ledger ledger(facts, ports_.clock.Now(), ports_.ids, parties);
    NoteResynced(ledger);
    if (options_.finish_recovery) FinishRecovery("server", false, ledger);
    return ledger.Take();
  };
  const Result<void> noted = ports_.store.Apply({}, note, In(kOpenedStoreTime));
  if (noted.ok()) recovery_ = RecoveryReason(ports_.store, recovery_);
}

// Each problem is told once.
void Following::Report(const std::string& problem) {
  if (problem.empty()) {
    ports_.health.SetReady("cluster");
  } else {
    ports_.health.SetNotReady("cluster", problem);
  }
  if (problem != problem_ && !problem.empty() && !problem.starts_with("listing ")) {
    ports_.logger.Log(LogLevel::kWarning, "cluster is not ready",
                      {{"message", std::string_view(problem)}});
  }
  problem_ = problem;
}

}  // namespace truce
