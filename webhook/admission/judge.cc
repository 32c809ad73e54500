#include "webhook/admission/judge.h"

#include <algorithm>
#include <utility>

#include "policies/rules.h"
#include "registry/ownership/resolve.h"

namespace truce {
namespace {

constexpr int kForbidden = 403;

Operation OperationOf(ReviewOperation operation) {
  switch (operation) {
    case ReviewOperation::kCreate: return Operation::kCreate;
    case ReviewOperation::kUpdate: return Operation::kUpdate;
    case ReviewOperation::kDelete:
    case ReviewOperation::kConnect: break;
  }
  return Operation::kDelete;
}

// Objects of kinds that declare nothing count when they are part of a lineage: composites between a
// claim and its resources.
bool IsPartOfLineage(const ObjectFacts& object, bool composite_controller) {
  const LineageFields& lineage = object.lineage;
  return lineage.claim || !lineage.resources.empty() ||
         (composite_controller && lineage.controller);
}

// Partial declarations that the old version did not have already.
std::vector<const DeclaredResource*> NewPartial(const ReviewRequest& request) {
  std::vector<const DeclaredResource*> out;
  for (const DeclaredResource& resource : request.object.resources) {
    if (!resource.partial) continue;
    if (request.old_object) {
      const auto& old = request.old_object->resources;
      if (std::find(old.begin(), old.end(), resource) != old.end()) continue;
    }
    out.push_back(&resource);
  }
  return out;
}

}  // namespace

Result<Judgement> Judgement::Prepare(const AdmissionRequest& request, const AdmissionPolicy& policy,
                                     Timestamp now) {
  Judgement out(policy, now);
  // A deletion ends no row before it is seen, and is never denied (I10).
  if (request.operation == ReviewOperation::kDelete) return out;
  ReviewRequest& review = out.request_;
  const GroupKind kind{std::string(request.kind.group), std::string(request.kind.kind)};
  review.operation = OperationOf(request.operation);
  review.uid.text = request.uid;
  review.requester.user = request.user;
  review.requester.composite_controller = MatchesAny(request.user, policy.composite_controllers);
  review.requester.provider = MatchesAny(request.user, policy.providers);
  review.object = Identify(request.object, kind, policy.identity);
  if (request.operation == ReviewOperation::kUpdate) {
    review.old_object = Identify(request.old_object, kind, policy.identity);
  }
  out.concerns_registry_ = review.object.known_kind ||
                           IsPartOfLineage(review.object, review.requester.composite_controller);
  if (!out.concerns_registry_) return out;
  if (review.object.uid.empty()) {
    return Error{ErrorCode::kInvalidArgument, "request.object.metadata.uid is missing"};
  }
  if (review.object.slot.name.empty()) {
    return Error{ErrorCode::kInvalidArgument, "request.object.metadata.name is missing"};
  }
  review.parties = policy.parties;
  review.watched = policy.watched;
  // The cap denies, and nothing is denied before the roll-out has come to enforce.
  if (policy.modes.global == Mode::kEnforce) review.reservation_cap = policy.reservation_cap;
  out.SetModes(nullptr);
  out.SortBadNames();
  return out;
}

Mode Judgement::ModeOf(std::string_view type, std::string_view name, bool sure, const Slot* root) {
  const ModeSubject subject{.type = type,
                            .sure = sure,
                            .resource_name = name,
                            .object = &request_.object.slot,
                            .root = root};
  const Mode mode = ModeFor(policy_->modes, subject, now_);
  if (mode == Mode::kAudit && override_reason_.empty()) {
    const Override* found = OverrideFor(policy_->modes, subject, now_);
    if (found != nullptr) override_reason_ = found->reason;
  }
  return mode;
}

void Judgement::SetModes(const Slot* root) {
  request_.modes.clear();
  for (const DeclaredResource& resource : request_.object.resources) {
    request_.modes.push_back(ModeOf(resource.identity.type, resource.name, resource.sure, root));
  }
}

// Bad names that are not to be refused are taken out of the request, in both versions, and kept for
// findings. A terminating object is let go with whatever name it has (I10).
void Judgement::SortBadNames() {
  std::vector<BadName> refused;
  const std::vector<BadName> before =
      request_.old_object ? request_.old_object->bad_names : std::vector<BadName>();
  for (BadName& bad : request_.object.bad_names) {
    const bool is_new = std::find(before.begin(), before.end(), bad) == before.end();
    Mode mode = ModeOf(bad.type, bad.shown, true, nullptr);
    if (request_.object.terminating) mode = std::min(mode, Mode::kAudit);
    if (mode == Mode::kEnforce && is_new) {
      refused.push_back(std::move(bad));
    } else if (mode != Mode::kOff && is_new) {
      tolerated_.emplace_back(std::move(bad), mode);
    }
  }
  request_.object.bad_names = std::move(refused);
  if (request_.old_object) request_.old_object->bad_names.clear();
}

Decision Judgement::Decide(const Facts& facts, const IdSource& ids) {
  ResolveReferences(*policy_->catalogue, facts, request_.object);
  if (request_.old_object) ResolveReferences(*policy_->catalogue, facts, *request_.old_object);
  Decision decision = Review(request_, facts, now_, ids);
  // An override can name the root, or its namespace, which only the lineage tells.
  const bool may_be_overridden = !decision.allowed && !policy_->modes.overrides.empty() &&
                                 decision.root != request_.object.slot;
  if (!may_be_overridden) return decision;
  const std::vector<Mode> before = request_.modes;
  SetModes(&decision.root);
  return request_.modes == before ? decision : Review(request_, facts, now_, ids);
}

std::vector<Finding> Judgement::FindingsOf(const Decision& decision) const {
  std::vector<Finding> out;
  const Wording wording{.disclosure = policy_->disclosure,
                        .public_url = policy_->public_url,
                        .catalogue = policy_->identity.catalogue,
                        .object = &request_.object,
                        .root = &decision.root};
  for (const Clash& clash : decision.denied) out.push_back(DuplicateOwnership(clash, wording));
  for (const Clash& clash : decision.conflicts) {
    out.push_back(DuplicateOwnership(clash, wording));
    // Allowed although enforced, because the resource exists already: its declarant must know.
    if (clash.late) out.back().mode = Mode::kWarn;
  }
  for (const BadName& bad : decision.bad_names) {
    out.push_back(BadResourceName(bad, Mode::kEnforce, wording));
  }
  for (const auto& [bad, mode] : tolerated_) out.push_back(BadResourceName(bad, mode, wording));
  if (decision.cap_reached) {
    out.push_back(
        ReservationCapReached(request_.reservation_cap, request_.requester.user, wording));
  }
  const auto warn_at_most = [&](Finding finding, const DeclaredResource& resource) {
    const ModeSubject subject{.type = resource.identity.type,
                              .sure = false,
                              .resource_name = resource.name,
                              .object = &request_.object.slot,
                              .root = &decision.root};
    finding.mode = std::min(Mode::kWarn, ModeFor(policy_->modes, subject, now_));
    if (finding.mode != Mode::kOff) out.push_back(std::move(finding));
  };
  for (const Clash& clash : decision.elsewhere) {
    warn_at_most(PerhapsElsewhere(clash, wording), clash.resource);
  }
  if (decision.allowed) {
    for (const DeclaredResource* resource : NewPartial(request_)) {
      warn_at_most(UnclearDeclaration(*resource, wording), *resource);
    }
  }
  return out;
}

int Judgement::DenialCode() const {
  return request_.requester.composite_controller ? policy_->composite_denial_code : kForbidden;
}

}  // namespace truce
