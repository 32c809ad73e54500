// Grant: the few steps that give, move and end an ownership; shared by reviews and sights.
#ifndef TRUCE_REGISTRY_OWNERSHIP_GRANT_H_
#define TRUCE_REGISTRY_OWNERSHIP_GRANT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "registry/identity/identity.h"
#include "registry/ownership/terms.h"

namespace truce {

class Ledger;
struct AuditEntry;
struct Object;
struct Owner;
struct Row;
enum class AuditAction : std::uint8_t;

// The line of the audit log that says what became of the ownership. By which declaration, or that
// it is about another root, the caller adds.
AuditEntry EntryOf(AuditAction action, const Owner& owner, std::string cause, std::string actor);

// The object whose root receives an ownership, and the reason. The object must outlive it.
struct Grantee {
  const Object& object;  // placed; its root receives
  std::string cause;     // for the audit log
  std::string actor;
  ReviewUid review;       // empty unless a review grants
  bool restored = false;  // by a restorer, whose annotations are old (W6)
};

// Makes the grantee's root the owner of the resource `id`, which has its names and no owner. The
// annotation that speaks for the chain names its successor, too.
void GrantNew(const ResourceId& id, const DeclaredResource& resource, const Grantee& grantee,
              Ledger& ledger);

// Makes the grantee's root the owner in place of `owner`'s: an orphaned resource re-declared by its
// party, or the named successor. The record ends, and the word, unless it is the same root which
// still says it; a real resource stays real.
void GrantInPlace(Owner owner, const DeclaredResource& resource, const Grantee& grantee,
                  Ledger& ledger);
// The same for the successor that the owner named; audited as a transfer.
void GrantToSuccessor(Owner owner, const DeclaredResource& resource, const Grantee& grantee,
                      Ledger& ledger);

// `root` owns it from now on, and describes it; no record is left. The new chain
// may not restore slots that a chain of another party left (R2). Returns whether it is another
// party.
bool PutUnder(const Slot& root, Owner& owner, const Ledger& ledger);

// The service of a root is that of the root object, where it is known.
void DescribeRoot(const Slot& root, Owner& owner, const Ledger& ledger);

// Records that the grantee manages the resource beside its owner.
void AuditConflict(const Owner& owner, const Grantee& grantee, Ledger& ledger);

// True when a row of `root` manages its resource.
bool RootManages(const std::vector<Row>& rows, const Slot& root);

// True when a managed resource of `root` manages by one of the rows.
bool RootHasManaged(const std::vector<Row>& rows, const Slot& root);
// True when a managed resource in another slot, of the object's or the owner's root, manages the
// owner's resource, and can write or delete. For a record of each root of the owner's party (E4). A
// claim or composite is nobody's sibling (E5).
bool HasSibling(const Owner& owner, const Object& object, bool managed, const Ledger& ledger);
// The slot is one that the chain of the owner has left (R2).
void RememberSlot(const Slot& slot, Owner& owner);

// True when the record kOrphaned or kTransferring is for the object's party, or its root, to
// declare again. False for other owners.
bool IsForParty(const Owner& owner, const Object& object, const Ledger& ledger);

// True when the owner's word names `root` (registry/identity/successors.h).
bool NamesSuccessor(const Owner& owner, const Slot& root);

// The resource that `object` declares by exactly this name, or null.
const DeclaredResource* Declares(const ObjectFacts& object, const KeyText& name);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_GRANT_H_
