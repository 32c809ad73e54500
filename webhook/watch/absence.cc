#include "webhook/watch/absence.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "registry/base/counted.h"
#include "registry/base/text.h"
#include "registry/identity/uids.h"
#include "registry/identity/values.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/sight.h"

namespace truce {
namespace {

constexpr std::size_t kObjectsPage = 500;
constexpr std::size_t kOwnersPage = 1000;
// The brake asks for the number of seen rows when an hour begins; older counts are taken anew.
constexpr std::chrono::minutes kCountAge{1};

std::string ReleaseCommand(const GroupKind& kind) {
  return "`truce brake release --kind " + KindForPeople(kind.kind, kind.group) + " --reason '…'`";
}

Slot AllOf(const GroupKind& kind, const std::string& cluster) {
  return {cluster, kind.group, kind.kind, {}, {}};
}

// Calls `visit` for every stored object of the kind.
template <typename Visit>
void ForEachObject(const PassFacts& facts, const Slot& kind, const Visit& visit) {
  ObjectPage page;
  do {
    page = facts.ObjectsOfKind(kind, page.next, kObjectsPage);
    for (Object& object : page.objects) visit(std::move(object));
  } while (!page.next.empty());
}

}  // namespace

void Absence::Freeze(const GroupKind& kind, std::string reason) {
  frozen_[kind].reason = std::move(reason);
  DoubtKind(kind);
}

std::string Absence::FrozenFor(const GroupKind& kind) const {
  const std::string name = KindForPeople(kind.kind, kind.group);
  const auto frozen = frozen_.find(kind);
  if (frozen != frozen_.end() && !frozen->second.reason.empty()) {
    return "objects of " + name + " cannot be seen (" + frozen->second.reason +
           "): nothing of it is released until they can";
  }
  const KindHistory* history = HistoryOf(kind, kinds_);
  if (history != nullptr && history->terminating) {
    return "the definition of " + name + " is being deleted: nothing of it is released by that";
  }
  if (frozen != frozen_.end() && frozen->second.by_empty_list) {
    return "the cluster lists no " + name +
           " any more although there were some; if they are really gone: " + ReleaseCommand(kind);
  }
  return {};
}

void Absence::DoubtKind(const GroupKind& kind) {
  if (DoubtBoard* doubts = store_.ports().doubts) doubts->DoubtKind(kind, FrozenFor(kind));
}

Result<void> Absence::MarkUids(const std::vector<Uid>& uids) {
  return store_.WriteEach(uids, kObservedAtOnce,
                          [](const Uid& uid, Ledger& ledger) { OutOfSight(uid, ledger); });
}

// What claims still declare whose end a managed resource of the kind has witnessed.
Result<std::vector<ResourceId>> Absence::GoneResources(const KindHistory& kind) const {
  std::vector<ResourceId> gone;
  const GroupKind name = kind.followed.group_kind();
  const KindEntry* entry = store_.rules().catalogue->FindKind(name.group, name.kind);
  if (kind.followed.role != Role::kManaged || entry == nullptr) return gone;
  // Types may share a space of names: a key does not tell of which one it is.
  std::string prefix;
  AppendEncoded(prefix, entry->type->space);
  prefix += "|";
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const AllFacts& facts) {
    gone.clear();
    KeyText after{prefix};
    for (bool more = true; more;) {
      const std::vector<Owner> page = facts.OwnersIn(OwnerList::kAll, after, kOwnersPage);
      more = page.size() == kOwnersPage;
      for (const Owner& owner : page) {
        if (!owner.key.text.starts_with(prefix)) return;
        if (owner.managed_once && !owner.real) gone.push_back(owner.id);
      }
      if (more) after = page.back().key;
    }
  }));
  return gone;
}

// One may have come and gone unseen: what was witnessed says nothing any more (E1).
Result<void> Absence::VoidGone(const KindHistory& kind) {
  TRUCE_ASSIGN_OR_RETURN(const std::vector<ResourceId> gone, GoneResources(kind));
  return store_.WriteEach(gone, kObservedAtOnce, [](const ResourceId& id, Ledger& ledger) {
    auto owner = ledger.OwnerOf(id);
    if (!owner || owner->real) return;
    owner->real = true;
    ledger.PutOwner(*std::move(owner));
  });
}

Result<void> Absence::MarkGap(KindHistory& kind) {
  if (!kind.blind()) return {};
  std::vector<Uid> uids;
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const PassFacts& facts) {
    uids.clear();
    ForEachObject(facts, AllOf(kind.followed.group_kind(), store_.cluster()),
                  [&](Object object) { uids.push_back(std::move(object.uid)); });
  }));
  TRUCE_RETURN_IF_ERROR(MarkUids(uids));
  TRUCE_RETURN_IF_ERROR(VoidGone(kind));
  kind.marked = true;
  return {};
}

Result<void> Absence::CountAdmittedBy(const std::set<std::string>& provisional_accounts) {
  std::vector<Uid> uids;
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const PassFacts& facts) {
    uids.clear();
    RowId after;
    for (bool more = true; more;) {
      std::vector<Row> page = facts.ReservedBefore(Timestamp::max(), after, kObjectsPage);
      more = page.size() == kObjectsPage;
      if (more) after = page.back().id;
      for (Row& row : page) {
        if (provisional_accounts.contains(row.identity.account))
          uids.push_back(std::move(row.id.uid));
      }
    }
  }));
  return MarkUids(uids);
}

struct Absence::Missing {
  Object object;
  bool old_rows = false;  // rows made before the list began: they count as out of sight
  bool nominated = false;
  bool seen_rows = false;
};

Result<std::vector<Absence::Missing>> Absence::FindMissing(const KindHistory& kind) const {
  std::vector<Missing> missing;
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const AllFacts& facts) {
    missing.clear();
    const Slot all = AllOf(kind.followed.group_kind(), store_.cluster());
    ForEachObject(facts, all, [&](Object object) {
      const KindHistory::Version* known = kind.Find(object.uid);
      if (known != nullptr && known->list == kind.list) return;
      Missing found;
      const std::vector<Row> rows = facts.RowsOfUid(object.uid);
      for (const Row& row : rows) {
        found.old_rows = found.old_rows || row.at < kind.list_began;
        // Also a row that seems younger than the list: after a clock that jumped back it would stay
        // for ever. The quorum read decides, as for all.
        found.seen_rows = found.seen_rows || row.id.state == RowState::kSeen;
      }
      found.nominated = found.seen_rows || (rows.empty() && object.at < kind.list_began);
      found.object = std::move(object);
      missing.push_back(std::move(found));
    });
  }));
  return missing;
}

Result<bool> Absence::HasGone(const KindHistory& kind) const {
  TRUCE_ASSIGN_OR_RETURN(const std::vector<ResourceId> gone, GoneResources(kind));
  return !gone.empty();
}

Result<UnlistedObjects> Absence::Unlisted(const KindHistory& kind) const {
  std::unordered_set<std::string_view> listed;
  for (const auto& observed : kind.collected) listed.insert(observed->facts.uid.text);
  UnlistedObjects unlisted;
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const AllFacts& facts) {
    unlisted.clear();
    ForEachObject(facts, AllOf(kind.followed.group_kind(), store_.cluster()),
                  [&](const Object& object) {
                    if (listed.contains(object.uid.text)) return;
                    if (facts.RowsOfUid(object.uid).empty()) return;
                    unlisted[object.uid] = true;
                  });
  }));
  return unlisted;
}

Result<void> Absence::Nominate(KindHistory& kind) {
  TRUCE_ASSIGN_OR_RETURN(const std::vector<Missing> missing, FindMissing(kind));
  // A reservation may have come true and ended again unseen, but where all was told.
  std::vector<Uid> unseen;
  bool any_seen = false;
  for (const Missing& one : missing) {
    if (one.old_rows && (one.seen_rows || !kind.whole)) unseen.push_back(one.object.uid);
    any_seen = any_seen || one.seen_rows;
  }
  TRUCE_RETURN_IF_ERROR(MarkUids(unseen));
  if (!kind.whole) TRUCE_RETURN_IF_ERROR(VoidGone(kind));
  const GroupKind name = kind.followed.group_kind();
  // What was read before this list may be gone since.
  asks_.Overtake(name);
  std::erase_if(kind.versions, [&](const auto& entry) { return entry.second.list != kind.list; });
  Frozen& frozen = frozen_[name];
  const bool commanded = std::exchange(frozen.believe_empty_list, false);
  // All at once they rarely end: more likely a definition was made anew, or the list is wrong.
  frozen.by_empty_list = kind.versions.empty() && any_seen && !commanded;
  DoubtKind(name);
  if (!frozen.by_empty_list) {
    for (const Missing& one : missing) {
      if (one.nominated) AddNomination(kind, one.object, commanded);
    }
  }
  kind.Close();
  kind.told.reset();
  kind.Break();
  kind.gap = false;
  kind.marked = false;
  return {};
}

void Absence::AddNomination(const KindHistory& kind, const Object& object, bool commanded) {
  const auto [at, added] = nominations_.try_emplace(object.uid);
  Nomination& nomination = at->second;
  if (added) {
    nomination.uid = object.uid;
    nomination.slot = object.slot;
    nomination.first_absent = kind.list_began;
  } else {
    ++nomination.lists;
  }
  nomination.commanded = nomination.commanded || commanded;
  if (DoubtBoard* doubts = store_.ports().doubts; added && doubts != nullptr) {
    doubts->Doubt(object.slot,
                  ForPeople(object.slot) + " was not in the last list and is being looked for");
  }
  asks_.Nominate(object.uid, object.slot);
}

// Stored for a while, without declarations, and never shown by the watch. Times in the future: the
// clock jumped back.
bool Absence::IsStrange(const KindHistory& kind, const Object& object, const Facts& facts) const {
  if (kind.Find(object.uid) != nullptr || nominations_.contains(object.uid)) return false;
  const Timestamp now = store_.now();
  const std::chrono::seconds ttl = store_.rules().reservation_ttl;
  const bool due = object.at + ttl <= now || object.at > now + ttl;
  return due && facts.RowsOfUid(object.uid).empty();
}

Result<void> Absence::Sweep() {
  if (kinds_.empty()) return {};
  auto at = kinds_.find(sweep_kind_);
  if (at == kinds_.end()) {
    at = kinds_.begin();
    sweep_after_.clear();
  }
  const GroupKind& name = at->first;
  const KindHistory& kind = at->second;
  ObjectPage page;
  std::vector<Object> strange;
  // That the watch never showed an object says nothing while it cannot see the kind.
  if (!kind.gap && frozen_[name].reason.empty()) {
    TRUCE_RETURN_IF_ERROR(store_.Read([&](const AllFacts& facts) {
      strange.clear();
      page = facts.ObjectsOfKind(AllOf(name, store_.cluster()), sweep_after_, kObjectsPage);
      for (const Object& object : page.objects) {
        if (IsStrange(kind, object, facts)) strange.push_back(object);
      }
    }));
  }
  for (const Object& object : strange) {
    if (asks_.Nominate(object.uid, object.slot) == nullptr) continue;
    nominations_[object.uid] = {.uid = object.uid, .slot = object.slot};
  }
  sweep_after_ = page.next;
  if (sweep_after_.empty() && ++at == kinds_.end()) at = kinds_.begin();
  sweep_kind_ = at->first;
  return {};
}

void Absence::Settle(const Uid& uid) {
  const auto found = nominations_.find(uid);
  if (found == nominations_.end()) return;
  const Slot& slot = found->second.slot;
  if (DoubtBoard* doubts = store_.ports().doubts) doubts->Settle(slot);
  if (Asks::Ask* ask = asks_.Find(slot)) ask->nominated.erase(uid);
  nominations_.erase(found);
}

void Absence::DoubtHeldBack(const Nomination& nomination) {
  DoubtBoard* doubts = store_.ports().doubts;
  if (doubts == nullptr) return;
  std::string text = ForPeople(nomination.slot) + " is gone, and so are many others: ";
  text += nomination.held_back == BrakeVerdict::kNeedsSecondList
              ? "a second list in ten minutes decides, or "
              : "they are released only by ";
  doubts->Doubt(nomination.slot, text + ReleaseCommand(GroupKindOf(nomination.slot)));
}

Result<void> Absence::CountSeenRows() {
  const Timestamp now = store_.now();
  // A count of the future is none: the clock was set back since.
  if (seen_counted_ && now - *seen_counted_ <= kCountAge && *seen_counted_ <= now) return {};
  TRUCE_RETURN_IF_ERROR(
      store_.Read([&](const PassFacts& facts) { seen_rows_ = facts.CountSeen(store_.cluster()); }));
  seen_counted_ = now;
  return {};
}

Result<void> Absence::Release(const Uid& uid) {
  const auto found = nominations_.find(uid);
  if (found == nominations_.end()) return {};
  Nomination& nomination = found->second;
  if (!FrozenFor(GroupKindOf(nomination.slot)).empty()) return {};
  TRUCE_RETURN_IF_ERROR(CountSeenRows());
  BrakeVerdict verdict = BrakeVerdict::kRelease;
  const BrakeQuestion question{.cluster = store_.cluster(),
                               .seen_rows = seen_rows_,
                               .first_absent = nomination.first_absent,
                               .second_list = nomination.lists > 1,
                               .commanded = nomination.commanded};
  TRUCE_RETURN_IF_ERROR(store_.Write([&](Ledger& ledger) {
    verdict = BrakeVerdict::kRelease;
    for (const Row& row : ledger.RowsOfUid(uid)) {
      if (row.id.state != RowState::kSeen) continue;
      verdict = AskBrake(question, ledger);
      // What went before it is gone and counted; the rest of the object waits for the next answer.
      if (verdict != BrakeVerdict::kRelease) return;
      Absent(row.id, ledger);
    }
    if (ledger.RowsOfUid(uid).empty()) ledger.DropObject(uid);
  }));
  nomination.held_back = verdict;
  if (verdict == BrakeVerdict::kRelease) {
    const Slot slot = nomination.slot;  // the nomination ends
    Gone(uid, slot);
  } else {
    DoubtHeldBack(nomination);
  }
  return {};
}

// The store knows it no more.
void Absence::Gone(const Uid& uid, const Slot& slot) {
  if (KindHistory* kind = HistoryOf(GroupKindOf(slot), kinds_)) {
    kind->versions.erase(std::string(MetadataUid(uid)));
  }
  Settle(uid);
  if (SightObserver* observer = store_.ports().observer) observer->OnGone(uid, slot);
}

Result<bool> Absence::EndUnread(const GroupKind& kind) {
  ObjectPage page;
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const PassFacts& facts) {
    // From the beginning each time: the objects of the page before are dropped by now.
    page = facts.ObjectsOfKind(AllOf(kind, store_.cluster()), {}, kObjectsPage);
  }));
  std::vector<Uid> uids;
  for (const Object& object : page.objects) uids.push_back(object.uid);
  TRUCE_RETURN_IF_ERROR(store_.WriteEach(uids, kObservedAtOnce, [](const Uid& uid, Ledger& ledger) {
    CountAsReal(uid, ledger);
    for (const Row& row : ledger.RowsOfUid(uid)) {
      EndRow(row.id, End::kUnproved, "its mapping rule is gone", ledger);
    }
    ledger.DropObject(uid);
  }));
  for (const Object& object : page.objects) Gone(object.uid, object.slot);
  asks_.Drop(kind);
  return page.next.empty();
}

Result<std::size_t> Absence::ReleaseBrake(const std::optional<GroupKind>& kind,
                                          const std::string& actor, const std::string& reason) {
  const auto concerns = [&](const GroupKind& other) { return !kind || *kind == other; };
  std::size_t count = 0;
  for (const auto& [uid, nomination] : nominations_) {
    if (concerns(GroupKindOf(nomination.slot))) ++count;
  }
  for (const auto& [name, frozen] : frozen_) {
    if (!concerns(name) || !frozen.by_empty_list) continue;
    TRUCE_ASSIGN_OR_RETURN(const std::vector<Missing> missing, FindMissing(kinds_.at(name)));
    count += missing.size();
  }
  // Before it is done: nothing is let go by a word that no audit log has.
  TRUCE_RETURN_IF_ERROR(store_.Write([&](Ledger& ledger) {
    ledger.Audit({.action = AuditAction::kAdministered,
                  .cause = "brake released for " + Counted(count, "object") + ": " + reason,
                  .actor = actor});
  }));
  for (auto& [uid, nomination] : nominations_) {
    if (!concerns(GroupKindOf(nomination.slot))) continue;
    nomination.commanded = true;
    // Somebody waits for it now: asked at once, not when its turn comes.
    if (Asks::Ask* ask = asks_.Nominate(uid, nomination.slot)) ask->due = Moment{};
  }
  for (auto& [name, frozen] : frozen_) {
    if (concerns(name) && frozen.by_empty_list) frozen.believe_empty_list = true;
  }
  return count;
}

std::map<GroupKind, Timestamp> Absence::WaitForSecondList() const {
  std::map<GroupKind, Timestamp> waiting;
  for (const auto& [uid, nomination] : nominations_) {
    if (nomination.held_back != BrakeVerdict::kNeedsSecondList) continue;
    const auto [at, added] =
        waiting.try_emplace(GroupKindOf(nomination.slot), nomination.first_absent);
    if (!added) at->second = std::max(at->second, nomination.first_absent);
  }
  return waiting;
}

}  // namespace truce
