// References by object name, filled from what the registry knows (design section 3).
#ifndef TRUCE_REGISTRY_OWNERSHIP_RESOLVE_H_
#define TRUCE_REGISTRY_OWNERSHIP_RESOLVE_H_

#include "registry/catalogue/catalogue.h"
#include "registry/identity/identity.h"
#include "registry/ownership/facts.h"

namespace truce {

// Fills each part of `object` that is a reference by name (`bucketRef.name`) to an object the
// registry knows, and makes the keys that become complete. Otherwise the part stays unknown until
// the provider resolves it by UPDATE, which is judged then. Selectors are never resolved here.
// Reads nothing when the object has no unresolved reference.
void ResolveReferences(const Catalogue& catalogue, const Facts& facts, ObjectFacts& object);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_RESOLVE_H_
