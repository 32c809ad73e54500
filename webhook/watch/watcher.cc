#include "webhook/watch/watcher.h"

#include <algorithm>
#include <utility>

#include "registry/base/text.h"
#include "webhook/watch/kept.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kSecondLists{30};  // how often kinds are looked for that need one
constexpr std::chrono::milliseconds kStoreBackoffMax{10'000};

}  // namespace

Watcher::Watcher(WatcherPorts ports, const ReconcileRules& rules, WatcherOptions options)
    : options_(std::move(options)),
      ports_(std::move(ports)),
      reconciler_(ports_.reconcile, configs_, rules),
      discovery_backoff_({options_.times.backoff_min, options_.times.backoff_max}, options_.seed),
      store_backoff_({options_.store_retry, kStoreBackoffMax}, options_.seed) {
  accounts_.Configure(rules.identity.accounts, rules.account_parties);
  if (options_.records) Remember();
}

Watcher::~Watcher() = default;

// Takes over the knowledge of an earlier life of the process, or of the server that watched before.
void Watcher::Remember() {
  Enqueue([this]() -> Result<void> {
    TRUCE_ASSIGN_OR_RETURN(KeptConfigs kept, ReadConfigs(reconciler_.store()));
    accounts_.Remember(std::move(kept.learned), std::move(kept.brought));
    outside_ = std::move(kept.outside);
    defaults_ = std::move(kept.defaults);
    specs_ = std::move(kept.specs);
    configs_.Remember(specs_);
    UseLearned();
    return {};
  });
  Enqueue([this]() -> Result<void> {
    TRUCE_ASSIGN_OR_RETURN(unmapped_, ReadUnmapped(reconciler_.store()));
    unmapped_known_ = true;
    kinds_stale_ = true;
    return {};
  });
  Enqueue([this]() -> Result<void> {
    TRUCE_ASSIGN_OR_RETURN(positions_, ReadPositions(reconciler_.store()));
    return {};
  });
}

void Watcher::BeginRecording(Moment now) {
  now_ = now;
  if (std::exchange(options_.records, true)) return;
  Remember();
  kinds_stale_ = true;
}

void Watcher::Leave(Moment now) {
  now_ = now;
  Pump(now);
  positions_due_ = now;
  if (ready()) KeepPositions(now);
}

// The stored positions are behind the stored objects: a version that comes twice is known by then.
void Watcher::KeepPositions(Moment now) {
  if (now < positions_due_ || !tasks_.empty()) return;
  positions_due_ = now + kKeepPositions;
  const std::map<GroupKind, ClusterVersion> held = reconciler_.PendingDeletions();
  WatchPositions positions;
  for (const Followed* followed : by_role_) {
    const Reflector& reflector = followed->reflector;
    if (!IsRecorded(followed->role()) || !reflector.listed() || reflector.gap()) continue;
    const GroupKind kind = reflector.kind().group_kind();
    const auto waits = held.find(kind);
    WatchPosition& at = positions[kind];
    at.version = waits == held.end() ? reflector.version() : std::to_string(waits->second - 1);
    at.settled = reconciler_.SettledAt(kind, VersionNumber(at.version));
  }
  // Where the store fails it is tried again the next time.
  ReconcileStore& store = reconciler_.store();
  if (positions != positions_ && WritePositions(positions, store).ok()) {
    positions_ = std::move(positions);
  }
  KnownSpecs specs = configs_.Known();
  if (specs == specs_) return;
  const auto keep = [&](KeptConfigs& kept) { kept.specs = specs; };
  if (ChangeConfigs(keep, store).ok()) specs_ = std::move(specs);
}

Watcher::Followed* Watcher::FindKind(const GroupKind& kind) {
  const auto found = kinds_.find(kind);
  return found == kinds_.end() ? nullptr : found->second.get();
}

// Everything that says which kinds there are and whose accounts was attempted.
bool Watcher::PrerequisitesKnown() const {
  if (!discovery_) return false;
  return std::none_of(by_role_.begin(), by_role_.end(), [](const Followed* followed) {
    return !IsRecorded(followed->role()) && followed->role() != Role::kOther &&
           followed->unattempted;
  });
}

bool Watcher::attempted() const {
  return discovery_ && !kinds_stale_ &&
         std::none_of(by_role_.begin(), by_role_.end(),
                      [](const Followed* followed) { return followed->unattempted; });
}

// Before the first lists are applied no watch of a recorded kind begins: its events would wait.
bool Watcher::MayTick(const Followed& followed) const {
  if (!IsRecorded(followed.role())) return true;
  if (ready()) return true;
  return followed.reflector.WantsList() && PrerequisitesKnown();
}

void Watcher::TellGap(Followed& followed) {
  Touch(followed);
  const bool gap = followed.reflector.gap();
  if (gap && !followed.gap_reported && IsRecorded(followed.role())) {
    const GroupKind kind = followed.reflector.kind().group_kind();
    Enqueue([this, kind]() -> Result<void> {
      reconciler_.BeginGap(kind);
      return {};
    });
  }
  followed.gap_reported = gap;
}

void Watcher::Follow(Moment now, const FollowedKind& kind) {
  auto& at = kinds_[kind.group_kind()];
  if (at == nullptr) {
    at = std::make_unique<Followed>(kind, options_.times, options_.seed + ++last_id_, now);
    by_role_.push_back(at.get());
    at->gap_reported = true;  // the reconciler begins with one
  } else {
    // By another rule than before, perhaps.
    if (kind.role == Role::kMapped && !at->served()) reconciler_.Forget(kind.group_kind());
    at->reflector.Served(now, kind);
  }
  if (kind.role == Role::kProviderConfig) configs_.Serve(kind.selection.kind);
  if (IsRecorded(kind.role)) {
    reconciler_.Follow(kind);
    const bool terminating = std::any_of(
        terminating_.begin(), terminating_.end(),
        [&](const std::string& name) { return IsDefinitionOf(name, kind.selection.kind); });
    reconciler_.SetTerminating(kind.group_kind(), terminating);
  }
  TellGap(*at);
}

void Watcher::UpdateKinds(Moment now) {
  kinds_stale_ = false;
  if (!discovery_) return;
  std::vector<CompositeKinds> composites;
  for (const auto& [name, kinds] : composites_) composites.push_back(kinds);
  const ReconcileRules& rules = reconciler_.rules();
  const std::vector<FollowedKind> wanted = KindsToFollow(
      *discovery_, {rules.catalogue.get(), &rules.identity.mappings, options_.others}, composites);
  std::set<GroupKind> names;
  for (const FollowedKind& kind : wanted) {
    if (!options_.records && kind.role != Role::kOther) continue;
    names.insert(kind.group_kind());
    Follow(now, kind);
  }
  const auto& failed = discovery_->failed_groups;
  for (auto& [name, followed] : kinds_) {
    const bool unknown = std::find(failed.begin(), failed.end(), name.group) != failed.end();
    if (names.contains(name) || unknown || !followed->served()) continue;
    followed->reflector.Unserved();
    followed->unattempted = false;
    TellGap(*followed);
  }
  std::stable_sort(by_role_.begin(), by_role_.end(),
                   [](const Followed* a, const Followed* b) { return a->role() < b->role(); });
  NoteMappings(names);
  if (definitions_known_ != AreKnown(Role::kCompositeDefinition)) UseLearned();
}

void Watcher::NoteMappings(const std::set<GroupKind>& followed) {
  if (!unmapped_known_) return;
  std::set<GroupKind> mapped;
  for (const MappingRule& rule : reconciler_.rules().identity.mappings.all()) {
    if (!rule.kind.group.empty()) mapped.insert(rule.kind);
  }
  const Timestamp now = ports_.reconcile.clock.Now();
  if (!unmapped_.Update(mapped, followed, now)) return;
  Enqueue([this] { return WriteUnmapped(unmapped_, reconciler_.store()); });
}

// A page at a time, so that nothing else waits long.
Result<void> Watcher::EndUnmapped() {
  const std::chrono::milliseconds settle_time = reconciler_.rules().settle_time;
  for (const GroupKind& kind : unmapped_.Due(ports_.reconcile.clock.Now(), settle_time)) {
    TRUCE_ASSIGN_OR_RETURN(const bool all, reconciler_.EndUnread(kind));
    if (!all) return {};
    unmapped_.Forget(kind);
    TRUCE_RETURN_IF_ERROR(WriteUnmapped(unmapped_, reconciler_.store()));
  }
  return {};
}

std::set<GroupKind> Watcher::Unwatched() const {
  std::set<GroupKind> kinds;
  for (const Followed* followed : by_role_) {
    const KindState state = followed->reflector.state();
    const bool out = state == KindState::kFailing || state == KindState::kUnserved;
    if (out && IsRecorded(followed->role())) kinds.insert(followed->reflector.kind().group_kind());
  }
  for (const auto& [kind, since] : unmapped_.Gone()) kinds.insert(kind);
  return kinds;
}

KindStatus Watcher::StatusOf(const Followed& followed) const {
  KindStatus status;
  status.kind = followed.reflector.kind();
  status.state = followed.reflector.state();
  status.attempted = followed.reflector.attempted();
  status.listed = followed.reflector.listed();
  status.gap = followed.reflector.gap();
  if (status.state == KindState::kUnserved) {
    const bool unmapped = unmapped_.Gone().contains(status.kind.group_kind());
    status.problem =
        unmapped ? "no mapping rule names it any more" : "the API server does not serve it";
  } else if (followed.reflector.problem()) {
    const ApiError& error = *followed.reflector.problem();
    status.problem = std::string(Name(error.kind)) + ": " + error.message;
  }
  if (!status.problem.empty()) status.since = followed.problem_since;
  status.frozen = reconciler_.FrozenFor(status.kind.group_kind());
  return status;
}

void Watcher::Report(Followed& followed) {
  const KindState state = followed.reflector.state();
  const bool out = state == KindState::kFailing || state == KindState::kUnserved;
  if (!out) {
    followed.problem_since.reset();
  } else if (!followed.problem_since) {
    followed.problem_since = ports_.reconcile.clock.Now();
  }
  KindStatus status = StatusOf(followed);
  if (IsRecorded(followed.role())) {
    const GroupKind kind = status.kind.group_kind();
    const bool was_out = followed.reported && (followed.reported->state == KindState::kFailing ||
                                               followed.reported->state == KindState::kUnserved);
    if (out != was_out || (out && followed.reported->problem != status.problem)) {
      reconciler_.Freeze(kind, out ? status.problem : std::string());
      status.frozen = reconciler_.FrozenFor(kind);
    }
  }
  if (followed.reported == status) return;
  followed.reported = status;
  if (ports_.reconcile.observer != nullptr) ports_.reconcile.observer->OnKindState(status);
}

void Watcher::ReportAll() {
  if (!std::exchange(any_dirty_, false)) return;
  for (Followed* followed : by_role_) {
    if (std::exchange(followed->dirty, false)) Report(*followed);
  }
}

void Watcher::Touch(Followed& followed) {
  followed.dirty = true;
  any_dirty_ = true;
}

void Watcher::TickReflectors(Moment now, Wishes& wishes) {
  for (Followed* followed : by_role_) {
    const auto due = followed->reflector.Due();
    if (!due || *due > now || !MayTick(*followed)) continue;
    // Pages wait while the store does not take what was read before.
    const bool lists = followed->reflector.WantsList();
    if (lists && (list_ids_.size() >= options_.lists_max || store_due_)) continue;
    Touch(*followed);
    const GroupKind kind = followed->reflector.kind().group_kind();
    ReflectorOrders orders = followed->reflector.Tick(now);
    if (orders.stop_watch && followed->watch) {
      watch_ids_.erase(*followed->watch);
      wishes.stops.push_back(*std::exchange(followed->watch, std::nullopt));
    }
    if (orders.list) {
      list_ids_[++last_id_] = kind;
      wishes.lists.push_back({last_id_, *std::move(orders.list)});
    }
    if (orders.watch_from) {
      watch_ids_[++last_id_] = kind;
      followed->watch = last_id_;
      wishes.watches.push_back({.id = last_id_,
                                .selection = followed->reflector.kind().selection,
                                .resource_version = *orders.watch_from,
                                .timeout = orders.watch_timeout});
    }
  }
}

// Kinds of which the brake holds nominations back until a second list.
void Watcher::ListHeldBack(Moment now) {
  if (now < second_lists_due_) return;
  second_lists_due_ = now + kSecondLists;
  const Timestamp time = ports_.reconcile.clock.Now();
  for (const auto& [kind, first_absent] : reconciler_.WaitForSecondList()) {
    if (time - first_absent < kBrakeSecondLook) continue;
    Followed* followed = FindKind(kind);
    if (followed == nullptr || followed->reflector.state() != KindState::kWatched) continue;
    followed->reflector.Relist(now);
    TellGap(*followed);
  }
}

// Versions that were read wait for the watch to pass them.
void Watcher::HurryWaiting(Moment now) {
  for (const GroupKind& kind : reconciler_.Waiting()) {
    Followed* followed = FindKind(kind);
    if (followed == nullptr) continue;
    // Of a ProviderConfig an event comes, unless it is as it was.
    if (followed->role() == Role::kProviderConfig) {
      followed->reflector.Wanted(now);
    } else {
      followed->reflector.Hurry(now);
    }
  }
}

Wishes Watcher::Tick(Moment now) {
  now_ = now;
  Wishes wishes;
  TakeInbox(now);
  Pump(now);
  if (kinds_stale_) {
    UpdateKinds(now);
    Pump(now);
  }
  BringAccounts(now);
  if (!discovering_ && now >= discovery_due_) {
    discovering_ = true;
    wishes.discover = true;
  }
  if (ready()) {
    ListHeldBack(now);
    if (now >= proofs_due_) {
      proofs_due_ = now + options_.proofs;
      reconciler_.Attend(now);
      (void)EndUnmapped();  // a store that fails is asked again
    }
    KeepPositions(now);
  }
  HurryWaiting(now);
  wishes.watches = replayed_.TakeWatches(now, last_id_);
  wishes.stops = replayed_.TakeStops();
  TickReflectors(now, wishes);
  if (tasks_.empty() && gets_under_way_ < options_.gets_max) {
    wishes.gets = reconciler_.Gets(now, options_.gets_max - gets_under_way_);
    gets_under_way_ += wishes.gets.size();
  }
  ReportAll();
  return wishes;
}

std::optional<Moment> Watcher::Due() const {
  std::optional<Moment> due;
  const auto add = [&](Moment moment) { due = due ? std::min(*due, moment) : moment; };
  if (!discovering_) add(discovery_due_);
  if (kinds_stale_) add(now_);
  if (store_due_) {
    add(*store_due_);
  } else if (!tasks_.empty()) {
    add(now_);
  } else if (MayBring()) {
    add(BringDue());
  }
  if (ready()) {
    add(proofs_due_);
    add(second_lists_due_);
  }
  if (const auto replay = replayed_.Due()) add(*replay);
  if (reread_wanted_ || reread_in_namespaces_) add(reread_due_);
  for (const Followed* followed : by_role_) {
    const auto one = followed->reflector.Due();
    if (!one || !MayTick(*followed)) continue;
    if (followed->reflector.WantsList() && (list_ids_.size() >= options_.lists_max || store_due_)) {
      continue;
    }
    add(*one);
  }
  if (tasks_.empty() && gets_under_way_ < options_.gets_max) {
    if (const auto get = reconciler_.GetDue()) add(*get);
  }
  return due;
}

void Watcher::Discovered(Moment now, ApiResult<Discovery> answer) {
  now_ = now;
  discovering_ = false;
  if (!answer.ok()) {
    discovery_problem_ = std::string(Name(answer.error().kind)) + ": " + answer.error().message;
    discovery_due_ = now + discovery_backoff_.Next(answer.error().retry_after);
    return;
  }
  discovery_problem_.clear();
  discovery_backoff_.Reset();
  discovery_due_ = now + options_.discovery;
  discovery_ = std::move(answer).value();
  UpdateKinds(now);
}

void Watcher::Listed(Moment now, std::uint64_t id, ApiResult<ListPage> answer) {
  now_ = now;
  const auto found = list_ids_.find(id);
  if (found == list_ids_.end()) return;
  Followed* followed = FindKind(found->second);
  list_ids_.erase(found);
  if (followed == nullptr) return;
  if (followed->reflector.state() == KindState::kEmpty) {
    // A poll moves the version from which the kind is watched: an object that a GET saw before may
    // have ended before it.
    Enqueue([this, kind = followed->reflector.kind().group_kind()]() -> Result<void> {
      reconciler_.Overtake(kind);
      return {};
    });
  }
  TakeNews(*followed, followed->reflector.Listed(now, std::move(answer)));
}

bool Watcher::room() const { return queued_ < options_.queue_max; }

bool Watcher::Events(Moment now, WatchId id, std::vector<WatchEvent>& events) {
  now_ = now;
  if (replayed_.TakeEvents(id, events)) {
    events.clear();
    return true;
  }
  const auto found = watch_ids_.find(id);
  if (found == watch_ids_.end()) return true;  // stopped meanwhile
  if (!room()) return false;
  Followed* followed = FindKind(found->second);
  if (followed != nullptr) {
    TakeNews(*followed, followed->reflector.Events(now, std::move(events)));
  }
  events.clear();
  return true;
}

void Watcher::Ended(Moment now, WatchId id, std::optional<ApiError> error) {
  now_ = now;
  if (replayed_.Ended(now, id, error)) return;
  const auto found = watch_ids_.find(id);
  if (found == watch_ids_.end()) return;
  Followed* followed = FindKind(found->second);
  watch_ids_.erase(found);
  if (followed == nullptr) return;
  followed->watch.reset();
  followed->reflector.Ended(now, error);
  TellGap(*followed);
  // A type that is gone, or a right that was taken: discovery tells more.
  if (error && error->kind == ApiErrorKind::kNoSuchType) {
    discovery_due_ = std::min(discovery_due_, now + kCrdsSettle);
  }
}

void Watcher::Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer) {
  now_ = now;
  if (gets_under_way_ > 0) --gets_under_way_;
  Enqueue([this, get, answer]() -> Result<void> {
    TRUCE_RETURN_IF_ERROR(reconciler_.Got(now_, get, answer));
    // An empty kind is not empty: its end must be shown.
    Followed* followed = FindKind(GroupKindOf(get.slot));
    if (answer.ok() && followed != nullptr) followed->reflector.Wanted(now_);
    return {};
  });
}

void Watcher::ListAllAgain(Moment now) {
  for (Followed* followed : by_role_) ListAgain(now, *followed);
}

void Watcher::ListAgain(Moment now, Followed& followed) {
  if (!IsRecorded(followed.role()) || !followed.served()) return;
  const GroupKind kind = followed.reflector.kind().group_kind();
  followed.resync = true;
  followed.unattempted = !ready();
  followed.reflector.Relist(now);
  TellGap(followed);
  const bool collected = !ready();
  Enqueue([this, kind, collected]() -> Result<void> {
    reconciler_.Forget(kind);
    if (collected) reconciler_.BeginList(kind);  // what was collected was read by other rules
    return {};
  });
}

void Watcher::SetRules(Moment now, ReconcileRules rules) {
  now_ = now;
  accounts_.Configure(rules.identity.accounts, rules.account_parties);
  rules.identity.accounts = accounts_.Followed();
  rules.identity.composites = CompositesDefined();
  rules.identity.outside = outside_;
  rules.identity.defaults = defaults_;
  if (AreKnown(Role::kProviderConfig)) rules.identity.account_fields = configs_.Fields();
  reconciler_.store().SetRules(std::move(rules));
  UseLearned();
  kinds_stale_ = true;
  ListAllAgain(now);
}

void Watcher::Resync(Moment now) {
  now_ = now;
  ListAllAgain(now);
}

std::vector<KindStatus> Watcher::Unresynced() const {
  std::vector<KindStatus> out;
  for (const Followed* followed : by_role_) {
    if (IsRecorded(followed->role()) && followed->served() && followed->resync)
      out.push_back(StatusOf(*followed));
  }
  return out;
}

Result<std::size_t> Watcher::ReleaseBrake(Moment now, const std::optional<GroupKind>& kind,
                                          const std::string& actor, const std::string& reason) {
  now_ = now;
  std::vector<Followed*> frozen;
  bool is_followed = !kind;
  for (Followed* followed : by_role_) {
    const GroupKind name = followed->reflector.kind().group_kind();
    if (kind && *kind != name) continue;
    is_followed = is_followed || IsRecorded(followed->role());
    if (!reconciler_.FrozenFor(name).empty() && followed->served()) frozen.push_back(followed);
  }
  if (!is_followed) {
    return Error{ErrorCode::kNotFound, "no kind " + KindForPeople(kind->kind, kind->group) +
                                           " is followed; `truce brake` names those that wait"};
  }
  TRUCE_ASSIGN_OR_RETURN(const std::size_t count, reconciler_.ReleaseBrake(kind, actor, reason));
  for (Followed* followed : frozen) {
    followed->reflector.Relist(now);
    TellGap(*followed);
  }
  return count;
}

std::vector<KindStatus> Watcher::Kinds() const {
  std::vector<KindStatus> all;
  all.reserve(by_role_.size());
  for (const Followed* followed : by_role_) all.push_back(StatusOf(*followed));
  return all;
}

WatcherStatus Watcher::status() const {
  WatcherStatus status;
  status.ready = ready();
  for (const Followed* followed : by_role_) {
    const KindState state = followed->reflector.state();
    if (state == KindState::kUnserved) continue;
    ++status.followed;
    if (state == KindState::kWatched) ++status.watched;
    if (state == KindState::kFailing) ++status.failing;
    status.crossplane = status.crossplane || followed->role() == Role::kManaged ||
                        followed->role() == Role::kCompositeDefinition;
  }
  status.queued = queued_;
  status.discovery_problem = discovery_problem_;
  status.store_problem = store_problem_;
  status.reconcile = reconciler_.status();
  return status;
}

Watcher::Known Watcher::KnownFor(Moment now, std::string_view type) const {
  const TypeSpec* spec = reconciler_.rules().catalogue->FindType(type);
  Known known = ready() ? Known::kYes : Known::kGrace;
  if (spec == nullptr) return known;
  for (const KindSpec& kind : spec->kinds) {
    const auto found = kinds_.find(GroupKind{kind.group, kind.kind});
    if (found == kinds_.end() || !found->second->served()) continue;
    if (found->second->reflector.listed()) continue;
    if (now - found->second->since < options_.kind_grace) return Known::kGrace;
    known = Known::kOver;
  }
  return known;
}

}  // namespace truce
