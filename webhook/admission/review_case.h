// The question of a review, as policies/judge.h judges it.
#ifndef TRUCE_WEBHOOK_ADMISSION_REVIEW_CASE_H_
#define TRUCE_WEBHOOK_ADMISSION_REVIEW_CASE_H_

#include <optional>

#include "policies/judge.h"
#include "registry/base/result.h"
#include "webhook/admission/codec.h"

namespace truce {

// Fills in a fresh `review`, which is large, with the admission of an object. Errors:
// kInvalidArgument: one that concerns the registry, without name or uid.
Result<void> FillReviewCase(const AdmissionRequest& request, const AdmissionPolicy& policy,
                            ReviewCase& review);

// An UPDATE of the subresource `status` of a catalogued kind; nothing for every other request.
std::optional<StatusCase> StatusCaseOf(const AdmissionRequest& request,
                                       const AdmissionPolicy& policy);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_REVIEW_CASE_H_
