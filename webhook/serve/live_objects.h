// LiveObjectReader: objects as the API server has them, for rules that refuse by what they are.
#ifndef TRUCE_WEBHOOK_SERVE_LIVE_OBJECTS_H_
#define TRUCE_WEBHOOK_SERVE_LIVE_OBJECTS_H_

#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "registry/identity/values.h"
#include "webhook/admission/live_reader.h"
#include "webhook/kube/cluster_api.h"

namespace truce {

// Thread-safe.
class LiveObjectReader final : public LiveReader {
 public:
  // How a kind is served; nothing: it is not, as far as known.
  using KindFinder = std::function<std::optional<ServedKind>(const GroupKind&)>;

  // `link` must outlive the reader.
  LiveObjectReader(const ClusterLink& link, KindFinder kind_of)
      : link_(link), kind_of_(std::move(kind_of)) {}

  // One quorum read each, one after the other; what fails or comes too late is left out.
  LiveObjects Read(std::span<const Slot> slots, Deadline deadline) override;

 private:
  const ClusterLink& link_;
  const KindFinder kind_of_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_LIVE_OBJECTS_H_
