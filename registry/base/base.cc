#include <cstdio>
#include <cstdlib>

#include "registry/base/assert.h"
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
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid_argument";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kConflict: return "conflict";
    case ErrorCode::kResourceExhausted: return "resource_exhausted";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kDeadlineExceeded: return "deadline_exceeded";
    case ErrorCode::kDataLoss: return "data_loss";
    case ErrorCode::kInternal: return "internal";
  }
  return "internal";
}

Error Error::Within(std::string_view context) && {
  message.insert(0, std::string(context) + ": ");
  return std::move(*this);
}

}  // namespace truce
