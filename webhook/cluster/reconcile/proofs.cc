// Proofs: quorum GETs, what they are asked for and what their answers settle (design section 4:
// Confirm; issue list "uid and key match", "any other answer: kept").
#include <algorithm>
#include <utility>

#include "registry/ownership/resolve.h"
#include "registry/ownership/sight.h"
#include "webhook/cluster/reconcile/reconciler.h"

namespace truce {
namespace {

constexpr std::size_t kReservedPage = 500;
// A denial against a reservation older than this asks for its proof at once; younger ones may still
// be on their way into the cluster.
constexpr std::chrono::seconds kProveAfter{60};
// Every so many passes all reservations are looked at: after the clock jumped back their times lie
// in the future.
constexpr std::uint64_t kFullPass = 12;
// A version behind what the watch has shown: asked again soon.
constexpr std::chrono::seconds kBehind{1};

// Older than `age`, or from a time that has not come: the clock jumped back.
bool IsDue(const Row& row, Timestamp now, std::chrono::milliseconds age) {
  return row.at + age <= now || row.at > now + age;
}

}  // namespace

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
    if (const auto found = asks_.find(row.slot); found != asks_.end() && found->second.under_way) {
      continue;
    }
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
    if (ask.under_way || ask.due > now) continue;
    const Kind* kind = Find({slot.group, slot.kind});
    // During a gap an answer would say nothing about what happened in it.
    if (kind == nullptr || (kind->gap && !kind->marked)) continue;
    ask.under_way = true;
    ask.overtaken = false;
    ask.get.kind = kind->followed.selection.kind;
    wanted.push_back(ask.get);
  }
  return wanted;
}

std::optional<Moment> Reconciler::GetDue() const {
  std::optional<Moment> due;
  if (!started_) return due;
  for (const auto& [slot, ask] : asks_) {
    if (ask.under_way) continue;
    const Kind* kind = Find({slot.group, slot.kind});
    if (kind == nullptr || (kind->gap && !kind->marked)) continue;
    if (!due || ask.due < *due) due = ask.due;
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
    if (slot.group == kind.group && slot.kind == kind.kind) ask.overtaken = ask.under_way;
  }
}

Result<void> Reconciler::Got(Moment now, const GetWanted& get,
                             const ApiResult<std::string>& answer) {
  const auto found = asks_.find(get.slot);
  const Kind* kind = Find({get.slot.group, get.slot.kind});
  if (found == asks_.end() || kind == nullptr) return {};
  Ask& ask = found->second;
  // What it saw alive may have ended since, and nobody would tell again.
  if (ask.overtaken) {
    ask.under_way = false;
    ask.due = now;
    return {};
  }
  const bool in_gap = kind->gap && !kind->marked;
  if (!answer.ok()) {
    const bool gone = answer.error().kind == ApiErrorKind::kNoSuchObject;
    if (!gone || in_gap) {
      AskAgain(now, ask);
      return {};
    }
    TRUCE_RETURN_IF_ERROR(SettleGone(*kind, ask));
    Answered(get.slot);
    return {};
  }
  const Result<Document> document = reader_.Read(answer.value());
  if (!document.ok()) {
    AskAgain(now, ask);
    return {};
  }
  Sighting sighting = ReadSighting(document.value().root(), kind->followed, rules_->identity);
  const ObjectFacts& object = sighting.facts;
  if (in_gap || object.uid.empty() || object.slot != get.slot) {
    AskAgain(now, ask);
    return {};
  }
  const auto known = kind->versions.find(object.uid.text);
  if (known != kind->versions.end() && known->second.number && object.version &&
      *object.version < *known->second.number) {
    ask.under_way = false;
    ask.due = now + kBehind;
    return {};
  }
  TRUCE_RETURN_IF_ERROR(SettleLive(*kind, ask, std::move(sighting)));
  Answered(get.slot);
  return {};
}

namespace {

// The row as it was when it was asked for; nothing when another review made it anew meanwhile.
bool IsUnchanged(const RowId& id, const ReviewUid& review, const Ledger& ledger) {
  const auto row = ledger.FindRow(id);
  return row && row->review == review;
}

}  // namespace

Result<void> Reconciler::SettleLive(const Kind& kind, const Ask& ask, Sighting sighting) {
  Item item{.sighting = std::make_shared<const Sighting>(std::move(sighting)),
            .out_of_sight = kind.gap};
  const std::map<RowId, ReviewUid> rows = ask.rows;
  const std::set<Uid> nominated = ask.nominated;
  TRUCE_RETURN_IF_ERROR(Write([item, rows, rules = rules_](Ledger& ledger) {
    ObjectFacts object = item.sighting->facts;
    ResolveReferences(*rules->catalogue, ledger.facts(), object);
    See(object, item.out_of_sight, ledger);
    for (const auto& [id, review] : rows) {
      if (!IsUnchanged(id, review, ledger)) continue;
      truce::Prove(id, {Proof::Answer::kLive, object}, ledger);
    }
  }));
  Committed(item);
  for (const Uid& uid : nominated) {
    // Another life stands in the slot: the nominated one is over.
    if (uid != item.sighting->facts.uid && MayRelease(kind)) TRUCE_RETURN_IF_ERROR(Release(uid));
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
