#include "webhook/watch/kinds.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "registry/base/name_table.h"
#include "registry/base/text.h"
#include "registry/identity/evidence.h"
#include "webhook/watch/accounts.h"

namespace truce {
namespace {

constexpr NameTable<Role::kOther> kRoles("definition", "composite definition", "provider config",
                                         "managed", "mapped", "composite", "claim", "other");

constexpr std::string_view kDefinitionGroup = "apiextensions.k8s.io";
constexpr std::string_view kDefinitionKind = "CustomResourceDefinition";
constexpr std::string_view kCompositeGroup = "apiextensions.crossplane.io";
constexpr std::string_view kCompositeKind = "CompositeResourceDefinition";

bool Has(const std::vector<std::string>& verbs, std::string_view verb) {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

std::map<GroupKind, Role> RolesOf(std::span<const CompositeKinds> composites) {
  std::map<GroupKind, Role> roles;
  for (const CompositeKinds& kinds : composites) {
    roles.emplace(kinds.composite, Role::kComposite);
    if (kinds.claim) roles.emplace(*kinds.claim, Role::kClaim);
  }
  return roles;
}

std::optional<Role> RoleOf(const GroupKind& kind, const KindRules& rules,
                           const std::map<GroupKind, Role>& composites) {
  if (kind.group == kDefinitionGroup && kind.kind == kDefinitionKind) return Role::kDefinition;
  if (kind.group == kCompositeGroup && kind.kind == kCompositeKind) {
    return Role::kCompositeDefinition;
  }
  if (IsProviderConfig(kind)) return Role::kProviderConfig;
  if (rules.catalogue->FindKind(kind.group, kind.kind) != nullptr) return Role::kManaged;
  if (const auto found = composites.find(kind); found != composites.end()) return found->second;
  if (!rules.mappings->Of(kind.group, kind.kind).empty()) return Role::kMapped;
  return std::nullopt;
}

// API servers take CRDs in domain names only, and in Kubernetes' own not those of an XRD.
bool IsDefinedGroup(std::string_view group) {
  constexpr std::size_t kNameBytesMax = 253;  // of a DNS name
  constexpr std::string_view kOwn = "k8s.io";
  const bool is_own = group == kOwn || group.ends_with(".k8s.io");
  return !is_own && group.size() <= kNameBytesMax && group.find('.') != std::string_view::npos &&
         group.front() != '.' && group.back() != '.' &&
         std::all_of(group.begin(), group.end(), IsDnsCharacter);
}

// Namespaces say something to ACK's controllers only.
bool IsAsked(const GroupKind& config, const Discovery& discovery, const KindRules& rules) {
  if (!config.group.empty()) return true;
  return std::ranges::any_of(discovery.kinds, [&](const DiscoveredKind& found) {
    const KindEntry* const entry = rules.catalogue->FindKind(found.kind.group, found.kind.kind);
    return entry != nullptr && SpecOf(entry->flavour).config_is_namespace;
  });
}

bool IsAlways(Role role) {
  return role == Role::kDefinition || role == Role::kCompositeDefinition ||
         role == Role::kProviderConfig || role == Role::kOther;
}

}  // namespace

std::string_view Name(Role role) { return kRoles.Of(role); }
std::optional<Role> RoleFromName(std::string_view name) { return kRoles.Find(name); }

bool IsRecorded(Role role) {
  return role == Role::kManaged || role == Role::kMapped || role == Role::kComposite ||
         role == Role::kClaim;
}

std::optional<CompositeKinds> ReadCompositeDefinition(Value definition) {
  const Value spec = definition.Child("spec");
  const std::string group(StringOf(spec.Child("group")));
  const std::string composite(StringOf(spec.Child("names").Child("kind")));
  if (!IsDefinedGroup(group) || composite.empty()) return std::nullopt;
  CompositeKinds kinds{{group, composite}, std::nullopt};
  const std::string claim(StringOf(spec.Child("claimNames").Child("kind")));
  if (!claim.empty() && claim != composite) kinds.claim = GroupKind{group, claim};
  return kinds;
}

bool IsDefinitionOf(std::string_view definition_name, const ServedKind& kind) {
  return definition_name.size() == kind.plural.size() + 1 + kind.group.size() &&
         definition_name.starts_with(kind.plural) && definition_name.ends_with(kind.group) &&
         definition_name[kind.plural.size()] == '.';
}

std::vector<FollowedKind> KindsToFollow(const Discovery& discovery, const KindRules& rules,
                                        std::span<const CompositeKinds> composites) {
  const std::map<GroupKind, Role> roles = RolesOf(composites);
  std::vector<FollowedKind> followed;
  for (const DiscoveredKind& found : discovery.kinds) {
    if (!Has(found.verbs, "list") || !Has(found.verbs, "watch")) continue;
    const GroupKind kind{found.kind.group, found.kind.kind};
    const auto other =
        std::find_if(rules.others.begin(), rules.others.end(),
                     [&](const FollowedKind& wanted) { return wanted.group_kind() == kind; });
    FollowedKind result;
    if (const auto role = RoleOf(kind, rules, roles)) {
      if (*role == Role::kProviderConfig && !IsAsked(kind, discovery, rules)) continue;
      result.role = *role;
    } else if (other != rules.others.end()) {
      result = *other;
      result.role = Role::kOther;
    } else {
      continue;
    }
    result.selection.kind = found.kind;
    const bool is_namespace = result.role == Role::kProviderConfig && kind.group.empty();
    result.selection.metadata_only = result.role == Role::kDefinition || is_namespace;
    result.always = IsAlways(result.role);
    followed.push_back(std::move(result));
  }
  std::sort(followed.begin(), followed.end(), [](const FollowedKind& a, const FollowedKind& b) {
    return std::tie(a.role, a.selection.kind) < std::tie(b.role, b.selection.kind);
  });
  return followed;
}

}  // namespace truce
