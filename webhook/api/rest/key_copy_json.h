// KeyCopy as JSON: the member keyCopy of what `truce export` writes and POST /api/v1/registry
// takes. Times are milliseconds since 1970, slots and identities the texts of identity/values.h;
// what is empty, false or what it nearly always is stands in no member.
#ifndef TRUCE_WEBHOOK_API_REST_KEY_COPY_JSON_H_
#define TRUCE_WEBHOOK_API_REST_KEY_COPY_JSON_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"
#include "registry/ownership/lists/key_copy.h"
#include "webhook/wire/json_writer.h"

namespace truce {

void WriteKeyCopy(const KeyCopy& copy, JsonWriter& json);

// A body of POST /api/v1/registry.
struct CopiesRequest {
  std::vector<KeyCopy> copies;
  bool apply = false;
  bool skip_conflicting = false;
  bool skip_unknown = false;
};
inline constexpr std::size_t kCopiesAtOnce = 10'000;
// Errors: kInvalidArgument: no such object; says which copy and member.
Result<CopiesRequest> ReadCopies(std::string_view body);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_KEY_COPY_JSON_H_
