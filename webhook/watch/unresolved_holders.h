// UnresolvedHolders: holders that may be gone, which the reconciler notes for reviews.
#ifndef TRUCE_WEBHOOK_WATCH_UNRESOLVED_HOLDERS_H_
#define TRUCE_WEBHOOK_WATCH_UNRESOLVED_HOLDERS_H_

#include <atomic>
#include <cstddef>
#include <map>
#include <string>

#include "registry/base/guarded.h"
#include "registry/identity/values.h"

namespace truce {

// Thread-safe. Reads cost one atomic load while there are none.
class UnresolvedHolders final {
 public:
  // One sentence, without trailing stop, that a denial quotes: "its object was missing in the last
  // list; it is released by `truce brake release`".
  void Add(const Slot& slot, std::string text);
  void Remove(const Slot& slot);
  // All holders of a kind; an empty text removes it.
  void SetKind(const GroupKind& kind, std::string text);

  // For other servers; at most kMax of each.
  static constexpr std::size_t kMax = 1000;
  struct Holders {
    std::map<Slot, std::string> slots;
    std::map<GroupKind, std::string> kinds;

    bool operator==(const Holders&) const = default;
  };
  Holders All() const;
  void Replace(Holders holders);

  // Why the holder at `slot` may be gone; empty: nothing says so.
  std::string ReasonOf(const Slot& slot) const;
  // Slots and kinds.
  std::size_t size() const;

 private:
  Guarded<Holders> holders_;
  std::atomic<bool> any_{false};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_UNRESOLVED_HOLDERS_H_
