// Detector deletion-blocked: objects that Crossplane tries to delete again and again, and that only
// Usages which were left behind protect.
//
// Rule: the deletion of an object was asked for by a composite controller kBlockedTimes within
// kBlockedWithin, and the object lives, does not terminate and carries the label
// crossplane.io/in-use; all Usages of it that there are were left behind (detector stale-usage).
// Crossplane requeues such a refusal (409) without a condition or Event, and its composite stays
// Synced. Evidence: reviews of deletions, which nothing else shows; the watch; object rows of the
// registry. Look-alikes that are none: an object that another Usage protects rightly; one that
// terminates; deletions by people; dry runs. Mode warn.
#ifndef TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_BLOCKED_DELETIONS_H_
#define TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_BLOCKED_DELETIONS_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <vector>

#include "registry/ownership/rows.h"
#include "webhook/findings/findings_book.h"
#include "webhook/findings/lifecycle/stale_usages.h"

namespace truce {

inline constexpr std::size_t kBlockedTimes = 3;
inline constexpr std::chrono::minutes kBlockedWithin{10};

// What composite controllers asked to delete lately. External synchronization.
class AskedDeletions final {
 public:
  // More objects than this are not counted at once.
  static constexpr std::size_t kMax = 2000;

  void OnDeletion(const Slot& slot, Timestamp now);
  void OnGone(const Slot& slot) { asked_.erase(slot); }

  // Those that were asked for kBlockedTimes within kBlockedWithin; forgets what is older.
  std::vector<Slot> Repeated(Timestamp now);

 private:
  std::map<Slot, std::deque<Timestamp>> asked_;  // the last kBlockedTimes each
};

// An object whose deletion is refused, with the Usages that were left behind.
struct BlockedDeletion {
  Object used;
  std::vector<StaleUsage> usages;  // not empty
};
LiveFinding FindingOf(const BlockedDeletion& blocked);
// Of `stale` those with the uids `all`; none where one of these is not among them: it protects
// rightly.
std::vector<StaleUsage> AllLeftBehind(const std::vector<Uid>& all,
                                      const std::vector<StaleUsage>& stale);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_BLOCKED_DELETIONS_H_
