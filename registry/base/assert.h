// Assertions: the line between a programmer's error and an operating error.
#ifndef TRUCE_REGISTRY_BASE_ASSERT_H_
#define TRUCE_REGISTRY_BASE_ASSERT_H_

namespace truce {

// Prints `file:line: condition` to standard error and aborts.
[[noreturn]] void AssertFailed(const char* file, int line, const char* condition);

// Reports a broken belief on the request path: aborts in test builds (TRUCE_ASSERTIONS), else
// returns true.
bool NeverHappened(const char* file, int line, const char* condition);

// On in every build; only in code that no request reaches.
#define TRUCE_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::truce::AssertFailed(__FILE__, __LINE__, #condition))

// True when `condition`, which must never hold, holds: aborts in test builds; in release the caller
// answers ErrorCode::kInternal, so that a bug becomes the verdict "unknown" and never an outage.
#define TRUCE_NEVER(condition) \
  ((condition) && ::truce::NeverHappened(__FILE__, __LINE__, #condition))

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_ASSERT_H_
