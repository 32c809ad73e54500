// StatusJudgement: one change of a status, judged without the registry (rule status-names).
#ifndef TRUCE_WEBHOOK_ADMISSION_STATUS_JUDGEMENT_H_
#define TRUCE_WEBHOOK_ADMISSION_STATUS_JUDGEMENT_H_

#include <optional>

#include "policies/finding.h"
#include "policies/policy.h"
#include "registry/base/clock.h"
#include "webhook/admission/codec.h"

namespace truce {

// What rule status-names finds in `request`, in the mode of the type: an UPDATE of the subresource
// `status` of a catalogued kind, by a user who is neither in `providers` nor in `restorers`, that
// changes a field which names are read from. Nothing for every other request. Pure.
std::optional<Finding> JudgeStatus(const AdmissionRequest& request, const AdmissionPolicy& policy,
                                   Timestamp now);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_STATUS_JUDGEMENT_H_
