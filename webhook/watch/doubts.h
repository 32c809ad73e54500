// DoubtBoard: holders whose life is in question, for the admission path. ReviewInbox: reviews, for
// the watch. Both are between the threads that answer reviews and the one that drives the
// reconciler.
#ifndef TRUCE_WEBHOOK_WATCH_DOUBTS_H_
#define TRUCE_WEBHOOK_WATCH_DOUBTS_H_

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/identity/values.h"
#include "registry/ownership/terms.h"

namespace truce {

// Thread-safe. Reads cost one atomic load while there is no doubt.
class DoubtBoard final {
 public:
  // One sentence, without trailing stop, that a denial quotes: "its object was missing in the last
  // list; it is released by `truce brake release`".
  void Doubt(const Slot& slot, std::string text);
  void Settle(const Slot& slot);
  // All holders of a kind; an empty text settles it.
  void DoubtKind(const GroupKind& kind, std::string text);

  // All of it, as another server's board has it. Bounded by kToldMax of each.
  static constexpr std::size_t kToldMax = 1000;
  struct Board {
    std::map<Slot, std::string> slots;
    std::map<GroupKind, std::string> kinds;

    bool operator==(const Board&) const = default;
  };
  Board Told() const;
  void Take(Board board);

  // The doubt about the holder at `slot`; empty: none.
  std::string DoubtOf(const Slot& slot) const;
  // Slots and kinds in doubt.
  std::size_t size() const;

 private:
  Guarded<Board> board_;
  std::atomic<bool> any_{false};
};

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

#endif  // TRUCE_WEBHOOK_WATCH_DOUBTS_H_
