#include "webhook/admission/review_case.h"

#include <string>
#include <utility>

#include "policies/lifecycle/restore_rules.h"
#include "registry/identity/evidence.h"

namespace truce {

Result<ReviewCase> ReviewCaseOf(const AdmissionRequest& request, const AdmissionPolicy& policy) {
  Result<ReviewCase> out{ReviewCase()};  // filled in place: it is large
  ReviewRequest& review = out.value().request;
  const GroupKind kind = GroupKind{std::string(request.kind.group), std::string(request.kind.kind)};
  review.uid.text = request.uid;
  if (request.operation == ReviewOperation::kDelete) {
    review.operation = Operation::kDelete;
    review.requester = RequesterOf(request.user, policy);
    review.object = Identify(request.old_object, kind, policy.identity);
    return out;
  }
  review.requester = RequesterOf(request.user, policy);
  review.object = Identify(request.object, kind, policy.identity);
  if (request.operation == ReviewOperation::kUpdate) {
    review.operation = Operation::kUpdate;
    review.old_object = Identify(request.old_object, kind, policy.identity);
  } else if (review.requester.composite_controller && review.object.lineage.composed) {
    out.value().composed_as = ReadLiveObject(request.object).composed_as;
  }
  const Result<void> completed = Complete(request.object, policy, out.value());
  if (!completed.ok()) out = completed.error();
  return out;
}

std::optional<StatusCase> StatusCaseOf(const AdmissionRequest& request,
                                       const AdmissionPolicy& policy) {
  const bool is_status =
      request.operation == ReviewOperation::kUpdate && request.sub_resource == "status";
  if (!is_status) return std::nullopt;
  const KindEntry* kind = policy.catalogue->FindKind(request.kind.group, request.kind.kind);
  if (kind == nullptr) return std::nullopt;
  return StatusCase{.object = {policy.identity.cluster, std::string(request.kind.group),
                               std::string(request.kind.kind), std::string(request.ns),
                               std::string(request.name)},
                    .requester = RequesterOf(request.user, policy),
                    .field = ChangedNameField(request.object, request.old_object, *kind)};
}

}  // namespace truce
