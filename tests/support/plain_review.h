// Bodies of reviews read the plain way, to compare the codec with: everything is looked at, each
// object by itself.
#ifndef TRUCE_TESTS_SUPPORT_PLAIN_REVIEW_H_
#define TRUCE_TESTS_SUPPORT_PLAIN_REVIEW_H_

#include <string_view>

#include "registry/base/document.h"

namespace truce {

// What the codec must do about the JSON of a body, whatever it says as a review.
enum class JsonFault {
  kNone,
  // In managedFields of what is called metadata, or below the first kBuiltLevels levels, or a
  // number that no double holds: refused or not (R4).
  kUnread,
  kRefused,  // not JSON, or a key that stands twice in one object
};
JsonFault JsonFaultOf(std::string_view body);

// Whether `value` says what `request.MEMBER` of `body` does, but for its metadata.managedFields.
// `body` has no fault.
bool IsMemberOf(std::string_view body, std::string_view member, Value value);

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_PLAIN_REVIEW_H_
