#include "webhook/watch/sights.h"

#include <algorithm>
#include <set>
#include <string_view>
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

// An object that is as it was and declares less: the rules changed, which says nothing of the
// resource. What it owned counts as real, and is left orphaned instead of free.
void SeeWhole(const ObjectFacts& object, const Sight& sight, Ledger& ledger) {
  const bool keeps = (sight.reread || sight.told) && LosesAResource(object, ledger);
  if (keeps) CountAsReal(object.uid, ledger);
  See(object, sight.out_of_sight || keeps, ledger);
}

void SeeOne(const Sight& sight, const ReconcileRules& rules, Ledger& ledger) {
  const ObjectFacts& object = sight.observed->facts;
  if (sight.deleted) {
    SeeDeleted(object, {sight.crd_terminating, sight.config_changed, sight.before}, ledger);
  } else if (!HasReferences(object)) {
    SeeWhole(object, sight, ledger);
  } else {
    ObjectFacts resolved = object;
    ResolveReferences(*rules.catalogue, ledger.facts(), resolved);
    SeeWhole(resolved, sight, ledger);
  }
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

// While its watch loses nothing: the watch will tell that version, or a quorum read told a later
// one.
bool IsOtherwiseTold(ClusterVersion version, const KindHistory::Version* known,
                     const KindHistory& kind) {
  if (!kind.goes_on) return false;
  return version > *kind.goes_on || (known != nullptr && known->number && version < *known->number);
}

bool LacksWhatAllHave(const ObjectFacts& object) {
  return object.uid.empty() || object.slot.name.empty();
}
constexpr std::string_view kLacks = "it has no uid, or no name";

}  // namespace

// What is left of `sights` when those are taken out that change nothing in the store. Reading first
// keeps relists and status updates, nearly all there is, away from the one writer.
Result<std::vector<Sight>> Sights::OnlyChanging(std::span<const Sight> sights) const {
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
        if (sight.deleted && !known && facts.RowsOfUid(object.uid).empty()) continue;
        if (!sight.deleted && known) {
          const Changes changes = store_.Outcome(
              facts, [&](Ledger& ledger) { SeeOne(sight, store_.rules(), ledger); }, ids);
          if (changes.empty()) continue;
        }
      }
      AnyName(object, touch);
      changing.push_back(sight);
    }
  }));
  return changing;
}

void Sights::Applied(const Sight& sight) {
  const ObjectFacts& object = sight.observed->facts;
  KindHistory* kind = HistoryOf(GroupKindOf(object.slot), kinds_);
  if (kind == nullptr) return;
  ++applied_;
  if (sight.deleted) {
    kind->versions.erase(std::string(MetadataUid(object.uid)));
    asks_.Overtake(object.slot);
  } else {
    kind->Take(*sight.observed, sight.order);
  }
  absence_.Settle(object.uid);
  SightObserver* observer = store_.ports().observer;
  if (observer == nullptr) return;
  if (sight.deleted) {
    observer->OnGone(object.uid, object.slot);
  } else {
    observer->OnSighted(*sight.observed);
  }
}

Result<void> Sights::Apply(const std::vector<Sight>& sights) {
  for (std::size_t begin = 0; begin < sights.size(); begin += kComparedAtOnce) {
    const std::size_t count = std::min(kComparedAtOnce, sights.size() - begin);
    const std::span<const Sight> page = std::span(sights).subspan(begin, count);
    TRUCE_ASSIGN_OR_RETURN(const std::vector<Sight> changing, OnlyChanging(page));
    skipped_ += page.size() - changing.size();
    // What was there already waits for reviews.
    const std::size_t at_once = page.front().reread ? kPortion : kObservedAtOnce;
    TRUCE_RETURN_IF_ERROR(store_.WriteEach(
        changing, at_once,
        [&](const Sight& sight, Ledger& ledger) { SeeOne(sight, store_.rules(), ledger); }));
    for (const Sight& sight : page) Applied(sight);
  }
  return {};
}

void Sights::PassOver(std::string_view json, std::string why, bool gone, const KindHistory& kind) {
  ++unreadable_;
  SightObserver* observer = store_.ports().observer;
  if (observer == nullptr) return;
  observer->OnUnread(kind.followed, Unread(json, std::move(why)), gone);
}

// What its ProviderConfig said at this version, and which versions of the object speak of that
// (E8); `seen`: this one and those before it.
void Sights::TellConfig(const KindHistory::Version& seen, ObservedVersion& observed) const {
  const ConfigHistory* configs = store_.ports().configs;
  ObjectFacts& facts = observed.facts;
  if (configs == nullptr || !observed.config || facts.account_fields.empty() || !seen.number)
    return;
  facts.account_fields = configs->At(*observed.config, *seen.number);
  const auto same_since = [&](std::optional<ClusterVersion> from) {
    return from && configs->Throughout(*observed.config, *from, *seen.number).has_value();
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

void Sights::Collect(std::span<const std::string> objects, bool all, KindHistory& kind) {
  for (const std::string& json : objects) {
    const Result<Document> document = reader_.Read(json);
    if (!document.ok()) {
      PassOver(json, document.error().message, false, kind);
      continue;
    }
    const Value metadata = document.value().root().Child("metadata");
    KindHistory::Version version;
    const auto known = kind.versions.find(std::string(StringOf(metadata.Child("uid"))));
    if (known != kind.versions.end()) {
      known->second.list = kind.list;
      const bool same = known->second.number && std::to_string(*known->second.number) ==
                                                    StringOf(metadata.Child("resourceVersion"));
      if (same && !all) continue;
      version = known->second;
    }
    ObservedVersion observed =
        ReadObservedVersion(document.value().root(), kind.followed, store_.rules().identity);
    if (LacksWhatAllHave(observed.facts)) {
      PassOver(json, std::string(kLacks), false, kind);
      continue;
    }
    version.Take(observed, KindHistory::Order::kAlone);
    TellConfig(version, observed);
    kind.collected.push_back(std::make_shared<const ObservedVersion>(std::move(observed)));
  }
}

Result<void> Sights::ApplyLists(std::span<KindHistory* const> kinds) {
  std::vector<Sight> sights;
  for (const KindHistory* kind : kinds) {
    for (const auto& observed : kind->collected) {
      const KindHistory::Version* known = kind->Find(observed->facts.uid);
      const bool same =
          known != nullptr && known->number && known->number == observed->facts.version;
      const auto version = observed->facts.version;
      if (!same && version && IsOtherwiseTold(*version, known, *kind)) continue;
      const bool told = !same && version && kind->told && *version <= *kind->told;
      sights.push_back(
          {.observed = observed, .out_of_sight = !same && !told, .reread = same, .told = told});
    }
  }
  // Oldest first: among those that nobody recorded yet the oldest is the incumbent. What waits for
  // a reference is judged when the objects it may name are known.
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

void Sights::LeaveOutEnded(std::vector<Sight>& sights) const {
  std::set<Uid> born;
  std::set<Uid> ended;
  for (const Sight& sight : sights) {
    const Uid& uid = sight.observed->facts.uid;
    if (sight.order == KindHistory::Order::kFirst) born.insert(uid);
    if (sight.deleted && !born.contains(uid)) ended.insert(uid);
  }
  const Result<void> read = store_.Read([&](const AllFacts& facts) {
    std::erase_if(ended, [&](const Uid& uid) { return facts.ObjectByUid(uid).has_value(); });
  });
  if (!read.ok()) return;  // then they count
  std::erase_if(sights,
                [&](const Sight& sight) { return ended.contains(sight.observed->facts.uid); });
}

std::vector<Sight> Sights::ReadEvents(std::span<const WatchEvent> events, const KindHistory& kind) {
  std::vector<Sight> sights;
  std::unordered_map<std::string, KindHistory::Version> shown;  // by these events
  for (const WatchEvent& event : events) {
    if (event.type == WatchEvent::Type::kBookmark) continue;
    const Result<Document> document = reader_.Read(event.object);
    const bool gone = event.type == WatchEvent::Type::kDeleted;
    if (!document.ok()) {
      PassOver(event.object, document.error().message, gone, kind);
      continue;
    }
    Sight sight;
    ObservedVersion observed =
        ReadObservedVersion(document.value().root(), kind.followed, store_.rules().identity);
    const ObjectFacts& object = observed.facts;
    if (LacksWhatAllHave(object)) {
      PassOver(event.object, std::string(kLacks), gone, kind);
      continue;
    }
    sight.deleted = gone;
    const bool added = event.type == WatchEvent::Type::kAdded;
    sight.order = added ? KindHistory::Order::kFirst : KindHistory::Order::kNext;
    sight.crd_terminating = kind.terminating;
    const KindHistory::Version* known = kind.Find(object.uid);
    // A quorum read was ahead of the stream.
    const bool older = !sight.deleted && known != nullptr && known->number && object.version &&
                       *object.version <= *known->number;
    if (older) continue;
    const KindHistory::Version unknown{.settled = kind.settled};
    const auto [last, first] = shown.try_emplace(object.uid.text, unknown);
    if (first && known != nullptr) last->second = *known;
    sight.before = last->second.number;
    last->second.Take(observed, sight.order);
    sight.settled = last->second.settled;
    if (!sight.deleted) TellConfig(last->second, observed);
    sight.observed = std::make_shared<const ObservedVersion>(std::move(observed));
    sights.push_back(std::move(sight));
  }
  return sights;
}

}  // namespace truce
