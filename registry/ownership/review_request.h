// ReviewRequest: the question of one admission request to the registry.
#ifndef TRUCE_REGISTRY_OWNERSHIP_REVIEW_REQUEST_H_
#define TRUCE_REGISTRY_OWNERSHIP_REVIEW_REQUEST_H_

#include <optional>
#include <set>
#include <vector>

#include "registry/identity/identity.h"
#include "registry/ownership/terms.h"

namespace truce {

struct ReviewRequest {
  Operation operation = Operation::kCreate;
  ReviewUid uid;
  Requester requester;
  ObjectFacts object;                     // the new version; on DELETE the old one
  std::optional<ObjectFacts> old_object;  // UPDATE only
  std::vector<Mode> modes;  // one per object.resources, already lowered for unsure types
  // Of the configuration, which outlives the review: large ones are not copied. Null: empty.
  const PartyRules* parties = nullptr;
  const std::set<GroupKind>* unwatched =
      nullptr;  // nobody can read them: no limit counts them (E7)
  ReservationLimits limits;
  bool watched = false;  // a watcher of the cluster is there to prove reservations
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_REVIEW_REQUEST_H_
