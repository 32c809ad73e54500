// Detector adoption-not-followed: an object and a claim or composite that name each other, but are
// of two chains.
//
// Rule (W3 of DESIGN.md): a link moves an existing chain only within its party, by a transfer, or
// when it has no party yet. Else nothing moves, and two owners believe that it is theirs. Evidence:
// object rows of the registry. No false alarm by order: the object that is seen last joins both,
// where that is allowed.
#ifndef TRUCE_WEBHOOK_FINDINGS_ADOPTIONS_H_
#define TRUCE_WEBHOOK_FINDINGS_ADOPTIONS_H_

#include <optional>
#include <vector>

#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"
#include "webhook/findings/findings_book.h"

namespace truce {

struct Adoption {
  Object object;
  Object parent;  // of another root
  Slot speaker;   // who may hand the object over (SpeakerFor)

  bool operator==(const Adoption&) const = default;
};

// The parent that `object` names and that names it back, where it was not followed.
std::optional<Adoption> AdoptionNotFollowed(const Object& object, const Facts& facts);

// One finding for each. Mode warn.
std::vector<LiveFinding> FindAdoptions(const std::vector<Adoption>& adoptions);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_ADOPTIONS_H_
