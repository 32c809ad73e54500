// Reads an object's surroundings: the fields that identity reads, service, account,
// partition, and what it does to its resource.
#ifndef TRUCE_REGISTRY_IDENTITY_EVIDENCE_H_
#define TRUCE_REGISTRY_IDENTITY_EVIDENCE_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/document.h"
#include "registry/catalogue/catalogue.h"
#include "registry/identity/identity.h"

namespace truce {

// The place of some fields of a declaration.
struct Section {
  std::string_view name;  // "spec.forProvider"
  Value value;
};

// Cursors, missing where the object has no such field; valid while the object's Document lives.
struct ObjectView {
  // metadata
  std::string_view name;
  std::string_view ns;
  std::string_view uid;
  std::string_view resource_version;
  std::string_view created;
  Value labels;
  Value annotations;
  Value owner_references;
  Value finalizers;
  bool terminating = false;
  std::string_view deleted;  // deletionTimestamp

  // spec
  std::array<Section, 2> fields;  // where a declaration's fields stand; the first one wins
  // The name or id by which its provider looks for the resource, and its place.
  std::string_view external_name;
  std::string_view external_name_place;
  Value provider_config;
  Value management_policies;
  std::string_view management_policy;
  std::string_view deletion_policy;
  Value claim_ref;
  Value resource_ref;
  Value resource_refs;
  Value crossplane;

  // status
  Value at_provider;
  Value conditions;

  // The text of an annotation; empty when there is none.
  std::string_view Annotation(std::string_view key) const;
  std::string_view Label(std::string_view key) const;
};

ObjectView ViewObject(Value object);

// The claim that a composite of `cluster` names in spec.claimRef.
std::optional<ObjectRef> ReadClaimRef(const ObjectView& view, std::string_view cluster);

// The contents of a string; empty for everything else.
std::string_view StringOf(Value value);

// The owning service by the glossary's precedence: a configured label, the Argo CD application
// (tracking id, else its label), app.kubernetes.io/part-of, app.kubernetes.io/instance, the Helm
// release, namespace/name. A text that fits no sentence (control characters, length) is passed
// over.
std::string ServiceOf(const ObjectView& view, const IdentityRules& rules);

// Where `object` gives the service that its facts have: "label app.kubernetes.io/part-of",
// "annotation meta.helm.sh/release-name", or "field spec.appName" of its kind's mapping rule.
// Empty: nowhere, it is its own name.
std::string ServiceSourceOf(Value object, const ObjectFacts& facts, const IdentityRules& rules);

// The intent of a declaration of Crossplane, from its management policies and deletion
// policy (crossplane-runtime, pkg/reconciler/managed/policies.go; the older singular field too).
Intent IntentOf(const ObjectView& view, Flavour flavour);

// A part of AWS that shares nothing with the others (botocore, data/partitions.json).
struct Partition {
  std::string_view name;
  std::string_view regions;  // how the names of its regions begin; empty: in no way that tells
  std::string_view suffix;   // of host names
};
// Each once but for aws-iso-f, whose regions begin in two ways.
inline constexpr std::array<Partition, 9> kPartitions = {{
    {"aws", "", "amazonaws.com"},
    {"aws-cn", "cn-", "amazonaws.com.cn"},
    {"aws-us-gov", "us-gov-", "amazonaws.com"},
    {"aws-iso", "us-iso-", "c2s.ic.gov"},
    {"aws-iso-b", "us-isob-", "sc2s.sgov.gov"},
    {"aws-iso-e", "eu-isoe-", "cloud.adc-e.uk"},
    {"aws-iso-f", "us-isof-", "csp.hci.ic.gov"},
    {"aws-iso-f", "eu-isof-", "csp.hci.ic.gov"},
    {"aws-eusc", "eusc-", "amazonaws.eu"},
}};
// The partition in which `region` lies; "aws" for an empty or unknown one.
const Partition& PartitionOf(std::string_view region);

// Whether `text` is an account number: 12 digits.
bool IsAccount(std::string_view text);

// The account in `arn`; empty when it is not an ARN or names none.
std::string_view AccountOfArn(std::string_view arn);

// The ARN that the object's own status shows; empty: none.
std::string_view OwnArn(const ObjectView& view);

// The ProviderConfig of a managed resource of kind `kind`.
ProviderConfigName ConfigOf(const ObjectView& view, const KindEntry& kind);

// The account that configuration tells for a managed resource with this ProviderConfig: 12 digits;
// empty: none. A view of `rules`.
std::string_view ConfiguredAccount(const ObjectView& view, const ProviderConfigName& config,
                                   const IdentityRules& rules);

// The endpoint outside of AWS that requests for a resource of `type` go to; null: they go to AWS.
// Its status shows no names then.
const OutsideEndpoint* EndpointOf(const ProviderConfigName& config, const TypeSpec& type,
                                  const IdentityRules& rules);

// Whether the endpoint is a name space of its own by IdentityRules::name_spaces.
bool HasNameSpace(const IdentityRules& rules, const OutsideEndpoint& endpoint);

// "?cluster/group/kind/namespace/name" of the ProviderConfig: replaces an unknown account in a key.
std::string ProvisionalAccountOf(const ProviderConfigName& config, std::string_view cluster);

// The path of a field, such as "status.atProvider.arn", that Identify reads names from and in which
// `object` and `old_object`, two versions of one object of kind `kind`, differ; empty: they agree
// in all such fields. A field that comes or goes differs too. Whatever Identify begins to read
// names from belongs into this function.
std::string ChangedNameField(Value object, Value old_object, const KindEntry& kind);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_EVIDENCE_H_
