#include "registry/store/discovery/discovery.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "registry/store/discovery/prepared_facts.h"

namespace truce {
namespace {

Result<void> InTime(Deadline deadline) {
  if (std::chrono::steady_clock::now() < deadline) return {};
  return Error{ErrorCode::kDeadlineExceeded, "the deadline passed before the decision's turn"};
}

bool NeedsAll(const FactNeeds& needs) {
  return needs.LockCount() > kLocksMax ||
         std::any_of(needs.queries.begin(), needs.queries.end(),
                     [](const Query& query) { return GuardOf(query) == Guard::kWhole; });
}

}  // namespace

Result<Changes> DecideOn(FactSource& source, const Locks& hints, const DecideFn& decide,
                         Deadline deadline) {
  std::size_t runs = 0;
  FactNeeds needs;
  needs.Add(hints);
  while (true) {
    const bool whole = runs >= kRunsMax || NeedsAll(needs);
    FactStock stock;
    TRUCE_RETURN_IF_ERROR(InTime(deadline));
    TRUCE_RETURN_IF_ERROR(source.Begin(needs, whole, stock));
    while (true) {
      TRUCE_RETURN_IF_ERROR(InTime(deadline));
      PreparedFacts facts(stock);
      Changes changes = decide(facts);
      if (++runs == kRunsUsual + 1) source.OnManyRuns();
      FactNeeds missing = facts.missed();
      if (missing.empty() && !whole) missing = Uncovered(stock, changes);
      if (missing.empty()) return changes;
      needs.Add(missing);
      if (!whole && (runs >= kRunsMax || NeedsAll(needs))) break;
      TRUCE_RETURN_IF_ERROR(InTime(deadline));
      TRUCE_ASSIGN_OR_RETURN(const bool brought, source.More(missing, stock));
      if (!brought) break;
    }
    source.Undo();
  }
}

Result<void> ReadOn(FactSource& source, const Locks& hints, const ReadFn& read, Deadline deadline) {
  FactStock stock;
  FactNeeds needs;
  needs.Add(hints);
  TRUCE_RETURN_IF_ERROR(InTime(deadline));
  TRUCE_RETURN_IF_ERROR(source.Begin(needs, false, stock));
  for (std::size_t runs = 1;; ++runs) {
    TRUCE_RETURN_IF_ERROR(InTime(deadline));
    PreparedFacts facts(stock);
    read(facts);
    if (runs == kRunsUsual + 1) source.OnManyRuns();
    if (facts.missed().empty()) return {};
    TRUCE_ASSIGN_OR_RETURN(const bool brought, source.More(facts.missed(), stock));
    static_cast<void>(brought);  // nothing to be tried: a read locks nothing
  }
}

}  // namespace truce
