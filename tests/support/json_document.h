// Test adapter: a Document from JSON text.
#ifndef TRUCE_TESTS_SUPPORT_JSON_DOCUMENT_H_
#define TRUCE_TESTS_SUPPORT_JSON_DOCUMENT_H_

#include <string_view>

#include "registry/base/document.h"

namespace truce {

// The document of `json`, which it copies; an empty one when `json` is not JSON.
Document DocumentFromJson(std::string_view json);

// Whether `json` is read no further than to a number that no double holds.
bool HasHugeNumber(std::string_view json);

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_JSON_DOCUMENT_H_
