#include "webhook/serve/own_review.h"

namespace truce {

Result<void> TryPolicyObject(const PolicySource& source, const AdmissionRequest& review) {
  for (const ServedKind& kind : source.kinds()) {
    if (kind.group != review.kind.group || kind.kind != review.kind.kind) continue;
    const std::optional<OwnObject> object = ReadOwnObject(kind, review.object);
    // The API server gives each object a name and a uid before it asks.
    if (object) return source.Try(*object);
  }
  return {};
}

}  // namespace truce
