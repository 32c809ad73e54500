// Lineage: which links between objects count, and the chain and root they give (W1 to W3).
//
// Links are: child → composite by a controller owner reference; composite → claim by spec.claimRef;
// and of a restored object, which has lost its owner references, the label that names the composite
// at the top. A composite controller's word counts for the link that its request adds or changes;
// else both sides must name each other (W2): the composite's resourceRefs or the claim's
// resourceRef the object, too. A label alone is never evidence.
//
// An object keeps its root of record while it has no accepted parent, also when its link is gone
// (E5). A link moves it under another root only within the party, by a transfer, or when its chain
// has no party yet (W3).
#ifndef TRUCE_REGISTRY_OWNERSHIP_LINEAGE_H_
#define TRUCE_REGISTRY_OWNERSHIP_LINEAGE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/identity/identity.h"
#include "registry/ownership/terms.h"

namespace truce {

class Ledger;
struct Object;

// Chains are never longer: claim, composite, nested composites, managed resource.
inline constexpr std::size_t kChainLengthMax = 16;

// How the version came to us.
enum class Evidence : std::uint8_t {
  kBothSides,       // seen, or anybody's request: a link needs the other side to name it too
  kController,      // a composite controller's request that adds or changes the link
  kControllerKept,  // a composite controller's other request: only its resourceRefs count
};

// The fields of `object` that state a link to a parent, as one text: "uid:<controller's uid>",
// "claim:<group>/<kind>/<namespace>/<name>", "composed:<label>" (restored: composed, but no
// controller), or empty.
std::string LinkOf(const ObjectFacts& object);

// The links that LinkOf recorded of `object`: its controller, its claim, or nothing.
std::optional<Uid> ControllerOf(const Object& object);
std::optional<Slot> ClaimOf(const Object& object);
// Whether only a label says that it is composed: it was restored.
bool OnlyLabelled(const Object& object);
// The name of a composite in that label; empty where it is not all that says so, or names none.
std::string_view LabelOf(const Object& object);
// Whether the resourceRef(s) of `object` name `slot`.
bool Names(const Object& object, const Slot& slot);

// The object row of this version: parent and root by the accepted links. A link recorded in
// `known`, the row of the same uid so far, stays while its fields are unchanged, whichever user
// updates it. Reads the ledger, writes nothing. Fields that are no part of the lineage
// (transfer_to, unproven_marks, stripped) are taken from `known`.
Object ObjectOf(const ObjectFacts& object, Evidence evidence, const std::optional<Object>& known,
                const Ledger& ledger);

// The slots from `object` itself up to its root, nearest first, climbed by accepted links.
std::vector<Slot> ChainOf(const Object& object, const Ledger& ledger);

// The speaker for the root of `object`: the topmost living object of its chain, which is the root
// itself while it lives (W6).
Object SpeakerOf(const Object& object, const Ledger& ledger);

// Whether `parent` names the known object `top` of another chain and that one names `parent`, and
// may come under its root: the chain joins (W3).
bool Joins(const Object& top, const Object& parent, const Ledger& ledger);

// Claims and composites are the ancestors of objects that they name and that name them back: those
// come under the root of `parent`, with all below them, where W3 lets them.
void AdoptNamed(const Object& parent, Ledger& ledger);

// Whether the label of the object names a composite that does not exist, and that the living claim
// at `root` names: it is to be restored (R2).
bool NamedByMissing(const ObjectFacts& object, const Slot& root, const Ledger& ledger);

// The same before that composite is back: the label of the known object `top`, which has no party
// yet, names a composite that `claim` names and that does not exist, or that names `top`. Only a
// restorer may bring such a claim (R2).
bool AwaitsClaim(const Object& top, const Object& claim, const Ledger& ledger);

// Moves `object` and everything below it to `root`: objects, rows, and every ownership whose
// managing rows all moved. The ownership's party follows. Audited as `moved` with `cause`.
void MoveChain(const Object& object, const Slot& root, const std::string& cause, Ledger& ledger);

// Puts the object as it was placed now. With it moves what is below it; placed for the first time
// it gives its root to what waits below it: children admitted before their parent was known, for
// which its slot is the root for the time being.
void PutPlaced(const Object& object, const std::optional<Object>& before, const std::string& cause,
               Ledger& ledger);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_LINEAGE_H_
