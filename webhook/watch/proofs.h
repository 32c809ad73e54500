// Proofs: which reservations came true (I6): a uid and key that match confirm,
// any other answer keeps; by quorum reads of their slots, and what these reads settle.
#ifndef TRUCE_WEBHOOK_WATCH_PROOFS_H_
#define TRUCE_WEBHOOK_WATCH_PROOFS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "registry/base/result.h"
#include "registry/ownership/terms.h"
#include "webhook/watch/absence.h"
#include "webhook/watch/asks.h"
#include "webhook/watch/history.h"
#include "webhook/watch/reconcile_store.h"
#include "webhook/watch/sights.h"

namespace truce {

struct Row;

// External synchronization. Errors are the store's; to be repeated with the same arguments.
class Proofs final {
 public:
  // All must outlive it.
  Proofs(ReconcileStore& store, KindHistories& kinds, Asks& asks, Absence& absence, Sights& sights)
      : store_(store), kinds_(kinds), asks_(asks), absence_(absence), sights_(sights) {}

  // Looks for reservations older than the TTL and asks for their proof. To be called every few
  // seconds.
  Result<void> Collect();
  // Asks for the proof of these reserved rows, whatever their kinds (Decision::prove).
  Result<void> Prove(std::span<const RowId> rows);
  // Asks for the object in a slot: if there is one, it is seen.
  void See(const Slot& slot) { (void)asks_.For(slot); }

  // Takes the answer to a quorum read. Live: seen, confirms, settles. Nothing there: reservations
  // end, nominated objects are released under the brake. Anything else: asked again with back-off.
  // A live object and the end of a reservation wait until the watch of the kind has passed the
  // read: what lived in between was real, and a version older than the newest seen says nothing
  // (E9; Asks::Told).
  Result<void> Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer);
  // The watch of the kind has told everything up to `version`. Settles what waited for it.
  Result<void> Passed(Moment now, const GroupKind& kind, const std::string& version);
  // Settles what waited long enough. To be called every few seconds.
  Result<void> SettleOverdue(Moment now);

 private:
  Result<void> AskForRows(const std::function<std::vector<Row>(const AllFacts&)>& find,
                          std::chrono::milliseconds older_than);
  Result<void> SettleTold(const GroupKind& kind, Moment now);
  Result<void> SettleLive(const KindHistory& kind, const Asks::Ask& ask);
  Result<void> SettleGone(const Asks::Ask& ask);

  ReconcileStore& store_;
  KindHistories& kinds_;
  Asks& asks_;
  Absence& absence_;
  Sights& sights_;
  std::uint64_t passes_ = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_PROOFS_H_
