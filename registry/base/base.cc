#include <cstdio>
#include <cstdlib>

#include "registry/base/assert.h"
#include "registry/base/name_table.h"
#include "registry/base/result.h"

namespace truce {

void AssertFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
  std::abort();
}

bool NeverHappened(const char* file, int line, const char* condition) {
#ifdef TRUCE_ASSERTIONS
  AssertFailed(file, line, condition);
#else
  std::fprintf(stderr, "%s:%d: must never happen: %s\n", file, line, condition);
  return true;
#endif
}

std::string_view Name(ErrorCode code) {
  static constexpr NameTable<ErrorCode::kInternal> kWords(
      "invalid_argument", "not_found", "conflict", "resource_exhausted", "unavailable",
      "deadline_exceeded", "data_loss", "internal");
  return kWords.Of(code);
}

Error Error::Within(std::string_view context) && {
  message.insert(0, std::string(context) + ": ");
  return std::move(*this);
}

}  // namespace truce
