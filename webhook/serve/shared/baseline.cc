#include "webhook/serve/shared/baseline.h"

#include "registry/store/store.h"
#include "webhook/findings/texts/report_quotas.h"

namespace truce {

Result<void> AddJudgements(const BaselineJudges& judges, Deadline deadline,
                           BaselineReport& report) {
  for (const LiveFinding& finding : judges.findings) {
    if (judges.mutes.Hides(finding)) {
      ++report.muted;
    } else {
      ++report.findings[SeverityOf(finding.mode)];
    }
  }
  if (judges.policy.quotas == nullptr) return {};
  const ReadFn look = [&](const AllFacts& facts) {
    report.quotas = ReportQuotas(*judges.policy.quotas, facts, {});
  };
  return judges.store.Read(look, deadline);
}

}  // namespace truce
