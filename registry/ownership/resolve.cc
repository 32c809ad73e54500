#include "registry/ownership/resolve.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "registry/identity/values.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

// The slot that `reference` of the object at `own` names: an object of the referenced type,
// declared in the same flavour. Without a namespace it means the object's own (R1).
std::optional<Slot> SlotOf(const Reference& reference, const TypeSpec& type, Flavour flavour,
                           const Slot& own) {
  for (const KindSpec& kind : type.kinds) {
    if (kind.flavour != flavour) continue;
    const std::string& ns = reference.ns.empty() ? own.ns : reference.ns;
    return Slot{own.cluster, kind.group, kind.kind, ns, reference.name};
  }
  return std::nullopt;
}

// The name of the resource of `type` that the object declares.
std::optional<std::string> NameOf(const Uid& uid, const std::string& type, const Facts& facts) {
  for (const Row& row : facts.RowsOfUid(uid)) {
    if (row.identity.type == type && !row.identity.parts.empty()) {
      return row.identity.parts.front().second;
    }
  }
  return std::nullopt;
}

const std::string* PartOf(const ResourceIdentity& identity, std::string_view name) {
  for (const auto& [part, value] : identity.parts) {
    if (part == name) return &value;
  }
  return nullptr;
}

void SpellZones(const Catalogue& catalogue, const Facts& facts, DeclaredResource& resource) {
  const TypeSpec* spec = catalogue.FindType(resource.identity.type);
  if (spec == nullptr || resource.key().empty()) return;
  for (const KeyPart& part : spec->parts) {
    if (part.within.empty()) continue;
    const std::string name = ZoneNameOf(resource.identity, catalogue, facts);
    if (!name.empty()) AddZoneSpelling(resource, part, name, *spec);
  }
}

}  // namespace

std::string ZoneNameOf(const ResourceIdentity& identity, const Catalogue& catalogue,
                       const Facts& facts) {
  const TypeSpec* spec = catalogue.FindType(identity.type);
  if (spec == nullptr) return {};
  const auto part =
      std::ranges::find_if(spec->parts, [](const KeyPart& each) { return !each.within.empty(); });
  if (part == spec->parts.end()) return {};
  const auto zone = std::ranges::find(spec->parts, part->within, &KeyPart::name);
  const std::string* id = PartOf(identity, part->within);
  const TypeSpec* type = zone == spec->parts.end() ? nullptr : catalogue.FindType(zone->refers_to);
  if (type == nullptr || id == nullptr || type->parts.empty()) return {};
  const ResourceIdentity whole{type->name,
                               identity.partition,
                               identity.account,
                               identity.region,
                               {{type->parts.front().name, *id}}};
  const auto key = KeyOf(whole, *type);
  const auto owner = key ? OwnerByName(*key, facts) : std::nullopt;
  const std::string* name = owner ? PartOf(owner->identity, "name") : nullptr;
  return name == nullptr ? std::string() : *name;
}

void ResolveReferences(const Catalogue& catalogue, const Facts& facts, ObjectFacts& object) {
  const KindEntry* own = nullptr;
  for (DeclaredResource& resource : object.resources) {
    if (resource.references.empty() && !resource.replaced) continue;
    if (own == nullptr) own = catalogue.FindKind(object.slot.group, object.slot.kind);
    const TypeSpec* spec = catalogue.FindType(resource.identity.type);
    if (own == nullptr || spec == nullptr) continue;
    if (resource.replaced) {
      const auto name = NameOf(object.uid, spec->name, facts);
      if (name) Restore(resource, *name, *spec);
    }
    const std::vector<Reference> references = resource.references;
    for (const Reference& reference : references) {
      const TypeSpec* type = reference.type.empty() ? nullptr : catalogue.FindType(reference.type);
      if (type == nullptr || reference.name.empty()) continue;
      const auto slot = SlotOf(reference, *type, own->flavour, object.slot);
      const auto there = slot ? facts.ObjectBySlot(*slot) : std::nullopt;
      const auto name = there ? NameOf(there->uid, reference.type, facts) : std::nullopt;
      // As a value in the reference's place: it witnesses nothing of this one (E8).
      if (name && !Resolve(resource, reference, *name, *spec)) {
        object.account_disagreement.assign(SpecOf(own->flavour).shown_by);
        object.account_disagreement += " names another resource: " + Printable(resource.shown_arn);
      }
    }
  }
  for (DeclaredResource& resource : object.resources) SpellZones(catalogue, facts, resource);
}

void ResolveHeld(const Catalogue& catalogue, const Facts& facts, const ObjectFacts& object,
                 ObjectFacts& before) {
  const auto is_left = [&](const Reference& reference) {
    return std::any_of(object.resources.begin(), object.resources.end(), [&](const auto& resource) {
      const std::vector<Reference>& left = resource.references;
      return std::find(left.begin(), left.end(), reference) != left.end();
    });
  };
  for (DeclaredResource& resource : before.resources) {
    std::erase_if(resource.references, [&](const Reference& each) { return !is_left(each); });
  }
  ResolveReferences(catalogue, facts, before);
}

}  // namespace truce
