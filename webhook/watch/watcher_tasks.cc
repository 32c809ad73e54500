// The watcher's work on the store: the effects of answers and events, in their order.
#include <algorithm>
#include <iterator>
#include <utility>

#include "registry/identity/evidence.h"
#include "webhook/watch/kept.h"
#include "webhook/watch/watcher.h"

namespace truce {
namespace {

// True: the map has changed.
template <typename Map>
bool Keep(const ProviderConfigName& config, std::optional<typename Map::mapped_type> said,
          Map& map) {
  const auto known = map.find(config);
  if (!said && known == map.end()) return false;
  if (said && known != map.end() && known->second == *said) return false;
  if (said) {
    map.insert_or_assign(config, *std::move(said));
  } else {
    map.erase(known);
  }
  return true;
}

}  // namespace

void Watcher::Enqueue(std::function<Result<void>()> run, std::size_t events) {
  tasks_.push_back({std::move(run), events});
  queued_ += events;
}

// Does what waits, in order, until the store fails.
void Watcher::Pump(Moment now) {
  if (store_due_ && now < *store_due_) return;
  store_due_.reset();
  for (;;) {
    const bool done = tasks_.empty();
    Result<void> result;
    if (!done) {
      result = tasks_.front().run();
    } else if (!ready() && options_.records && attempted()) {
      result = FinishStart(now);
    }
    if (!result.ok()) {
      StoreFailed(now, result.error());
      return;
    }
    // The end of the start is tried last: waiting tasks belong to it.
    if (done) break;
    queued_ -= tasks_.front().events;
    tasks_.pop_front();
  }
  store_problem_.clear();
  store_backoff_.Reset();
}

// The space of names of a managed kind; empty: it is none.
std::string Watcher::SpaceOf(const GroupKind& kind) const {
  const KindEntry* entry = reconciler_.rules().catalogue->FindKind(kind.group, kind.kind);
  return entry == nullptr ? std::string() : entry->type->space;
}

// ReplayedEvents the watch since the position that the registry has: objects may have ended since.
Result<void> Watcher::BeginReplay(Moment now) {
  if (replay_begun_) return {};
  std::map<GroupKind, UnlistedObjects> unlisted;
  std::set<std::string> spaces;  // of which an end may be shown, or was witnessed before
  for (const auto& [kind, position] : positions_) {
    const Followed* followed = FindKind(kind);
    if (followed == nullptr || !followed->served() || !followed->reflector.listed()) continue;
    // A cluster that went back in time had another history.
    const auto list = VersionNumber(followed->reflector.version());
    const auto stored = VersionNumber(position.version);
    reconciler_.SetPosition(kind, stored <= list ? stored : std::nullopt,
                            position.settled <= list ? position.settled : std::nullopt);
    TRUCE_ASSIGN_OR_RETURN(unlisted[kind], reconciler_.Unlisted(kind));
    TRUCE_ASSIGN_OR_RETURN(const bool gone, reconciler_.HasGone(kind));
    if (gone || !unlisted[kind].empty()) spaces.insert(SpaceOf(kind));
  }
  for (const auto& [kind, objects] : unlisted) {
    // An end that one kind witnesses holds where no other kind made the same anew (E1).
    const std::string space = SpaceOf(kind);
    if (objects.empty() && (space.empty() || !spaces.contains(space))) continue;
    const Reflector& reflector = FindKind(kind)->reflector;
    const WatchQuery query{.selection = reflector.kind().selection,
                           .resource_version = positions_.at(kind).version};
    replayed_.Begin(now, query, objects, VersionNumber(reflector.version()));
  }
  replay_begun_ = true;
  return {};
}

Result<void> Watcher::FinishStart(Moment now) {
  TRUCE_RETURN_IF_ERROR(BeginReplay(now));
  if (!replayed_.IsOver(now)) return {};
  for (const ReplayedEvents::Events& events : replayed_.Take()) reconciler_.Replay(events);
  TRUCE_RETURN_IF_ERROR(reconciler_.FinishStart());
  for (Followed* followed : by_role_) Touch(*followed);
  return {};
}

void Watcher::StoreFailed(Moment now, const Error& error) {
  store_problem_ = error.message;
  store_due_ = now + store_backoff_.Next();
}

void Watcher::TakeNews(Followed& followed, ReflectorNews news) {
  const GroupKind kind = followed.reflector.kind().group_kind();
  Touch(followed);
  if (news.finished || news.failed) followed.unattempted = false;
  if (IsRecorded(followed.role())) {
    TakeRecorded(kind, std::move(news));
  } else {
    SawObjects(followed, news);
  }
  followed.gap_reported = followed.reflector.gap();
}

void Watcher::TakeRecorded(const GroupKind& kind, ReflectorNews news) {
  if (news.begins || !news.objects.empty()) {
    const auto objects = std::make_shared<const std::vector<std::string>>(std::move(news.objects));
    Enqueue([this, kind, objects, begins = news.begins]() -> Result<void> {
      if (begins) reconciler_.BeginList(kind);
      reconciler_.Listed(kind, *objects);
      return {};
    });
  }
  if (news.finished) {
    Enqueue([this, kind]() -> Result<void> {
      TRUCE_RETURN_IF_ERROR(reconciler_.FinishList(kind));
      if (Followed* found = FindKind(kind)) {
        found->resync = false;
        Touch(*found);
      }
      return {};
    });
  }
  if (news.failed) {
    Enqueue([this, kind] { return reconciler_.ListFailed(kind); });
  }
  if (!news.events.empty()) {
    const std::size_t count = news.events.size();
    const auto events = std::make_shared<const std::vector<WatchEvent>>(std::move(news.events));
    Enqueue([this, kind, events] { return reconciler_.Events(kind, *events); }, count);
  }
  if (!news.passed.empty()) {
    Enqueue([this, kind, passed = std::move(news.passed)] {
      return reconciler_.Passed(now_, kind, passed);
    });
  }
}

void Watcher::TakeInbox(Moment now) {
  // News of reviews are for the server that watches.
  if (ports_.inbox == nullptr || !options_.records) return;
  const auto contents = std::make_shared<const ReviewInbox::Contents>(ports_.inbox->Take());
  if (contents->empty()) return;
  for (const GroupKind& kind : contents->admitted) {
    // A kind without objects has no watch of its own: one is admitted, so it gets one now.
    if (Followed* followed = FindKind(kind)) followed->reflector.Wanted(now);
  }
  for (const Slot& slot : contents->unknown) {
    if (Followed* followed = FindKind(GroupKindOf(slot))) followed->reflector.Wanted(now);
    reconciler_.LookAt(slot);
  }
  if (contents->prove.empty()) return;
  Enqueue([this, contents] {
    const std::vector<RowId> rows(contents->prove.begin(), contents->prove.end());
    return reconciler_.Prove(rows);
  });
}

// Kinds that are not recorded: their objects are small, and taken at once.
void Watcher::SawObjects(Followed& followed, const ReflectorNews& news) {
  const auto saw = [&](const std::string& json, bool gone) {
    const Result<Document> document = reader_.Read(json);
    if (document.ok()) {
      SawObject(followed, document.value().root(), gone);
    } else if (ports_.reconcile.observer != nullptr) {
      ports_.reconcile.observer->OnUnread(followed.reflector.kind(),
                                          Unread(json, document.error().message), gone);
    }
  };
  const GroupKind kind = followed.reflector.kind().group_kind();
  const bool configs = followed.role() == Role::kProviderConfig;
  if (news.begins && configs) configs_.BeginList(kind);
  for (const std::string& object : news.objects) saw(object, false);
  for (const WatchEvent& event : news.events) {
    saw(event.object, event.type == WatchEvent::Type::kDeleted);
  }
  if (definitions_known_ != AreKnown(Role::kCompositeDefinition)) UseLearned();
  if (!configs) return;
  if (news.finished) {
    configs_.FinishList(kind);
    ForgetDefaults(kind);
  }
  if (std::exchange(configs_changed_, false)) {
    Enqueue([this] {
      const auto keep = [&](KeptConfigs& kept) {
        kept.learned = accounts_.learned();
        kept.outside = outside_;
        kept.defaults = defaults_;
      };
      return ChangeConfigs(keep, reconciler_.store());
    });
  }
  UseLearned();
  Enqueue([this] { return reconciler_.SettleDeletions(now_); });
}

void Watcher::SawObject(Followed& followed, Value object, bool gone) {
  const Value metadata = object.Child("metadata");
  const std::string name(StringOf(metadata.Child("name")));
  switch (followed.role()) {
    case Role::kDefinition:
      if (gone || metadata.Child("deletionTimestamp").empty()) {
        terminating_.erase(name);
      } else {
        terminating_.insert(name);
      }
      kinds_stale_ = true;
      // An installation brings many definitions at once: one discovery for all of them.
      if (ready()) discovery_due_ = std::min(discovery_due_, now_ + kCrdsSettle);
      return;
    case Role::kCompositeDefinition:
      composites_.erase(name);
      if (auto kinds = ReadCompositeDefinition(object); kinds && !gone) {
        composites_.emplace(name, *std::move(kinds));
      }
      kinds_stale_ = true;
      UseLearned();
      return;
    case Role::kProviderConfig: return SawConfig(followed.reflector.kind(), object, gone);
    case Role::kOther:
      if (ports_.reconcile.observer != nullptr) {
        ports_.reconcile.observer->OnOther(followed.reflector.kind(), object, gone);
      }
      return;
    case Role::kManaged:
    case Role::kMapped:
    case Role::kComposite:
    case Role::kClaim: break;
  }
}

void Watcher::SawConfig(const FollowedKind& followed, Value object, bool gone) {
  const GroupKind kind = followed.group_kind();
  const Value metadata = object.Child("metadata");
  const ProviderConfigName config = ProviderConfigNameOf(object, kind);
  const auto version = VersionNumber(StringOf(metadata.Child("resourceVersion")));
  if (gone) return configs_.Gone(config, version);
  ConfigWords words = ReadConfigWords(object, kind);
  SpecMark mark;
  if (!words.fields.empty()) {
    mark = {std::string(StringOf(metadata.Child("uid"))), std::move(words.revision)};
  }
  configs_.Saw(config, version, words.fields, std::move(mark), words.endpoint);
  SawAccount(config, words.account, version);
  SawPlace(config, std::move(words));
}

void Watcher::SawAccount(const ProviderConfigName& config, const std::string& account,
                         std::optional<ClusterVersion> version) {
  std::string before = accounts_.AccountFor(config);
  const Accounts::News news = accounts_.Saw(config, account);
  if (news == Accounts::News::kNone) return;
  if (news == Accounts::News::kMoved && version) {
    // Whoever edits his own again and again puts off nobody else's.
    if (former_.empty()) bring_due_ = std::max(bring_due_, now_ + kEditSettles);
    former_.try_emplace(config, FormerAccount{std::move(before), *version});
  }
  configs_changed_ = true;
  if (news != Accounts::News::kMoved) return;
  moved_.insert(ProvisionalAccountFor(config, reconciler_.rules().identity.cluster));
}

void Watcher::SawPlace(const ProviderConfigName& config, ConfigWords words) {
  std::optional<ConfigDefaults> defaults;
  if (words.defaults != ConfigDefaults()) defaults = std::move(words.defaults);
  const bool leads_elsewhere = Keep(config, std::move(words.endpoint), outside_);
  const bool says_otherwise = Keep(config, std::move(defaults), defaults_);
  configs_changed_ = configs_changed_ || leads_elsewhere || says_otherwise;
  // The resources of its objects lie in another name space or region from now on, or are kept.
  if (ready() && leads_elsewhere) reread_wanted_ = true;
  if (ready() && says_otherwise) reread_in_namespaces_ = true;
}

// Of namespaces that are gone, with all that was in them.
void Watcher::ForgetDefaults(const GroupKind& kind) {
  const auto there = configs_.Fields();
  const std::size_t gone = std::erase_if(defaults_, [&](const auto& one) {
    const ProviderConfigName& config = one.first;
    return config.group == kind.group && config.kind == kind.kind && !there.contains(config);
  });
  configs_changed_ = configs_changed_ || gone > 0;
}

bool Watcher::MayBring() const {
  return options_.records && tasks_.empty() && !store_due_ && account_pass_.wanted() &&
         bring_wanted_.has_value();
}

// The pass frees what it takes elsewhere and is not real: objects made meanwhile must be seen. A
// kind that cannot be read holds nothing up for ever.
Moment Watcher::BringDue() const {
  const bool seen = std::none_of(by_role_.begin(), by_role_.end(), [](const Followed* followed) {
    return followed->role() == Role::kManaged && followed->served() &&
           (followed->resync || followed->reflector.gap());
  });
  const Moment due = seen ? bring_due_ : std::max(bring_due_, *bring_wanted_ + options_.kind_grace);
  if (!options_.tells_others) return due;
  const Moment latest = others_wait_.value_or(*bring_wanted_) + kOthersSeeMax;
  return std::max(due, view_stored_ ? std::min(*view_stored_ + kOthersSee, latest) : latest);
}

void Watcher::ViewStored(Moment now, const LearnedIdentity& learned) {
  now_ = now;
  if (!view_stored_ && learned == learned_) view_stored_ = now;
}

// From now on every version tells what is declared now.
void Watcher::ForgetFormer() {
  if (former_.empty()) return;
  former_.clear();
  UseLearned();
}

void Watcher::BringAccounts(Moment now) {
  if (!options_.records) return;
  if ((reread_wanted_ || reread_in_namespaces_) && now >= reread_due_) RereadManaged(now);
  if (!account_pass_.wanted()) {
    bring_wanted_.reset();
    return ForgetFormer();  // edits that were taken back
  }
  if (!bring_wanted_) others_wait_ = bring_wanted_ = now;
  if (!MayBring() || now < BringDue()) return;
  bring_due_ = now + options_.portions;
  ForgetFormer();
  others_wait_.reset();
  const Result<bool> through = account_pass_.Step();
  if (!through.ok()) return StoreFailed(now, through.error());
  if (!through.value()) return;
  UseLearned();
  // Rows lack some names of the objects there, such as ids: the objects are read anew.
  if (moved_.empty()) return;
  reread_wanted_ = true;
  Enqueue([this, moved = std::exchange(moved_, {})] { return reconciler_.CountAdmittedBy(moved); });
}

// Whoever edits his ProviderConfig costs nobody else what the watch knows.
void Watcher::RereadManaged(Moment now) {
  reread_in_namespaces_ = false;
  const bool all = std::exchange(reread_wanted_, false);
  reread_due_ = now + kRereadAgain;
  for (Followed* followed : by_role_) {
    if (followed->role() != Role::kManaged || !followed->served()) continue;
    if (!all && !HasNamespaceConfig(followed->reflector.kind().group_kind())) continue;
    const auto version = VersionNumber(followed->reflector.version());
    if (!ready() || !version || !followed->reflector.Reread(now)) {
      ListAgain(now, *followed);
      continue;
    }
    followed->resync = true;
    const GroupKind kind = followed->reflector.kind().group_kind();
    Enqueue([this, kind, from = *version]() -> Result<void> {
      reconciler_.Reread(kind, from);
      return {};
    });
  }
}

// Whether namespaces say something to the controllers of the kind.
bool Watcher::HasNamespaceConfig(const GroupKind& kind) const {
  const KindEntry* const entry = reconciler_.rules().catalogue->FindKind(kind.group, kind.kind);
  return entry != nullptr && SpecOf(entry->flavour).config_is_namespace;
}

std::set<GroupKind> Watcher::CompositesDefined() const {
  std::set<GroupKind> defined;
  for (const auto& [name, kinds] : composites_) defined.insert(kinds.composite);
  return defined;
}

// Of two XRDs that name one claim kind Crossplane takes one; which, only it knows.
std::map<GroupKind, GroupKind> Watcher::ClaimsDefined() const {
  std::map<GroupKind, GroupKind> defined;
  for (const auto& [name, kinds] : composites_) {
    if (kinds.claim) defined.emplace(*kinds.claim, kinds.composite);
  }
  return defined;
}

bool Watcher::AreKnown(Role role) const {
  return discovery_ && std::none_of(by_role_.begin(), by_role_.end(), [&](const Followed* one) {
           return one->role() == role && one->served() && !one->reflector.listed();
         });
}

void Watcher::UseLearned() {
  LearnedIdentity learned{
      accounts_.Effective(),
      ProvisionalAccountsOf(accounts_.Moving(), reconciler_.rules().identity.cluster),
      outside_,
      defaults_,
      CompositesDefined(),
      ClaimsDefined(),
      AreKnown(Role::kCompositeDefinition)};
  definitions_known_ = learned.definitions_known;
  AccountMap accounts = accounts_.Followed();
  ReconcileRules rules = reconciler_.rules();
  std::optional<std::map<ProviderConfigName, std::string>> fields;
  if (AreKnown(Role::kProviderConfig)) fields = configs_.Fields();
  std::vector<GroupKind> composites;  // seen so far as kinds that compose nothing
  std::set_difference(learned.composites.begin(), learned.composites.end(),
                      rules.identity.composites.begin(), rules.identity.composites.end(),
                      std::back_inserter(composites));
  if (rules.identity.accounts != accounts || rules.identity.former != former_ ||
      rules.identity.composites != learned.composites ||
      rules.identity.outside != learned.outside || rules.identity.defaults != learned.defaults ||
      rules.identity.account_fields != fields) {
    rules.identity.accounts = std::move(accounts);
    rules.identity.former = former_;
    rules.identity.outside = learned.outside;
    rules.identity.defaults = learned.defaults;
    rules.identity.composites = learned.composites;
    rules.identity.account_fields = std::move(fields);
    reconciler_.store().SetRules(std::move(rules));
  }
  for (const GroupKind& kind : composites) {
    if (Followed* followed = FindKind(kind)) ListAgain(now_, *followed);
  }
  if (learned != learned_) {
    view_stored_.reset();
    if (!others_wait_) others_wait_ = now_;
  }
  learned_ = learned;
  if (ports_.on_learned) ports_.on_learned(learned);
}

void TakeLearned(const LearnedIdentity& learned, IdentityRules& rules) {
  rules.accounts = learned.accounts;
  rules.moving = learned.moving;
  rules.outside = learned.outside;
  rules.defaults = learned.defaults;
  rules.composites = learned.composites;
}

}  // namespace truce
