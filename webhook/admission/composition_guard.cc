#include "webhook/admission/composition_guard.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "policies/judge.h"
#include "policies/lifecycle/composition_change.h"
#include "registry/ownership/rows.h"
#include "registry/store/store.h"

namespace truce {
namespace {

// Counts the composites of the kind page by page.
CompositesConcerned ConcernedBy(const CompositionChange& change, const std::string& cluster,
                                const CountedIn& counted) {
  constexpr std::size_t kPage = 200;
  const Slot kind{cluster, change.composite.group, change.composite.kind, "", ""};
  const Deadline now = std::chrono::steady_clock::now();
  const Deadline end = now + std::min<Deadline::duration>((counted.deadline - now) / 2, kCountTime);
  ConcernedCount count;
  std::string after;
  do {
    ConcernedCount next_count;
    std::string next;
    const auto look = [&](const AllFacts& facts) {
      next_count = count;
      ObjectPage page = facts.ObjectsOfKind(kind, after, kPage);
      next = std::move(page.next);
      for (const Object& object : page.objects) {
        if (!next_count.Add(object, facts)) next.clear();
      }
    };
    const bool is_late = std::chrono::steady_clock::now() >= end;
    if (is_late || !counted.store.Read(look, end).ok()) {
      count.SetIncomplete();
      break;
    }
    count = next_count;
    after = std::move(next);
  } while (!after.empty());
  return count.concerned();
}

}  // namespace

std::vector<Finding> JudgeChange(const AdmissionRequest& review, const AdmissionPolicy& policy,
                                 const CountedIn& counted) {
  if (review.operation != ReviewOperation::kUpdate || !review.sub_resource.empty()) return {};
  CompositionCase composition{
      .composition = {policy.identity.cluster, std::string(review.kind.group),
                      std::string(review.kind.kind), "", std::string(review.name)},
      .requester = RequesterOf(review.user, policy),
      .change = ReadCompositionChange(review.object, review.old_object),
      .concerned = {}};
  if (!composition.change.changes) return {};
  composition.concerned = ConcernedBy(composition.change, policy.identity.cluster, counted);
  return JudgeComposition(composition, policy, counted.now);
}

}  // namespace truce
