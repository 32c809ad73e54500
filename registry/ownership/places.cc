#include "registry/ownership/places.h"

#include "registry/identity/evidence.h"
#include "registry/identity/values.h"
#include "registry/ownership/rows.h"

namespace truce {
Place PlaceOf(const Owner& owner) {
  const ResourceIdentity& identity = owner.identity;
  return {.type = identity.type,
          .account = IsAccount(identity.account) ? identity.account : std::string(),
          .region = identity.region,
          .ns = {owner.root.cluster, owner.root.ns}};
}

std::optional<Place> PlaceFromTexts(std::string_view root, std::string_view identity) {
  Owner owner;
  if (!ReadSlot(root, owner.root) || !ReadIdentity(identity, owner.identity)) return std::nullopt;
  return PlaceOf(owner);
}

}  // namespace truce
