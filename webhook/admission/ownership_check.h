// OwnershipCheck: what such an object asks about (schema/crds/ownershipchecks.truce.dev.yaml). It
// declares nothing: nobody owns anything by it.
#ifndef TRUCE_WEBHOOK_ADMISSION_OWNERSHIP_CHECK_H_
#define TRUCE_WEBHOOK_ADMISSION_OWNERSHIP_CHECK_H_

#include <vector>

#include "policies/policy.h"
#include "registry/base/result.h"
#include "registry/identity/document.h"
#include "registry/identity/identity.h"
#include "webhook/admission/codec.h"

namespace truce {

// "truce.dev", "OwnershipCheck".
const GroupKind& OwnershipCheckKind();

// One review for each of spec.manifests, as views into `check`: the creation of that object, in the
// namespace of the check where it names none and its kind has one. None for other kinds.
// Errors: kInvalidArgument, "spec.manifests[0]: what is wrong; how to mend it".
Result<std::vector<AdmissionRequest>> ManifestsOf(const AdmissionRequest& check);

// Reads the whole object but its manifests: its slot and uid, the service it names, and in
// `resources` what spec.declarations and spec.values (by the mapping rule spec.mapping, else the
// configuration's) would declare, in this order. Errors: kInvalidArgument,
// "spec.declarations[0].type: what is wrong; how to mend it".
Result<ObjectFacts> ReadOwnershipCheck(Value object, const AdmissionPolicy& policy);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_OWNERSHIP_CHECK_H_
