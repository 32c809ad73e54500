// From the parts that were read, and what the external name and the status tell beside them, to the
// resources that are declared: keys, ARNs, names for people.
#ifndef TRUCE_REGISTRY_IDENTITY_DRAFT_H_
#define TRUCE_REGISTRY_IDENTITY_DRAFT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/catalogue/catalogue.h"
#include "registry/identity/evidence.h"
#include "registry/identity/identity.h"
#include "registry/identity/parts.h"

namespace truce {

// An id that AWS gave to a resource whose key does not hold it.
struct AssignedId {
  std::string_view text;      // empty: none is known
  bool whole = false;         // it is a whole text, an ARN or a URL
  bool in_partition = false;  // it exists once, over all accounts and regions
  bool observed = false;      // the object's status alone shows it
};

// The id that `text` tells by `reading`, which tells no key: the reading's, else the whole text;
// nothing where that is no ARN or URL.
std::optional<AssignedId> IdIn(std::string_view text, const NameReading& reading,
                               const TypeSpec& type);

// Everything that one declaration says about one type of resource.
struct Draft {
  explicit Draft(const TypeSpec& spec);

  const TypeSpec* type;
  // The fields that its resources share: type, partition, account, region and the missing ones of
  // them, a further account, the intent.
  DeclaredResource each;
  std::vector<Reading> parts;  // of the key, in the catalogue's order
  std::vector<Reading> extra;  // beside the key
  std::string_view own_arn;    // that of the object's status; empty: it tells no further account
  AssignedId id;
};

// Puts `region` and its partition into the draft; where it is no text that a region could be, a bad
// name instead. `missing` is said of a region that is not there and that the key needs.
void TakeRegion(std::string_view region, std::string missing, const PartContext& context,
                Draft& draft);

// A resource in a parent lies where the parent does: where its ARN, its URL or another form of its
// name (the first part) tells region and account, those count, as an account field of the type
// would. They may be others than the object's and its ProviderConfig's.
void LieWithParent(Draft& draft);

// Appends one resource per combination of the parts' elements, and one without key for what is not
// known yet. An assigned id is the last name of the only resource, or the key of one whose parts
// are not known; beside several it is one more, kept by the id alone. An observed account is left
// out where the object's own ARN names another resource. More than kResourcesMax combinations make
// one bad name and no key.
void AppendResources(const Draft& draft, std::vector<DeclaredResource>& resources,
                     std::vector<BadName>& bad_names);

// The name of a resource by the id that AWS gave it: in the partition of `place`, and
// where the id does not exist once there, in its account and region.
KeyText AssignedName(const ResourceIdentity& place, const TypeSpec& spec, const AssignedId& id);

// Whether the name is an id that AWS gave, kept apart from all that fields can spell.
bool IsAssignedName(const KeyText& name);

// The external name of an object, read by the forms of its type.
struct ExternalName {
  std::string_view text;               // empty: none is written
  std::optional<NameReading> reading;  // nothing: it has no form, or names what lies elsewhere
  std::string finding;                 // see ObjectFacts::name_finding
};

// The resource that the status of `view` names by an id, a URL or an ARN, where what the draft
// knows of it differs; empty: the same, or not known. To be asked with the draft's parts read.
KeyText ShownKey(const ObjectView& view, const Draft& draft);

// Reads the annotation of `view` for a resource that lies at `place` (of `account` where one is
// known, else empty). A text that looks like an ARN or a URL and is none of the type, or one of
// another partition, region or account, is no name of anything: it counts as it stands, with a
// finding.
ExternalName ReadExternalName(const ObjectView& view, const TypeSpec& type,
                              const ResourceIdentity& place, std::string_view account);

// Adds to `draft`, whose parts were read from the fields, what the external name tells beside them:
// the account of its resource, parts that no field states, the id that AWS gave. Where it tells
// other parts than the fields do, nothing says which of both is right: returns what it names as
// another declaration, with a finding.
std::optional<Draft> TakeExternalName(ExternalName& external, const PartContext& context,
                                      Draft& draft);

// Adds what the status shows and neither configuration nor the external name tells. Returns a
// finding where it disagrees with the external name.
std::string TakeStatus(const ObjectView& view, const ExternalName& external, Draft& draft);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_DRAFT_H_
