#include "webhook/admission/hints.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "policies/quotas.h"
#include "registry/identity/identity.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

// The rule about attachments reads their parents' owners, which must not change meanwhile.
void LockParents(const ObjectFacts& object, const Catalogue& catalogue,
                 std::vector<KeyText>& names) {
  for (const DeclaredResource& resource : object.resources) {
    const TypeSpec* type = catalogue.FindType(resource.identity.type);
    if (type == nullptr || !type->attachment) continue;
    if (auto parent = ParentKeyOf(resource.identity, *type, catalogue)) {
      names.push_back(*std::move(parent));
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace

Locks HintsOf(const Judgement& judgement, const AdmissionPolicy& policy) {
  const ReviewRequest& request = judgement.request();
  Locks locks = LocksOf(request);
  LockParents(request.object, *policy.catalogue, locks.names);
  if (policy.quotas != nullptr && request.operation == Operation::kCreate) {
    locks.counts = policy.quotas->RangesOf(request.object);
  }
  locks.proposed = judgement.KeysToPropose();
  return locks;
}

bool ProbablyWrites(const AdmissionRequest& review, const ReviewRequest& request,
                    const Facts& facts) {
  if (review.dry_run || review.operation != ReviewOperation::kCreate) return false;
  // The composite that a claim names must be looked at before.
  if (request.object.lineage.composite) return false;
  const auto& resources = request.object.resources;
  return std::none_of(resources.begin(), resources.end(), [&](const DeclaredResource& resource) {
    return std::ranges::any_of(resource.names, [&](const DeclaredName& name) {
      return OwnerByName(name.text, facts).has_value();
    });
  });
}

}  // namespace truce
