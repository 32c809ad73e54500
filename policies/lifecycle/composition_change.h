// Rule composition-change: the effects of a changed Composition on composites that exist.
#ifndef TRUCE_POLICIES_LIFECYCLE_COMPOSITION_CHANGE_H_
#define TRUCE_POLICIES_LIFECYCLE_COMPOSITION_CHANGE_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "policies/finding.h"
#include "policies/rules.h"
#include "registry/base/clock.h"
#include "registry/base/document.h"
#include "registry/identity/values.h"
#include "registry/ownership/terms.h"

namespace truce {

class AllFacts;
struct AdmissionPolicy;
struct Object;
struct RuleCase;

// Kinds of Usages, in all groups and scopes there are.
bool IsUsageKind(const GroupKind& kind);

// The change that an update of a Composition makes.
struct CompositionChange {
  GroupKind composite;                 // spec.compositeTypeRef
  std::vector<std::string> unguarded;  // kinds that a Usage protects which it drops, each once
  bool changes = false;                // anything in its spec

  bool operator==(const CompositionChange&) const = default;
};

// Reads templates of spec.resources and of steps whose input is function-patch-and-transform's.
// The output of other functions is unknown: if such a step is new or changed, nothing counts as
// dropped. Nothing else of the objects is read. Pure; takes time in proportion to both.
CompositionChange ReadCompositionChange(Value object, Value old_object);

// Of the composites of a kind, and the objects in their resourceRefs.
struct CompositesConcerned {
  std::size_t with_usage = 0;  // composites that have a Usage
  std::size_t unadopted = 0;   // objects that say they are composed and have no controller
  bool complete = true;        // false: there may be more

  bool operator==(const CompositesConcerned&) const = default;
};

// The most that one review looks at.
inline constexpr std::size_t kConcernedNamesMax = 20'000;

// Adds the references of the composite `object`; false: enough was looked at.
class ConcernedCount final {
 public:
  bool Add(const Object& object, const AllFacts& facts);
  const CompositesConcerned& concerned() const { return concerned_; }
  void SetIncomplete() { concerned_.complete = false; }

 private:
  CompositesConcerned concerned_;
  std::size_t names_ = 0;
};

// One update of a Composition, and the composites that it concerns.
struct CompositionCase {
  Slot composition;
  Requester requester;
  CompositionChange change;
  CompositesConcerned concerned;
};

// Its judge (RuleSpec::judge).
std::vector<Finding> JudgeCompositions(const RuleCase& c);
// The findings of the rule, all modes. Pure.
std::vector<Finding> JudgeComposition(const CompositionCase& composition,
                                      const AdmissionPolicy& policy, Timestamp now);

// The texts, each in mode warn.
Finding UsageDropped(const CompositionCase& composition);
Finding RestoredAtRisk(const CompositionCase& composition);

}  // namespace truce

#endif  // TRUCE_POLICIES_LIFECYCLE_COMPOSITION_CHANGE_H_
