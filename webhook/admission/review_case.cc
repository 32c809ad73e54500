#include "webhook/admission/review_case.h"

#include <algorithm>
#include <string>
#include <utility>

#include "policies/lifecycle/restore_rules.h"
#include "registry/identity/evidence.h"

namespace truce {

Result<void> FillReviewCase(const AdmissionRequest& request, const AdmissionPolicy& policy,
                            ReviewCase& review) {
  ReviewRequest& asked = review.request;
  const GroupKind kind = GroupKind{std::string(request.kind.group), std::string(request.kind.kind)};
  asked.uid.text = request.uid;
  asked.requester = RequesterOf(request.user, policy);
  if (request.operation == ReviewOperation::kDelete) {
    asked.operation = Operation::kDelete;
    asked.object = Identify(request.old_object, kind, policy.identity);
    return {};
  }
  asked.object = Identify(request.object, kind, policy.identity);
  if (request.operation == ReviewOperation::kUpdate) {
    asked.operation = Operation::kUpdate;
    asked.old_object = Identify(request.old_object, kind, policy.identity);
    const Value spec = request.object.Child("spec");
    const Value before = request.old_object.Child("spec");
    const auto& sections = FlavourFor(kind.group).sections;
    review.rewrites = std::ranges::any_of(sections, [&](std::string_view section) {
      return section.empty() ? !spec.Equals(before)
                             : !spec.Child(section).Equals(before.Child(section));
    });
  } else if (asked.requester.composite_controller && asked.object.lineage.composed) {
    review.composed_as = ReadLiveObject(request.object).composed_as;
  }
  return Complete(request.object, policy, review);
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
