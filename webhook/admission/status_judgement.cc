#include "webhook/admission/status_judgement.h"

#include <algorithm>
#include <string>

#include "policies/status_names.h"
#include "registry/identity/status_fields.h"

namespace truce {

std::optional<Finding> JudgeStatus(const AdmissionRequest& request, const AdmissionPolicy& policy,
                                   Timestamp now) {
  const bool is_status =
      request.operation == ReviewOperation::kUpdate && request.sub_resource == "status";
  if (!is_status) return std::nullopt;
  const KindEntry* kind = policy.catalogue->FindKind(request.kind.group, request.kind.kind);
  if (kind == nullptr) return std::nullopt;
  if (MatchesAny(request.user, policy.providers) || MatchesAny(request.user, policy.restorers)) {
    return std::nullopt;
  }
  const std::string_view field = ChangedNameField(request.object, request.old_object, *kind);
  if (field.empty()) return std::nullopt;
  const Slot slot{policy.identity.cluster, std::string(request.kind.group),
                  std::string(request.kind.kind), std::string(request.ns),
                  std::string(request.name)};
  const ModeSubject subject{.rule = Rule::kStatusNames,
                            .type = kind->type->name,
                            .object = &slot,
                            .bound_service = BoundService(policy, slot.ns)};
  const Mode strictest = policy.recovering ? Mode::kWarn : Mode::kEnforce;
  const Mode mode = std::min(ModeFor(policy.modes, subject, now), strictest);
  if (mode == Mode::kOff) return std::nullopt;
  Finding out = StatusNameChanged({.object = &slot, .field = field, .user = request.user});
  out.mode = mode;
  return out;
}

}  // namespace truce
