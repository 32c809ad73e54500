#include "policies/question.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "policies/policy.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/review.h"

namespace truce {

bool IsOnRecord(const RuleCase& c, const ResourceId& resource) {
  if (c.question == nullptr || c.facts == nullptr) return false;
  const Slot& own = c.object->slot;
  const std::vector<Row> rows = c.facts->RowsOf(resource);
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    if (!Manages(row)) return false;
    if (!c.question->for_party) return row.slot == own || row.root == own;
    return OneParty(PartyOf(row.root), PartyOf(own), c.policy->parties);
  });
}

bool IsOnRecord(const RuleCase& c, const KeyText& name) {
  if (c.question == nullptr || c.facts == nullptr || name.empty()) return false;
  const auto named = c.facts->Named(name);
  return named && IsOnRecord(c, named->resource);
}

void Settle(const RuleCase& c, Decision& decision) {
  const Slot& own = c.object->slot;
  decision.changes = {};
  decision.prove.clear();
  // The author of a manifest may say that it belongs to anybody's chain. The asker's rights were
  // checked for its own namespace: it hears nothing that is for another party (I8).
  if (decision.root.ns != own.ns) {
    for (std::vector<Clash>* list : {&decision.denied, &decision.conflicts, &decision.elsewhere}) {
      for (Clash& clash : *list) {
        clash.same_party = false;
        clash.in_own = false;
        const bool is_akin =
            clash.reason == ClashReason::kSibling || clash.reason == ClashReason::kTransferring;
        if (is_akin) clash.reason = ClashReason::kOwned;
      }
    }
  }
  const auto is_own = [&](const Clash& clash) {
    const std::string& source = c.question->source;
    if (!source.empty() && SourceOf(clash.holder) == source) return true;
    return c.question->for_party && OneParty(clash.holder.party, PartyOf(own), c.policy->parties);
  };
  std::vector<Clash> denied;
  for (Clash& clash : decision.denied) {
    if (is_own(clash)) continue;
    if (IsOnRecord(c, clash.holder.id)) {
      clash.mode = Mode::kWarn;
      decision.conflicts.push_back(std::move(clash));
    } else {
      denied.push_back(std::move(clash));
    }
  }
  decision.denied = std::move(denied);
  for (std::vector<Clash>* list : {&decision.conflicts, &decision.elsewhere}) {
    list->erase(std::remove_if(list->begin(), list->end(), is_own), list->end());
  }
  decision.allowed = decision.denied.empty() && decision.bad_names.empty() &&
                     decision.limit == ReservationLimit::kNone;
}

}  // namespace truce
