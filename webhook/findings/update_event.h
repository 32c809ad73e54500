// A Kubernetes Event by which a provider says that it wrote to AWS: the only trace of a tag war
// that every provider leaves in the cluster.
#ifndef TRUCE_WEBHOOK_FINDINGS_UPDATE_EVENT_H_
#define TRUCE_WEBHOOK_FINDINGS_UPDATE_EVENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/clock.h"
#include "registry/identity/document.h"
#include "registry/identity/values.h"

namespace truce {

// Written once per requested update of the external resource (crossplane-runtime's reconciler).
inline constexpr std::string_view kUpdateEventReason = "UpdatedExternalResource";
// Selects them in a list or watch of core/v1 Events.
inline constexpr std::string_view kUpdateEventSelector = "reason=UpdatedExternalResource";

struct UpdateEvent {
  Uid event;   // of the Event object; a provider that restarts begins a new one at count 1
  Uid object;  // involvedObject.uid
  std::string group;
  std::string kind;
  std::string ns;
  std::string name;
  std::uint64_t count =
      1;  // writes told by this Event; grows also by those whose notice was dropped
  // The sender's clock: good for rates within one Event, never to be compared with ours.
  std::optional<Timestamp> first;
  std::optional<Timestamp> last;

  bool operator==(const UpdateEvent&) const = default;
};

// Reads a core/v1 Event, also one written through events.k8s.io (series, eventTime). Nothing when
// it has another reason, or no uids.
std::optional<UpdateEvent> ReadUpdateEvent(Value event);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_UPDATE_EVENT_H_
