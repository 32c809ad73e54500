#include "webhook/watch/cluster_watch.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "registry/base/counted.h"
#include "registry/base/text.h"
#include "registry/store/administration.h"
#include "webhook/watch/recovery/registry_memory.h"
#include "webhook/wire/json_reader.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kOpeningCallTime{10};  // of one call of the API server while opening
constexpr std::chrono::seconds kOpenedStoreTime{30};  // a registry that was just opened may be slow
constexpr std::chrono::seconds kControlTime{8};       // commands wait ten for an answer
constexpr std::chrono::seconds kBetweenWitnesses{10};
constexpr std::chrono::seconds kWitnessTime{3};  // of each call for it: the view waits meanwhile
constexpr std::chrono::seconds kOthersTime{2};   // to tell other servers
constexpr std::chrono::seconds kLeaveTime{2};    // for the last word of who leads no more
constexpr std::chrono::seconds kFollowTime{1};   // to read what they tell
// A leader that could not say so for so long may lead no longer: another one may call names free.
constexpr std::chrono::seconds kLeaderLife{5};
constexpr std::chrono::milliseconds kViewInterval{1000};
constexpr std::chrono::milliseconds kFirstViewInterval{50};  // until ready
// While the database is away: a view that is not confirmed for three seconds calls nothing free, so
// it is to be confirmed as soon as the database is back.
constexpr std::chrono::milliseconds kCutOffInterval{200};

Error Unreachable(const ServerSettings& server, const ApiError& error) {
  return {ErrorCode::kUnavailable, "the API server (" + server.origin + ") cannot be used: " +
                                       std::string(Name(error.kind)) + ": " + error.message};
}

Result<Uid> ReadKubeSystem(const ServerSettings& server, ClusterApi& api) {
  const ServedKind kind{"", "v1", "Namespace", "namespaces", false};
  const ApiResult<std::string> answer = api.Get(kind, "", "kube-system", In(kOpeningCallTime));
  if (!answer.ok()) return Unreachable(server, answer.error());
  JsonReader reader;
  TRUCE_ASSIGN_OR_RETURN(const Document document, reader.Read(answer.value()));
  Uid uid{std::string(document.root().Child("metadata").Child("uid").text())};
  if (!uid.text.empty()) return uid;
  return Error{ErrorCode::kUnavailable, "the API server (" + server.origin +
                                            ") gave its kube-system namespace without a uid"};
}

// Reads from the registry whether and why Truce is in recovery mode.
std::string RecoveryReason(const Store& store, const std::string& before,
                           std::chrono::seconds time) {
  const auto state = ReadRecovery(store, In(time));
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

// The state of the watcher at one moment.
struct WatcherReport {
  bool ready = false;
  bool attempted = false;  // as Watcher's
  bool resynced = false;
  WatcherStatus status;
  std::map<std::string, bool> unlisted;
  std::set<GroupKind> unwatched;
  std::map<GroupKind, Timestamp> unmapped;
  std::uint64_t frozen = 0;  // kinds
  std::optional<Timestamp> failing_since;
};

WatcherReport ReportOf(Watcher& watcher, Moment now) {
  WatcherReport report;
  report.ready = watcher.ready();
  report.attempted = watcher.attempted();
  report.resynced = watcher.resynced();
  report.status = watcher.status();
  if (!report.ready) return report;
  report.unwatched = watcher.Unwatched();
  report.unmapped = watcher.unmapped();
  std::set<std::string> types;
  for (const KindStatus& status : watcher.Kinds()) {
    if (status.state == KindState::kFailing && status.since) {
      report.failing_since = std::min(report.failing_since.value_or(*status.since), *status.since);
    }
    if (!status.listed) AddTypes(status, watcher.reconciler().rules(), types);
    if (!status.frozen.empty()) ++report.frozen;
  }
  for (const std::string& type : types) {
    const Watcher::Known known = watcher.KnownFor(now, type);
    if (known != Watcher::Known::kYes) {
      report.unlisted.emplace(type, known == Watcher::Known::kOver);
    }
  }
  return report;
}

std::string Progress(const WatcherStatus& status) {
  if (!status.discovery_problem.empty()) return "discovery: " + status.discovery_problem;
  if (!status.store_problem.empty()) return "store: " + status.store_problem;
  return "listing " + Counted(status.followed, "kind");
}

BrakeView BrakeOf(Watcher& watcher) {
  BrakeView view;
  const ReconcileStatus status = watcher.reconciler().status();
  view.nominated = status.nominated;
  view.held_back = status.held_back;
  for (const KindStatus& kind : watcher.Kinds()) {
    if (kind.frozen.empty()) continue;
    const GroupKind named = kind.kind.group_kind();
    view.frozen.push_back({KindForPeople(named.kind, named.group), kind.frozen});
  }
  std::map<GroupKind, BrakeView::Waiting> waiting;
  for (const auto& [kind, since] : watcher.reconciler().WaitForSecondList()) {
    waiting[kind] = {KindForPeople(kind.kind, kind.group), 0, since};
  }
  for (const auto& [uid, missing] : watcher.reconciler().missing()) {
    const auto found = waiting.find(GroupKindOf(missing.slot));
    if (found != waiting.end()) ++found->second.objects;
  }
  for (auto& [kind, one] : waiting) view.waiting.push_back(std::move(one));
  return view;
}

}  // namespace

Result<Uid> KubeSystemOf(const ServerSettings& server, const Clock& clock) {
  TRUCE_ASSIGN_OR_RETURN(const auto session, ServerSession::Open(server, clock, {}));
  return ReadKubeSystem(server, *MakeApiClient(session, {}));
}

ClusterWatch::ClusterWatch(ClusterWatchPorts ports)
    : ports_(std::move(ports)), backoff_({}, std::hash<std::string>()(ports_.cluster)) {}

Result<void> ClusterWatch::Start(ServerSettings server, ClusterWatchers watchers) {
  server_ = std::move(server);
  others_ = std::move(watchers.others);
  observer_ = &watchers.observer;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    learned_.accounts = rules_.identity.accounts;
  }
  ports_.health.SetNotReady("cluster", "connecting");
  const Result<void> opened = Open();
  // An API server that does not answer now may later: only what no second try mends ends the start.
  if (!opened.ok() && opened.error().code != ErrorCode::kUnavailable &&
      opened.error().code != ErrorCode::kDeadlineExceeded) {
    return opened.error();
  }
  if (!opened.ok()) Report(opened.error().message);
  keeper_.Start();
  return {};
}

ClusterWatch::~ClusterWatch() { End(); }

void ClusterWatch::Stop() {
  if (keeper_.is_stopping()) return;
  keeper_.Stop();
  if (engine_ != nullptr && leads_.load()) {
    witness_due_ = {};
    KeepWitness();
  }
  End();
}

void ClusterWatch::End() {
  // First the keeper, which may be making the engine.
  keeper_.Stop();
  if (engine_ != nullptr) engine_->Stop();
  streams_.reset();  // calls the engine until it is gone
}

void ClusterWatch::SetRules(ReconcileRules rules) {
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

void ClusterWatch::Wake() {
  if (Engine* running = engine()) running->Wake();
}

Result<void> ClusterWatch::Ask(Engine::Work work, Deadline deadline) const {
  if (Engine* running = engine()) return running->Ask(std::move(work), deadline);
  return Error{ErrorCode::kUnavailable, "the cluster was not reached yet"};
}

ClusterApi* ClusterWatch::Reached(const std::unique_ptr<ClusterApi>& api) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return engine_ == nullptr || keeper_.is_stopping() ? nullptr : api.get();
}

LateApi::Find ClusterWatch::FinderOf(const std::unique_ptr<ClusterApi>& api) const {
  return [this, &api]() -> Result<ClusterApi*> {
    if (ClusterApi* reached = Reached(api)) return reached;
    return Error{ErrorCode::kUnavailable, "the cluster was not reached yet"};
  };
}

Engine* ClusterWatch::engine() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return engine_.get();
}

// May be repeated until it succeeds.
Result<void> ClusterWatch::Open() {
  // Parts that came to be stay, so that the next try goes on from here.
  if (session_ == nullptr) {
    TRUCE_ASSIGN_OR_RETURN(session_, ServerSession::Open(server_, ports_.clock, {}));
  }
  if (api_ == nullptr) {
    auto api = MakeApiClient(session_, {});
    auto looks = MakeApiClient(session_, {});
    const std::lock_guard<std::mutex> lock(mutex_);
    api_ = std::move(api);
    looks_ = std::move(looks);
  }
  TRUCE_ASSIGN_OR_RETURN(const Uid uid, ReadKubeSystem(server_, *api_));
  TRUCE_RETURN_IF_ERROR(BindCluster(ports_.store, ports_.cluster, uid, In(kOpenedStoreTime)));
  if (!ports_.has_others) TRUCE_RETURN_IF_ERROR(CompareWithMemory(*api_));
  return Watch();
}

void ClusterWatch::Lead() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    lead_wanted_ = true;
  }
  keeper_.Wake();
}

void ClusterWatch::EndLeading() {
  if (leads_.load()) {
    // Where it fails who watches next has the position of some seconds before.
    (void)Ask([](Watcher& watcher, Moment now) { watcher.Leave(now); }, In(kLeaveTime));
  }
  if (!ports_.has_others) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    lead_wanted_ = false;
    leads_.store(false);
  }
  keeper_.Wake();
}

void ClusterWatch::SetUnseen(std::map<GroupKind, Timestamp> unseen) {
  const std::lock_guard<std::mutex> lock(mutex_);
  unseen_ = std::move(unseen);
}

// May be repeated until it succeeds.
Result<void> ClusterWatch::BeginLeading() {
  TRUCE_RETURN_IF_ERROR(CompareWithMemory(*api_));
  ports_.unresolved.Replace({});
  TRUCE_RETURN_IF_ERROR(
      Ask([](Watcher& watcher, Moment now) { watcher.BeginRecording(now); }, In(kOpenedStoreTime)));
  const std::lock_guard<std::mutex> lock(mutex_);
  leads_.store(lead_wanted_);
  return {};
}

// A registry that is older than what is remembered of it, or another one, may be behind the
// cluster.
Result<void> ClusterWatch::CompareWithMemory(ClusterApi& api) {
  if (remembered_) return {};
  LeaseMemory lease(api, ports_.lease_namespace, ports_.cluster);
  const auto of_lease = lease.Read(In(kOpeningCallTime));
  TRUCE_ASSIGN_OR_RETURN(const StoreMark present,
                         CountStart(ports_.watch_store, ids_, In(kOpenedStoreTime)));
  Behind behind = CompareMarks(present, ReadMarkFile(ports_.data_dir));
  std::string reason;
  if (of_lease.ok()) {
    if (behind == Behind::kNo) behind = CompareMarks(present, of_lease.value().mark);
    witness_ = of_lease.value().witness;
    TRUCE_ASSIGN_OR_RETURN(const WitnessLook look,
                           ReadWitness(ports_.store, witness_, In(kOpenedStoreTime)));
    reason = look.loss;
  }
  if (behind == Behind::kOlder) reason = "the registry is older than what is remembered of it";
  if (behind == Behind::kOther) reason = "the cluster remembers another registry";
  if (of_lease.ok() && behind == Behind::kNo) {
    for (const LeaseNotes::Other& other : of_lease.value().others) {
      if (CompareMarks(present, other.mark) == Behind::kNo) continue;
      reason = "the cluster remembers another registry, by the Lease " + other.ns + "/" +
               lease.name() + "; delete that if its registry is gone";
    }
  }
  if (!reason.empty()) {
    TRUCE_RETURN_IF_ERROR(
        Administer(ports_.watch_store, ports_.clock.Now(), In(kOpenedStoreTime),
                   [&](Administration& books) { EnterRecovery(reason, "server", books); }));
    ports_.logger.Log(LogLevel::kWarning, "recovery mode", {{"reason", std::string_view(reason)}});
  }
  // Only now: after a crash before recovery is entered, the old marks tell of it once more.
  TRUCE_RETURN_IF_ERROR(WriteMarkFile(ports_.data_dir, present));
  const std::optional<ApiError> failed = lease.Write(present, In(kOpeningCallTime));
  if (failed || !of_lease.ok()) {
    // The file remembers too: only a registry that was lost with its volume goes unnoticed.
    const ApiError& error = failed ? *failed : of_lease.error();
    ports_.logger.Log(LogLevel::kWarning, "lease cannot be used",
                      {{"namespace", std::string_view(ports_.lease_namespace)},
                       {"message", std::string_view(error.message)}});
  }
  remembered_ = true;
  return {};
}

// Outside of the registry, for who does not run when it loses what it has.
void ClusterWatch::KeepWitness() {
  if (std::chrono::steady_clock::now() < witness_due_) return;
  witness_due_ = In(kBetweenWitnesses);
  const auto look = ReadWitness(ports_.store, witness_, In(kWitnessTime));
  if (!look.ok()) return;
  const WitnessLook& seen = look.value();
  // The remembered witness stays until recovery mode is entered because of it.
  if (!seen.loss.empty() && !EnterRecoveryMode({.actor = "server", .reason = seen.loss}).ok())
    return;
  if (!seen.newest || seen.newest == witness_) return;
  LeaseMemory lease(*api_, ports_.lease_namespace, ports_.cluster);
  if (!lease.WriteWitness(*seen.newest, In(kWitnessTime))) witness_ = seen.newest;
}

void ClusterWatch::Learn(const LearnedIdentity& learned) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    learned_ = learned;
  }
  keeper_.Wake();
}

Result<void> ClusterWatch::Watch() {
  WatcherOptions options;
  options.others = others_;
  options.records = !ports_.has_others;
  options.tells_others = ports_.has_others;
  options.seed = std::hash<std::string>()(session_->settings().origin + ports_.cluster);
  WatcherPorts ports{{ports_.watch_store, ports_.clock, ids_, [] { return In(kOpenedStoreTime); },
                      observer_, &ports_.unresolved},
                     &inbox_,
                     [this](const LearnedIdentity& learned) { Learn(learned); }};
  const std::lock_guard<std::mutex> lock(mutex_);
  auto watcher = std::make_unique<Watcher>(std::move(ports), rules_, std::move(options));
  auto engine = std::make_unique<Engine>(std::move(watcher), *api_, EngineOptions{});
  TRUCE_ASSIGN_OR_RETURN(streams_, StartWatchClient(session_, *engine, {}));
  engine_ = std::move(engine);
  engine_->Start(*streams_);
  leads_.store(!ports_.has_others);
  return {};
}

Worker::Rest ClusterWatch::Keep() {
  if (engine() == nullptr) {
    const Result<void> opened = Open();
    if (!opened.ok()) Report(opened.error().message);
    return {opened.ok() ? Deadline{} : In(backoff_.Next())};
  }
  bool is_to_lead = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_to_lead = lead_wanted_ && !leads_.load();
  }
  if (is_to_lead) {
    const Result<void> led = BeginLeading();
    if (!led.ok()) Report(led.error().message);
  }
  if (leads_.load()) {
    TellView();
    KeepWitness();
  } else {
    TakeView();
  }
  if (is_cut_off_) return {In(kCutOffInterval)};
  return {In(view_.ready || !leads_.load() ? kViewInterval : kFirstViewInterval)};
}

void ClusterWatch::TellView() {
  const auto report = std::make_shared<WatcherReport>();
  const Result<void> asked =
      Ask([report](Watcher& watcher, Moment now) { *report = ReportOf(watcher, now); },
          In(kOpenedStoreTime));
  if (!asked.ok()) return;
  // Until all is listed, the view of the server that led before is good for a while.
  if (!report->ready && ports_.has_others) {
    TakeView();
    if (!reader_.latest()) Report(Progress(report->status));
    return;
  }
  if (!report->ready) Report(Progress(report->status));
  NoteRecovery(report->resynced);
  held_back_.store(report->status.reconcile.held_back, std::memory_order_relaxed);
  frozen_.store(report->frozen, std::memory_order_relaxed);
  failing_.store(report->status.failing, std::memory_order_relaxed);
  failing_since_.store(report->failing_since.value_or(Timestamp{}).time_since_epoch().count(),
                       std::memory_order_relaxed);
  if (const ReconcileStatus& reconcile = report->status.reconcile; reconcile.breaches > breaches_) {
    breaches_ = reconcile.breaches;
    ports_.logger.Log(LogLevel::kError, "what the watch saw was left out",
                      {{"message", std::string_view(reconcile.breach)},
                       {"total", static_cast<std::int64_t>(breaches_)}});
  }
  ClusterView view;
  view.ready = report->ready;
  view.recovery = recovery_;
  view.unlisted = std::move(report->unlisted);
  view.unwatched = std::move(report->unwatched);
  view.unmapped = std::move(report->unmapped);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    view.learned = learned_;
  }
  if (view.ready && ports_.has_others) {
    if (!TellOthers(view)) return;
    view.life = life_;
  }
  if (view.ready && !std::exchange(is_followed_, true)) {
    ports_.logger.Log(
        LogLevel::kInfo,
        report->status.crossplane ? "cluster followed" : "cluster followed: it has no Crossplane",
        {{"kinds", static_cast<std::int64_t>(report->status.followed)},
         {"failing", static_cast<std::int64_t>(report->status.failing)}});
  }
  const bool is_ready = view.ready;
  Hand(std::move(view));
  // Published once reviews are answered.
  if (is_ready) Report({});
}

void ClusterWatch::Hand(ClusterView view) {
  if (view_published_ && view == view_) return;
  view_ = std::move(view);
  view_published_ = true;
  ports_.on_view(view_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_recovering_ = !view_.recovery.empty();
  }
  changed_.notify_all();
}

// Reviews here go by nothing that the registry does not have for the others. False: it has not; a
// database that is away leaves every review unknown meanwhile.
bool ClusterWatch::TellOthers(const ClusterView& view) {
  const Deadline now = std::chrono::steady_clock::now();
  PublishedView published;
  published.view = view;
  published.unresolved = ports_.unresolved.All();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    published.unseen = unseen_;
  }
  const Result<void> done = publisher_.Write(ports_.watch_store, ContentsOf(published),
                                             ports_.clock.Now(), In(kOthersTime));
  const bool was_failing = std::exchange(is_cut_off_, !done.ok());
  if (!done.ok()) {
    if (!was_failing) {
      ports_.logger.Log(LogLevel::kWarning, "other servers are not told what the cluster holds",
                        {{"message", std::string_view(done.error().message)}});
    }
    return false;
  }
  life_->Extend(now + kLeaderLife);
  // By that its reviews go at once when it leads no more.
  static_cast<void>(reader_.Read(ports_.store, now, now + kFollowTime).ok());
  view_age_.store(0, std::memory_order_relaxed);
  // Not waited for: it is published again each second.
  static_cast<void>(Ask([learned = view.learned](Watcher& watcher,
                                                 Moment at) { watcher.ViewStored(at, learned); },
                        In(std::chrono::milliseconds(0)))
                        .ok());
  return true;
}

// Takes the last view of the server that leads. While it cannot be read, or none leads, reviews go
// by it no longer than its life.
void ClusterWatch::TakeView() {
  const Deadline now = std::chrono::steady_clock::now();
  const Result<bool> read = reader_.Read(ports_.store, now, now + kFollowTime);
  is_cut_off_ = !read.ok();
  const auto& latest = reader_.latest();
  if (!latest) {
    if (leads_.load()) return;
    return Report("waiting for the server that watches the cluster to tell what it holds" +
                  (read.ok() ? std::string() : ": " + read.error().message));
  }
  view_age_.store(reader_.age(now).count(), std::memory_order_relaxed);
  bool is_attempted = view_.ready;
  if (!is_attempted) {
    const auto attempted = std::make_shared<bool>(false);
    static_cast<void>(
        Ask([attempted](Watcher& watcher, Moment) { *attempted = watcher.attempted(); },
            In(kOpenedStoreTime))
            .ok());
    is_attempted = *attempted;
    if (!is_attempted) return Report("listing the objects of Truce");
  }
  if (!leads_.load()) {
    ports_.unresolved.Replace(latest->unresolved);
    ports_.on_unseen(latest->unseen);
  }
  Hand(latest->view);
  Report({});
}

void ClusterWatch::WriteMetrics(MetricWriter& writer) const {
  if (ports_.has_others) {
    writer.Family("truce_watcher_leader");
    writer.Sample(leads() ? 1 : 0);
    writer.Family("truce_view_age_seconds");
    writer.Sample(static_cast<double>(view_age_.load(std::memory_order_relaxed)) / 1000);
  }
  writer.Family("truce_brake_held_objects");
  writer.Sample(static_cast<double>(held_back_.load(std::memory_order_relaxed)));
  writer.Family("truce_brake_frozen_kinds");
  writer.Sample(static_cast<double>(frozen_.load(std::memory_order_relaxed)));
  writer.Family("truce_unlisted_kinds");
  writer.Sample(static_cast<double>(failing_.load(std::memory_order_relaxed)));
  const std::int64_t since = failing_since_.load(std::memory_order_relaxed);
  const std::int64_t now = ports_.clock.Now().time_since_epoch().count();
  writer.Family("truce_watch_stale_seconds");
  writer.Sample(since == 0 ? 0
                           : static_cast<double>(std::max<std::int64_t>(now - since, 0)) / 1000);
}

void ClusterWatch::NoteRecovery(bool resynced) {
  // The others wait for a sign meanwhile.
  const auto time = ports_.has_others && view_published_ ? kOthersTime : kOpenedStoreTime;
  recovery_ = RecoveryReason(ports_.store, recovery_, time);
  if (recovery_.empty() || !resynced) return;
  const Result<void> noted =
      Administer(ports_.watch_store, ports_.clock.Now(), In(kOpenedStoreTime), &NoteResynced);
  if (noted.ok()) recovery_ = RecoveryReason(ports_.store, recovery_, time);
}

// Each problem is logged once.
void ClusterWatch::Report(const std::string& problem) {
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

Result<RecoveryView> ClusterWatch::Recovery() const {
  TRUCE_ASSIGN_OR_RETURN(const auto state, ReadRecovery(ports_.store, In(kControlTime)));
  if (!state) return RecoveryView();
  RecoveryView view{true, state->reason, state->since, state->resynced, {}};
  if (state->resynced || !leads()) return view;
  const auto kinds = std::make_shared<std::vector<KindStatus>>();
  const Result<void> asked =
      Ask([kinds](Watcher& watcher, Moment) { *kinds = watcher.Unresynced(); }, In(kControlTime));
  if (!asked.ok()) view.waits.push_back({"every kind", asked.error().message});
  for (const KindStatus& status : *kinds) {
    const GroupKind kind = status.kind.group_kind();
    view.waits.push_back(
        {KindForPeople(kind.kind, kind.group),
         status.problem.empty() ? "it is being listed" : "it cannot be listed: " + status.problem});
  }
  return view;
}

Result<void> ClusterWatch::EnterRecoveryMode(const OperatorWord& word) {
  TRUCE_RETURN_IF_ERROR(
      Administer(ports_.store, ports_.clock.Now(), In(kControlTime),
                 [&](Administration& books) { EnterRecovery(word.reason, word.actor, books); }));
  return Ask([](Watcher& watcher, Moment now) { watcher.Resync(now); }, In(kControlTime));
}

Result<void> ClusterWatch::AwaitRecovery(bool on, std::chrono::seconds time) {
  keeper_.Wake();
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, time, [&] { return is_recovering_ == on; });
  if (is_recovering_ == on) return {};
  return Error{ErrorCode::kUnavailable,
               "the registry has it, but reviews at this server do not go by it yet"};
}

Result<RecoveryView> ClusterWatch::StartRecovery(const OperatorWord& word) {
  TRUCE_RETURN_IF_ERROR(EnterRecoveryMode(word));
  // The registry has it; obstacles to its use by reviews here are shown elsewhere.
  static_cast<void>(AwaitRecovery(true, kOthersTime).ok());
  return Recovery();
}

Result<RecoveryView> ClusterWatch::EndRecovery(bool force, const OperatorWord& word) {
  RecoveryEnd end = RecoveryEnd::kNotEntered;
  TRUCE_RETURN_IF_ERROR(
      Administer(ports_.store, ports_.clock.Now(), In(kControlTime),
                 [&](Administration& books) { end = FinishRecovery(word.actor, force, books); }));
  if (end == RecoveryEnd::kNotEntered) return Error{ErrorCode::kConflict, "not in recovery mode"};
  if (end == RecoveryEnd::kNotResynced) {
    return Error{ErrorCode::kConflict,
                 "the full resync is not done yet: `truce recovery` says which kinds it waits for; "
                 "wait for them, or finish with --force"};
  }
  TRUCE_RETURN_IF_ERROR(AwaitRecovery(false, kControlTime));
  return Recovery();
}

Result<BrakeView> ClusterWatch::Brake() {
  const auto view = std::make_shared<BrakeView>();
  TRUCE_RETURN_IF_ERROR(
      Ask([view](Watcher& watcher, Moment) { *view = BrakeOf(watcher); }, In(kControlTime)));
  return *view;
}

Result<std::uint64_t> ClusterWatch::ReleaseBrake(const std::optional<GroupKind>& kind,
                                                 const OperatorWord& word) {
  const auto released = std::make_shared<std::optional<Result<std::size_t>>>();
  TRUCE_RETURN_IF_ERROR(
      Ask([=](Watcher& watcher,
              Moment now) { *released = watcher.ReleaseBrake(now, kind, word.actor, word.reason); },
          In(kControlTime)));
  TRUCE_ASSIGN_OR_RETURN(const std::size_t count, std::move(**released));
  return std::uint64_t{count};
}

}  // namespace truce
