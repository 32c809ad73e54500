#include "webhook/serve/observer_list.h"

namespace truce {

void ObserverList::OnSighted(const Sighting& sighting) {
  for (SightObserver* observer : observers_) observer->OnSighted(sighting);
}

void ObserverList::OnGone(const Uid& uid, const Slot& slot) {
  for (SightObserver* observer : observers_) observer->OnGone(uid, slot);
}

void ObserverList::OnKindState(const KindStatus& status) {
  for (SightObserver* observer : observers_) observer->OnKindState(status);
}

void ObserverList::OnOther(const FollowedKind& kind, Value object, bool gone) {
  for (SightObserver* observer : observers_) observer->OnOther(kind, object, gone);
}

}  // namespace truce
