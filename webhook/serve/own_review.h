// What /validate-check says of the kinds that add to the policy (DeclarationMapping, NamingPolicy).
#ifndef TRUCE_WEBHOOK_SERVE_OWN_REVIEW_H_
#define TRUCE_WEBHOOK_SERVE_OWN_REVIEW_H_

#include "registry/base/result.h"
#include "webhook/admission/codec.h"
#include "webhook/serve/policy_source.h"

namespace truce {

// Whether the object of `review` could take effect beside what is in force. Kinds that `source`
// does not know are good. Changes nothing; takes milliseconds. Thread-safe.
// Errors: kInvalidArgument: "spec.declares[0].type: what is wrong; how to mend it".
Result<void> TryPolicyObject(const PolicySource& source, const AdmissionRequest& review);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_OWN_REVIEW_H_
