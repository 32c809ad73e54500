// ObserverList: several observers of one watch.
#ifndef TRUCE_WEBHOOK_SERVE_OBSERVER_LIST_H_
#define TRUCE_WEBHOOK_SERVE_OBSERVER_LIST_H_

#include <utility>
#include <vector>

#include "webhook/watch/sighting.h"

namespace truce {

// Tells each of them everything, in their order. The observers must outlive the list.
class ObserverList final : public SightObserver {
 public:
  explicit ObserverList(std::vector<SightObserver*> observers) : observers_(std::move(observers)) {}

  void OnSighted(const Sighting& sighting) override;
  void OnGone(const Uid& uid, const Slot& slot) override;
  void OnKindState(const KindStatus& status) override;
  void OnOther(const FollowedKind& kind, Value object, bool gone) override;

 private:
  const std::vector<SightObserver*> observers_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_OBSERVER_LIST_H_
