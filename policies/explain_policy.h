// The rules that apply to an object, with mode, origin and findings.
#ifndef TRUCE_POLICIES_EXPLAIN_POLICY_H_
#define TRUCE_POLICIES_EXPLAIN_POLICY_H_

#include <functional>
#include <optional>
#include <string>

#include "policies/policy.h"
#include "registry/base/clock.h"
#include "registry/base/document.h"
#include "registry/base/result.h"

namespace truce {

// The top of the lineage of the object in a slot, as far as known.
using RootLookup = std::function<std::optional<Slot>(const Slot&)>;

// For people. `object` is a whole Kubernetes object. Where its root is not known (`root_of` may be
// null), modes by the owner's namespace are judged by the object's own. Errors: kInvalidArgument:
// no apiVersion, kind or metadata.name.
Result<std::string> ExplainPolicy(Value object, const AdmissionPolicy& policy, Timestamp now,
                                  const RootLookup& root_of);

}  // namespace truce

#endif  // TRUCE_POLICIES_EXPLAIN_POLICY_H_
