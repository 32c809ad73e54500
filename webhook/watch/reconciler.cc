#include "webhook/watch/reconciler.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "registry/base/assert.h"
#include "registry/identity/object_view.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rekey.h"
#include "registry/ownership/resolve.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/sight.h"
#include "registry/store/store.h"

namespace truce {
namespace {

// Sightings looked at on one snapshot before.
constexpr std::size_t kLookMax = 512;
constexpr std::size_t kKeysPage = 256;

bool HasReferences(const ObjectFacts& object) {
  return std::any_of(object.resources.begin(), object.resources.end(),
                     [](const DeclaredResource& r) { return !r.references.empty(); });
}

bool HasLineage(const ObjectFacts& object) {
  const LineageFields& lineage = object.lineage;
  return lineage.controller || lineage.claim || lineage.composed || lineage.composite ||
         !lineage.resources.empty();
}

// How a version came to be seen.
struct Circumstances {
  bool out_of_sight = false;
  bool reread = false;
};

bool LosesAKey(const ObjectFacts& object, const Ledger& ledger) {
  const std::vector<Row> rows = ledger.RowsOfUid(object.uid);
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    return row.id.state == RowState::kSeen &&
           std::none_of(object.resources.begin(), object.resources.end(),
                        [&](const DeclaredResource& one) { return one.key == row.id.key; });
  });
}

// An object that is as it was and declares less: the rules changed, which says nothing of the
// resource. What it owned counts as real, and is left orphaned instead of free.
void SeeWhole(const ObjectFacts& object, Circumstances how, Ledger& ledger) {
  See(object, how.out_of_sight || (how.reread && LosesAKey(object, ledger)), ledger);
}

void SeeVersion(const ObjectFacts& object, Circumstances how, const ReconcileRules& rules,
                Ledger& ledger) {
  if (!HasReferences(object)) {
    SeeWhole(object, how, ledger);
    return;
  }
  ObjectFacts resolved = object;
  ResolveReferences(*rules.catalogue, ledger.facts(), resolved);
  SeeWhole(resolved, how, ledger);
}

}  // namespace

Reconciler::Reconciler(ReconcilePorts ports, ReconcileRules rules)
    : ports_(std::move(ports)), rules_(std::make_shared<const ReconcileRules>(std::move(rules))) {
  TRUCE_ASSERT(rules_->catalogue != nullptr);
}

Reconciler::~Reconciler() = default;

void Reconciler::SetRules(ReconcileRules rules) {
  TRUCE_ASSERT(rules.catalogue != nullptr);
  rules_ = std::make_shared<const ReconcileRules>(std::move(rules));
}

Reconciler::Kind* Reconciler::Find(const GroupKind& kind) {
  const auto found = kinds_.find(kind);
  return found == kinds_.end() ? nullptr : &found->second;
}

const Reconciler::Kind* Reconciler::Find(const GroupKind& kind) const {
  const auto found = kinds_.find(kind);
  return found == kinds_.end() ? nullptr : &found->second;
}

// A decision that would break an invariant would be the same the next time, and all that follows
// would wait for it: it is left out, and counted.
Result<void> Reconciler::Write(const Change& change) {
  Result<void> written = TryToWrite(change);
  if (written.ok() || written.error().code != ErrorCode::kInternal) return written;
  ++breaches_;
  breach_ = written.error().message;
  return {};
}

Result<void> Reconciler::TryToWrite(Change change) {
  const Timestamp now = ports_.clock.Now();
  // The store may run it after this call gave up: it owns all it needs.
  auto decide = [change = std::move(change), rules = rules_, ids = ports_.ids,
                 now](const Facts& facts) {
    Ledger ledger(facts, now, ids, rules->parties);
    change(ledger);
    return ledger.Take();
  };
  return ports_.store.Apply({}, decide, ports_.deadline());
}

// What is left of `items` when those are taken out that change nothing in the store. Reading first
// keeps relists and status updates, nearly all there is, away from the one writer.
Result<std::vector<Reconciler::Item>> Reconciler::OnlyChanging(std::span<const Item> items) {
  std::vector<Item> changing;
  const auto look = [&](const Facts& facts) {
    changing.clear();
    std::unordered_set<std::string> touched;  // uids and keys that an item before will change
    for (const Item& item : items) {
      const ObjectFacts& object = item.sighting->facts;
      const bool after_change =
          touched.contains(object.uid.text) ||
          std::any_of(object.resources.begin(), object.resources.end(), [&](const auto& resource) {
            const auto changes = [&](const FurtherName& name) {
              return touched.contains(name.text.text);
            };
            return (!resource.key.empty() && touched.contains(resource.key.text)) ||
                   std::any_of(resource.further.begin(), resource.further.end(), changes);
          });
      if (!after_change) {
        const bool known = facts.ObjectByUid(object.uid).has_value();
        if (item.deleted && !known && facts.RowsOfUid(object.uid).empty()) continue;
        if (!item.deleted && known) {
          Ledger ledger(facts, ports_.clock.Now(), ports_.ids, rules_->parties);
          SeeVersion(object, {item.out_of_sight, item.reread}, *rules_, ledger);
          if (ledger.Take().empty()) continue;
        }
      }
      touched.insert(object.uid.text);
      for (const DeclaredResource& resource : object.resources) {
        touched.insert(resource.key.text);
        for (const FurtherName& name : resource.further) touched.insert(name.text.text);
      }
      changing.push_back(item);
    }
  };
  TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, ports_.deadline()));
  return changing;
}

void Reconciler::Committed(const Item& item) {
  const ObjectFacts& object = item.sighting->facts;
  Kind* kind = Find({object.slot.group, object.slot.kind});
  if (kind == nullptr) return;
  ++sightings_;
  if (item.deleted) {
    kind->versions.erase(object.uid.text);
    if (const auto ask = asks_.find(object.slot); ask != asks_.end()) Overtake(ask->second);
    SettleNomination(object.uid);
    if (ports_.observer != nullptr) ports_.observer->OnGone(object.uid, object.slot);
    return;
  }
  Version& known = kind->versions[object.uid.text];
  known.number = object.version;
  if (item.sighting->ready.reason != "Deleting") known.settled = object.version;
  known.list = kind->list;
  SettleNomination(object.uid);
  if (ports_.observer != nullptr) ports_.observer->OnSighted(*item.sighting);
}

void Reconciler::SeeItem(const Item& item, const ReconcileRules& rules, Ledger& ledger) {
  if (item.deleted) {
    SeeDeleted(item.sighting->facts, {item.crd_terminating, item.config_changed, item.before},
               ledger);
  } else {
    SeeVersion(item.sighting->facts, {item.out_of_sight, item.reread}, rules, ledger);
  }
}

Result<void> Reconciler::Apply(std::vector<Item> items) {
  for (std::size_t begin = 0; begin < items.size(); begin += kLookMax) {
    const std::size_t count = std::min(kLookMax, items.size() - begin);
    const std::span<const Item> page = std::span<const Item>(items).subspan(begin, count);
    TRUCE_ASSIGN_OR_RETURN(std::vector<Item> changing, OnlyChanging(page));
    skipped_ += page.size() - changing.size();
    // What was there already waits for reviews.
    const std::size_t at_once = page.front().reread ? kPortion : kSightingsAtOnce;
    for (std::size_t at = 0; at < changing.size(); at += at_once) {
      const auto first = changing.begin() + static_cast<std::ptrdiff_t>(at);
      const auto last =
          changing.begin() + static_cast<std::ptrdiff_t>(std::min(at + at_once, changing.size()));
      const auto chunk = std::make_shared<const std::vector<Item>>(std::make_move_iterator(first),
                                                                   std::make_move_iterator(last));
      Result<void> written = TryToWrite([chunk, rules = rules_](Ledger& ledger) {
        for (const Item& item : *chunk) SeeItem(item, *rules, ledger);
      });
      if (written.ok()) continue;
      if (written.error().code != ErrorCode::kInternal) return written;
      // One of them cannot be written; the others can.
      for (const Item& item : *chunk) {
        TRUCE_RETURN_IF_ERROR(
            Write([item, rules = rules_](Ledger& ledger) { SeeItem(item, *rules, ledger); }));
      }
    }
    for (const Item& item : page) Committed(item);
  }
  return {};
}

void Reconciler::Follow(const FollowedKind& kind) { kinds_[kind.group_kind()].followed = kind; }

void Reconciler::BeginGap(const GroupKind& kind) {
  Kind* found = Find(kind);
  if (found == nullptr) return;
  found->gap = true;
  found->marked = false;
  found->passed.reset();
  OvertakeAsks(kind);
}

void Reconciler::Forget(const GroupKind& kind) {
  if (Kind* found = Find(kind)) found->apply_known = true;
}

void Reconciler::BeginList(const GroupKind& kind) {
  Kind* found = Find(kind);
  if (found == nullptr) return;
  found->collected.clear();
  found->complete = false;
  found->list_began = ports_.clock.Now();
  ++found->list;
}

void Reconciler::Listed(const GroupKind& kind, std::span<const std::string> objects) {
  Kind* found = Find(kind);
  if (found == nullptr) return;
  for (const std::string& json : objects) {
    const Result<Document> document = reader_.Read(json);
    if (!document.ok()) {
      ++unreadable_;
      continue;
    }
    const Value metadata = document.value().root().Child("metadata");
    const auto known = found->versions.find(std::string(StringOf(metadata.Child("uid"))));
    if (known != found->versions.end()) {
      known->second.list = found->list;
      const bool same = known->second.number && std::to_string(*known->second.number) ==
                                                    StringOf(metadata.Child("resourceVersion"));
      if (same && !found->apply_known && started_) continue;
    }
    Sighting sighting = ReadSighting(document.value().root(), found->followed, rules_->identity);
    if (sighting.facts.uid.empty() || sighting.facts.slot.name.empty()) {
      ++unreadable_;
      continue;
    }
    found->collected.push_back(std::make_shared<const Sighting>(std::move(sighting)));
  }
}

Result<void> Reconciler::MeetAll(std::span<const Item> items) {
  for (std::size_t at = 0; at < items.size();) {
    const auto chunk = std::make_shared<std::vector<ObjectFacts>>();
    for (; at < items.size() && chunk->size() < kSightingsAtOnce; ++at) {
      if (HasLineage(items[at].sighting->facts)) chunk->push_back(items[at].sighting->facts);
    }
    if (chunk->empty()) break;
    TRUCE_RETURN_IF_ERROR(Write([chunk](Ledger& ledger) {
      for (const ObjectFacts& object : *chunk) Meet(object, ledger);
    }));
  }
  return {};
}

Result<void> Reconciler::ApplyLists(std::span<Kind* const> kinds) {
  std::vector<Item> items;
  for (const Kind* kind : kinds) {
    for (const auto& sighting : kind->collected) {
      const auto known = kind->versions.find(sighting->facts.uid.text);
      const bool same = known != kind->versions.end() && known->second.number &&
                        known->second.number == sighting->facts.version;
      items.push_back({.sighting = sighting, .out_of_sight = !same, .reread = same});
    }
  }
  // Oldest first: among those that nobody recorded yet the oldest is the incumbent. What waits for
  // a reference is judged when the objects it may name are known.
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    const auto rank = [](const Item& item) {
      const ObjectFacts& object = item.sighting->facts;
      return std::tuple(HasReferences(object), object.created.value_or(Timestamp::max()),
                        std::string_view(object.uid.text));
    };
    return rank(a) < rank(b);
  });
  TRUCE_RETURN_IF_ERROR(MeetAll(items));
  return Apply(std::move(items));
}

Result<void> Reconciler::FinishList(const GroupKind& kind) {
  Kind* found = Find(kind);
  if (found == nullptr) return {};
  found->complete = true;
  if (!started_) return {};
  Kind* const one = found;
  TRUCE_RETURN_IF_ERROR(ApplyLists({&one, 1}));
  return Nominate(*found);
}

Result<void> Reconciler::ListFailed(const GroupKind& kind) {
  Kind* found = Find(kind);
  if (found == nullptr) return {};
  found->collected.clear();
  found->complete = false;
  return MarkGap(*found);
}

Result<void> Reconciler::FinishStart() {
  if (started_) return {};
  std::vector<Kind*> complete;
  for (auto& [name, kind] : kinds_) {
    if (kind.complete) complete.push_back(&kind);
  }
  TRUCE_RETURN_IF_ERROR(ApplyLists(complete));
  for (Kind* kind : complete) {
    if (kind->complete) TRUCE_RETURN_IF_ERROR(Nominate(*kind));
  }
  started_ = true;
  return {};
}

Result<void> Reconciler::Events(const GroupKind& kind, std::span<const WatchEvent> events) {
  Kind* found = Find(kind);
  if (found == nullptr) return {};
  std::vector<Item> items;
  std::unordered_map<std::string, Version> shown;  // by these events
  for (const WatchEvent& event : events) {
    if (event.type == WatchEvent::Type::kBookmark) continue;
    const Result<Document> document = reader_.Read(event.object);
    if (!document.ok()) {
      ++unreadable_;
      continue;
    }
    Item item;
    item.sighting = std::make_shared<const Sighting>(
        ReadSighting(document.value().root(), found->followed, rules_->identity));
    const ObjectFacts& object = item.sighting->facts;
    if (object.uid.empty() || object.slot.name.empty()) {
      ++unreadable_;
      continue;
    }
    item.deleted = event.type == WatchEvent::Type::kDeleted;
    item.crd_terminating = found->terminating;
    const auto known = found->versions.find(object.uid.text);
    // A quorum GET was ahead of the stream.
    const bool older = !item.deleted && known != found->versions.end() && known->second.number &&
                       object.version && *object.version <= *known->second.number;
    if (older) continue;
    const auto [last, first] = shown.try_emplace(object.uid.text);
    if (first && known != found->versions.end()) last->second = known->second;
    item.before = last->second.number;
    last->second.number = object.version;
    if (item.sighting->ready.reason != "Deleting") last->second.settled = object.version;
    if (item.deleted && Hold(item, last->second.settled)) continue;
    items.push_back(std::move(item));
  }
  return Apply(std::move(items));
}

void Reconciler::SetTerminating(const GroupKind& kind, bool terminating) {
  if (Kind* found = Find(kind)) found->terminating = terminating;
}

namespace {

// Rows that `changes` writes or drops.
std::size_t RowsOf(const Changes& changes) {
  return changes.put_rows.size() + changes.drop_rows.size() + changes.put_owners.size() +
         changes.drop_owners.size() + changes.put_objects.size() + changes.drop_objects.size() +
         changes.put_agreements.size() + changes.drop_agreements.size() + changes.put_names.size() +
         changes.drop_names.size() + changes.audit.size();
}

// What of the keys after `after` the changes concern, up to a portion of rows.
struct Concerned {
  std::vector<KeyText> keys;
  KeyText last;  // looked at; empty: there are no more
};

using AccountsByStandIn = std::map<std::string, std::string>;

// Applies to the resource at `key` what concerns it.
void LocateKey(const KeyText& key, const AccountsByStandIn& accounts, Ledger& ledger) {
  std::set<std::string> own{AccountIn(key)};
  for (const Row& row : ledger.RowsOfKey(key)) own.insert(row.identity.account);
  for (const std::string& stand_in : own) {
    const auto account = accounts.find(stand_in);
    if (account == accounts.end()) continue;
    (void)LocateResources({&key, 1}, {account->first, account->second}, ledger);
  }
}

}  // namespace

Result<KeyText> Reconciler::LocatePortion(std::span<const AccountChange> changes,
                                          const KeyText& after) {
  const auto all = std::make_shared<AccountsByStandIn>();
  for (const AccountChange& change : changes) all->emplace(change.from, change.to);
  Concerned found;
  const auto look = [&](const Facts& facts) {
    found = {};
    std::size_t rows = 0;
    const std::vector<KeyText> page = facts.KeysAfter(after, kKeysPage);
    for (const KeyText& key : page) {
      Ledger ledger(facts, ports_.clock.Now(), ports_.ids, rules_->parties);
      LocateKey(key, *all, ledger);
      if (const Changes made = ledger.Take(); !made.empty()) {
        const std::size_t own = RowsOf(made);
        if (!found.keys.empty() && rows + own > kPortion) return;
        rows += own;
        found.keys.push_back(key);
      }
      found.last = key;
    }
    if (page.size() < kKeysPage) found.last = {};
  };
  TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, ports_.deadline()));
  if (found.keys.empty()) return found.last;
  const auto keys = std::make_shared<const std::vector<KeyText>>(std::move(found.keys));
  Result<void> written = TryToWrite([keys, all](Ledger& ledger) {
    for (const KeyText& key : *keys) LocateKey(key, *all, ledger);
  });
  if (written.ok()) return found.last;
  if (written.error().code != ErrorCode::kInternal) return written.error();
  // One of them cannot be written; the others can.
  for (const KeyText& key : *keys) {
    TRUCE_RETURN_IF_ERROR(Write([key, all](Ledger& ledger) { LocateKey(key, *all, ledger); }));
  }
  return found.last;
}

Result<void> Reconciler::Keep(const std::string& name, const std::string& value) {
  return Write([name, value](Ledger& ledger) { ledger.PutSetting(name, value); });
}

Result<std::string> Reconciler::Kept(const std::string& name) const {
  std::string value;
  const auto look = [&](const Facts& facts) { value = facts.Setting(name).value_or(""); };
  TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, ports_.deadline()));
  return value;
}

ReconcileStatus Reconciler::status() const {
  ReconcileStatus status;
  for (const auto& [uid, nomination] : nominations_) {
    if (nomination.held_back == BrakeVerdict::kRelease) {
      ++status.nominated;
    } else {
      ++status.held_back;
    }
  }
  status.gets = asks_.size();
  status.sightings = sightings_;
  status.skipped = skipped_;
  status.breaches = breaches_;
  status.breach = breach_;
  return status;
}

}  // namespace truce
