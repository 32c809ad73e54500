#include "registry/ownership/resolve.h"

#include <optional>
#include <string>
#include <vector>

namespace truce {
namespace {

// The slot that `reference` names: an object of the referenced type, declared in the same flavour.
std::optional<Slot> SlotOf(const Reference& reference, const TypeSpec& type, Flavour flavour,
                           const std::string& cluster) {
  for (const KindSpec& kind : type.kinds) {
    if (kind.flavour != flavour) continue;
    return Slot{cluster, kind.group, kind.kind, reference.ns, reference.name};
  }
  return std::nullopt;
}

// The name of the resource of `type` that the object at `slot` declares.
std::optional<std::string> NameAt(const Slot& slot, const std::string& type, const Facts& facts) {
  const auto object = facts.ObjectBySlot(slot);
  if (!object) return std::nullopt;
  for (const Row& row : facts.RowsOfUid(object->uid)) {
    if (row.identity.type == type && !row.identity.parts.empty()) {
      return row.identity.parts.front().second;
    }
  }
  return std::nullopt;
}

}  // namespace

void ResolveReferences(const Catalogue& catalogue, const Facts& facts, ObjectFacts& object) {
  const KindEntry* own = nullptr;
  for (DeclaredResource& resource : object.resources) {
    if (resource.references.empty()) continue;
    if (own == nullptr) own = catalogue.FindKind(object.slot.group, object.slot.kind);
    const TypeSpec* spec = catalogue.FindType(resource.identity.type);
    if (own == nullptr || spec == nullptr) continue;
    const std::vector<Reference> references = resource.references;
    for (const Reference& reference : references) {
      const TypeSpec* type = reference.type.empty() ? nullptr : catalogue.FindType(reference.type);
      if (type == nullptr || reference.name.empty()) continue;
      const auto slot = SlotOf(reference, *type, own->flavour, object.slot.cluster);
      const auto name = slot ? NameAt(*slot, reference.type, facts) : std::nullopt;
      if (name) Resolve(resource, reference, *name, *spec);
    }
  }
}

}  // namespace truce
