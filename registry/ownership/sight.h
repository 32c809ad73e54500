// Sight: the effects of a version of a live object, its end, a proof or an absence on rows and
// ownerships (E1 to E9): confirmed, ended, freed or left orphaned, found without reservation.
#ifndef TRUCE_REGISTRY_OWNERSHIP_SIGHT_H_
#define TRUCE_REGISTRY_OWNERSHIP_SIGHT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "registry/identity/identity.h"
#include "registry/ownership/lineage.h"
#include "registry/ownership/terms.h"

namespace truce {

class Ledger;
struct ByWhom;
struct Object;
struct Owner;
struct Row;

// How a managing row ends.
enum class End : std::uint8_t {
  kWitnessed,  // the resource is known to be deleted with it: its names may become free
  kUnproved,   // anything else: a real resource is left orphaned
};

// Drops `row`. When it was the last managing row of the owning root: frees the resource, passes it
// to the oldest living conflicting root (row time, creationTimestamp, uid), or leaves it orphaned.
// Does nothing when the row is gone already (I9). `cause` goes to the audit log (I12).
void EndRow(const RowId& row, End end, const std::string& cause, Ledger& ledger);

// The object of `uid` may have changed while nobody watched (watch gap, relist, Truce was down):
// resources that it manages, reserved or seen, count as real from now on; not, by a claim or
// composite, those that a managed resource once declared (E1). To be called for every uid of a kind
// whose watch had a gap, before its list is applied: a reservation may have come true and ended
// again unseen.
void OutOfSight(const Uid& uid, Ledger& ledger);

// Only the place of a live object in its lineage: its object row, its parent, the children it
// names. No declaration row is added, ended or confirmed; rows there are move with their chain. For
// the first pass over a cluster, so that a claim, its composite and its managed resources are one
// chain before their declarations are compared. Its word is heard. Idempotent.
void Meet(const ObjectFacts& object, Ledger& ledger);

// A version of a live object was seen (list, watch or quorum GET). Adds or refreshes its seen rows,
// acquires what is free, records conflicts, confirms reservations by a later version with that uid
// and that resource, drops seen rows of resources that it no longer declares. Idempotent (I9).
// Never touches another uid's rows (I7). `out_of_sight`: it changed while nobody watched
// (OutOfSight).
void See(const ObjectFacts& object, bool out_of_sight, Ledger& ledger);

// The object declares what `row` says in `account` from now on, since its ProviderConfig leads
// there: it acquires a free resource, else is a conflict beside its owner. A seen row is there as
// if seen, a reserved one is reserved there too. `row` itself stays.
void DeclareIn(const std::string& account, const Row& row, const std::string& cause,
               Ledger& ledger);

// Objects below a root that are looked at, at most.
inline constexpr std::size_t kBelowMax = 4096;
// The managing rows of the object and of everything below it; of at most kBelowMax objects.
std::vector<Row> RowsBelow(const Uid& uid, const Slot& slot, const Ledger& ledger);

// The owner's word: from now on `successor` may take over, nobody if it is empty. Where only a
// record is left of the owner, a successor that manages the resource already takes over at once, as
// it would have at the end of the owner's last row.
void PutSuccessor(Owner owner, const std::string& successor, Ledger& ledger);

// Hears the annotation truce.dev/transfer-to of `object`, if it speaks for its root (SpeakerOf):
// another one than `before`, the one last known, or none, is the owner's word about all that the
// root owns, directly or through what it is composed of, and about what is left orphaned of that
// (W6).
void HearWord(const Object& object, const std::string& before, Ledger& ledger);

// Whether its provider began to create what the object declares, by a mark that nobody else wrote
// (E3).
bool WasCreated(const ObjectFacts& object, const Object& known);

// Whether the finalizer that only its provider may remove is there (FinalizerOf).
bool HasProviderFinalizer(const ObjectFacts& object);

// Knowledge of an object's end beside its last version.
struct Ending {
  bool crd_terminating = false;  // its CRD is being removed
  // The fields and ProviderConfig of its account changed, or may have, since its last version
  // without `Deleting`, or its endpoint: its provider may have looked elsewhere, found nothing, and
  // let go (E8).
  bool config_changed = false;
  // The version that the watch showed before the end; nothing: not known, the worst is taken.
  std::optional<std::uint64_t> before;
};

// The last version of an object whose DELETED event arrived. The key becomes free only by a
// witnessed end (E8): it is a managed resource whose last state deletes in AWS, was terminating,
// and whose provider finalizer was not removed by somebody else; the fields and ProviderConfig of
// its account are as when the resource was made, or was last shown in its account
// (Row::account_fields); and its provider said Ready=False Deleting and Synced=True, or nothing of
// the kind since it found nothing: then it took its finalizer off in a review of the last version,
// the policy was Delete since the deletionTimestamp, it made nothing anew, and each creation that
// it announced has ended. While claims or composites of its chain still declare the key, it stays
// theirs and is not real any more: they let go of it freely (E1, E2).
void SeeDeleted(const ObjectFacts& last, const Ending& ending, Ledger& ledger);

// Answer of a quorum GET for one reserved row.
struct Proof {
  enum class Answer : std::uint8_t {
    kLive,     // the object lives; `object` is its version, or an older one, and was seen before
    kGone,     // 404 whose details name the object
    kUnknown,  // anything else: keep the row, ask again
  };
  Answer answer = Answer::kUnknown;
  std::optional<ObjectFacts> object;
};
// Ends or confirms a reserved row by proof. A row that is gone already is left alone.
void Prove(const RowId& reserved, const Proof& proof, Ledger& ledger);

// A seen row whose object a complete list did not hold and whose quorum GET said gone: released,
// counted against the brake by the caller. Out of sight, so it counts as real: it is left orphaned.
void Absent(const RowId& seen, Ledger& ledger);

// Confirms every reserved row of `slot` on the word of an operator (no cluster): rows become seen.
// Returns how many.
std::size_t ConfirmByOperator(const Slot& slot, const std::string& actor, Ledger& ledger);

// Whether a watch shows the object in the slot: its cluster and its kind can be read (E7).
using IsShown = std::function<bool(const Slot&)>;
// How a release ended. Not done, and neither protected nor living: nobody owns it.
struct ReleaseOutcome {
  struct Life {
    Slot slot;
    bool managed = true;  // a managed resource, not a mapped claim or composite
    bool terminating = false;
  };
  bool done = false;
  std::optional<Agreement> mark;  // the resource is protected
  std::optional<Life> living;     // an object by which the owner's chain manages it
};
// Ends what the owner of the resource holds on it, on the word of an operator: a record, or rows
// that nobody watches; the oldest other manager inherits it. Changes nothing while the resource is
// protected, or `is_shown` says of a seen managing row of the owner's chain that a watch shows its
// object: the name would be free while that lives, and a stranger would take it.
ReleaseOutcome ReleaseByOperator(const ResourceId& id, const ByWhom& by, const IsShown& is_shown,
                                 Ledger& ledger);

// Ends the reservation `owner` of a list: nothing shows that the resource was ever there.
void Unreserve(Owner owner, const std::string& cause, const std::string& actor, Ledger& ledger);

// Records that what `name` names is owned outside (Terraform, by hand), or with `imported.until`
// that it is reserved there. `imported.id` may be empty.
// Returns false when it has an owner, or declarations by others.
bool Import(const KeyText& name, Owner imported, const std::string& actor, Ledger& ledger);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_SIGHT_H_
