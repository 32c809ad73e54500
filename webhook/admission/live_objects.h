// LiveObjectReader: objects as the API server has them, for rules that refuse by their state.
#ifndef TRUCE_WEBHOOK_ADMISSION_LIVE_OBJECTS_H_
#define TRUCE_WEBHOOK_ADMISSION_LIVE_OBJECTS_H_

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "policies/lifecycle/restore_rules.h"
#include "registry/base/clock.h"
#include "registry/base/turnstile.h"
#include "registry/identity/values.h"
#include "webhook/kube/cluster_api.h"

namespace truce {

// Reviews that wait for such reads at once, and of them those of one asker: while the API server
// hangs the others have the listener's places. Further reviews get no read: rules then warn.
inline constexpr int kLooksAtOnce = 64;
inline constexpr int kLooksOfOneAtOnce = 32;

// Thread-safe.
class LiveObjectReader final {
 public:
  // How a kind is served; nothing: it is not, as far as known.
  using KindFinder = std::function<std::optional<ServedKind>(const GroupKind&)>;

  // `api` must outlive it.
  LiveObjectReader(ClusterApi& api, KindFinder kind_of) : api_(api), kind_of_(std::move(kind_of)) {}

  // As ReadLive: one quorum read each, one after the other; reads that fail or come too late are
  // left out.
  LiveObjects Read(std::string_view asker, std::span<const Slot> slots, Deadline deadline);

 private:
  ClusterApi& api_;
  const KindFinder kind_of_;
  Turnstile turnstile_{kLooksAtOnce, kLooksOfOneAtOnce};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_LIVE_OBJECTS_H_
