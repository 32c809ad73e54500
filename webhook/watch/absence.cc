// Absence: what a complete list did not hold (design section 4). It only nominates; a quorum GET
// releases, under the brake.
#include <algorithm>
#include <utility>

#include "registry/base/text.h"
#include "registry/identity/encoding.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/sight.h"
#include "registry/store/store.h"
#include "webhook/watch/reconciler.h"

namespace truce {
namespace {

constexpr std::size_t kObjectsPage = 500;
constexpr std::size_t kGoneKeysPage = 1000;
// The brake asks for the number of seen rows when an hour begins; older counts are taken anew.
constexpr std::chrono::minutes kCountAge{1};

std::string ReleaseCommand(const GroupKind& kind) {
  return "`truce brake release --kind " + KindForPeople(kind.kind, kind.group) + "`";
}

}  // namespace

void Reconciler::Freeze(const GroupKind& kind, std::string reason) {
  Kind* found = Find(kind);
  if (found == nullptr) return;
  found->frozen = std::move(reason);
  if (ports_.doubts != nullptr) ports_.doubts->DoubtKind(kind, FrozenFor(kind));
}

std::string Reconciler::FrozenFor(const GroupKind& kind) const {
  const Kind* found = Find(kind);
  if (found == nullptr) return {};
  if (!found->frozen.empty()) {
    return "objects of " + KindForPeople(kind.kind, kind.group) + " cannot be seen (" +
           found->frozen + "): nothing of it is released until they can";
  }
  if (found->terminating) {
    return "the definition of " + KindForPeople(kind.kind, kind.group) +
           " is being deleted: nothing of it is released by that";
  }
  if (found->empty_frozen) {
    return "the cluster lists no " + KindForPeople(kind.kind, kind.group) +
           " any more although there were some; if they are really gone: " + ReleaseCommand(kind);
  }
  return {};
}

bool Reconciler::MayRelease(const Kind& kind) const {
  return kind.frozen.empty() && !kind.terminating && !kind.empty_frozen;
}

Result<void> Reconciler::MarkUids(std::span<const Uid> uids) {
  for (std::size_t at = 0; at < uids.size(); at += kSightingsAtOnce) {
    const auto part = uids.subspan(at, std::min(kSightingsAtOnce, uids.size() - at));
    const auto chunk = std::make_shared<const std::vector<Uid>>(part.begin(), part.end());
    TRUCE_RETURN_IF_ERROR(Write([chunk](Ledger& ledger) {
      for (const Uid& uid : *chunk) OutOfSight(uid, ledger);
    }));
  }
  return {};
}

namespace {

// Calls `visit` for every stored object of the kind.
template <typename Visit>
void ForEachObject(const Facts& facts, const std::string& cluster, const GroupKind& kind,
                   const Visit& visit) {
  const Slot slot{cluster, kind.group, kind.kind, {}, {}};
  ObjectPage page;
  do {
    page = facts.ObjectsOfKind(slot, page.next, kObjectsPage);
    for (Object& object : page.objects) visit(std::move(object));
  } while (!page.next.empty());
}

}  // namespace

// A managed resource of the kind may have come and gone unseen: that the last one witnessed the end
// of a resource, which claims still declare, says nothing any more (E1).
Result<void> Reconciler::VoidGone(const Kind& kind) {
  const GroupKind name = kind.followed.group_kind();
  const KindEntry* entry = rules_->catalogue->FindKind(name.group, name.kind);
  if (kind.followed.role != Role::kManaged || entry == nullptr) return {};
  // Types may share a space of names: a key does not tell of which one it is.
  std::string prefix;
  AppendEncoded(prefix, entry->type->space);
  prefix += "|";
  std::vector<KeyText> gone;
  const auto look = [&](const Facts& facts) {
    gone.clear();
    KeyText after{prefix};
    for (bool more = true; more;) {
      const std::vector<KeyText> page = facts.KeysAfter(after, kGoneKeysPage);
      more = page.size() == kGoneKeysPage;
      for (const KeyText& key : page) {
        if (!key.text.starts_with(prefix)) return;
        const auto owner = facts.OwnerOf(key);
        if (owner && owner->managed_once && !owner->real) gone.push_back(key);
      }
      if (more) after = page.back();
    }
  };
  TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, ports_.deadline()));
  for (std::size_t at = 0; at < gone.size(); at += kSightingsAtOnce) {
    const auto first = gone.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last =
        gone.begin() + static_cast<std::ptrdiff_t>(std::min(at + kSightingsAtOnce, gone.size()));
    const auto chunk = std::make_shared<const std::vector<KeyText>>(first, last);
    TRUCE_RETURN_IF_ERROR(Write([chunk](Ledger& ledger) {
      for (const KeyText& key : *chunk) {
        auto owner = ledger.OwnerOf(key);
        if (!owner || owner->real) continue;
        owner->real = true;
        ledger.PutOwner(*std::move(owner));
      }
    }));
  }
  return {};
}

Result<void> Reconciler::MarkGap(Kind& kind) {
  if (!kind.gap || kind.marked) return {};
  std::vector<Uid> uids;
  const auto look = [&](const Facts& facts) {
    uids.clear();
    ForEachObject(facts, rules_->identity.cluster, kind.followed.group_kind(),
                  [&](Object object) { uids.push_back(std::move(object.uid)); });
  };
  TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, ports_.deadline()));
  TRUCE_RETURN_IF_ERROR(MarkUids(uids));
  TRUCE_RETURN_IF_ERROR(VoidGone(kind));
  kind.marked = true;
  return {};
}

struct Reconciler::Missing {
  Object object;
  bool old_rows = false;  // rows made before the list began: they count as out of sight
  bool nominated = false;
  bool seen_rows = false;
};

Result<std::vector<Reconciler::Missing>> Reconciler::FindMissing(const Kind& kind) {
  std::vector<Missing> missing;
  const auto look = [&](const Facts& facts) {
    missing.clear();
    ForEachObject(facts, rules_->identity.cluster, kind.followed.group_kind(), [&](Object object) {
      const auto known = kind.versions.find(object.uid.text);
      if (known != kind.versions.end() && known->second.list == kind.list) return;
      Missing found;
      const std::vector<Row> rows = facts.RowsOfUid(object.uid);
      for (const Row& row : rows) {
        found.old_rows = found.old_rows || row.at < kind.list_began;
        // Also a row that seems younger than the list: after a clock that jumped back it would stay
        // for ever. The quorum GET decides, as for all.
        found.nominated = found.nominated || row.id.state == RowState::kSeen;
        found.seen_rows = found.seen_rows || row.id.state == RowState::kSeen;
      }
      found.nominated = found.nominated || (rows.empty() && object.at < kind.list_began);
      found.object = std::move(object);
      missing.push_back(std::move(found));
    });
  };
  TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, ports_.deadline()));
  return missing;
}

Result<void> Reconciler::Nominate(Kind& kind) {
  TRUCE_ASSIGN_OR_RETURN(const std::vector<Missing> missing, FindMissing(kind));
  // A reservation may have come true and ended again unseen.
  std::vector<Uid> unseen;
  bool any_seen = false;
  for (const Missing& one : missing) {
    if (one.old_rows) unseen.push_back(one.object.uid);
    any_seen = any_seen || one.seen_rows;
  }
  TRUCE_RETURN_IF_ERROR(MarkUids(unseen));
  TRUCE_RETURN_IF_ERROR(VoidGone(kind));
  OvertakeAsks(kind.followed.group_kind());
  std::erase_if(kind.versions, [&](const auto& entry) { return entry.second.list != kind.list; });
  const bool empty = kind.versions.empty();
  const bool commanded = std::exchange(kind.empty_commanded, false);
  kind.empty_frozen = empty && any_seen && !commanded;
  if (ports_.doubts != nullptr) {
    ports_.doubts->DoubtKind(kind.followed.group_kind(), FrozenFor(kind.followed.group_kind()));
  }
  if (!kind.empty_frozen) {
    for (const Missing& one : missing) {
      if (one.nominated) AddNomination(kind, one.object, commanded);
    }
  }
  kind.collected.clear();
  kind.collected.shrink_to_fit();
  kind.complete = false;
  kind.gap = false;
  kind.marked = false;
  kind.apply_known = false;
  return {};
}

// What was read before says nothing of it.
void Reconciler::Nominated(const Uid& uid, Ask& ask) {
  ask.nominated.insert(uid);
  ask.found.reset();
}

void Reconciler::AddNomination(const Kind& kind, const Object& object, bool commanded) {
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
  if (added && ports_.doubts != nullptr) {
    ports_.doubts->Doubt(
        object.slot, ForPeople(object.slot) + " was not in the last list and is being looked for");
  }
  if (Ask* ask = AskFor(object.slot)) Nominated(object.uid, *ask);
}

// Stored for a while, without declarations, and never shown by the watch. Times in the future: the
// clock jumped back.
bool Reconciler::IsStrange(const Kind& kind, const Object& object, const Facts& facts) const {
  if (kind.versions.contains(object.uid.text) || nominations_.contains(object.uid)) return false;
  const Timestamp now = ports_.clock.Now();
  const bool due =
      object.at + rules_->reservation_ttl <= now || object.at > now + rules_->reservation_ttl;
  return due && facts.RowsOfUid(object.uid).empty();
}

Result<void> Reconciler::Sweep() {
  if (!started_ || kinds_.empty()) return {};
  auto at = kinds_.find(sweep_kind_);
  if (at == kinds_.end()) {
    at = kinds_.begin();
    sweep_after_.clear();
  }
  const Slot slot{rules_->identity.cluster, at->first.group, at->first.kind, {}, {}};
  ObjectPage page;
  std::vector<Object> strange;
  const auto look = [&, &kind = at->second](const Facts& facts) {
    strange.clear();
    page = facts.ObjectsOfKind(slot, sweep_after_, kObjectsPage);
    for (const Object& object : page.objects) {
      if (IsStrange(kind, object, facts)) strange.push_back(object);
    }
  };
  const bool lost = at->second.gap || !at->second.frozen.empty();
  if (!lost) TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, ports_.deadline()));
  for (const Object& object : strange) {
    Ask* ask = AskFor(object.slot);
    if (ask == nullptr) continue;
    nominations_[object.uid] = {.uid = object.uid, .slot = object.slot};
    Nominated(object.uid, *ask);
  }
  sweep_after_ = page.next;
  if (sweep_after_.empty() && ++at == kinds_.end()) at = kinds_.begin();
  sweep_kind_ = at->first;
  return {};
}

void Reconciler::SettleNomination(const Uid& uid) {
  if (nominations_.empty()) return;
  const auto found = nominations_.find(uid);
  if (found == nominations_.end()) return;
  if (ports_.doubts != nullptr) ports_.doubts->Settle(found->second.slot);
  if (const auto ask = asks_.find(found->second.slot); ask != asks_.end()) {
    ask->second.nominated.erase(uid);
  }
  nominations_.erase(found);
}

void Reconciler::DoubtHeldBack(const Nomination& nomination) {
  if (ports_.doubts == nullptr) return;
  const GroupKind kind{nomination.slot.group, nomination.slot.kind};
  std::string text = ForPeople(nomination.slot) + " is gone, and so are many others: ";
  text += nomination.held_back == BrakeVerdict::kNeedsSecondList
              ? "a second list in ten minutes decides, or "
              : "they are released only by ";
  ports_.doubts->Doubt(nomination.slot, text + ReleaseCommand(kind));
}

// The object is known to be gone: its seen rows end as far as the brake lets them.
Result<void> Reconciler::Release(const Uid& uid) {
  const auto found = nominations_.find(uid);
  if (found == nominations_.end()) return {};
  Nomination& nomination = found->second;
  const Timestamp now = ports_.clock.Now();
  if (!seen_counted_ || now - *seen_counted_ > kCountAge || *seen_counted_ > now) {
    const auto look = [&](const Facts& facts) {
      seen_rows_ = facts.CountSeen(rules_->identity.cluster);
    };
    TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, ports_.deadline()));
    seen_counted_ = now;
  }
  const auto verdict = std::make_shared<BrakeVerdict>(BrakeVerdict::kRelease);
  const BrakeQuestion question{.cluster = rules_->identity.cluster,
                               .seen_rows = seen_rows_,
                               .first_absent = nomination.first_absent,
                               .second_list = nomination.lists > 1,
                               .commanded = nomination.commanded};
  TRUCE_RETURN_IF_ERROR(Write([uid, question, verdict](Ledger& ledger) {
    *verdict = BrakeVerdict::kRelease;
    for (const Row& row : ledger.RowsOfUid(uid)) {
      if (row.id.state != RowState::kSeen) continue;
      *verdict = AskBrake(question, ledger);
      if (*verdict != BrakeVerdict::kRelease) return;
      Absent(row.id, ledger);
    }
    if (ledger.RowsOfUid(uid).empty()) ledger.DropObject(uid);
  }));
  nomination.held_back = *verdict;
  if (*verdict != BrakeVerdict::kRelease) {
    DoubtHeldBack(nomination);
    return {};
  }
  const Slot slot = nomination.slot;
  if (Kind* kind = Find({slot.group, slot.kind})) kind->versions.erase(uid.text);
  SettleNomination(uid);
  if (ports_.observer != nullptr) ports_.observer->OnGone(uid, slot);
  return {};
}

Result<bool> Reconciler::EndUnread(const GroupKind& kind) {
  ObjectPage page;
  const Slot slot{rules_->identity.cluster, kind.group, kind.kind, {}, {}};
  const auto look = [&](const Facts& facts) { page = facts.ObjectsOfKind(slot, {}, kObjectsPage); };
  TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, ports_.deadline()));
  for (std::size_t at = 0; at < page.objects.size(); at += kSightingsAtOnce) {
    const auto chunk = std::make_shared<std::vector<Uid>>();
    for (std::size_t i = at; i < std::min(at + kSightingsAtOnce, page.objects.size()); ++i) {
      chunk->push_back(page.objects[i].uid);
    }
    TRUCE_RETURN_IF_ERROR(Write([chunk](Ledger& ledger) {
      for (const Uid& uid : *chunk) {
        OutOfSight(uid, ledger);
        for (const Row& row : ledger.RowsOfUid(uid)) {
          EndRow(row.id, End::kUnproved, "its mapping rule is gone", ledger);
        }
        ledger.DropObject(uid);
      }
    }));
  }
  Kind* const known = Find(kind);
  for (const Object& object : page.objects) {
    if (known != nullptr) known->versions.erase(object.uid.text);
    SettleNomination(object.uid);
    if (ports_.observer != nullptr) ports_.observer->OnGone(object.uid, object.slot);
  }
  std::erase_if(asks_, [&](const auto& ask) {
    return ask.first.group == kind.group && ask.first.kind == kind.kind;
  });
  return page.next.empty();
}

Result<std::size_t> Reconciler::ReleaseBrake(const std::optional<GroupKind>& kind,
                                             const std::string& actor, const std::string& reason) {
  const auto concerns = [&](const GroupKind& other) { return !kind || *kind == other; };
  std::size_t count = 0;
  for (const auto& [uid, nomination] : nominations_) {
    if (concerns({nomination.slot.group, nomination.slot.kind})) ++count;
  }
  for (auto& [name, one] : kinds_) {
    if (!concerns(name) || !one.empty_frozen) continue;
    TRUCE_ASSIGN_OR_RETURN(const std::vector<Missing> missing, FindMissing(one));
    count += missing.size();
  }
  TRUCE_RETURN_IF_ERROR(Write([actor, reason, count](Ledger& ledger) {
    ledger.Audit({.action = AuditAction::kAdministered,
                  .cause = "brake released for " + std::to_string(count) + " objects: " + reason,
                  .actor = actor});
  }));
  for (auto& [uid, nomination] : nominations_) {
    if (!concerns({nomination.slot.group, nomination.slot.kind})) continue;
    nomination.commanded = true;
    if (Ask* ask = AskFor(nomination.slot)) {
      Nominated(uid, *ask);
      ask->due = Moment{};
    }
  }
  for (auto& [name, one] : kinds_) {
    if (concerns(name) && one.empty_frozen) one.empty_commanded = true;
  }
  return count;
}

std::vector<Nomination> Reconciler::Nominations() const {
  std::vector<Nomination> all;
  all.reserve(nominations_.size());
  for (const auto& [uid, nomination] : nominations_) all.push_back(nomination);
  return all;
}

std::map<GroupKind, Timestamp> Reconciler::WaitForSecondList() const {
  std::map<GroupKind, Timestamp> waiting;
  for (const auto& [uid, nomination] : nominations_) {
    if (nomination.held_back != BrakeVerdict::kNeedsSecondList) continue;
    const GroupKind kind{nomination.slot.group, nomination.slot.kind};
    const auto [at, added] = waiting.try_emplace(kind, nomination.first_absent);
    if (!added) at->second = std::max(at->second, nomination.first_absent);
  }
  return waiting;
}

}  // namespace truce
