// Which kinds are followed: a pure function of what is served, the catalogue, the mapping rules and
// the XRDs.
#ifndef TRUCE_WEBHOOK_WATCH_KINDS_H_
#define TRUCE_WEBHOOK_WATCH_KINDS_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/document.h"
#include "registry/catalogue/catalogue.h"
#include "registry/identity/mapping.h"
#include "registry/identity/values.h"
#include "webhook/kube/cluster_api.h"

namespace truce {

// The kind of the object in `slot`.
inline GroupKind GroupKindOf(const Slot& slot) { return {slot.group, slot.kind}; }
inline bool IsOf(const Slot& slot, const GroupKind& kind) {
  return slot.group == kind.group && slot.kind == kind.kind;
}

// The role of a followed kind's objects for the registry. Values order the first start: kinds that
// the later ones need to be understood are listed first.
enum class Role : std::uint8_t {
  kDefinition,           // CustomResourceDefinition, metadata only: says which kinds terminate
  kCompositeDefinition,  // XRD: says which kinds are composites and claims
  kProviderConfig,       // says which account; a Namespace, where kinds of ACK are served
  kManaged,              // a kind of the catalogue
  kMapped,               // a kind of a mapping rule that no XRD defines
  kComposite,            // of an XRD, mapped or not: between a claim and its resources
  kClaim,                // of an XRD, mapped or not
  kOther,                // of somebody else: handed to the observer unread (OnOther)
};
std::string_view Name(Role role);  // "managed", "mapped", "composite", "claim", …
std::optional<Role> RoleFromName(std::string_view name);

// Whether sights of the role become rows or objects of the registry.
bool IsRecorded(Role role);

struct FollowedKind {
  Selection selection;
  Role role = Role::kManaged;
  // False: once found empty it is polled instead of watched, until it has an object or an admitted
  // declaration.
  bool always = false;

  GroupKind group_kind() const { return {selection.kind.group, selection.kind.kind}; }
  bool operator==(const FollowedKind&) const = default;
};

// The kinds that one XRD defines.
struct CompositeKinds {
  GroupKind composite;
  std::optional<GroupKind> claim;

  auto operator<=>(const CompositeKinds&) const = default;
};
// Reads a CompositeResourceDefinition; nothing when it names no kind, or a group in which no XRD
// can define one: no domain name, or Kubernetes' own (k8s.io), which it must not draw into the
// webhook. A claim of the composite's own kind is none.
std::optional<CompositeKinds> ReadCompositeDefinition(Value definition);

// Whether the CRD of this name, "<plural>.<group>", defines `kind`.
bool IsDefinitionOf(std::string_view definition_name, const ServedKind& kind);

struct KindRules {
  const Catalogue* catalogue = nullptr;
  const MappingRules* mappings = nullptr;
  std::vector<FollowedKind> others;  // role kOther: followed when served, whatever they select
};

// The kinds to follow, sorted by role, then kind. A kind without the verbs list and watch is left
// out. Composites and claims of all XRDs are followed, not of mapped ones only: they are the roots
// of managed resources, for people and for parties.
std::vector<FollowedKind> KindsToFollow(const Discovery& discovery, const KindRules& rules,
                                        std::span<const CompositeKinds> composites);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_KINDS_H_
