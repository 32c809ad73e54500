#include "webhook/findings/use_faults.h"

#include <utility>

#include "policies/judge.h"
#include "registry/store/store.h"

namespace truce {

std::vector<UseFault> UseFaultsOf(Value object, const GroupKind& kind, const UseRules& rules,
                                  Deadline deadline) {
  // As an update from nothing: what it has is all new, and its lineage is that of its uid.
  ReviewCase asked;
  asked.request.operation = Operation::kUpdate;
  asked.request.object = Identify(object, kind, rules.policy.identity);
  asked.request.old_object = Identify(Value(), kind, rules.policy.identity);
  asked.evidence = ReadEvidence(object, asked.request.object, rules.policy);
  const ObjectFacts& declared = asked.request.object;
  const bool has_names = !declared.uid.empty() && !declared.slot.name.empty();
  if (!has_names || !ConcernsRegistry(asked.request)) return {};
  Judgement judgement(std::move(asked), rules.policy, rules.now);
  std::vector<Finding> findings;
  const auto read = [&](const Facts& facts) {
    const Decision decision = judgement.Judge(facts, [] { return PublicId(); });
    findings = judgement.FindingsOf(decision);
  };
  if (!rules.store.Read(read, deadline).ok()) return {};
  std::vector<UseFault> out;
  for (Finding& found : findings) {
    const bool is_use =
        found.rule == Rule::kForeignAttachment || found.rule == Rule::kObserverWithoutShare;
    if (!is_use) continue;
    out.push_back({std::string(Name(found.rule)), std::string(Name(found.mode)),
                   ForPeople(judgement.request().object.slot), std::move(found.cause),
                   std::move(found.remedy)});
  }
  return out;
}

}  // namespace truce
