// Detector stale-usage: Usages of Crossplane that are deleted and stay, and go on refusing every
// deletion of what they protect.
//
// Rule, all at once: the Usage terminates for kStaleUsageAfter; it is composed (annotation
// crossplane.io/composition-resource-name); the object that it says uses (spec.by) lives and does
// not terminate; its controller, a composite, lives, does not terminate and does not name it in its
// resourceRefs. Crossplane before 1.18.2 leaves it so when a Composition drops it, and a newer one
// does not heal it. Mode warn. One made by hand (neither annotation nor controller) waits for the
// using object by design before 1.18.2: mode audit. Evidence: the watch of Usages, object rows of
// the registry. Look-alikes that are none: a claim was deleted and the using object is slow (the
// Usage does not terminate yet, or its composite is gone or terminates); a Usage that ends within
// seconds. A using object or composite of a kind that is not followed proves nothing: then nothing
// is found.
//
// Truce carries nothing of the remedy out: a Usage with replayDeletion that ends makes Crossplane
// repeat any deletion of the used object that was ever refused, even a dry run.
#ifndef TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_STALE_USAGES_H_
#define TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_STALE_USAGES_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policies/lifecycle/composition_change.h"
#include "registry/base/document.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"
#include "webhook/findings/findings_book.h"
#include "webhook/findings/lifecycle/object_marks.h"

namespace truce {

inline constexpr std::chrono::minutes kStaleUsageAfter{2};

// What is read of a Usage.
struct UsageSeen {
  Slot slot;
  Uid uid;
  std::optional<Slot> used;              // spec.of, once Crossplane resolved it
  std::optional<Slot> user;              // spec.by; nothing: it protects without a using object
  std::optional<Uid> controller;         // of its ownerReferences
  std::optional<Timestamp> terminating;  // deletionTimestamp
  bool composed = false;
  bool replays = false;  // spec.replayDeletion

  bool operator==(const UsageSeen&) const = default;
};
// Reads a Usage or ClusterUsage of any version, of kind `kind`.
UsageSeen ReadUsage(Value object, const GroupKind& kind, const std::string& cluster);

// A Usage with its proofs.
struct StaleUsage {
  UsageSeen usage;
  Object user;
  std::optional<Object> composite;  // nothing: the Usage was made by hand

  bool operator==(const StaleUsage&) const = default;
};
// The proofs that the registry holds.
std::optional<StaleUsage> StaleUsageOf(const UsageSeen& usage, const Facts& facts);
LiveFinding FindingOf(const StaleUsage& stale);
// How a Usage that is left behind is ended, by Crossplane's version; the trap of replayDeletion
// first.
std::string RemedyFor(const UsageSeen& usage);

// The Usages that there are. External synchronization.
class KnownUsages final {
 public:
  void OnUsage(UsageSeen usage, bool gone, Timestamp now);
  // The history of `kind` is lost and it is listed anew (true), or that list is complete: what it
  // did not bring is gone.
  void OnGap(const GroupKind& kind, bool gap);
  // The kind is not served any more.
  void Forget(const GroupKind& kind);

  // Those that terminate for kStaleUsageAfter, by our clock, and wait for a using object.
  std::vector<UsageSeen> Lasting(Timestamp now) const;
  // Those of the object `used`, of whatever cluster.
  std::vector<Uid> UsagesOf(const Slot& used) const;

 private:
  struct Known {
    UsageSeen usage;
    Timestamp noticed{};     // terminating since, by our clock
    std::uint64_t list = 0;  // the list that brought it last
  };
  std::map<Uid, Known> known_;
  std::map<GroupKind, std::uint64_t> lists_;  // gaps so far
  std::set<GroupKind> gaps_;                  // those that are listed anew
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_STALE_USAGES_H_
