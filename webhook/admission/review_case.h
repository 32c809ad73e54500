// From a parsed review to what the rules judge (policies/judge.h): who asks, what the object
// declares, and what else the rules need of it.
#ifndef TRUCE_WEBHOOK_ADMISSION_REVIEW_CASE_H_
#define TRUCE_WEBHOOK_ADMISSION_REVIEW_CASE_H_

#include <optional>
#include <vector>

#include "policies/judge.h"
#include "registry/base/result.h"
#include "webhook/admission/codec.h"

namespace truce {

// The admission of an object. One that does not concern the registry is not looked into further.
// Errors: kInvalidArgument: an object that does, without name or uid.
Result<ReviewCase> ReviewCaseOf(const AdmissionRequest& request, const AdmissionPolicy& policy);

// As ReviewCaseOf, for one who asks before anything is created. `request` is about an
// OwnershipCheck, which acts for the party of its namespace, or about a manifest.
// Errors: kInvalidArgument: as ReviewCaseOf, or an OwnershipCheck that cannot be understood.
Result<ReviewCase> QuestionOf(const AdmissionRequest& request, const AdmissionPolicy& policy);

// What the OwnershipCheck of `check` asks: first about its declarations and values, then about each
// of its manifests that concerns the registry. Errors: kInvalidArgument, as one line:
// "spec.declarations[0].type: …".
Result<std::vector<ReviewCase>> QuestionsOf(const AdmissionRequest& check,
                                            const AdmissionPolicy& policy);

// An UPDATE of the subresource `status` of a catalogued kind, lent from `request`; nothing for
// every other request.
std::optional<StatusCase> StatusCaseOf(const AdmissionRequest& request,
                                       const AdmissionPolicy& policy);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_REVIEW_CASE_H_
