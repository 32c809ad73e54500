// JudgeRerolls: whether an update of a composite only tries a resource again, under other names,
// that is refused under any (rule rerolled-names).
#ifndef TRUCE_WEBHOOK_ADMISSION_REROLL_GUARD_H_
#define TRUCE_WEBHOOK_ADMISSION_REROLL_GUARD_H_

#include <chrono>
#include <cstdint>
#include <vector>

#include "policies/finding.h"
#include "policies/policy.h"
#include "registry/base/clock.h"
#include "registry/identity/values.h"
#include "registry/ownership/terms.h"
#include "webhook/admission/codec.h"
#include "webhook/admission/repeated_refusals.h"
#include "webhook/admission/service.h"

namespace truce {

class Store;

// For all names of one update together: Crossplane waits.
inline constexpr std::chrono::milliseconds kProbeTime{1000};

struct RerollPorts {
  RepeatedRefusals& repeated;
  Store& store;
  const Clock& clock;
  const IdSource& ids;
  const ReadLive& read_live;  // empty: nobody can tell, so nothing is found
};

struct RerollJudgement {
  std::vector<Finding> findings;  // of all modes; empty: the update passes
  Slot root;                      // of the composite
  std::uint64_t repetition = 0;   // of such updates of this composite, where one is refused
};

// Judges one review. It finds something only if a composite controller updates a composite that has
// standing refusals, the update does nothing but exchange refused names for others, the refused
// resources would still be refused, no object has one of these names, and no try is due. If any of
// that is not known, it finds nothing. Writes nothing; blocks for at most kProbeTime beside one
// read of the store. Costs nothing as long as nothing was refused to any composite controller.
RerollJudgement JudgeRerolls(const AdmissionRequest& review, const AdmissionPolicy& policy,
                             const RerollPorts& ports, Deadline deadline);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_REROLL_GUARD_H_
