// What Truce is asked and shown: reviews, watches, portions, proofs, a registry that is lost.
#include <algorithm>
#include <span>
#include <utility>

#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "tests/model/cascade_world.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kTtl{180};
constexpr std::size_t kAll = 10000;

std::string ProvisionalAccount(const std::string& config) {
  return "?local/aws.upbound.io/ProviderConfig//" + config;
}

ResourceIdentity IdentityOf(const Thing& thing, const std::string& account) {
  ResourceIdentity identity{thing.type, "aws", {}, "eu-west-1", {}};
  if (thing.type != kBucketType) identity.account = account;
  if (!thing.name.empty()) identity.parts = {{"name", thing.name}};
  return identity;
}

// As the catalogue spells it that stands at the beginning of each history.
KeyText CanonicalKey(const ResourceIdentity& identity) {
  const std::string name = identity.parts.empty() ? "" : identity.parts.front().second;
  if (identity.type == kBucketType) return {identity.type + "|aws|||name=" + name};
  return WithAccount({identity.type + "|aws||eu-west-1|name=" + name}, identity.account);
}

// Root and parent.
std::pair<std::optional<Slot>, std::optional<Slot>> PlaceOf(const Thing& thing,
                                                            const StoreContents& contents) {
  for (const Object& object : contents.objects) {
    if (object.uid.text == thing.uid) return {object.root, object.parent};
  }
  return {};
}

// What is restored finds its composite by what it declares, once that is known.
bool Joins(const Thing& thing, const StoreContents& once, const StoreContents& twice) {
  return thing.composed && PlaceOf(thing, once) != PlaceOf(thing, twice);
}

KeyText IdName(const std::string& id) { return {std::string(kGroupType) + "|aws|||@id=" + id}; }

}  // namespace

void CascadeWorld::Read(const ReadFn& read) const {
  (void)store_->Read(read, std::chrono::steady_clock::now() + std::chrono::seconds{20});
}

KeyText CascadeWorld::Spelt(const std::string& name) const {
  constexpr std::string_view kOld = "|name=";
  KeyText key{name};
  const std::size_t at = name.find(kOld);
  if (respelt_ && at != std::string::npos) key.text.replace(at, kOld.size(), "|called=");
  return key;
}

void CascadeWorld::AddResource(const Thing& thing, ObjectFacts& facts) const {
  const bool mapped = !thing.managed();
  if (mapped && (!profile_.mapped || thing.type != kBucketType)) return;
  const ConfigView& view = views_.at(thing.config);
  const std::string account =
      view.account.empty() ? ProvisionalAccount(thing.config) : view.account;
  DeclaredResource resource;
  resource.identity = IdentityOf(thing, account);
  resource.intent = thing.intent;
  resource.mapped = mapped;
  resource.name = thing.name;
  if (thing.type == kGroupType) {
    if (thing.id.empty()) return;
    resource.names = {{IdName(thing.id), false}};
    resource.name = thing.id;
    resource.bound = true;
  } else {
    if (thing.name.empty()) return;
    resource.names = {{Spelt(CanonicalKey(resource.identity).text), false}};
  }
  if (thing.has_account()) {
    const bool known = !view.account.empty();
    const std::string further = known ? ProvisionalAccount(thing.config) : thing.shown;
    if (!further.empty()) {
      resource.further_account = further;
      resource.names.push_back({WithAccount(resource.key(), further), !known});
    }
    const std::uint64_t config = ConfigAt(thing.config, thing.version);
    facts.account_fields = thing.config + " v" + std::to_string(config);
    facts.fields_shown =
        thing.ready && thing.wrote != 0 && ConfigAt(thing.config, thing.wrote) == config;
    facts.shown_account = thing.shown;
    if (known && !thing.shown.empty() && thing.shown != view.account) {
      facts.account_disagreement = "its ARN is in account " + thing.shown;
    }
  }
  facts.resources.push_back(std::move(resource));
}

std::uint64_t CascadeWorld::ConfigAt(const std::string& config, std::uint64_t version) const {
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < configs_seen_; ++i) {
    const auto& [name, edited] = config_events_[i];
    if (name == config && edited.version <= version) at = edited.version;
  }
  return at;
}

ObjectFacts CascadeWorld::FactsOf(const Thing& thing) const {
  ObjectFacts facts;
  facts.slot = thing.slot;
  facts.uid = {thing.uid};
  facts.version = thing.version;
  facts.service = thing.slot.ns + "/" + thing.slot.name;
  facts.known_kind = true;
  facts.managed = thing.managed();
  facts.composite = thing.sort == Thing::Sort::kComposite;
  facts.terminating = thing.terminating;
  if (thing.finalizer && thing.managed()) {
    facts.finalizers = {"finalizer.managedresource.crossplane.io"};
  }
  LineageFields& lineage = facts.lineage;
  if (thing.controller) {
    lineage.controller = scene::RefTo(thing.controller->second, thing.controller->first);
  }
  if (thing.claim) lineage.claim = scene::RefTo(*thing.claim, "");
  lineage.composed = thing.composed;
  lineage.label = thing.label;
  for (const Slot& ref : thing.refs) {
    if (facts.composite) lineage.resources.push_back(scene::RefTo(ref, ""));
    if (!facts.composite) lineage.composite = scene::RefTo(ref, "");
  }
  facts.transfer_to = thing.transfer_to;
  facts.real = thing.ready || !thing.shown.empty();
  facts.deleting = thing.deleting;
  if (thing.announced) facts.created_marks = "pending";
  facts.creation_open = thing.announced && !thing.ready;
  AddResource(thing, facts);
  return facts;
}

std::vector<std::string> CascadeWorld::NamesOf(const Thing& thing, bool status) const {
  std::vector<std::string> names;
  if (!thing.managed()) return names;
  if (thing.type == kGroupType) {
    if (!thing.id.empty()) names.push_back(IdName(thing.id).text);
    return names;
  }
  if (thing.name.empty()) return names;
  const ConfigView& view = views_.at(thing.config);
  names.push_back(CanonicalKey(IdentityOf(thing, ProvisionalAccount(thing.config))).text);
  if (!thing.has_account()) return names;
  const std::string account = view.account.empty() && status ? thing.shown : view.account;
  if (!account.empty()) names.push_back(CanonicalKey(IdentityOf(thing, account)).text);
  return names;
}

Decision CascadeWorld::Judge(const Thing* old, const Thing& next, const std::string& user) {
  const Mode mode = dice_.Chance(profile_.unenforced) ? Mode::kWarn : Mode::kEnforce;
  registry_->status_guarded = profile_.guarded;
  Decision decision = old == nullptr ? registry_->Create(FactsOf(next), user, mode)
                                     : registry_->Update(FactsOf(*old), FactsOf(next), user, mode);
  if (dice_.Chance(0.03)) {  // as an API server does that saw no answer
    const StoreContents once = registry_->Contents();
    const Decision again = registry_->Ask(registry_->last_request());
    if (again.allowed != decision.allowed) Fails("S5: a repeated review was answered otherwise");
    const StoreContents twice = registry_->Contents();
    if (twice != once && !Joins(next, once, twice)) {
      Fails("S5: a repeated review changed the registry");
    }
  }
  return decision;
}

bool CascadeWorld::Write(const Thing& wanted, const std::string& user, bool reviewed) {
  Thing next = wanted;
  const Thing* standing = Find(next.slot);
  const bool taken = standing != nullptr && next.uid.empty();
  std::optional<Thing> old;
  if (standing != nullptr && !taken) old = *standing;
  if (next.uid.empty()) next.uid = "u" + std::to_string(++uids_);
  const std::string what = user + " " + ForPeople(next.slot) + " " + next.uid + " " + next.type +
                           " " + next.name + next.id + " by " + next.config;
  const bool moved = !old || next.name != old->name || next.config != old->config ||
                     next.id != old->id || next.intent > old->intent;
  const bool renamed = old && (next.name != old->name || next.config != old->config);
  next.moved = next.moved || (renamed && !old->name.empty());
  if (!reviewed && !taken && dice_.Chance(profile_.bypass)) {
    next.exempt = next.exempt || moved;
    Say("wrote past Truce: " + what);
  } else {
    const Decision decision = Judge(old ? &*old : nullptr, next, user);
    if (!decision.allowed) {
      Say("refused " + what);
      CheckRefused(old ? &*old : nullptr, next, decision);
      return false;
    }
    if (moved) {
      const bool stays = next.exempt && old && old->name == next.name;
      const bool stranger_id = next.type == kGroupType && !next.id.empty() &&
                               user != scene::kProvider && !known_.contains(IdName(next.id).text);
      next.exempt = stays || !IsCurrent(next.config) || stranger_id || !decision.conflicts.empty();
      CheckGranted(next, decision.root);
      CheckAdmitted(next);
      next.judged = NamesOf(next);
      const bool same = old && TargetOf(*old) == TargetOf(next) && !old->first.empty();
      if (!same && !next.name.empty()) {
        next.first = CanonicalKey(IdentityOf(next, ProvisionalAccount(next.config))).text;
      }
    }
    if (taken || (user != scene::kRestorer && dice_.Chance(0.08))) {
      Say((taken ? "admitted, but its place is taken: " : "failed after admission: ") + what);
      return true;
    }
    Say("wrote " + what + (decision.conflicts.empty() ? "" : ", in conflict"));
  }
  if (user == scene::kRestorer) words_seen_[next.uid] = next.transfer_to;  // no news (W6)
  Put(std::move(next));
  return true;
}

// --- watches ------------------------------------------------------------------------------------

void CascadeWorld::Watch() {
  const std::size_t stream = dice_.Pick(4);
  if (stream == 0) {
    WatchConfigs();
  } else {
    WatchThings(stream == 1 ? 0 : 1);
  }
}

void CascadeWorld::WatchConfigs() {
  if (configs_seen_ >= config_events_.size()) return;
  const auto& [name, config] = config_events_[configs_seen_++];
  ConfigView& view = views_[name];
  view.seen = config;
  const std::string account = config.shown ? config.account : "";
  Say("saw ProviderConfig " + name + " in account " + (account.empty() ? "-" : account));
  if (account.empty() || account == view.account) return;
  view.account = account;
  moving_[name] = account;
  located_until_ = {};  // all over again
  TellMoving();
}

// Reviews await what stands under the provisional accounts until the last portion is through (N6).
void CascadeWorld::TellMoving() {
  registry_->moving.clear();
  for (const auto& [name, account] : moving_)
    registry_->moving[account].push_back(ProvisionalAccount(name));
}

void CascadeWorld::WatchThings(int stream) {
  if (seen_[stream] >= streams_[stream].size()) return;
  const ThingEvent event = streams_[stream][seen_[stream]++];
  if (event.deleted) {
    SeeEnd(event.thing);
    return;
  }
  const auto newest = last_seen_.find(event.thing.uid);
  // A proof was ahead of the watch (E9).
  if (newest != last_seen_.end() && event.thing.version <= newest->second.version) return;
  See(event.thing);
  if (!dice_.Chance(0.03)) return;
  const StoreContents once = registry_->Contents();
  registry_->See(FactsOf(event.thing));
  const StoreContents twice = registry_->Contents();
  if (twice != once && !Joins(event.thing, once, twice)) {
    Fails("S5: a repeated event changed the registry");
  }
}

void CascadeWorld::See(const Thing& thing, bool out_of_sight) {
  Say("saw " + ForPeople(thing.slot) + " " + thing.uid + " " + thing.name + thing.id +
      (thing.terminating ? " terminating" : "") + (thing.deleting ? " deleting" : "") +
      (thing.shown.empty() ? "" : " in " + thing.shown) + (out_of_sight ? " after a gap" : ""));
  registry_->See(FactsOf(thing), out_of_sight);
  // A proof runs ahead of the watch: what changed before the deletion was not seen.
  const auto before = last_seen_.find(thing.uid);
  const bool missed = out_of_sight || before == last_seen_.end() || before->second.id != thing.id ||
                      before->second.intent != thing.intent;
  if (missed && thing.terminating) unsettled_.insert(thing.uid);
  last_seen_[thing.uid] = thing;
  NoteWord(thing);
  first_views_.try_emplace(thing.uid, views_.at(thing.config).seen.version);
  if (!thing.deleting) last_alive_[thing.uid] = thing;
}

void CascadeWorld::SeeEnd(const Thing& last) {
  Say("saw the end of " + ForPeople(last.slot) + " " + last.uid);
  const auto alive = last_alive_.find(last.uid);
  // The ProviderConfig is asked for at the end: its watch may lag (E8).
  const bool kept = alive != last_alive_.end() &&
                    configs_.at(last.config).version <= alive->second.version &&
                    alive->second.config == last.config;
  Ending ending;
  ending.config_changed = (last.has_account() || !last.deleting) && !kept;
  if (const auto seen = last_seen_.find(last.uid); seen != last_seen_.end()) {
    ending.before = seen->second.version;
  }
  ObjectFacts facts = FactsOf(last);
  if (last.has_account() && kept) {
    facts.account_fields = last.config + " v" + std::to_string(configs_.at(last.config).version);
  }
  const std::vector<ResourceId> ends = ClearEnds(last);
  registry_->SeeDeleted(facts, ending);
  NoteWord(last);
  if (!ends.empty()) CheckFreed(ends, last);
  last_seen_.erase(last.uid);
  last_alive_.erase(last.uid);
}

// The next resource gets its names in the accounts that became known.
void CascadeWorld::Portion() {
  if (moving_.empty()) return;
  std::vector<ResourceId> ids;
  Read([&](const AllFacts& facts) { ids = facts.ResourcesAfter(located_until_, 1); });
  if (ids.empty()) {
    Say("all accounts are applied");
    moving_.clear();
    TellMoving();
    return;
  }
  located_until_ = ids.front();
  Say("portion: " + located_until_.text);
  for (const auto& [name, account] : moving_) {
    registry_->Run([&, from = ProvisionalAccount(name), to = account](Ledger& ledger) {
      (void)LocateResources(ids, {from, to}, ledger);
    });
  }
}

bool CascadeWorld::DeclaresAt(const Thing& thing, const ResourceId& id) const {
  const ObjectFacts facts = FactsOf(thing);
  return std::any_of(facts.resources.begin(), facts.resources.end(), [&](const auto& resource) {
    return registry_->IdNamed(resource.key()) == id;
  });
}

void CascadeWorld::Proofs() {
  std::vector<Row> due;
  Read([&](const AllFacts& facts) {
    due = facts.ReservedBefore(registry_->now() - kTtl, RowId{}, 1000);
  });
  for (const Row& row : due) {
    const Thing* live = Find(row.slot);
    if (live != nullptr && live->uid != row.id.uid.text) live = nullptr;
    const int stream = row.managed ? 1 : 0;
    const bool behind = seen_[stream] < streams_[stream].size();
    const bool declares = live != nullptr && DeclaresAt(*live, row.id.resource);
    if (!declares && behind) continue;  // what lived meanwhile is still to be shown (E9)
    const std::uint64_t version = live == nullptr ? 0 : live->version;
    const bool confirms = live != nullptr && (!row.base || version > *row.base);
    if (live != nullptr && !confirms && behind) continue;
    Say("proof of " + ForPeople(row.slot) + " " + row.id.uid.text);
    if (confirms) See(*live);
    Proof proof;
    proof.answer = live == nullptr ? Proof::Answer::kGone : Proof::Answer::kLive;
    if (live != nullptr) proof.object = FactsOf(*live);
    registry_->Prove(row.id, proof);
  }
}

// History is lost: what changed meanwhile was out of sight, what is absent is asked for.
void CascadeWorld::Relist() {
  const int stream = static_cast<int>(dice_.Pick(2));
  Say(std::string("watch gap of ") + (stream == 1 ? "managed resources" : "claims"));
  std::set<std::string> changed;
  for (std::size_t i = seen_[stream]; i < streams_[stream].size(); ++i) {
    changed.insert(streams_[stream][i].thing.uid);
  }
  seen_[stream] = streams_[stream].size();
  for (const auto& [uid, thing] : last_seen_) {
    if (thing.managed() != (stream == 1)) continue;
    const Thing* live = Find(thing.slot);
    if (live == nullptr || live->uid != uid) changed.insert(uid);
  }
  for (const std::string& uid : changed) {
    registry_->Run([&](Ledger& ledger) { OutOfSight({uid}, ledger); });
    unsettled_.insert(uid);
  }
  for (const auto& [slot, thing] : things_) {
    if (thing.managed() == (stream == 1)) See(thing, changed.contains(thing.uid));
  }
  for (const Row& row : registry_->Contents().rows) {
    if (row.id.state != RowState::kSeen || row.managed != (stream == 1)) continue;
    const Thing* live = Find(row.slot);
    if (live == nullptr || live->uid != row.id.uid.text) registry_->Absent(row.id);
  }
  std::erase_if(last_seen_, [&](const auto& entry) {
    const Thing* live = Find(entry.second.slot);
    return entry.second.managed() == (stream == 1) && (live == nullptr || live->uid != entry.first);
  });
}

void CascadeWorld::StartRegistry() {
  store_ = std::make_unique<TellingStore>();
  const PartyRules parties = registry_ ? registry_->parties : PartyRules{};
  registry_ = std::make_unique<scene::Registry>(*store_);
  registry_->parties = parties;
  registry_->Advance(elapsed_);
  before_ = {};
}

// The registry is lost with its records: everything is seen anew, lineage first, then mostly the
// oldest first, as after a start whose lists all came.
void CascadeWorld::Rebuild() {
  if (!backup_.empty()) return;
  while (configs_seen_ < config_events_.size()) WatchConfigs();
  for (const int stream : {0, 1}) {
    while (seen_[stream] < streams_[stream].size()) WatchThings(stream);
  }
  Say("the registry is lost and built anew");
  StartRegistry();
  moving_.clear();
  last_seen_.clear();
  last_alive_.clear();
  known_.clear();
  reserved_ = false;
  words_.clear();
  words_seen_.clear();
  for (auto& [name, view] : views_) view.account = view.seen.shown ? view.seen.account : "";
  std::set<std::pair<Slot, std::string>> named;
  std::vector<Slot> slots;
  for (const auto& [slot, thing] : things_) {
    slots.push_back(slot);
    if (thing.sort != Thing::Sort::kComposite) continue;
    for (const Slot& ref : thing.refs) named.emplace(ref, thing.party);
  }
  const bool by_age = dice_.Chance(0.8);
  for (auto& [target, resource] : cloud_) {
    resource.by.clear();
    resource.seen = false;
    std::set<std::string> meant_by;
    for (const auto& [slot, thing] : things_) {
      // What is mapped declares the bucket before anything is composed for it.
      const bool declares = profile_.mapped && !thing.managed() &&
                            target == std::string(kBucketType) + " " + thing.name;
      if (thing.intent == Intent::kObserves || (TargetOf(thing) != target && !declares)) continue;
      meant_by.insert(thing.party);
    }
    // Of several that the registry never saw in order it cannot know whose it was.
    const bool unknown = meant_by.empty() || (meant_by.size() > 1 && !by_age);
    resource.exempt = resource.exempt || unknown || resource.imported;
  }
  for (auto& [slot, thing] : things_) {
    // Whose it was is lost: it is its own party.
    thing.alone =
        thing.alone || (thing.managed() && thing.composed && !named.contains({slot, thing.party}));
    const auto resource = cloud_.find(TargetOf(thing));
    if (thing.alone && resource != cloud_.end()) resource->second.alone = slot;
  }
  for (std::size_t i = slots.size(); i > 1; --i) std::swap(slots[i - 1], slots[dice_.Pick(i)]);
  if (dice_.Chance(0.8)) {
    for (const Slot& slot : slots) {
      registry_->Run([&](Ledger& ledger) { Meet(FactsOf(things_.at(slot)), ledger); });
    }
  }
  if (by_age) {
    const auto age = [&](const Slot& slot) { return std::stoul(things_.at(slot).uid.substr(1)); };
    std::sort(slots.begin(), slots.end(),
              [&](const Slot& a, const Slot& b) { return age(a) < age(b); });
  }
  for (int pass = 0; pass < 2; ++pass) {
    for (const Slot& slot : slots) See(things_.at(slot), pass == 0);
  }
}

// In portions; nobody is asked anything before the last one is through.
void CascadeWorld::Respell() {
  if (!moving_.empty()) return;
  respelt_ = !respelt_;
  ++pass_;
  Say("another catalogue");
  const Spelling spelling = [this](const ResourceIdentity& identity) -> std::optional<KeyText> {
    return Spelt(CanonicalKey(identity).text);
  };
  std::vector<ResourceId> ids;
  Read([&](const AllFacts& facts) { ids = facts.ResourcesAfter({}, kAll); });
  for (std::span<const ResourceId> left = ids; !left.empty();) {
    const auto portion = left.first(std::min(left.size(), 1 + dice_.Pick(3)));
    left = left.subspan(portion.size());
    registry_->Run([&](Ledger& ledger) {
      (void)truce::Respell(portion, {spelling, pass_, "another catalogue"}, ledger);
    });
  }
}

}  // namespace truce
