// Proofs: quorum GETs, what they are asked for and what their answers settle (design section 4:
// Confirm; issue list "uid and key match", "any other answer: kept").
#include <algorithm>
#include <utility>

#include "registry/ownership/resolve.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/sight.h"
#include "registry/store/store.h"
#include "webhook/watch/reconciler.h"

namespace truce {
namespace {

constexpr std::size_t kReservedPage = 500;
// A denial against a reservation older than this asks for its proof at once; younger ones may still
// be on their way into the cluster.
constexpr std::chrono::seconds kProveAfter{60};
// Every so many passes all reservations are looked at: after the clock jumped back their times lie
// in the future.
constexpr std::uint64_t kFullPass = 12;

// Older than `age`, or from a time that has not come: the clock jumped back.
bool IsDue(const Row& row, Timestamp now, std::chrono::milliseconds age) {
  return row.at + age <= now || row.at > now + age;
}

}  // namespace

ListQuery GetWanted::query() const {
  ListQuery query;
  query.selection.kind = kind;
  query.selection.ns = slot.ns;
  query.selection.field_selector = "metadata.name=" + slot.name;
  query.limit = 0;
  return query;
}

// The ask of `slot`, made if there is none; null when its kind is not followed: there is no way to
// ask.
Reconciler::Ask* Reconciler::AskFor(const Slot& slot) {
  const Kind* kind = Find({slot.group, slot.kind});
  if (kind == nullptr || slot.cluster != rules_->identity.cluster) return nullptr;
  const auto [at, added] = asks_.try_emplace(slot);
  if (added) {
    at->second.get = {kind->followed.selection.kind, slot};
    at->second.backoff = Backoff({std::chrono::seconds{1}, std::chrono::seconds{60}}, ++ask_seeds_);
  }
  return &at->second;
}

Result<void> Reconciler::AskForRows(const std::function<std::vector<Row>(const Facts&)>& find,
                                    std::chrono::milliseconds older_than) {
  std::vector<Row> rows;
  const auto look = [&](const Facts& facts) { rows = find(facts); };
  TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, ports_.deadline()));
  const Timestamp now = ports_.clock.Now();
  for (const Row& row : rows) {
    if (row.id.state != RowState::kReserved || !IsDue(row, now, older_than)) continue;
    // An answer under way belongs to an older question.
    const auto asked = asks_.find(row.slot);
    if (asked != asks_.end() && (asked->second.under_way || asked->second.found)) continue;
    if (Ask* ask = AskFor(row.slot)) ask->rows[row.id] = row.review;
  }
  return {};
}

Result<void> Reconciler::CollectProofs() {
  const bool full = proof_passes_++ % kFullPass == 0;
  const Timestamp before =
      full ? Timestamp::max()
           : ports_.clock.Now() - rules_->reservation_ttl + std::chrono::milliseconds{1};
  const auto find = [before](const Facts& facts) {
    std::vector<Row> rows;
    RowId after;
    for (;;) {
      std::vector<Row> page = facts.ReservedBefore(before, after, kReservedPage);
      const bool last = page.size() < kReservedPage;
      if (!last) after = page.back().id;
      std::move(page.begin(), page.end(), std::back_inserter(rows));
      if (last) return rows;
    }
  };
  return AskForRows(find, rules_->reservation_ttl);
}

Result<void> Reconciler::Prove(std::span<const RowId> rows) {
  const auto find = [rows](const Facts& facts) {
    std::vector<Row> found;
    for (const RowId& id : rows) {
      for (Row& row : facts.RowsOfKey(id.key)) {
        if (row.id == id) found.push_back(std::move(row));
      }
    }
    return found;
  };
  return AskForRows(find, kProveAfter);
}

void Reconciler::LookAt(const Slot& slot) { (void)AskFor(slot); }

std::vector<GetWanted> Reconciler::Gets(Moment now, std::size_t count) {
  std::vector<GetWanted> wanted;
  if (!started_) return wanted;
  for (auto& [slot, ask] : asks_) {
    if (wanted.size() >= count) break;
    if (ask.under_way || ask.found || ask.due > now) continue;
    const Kind* kind = Find({slot.group, slot.kind});
    // During a gap an answer would say nothing about what happened in it.
    if (kind == nullptr || (kind->gap && !kind->marked)) continue;
    ask.under_way = true;
    ask.overtaken = false;
    ask.get.kind = kind->followed.selection.kind;
    wanted.push_back(ask.get);
  }
  GetsOfEnds(now, count, wanted);
  return wanted;
}

std::optional<Moment> Reconciler::GetDue() const {
  std::optional<Moment> due;
  if (!started_) return due;
  for (const auto& [slot, ask] : asks_) {
    if (ask.under_way || ask.found) continue;
    const Kind* kind = Find({slot.group, slot.kind});
    if (kind == nullptr || (kind->gap && !kind->marked)) continue;
    if (!due || ask.due < *due) due = ask.due;
  }
  for (const auto& [slot, ask] : end_asks_) {
    const bool open = std::any_of(ask.ends.begin(), ask.ends.end(),
                                  [](const HeldEnd& end) { return !end.asked; });
    if (open && !ask.under_way && (!due || ask.due < *due)) due = ask.due;
  }
  return due;
}

void Reconciler::AskAgain(Moment now, Ask& ask) {
  ask.under_way = false;
  ask.due = now + ask.backoff.Next();
}

// What the ask was for is settled, except what the brake holds back: that is asked for again by the
// next list or by command.
void Reconciler::Answered(const Slot& slot) { asks_.erase(slot); }

void Reconciler::OvertakeAsks(const GroupKind& kind) {
  for (auto& [slot, ask] : asks_) {
    if (slot.group == kind.group && slot.kind == kind.kind) Overtake(ask);
  }
}

// What was read may have ended since, and nobody would tell again.
void Reconciler::Overtake(Ask& ask) {
  ask.overtaken = ask.under_way;
  ask.found.reset();
}

Result<void> Reconciler::Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer) {
  if (GotForEnds(now, get, answer)) return SettleEnds(now);
  const auto asked = asks_.find(get.slot);
  const Kind* kind = Find({get.slot.group, get.slot.kind});
  if (asked == asks_.end() || kind == nullptr) return {};
  Ask& ask = asked->second;
  if (ask.overtaken) {
    ask.under_way = false;
    ask.due = now;
    return {};
  }
  const bool in_gap = kind->gap && !kind->marked;
  if (!answer.ok() || in_gap) {
    AskAgain(now, ask);
    return {};
  }
  Ask::Found found{nullptr, VersionNumber(answer.value().resource_version), now};
  if (!answer.value().objects.empty()) {
    const Result<Document> document = reader_.Read(answer.value().objects.front());
    if (!document.ok()) {
      AskAgain(now, ask);
      return {};
    }
    found.object = std::make_shared<const Sighting>(
        ReadSighting(document.value().root(), kind->followed, rules_->identity));
    if (found.object->facts.uid.empty() || found.object->facts.slot != get.slot) {
      AskAgain(now, ask);
      return {};
    }
  }
  ask.under_way = false;
  ask.found = std::move(found);
  return SettleTold({get.slot.group, get.slot.kind}, now);
}

// Settles what the watch has passed, or what need not wait: during a gap everything of the kind
// counts as out of sight, and an absent object that only a list missed is left orphaned whatever
// happened in between.
Result<void> Reconciler::SettleTold(const GroupKind& name, Moment now) {
  const Kind* kind = Find(name);
  if (kind == nullptr) return {};
  std::vector<Slot> told;
  for (const auto& [slot, ask] : asks_) {
    if (slot.group != name.group || slot.kind != name.kind || !ask.found) continue;
    const bool waits = ask.found->object != nullptr || !ask.rows.empty();
    const bool passed = kind->passed && ask.found->version && *kind->passed >= *ask.found->version;
    const bool late = now - ask.found->at > kPassPatience;
    if (!waits || kind->gap || passed || late) told.push_back(slot);
  }
  for (const Slot& slot : told) TRUCE_RETURN_IF_ERROR(Settle(*kind, slot));
  return {};
}

Result<void> Reconciler::Settle(const Kind& kind, const Slot& slot) {
  const Ask& ask = asks_.at(slot);
  if (ask.found->object) {
    TRUCE_RETURN_IF_ERROR(SettleLive(kind, ask));
  } else {
    TRUCE_RETURN_IF_ERROR(SettleGone(kind, ask));
  }
  Answered(slot);
  return {};
}

Result<void> Reconciler::Passed(Moment now, const GroupKind& kind, const std::string& version) {
  Kind* found = Find(kind);
  if (found == nullptr) return {};
  found->passed = VersionNumber(version);
  return asks_.empty() ? Result<void>{} : SettleTold(kind, now);
}

std::set<GroupKind> Reconciler::Waiting() const {
  std::set<GroupKind> kinds;
  for (const auto& [slot, ask] : asks_) {
    if (ask.found) kinds.insert({slot.group, slot.kind});
  }
  for (const auto& [slot, ask] : end_asks_) kinds.insert({slot.group, slot.kind});
  return kinds;
}

Result<void> Reconciler::SettleOverdue(Moment now) {
  for (const GroupKind& kind : Waiting()) TRUCE_RETURN_IF_ERROR(SettleTold(kind, now));
  return SettleEnds(now);
}

namespace {

// The row as it was when it was asked for; nothing when another review made it anew meanwhile.
bool IsUnchanged(const RowId& id, const ReviewUid& review, const Ledger& ledger) {
  const auto row = ledger.FindRow(id);
  return row && row->review == review;
}

}  // namespace

Result<void> Reconciler::SettleLive(const Kind& kind, const Ask& ask) {
  const Item item{.sighting = ask.found->object, .out_of_sight = kind.gap};
  const ObjectFacts& read = item.sighting->facts;
  const auto known = kind.versions.find(read.uid.text);
  const bool older = known != kind.versions.end() && known->second.number && read.version &&
                     *read.version < *known->second.number;
  const std::map<RowId, ReviewUid> rows = ask.rows;
  const std::set<Uid> nominated = ask.nominated;
  TRUCE_RETURN_IF_ERROR(Write([item, rows, older, rules = rules_](Ledger& ledger) {
    ObjectFacts object = item.sighting->facts;
    ResolveReferences(*rules->catalogue, ledger.facts(), object);
    if (!older) See(object, item.out_of_sight, ledger);
    for (const auto& [id, review] : rows) {
      if (!IsUnchanged(id, review, ledger)) continue;
      truce::Prove(id, {Proof::Answer::kLive, object}, ledger);
    }
  }));
  if (!older) Committed(item);
  for (const Uid& uid : nominated) {
    // Another life stands in the slot: the nominated one is over.
    if (uid != read.uid && MayRelease(kind)) TRUCE_RETURN_IF_ERROR(Release(uid));
  }
  return {};
}

Result<void> Reconciler::SettleGone(const Kind& kind, const Ask& ask) {
  const std::map<RowId, ReviewUid> rows = ask.rows;
  const std::set<Uid> nominated = ask.nominated;
  if (!rows.empty()) {
    TRUCE_RETURN_IF_ERROR(Write([rows](Ledger& ledger) {
      for (const auto& [id, review] : rows) {
        if (!IsUnchanged(id, review, ledger)) continue;
        truce::Prove(id, {Proof::Answer::kGone, std::nullopt}, ledger);
      }
    }));
  }
  if (!MayRelease(kind)) return {};
  for (const Uid& uid : nominated) TRUCE_RETURN_IF_ERROR(Release(uid));
  return {};
}

}  // namespace truce
