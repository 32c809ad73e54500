// ReviewInbox: news of reviews for the thread that drives the reconciler.
#ifndef TRUCE_WEBHOOK_WATCH_REVIEW_INBOX_H_
#define TRUCE_WEBHOOK_WATCH_REVIEW_INBOX_H_

#include <atomic>
#include <cstddef>
#include <set>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/identity/values.h"
#include "registry/ownership/terms.h"

namespace truce {

// Thread-safe; never blocks for long; bounded: objects that do not fit are left to proof and
// polling.
class ReviewInbox final {
 public:
  static constexpr std::size_t kMax = 10'000;

  // A declaration of `kind` was admitted and written.
  void Admitted(const GroupKind& kind);
  // Decision::prove of a denial.
  void Prove(const std::vector<RowId>& rows);
  // A review of `slot` ended unknown: the object may be created without us.
  void Unknown(const Slot& slot);

  struct Contents {
    std::set<GroupKind> admitted;
    std::set<RowId> prove;
    std::set<Slot> unknown;

    bool empty() const { return admitted.empty() && prove.empty() && unknown.empty(); }
  };
  // Takes everything out.
  Contents Take();

 private:
  Guarded<Contents> contents_;
  std::atomic<bool> any_{false};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_REVIEW_INBOX_H_
