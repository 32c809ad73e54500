#include "webhook/watch/reconciler.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "registry/identity/evidence.h"
#include "registry/identity/uids.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/resolve.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/sight.h"

namespace truce {
namespace {

// Sights compared with one snapshot before they are written.
constexpr std::size_t kComparedAtOnce = 512;

bool HasReferences(const ObjectFacts& object) {
  return std::any_of(object.resources.begin(), object.resources.end(),
                     [](const DeclaredResource& r) { return !r.references.empty(); });
}

bool HasLineage(const ObjectFacts& object) {
  const LineageFields& lineage = object.lineage;
  return lineage.controller || lineage.claim || lineage.composed || lineage.composite ||
         !lineage.resources.empty();
}

bool LacksWhatAllHave(const ObjectFacts& object) {
  return object.uid.empty() || object.slot.name.empty();
}
constexpr std::string_view kLacks = "it has no uid, or no name";

bool LosesAResource(const ObjectFacts& object, const Ledger& ledger) {
  std::set<ResourceId> declared;
  for (const DeclaredResource& resource : object.resources) {
    if (resource.key().empty()) continue;
    if (auto named = ledger.Named(resource.key())) declared.insert(std::move(named->resource));
  }
  const std::vector<Row> rows = ledger.RowsOfUid(object.uid);
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    return row.id.state == RowState::kSeen && !declared.contains(row.id.resource);
  });
}

// Calls `use(text)` for the object's uid and all names it declares, until one returns true.
template <typename Use>
bool AnyName(const ObjectFacts& object, const Use& use) {
  return use(object.uid.text) ||
         std::any_of(object.resources.begin(), object.resources.end(), [&](const auto& resource) {
           return std::ranges::any_of(
               resource.names, [&](const DeclaredName& name) { return use(name.text.text); });
         });
}

// Whatever the earlier version may have made, the later one still declares.
bool StaysDeclared(const ObjectFacts& earlier, const ObjectFacts& later) {
  const auto stays = [](const DeclaredResource& a, const DeclaredResource& b) {
    const bool demoted = a.intent != Intent::kObserves && b.intent == Intent::kObserves;
    return a.key() == b.key() && !demoted &&
           std::ranges::all_of(a.names, [&](const DeclaredName& name) {
             return std::ranges::count(b.names, name.text, &DeclaredName::text) > 0;
           });
  };
  return std::equal(earlier.resources.begin(), earlier.resources.end(), later.resources.begin(),
                    later.resources.end(), stays);
}

}  // namespace

// The life of an object at one version; the object is `known` so far.
Life Reconciler::LifeOf(const ObjectFacts& object, const KindHistory::Version* known,
                        const KindHistory& kind) {
  Life life;
  life.version = object.version;
  if (known != nullptr) life.newest = known->number;
  life.goes_on = kind.goes_on;
  life.stored = kind.stored;
  return life;
}

// Kinds and their watches.

void Reconciler::SetTerminating(const GroupKind& kind, bool terminating) {
  if (KindHistory* history = HistoryOf(kind, kinds_)) history->terminating = terminating;
}

void Reconciler::BeginGap(const GroupKind& kind) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return;
  history->gap = true;
  history->marked = false;
  history->goes_on.reset();
  history->Break();
  // The old watch says nothing of the gap: a proof waits until the new watch has come as far.
  history->passed.reset();
  reads_.Overtake(kind);
}

void Reconciler::Forget(const GroupKind& kind) {
  if (KindHistory* history = HistoryOf(kind, kinds_)) history->apply_known = true;
}

void Reconciler::Reread(const GroupKind& kind, ClusterVersion version) {
  Forget(kind);
  if (KindHistory* history = HistoryOf(kind, kinds_)) history->goes_on = version;
}

void Reconciler::SetPosition(const GroupKind& kind, std::optional<ClusterVersion> stored,
                             std::optional<ClusterVersion> settled) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return;
  history->stored = stored;
  history->settled = settled;
  history->unbroken = stored.has_value();
}

std::optional<ClusterVersion> Reconciler::SettledAt(const GroupKind& kind,
                                                    std::optional<ClusterVersion> position) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr || !position) return std::nullopt;
  return history->SettledAt(*position);
}

// Versions, from JSON.

// Nothing: `passes_over` says so of its metadata, or it cannot be read, which is counted and
// reported.
std::optional<ObservedVersion> Reconciler::ReadVersion(
    std::string_view json, bool gone, const KindHistory& kind,
    const std::function<bool(Value metadata)>& passes_over) {
  std::string why(kLacks);
  if (const Result<Document> document = reader_.Read(json); !document.ok()) {
    why = document.error().message;
  } else {
    const Value object = document.value().root();
    if (passes_over(object.Child("metadata"))) return std::nullopt;
    ObservedVersion observed = ReadObservedVersion(object, kind.followed, store_.rules().identity);
    if (!LacksWhatAllHave(observed.facts)) return observed;
  }
  ++unreadable_;
  if (SightObserver* observer = store_.ports().observer) {
    observer->OnUnread(kind.followed, Unread(json, std::move(why)), gone);
  }
  return std::nullopt;
}

// The words of its ProviderConfig at this version, and the versions of the object that speak of
// them (E8); `seen`: this one and those before it.
void Reconciler::TellConfig(const KindHistory::Version& seen, ObservedVersion& observed) const {
  ObjectFacts& facts = observed.facts;
  if (!observed.config || facts.account_fields.empty() || !seen.number) return;
  TakeFields(configs_.At(*observed.config, *seen.number), facts);
  const auto same_since = [&](std::optional<ClusterVersion> from) {
    return from && configs_.Throughout(*observed.config, *from, *seen.number).has_value();
  };
  facts.fields_all_along = same_since(seen.born);
  // Made anew it is not Ready, and its status may still show the one before.
  using Status = ConditionSeen::Status;
  const bool found =
      facts.real && observed.synced.status == Status::kTrue &&
      (observed.ready.status == Status::kTrue || observed.ready.status == Status::kAbsent);
  facts.fields_shown = found && same_since(seen.status_since) &&
                       !store_.rules().identity.outside.contains(*observed.config);
}

std::vector<Reconciler::Sight> Reconciler::ReadEvents(std::span<const WatchEvent> events,
                                                      const KindHistory& kind) {
  std::vector<Sight> sights;
  std::unordered_map<std::string, KindHistory::Version> shown;  // by these events
  for (const WatchEvent& event : events) {
    if (event.type == WatchEvent::Type::kBookmark) continue;
    const bool gone = event.type == WatchEvent::Type::kDeleted;
    auto observed = ReadVersion(event.object, gone, kind, [](Value) { return false; });
    if (!observed) continue;
    const ObjectFacts& object = observed->facts;
    const KindHistory::Version* known = kind.Find(object.uid);
    Sight sight;
    sight.step =
        gone ? LifeStep::kEnd : NextStep(LifeEvidence::kShown, LifeOf(object, known, kind));
    if (sight.step == LifeStep::kIgnore) continue;
    const bool added = event.type == WatchEvent::Type::kAdded;
    sight.order = added ? KindHistory::Order::kFirst : KindHistory::Order::kNext;
    sight.crd_terminating = kind.terminating;
    const KindHistory::Version unknown{.settled = kind.settled};
    const auto [last, first] = shown.try_emplace(object.uid.text, unknown);
    if (first && known != nullptr) last->second = *known;
    sight.before = last->second.number;
    last->second.Take(*observed, sight.order);
    sight.settled = last->second.settled;
    if (!gone) TellConfig(last->second, *observed);
    sight.observed = std::make_shared<const ObservedVersion>(*std::move(observed));
    sights.push_back(std::move(sight));
  }
  return sights;
}

// Lists.

void Reconciler::BeginList(const GroupKind& kind) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return;
  history->collected.clear();
  history->complete = false;
  history->Break();
  history->list_began = store_.now();
  ++history->list;
}

void Reconciler::Listed(const GroupKind& kind, std::span<const std::string> objects) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return;
  const bool all = history->apply_known || !started_;
  for (const std::string& json : objects) {
    KindHistory::Version version;
    const auto is_known = [&](Value metadata) {
      const auto known = history->versions.find(std::string(StringOf(metadata.Child("uid"))));
      if (known == history->versions.end()) return false;
      known->second.list = history->list;
      version = known->second;
      return !all && version.number &&
             std::to_string(*version.number) == StringOf(metadata.Child("resourceVersion"));
    };
    auto observed = ReadVersion(json, false, *history, is_known);
    if (!observed) continue;
    version.Take(*observed, KindHistory::Order::kAlone);
    TellConfig(version, *observed);
    history->collected.push_back(std::make_shared<const ObservedVersion>(*std::move(observed)));
  }
}

Result<void> Reconciler::FinishList(const GroupKind& kind) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return {};
  history->complete = true;
  // Applied alone, a managed resource would be the incumbent before its claim is listed.
  if (!started_) return {};
  TRUCE_RETURN_IF_ERROR(ApplyLists({&history, 1}));
  if (!history->goes_on) return CloseList(*history);
  history->Close();
  return {};
}

Result<void> Reconciler::ListFailed(const GroupKind& kind) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return {};
  history->collected.clear();
  history->complete = false;
  history->Break();
  return MarkGap(*history);
}

// Applies what the complete lists collected, in two passes: lineage first, then declarations,
// oldest first.
Result<void> Reconciler::ApplyLists(std::span<KindHistory* const> kinds) {
  std::vector<Sight> sights;
  for (const KindHistory* kind : kinds) {
    for (const auto& observed : kind->collected) {
      const ObjectFacts& object = observed->facts;
      const LifeStep step =
          NextStep(LifeEvidence::kListed, LifeOf(object, kind->Find(object.uid), *kind));
      if (step != LifeStep::kIgnore) sights.push_back({.observed = observed, .step = step});
    }
  }
  // Oldest first: among those that nobody recorded yet the oldest is the incumbent. An object that
  // waits for a reference is judged when the objects it may name are known.
  std::sort(sights.begin(), sights.end(), [](const Sight& a, const Sight& b) {
    const auto rank = [](const Sight& sight) {
      const ObjectFacts& object = sight.observed->facts;
      return std::tuple(HasReferences(object), object.created.value_or(Timestamp::max()),
                        std::string_view(object.uid.text));
    };
    return rank(a) < rank(b);
  });
  std::vector<std::shared_ptr<const ObservedVersion>> related;
  for (const Sight& sight : sights) {
    if (HasLineage(sight.observed->facts)) related.push_back(sight.observed);
  }
  TRUCE_RETURN_IF_ERROR(store_.WriteEach(
      related, kObservedAtOnce,
      [](const auto& observed, Ledger& ledger) { Meet(observed->facts, ledger); }));
  return Apply(sights);
}

// The first start.

// Of the objects of `sights` that existed at their begin, those that ended and are not stored any
// more are left out: the watch of that time has applied that. Nothing where the store fails.
void Reconciler::LeaveOutEnded(std::vector<Sight>& sights) const {
  std::set<Uid> born;
  std::set<Uid> ended;
  for (const Sight& sight : sights) {
    const Uid& uid = sight.observed->facts.uid;
    if (sight.order == KindHistory::Order::kFirst) born.insert(uid);
    if (sight.is_end() && !born.contains(uid)) ended.insert(uid);
  }
  const Result<void> read = store_.Read([&](const AllFacts& facts) {
    std::erase_if(ended, [&](const Uid& uid) { return facts.ObjectByUid(uid).has_value(); });
  });
  if (!read.ok()) return;  // then they count
  std::erase_if(sights,
                [&](const Sight& sight) { return ended.contains(sight.observed->facts.uid); });
}

// Of the objects that `sights` tell of, those that end and declared the same all the time: false.
std::map<Uid, bool> Reconciler::ChangedOrLive(const std::vector<Sight>& sights) {
  std::map<Uid, const ObjectFacts*> last;
  std::map<Uid, bool> out;
  for (const Sight& sight : sights) {
    const ObjectFacts& facts = sight.observed->facts;
    last[facts.uid] = &facts;
    out[facts.uid] = !sight.is_end();
  }
  for (const Sight& sight : sights) {
    const Uid& uid = sight.observed->facts.uid;
    if (!StaysDeclared(sight.observed->facts, *last[uid])) out[uid] = true;
  }
  return out;
}

// The list that waits to be applied has all of them, each declaring what it did all the time.
bool Reconciler::AreListed(const std::vector<Sight>& sights, const KindHistory& kind) {
  if (sights.empty()) return true;
  std::unordered_map<std::string_view, const ObjectFacts*> listed;
  for (const auto& observed : kind.collected) {
    listed.emplace(observed->facts.uid.text, &observed->facts);
  }
  return std::all_of(sights.begin(), sights.end(), [&](const Sight& sight) {
    const auto found = listed.find(sight.observed->facts.uid.text);
    return found != listed.end() && StaysDeclared(sight.observed->facts, *found->second);
  });
}

void Reconciler::Replay(const ReplayedEvents::Events& shown) {
  KindHistory* history = HistoryOf(shown.kind, kinds_);
  if (history == nullptr) return;
  std::vector<Sight> sights = ReadEvents(shown.of_asked, *history);
  const std::map<Uid, bool> left_out = ChangedOrLive(sights);
  std::vector<Sight> others = ReadEvents(shown.others, *history);
  LeaveOutEnded(others);
  history->whole = shown.whole && history->unbroken &&
                   std::none_of(left_out.begin(), left_out.end(),
                                [](const auto& object) { return object.second; }) &&
                   AreListed(others, *history);
  std::erase_if(sights, [&](const Sight& sight) { return left_out.at(sight.observed->facts.uid); });
  for (Sight& sight : sights) {
    if (!Pends(sight)) {
      replayed_.push_back(std::move(sight));
      continue;
    }
    // Not absent: its end is known and waits.
    history->Take(*sight.observed, sight.order);
  }
}

Result<void> Reconciler::FinishStart() {
  if (started_) return {};
  // Claims, composites and what they are composed of end one after the other.
  std::stable_sort(replayed_.begin(), replayed_.end(), [](const Sight& a, const Sight& b) {
    return a.observed->facts.version < b.observed->facts.version;
  });
  // Before the lists: a name that an end frees may be held by an object that they show.
  TRUCE_RETURN_IF_ERROR(Apply(replayed_));
  std::vector<KindHistory*> complete;
  for (auto& [name, history] : kinds_) {
    if (history.complete) complete.push_back(&history);
  }
  TRUCE_RETURN_IF_ERROR(ApplyLists(complete));
  for (KindHistory* history : complete) TRUCE_RETURN_IF_ERROR(CloseList(*history));
  // Only now: after an error of the store the caller begins this function again.
  started_ = true;
  replayed_.clear();
  replayed_.shrink_to_fit();
  return {};
}

// Events, and what is applied.

Result<void> Reconciler::Events(const GroupKind& kind, std::span<const WatchEvent> events) {
  const KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return {};
  std::vector<Sight> sights = ReadEvents(events, *history);
  std::erase_if(sights, [&](Sight& sight) { return Pends(sight); });
  return Apply(sights);
}

// The effect of the sight on rows and ownerships.
void Reconciler::Take(const Sight& sight, Ledger& ledger) const {
  const ObjectFacts& object = sight.observed->facts;
  if (sight.is_end()) {
    const bool unproved = sight.step == LifeStep::kEndUnproved;
    return SeeDeleted(object, {sight.crd_terminating, unproved, sight.before}, ledger);
  }
  std::optional<ObjectFacts> resolved;
  if (HasReferences(object)) {
    resolved = object;
    ResolveReferences(*store_.rules().catalogue, ledger.facts(), *resolved);
  }
  const ObjectFacts& seen = resolved ? *resolved : object;
  // An object that is as it was and declares less: the rules changed, which says nothing of the
  // resource. Its former resource counts as real, and is left orphaned instead of free.
  const bool keeps = (sight.step == LifeStep::kSeeAgain || sight.step == LifeStep::kSeeStored) &&
                     LosesAResource(seen, ledger);
  if (keeps) CountAsReal(seen.uid, ledger);
  See(seen, sight.step == LifeStep::kSeeUnwatched || keeps, ledger);
}

// `sights` without those that change nothing in the store. Reading first
// keeps relists and status updates, nearly all there is, away from the one writer.
Result<std::vector<Reconciler::Sight>> Reconciler::OnlyChanging(
    std::span<const Sight> sights) const {
  std::vector<Sight> changing;
  DecisionIds ids;
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const Facts& facts) {
    changing.clear();
    std::unordered_set<std::string> touched;  // uids and names that one before will change
    const auto is_touched = [&](const std::string& name) { return touched.contains(name); };
    const auto touch = [&](const std::string& name) {
      touched.insert(name);
      return false;
    };
    for (const Sight& sight : sights) {
      const ObjectFacts& object = sight.observed->facts;
      if (!AnyName(object, is_touched)) {
        const bool known = facts.ObjectByUid(object.uid).has_value();
        if (sight.is_end() && !known && facts.RowsOfUid(object.uid).empty()) continue;
        if (!sight.is_end() && known) {
          const Changes changes = store_.Outcome(
              facts, [&](Ledger& ledger) { Take(sight, ledger); }, ids);
          if (changes.empty()) continue;
        }
      }
      AnyName(object, touch);
      changing.push_back(sight);
    }
  }));
  return changing;
}

Result<void> Reconciler::Apply(const std::vector<Sight>& sights) {
  for (std::size_t begin = 0; begin < sights.size(); begin += kComparedAtOnce) {
    const std::size_t count = std::min(kComparedAtOnce, sights.size() - begin);
    const std::span<const Sight> page = std::span(sights).subspan(begin, count);
    TRUCE_ASSIGN_OR_RETURN(const std::vector<Sight> changing, OnlyChanging(page));
    skipped_ += page.size() - changing.size();
    // Objects that were there already wait for reviews.
    const std::size_t at_once =
        page.front().step == LifeStep::kSeeAgain ? kPortion : kObservedAtOnce;
    TRUCE_RETURN_IF_ERROR(store_.WriteEach(
        changing, at_once, [&](const Sight& sight, Ledger& ledger) { Take(sight, ledger); }));
    for (const Sight& sight : page) Applied(sight);
  }
  return {};
}

// The store has it: that is the version known, and what was asked is settled.
void Reconciler::Applied(const Sight& sight) {
  const ObjectFacts& object = sight.observed->facts;
  KindHistory* kind = HistoryOf(GroupKindOf(object.slot), kinds_);
  if (kind == nullptr) return;
  ++applied_;
  if (sight.is_end()) {
    reads_.Overtake(object.slot);
    return Gone(object.uid, object.slot);
  }
  kind->Take(*sight.observed, sight.order);
  NotMissing(object.uid);
  if (SightObserver* observer = store_.ports().observer) observer->OnSighted(*sight.observed);
}

}  // namespace truce
