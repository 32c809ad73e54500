// Detector composite-not-seen: composites that Crossplane made or was given, and never looked at.
//
// Before 1.20, Crossplane with --enable-realtime-compositions may stop watching composites; a new
// one then gets no condition and no finalizer, its claim waits for ever, and nothing says so.
//
// Rule: a composite without any condition and without Crossplane's finalizer, for kUnseenAfter, or
// kUnseenAfterInBacklog while more than kBacklog lack conditions at once; and Crossplane lives: its
// claim is Synced and names it, which Crossplane writes when it makes the composite; for one
// without such a claim (made by hand, v2, nested) Crossplane wrote something after its creation: a
// condition of a claim or composite, or a resource with a composite as controller. Evidence:
// versions that the watch shows. Look-alikes that are none: a paused composite, one that no
// Composition fits (both have a condition within a second), a Crossplane that is stopped (nothing
// proves that it lives), the backlog after a restart. False alarm: a Crossplane that ends in the
// moment between making a composite and looking at it, until it is back.
#ifndef TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_UNSEEN_COMPOSITES_H_
#define TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_UNSEEN_COMPOSITES_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "webhook/findings/findings_book.h"
#include "webhook/watch/observed_version.h"

namespace truce {

inline constexpr std::chrono::minutes kUnseenAfter{2};
inline constexpr std::chrono::minutes kUnseenAfterInBacklog{10};
inline constexpr std::size_t kBacklog = 100;

// External synchronization. Holds composites without condition, and claims that wait.
class UnseenComposites final {
 public:
  void OnObject(const ObservedVersion& observed, Timestamp now);
  void OnGone(const Uid& uid);

  // What is found at `now`, of `readable` kinds: all objects of those are known. To be called
  // regularly: from when Crossplane is at work again is known no better than between two calls.
  std::vector<LiveFinding> Find(const std::set<GroupKind>& readable, Timestamp now);

 private:
  struct Unseen {
    Slot slot;
    std::optional<Slot> claim;  // by spec.claimRef
    Timestamp created{};
    Timestamp noticed{};               // without condition since, by our clock
    std::optional<Timestamp> at_work;  // Crossplane is at work since its creation; noticed then
  };
  struct Waiting {
    Slot claim;
    Slot composite;  // by spec.resourceRef
  };

  void OnComposite(const ObservedVersion& observed, Timestamp now);
  void OnClaim(const ObservedVersion& observed);
  void NoteWrites(const ObservedVersion& observed);
  bool IsMadeByCrossplane(const Unseen& unseen) const;

  std::map<Uid, Unseen> unseen_;
  std::map<Uid, Waiting> waiting_;  // claims that are Synced and not Ready
  Timestamp written_{};             // the last stamp of what Crossplane wrote
};

// Of `findings`: kinds of composites that are not seen and of their claims, and since when.
std::map<GroupKind, Timestamp> UnseenKinds(const std::vector<LiveFinding>& findings);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_UNSEEN_COMPOSITES_H_
