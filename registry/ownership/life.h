// Life: the life of one Kubernetes object as the watch follows it. NextStep is the table: which
// evidence leads to which step. The watch (webhook/watch/reconciler.h) keeps what is known of each
// object, brings the evidence and takes the step; sight.h says what a step does to rows and
// ownerships.
//
// An object is unseen (admitted perhaps, never shown by this watch), seen (its newest version is
// known), missing (a list did not hold it: a quorum read looks for it), or its deletion is pending
// (DELETED was shown: its ProviderConfig is read first). Its kind may be in a gap (its watch lost
// history), frozen (it cannot be read, its CRD is being deleted, its list came back empty), or not
// followed any more (Reconciler::EndUnread).
//
//  evidence     when                                               step
//  -----------  -------------------------------------------------  ----------------
//  kShown       not later than the newest version seen (E9)        kIgnore
//               else                                               kSee
//  kListed      the newest version seen: the rules have changed    kSeeAgain
//               no gap, and the watch shows it, or a read did      kIgnore
//               an earlier server has stored up to there           kSeeStored
//               else: it changed while nobody watched              kSeeUnwatched
//  kDeleted     no ProviderConfig decides what it frees            kEnd
//               its last version without Deleting is known         kAwaitConfig
//               else, or too many wait                             kEndUnproved
//  kConfig      not known up to the end, for 30 s at most          kAwaitConfig
//               the same from that version to the end (E8)         kEnd
//               else: its provider may have looked elsewhere       kEndUnproved
//  kUnlisted    seen rows, older than the list                     kLoseAndLookFor
//               seen rows that seem younger: the clock jumped back kLookFor
//               younger than the list                              kIgnore
//               no rows                                            kLookFor
//               reserved rows, and all events were shown           kIgnore
//               reserved rows: one may have come true and ended    kLose
//  kStored      without rows, old, and its kind can be read        kLookFor
//  kReadFailed  no answer that can be read                         kAskAgain
//  kRead        an end or a list was applied meanwhile             kAskAtOnce
//               the gap hides what happened before                 kAskAgain
//               it finds an object or concerns reservations, and
//               the watch has not shown what was read, for 10 min  kAwaitWatch
//               nothing is there                                   kProveGone
//               found, older than the newest version seen (E9)     kProveOnly
//               found                                              kProve
//  kNotThere    its kind is frozen                                 kHoldBack
//               else, and the brake bounds it (I11)                kRelease
#ifndef TRUCE_REGISTRY_OWNERSHIP_LIFE_H_
#define TRUCE_REGISTRY_OWNERSHIP_LIFE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "registry/identity/values.h"

namespace truce {

struct Owner;
struct Row;

enum class LifeEvidence : std::uint8_t {
  kShown,       // an event ADDED or MODIFIED
  kListed,      // an entry of a complete list
  kDeleted,     // an event DELETED, now or before this start (ReplayedEvents)
  kConfig,      // of a pending deletion: a ProviderConfig was read or shown, or time passed
  kUnlisted,    // a complete list lacks it
  kStored,      // the registry has it, and the watch never showed it
  kReadFailed,  // no answer to a quorum read of its slot
  kRead,        // an answer to a quorum read of its slot; again when the watch shows more
  kNotThere,    // a missing object is not in its slot
};

enum class LifeStep : std::uint8_t {
  kIgnore,
  kSee,             // See
  kSeeUnwatched,    // See, and it counts as real (OutOfSight)
  kSeeAgain,        // See; resources that it no longer declares are left orphaned, never free
  kSeeStored,       // the same
  kEnd,             // SeeDeleted
  kEndUnproved,     // SeeDeleted that frees nothing real (Ending::config_changed)
  kAwaitConfig,     // pending: a quorum read of its ProviderConfig, and the watch's version of it
  kLookFor,         // missing: a quorum read of its slot
  kLoseAndLookFor,  // the same; it counts as real (OutOfSight)
  kLose,            // it counts as real; its reservations are proved in their time
  kAskAgain,        // after a wait that grows
  kAskAtOnce,
  kAwaitWatch,  // the answer waits for the watch of the kind
  kProve,       // See, and Prove its reservations
  kProveOnly,   // Prove its reservations
  kProveGone,   // Prove its reservations: they end
  kRelease,     // Absent for each of its rows
  kHoldBack,    // it stays missing
};

// The state of an object when the evidence arrives. A version is a resourceVersion as a number;
// nothing: it is not known, or no number.
struct Life {
  using Version = std::optional<std::uint64_t>;
  enum class Rows : std::uint8_t { kNone, kReserved, kSeen };

  Version version;            // that the evidence shows of the object
  Version newest;             // seen
  Version settled;            // the last one without `Deleting`
  Rows rows = Rows::kNone;    // kSeen: some of them are
  bool is_old = false;        // stored before the list, or for longer than a reservation lasts
  bool by_config = false;     // its end frees only what its ProviderConfig led to all along
  bool config_known = false;  // everything that happened to that up to the end
  bool config_same = false;
  bool has_room = true;  // for another pending deletion
  bool late = false;     // patience is over

  Version read;            // the version of the cluster that the quorum read had
  bool found = false;      // it found an object
  bool overtaken = false;  // an end or a list was applied since it was sent

  // Of the watch of its kind.
  Version passed;      // everything up to here was shown
  Version goes_on;     // after this list the watch goes on from here: nothing is lost
  Version stored;      // an earlier server has stored everything up to here
  bool gap = false;    // history was lost since the last complete list
  bool blind = false;  // and not everything stored counts as real yet
  bool whole = false;  // nothing came and went unseen before the list
  bool frozen = false;
};

LifeStep NextStep(LifeEvidence evidence, const Life& life);

// Why the names of the resource are not free: its holder, or the evidence that is missing. One
// line, without trailing stop. `rows`: of the resource. `unresolved_reason`: why the object
// in a slot may be gone (UnresolvedHolders); empty: nothing says so.
std::string WhyNotFree(const Owner& owner, const std::vector<Row>& rows,
                       const std::function<std::string(const Slot&)>& unresolved_reason);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_LIFE_H_
