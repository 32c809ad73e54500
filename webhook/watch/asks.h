// Asks: quorum reads of slots: the wanted ones and what each is to settle, the time of each (next)
// try, and each result until the watch has come as far.
#ifndef TRUCE_WEBHOOK_WATCH_ASKS_H_
#define TRUCE_WEBHOOK_WATCH_ASKS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "registry/identity/values.h"
#include "registry/ownership/terms.h"
#include "webhook/kube/backoff.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/watch/history.h"
#include "webhook/watch/reconcile_store.h"
#include "webhook/watch/reflector.h"
#include "webhook/wire/json_reader.h"

namespace truce {

// A wanted quorum read of one slot, for one or several reasons. It is a list, since that answers
// with the version of the cluster that was read, also when nothing is there.
struct GetWanted {
  ServedKind kind;
  Slot slot;

  ListQuery query() const;

  auto operator<=>(const GetWanted&) const = default;
};

// External synchronization. One ask for a slot, for all its reasons.
class Asks final {
 public:
  // A quorum read and what it is to settle.
  struct Ask {
    GetWanted get;
    std::map<RowId, ReviewUid> rows;  // reserved rows, and the review that made them then
    std::set<Uid> nominated;
    Moment due{};
    bool under_way = false;
    bool overtaken = false;  // an end or a list was applied while it was under way
    // The answer, until the watch has passed it.
    struct Found {
      std::shared_ptr<const ObservedVersion> object;  // null: nothing is there
      std::optional<ClusterVersion> version;          // of the cluster that was read
      Moment at{};
    };
    std::optional<Found> found;
    Backoff backoff{{std::chrono::seconds{1}, std::chrono::seconds{60}}, 0};
  };

  // All must outlive it.
  Asks(const ReconcileStore& store, const KindHistories& kinds, JsonReader& reader)
      : store_(store), kinds_(kinds), reader_(reader) {}

  // The ask for `slot`, made if there is none; null when its kind is not recorded: there is no way
  // to ask.
  Ask* For(const Slot& slot);
  // Null: there is none.
  Ask* Find(const Slot& slot);
  // Asks whether the object is gone; an earlier answer does not count. Null as For.
  Ask* Nominate(const Uid& uid, const Slot& slot);
  // An end or a list was applied: an object that was read before, or is being read, may have ended
  // since, and the watch would not show that again. It is asked again, whatever it answers.
  void Overtake(const Slot& slot);
  void Overtake(const GroupKind& kind);
  // Its reasons are settled, or will be asked for anew.
  void Drop(const Slot& slot) { asks_.erase(slot); }
  void Drop(const GroupKind& kind);

  // Adds to `wanted`, up to `count`, what is due at `now`; each is to be answered by Got. During a
  // gap that is not marked nothing of the kind is.
  void Gets(Moment now, std::size_t count, std::vector<GetWanted>& wanted);
  // When the next one is due; nothing while none waits.
  std::optional<Moment> GetDue() const;
  // Takes an answer. True: it found something out; anything else is asked again with back-off.
  bool Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer);

  // Slots of the kind whose answer counts now: the watch has passed it, it had kPassPatience to do
  // so, or nothing has to be waited for: during a gap everything of the kind counts as out of
  // sight, and an absent object that only a list missed is left orphaned whatever happened in
  // between.
  std::vector<Slot> Told(const GroupKind& kind, Moment now) const;
  // After that the watch counts as having nothing more to show.
  static constexpr std::chrono::minutes kPassPatience{10};
  // Kinds with an answer that waits to learn how far their watch has come.
  std::set<GroupKind> Waiting() const;

  std::size_t size() const { return asks_.size(); }

 private:
  bool MayGet(const Slot& slot, const Ask& ask) const;

  const ReconcileStore& store_;
  const KindHistories& kinds_;
  JsonReader& reader_;
  std::map<Slot, Ask> asks_;
  std::uint64_t seeds_ = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_ASKS_H_
