// What a baseline has beside what the watch and the registry say: findings and quotas.
#ifndef TRUCE_WEBHOOK_SERVE_SHARED_BASELINE_H_
#define TRUCE_WEBHOOK_SERVE_SHARED_BASELINE_H_

#include <span>

#include "policies/policy.h"
#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/findings/findings_book.h"
#include "webhook/findings/mute_book.h"
#include "webhook/findings/texts/report_baseline.h"

namespace truce {

class Store;

// References must outlive the call.
struct BaselineJudges {
  std::span<const LiveFinding> findings;
  const MuteBook& mutes;
  const AdmissionPolicy& policy;
  const Store& store;
};

// Errors: the store's.
Result<void> AddJudgements(const BaselineJudges& judges, Deadline deadline, BaselineReport& report);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_SHARED_BASELINE_H_
