#include "webhook/watch/proofs.h"

#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "registry/ownership/ledger.h"
#include "registry/ownership/resolve.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/sight.h"

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

// Proves the rows that are as they were when they were asked for: a row that another review made
// anew meanwhile is not ended by an answer older than it.
void ProveUnchanged(const std::map<RowId, ReviewUid>& rows, const Proof& proof, Ledger& ledger) {
  for (const auto& [id, review] : rows) {
    const auto row = ledger.FindRow(id);
    if (row && row->review == review) Prove(id, proof, ledger);
  }
}

}  // namespace

Result<void> Proofs::AskForRows(const std::function<std::vector<Row>(const AllFacts&)>& find,
                                std::chrono::milliseconds older_than) {
  std::vector<Row> rows;
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const AllFacts& facts) { rows = find(facts); }));
  const Timestamp now = store_.now();
  for (const Row& row : rows) {
    if (row.id.state != RowState::kReserved || !IsDue(row, now, older_than)) continue;
    // An answer under way belongs to an older question.
    const Asks::Ask* asked = asks_.Find(row.slot);
    if (asked != nullptr && (asked->under_way || asked->found)) continue;
    if (Asks::Ask* ask = asks_.For(row.slot)) ask->rows[row.id] = row.review;
  }
  return {};
}

Result<void> Proofs::Collect() {
  const bool full = passes_++ % kFullPass == 0;
  const std::chrono::seconds ttl = store_.rules().reservation_ttl;
  const Timestamp before =
      full ? Timestamp::max() : store_.now() - ttl + std::chrono::milliseconds{1};
  const auto find = [before](const PassFacts& facts) {
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
  return AskForRows(find, ttl);
}

Result<void> Proofs::Prove(std::span<const RowId> rows) {
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

Result<void> Proofs::Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer) {
  if (!asks_.Got(now, get, answer)) return {};
  return SettleTold(GroupKindOf(get.slot), now);
}

Result<void> Proofs::Passed(Moment now, const GroupKind& kind, const std::string& version) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return {};
  history->passed = VersionNumber(version);
  return SettleTold(kind, now);
}

Result<void> Proofs::SettleOverdue(Moment now) {
  for (const GroupKind& kind : asks_.Waiting()) TRUCE_RETURN_IF_ERROR(SettleTold(kind, now));
  return {};
}

Result<void> Proofs::SettleTold(const GroupKind& kind, Moment now) {
  for (const Slot& slot : asks_.Told(kind, now)) {
    // By value: what is settled drops nominations of the ask.
    const Asks::Ask ask = *asks_.Find(slot);
    TRUCE_RETURN_IF_ERROR(ask.found->object ? SettleLive(kinds_.at(kind), ask) : SettleGone(ask));
    // Except what the brake holds back: that is asked for again by the next list or by command.
    asks_.Drop(slot);
  }
  return {};
}

Result<void> Proofs::SettleLive(const KindHistory& kind, const Asks::Ask& ask) {
  const Sight sight{.observed = ask.found->object, .out_of_sight = kind.gap};
  const ObjectFacts& read = sight.observed->facts;
  const KindHistory::Version* known = kind.Find(read.uid);
  const bool older =
      known != nullptr && known->number && read.version && *read.version < *known->number;
  TRUCE_RETURN_IF_ERROR(store_.Write([&](Ledger& ledger) {
    ObjectFacts object = sight.observed->facts;
    ResolveReferences(*store_.rules().catalogue, ledger.facts(), object);
    if (!older) truce::See(object, sight.out_of_sight, ledger);
    ProveUnchanged(ask.rows, {Proof::Answer::kLive, object}, ledger);
  }));
  if (!older) sights_.Applied(sight);
  for (const Uid& uid : ask.nominated) {
    // Another life stands in the slot: the nominated one is over.
    if (uid != read.uid) TRUCE_RETURN_IF_ERROR(absence_.Release(uid));
  }
  return {};
}

Result<void> Proofs::SettleGone(const Asks::Ask& ask) {
  if (!ask.rows.empty()) {
    TRUCE_RETURN_IF_ERROR(store_.Write([&](Ledger& ledger) {
      ProveUnchanged(ask.rows, {Proof::Answer::kGone, std::nullopt}, ledger);
    }));
  }
  for (const Uid& uid : ask.nominated) TRUCE_RETURN_IF_ERROR(absence_.Release(uid));
  return {};
}

}  // namespace truce
