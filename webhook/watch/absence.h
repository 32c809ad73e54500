// Absence: objects that are gone without anybody having seen them end (I11). A complete
// list nominates the objects that it does not hold; a quorum read that finds nothing releases
// them, under the brake. Also marks objects as out of sight that changed while nobody watched.
#ifndef TRUCE_WEBHOOK_WATCH_ABSENCE_H_
#define TRUCE_WEBHOOK_WATCH_ABSENCE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/identity/values.h"
#include "registry/ownership/brake.h"
#include "webhook/watch/asks.h"
#include "webhook/watch/history.h"
#include "webhook/watch/reconcile_store.h"
#include "webhook/watch/replays.h"

namespace truce {

struct Object;

// An object that a complete list did not hold.
struct Nomination {
  Uid uid;
  Slot slot;
  Timestamp first_absent{};  // when the list that first missed it began
  std::uint64_t lists = 1;   // complete lists that missed it
  // What the brake answered last; kRelease: not asked yet.
  BrakeVerdict held_back = BrakeVerdict::kRelease;
  bool commanded = false;  // an operator released the brake for it
};

// External synchronization. Errors are the store's; to be repeated with the same arguments.
class Absence final {
 public:
  // All must outlive it.
  Absence(ReconcileStore& store, KindHistories& kinds, Asks& asks)
      : store_(store), kinds_(kinds), asks_(asks) {}

  // Why nothing of the kind may be released by absence (401, 403, not served); empty: nothing.
  void Freeze(const GroupKind& kind, std::string reason);
  // What the kind is frozen for, with the command; empty: it is not.
  std::string FrozenFor(const GroupKind& kind) const;

  // Stored objects with declarations that the kind's complete list, not applied yet, does not
  // hold; also those that are only admitted: they may have come and ended.
  Result<UnlistedObjects> Unlisted(const KindHistory& kind) const;
  // A resource that is still declared had a witnessed end: objects that came and went since matter.
  Result<bool> HasGone(const KindHistory& kind) const;
  // The list of the kind is complete and applied: ends its gap, and nominates the stored objects
  // that it did not hold.
  Result<void> Nominate(KindHistory& kind);
  // The list of the kind failed: everything stored of it counts as out of sight, so that proofs can
  // go on without it.
  Result<void> MarkGap(KindHistory& kind);
  // Resources that were admitted under these provisional accounts, whose ProviderConfigs moved,
  // count as real: a watch that lags behind may show them only when they already count as declared
  // in the new account.
  Result<void> CountAdmittedBy(const std::set<std::string>& provisional_accounts);
  // The object was read, or its end was seen: it is nominated no more.
  void Settle(const Uid& uid);
  // The object is known to be gone: its seen rows end as far as the brake lets them, unless the
  // kind is frozen.
  Result<void> Release(const Uid& uid);

  // Looks through the next page of stored objects, kind by kind: one without declarations that is
  // older than the TTL and that the watch never showed is nominated (a CREATE that never came, and
  // had no reservation to be proved). To be called every few seconds.
  Result<void> Sweep();
  // Ends the declarations of objects of a kind that nobody reads any more, as by absence. Their
  // resources count as real, so they are left orphaned and no name becomes free; therefore without
  // the brake. One page of objects; true when none is left. A list that comes back to the kind
  // applies its objects anew.
  Result<bool> EndUnread(const GroupKind& kind);

  // Releases the objects that are nominated or frozen now (of `kind`; nothing: of all), each still
  // after its quorum read. Audited. Returns their number.
  Result<std::size_t> ReleaseBrake(const std::optional<GroupKind>& kind, const std::string& actor,
                                   const std::string& reason);
  const std::map<Uid, Nomination>& nominations() const { return nominations_; }
  // Kinds with nominations that wait for a second list, and since when the first one missed them.
  std::map<GroupKind, Timestamp> WaitForSecondList() const;

 private:
  struct Frozen {
    std::string reason;               // by Freeze
    bool by_empty_list = false;       // the last list was empty though the kind has seen rows
    bool believe_empty_list = false;  // an operator said so
  };
  struct Missing;

  Result<std::vector<Missing>> FindMissing(const KindHistory& kind) const;
  void AddNomination(const KindHistory& kind, const Object& object, bool commanded);
  Result<void> MarkUids(const std::vector<Uid>& uids);
  Result<std::vector<ResourceId>> GoneResources(const KindHistory& kind) const;
  Result<void> VoidGone(const KindHistory& kind);
  Result<void> CountSeenRows();
  bool IsStrange(const KindHistory& kind, const Object& object, const Facts& facts) const;
  void DoubtKind(const GroupKind& kind);
  void DoubtHeldBack(const Nomination& nomination);
  void Gone(const Uid& uid, const Slot& slot);

  ReconcileStore& store_;
  KindHistories& kinds_;
  Asks& asks_;
  std::map<GroupKind, Frozen> frozen_;
  std::map<Uid, Nomination> nominations_;
  GroupKind sweep_kind_;  // where the next Sweep goes on
  std::string sweep_after_;
  std::uint64_t seen_rows_ = 0;  // of the cluster, counted at `seen_counted_`
  std::optional<Timestamp> seen_counted_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_ABSENCE_H_
