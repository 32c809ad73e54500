// QuorumReads: which slots are read at the API server itself, for which reasons, when, and the
// answers until the watch has come as far. One read of a slot for all its reasons.
#ifndef TRUCE_WEBHOOK_WATCH_QUORUM_READS_H_
#define TRUCE_WEBHOOK_WATCH_QUORUM_READS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "registry/identity/values.h"
#include "registry/ownership/life.h"
#include "registry/ownership/terms.h"
#include "webhook/kube/backoff.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/watch/history.h"
#include "webhook/watch/reconcile_store.h"
#include "webhook/watch/reflector.h"
#include "webhook/wire/json_reader.h"

namespace truce {

// A wanted quorum read of one slot. It is a list, since that answers with the version of the
// cluster that was read, also when nothing is there.
struct GetWanted {
  ServedKind kind;
  Slot slot;

  ListQuery query() const;

  auto operator<=>(const GetWanted&) const = default;
};

// A quorum read and its reasons.
struct QuorumRead {
  struct Answer {
    std::shared_ptr<const ObservedVersion> object;  // null: nothing is there, or a ProviderConfig
    // Of the cluster that was read; of a ProviderConfig its own, nothing: there is none.
    std::optional<ClusterVersion> version;
    Moment at{};
  };

  QuorumRead(GetWanted wanted, BackoffOptions waits, std::uint64_t seed)
      : get(std::move(wanted)), backoff(waits, seed) {}

  GetWanted get;
  std::map<RowId, ReviewUid> rows;  // reserved rows, and the review that made them then
  std::set<Uid> missing;            // objects that a list did not hold
  bool of_config = false;           // the slot of a ProviderConfig, for pending deletions
  Moment due{};
  bool under_way = false;
  bool overtaken = false;  // an end or a list was applied while it was under way
  std::optional<Answer> answer;
  Backoff backoff;
};

// External synchronization.
class QuorumReads final {
 public:
  // After that the watch counts as having nothing more to show.
  static constexpr std::chrono::minutes kPassPatience{10};

  // All must outlive it.
  QuorumReads(const ReconcileStore& store, const KindHistories& kinds, JsonReader& reader)
      : store_(store), kinds_(kinds), reader_(reader) {}

  // The read of `slot`, made if there is none; null when its kind is not recorded: it cannot be
  // read.
  QuorumRead* Of(const Slot& slot);
  // Null: there is none.
  QuorumRead* Find(const Slot& slot);
  // Asks whether the object is gone; an earlier answer does not count. Null as Of.
  QuorumRead* LookFor(const Uid& uid, const Slot& slot);
  // The read of a ProviderConfig, made if there is none.
  QuorumRead& OfConfig(const GetWanted& config);
  // An end or a list was applied: an object that was read before, or is being read, may have ended
  // since, and the watch would not show that again.
  void Overtake(const Slot& slot);
  void Overtake(const GroupKind& kind);
  // Its reasons are settled, or will be asked for anew.
  void Drop(const Slot& slot) { reads_.erase(slot); }
  void Drop(const GroupKind& kind);

  // At most `count` that are due at `now`; each is to be answered by Got. In a gap that hides
  // something none of the kind is.
  std::vector<GetWanted> Gets(Moment now, std::size_t count);
  // When the next one is due; nothing while none waits.
  std::optional<Moment> GetDue() const;
  // Takes an answer. The read that has it now; null: it is asked again, or nobody asked.
  QuorumRead* Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer);
  // The answers of the kind that count at `now`, and the step that each leads to: kProve,
  // kProveOnly or kProveGone.
  std::vector<std::pair<Slot, LifeStep>> Answered(const GroupKind& kind, Moment now) const;
  // Kinds with an answer that waits to learn how far their watch has come.
  std::set<GroupKind> Waiting() const;

  std::size_t size() const { return reads_.size(); }

 private:
  bool MayGet(const Slot& slot, const QuorumRead& read) const;
  std::optional<QuorumRead::Answer> Read(Moment now, const QuorumRead& read, const ListPage& page);
  LifeStep StepOf(const QuorumRead& read, Moment now) const;

  const ReconcileStore& store_;
  const KindHistories& kinds_;
  JsonReader& reader_;
  std::map<Slot, QuorumRead> reads_;
  std::uint64_t seeds_ = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_QUORUM_READS_H_
