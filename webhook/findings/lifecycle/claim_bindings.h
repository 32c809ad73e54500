// Detectors claim-twice and claim-stale: claims and composites that are not one and one.
//
// Rules: claim-twice: two composites whose spec.claimRef names one claim, or a composite whose
// claim names another one in spec.resourceRef (crossplane#5431). claim-stale: a claim whose
// spec.resourceRef names a composite that is missing, or that is bound to another claim: Crossplane
// refuses it for ever, and when the other claim goes, so does what both believe to have. Evidence:
// object rows of the registry, two looks at least kBindingAfter apart, because Crossplane writes
// the two references one after the other. Look-alikes that are none: composites and claims that
// terminate, claims that are paused, a composite that no claim has (it is about to be bound), and
// composites of a kind that cannot be read: none of them counts as missing.
#ifndef TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_CLAIM_BINDINGS_H_
#define TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_CLAIM_BINDINGS_H_

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"
#include "webhook/findings/findings_book.h"
#include "webhook/findings/lifecycle/object_marks.h"

namespace truce {

inline constexpr std::chrono::minutes kBindingAfter{5};

// A claim that names a composite which is not its own.
struct StaleClaim {
  Object claim;
  Slot named;                 // by spec.resourceRef
  std::optional<Slot> bound;  // the claim that has it; nothing: it is missing
  bool operator==(const StaleClaim&) const = default;
};
// Whether the claim `object` is one, by what the registry knows.
std::optional<StaleClaim> StaleClaimOf(const Object& object, const Facts& facts);

// A composite whose claim does not name it.
struct UnansweredComposite {
  Object composite;
  Slot claim;                   // by spec.claimRef
  std::optional<Slot> named;    // what the claim names instead
  std::optional<Object> other;  // that, where it exists

  bool operator==(const UnansweredComposite&) const = default;
};
// Whether the composite `object` is one, by what the registry knows.
std::optional<UnansweredComposite> UnansweredCompositeOf(const Object& object, const Facts& facts);

// Both detectors. Remembers since when a binding is broken. External synchronization.
class ClaimBindings final {
 public:
  // What one pass over the registry found.
  struct Present {
    std::vector<StaleClaim> stale;
    std::vector<UnansweredComposite> unanswered;
  };
  struct Found {
    std::vector<LiveFinding> twice;
    std::vector<LiveFinding> stale;
  };
  // `readable`: kinds whose objects are all known.
  Found Find(const Present& present, const ObjectMarks& marks, const std::set<GroupKind>& readable,
             Timestamp now);

 private:
  using Since = std::map<std::string, Timestamp>;  // by subject

  std::vector<LiveFinding> FindTwice(const Present& present, const ObjectMarks& marks,
                                     const std::set<GroupKind>& readable);
  std::vector<LiveFinding> FindStale(const Present& present, const ObjectMarks& marks,
                                     const std::set<GroupKind>& readable);

  Since twice_;
  Since stale_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_CLAIM_BINDINGS_H_
