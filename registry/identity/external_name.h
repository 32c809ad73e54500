// What the external name, and what the status shows, tell of which resource an object means.
#ifndef TRUCE_REGISTRY_IDENTITY_EXTERNAL_NAME_H_
#define TRUCE_REGISTRY_IDENTITY_EXTERNAL_NAME_H_

#include <optional>
#include <string>
#include <string_view>

#include "registry/catalogue/catalogue.h"
#include "registry/identity/draft.h"
#include "registry/identity/object_view.h"
#include "registry/identity/parts.h"

namespace truce {

// The external name of an object, read by the forms of its type.
struct ExternalName {
  std::string_view text;               // empty: none is written
  std::optional<NameReading> reading;  // nothing: it has no form, or names what lies elsewhere
  bool whole = false;                  // the id is the whole text, an ARN: it exists once
  std::string finding;                 // see ObjectFacts::name_finding
};

// Reads the annotation of `view` for a resource that lies at `place` (of `account` where one is
// known, else empty). A text that looks like an ARN or a URL and is none of the type, or one of
// another partition, region or account, is no name of anything: it counts as it stands, with a
// finding.
ExternalName ReadExternalName(const ObjectView& view, const TypeSpec& type,
                              const ResourceIdentity& place, std::string_view account);

// Adds to `draft`, whose parts were read from the fields, what the external name tells beside them:
// the account of its resource, parts that no field states, the id that AWS gave. Where it tells
// other parts than the fields do, nothing says which of both is meant: returns what it names as
// another declaration, with a finding.
std::optional<Draft> TakeExternalName(ExternalName& external, const PartContext& context,
                                      Draft& draft);

// Adds what the status shows and neither configuration nor the external name tells. Returns a
// finding where it disagrees with the external name.
std::string TakeStatus(const ObjectView& view, const ExternalName& external, Draft& draft);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_EXTERNAL_NAME_H_
