// The reconciler's second half: ends. Deletions that wait for their ProviderConfig, reservations
// and missing objects that quorum reads settle, and the brake.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "registry/base/counted.h"
#include "registry/base/text.h"
#include "registry/identity/evidence.h"
#include "registry/identity/uids.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/resolve.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/sight.h"
#include "webhook/watch/reconciler.h"

namespace truce {
namespace {

// After that nobody can tell its ProviderConfig: the resource of an ended object is left orphaned.
constexpr std::chrono::seconds kEndPatience{30};
constexpr std::size_t kPendingMax = 10'000;
constexpr std::size_t kObjectsPage = 500;
constexpr std::size_t kOwnersPage = 1000;
constexpr std::size_t kReservedPage = 500;
// The brake asks for the number of seen rows when an hour begins; older counts are taken anew.
constexpr std::chrono::minutes kCountAge{1};
// A denial against a reservation older than this asks for its proof at once; younger ones may still
// be on their way into the cluster.
constexpr std::chrono::seconds kProveAfter{60};
// Every so many passes all reservations are looked at: after the clock jumped back their times lie
// in the future.
constexpr std::uint64_t kFullPass = 12;

// Older than `age`, or from a time that has not come: the clock jumped back.
bool IsOlder(Timestamp at, Timestamp now, std::chrono::milliseconds age) {
  return at + age <= now || at > now + age;
}

std::string ReleaseCommand(const GroupKind& kind) {
  return "`truce brake release --kind " + KindForPeople(kind.kind, kind.group) + " --reason '…'`";
}

Slot AllOf(const GroupKind& kind, const std::string& cluster) {
  return {cluster, kind.group, kind.kind, {}, {}};
}

// Calls `visit` for every stored object of the kind.
template <typename Visit>
void ForEachObject(const AllFacts& facts, const Slot& kind, const Visit& visit) {
  ObjectPage page;
  do {
    page = facts.ObjectsOfKind(kind, page.next, kObjectsPage);
    for (Object& object : page.objects) visit(std::move(object));
  } while (!page.next.empty());
}

// All reserved rows made before `before`, a page at a time.
std::vector<Row> ReservedRows(const AllFacts& facts, Timestamp before) {
  std::vector<Row> rows;
  RowId after;
  for (bool more = true; more;) {
    std::vector<Row> page = facts.ReservedBefore(before, after, kReservedPage);
    more = page.size() == kReservedPage;
    if (more) after = page.back().id;
    std::move(page.begin(), page.end(), std::back_inserter(rows));
  }
  return rows;
}

// Proves the rows that are as they were when they were asked for: a row that another review made
// anew meanwhile is not ended by an answer older than it.
void ProveUnchanged(const std::map<RowId, ReviewUid>& rows, const Proof& proof, Ledger& ledger) {
  for (const auto& [id, review] : rows) {
    const auto row = ledger.FindRow(id);
    if (row && row->review == review) Prove(id, proof, ledger);
  }
}

}  // namespace

// Pending deletions.

// Whether the end waits for its ProviderConfig; one that cannot wait frees nothing real.
bool Reconciler::Pends(Sight& sight) {
  if (!sight.is_end()) return false;
  const ObservedVersion& last = *sight.observed;
  // No such kind is served: nothing that could change.
  const ServedKind* kind = last.config ? configs_.KindOf(*last.config) : nullptr;
  Life life;
  life.version = last.facts.version;
  life.settled = sight.settled;
  life.by_config = kind != nullptr && last.facts.terminating;
  life.has_room = pending_count_ < kPendingMax;
  sight.step = NextStep(LifeEvidence::kDeleted, life);
  if (sight.step != LifeStep::kAwaitConfig) return false;
  const Slot& object = last.facts.slot;
  const KindEntry* entry = store_.rules().catalogue->FindKind(object.group, object.kind);
  const bool in_account = entry != nullptr && entry->type->KeyHasAccount();
  const ProviderConfigName& config = *last.config;
  const Slot slot{store_.cluster(), config.group, config.kind, config.ns, config.name};
  pending_[slot].push_back({.end = sight,
                            .config = config,
                            .from = *sight.settled,
                            .to = *last.facts.version,
                            .by_endpoint = last.facts.deleting && !in_account});
  ++pending_count_;
  reads_.OfConfig({*kind, slot}).answer.reset();  // that was of before this end
  return true;
}

std::optional<Reconciler::Sight> Reconciler::EndOf(const PendingDeletion& pending,
                                                   Moment now) const {
  const auto& [end, config, from, to, by_endpoint, asked, answered, found, since] = pending;
  std::optional<std::string> fields;
  Life life;
  life.config_known = answered && configs_.Knows(config, found);
  life.late = since && now - *since > kEndPatience;
  if (life.config_known) {
    fields = configs_.Throughout(config, from, to);
    life.config_same =
        by_endpoint ? configs_.LedTo(end.observed->endpoint, config, from, to) : fields.has_value();
  }
  Sight sight = end;
  sight.step = NextStep(LifeEvidence::kConfig, life);
  if (sight.step == LifeStep::kAwaitConfig) return std::nullopt;
  if (fields) {
    // As it was then, whatever it is now.
    ObservedVersion observed = *sight.observed;
    TakeFields(*std::move(fields), observed.facts);
    sight.observed = std::make_shared<const ObservedVersion>(std::move(observed));
  }
  return sight;
}

Result<void> Reconciler::SettleDeletions(Moment now) {
  for (auto at = pending_.begin(); at != pending_.end();) {
    std::vector<PendingDeletion>& ends = at->second;
    for (auto pending = ends.begin(); pending != ends.end();) {
      std::optional<Sight> end = EndOf(*pending, now);
      if (!end) {
        ++pending;
        continue;
      }
      TRUCE_RETURN_IF_ERROR(Apply({*std::move(end)}));
      pending = ends.erase(pending);
      --pending_count_;
    }
    if (!ends.empty()) {
      ++at;
      continue;
    }
    const QuorumRead* read = reads_.Find(at->first);
    if (read != nullptr && !read->under_way) reads_.Drop(at->first);
    at = pending_.erase(at);
  }
  return {};
}

std::map<GroupKind, ClusterVersion> Reconciler::PendingDeletions() const {
  std::map<GroupKind, ClusterVersion> first;
  for (const auto& [slot, ends] : pending_) {
    for (const PendingDeletion& pending : ends) {
      const GroupKind kind = GroupKindOf(pending.end.observed->facts.slot);
      const auto [at, added] = first.try_emplace(kind, pending.from);
      if (!added) at->second = std::min(at->second, pending.from);
    }
  }
  return first;
}

// Quorum reads.

std::vector<GetWanted> Reconciler::Gets(Moment now, std::size_t count) {
  if (!started_) return {};
  for (auto& [slot, ends] : pending_) {
    for (PendingDeletion& pending : ends) pending.since = pending.since.value_or(now);
  }
  std::vector<GetWanted> wanted = reads_.Gets(now, count);
  for (const GetWanted& get : wanted) {
    const auto at = pending_.find(get.slot);
    if (at == pending_.end()) continue;
    for (PendingDeletion& pending : at->second) pending.asked = true;
  }
  return wanted;
}

std::optional<Moment> Reconciler::GetDue() const {
  return started_ ? reads_.GetDue() : std::nullopt;
}

Result<void> Reconciler::Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer) {
  QuorumRead* read = reads_.Got(now, get, answer);
  if (read == nullptr) return {};
  if (!read->of_config) return SettleAnswered(now, GroupKindOf(get.slot));
  bool again = false;
  for (PendingDeletion& pending : pending_[get.slot]) {
    if (pending.asked && !pending.answered) pending.found = read->answer->version;
    pending.answered = pending.asked;
    again = again || !pending.asked;
  }
  // Those that ended since it was sent need another one.
  if (again) read->answer.reset();
  return SettleDeletions(now);
}

Result<void> Reconciler::Passed(Moment now, const GroupKind& kind, const std::string& version) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return {};
  history->passed = VersionNumber(version);
  return SettleAnswered(now, kind);
}

Result<void> Reconciler::SettleAnswered(Moment now, const GroupKind& kind) {
  for (const auto& [slot, step] : reads_.Answered(kind, now)) {
    // By value: an object that is found is missing no more.
    const QuorumRead read = *reads_.Find(slot);
    TRUCE_RETURN_IF_ERROR(Settle(read, step));
    // Except what the brake holds back: that is asked for again by the next list or by command.
    reads_.Drop(slot);
  }
  return {};
}

// The object, if one was found, is seen and its reservations are proved; without one they end.
// Missing objects whose slot holds nothing, or another life, are released.
Result<void> Reconciler::Settle(const QuorumRead& read, LifeStep step) {
  Uid found;
  if (step == LifeStep::kProveGone) {
    if (!read.rows.empty()) {
      TRUCE_RETURN_IF_ERROR(store_.Write([&](Ledger& ledger) {
        ProveUnchanged(read.rows, {Proof::Answer::kGone, std::nullopt}, ledger);
      }));
    }
  } else {
    Sight sight{.observed = read.answer->object};
    found = sight.observed->facts.uid;
    // In a gap the version may hide others.
    if (kinds_.at(GroupKindOf(read.get.slot)).gap) sight.step = LifeStep::kSeeUnwatched;
    TRUCE_RETURN_IF_ERROR(store_.Write([&](Ledger& ledger) {
      ObjectFacts object = sight.observed->facts;
      ResolveReferences(*store_.rules().catalogue, ledger.facts(), object);
      if (step == LifeStep::kProve) See(object, sight.step == LifeStep::kSeeUnwatched, ledger);
      ProveUnchanged(read.rows, {Proof::Answer::kLive, object}, ledger);
    }));
    if (step == LifeStep::kProve) Applied(sight);
  }
  for (const Uid& uid : read.missing) {
    if (uid != found) TRUCE_RETURN_IF_ERROR(Release(uid));
  }
  return {};
}

std::set<GroupKind> Reconciler::Waiting() const {
  std::set<GroupKind> kinds = reads_.Waiting();
  for (const auto& [slot, ends] : pending_) kinds.insert(GroupKindOf(slot));
  return kinds;
}

// Reservations that came true or did not.

Result<void> Reconciler::AskForRows(const std::function<std::vector<Row>(const AllFacts&)>& find,
                                    std::chrono::milliseconds older_than) {
  std::vector<Row> rows;
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const AllFacts& facts) { rows = find(facts); }));
  const Timestamp now = store_.now();
  for (const Row& row : rows) {
    if (row.id.state != RowState::kReserved || !IsOlder(row.at, now, older_than)) continue;
    // An answer under way belongs to an older question.
    const QuorumRead* asked = reads_.Find(row.slot);
    if (asked != nullptr && (asked->under_way || asked->answer)) continue;
    if (QuorumRead* read = reads_.Of(row.slot)) read->rows[row.id] = row.review;
  }
  return {};
}

Result<void> Reconciler::Prove(std::span<const RowId> rows) {
  const auto find = [rows](const Facts& facts) {
    std::vector<Row> found;
    for (const RowId& id : rows) {
      for (Row& row : facts.RowsOf(id.resource)) {
        if (row.id == id) found.push_back(std::move(row));
      }
    }
    return found;
  };
  return AskForRows(find, kProveAfter);
}

void Reconciler::Attend(Moment now) {
  const bool full = passes_++ % kFullPass == 0;
  const std::chrono::seconds ttl = store_.rules().reservation_ttl;
  const Timestamp before =
      full ? Timestamp::max() : store_.now() - ttl + std::chrono::milliseconds{1};
  (void)AskForRows([&](const AllFacts& facts) { return ReservedRows(facts, before); }, ttl);
  (void)Sweep();
  for (const GroupKind& kind : reads_.Waiting()) {
    if (!SettleAnswered(now, kind).ok()) break;
  }
  (void)SettleDeletions(now);
}

// Gaps: the events that one may hide.

Result<void> Reconciler::MarkUids(const std::vector<Uid>& uids) {
  return store_.WriteEach(uids, kObservedAtOnce,
                          [](const Uid& uid, Ledger& ledger) { OutOfSight(uid, ledger); });
}

// Resources that claims still declare, and whose end a managed resource of the kind has witnessed.
Result<std::vector<ResourceId>> Reconciler::GoneResources(const KindHistory& kind) const {
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

// One may have come and gone unseen: the witness says nothing any more (E1).
Result<void> Reconciler::VoidGone(const KindHistory& kind) {
  TRUCE_ASSIGN_OR_RETURN(const std::vector<ResourceId> gone, GoneResources(kind));
  return store_.WriteEach(gone, kObservedAtOnce, [](const ResourceId& id, Ledger& ledger) {
    auto owner = ledger.OwnerOf(id);
    if (!owner || owner->real) return;
    owner->real = true;
    ledger.PutOwner(*std::move(owner));
  });
}

// Everything stored of the kind counts as out of sight.
Result<void> Reconciler::MarkGap(KindHistory& kind) {
  if (!kind.blind()) return {};
  std::vector<Uid> uids;
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const AllFacts& facts) {
    uids.clear();
    ForEachObject(facts, AllOf(kind.followed.group_kind(), store_.cluster()),
                  [&](Object object) { uids.push_back(std::move(object.uid)); });
  }));
  TRUCE_RETURN_IF_ERROR(MarkUids(uids));
  TRUCE_RETURN_IF_ERROR(VoidGone(kind));
  kind.marked = true;
  return {};
}

Result<void> Reconciler::CountAdmittedBy(const std::set<std::string>& provisional_accounts) {
  std::vector<Uid> uids;
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const AllFacts& facts) {
    uids.clear();
    for (Row& row : ReservedRows(facts, Timestamp::max())) {
      if (provisional_accounts.contains(row.identity.account)) {
        uids.push_back(std::move(row.id.uid));
      }
    }
  }));
  return MarkUids(uids);
}

Result<bool> Reconciler::HasGone(const GroupKind& kind) const {
  const KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr || !history->complete) return false;
  TRUCE_ASSIGN_OR_RETURN(const std::vector<ResourceId> gone, GoneResources(*history));
  return !gone.empty();
}

// Missing objects.

Result<UnlistedObjects> Reconciler::Unlisted(const GroupKind& kind) const {
  const KindHistory* history = HistoryOf(kind, kinds_);
  UnlistedObjects unlisted;
  if (history == nullptr || !history->complete) return unlisted;
  std::unordered_set<std::string_view> listed;
  for (const auto& observed : history->collected) listed.insert(observed->facts.uid.text);
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const AllFacts& facts) {
    unlisted.clear();
    ForEachObject(facts, AllOf(kind, store_.cluster()), [&](const Object& object) {
      if (listed.contains(object.uid.text) || facts.RowsOfUid(object.uid).empty()) return;
      unlisted[object.uid] = true;
    });
  }));
  return unlisted;
}

struct Reconciler::UnlistedObject {
  Object object;
  bool seen_rows = false;
  LifeStep step = LifeStep::kIgnore;
};

// Stored objects that the complete list, applied by now, did not hold.
Result<std::vector<Reconciler::UnlistedObject>> Reconciler::FindUnlisted(
    const KindHistory& kind) const {
  std::vector<UnlistedObject> unlisted;
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const AllFacts& facts) {
    unlisted.clear();
    const Slot all = AllOf(kind.followed.group_kind(), store_.cluster());
    ForEachObject(facts, all, [&](Object object) {
      const KindHistory::Version* known = kind.Find(object.uid);
      if (known != nullptr && known->list == kind.list) return;
      const std::vector<Row> rows = facts.RowsOfUid(object.uid);
      Life life;
      life.whole = kind.whole;
      life.is_old = rows.empty() && object.at < kind.list_began;
      for (const Row& row : rows) {
        life.is_old = life.is_old || row.at < kind.list_began;
        const bool seen = row.id.state == RowState::kSeen;
        life.rows = seen ? Life::Rows::kSeen : std::max(life.rows, Life::Rows::kReserved);
      }
      unlisted.push_back({std::move(object), life.rows == Life::Rows::kSeen,
                          NextStep(LifeEvidence::kUnlisted, life)});
    });
  }));
  return unlisted;
}

// The complete list is applied: ends the kind's gap, and looks for stored objects that the list did
// not hold.
Result<void> Reconciler::CloseList(KindHistory& kind) {
  TRUCE_ASSIGN_OR_RETURN(const std::vector<UnlistedObject> unlisted, FindUnlisted(kind));
  std::vector<Uid> lost;
  bool any_seen = false;
  for (const UnlistedObject& one : unlisted) {
    if (one.step == LifeStep::kLose || one.step == LifeStep::kLoseAndLookFor) {
      lost.push_back(one.object.uid);
    }
    any_seen = any_seen || one.seen_rows;
  }
  TRUCE_RETURN_IF_ERROR(MarkUids(lost));
  if (!kind.whole) TRUCE_RETURN_IF_ERROR(VoidGone(kind));
  const GroupKind name = kind.followed.group_kind();
  // Objects that were read before this list may be gone since.
  reads_.Overtake(name);
  std::erase_if(kind.versions, [&](const auto& entry) { return entry.second.list != kind.list; });
  Frozen& frozen = frozen_[name];
  const bool commanded = std::exchange(frozen.believe_empty_list, false);
  // All at once they rarely end: more likely a definition was made anew, or the list is wrong.
  frozen.by_empty_list = kind.versions.empty() && any_seen && !commanded;
  unresolved().SetKind(name, FrozenFor(name));
  for (const UnlistedObject& one : unlisted) {
    const bool looks = one.step == LifeStep::kLookFor || one.step == LifeStep::kLoseAndLookFor;
    if (looks && !frozen.by_empty_list) LookFor(one.object, kind.list_began, commanded);
  }
  kind.Close();
  kind.stored.reset();
  kind.Break();
  kind.gap = false;
  kind.marked = false;
  return {};
}

void Reconciler::LookFor(const Object& object, Timestamp list_began, bool commanded) {
  const auto [at, added] = missing_.try_emplace(object.uid);
  MissingObject& missing = at->second;
  if (added) {
    missing.slot = object.slot;
    missing.first_absent = list_began;
    unresolved().Add(object.slot,
                     ForPeople(object.slot) + " was not in the last list and is being looked for");
  } else {
    ++missing.lists;
  }
  missing.commanded = missing.commanded || commanded;
  reads_.LookFor(object.uid, object.slot);
}

// Looks through the next page of stored objects, kind by kind.
Result<void> Reconciler::Sweep() {
  if (kinds_.empty()) return {};
  auto at = kinds_.find(sweep_kind_);
  if (at == kinds_.end()) {
    at = kinds_.begin();
    sweep_after_.clear();
  }
  const auto& [name, kind] = *at;
  Life life;
  life.gap = kind.gap;
  life.frozen = !frozen_[name].reason.empty();
  ObjectPage page;
  std::vector<Object> strange;
  const auto look = [&, &kind = kind, &name = name](const AllFacts& facts) {
    strange.clear();
    page = facts.ObjectsOfKind(AllOf(name, store_.cluster()), sweep_after_, kObjectsPage);
    for (Object& object : page.objects) {
      if (kind.Find(object.uid) != nullptr || missing_.contains(object.uid)) continue;
      life.is_old = IsOlder(object.at, store_.now(), store_.rules().reservation_ttl);
      if (!life.is_old) continue;
      life.rows = facts.RowsOfUid(object.uid).empty() ? Life::Rows::kNone : Life::Rows::kReserved;
      if (NextStep(LifeEvidence::kStored, life) == LifeStep::kLookFor)
        strange.push_back(std::move(object));
    }
  };
  // That the watch never showed an object says nothing while it cannot see the kind.
  if (!life.gap && !life.frozen) TRUCE_RETURN_IF_ERROR(store_.Read(look));
  for (const Object& object : strange) {
    if (reads_.LookFor(object.uid, object.slot) != nullptr) missing_[object.uid].slot = object.slot;
  }
  sweep_after_ = page.next;
  if (sweep_after_.empty() && ++at == kinds_.end()) at = kinds_.begin();
  sweep_kind_ = at->first;
  return {};
}

// The object was read, or its end was seen: it is missing no more.
void Reconciler::NotMissing(const Uid& uid) {
  const auto found = missing_.find(uid);
  if (found == missing_.end()) return;
  const Slot& slot = found->second.slot;
  unresolved().Remove(slot);
  if (QuorumRead* read = reads_.Find(slot)) read->missing.erase(uid);
  missing_.erase(found);
}

// The store knows it no more.
void Reconciler::Gone(const Uid& uid, const Slot& slot) {
  if (KindHistory* kind = HistoryOf(GroupKindOf(slot), kinds_)) {
    kind->versions.erase(std::string(MetadataUid(uid)));
  }
  NotMissing(uid);
  if (SightObserver* observer = store_.ports().observer) observer->OnGone(uid, slot);
}

Result<void> Reconciler::CountSeenRows() {
  const Timestamp now = store_.now();
  // A count of the future is none: the clock was set back since.
  if (seen_counted_ && now - *seen_counted_ <= kCountAge && *seen_counted_ <= now) return {};
  TRUCE_RETURN_IF_ERROR(
      store_.Read([&](const AllFacts& facts) { seen_rows_ = facts.CountSeen(store_.cluster()); }));
  seen_counted_ = now;
  return {};
}

// A missing object is known to be gone: its seen rows end as far as the brake lets them.
Result<void> Reconciler::Release(const Uid& uid) {
  const auto found = missing_.find(uid);
  if (found == missing_.end()) return {};
  MissingObject& missing = found->second;
  Life life;
  life.frozen = !FrozenFor(GroupKindOf(missing.slot)).empty();
  if (NextStep(LifeEvidence::kNotThere, life) == LifeStep::kHoldBack) return {};
  TRUCE_RETURN_IF_ERROR(CountSeenRows());
  const BrakeQuestion question{.cluster = store_.cluster(),
                               .seen_rows = seen_rows_,
                               .first_absent = missing.first_absent,
                               .second_list = missing.lists > 1,
                               .commanded = missing.commanded};
  BrakeVerdict verdict = BrakeVerdict::kRelease;
  TRUCE_RETURN_IF_ERROR(store_.Write([&](Ledger& ledger) {
    verdict = BrakeVerdict::kRelease;
    for (const Row& row : ledger.RowsOfUid(uid)) {
      if (row.id.state != RowState::kSeen) continue;
      verdict = AskBrake(question, ledger);
      // The rows before it are gone and counted; the rest of the object waits for the next answer.
      if (verdict != BrakeVerdict::kRelease) return;
      Absent(row.id, ledger);
    }
    if (ledger.RowsOfUid(uid).empty()) ledger.DropObject(uid);
  }));
  missing.held_back = verdict;
  const Slot slot = missing.slot;
  if (verdict == BrakeVerdict::kRelease) {
    Gone(uid, slot);
    return {};
  }
  const std::string_view how = verdict == BrakeVerdict::kNeedsSecondList
                                   ? "a second list in ten minutes decides, or "
                                   : "they are released only by ";
  unresolved().Add(slot, ForPeople(slot) + " is gone, and so are many others: " + std::string(how) +
                             ReleaseCommand(GroupKindOf(slot)));
  return {};
}

// Kinds of which nothing is released.

void Reconciler::Freeze(const GroupKind& kind, std::string reason) {
  frozen_[kind].reason = std::move(reason);
  unresolved().SetKind(kind, FrozenFor(kind));
}

std::string Reconciler::FrozenFor(const GroupKind& kind) const {
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

Result<bool> Reconciler::EndUnread(const GroupKind& kind) {
  ObjectPage page;
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const AllFacts& facts) {
    // From the beginning each time: the objects of the page before are dropped by now.
    page = facts.ObjectsOfKind(AllOf(kind, store_.cluster()), {}, kObjectsPage);
  }));
  TRUCE_RETURN_IF_ERROR(
      store_.WriteEach(page.objects, kObservedAtOnce, [](const Object& object, Ledger& ledger) {
        CountAsReal(object.uid, ledger);
        for (const Row& row : ledger.RowsOfUid(object.uid)) {
          EndRow(row.id, End::kUnproved, "its mapping rule is gone", ledger);
        }
        ledger.DropObject(object.uid);
      }));
  for (const Object& object : page.objects) Gone(object.uid, object.slot);
  reads_.Drop(kind);
  return page.next.empty();
}

// The brake.

Result<std::size_t> Reconciler::ReleaseBrake(const std::optional<GroupKind>& kind,
                                             const std::string& actor, const std::string& reason) {
  const auto concerns = [&](const GroupKind& other) { return !kind || *kind == other; };
  std::size_t count = 0;
  for (const auto& [uid, missing] : missing_) {
    if (concerns(GroupKindOf(missing.slot))) ++count;
  }
  for (const auto& [name, frozen] : frozen_) {
    if (!concerns(name) || !frozen.by_empty_list) continue;
    TRUCE_ASSIGN_OR_RETURN(const auto unlisted, FindUnlisted(kinds_.at(name)));
    count += unlisted.size();
  }
  // Before it is done: nothing is let go by a word that no audit log has.
  TRUCE_RETURN_IF_ERROR(store_.Write([&](Ledger& ledger) {
    ledger.Audit({.action = AuditAction::kAdministered,
                  .cause = "brake released for " + Counted(count, "object") + ": " + reason,
                  .actor = actor});
  }));
  for (auto& [uid, missing] : missing_) {
    if (!concerns(GroupKindOf(missing.slot))) continue;
    missing.commanded = true;
    // Somebody waits for it now: asked at once, not when its turn comes.
    if (QuorumRead* read = reads_.LookFor(uid, missing.slot)) read->due = Moment{};
  }
  for (auto& [name, frozen] : frozen_) {
    if (concerns(name) && frozen.by_empty_list) frozen.believe_empty_list = true;
  }
  return count;
}

std::map<GroupKind, Timestamp> Reconciler::WaitForSecondList() const {
  std::map<GroupKind, Timestamp> waiting;
  for (const auto& [uid, missing] : missing_) {
    if (missing.held_back != BrakeVerdict::kNeedsSecondList) continue;
    const auto [at, added] = waiting.try_emplace(GroupKindOf(missing.slot), missing.first_absent);
    if (!added) at->second = std::max(at->second, missing.first_absent);
  }
  return waiting;
}

ReconcileStatus Reconciler::status() const {
  ReconcileStatus status;
  for (const auto& [uid, missing] : missing_) {
    const bool waits = missing.held_back == BrakeVerdict::kRelease;
    ++(waits ? status.nominated : status.held_back);
  }
  status.gets = reads_.size();
  status.observed_versions = applied_;
  status.skipped = skipped_;
  status.unreadable = unreadable_;
  status.breaches = store_.breaches();
  status.breach = store_.breach();
  return status;
}

}  // namespace truce
