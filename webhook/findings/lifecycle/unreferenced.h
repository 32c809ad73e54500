// Detector unreferenced-resource: managed resources that say they are composed, but that no
// composite references (a restored backup, a crossed Composition update).
//
// Rule: the object carries crossplane.io/composition-resource-name without any controller, or its
// controller is known and does not name it in its resourceRefs. Nobody but its provider cares for
// it, and its composite may make a second one of the same name. Labels are no evidence. A
// controller of a kind that is not followed proves nothing: then nothing is found. Evidence: object
// rows of the registry; two looks at least kUnreferencedAfter apart, because Crossplane adopts a
// restored object at its next reconcile.
#ifndef TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_UNREFERENCED_H_
#define TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_UNREFERENCED_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"
#include "webhook/findings/findings_book.h"

namespace truce {

inline constexpr std::chrono::minutes kUnreferencedAfter{5};  // several polls of a composite

struct UnreferencedObject {
  Object object;
  std::optional<Slot> composite;  // which does not name it; nothing: it has no controller
  // What it was composed by, by its label, else the root that the registry remembers; nothing:
  // nobody knows.
  std::optional<Slot> former;
  bool former_lives = false;
  // Another object of the same chain that manages the same resource, in words; empty: none. Of
  // another root it is not named: a label is anyone's to write.
  std::string twin;

  bool operator==(const UnreferencedObject&) const = default;
};

// Whether `object` is unreferenced by what the registry knows.
std::optional<UnreferencedObject> Unreferenced(const Object& object, const Facts& facts);

// Remembers since when an object is unreferenced. External synchronization.
class UnreferencedDetector final {
 public:
  // `present`: all that are unreferenced now.
  std::vector<LiveFinding> Find(const std::vector<UnreferencedObject>& present, Timestamp now);

 private:
  std::map<Uid, Timestamp> since_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_UNREFERENCED_H_
