#include "webhook/admission/live_objects.h"

#include <string>
#include <string_view>

#include "registry/base/threads.h"
#include "webhook/wire/json_reader.h"

namespace truce {

LiveObjects LiveObjectReader::Read(std::string_view asker, std::span<const Slot> slots,
                                   Deadline deadline) {
  LiveObjects out;
  const Turnstile::Turn turn(turnstile_, std::string(asker));
  if (!turn.inside()) return out;
  const BlockingRegion blocking;
  JsonReader reader;
  for (const Slot& slot : slots) {
    const std::optional<ServedKind> kind = kind_of_({slot.group, slot.kind});
    if (!kind || (kind->namespaced && slot.ns.empty())) continue;
    const std::string_view ns = kind->namespaced ? std::string_view(slot.ns) : std::string_view();
    const ApiResult<std::string> got = api_.Get(*kind, ns, slot.name, deadline);
    if (!got.ok()) {
      if (got.error().kind == ApiErrorKind::kNoSuchObject) out[slot].reset();
      continue;
    }
    const Result<Document> object = reader.Read(got.value());
    if (object.ok()) out[slot] = ReadLiveObject(object.value().root());
  }
  return out;
}

}  // namespace truce
