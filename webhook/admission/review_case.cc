#include "webhook/admission/review_case.h"

#include <string>
#include <utility>

#include "registry/identity/status_fields.h"
#include "webhook/admission/ownership_check.h"

namespace truce {
namespace {

constexpr std::string_view kManifestUid = "truce-check";  // no manifest has one

GroupKind KindOf(const AdmissionRequest& request) {
  return {std::string(request.kind.group), std::string(request.kind.kind)};
}

Requester RequesterOf(std::string_view user, const AdmissionPolicy& policy) {
  return {.user = std::string(user),
          .composite_controller = MatchesAny(user, policy.composite_controllers),
          .provider = MatchesAny(user, policy.providers),
          .restorer = MatchesAny(user, policy.restorers)};
}

// Of what concerns the registry: what the rules need beside its facts.
Result<void> Complete(const AdmissionRequest& request, const AdmissionPolicy& policy,
                      ReviewCase& out) {
  const ObjectFacts& object = out.request.object;
  if (!ConcernsRegistry(out.request)) return {};
  if (object.uid.empty()) return InvalidArgument("request.object.metadata.uid is missing");
  if (object.slot.name.empty()) return InvalidArgument("request.object.metadata.name is missing");
  out.evidence = ReadEvidence(request.object, object, policy);
  return {};
}

}  // namespace

Result<ReviewCase> ReviewCaseOf(const AdmissionRequest& request, const AdmissionPolicy& policy) {
  Result<ReviewCase> out{ReviewCase()};  // filled in place: it is large
  ReviewRequest& review = out.value().request;
  const GroupKind kind = KindOf(request);
  review.uid.text = request.uid;
  if (request.operation == ReviewOperation::kDelete) {
    review.operation = Operation::kDelete;
    review.requester.user = request.user;
    review.object = Identify(request.old_object, kind, policy.identity);
    return out;
  }
  review.requester = RequesterOf(request.user, policy);
  review.object = Identify(request.object, kind, policy.identity);
  if (request.operation == ReviewOperation::kUpdate) {
    review.operation = Operation::kUpdate;
    review.old_object = Identify(request.old_object, kind, policy.identity);
  }
  const Result<void> completed = Complete(request, policy, out.value());
  if (!completed.ok()) out = completed.error();
  return out;
}

Result<ReviewCase> QuestionOf(const AdmissionRequest& request, const AdmissionPolicy& policy) {
  ReviewCase out;
  const GroupKind kind = KindOf(request);
  const bool is_check = kind == OwnershipCheckKind();
  out.question = Question{.for_party = is_check};
  ReviewRequest& review = out.request;
  review.uid.text = request.uid;
  review.requester = RequesterOf(request.user, policy);
  if (is_check) {
    TRUCE_ASSIGN_OR_RETURN(review.object, ReadOwnershipCheck(request.object, policy));
  } else {
    review.object = Identify(request.object, kind, policy.identity, request.ns);
    // Whoever writes a manifest can claim any parent.
    review.object.lineage.controller.reset();
    if (review.object.uid.empty()) review.object.uid.text = kManifestUid;
  }
  TRUCE_RETURN_IF_ERROR(Complete(request, policy, out));
  return out;
}

Result<std::vector<ReviewCase>> QuestionsOf(const AdmissionRequest& check,
                                            const AdmissionPolicy& policy) {
  std::vector<ReviewCase> out;
  TRUCE_ASSIGN_OR_RETURN(const std::vector<AdmissionRequest> manifests, ManifestsOf(check));
  TRUCE_ASSIGN_OR_RETURN(ReviewCase own, QuestionOf(check, policy));
  out.push_back(std::move(own));
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    Result<ReviewCase> part = QuestionOf(manifests[i], policy);
    if (!part.ok()) {
      return std::move(part).error().Within("spec.manifests[" + std::to_string(i) + "]");
    }
    if (ConcernsRegistry(part.value().request)) out.push_back(std::move(part).value());
  }
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
