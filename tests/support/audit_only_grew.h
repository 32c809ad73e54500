// I12: the audit log is append-only.
#ifndef TRUCE_TESTS_SUPPORT_AUDIT_ONLY_GREW_H_
#define TRUCE_TESTS_SUPPORT_AUDIT_ONLY_GREW_H_

#include <algorithm>

#include "registry/ownership/rows.h"
#include "tests/support/store_contents.h"

namespace truce::testing {

// Whether the audit log of `after` begins with that of `before`.
inline bool AuditOnlyGrew(const StoreContents& before, const StoreContents& after) {
  return before.audit.size() <= after.audit.size() &&
         std::equal(before.audit.begin(), before.audit.end(), after.audit.begin());
}

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_AUDIT_ONLY_GREW_H_
