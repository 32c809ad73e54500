// What a review locks: the names, uids and slots that its decision reads.
#include <algorithm>

#include "registry/ownership/review.h"

namespace truce {

Locks LocksOf(const ReviewRequest& request) {
  Locks locks;
  const auto add = [&](const ObjectFacts& object) {
    for (const DeclaredResource& resource : object.resources) {
      if (!resource.key.empty()) locks.keys.push_back(resource.key);
      for (const FurtherName& name : resource.further) locks.keys.push_back(name.text);
      locks.keys.insert(locks.keys.end(), resource.awaited.begin(), resource.awaited.end());
    }
    if (object.lineage.controller) locks.uids.push_back(object.lineage.controller->uid);
    if (object.lineage.claim) {
      const ObjectRef& claim = *object.lineage.claim;
      locks.slots.push_back({object.slot.cluster, claim.group, claim.kind, claim.ns, claim.name});
    }
  };
  add(request.object);
  if (request.old_object) add(*request.old_object);
  locks.uids.push_back(request.object.uid);
  locks.slots.push_back(request.object.slot);
  std::sort(locks.keys.begin(), locks.keys.end());
  locks.keys.erase(std::unique(locks.keys.begin(), locks.keys.end()), locks.keys.end());
  std::sort(locks.uids.begin(), locks.uids.end());
  std::sort(locks.slots.begin(), locks.slots.end());
  return locks;
}

}  // namespace truce
