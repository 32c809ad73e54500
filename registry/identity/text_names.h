// Names in a text by itself, without an object around it: an ARN, a URL, an id that AWS gave.
#ifndef TRUCE_REGISTRY_IDENTITY_TEXT_NAMES_H_
#define TRUCE_REGISTRY_IDENTITY_TEXT_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "registry/catalogue/catalogue.h"
#include "registry/identity/values.h"

namespace truce {

// A name of one type that the text may spell.
struct TextName {
  KeyText name;         // under kAnyAccount where the account is needed and the text has none
  std::string account;  // 12 digits; empty: the text has none, or it is not part of the name

  bool operator==(const TextName&) const = default;
};
// Stands in a name for an account that the text does not have. No resource has a name with it.
inline constexpr std::string_view kAnyAccount = "?";

struct TextNames {
  std::vector<TextName> names;  // each once, in the catalogue's order
  bool lacks_region = false;    // of some types it would be a name, were its region known
  // One of them is more than a guess: an ARN of a service that nothing in the catalogue has still
  // fits the forms of types whose ARNs are not researched.
  bool recognised = false;
};

// Every name that `text` spells by the forms of the types (column external_name) and by their ARN
// templates. `place` says what the text leaves open: account and region; empty: not known. A
// partition that nothing tells may be any. Time in proportion to the catalogue: for questions of
// people, not for reviews.
TextNames NamesInText(std::string_view text, const ResourceIdentity& place,
                      const Catalogue& catalogue);

// Whether `key` is spelt as a name that the registry prints of some type
// (`s3/Bucket|aws|||name=jobs`): with that type's parts, or an id.
bool IsNameOfRegistry(std::string_view key, const Catalogue& catalogue);

// Whether `text` is written as a region of AWS.
bool IsRegion(std::string_view text);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_TEXT_NAMES_H_
