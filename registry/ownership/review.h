// Review: the decision about one admission request (N2). Pure: facts in, decision
// out.
#ifndef TRUCE_REGISTRY_OWNERSHIP_REVIEW_H_
#define TRUCE_REGISTRY_OWNERSHIP_REVIEW_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "registry/identity/identity.h"
#include "registry/ownership/review_request.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/terms.h"

namespace truce {

class Facts;
struct Locks;

// Why a pair cannot simply be granted.
enum class ClashReason : std::uint8_t {
  kOwned,         // another root owns the resource
  kSibling,       // the same root already manages it through another branch of its lineage
  kOrphaned,      // orphaned by another party
  kImported,      // owned outside the cluster
  kTransferring,  // this root is the successor, but the old chain can still write or delete: `step`
};
std::string_view Name(ClashReason reason);

// The object that is in the way for the holder: a managed one before a mapped one.
struct Incumbent {
  Slot slot;
  bool managed = false;
  bool deletes = false;  // its deletion deletes the resource
  bool seen = false;     // the watch has seen it; without a watch there all count as seen

  bool operator==(const Incumbent&) const = default;
};

struct Clash {
  ClashReason reason = ClashReason::kOwned;
  Mode mode = Mode::kEnforce;
  DeclaredResource resource;
  Owner holder;
  // The speaker for the holder: its root, or while that slot is empty the topmost living object of
  // its chain (W6). Empty: its root.
  Slot speaker;
  // The speaker is only reserved, and a watch has not seen it: it may be on its way, or never come.
  bool unseen = false;
  std::optional<Incumbent> incumbent;  // none: a record, or one that may be another resource's
  std::string step;                    // kTransferring: the next act of the old owner
  bool same_party = false;             // the holder's party is the requester's: full disclosure
  bool late = false;  // allowed although enforced: denying it would leak the cloud resource
  // The requester's party owns the resource into which this one is written. For the judgement to
  // tell: the registry knows no types.
  bool in_own = false;

  bool operator==(const Clash&) const = default;
};

struct Decision {
  bool allowed = true;
  std::vector<Clash> denied;     // not empty: nothing may be written, all named at once
  std::vector<Clash> conflicts;  // recorded (warn, audit, late): allowed
  // Keys equal but for the account, whose account is not known or differs: a warning.
  std::vector<Clash> elsewhere;
  std::vector<BadName> bad_names;                    // refused: nothing may have such a name
  ReservationLimit limit = ReservationLimit::kNone;  // the one that is reached: nothing is written
  // Reserved rows of the holders that are older than 60 s: their proof should run at once.
  std::vector<RowId> prove;
  Slot root;                       // of the object, by the accepted links
  std::vector<std::size_t> added;  // the decided ones: indices in the request's object.resources
  Changes changes;                 // empty when denied

  bool operator==(const Decision&) const = default;
};

// Decides on the pairs that `request` adds: all of a CREATE, the added ones of an UPDATE (a new
// key, a raised intent), none of a DELETE (I10); a terminating object's
// like any other (E6). Either all are granted or recorded as conflicts, or nothing is written and
// every clash is named. A replay (same review uid and digest) is allowed again and changes nothing.
// Deterministic but for the ids of new owners. Keeps I1, I2, I7, I10.
Decision Decide(const ReviewRequest& request, const Facts& facts, Timestamp now,
                const IdSource& ids);

// The request does what only a provider does to a managed resource: takes the provider's finalizer
// off what terminates, or writes the marks of its creation.
bool ActsAsProvider(const ReviewRequest& request);

// The things that Decide reads or writes, as far as the request tells. For stores that lock or
// fetch them beforehand: it costs about as much as a decision.
Locks LocksOf(const ReviewRequest& request);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_REVIEW_H_
