#include "webhook/findings/use_faults.h"

#include <utility>

#include "webhook/admission/judge.h"

namespace truce {

std::vector<UseFault> UseFaultsOf(Value object, const GroupKind& kind, const UseRules& rules,
                                  Deadline deadline) {
  // As an update from nothing: what it has is all new, and its lineage is that of its uid.
  AdmissionRequest request;
  request.kind = {kind.group, {}, kind.kind};
  request.operation = ReviewOperation::kUpdate;
  request.object = object;
  Result<Judgement> judgement = Judgement::Prepare(request, rules.policy, rules.now);
  if (!judgement.ok() || !judgement.value().concerns_registry()) return {};
  std::vector<Finding> findings;
  const auto look = [&](const Facts& facts) {
    const Decision decision = judgement.value().Decide(facts, [] { return PublicId(); });
    findings = judgement.value().FindingsOf(decision);
  };
  if (!rules.store.Read(look, deadline).ok()) return {};
  std::vector<UseFault> out;
  for (Finding& found : findings) {
    const bool is_use =
        found.rule == Rule::kForeignAttachment || found.rule == Rule::kObserverWithoutShare;
    if (!is_use) continue;
    out.push_back({std::string(Name(found.rule)), std::string(Name(found.mode)),
                   ForPeople(judgement.value().request().object.slot), std::move(found.cause),
                   std::move(found.remedy)});
  }
  return out;
}

}  // namespace truce
