// Lineage: which links between objects count, and the chain and root they give (design section 3).
//
// Labels are never evidence. Links are: child → composite by a controller owner reference in a
// request of a composite controller, or found in place while the composite's resourceRefs name the
// object; composite → claim by spec.claimRef written by a composite controller, or claimRef and the
// claim's resourceRef naming each other; restored objects that their composite names and that have
// no other controller.
#ifndef TRUCE_REGISTRY_OWNERSHIP_LINEAGE_H_
#define TRUCE_REGISTRY_OWNERSHIP_LINEAGE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "registry/identity/identity.h"
#include "registry/ownership/ledger.h"

namespace truce {

// Chains are never longer: claim, composite, nested composites, managed resource.
inline constexpr std::size_t kChainLengthMax = 16;

// How the version came to us.
enum class Evidence : std::uint8_t {
  kOrdinaryRequest,      // anybody's request: states no new link
  kCompositeController,  // a request of a composite controller
  kFoundInPlace,         // seen by list or watch: a link needs the other side to name it too
};

// The fields of `object` that state a link to a parent, as one text: "uid:<controller's uid>",
// "claim:<group>/<kind>/<namespace>/<name>", "composed" (restored: composed, but no controller), or
// empty.
std::string LinkOf(const ObjectFacts& object);

// The object row of this version: parent and root by the accepted links. A link recorded in
// `known`, the row of the same uid so far, stays while its fields are unchanged, whoever updates
// it. Reads the ledger, writes nothing.
Object Place(const ObjectFacts& object, Evidence evidence, const std::optional<Object>& known,
             const Ledger& ledger);

// The slots from `object` itself up to its root, nearest first, climbed by accepted links.
std::vector<Slot> ChainOf(const Object& object, const Ledger& ledger);

// True when rows at `a` and `b` are allowed together: one slot, or one root and one is an ancestor
// of the other. `chain` is ChainOf the object at `a`.
bool AllowedTogether(const std::vector<Slot>& chain, const Row& b, const Ledger& ledger);

// Gives the root of `object`, placed for the first time, to what waits below it: children admitted
// before their parent was known, for which its slot is the root for the time being. `cause` goes to
// the audit log.
void GatherChildren(const Object& object, const std::string& cause, Ledger& ledger);

// Moves `object` and everything below it to `root`: objects, rows, and every ownership whose
// managing rows all moved. The ownership's party follows. Audited as `moved` with `cause`.
void MoveChain(const Object& object, const Slot& root, const std::string& cause, Ledger& ledger);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_LINEAGE_H_
