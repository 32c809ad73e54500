// JudgeChange: the effects of a changed Composition on composites that exist (rule
// composition-change).
#ifndef TRUCE_WEBHOOK_ADMISSION_COMPOSITION_GUARD_H_
#define TRUCE_WEBHOOK_ADMISSION_COMPOSITION_GUARD_H_

#include <chrono>
#include <vector>

#include "policies/finding.h"
#include "policies/policy.h"
#include "registry/base/clock.h"
#include "webhook/admission/codec.h"

namespace truce {

class Store;

// The time for counting; a count that is cut short is "at least".
inline constexpr std::chrono::milliseconds kCountTime{1000};

struct CountedIn {
  const Store& store;
  Timestamp now{};
  Deadline deadline{};  // half of the time until then is used at most
};

// Findings of all modes; none refuses. Empty unless the review is an update of an object. Writes
// nothing; blocks for at most kCountTime.
std::vector<Finding> JudgeChange(const AdmissionRequest& review, const AdmissionPolicy& policy,
                                 const CountedIn& counted);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_COMPOSITION_GUARD_H_
