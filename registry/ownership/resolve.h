// References by object name, filled from what the registry knows.
#ifndef TRUCE_REGISTRY_OWNERSHIP_RESOLVE_H_
#define TRUCE_REGISTRY_OWNERSHIP_RESOLVE_H_

#include <string>

#include "registry/catalogue/catalogue.h"
#include "registry/identity/identity.h"

namespace truce {

class Facts;

// Fills each part of `object` that is a reference by name (`bucketRef.name`) to an object the
// registry knows, and makes the keys that become complete. Otherwise the part stays unknown until
// the provider resolves it by UPDATE, which is decided on then. Selectors are never resolved here.
// A name that the provider has replaced by an id is the one that the object had before. A name
// within a zone that the registry knows gets its other spelling, with or without the zone's name
// (N8). Reads nothing when the object has none of these.
void ResolveReferences(const Catalogue& catalogue, const Facts& facts, ObjectFacts& object);

// The same for the version before `object`, which is not resolved yet: only references that
// `object` has too. A part that it spells out instead was not held by a reference before (R1).
void ResolveHeld(const Catalogue& catalogue, const Facts& facts, const ObjectFacts& object,
                 ObjectFacts& before);

// The name of the zone in which the resource of `identity` lies, as the zone's owner declares it;
// empty: it lies in none, or nobody declares it.
std::string ZoneNameOf(const ResourceIdentity& identity, const Catalogue& catalogue,
                       const Facts& facts);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_RESOLVE_H_
