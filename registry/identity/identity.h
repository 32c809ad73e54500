// Identity: from an object to what it declares. Pure functions.
#ifndef TRUCE_REGISTRY_IDENTITY_IDENTITY_H_
#define TRUCE_REGISTRY_IDENTITY_IDENTITY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/document.h"
#include "registry/catalogue/catalogue.h"
#include "registry/identity/mapping.h"
#include "registry/identity/values.h"

namespace truce {

// A part that is not known yet because the object names another object instead of a value. The
// registry's knowledge of that object may replace it (see Resolve).
struct Reference {
  std::string part;  // of the type's key: "bucket"
  std::string type;  // what it must name: "s3/Bucket"; empty when the catalogue cannot tell
  std::string path;  // "spec.forProvider.bucketRef"
  std::string name;  // of the object; empty for a selector
  std::string ns;    // of the object; empty: cluster-scoped, or the same namespace is not known

  bool operator==(const Reference&) const = default;
};

// A name by which an object declares a resource.
struct DeclaredName {
  KeyText text;
  bool observed = false;  // the object's own status alone shows it

  bool operator==(const DeclaredName&) const = default;
};

// A resource that an object declares, with everything known of it.
struct DeclaredResource {
  ResourceIdentity identity;
  // Its names, each once, at most kDeclaredNamesMax, in this order: the key, which the fields tell
  // once all parts (the account excepted) are known, else the id; the same under another account
  // (beside a known account the provisional account of its ProviderConfig, beside a provisional
  // account the account that the external name tells or the object's own status shows); the id that
  // AWS gave. None while not known yet (`missing` says which parts), for partial declarations, and
  // for names that AWS lets repeat.
  std::vector<DeclaredName> names;
  std::string further_account;  // the other one: 12 digits or "?<provisional account>"; empty: none
  // Names that may be of the same resource, and join nothing: those under the provisional accounts
  // of other ProviderConfigs that were found to lead to its account (FillPendingNames).
  std::vector<KeyText> pending_names;
  std::vector<std::string> missing;   // "spec.forProvider.bucketRef is not resolved yet"
  std::vector<Reference> references;  // those of `missing` that are references
  // The ARN in the object's status, where that alone tells `further_account` and references are
  // left: what it is of shows once they are resolved.
  std::string shown_arn;
  bool partial =
      false;  // a mapping rule that does not name every part: warns, never denies or reserves
  Intent intent = Intent::kDeletes;
  std::string name;     // what people call it: "prod-artifacts"
  std::string arn;      // empty unless every part of the template is known
  bool sure = true;     // the type's scope is researched: a conflict may deny by default
  bool late = false;    // name assigned by the provider: the annotation appears by UPDATE
  bool bound = false;   // the external name tells a name that the fields do not
  bool mapped = false;  // declared through a mapping rule, not by a managed resource itself
  // The provider has written an id over the external name: metadata.name stands for it, unless the
  // registry knows which name the object had (Restore).
  bool replaced = false;
  bool further_observed = false;  // the object's own status alone tells `further_account`

  bool operator==(const DeclaredResource&) const = default;

  // The first of its names; empty: it has none.
  const KeyText& key() const {
    static const KeyText kNone;
    return names.empty() ? kNone : names.front().text;
  }
};

inline constexpr std::size_t kDeclaredNamesMax = 4;

// A name that must not become a key: control or invisible characters, or non-ASCII where AWS's rule
// for the type allows ASCII only (confusables). The object is refused.
struct BadName {
  std::string type;
  std::string part;
  std::string shown;   // the value, safe to print: odd bytes as \u{…}
  std::string reason;  // "contains U+200B (zero width space)"

  bool operator==(const BadName&) const = default;
};

struct ObjectRef {
  std::string group;
  std::string kind;
  std::string ns;
  std::string name;
  Uid uid;  // empty where Kubernetes gives none (claimRef, resourceRefs)

  bool operator==(const ObjectRef&) const = default;
};

// Links that the object's fields state; whether they are evidence is lineage's decision
// (registry/ownership/lineage.h).
struct LineageFields {
  std::optional<ObjectRef> controller;  // metadata.ownerReferences[controller=true]
  std::optional<ObjectRef> claim;       // spec.claimRef
  std::optional<ObjectRef> composite;   // spec.resourceRef: the composite that a claim names
  std::vector<ObjectRef> resources;     // spec.resourceRefs, spec.crossplane.resourceRefs
  bool composed = false;                // carries crossplane.io/composition-resource-name
  std::string label;  // crossplane.io/composite: the name of the composite at the chain's top

  bool operator==(const LineageFields&) const = default;
};

// metadata.resourceVersion as a number; nothing: it is none, and cannot be compared.
std::optional<std::uint64_t> VersionNumber(std::string_view version);

// The facts that the core reads of one version of one object.
struct ObjectFacts {
  Slot slot;
  Uid uid;
  std::optional<std::uint64_t>
      version;  // metadata.resourceVersion as a number; none when it is not one
  std::optional<Timestamp> created;
  bool terminating = false;  // metadata.deletionTimestamp is set
  std::vector<std::string> finalizers;
  LineageFields lineage;
  std::string service;      // by the glossary's precedence; empty only for an object without a name
  std::string contact;      // from the configured annotation; may be empty
  std::string transfer_to;  // annotation truce.dev/transfer-to: "<kind>/<namespace>/<name>"
  std::vector<DeclaredResource> resources;
  std::vector<BadName> bad_names;
  // Not empty: the object's own ARN names another account than the stronger evidence that was used,
  // or another resource than its fields do. It is no name of the resource then.
  std::string account_disagreement;
  // Not empty: the external name, or what the status shows, looks like an ARN or a URL but is none
  // of this type at this place, or names another resource than the fields do; in words.
  std::string name_finding;
  bool known_kind = false;    // the catalogue or a mapping rule knows the kind
  bool managed = false;       // a managed resource (catalogue), not a mapped claim or composite
  bool composite = false;     // its kind is one that an XRD defines as composite
  bool real = false;          // an ARN or id in status.atProvider, or Ready=True
  bool deleting = false;      // Ready=False reason Deleting and Synced=True
  std::string shown_account;  // 12 digits, of the ARN in its status; else empty
  // The resource that its status shows by an id, a URL or an ARN, where that is another than its
  // fields name: `real` is said of that one. Empty: the same, or nobody can tell.
  KeyText shown_key;
  // Of a managed resource: IdentityRules::account_fields of its ProviderConfig; "none": there is no
  // such; empty: not known.
  std::string account_fields;
  // Added by a watch, of a version that it shows in order (E8): these fields were the only ones
  // since the object was made; its status was written since they are these, and says that its
  // provider found the resource.
  bool fields_all_along = false;
  bool fields_shown = false;
  // The provider's annotations external-create-pending and -succeeded: it began to create the
  // resource, or did (E3). Empty: neither.
  std::string created_marks;
  // Of a terminating object: an external-create-pending stands without a later -succeeded or
  // -failed, or one of these is later than the deletionTimestamp: that its provider finds nothing
  // is no proof (E8).
  bool creation_open = false;
  // That its provider lets go of it proves no deletion: it may do so and keep the resource (E8).
  bool is_end_unknown = false;
  // It does prove one, by what its config says: ConfigDefaults::deletes.
  bool is_end_by_config = false;
  // A digest of its external name, by which its provider looks for it; 0: it has none.
  std::uint64_t external_name = 0;

  bool operator==(const ObjectFacts&) const = default;
};

// How accounts are found for a ProviderConfig, by configuration. Strongest evidence first: this
// map, then the role ARN in the ProviderConfig (known from the watch, entered here too), then the
// object's own ARN.
struct ProviderConfigName {
  std::string group;  // "aws.upbound.io", "aws.m.upbound.io", "aws.crossplane.io"
  std::string kind;   // "ProviderConfig" or "ClusterProviderConfig"; of ACK "Namespace", whose
                      // group is empty
  std::string ns;
  std::string name;

  auto operator<=>(const ProviderConfigName&) const = default;
};

// Account (12 digits) -> the namespaces that may declare in it (setting `accountParties`). One that
// is not named is bound to nobody.
using AccountParties = std::map<std::string, std::set<std::string>, std::less<>>;

// ProviderConfigs whose account is known, while not all that stands under their provisional
// accounts has its name in that account yet: their provisional accounts ("?…"), by account.
using MovingAccounts = std::map<std::string, std::vector<std::string>>;

// The account that a ProviderConfig led to until its edit, whose resourceVersion is `until`.
struct FormerAccount {
  std::string account;
  std::uint64_t until = 0;

  bool operator==(const FormerAccount&) const = default;
};

// An endpoint that is not AWS: LocalStack, MinIO, Ceph. Resources of a ProviderConfig that leads
// there lie in a name space of their own (N6), written in names where AWS's have their partition.
struct OutsideEndpoint {
  std::string host;                // as it is written, in small letters: "localstack.dev:4566"
  std::set<std::string> services;  // "s3": whose kinds go there; empty: all

  auto operator<=>(const OutsideEndpoint&) const = default;
};
using OutsideEndpoints = std::map<ProviderConfigName, OutsideEndpoint>;

// Defaults of a namespace for the objects of ACK in it that do not say it themselves.
struct ConfigDefaults {
  std::string region;             // empty: none
  std::set<std::string> deletes;  // services ("s3") whose controllers are to delete resources
  std::set<std::string> retains;  // services whose controllers are to leave them

  auto operator<=>(const ConfigDefaults&) const = default;
};
using DefaultsMap = std::map<ProviderConfigName, ConfigDefaults>;

// The name space of an endpoint, in place of a partition: "@localstack.dev:4566".
std::string NameSpaceOf(const OutsideEndpoint& endpoint);
// Whether `partition` is such a name space.
bool IsNameSpace(std::string_view partition);

struct IdentityRules {
  std::string cluster;  // cluster id, [a-z0-9-]{1,32}
  const Catalogue* catalogue = nullptr;
  MappingRules mappings;
  std::map<ProviderConfigName, std::string> accounts;  // → 12 digits
  // The account of a version from before the edit: for the watch, which gets such versions late. A
  // review gets the version that it would replace, and knows none.
  std::map<ProviderConfigName, FormerAccount> former;
  // Of each ProviderConfig, what its account depends on, as a digest; nothing: not known, since
  // ProviderConfigs are not watched. One that is missing does not exist.
  std::optional<std::map<ProviderConfigName, std::string>> account_fields;
  // ProviderConfigs whose endpoint is not AWS: whoever owns it writes what a status shows there.
  OutsideEndpoints outside;
  // Patterns of hosts (setting `outsideEndpoints`) that are name spaces of their own. Any other
  // endpoint counts as AWS: it may be a way to it.
  std::vector<std::string> name_spaces = {"*"};
  DefaultsMap defaults;                     // of those that say any
  MovingAccounts moving;                    // read by FillPendingNames only
  std::set<GroupKind> composites;           // kinds that an XRD defines as composite
  std::vector<std::string> service_labels;  // configured label keys, first match wins
  std::string contact_annotation = "truce.dev/contact";
};

// The most resources that one object may declare (elements of lists, and of `*` in mappings). More
// is refused as a bad name: nothing real comes near, and reading only the first ones would hide the
// rest.
inline constexpr std::size_t kResourcesMax = 1024;

// Reads `object` (the whole Kubernetes object) of kind `kind`. Never fails: an object that declares
// nothing known gives facts without resources. Pure, deterministic; time grows with the object's
// size only. `default_ns` is the namespace of an object that names none, of a kind that has one;
// kinds beyond the catalogue are taken to have one.
ObjectFacts Identify(Value object, const GroupKind& kind, const IdentityRules& rules,
                     std::string_view default_ns = {});

// The facts that one mapping rule reads from `root`: a whole Kubernetes object, or a chart's
// values.
struct MappedFacts {
  std::vector<DeclaredResource> resources;
  std::vector<BadName> bad_names;
  std::string service;  // from the rule's path; empty: none
};
MappedFacts ReadMapping(Value root, const MappingRule& rule, const Catalogue& catalogue);

// Parts of a key by name, with "region" and "account", which are no names of parts. An empty text
// gives nothing.
using PartValues = std::map<std::string, std::string, std::less<>>;
// The facts of a rule that declares a resource of `type`, one of the catalogue, by these constants
// alone. Values of other names count for nothing.
MappedFacts ReadConstants(const TypeSpec& type, const PartValues& values, Intent intent,
                          const Catalogue& catalogue);

// The identity under the ProviderConfig's provisional account where the object has one, whatever is
// known of the account: the declaration of its own fields.
ResourceIdentity DeclaredIdentity(const DeclaredResource& resource);

// Fills the part that `reference` stands for with `value` (the name of the resource that the
// referenced object declares) and makes the key if that was the last missing part, as a value in
// its place would have done. Only for a reference of `resource`, found in `resource.references`,
// which is removed. False: the object's status is of another resource.
bool Resolve(DeclaredResource& resource, const Reference& reference, std::string_view value,
             const TypeSpec& spec);

// Names `resource`, whose name was replaced, `name` as before.
void Restore(DeclaredResource& resource, std::string_view name, const TypeSpec& spec);

// Adds the other spelling of a name within a zone as another name of `resource`: with the name of
// `zone` where the part `within` leaves it out, else without it. Nothing without key.
void AddZoneSpelling(DeclaredResource& resource, const KeyPart& within, std::string_view zone,
                     const TypeSpec& spec);

// The key of the resource into which the attachment `identity` writes, or nothing when the type is
// no attachment, or the declaration does not name its parent.
std::optional<KeyText> ParentKeyOf(const ResourceIdentity& identity, const TypeSpec& spec,
                                   const Catalogue& catalogue);

// The key of `identity` under `spec`, or nothing when a part of its scope is missing:
// `space|partition|account or ?provisional account|region|part=value|…`.
std::optional<KeyText> KeyOf(const ResourceIdentity& identity, const TypeSpec& spec);

// The same for an identity that another catalogue made: a part that it had not yet has its default,
// and what parts make of each other is done anew.
std::optional<KeyText> KeyAnew(ResourceIdentity identity, const TypeSpec& spec);

// The party that may act for `root`, as the registry keeps it: `ns:<cluster>/<namespace>` for a
// namespaced root, else `slot:<slot>`. Configuration rewrites nothing that is kept (W4).
PartyId PartyOf(const Slot& root);

// Which parties are one: `services` binds namespaces to a service name that stands for a party
// (`service:<name>`). And whose words count.
struct PartyRules {
  std::map<std::string, std::string> services;  // "<cluster>/<namespace>" → service
  bool unbound_claimable = false;               // setting `unboundComposites: claimable` (R5)
  // Changes of statuses are reviewed: names known from a status alone are a provider's word. They
  // deny, and a tenant's ProviderConfig or external name takes none of them (W5).
  bool statuses_guarded = false;
};
// The party that configuration binds `party` to: `service:<name>`; else `party` itself. Idempotent.
PartyId Bound(const PartyId& party, const PartyRules& rules);
// Whether both are bound to one party.
bool OneParty(const PartyId& a, const PartyId& b, const PartyRules& rules);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_IDENTITY_H_
