// What an object says of its surroundings: the fields that identity reads, found in one pass;
// service, account, partition, and what it does to its resource.
#ifndef TRUCE_REGISTRY_IDENTITY_EVIDENCE_H_
#define TRUCE_REGISTRY_IDENTITY_EVIDENCE_H_

#include <optional>
#include <string>
#include <string_view>

#include "registry/base/document.h"
#include "registry/catalogue/catalogue.h"
#include "registry/identity/identity.h"

namespace truce {

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
  Value for_provider;
  Value init_provider;
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
// release, namespace/name. What cannot stand in a sentence (control characters, length) is passed
// over.
std::string ServiceOf(const ObjectView& view, const IdentityRules& rules);

// Where `object` gives the service that its facts have: "label app.kubernetes.io/part-of",
// "annotation meta.helm.sh/release-name", or "field spec.appName" of its kind's mapping rule.
// Empty: nowhere, it is its own name.
std::string ServiceSourceOf(Value object, const ObjectFacts& facts, const IdentityRules& rules);

// The application of `app:group/Kind:namespace/name`; empty when the text has another form.
std::string_view ArgoApplication(std::string_view tracking_id);

// What the declaration does to its resource, from its management policies and deletion policy
// (crossplane-runtime, pkg/reconciler/managed/policies.go; the older singular field too).
Intent IntentOf(const ObjectView& view, Flavour flavour);

// The partition in which `region` lies; "aws" for an empty or unknown one.
std::string_view PartitionOf(std::string_view region);

// Whether `text` is an account number: 12 digits.
bool IsAccount(std::string_view text);

// The account in `arn`; empty when it is not an ARN or names none.
std::string_view AccountOfArn(std::string_view arn);

struct AccountEvidence {
  std::string account;       // 12 digits, from the object's own field or configuration; else empty
  std::string observed;      // 12 digits, from its status, where `account` is not known
  bool own_field = false;    // `account` is that of the type's own account field
  bool foreign = false;      // the type's own account field names no account (a federated catalog)
  std::string disagreement;  // see ObjectFacts::account_disagreement
};
// The account of a managed resource of kind `kind`: the type's own account field, else
// configuration; beside them what the object's own ARN shows.
AccountEvidence AccountOf(const ObjectView& view, const KindEntry& kind,
                          const IdentityRules& rules);

// The ARN that the object's own status shows; empty: none.
std::string_view OwnArn(const ObjectView& view);

// The ProviderConfig of a managed resource; nothing for any other object.
std::optional<ProviderConfigName> ConfigOf(const ObjectView& view, const GroupKind& kind,
                                           const Catalogue& catalogue);

// The endpoint outside of AWS that requests for the object go to; null: they go to AWS. Its status
// shows no names then.
const OutsideEndpoint* EndpointOf(const ObjectView& view, const KindEntry& kind,
                                  const IdentityRules& rules);

// Whether the endpoint is a name space of its own by IdentityRules::name_spaces.
bool HasNameSpace(const IdentityRules& rules, const OutsideEndpoint& endpoint);

// What ObjectFacts::account_fields is for the object.
std::string AccountFieldsOf(const ObjectView& view, const KindEntry& kind,
                            const IdentityRules& rules);

// "?cluster/group/kind/namespace/name" of the ProviderConfig: what stands in a key for an unknown
// account.
std::string ProvisionalAccountOf(const ObjectView& view, const KindEntry& kind,
                                 const IdentityRules& rules);

// The path of a field, such as "status.atProvider.arn", that Identify reads names from and in which
// `object` and `old_object`, two versions of one object of kind `kind`, differ; empty: they agree
// in all such fields. A field that comes or goes differs too. Whatever Identify begins to read
// names from belongs into this function.
std::string_view ChangedNameField(Value object, Value old_object, const KindEntry& kind);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_EVIDENCE_H_
