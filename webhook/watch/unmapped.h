// Unmapped: kinds that only a mapping rule made readable, and whose rule is gone (E7).
#ifndef TRUCE_WEBHOOK_WATCH_UNMAPPED_H_
#define TRUCE_WEBHOOK_WATCH_UNMAPPED_H_

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/identity/values.h"

namespace truce {

// More kinds than this are not remembered: their declarations stay on record.
inline constexpr std::size_t kMappedKindsMax = 4096;

// A value. Remembers the kinds of all mapping rules there were, so that a rule that goes while
// nobody runs is noticed as well.
class Unmapped final {
 public:
  // Since when each kind has no rule; nothing: it has one.
  using Kinds = std::map<GroupKind, std::optional<Timestamp>>;

  Unmapped() = default;
  explicit Unmapped(Kinds kinds) : kinds_(std::move(kinds)) {}
  const Kinds& kinds() const { return kinds_; }

  // `mapped`: the kinds of the rules in force; `followed`: all kinds that are recorded now. A kind
  // that is followed without a rule (an XRD defines it) is forgotten. Returns whether anything
  // changed. A time in the future, from before the clock jumped back, becomes `now`.
  bool Update(const std::set<GroupKind>& mapped, const std::set<GroupKind>& followed,
              Timestamp now);
  // The kinds whose rule has been gone for `settle`.
  std::vector<GroupKind> Due(Timestamp now, std::chrono::milliseconds settle) const;
  // Nothing of the kind is on record any more.
  void Forget(const GroupKind& kind) { kinds_.erase(kind); }
  // Since when each kind without rule has none.
  std::map<GroupKind, Timestamp> Gone() const;

 private:
  Kinds kinds_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_UNMAPPED_H_
