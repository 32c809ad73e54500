// An identity read from its text, as an optional.
#ifndef TRUCE_TESTS_SUPPORT_IDENTITY_TEXT_H_
#define TRUCE_TESTS_SUPPORT_IDENTITY_TEXT_H_

#include <optional>
#include <string_view>

#include "registry/identity/values.h"

namespace truce {

inline std::optional<ResourceIdentity> IdentityFromText(std::string_view text) {
  std::optional<ResourceIdentity> identity(std::in_place);
  if (!ReadIdentity(text, *identity)) identity.reset();
  return identity;
}

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_IDENTITY_TEXT_H_
