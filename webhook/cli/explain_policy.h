// Which rule applies to an object in which mode, from where, and what it finds.
#ifndef TRUCE_WEBHOOK_CLI_EXPLAIN_POLICY_H_
#define TRUCE_WEBHOOK_CLI_EXPLAIN_POLICY_H_

#include <string>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/identity/document.h"
#include "webhook/admission/policy.h"

namespace truce {

// For people. `object` is a whole Kubernetes object; its lineage is not known, so what a mode says
// of the owner's namespace is judged by the object's own. Errors: kInvalidArgument: no apiVersion,
// kind or metadata.name.
Result<std::string> ExplainPolicy(Value object, const AdmissionPolicy& policy, Timestamp now);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_EXPLAIN_POLICY_H_
