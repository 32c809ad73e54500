#include "policies/suspensions.h"

namespace truce {

std::string_view Name(SuspensionCause cause) {
  return cause == SuspensionCause::kRecovery ? "recovery" : "override";
}

std::vector<Suspension> SuspensionsAt(const AdmissionPolicy& policy, Timestamp now) {
  std::vector<Suspension> out;
  if (!policy.recovery.empty()) {
    out.push_back({SuspensionCause::kRecovery, "recovery mode: Truce warns and refuses nothing",
                   policy.recovery,
                   "`truce recovery` says what it waits for; `truce recovery finish` ends it"});
  }
  for (const Override& each : policy.modes.overrides) {
    if (each.until <= now) continue;
    out.push_back({SuspensionCause::kOverride,
                   "an override until " + FormatTimestamp(each.until) +
                       ": Truce audits and refuses nothing of " + TargetText(each),
                   each.reason,
                   "`truce override` lists them; `truce override --end ID` ends one, a change of "
                   "the configuration one that stands there"});
  }
  return out;
}

std::string RefusalsText(const AdmissionPolicy& policy, Timestamp now) {
  std::string out;
  for (const Suspension& each : SuspensionsAt(policy, now)) {
    out.append(out.empty() ? "" : "; ").append(each.what);
  }
  return out.empty() ? "mode " + std::string(Name(policy.modes.global)) : out;
}

}  // namespace truce
