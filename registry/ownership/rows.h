// Rows of the registry: declarations, owners, objects, audit entries.
//
// Plain values. The invariants that tie them together are listed in DESIGN.md.
#ifndef TRUCE_REGISTRY_OWNERSHIP_ROWS_H_
#define TRUCE_REGISTRY_OWNERSHIP_ROWS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/identity/values.h"
#include "registry/ownership/table.h"
#include "registry/ownership/terms.h"

namespace truce {

// One declaration of one resource by one life of one object.
struct Row {
  RowId id;
  Slot slot;
  Slot root;  // top of the lineage; equals `slot` for an object without parent
  Intent intent = Intent::kDeletes;
  bool terminating = false;   // last seen with a deletionTimestamp
  bool managed = true;        // a managed resource, not a mapped claim or composite
  ResourceIdentity identity;  // as it declares it: another catalogue spells its names by this
  ReviewUid review;           // the review that made a reserved row; empty for seen rows
  std::string digest;         // of the resources of that review; a replay must match both
  // Of a reserved row: the version that its review decided on; only a later one confirms it. 0: a
  // creation in a place where a living object was seen; kNoWord: such a one whose kind was out of
  // sight since, so that it may have come true and ended unseen, unless that object still lives.
  // Of a seen one: the version from which a provider's review took its finalizer off, since the
  // resource was not there (E8), or kNoWord.
  std::optional<std::uint64_t> base;
  std::string user;  // the requester, for limits; empty: it counts for none, or was seen
  Timestamp at{};    // when the declaration was first recorded; survives confirmation
  // The object's creationTimestamp, or when its provider made the resource, if that was earlier.
  std::optional<Timestamp> created;
  // Of a seen row: ObjectFacts::account_fields, or a mark. Of an object that is not deleted, a
  // later version heals the mark whose status was written under the fields of now and shows the
  // resource, in its account (E8).
  std::string account_fields;

  // Its end proves nothing: of a name that lies in an account, the fields were others since the
  // resource was made; or it was first seen Deleting, or was Deleting by a policy that keeps it.
  static constexpr std::string_view kChanged = "changed";
  // Of a name without account, the fields were others since the resource was made: that its
  // provider finds nothing is no proof, that it says Deleting is.
  static constexpr std::string_view kMoved = "moved";
  // Its provider lets go whether the resource is there or not: somebody else changed the external
  // name by which it looks for it; or since the deletionTimestamp the policy was one that keeps it,
  // or nobody saw which, or the provider made it anew.
  static constexpr std::uint64_t kNoWord = ~std::uint64_t{0};

  bool operator==(const Row&) const = default;
};

// True when the row makes its root a manager of the resource.
inline bool Manages(const Row& row) { return row.intent != Intent::kObserves; }
// True when the declaration was last seen unable to write or delete: terminating, and its deletion
// leaves the resource. A successor may take over beside it (W6).
inline bool Passive(const Row& row) {
  return row.id.state == RowState::kSeen && row.terminating && row.intent == Intent::kManages;
}

// Why an ownership exists without managing rows.
enum class Record : std::uint8_t {
  kNone,
  kOrphaned,      // the declaration ended, the resource may live on; re-declarable by its party
  kImported,      // owned outside (Terraform, by hand)
  kTransferring,  // orphaned, offered to `successor`
};
std::string_view Name(Record record);

// The state of a holder, for people; derived from its rows whenever they change.
enum class HolderState : std::uint8_t { kReserved, kHeld, kTerminating };
std::string_view Name(HolderState state);

inline constexpr std::size_t kLeftMax = 8;

// The one owner of a resource (I1).
struct Owner {
  ResourceId id;  // of the resource
  // Derived: the best of its names, for people and for the order of lists. Never compared:
  // Facts::Named tells the meaning of a name.
  KeyText key;
  Slot root;
  PartyId party;
  std::string service;
  std::string contact;
  std::string arn;
  std::string name;  // of the resource, for people
  ResourceIdentity identity;
  std::string shape;  // derived: the key without its account; empty where the key has none
  Timestamp since{};  // that its root has it; of an orphan, that nobody declares it
  // The resource was seen to exist. Cleared only by a witnessed end of its last managed resource
  // while claims or composites still declare it (E2).
  bool real = false;
  // A managed resource was seen to declare it: from then on claims and composites say nothing of
  // whether it exists (E1).
  bool managed_once = false;
  Record record = Record::kNone;
  std::string record_reason;  // why the record exists: "deletion policy Orphan", "terraform: …"
  std::string successor;      // named by the root (successors.h); empty: none
  HolderState state = HolderState::kReserved;  // derived
  std::optional<Slot> leaf;  // derived: the managed resource of the root, once known
  bool contested = false;    // derived: a second chain manages the key too
  // Slots of the root's chain whose declarations ended, the newest last, at most kLeftMax: a
  // restorer may bring them back (R2).
  std::vector<Slot> left;
  // Of a resource that a list only reserves (record kImported, not real): first moment at which it
  // no longer holds (lists/import.h).
  std::optional<Timestamp> until;

  bool operator==(const Owner&) const = default;
};

// The key without its account: equal for two declarations that differ in the account alone. Empty
// when the key has no account.
std::string ShapeOf(std::string_view key);
inline std::string ShapeOf(const KeyText& key) { return ShapeOf(std::string_view(key.text)); }

// An imported resource is owned by a list of resources, its source ("terraform:network"), whose
// root has kind Import, group truce.dev. A list owns by a record. Beside another owner it has a row
// that manages, of the one life ImportUid; when it inherits, that is its record again.
Slot ImportRoot(std::string_view source);
Uid ImportUid(std::string_view source);
// Empty for a root that is no list.
std::string_view SourceOf(const Slot& root);
// Empty for an owner that is not imported.
std::string_view SourceOf(const Owner& owner);

// The owners that people and the watch ask for together.
enum class OwnerList : std::uint8_t {
  kAll,
  kContested,  // Owner::contested
  kOrphaned,   // records kOrphaned and kTransferring
  kImported,
  kEnding,  // Owner::until
};

// A reviewed or seen object of a watched kind, whether it declares anything or not.
struct Object {
  Uid uid;
  Slot slot;
  std::optional<Slot> parent;  // by an accepted link
  Uid parent_uid;              // empty while only the parent's slot is known
  Slot root;
  std::string link;  // the fields that state a link (LinkOf); it stays while they are unchanged
  std::vector<std::string>
      names;              // what its resourceRef(s) name: "group/kind/namespace/name", sorted
  bool composes = false;  // it is a composite: its resourceRefs count (W1)
  // It named no parent when it was first met, or another one since whom W3 did not let it follow:
  // a party of its own, to which no other's claim or composite attaches it.
  bool own_party = false;
  std::string service;  // for people
  std::string contact;
  std::string transfer_to;  // the annotation as last known: only another word is news (W6)
  // The marks of creation (ObjectFacts::created_marks) that somebody else than a provider wrote, or
  // that were there when the object was renamed: no proof that its resources exist (E3).
  std::string unproven_marks;
  // The version from which somebody else than a provider removed the provider's finalizer; the
  // newest such review counts, until a provider removes it too (W7).
  std::optional<std::uint64_t> stripped;
  Timestamp at{};  // first met: of two in one slot the later one lives

  bool operator==(const Object&) const = default;
};

// A part of a whole pass over objects, and where the next part begins.
struct ObjectPage {
  std::vector<Object> objects;
  std::string next;  // for the same store only; empty: nothing follows
};

enum class AuditAction : std::uint8_t {
  kGranted,       // a root became owner
  kConflict,      // a second manager was recorded
  kReleased,      // an ownership ended, the key is free
  kPassed,        // a freed key went to the oldest living conflicting root
  kOrphaned,      // the last managing row ended without proof that the resource is gone
  kTransferred,   // the successor took over
  kMoved,         // the chain moved to another root (adoption), or names moved between resources
  kAdministered,  // import, forced release, confirmation by an operator, brake release, recovery
};
std::string_view Name(AuditAction action);

// One line of the append-only audit log (I12: each grant and release has a cause).
struct AuditEntry {
  Timestamp at{};
  AuditAction action = AuditAction::kGranted;
  KeyText key;  // as it was on that day
  ResourceId id;
  Slot root;
  Slot slot;
  Uid uid;
  std::string cause;  // "review 1f… CREATE", "deleted: witnessed", "released by operator: reason"
  std::string actor;  // user name, "watch", "operator"
  ReviewUid review;   // empty unless a review caused it

  bool operator==(const AuditEntry&) const = default;
};

// The place of a line in the log. Numbers alone are in the order written where one program writes;
// several that write at once may show a lower one after a higher one.
struct AuditPlace {
  // Raised when a database moves to another server, which counts transactions anew; these two are 0
  // in a store with one writer.
  std::uint64_t incarnation = 0;
  std::uint64_t transaction = 0;
  std::uint64_t number = 0;  // from 1, no two lines have one

  auto operator<=>(const AuditPlace&) const = default;
};

struct AuditLine {
  AuditPlace place;
  AuditEntry entry;

  bool operator==(const AuditLine&) const = default;
};

// Which lines of the audit log are asked for: by place or, where a number bounds them, by number.
// By place, oldest first and of all resources, there are only lines that no other one can come
// before any more, so a reader that goes on behind its last one misses none.
struct AuditRange {
  std::uint64_t from = 0;            // numbers not less than this
  std::uint64_t until = 0;           // numbers less than this; 0: to the end
  std::optional<AuditPlace> behind;  // what follows this one, in the order that is asked for
  ResourceId id;                     // of this resource only; empty: of all
  bool newest_first = false;         // else oldest first

  auto operator<=>(const AuditRange&) const = default;
};

// How a resource came to a name.
enum class NameSort : std::uint8_t {
  kDeclared,  // as an object spells it, without the account that the credentials tell
  kLocated,   // with its account: what AWS itself would call it
  kAssigned,  // an id that AWS gave
  kFormerId,  // no name of AWS's: the public id of a resource that merged into this one (N3)
};
std::string_view Name(NameSort sort);

// A name of a resource.
struct ResourceName {
  KeyText name;  // with its spelling unique (I13)
  ResourceId resource;
  NameSort sort = NameSort::kDeclared;
  bool observed = false;  // known from a status only
  // Which pass of another catalogue spelt it (Respell), so that a text may change its meaning while
  // a pass is under way; 0: none. Of two with one text the higher one counts.
  std::uint32_t spelling = 0;
  Timestamp at{};

  bool operator==(const ResourceName&) const = default;
};

// Identifies a name in the store.
struct NameId {
  KeyText name;
  std::uint32_t spelling = 0;

  auto operator<=>(const NameId&) const = default;
};
inline NameId IdOf(const ResourceName& name) { return {name.name, name.spelling}; }

// A resource that nobody owns, with the name that it is shown by.
struct ObservedResource {
  ResourceId id;
  KeyText key;

  bool operator==(const ObservedResource&) const = default;
};

// Everything one decision changes; applied in one transaction or not at all. A resource is there
// while it has an owner or rows.
struct Changes {
  std::vector<Row> put_rows;  // insert or replace by RowId
  std::vector<RowId> drop_rows;
  std::vector<Owner> put_owners;  // insert or replace by id
  std::vector<ResourceId> drop_owners;
  std::vector<ObservedResource> put_observed;  // those with rows and without owner
  std::vector<Object> put_objects;             // insert or replace by uid
  std::vector<Uid> drop_objects;
  std::vector<Agreement> put_agreements;  // insert or replace by id
  std::vector<PublicId> drop_agreements;
  std::vector<ResourceName> put_names;  // insert or replace by NameId
  std::vector<NameId> drop_names;
  // Those of the resources above that this decision made. Nobody else knows their ids, so a store
  // need not look whether they are there, nor lock them.
  std::vector<ResourceId> made;
  std::vector<AuditEntry> audit;
  // The number of the first of `audit`, behind every one that was given; the others follow it. 0:
  // the store numbers them. For a registry that moves to another store (MigrateStore).
  std::uint64_t audit_from = 0;
  std::vector<std::pair<std::string, std::string>>
      put_settings;                      // brake, cluster binding, catalogue version
  std::vector<TablePut> put_table_rows;  // insert or replace by key
  std::vector<TableDrop> drop_table_rows;
  // Not empty: the decision would break an invariant, which the text names. All else is empty, and
  // stores refuse it with kInternal.
  std::string breach;
  // Deciding once more after these were written gives the same answer, and writes nothing: a store
  // that does not know whether they were may do so. Without changes: the answer rests on stored
  // rows, which must be as durable as new ones.
  bool repeatable = false;

  bool empty() const {
    return put_rows.empty() && drop_rows.empty() && put_owners.empty() && drop_owners.empty() &&
           put_observed.empty() && put_objects.empty() && drop_objects.empty() &&
           put_agreements.empty() && drop_agreements.empty() && put_names.empty() &&
           drop_names.empty() && audit.empty() && put_settings.empty() && put_table_rows.empty() &&
           drop_table_rows.empty() && breach.empty();
  }
  bool operator==(const Changes&) const = default;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_ROWS_H_
