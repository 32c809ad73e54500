// Questions that somebody asks before creating: an OwnershipCheck
// (schema/crds/ownershipchecks.truce.dev.yaml), or a manifest. An OwnershipCheck declares nothing:
// nobody owns anything by it.
#ifndef TRUCE_POLICIES_OWNERSHIP_CHECK_H_
#define TRUCE_POLICIES_OWNERSHIP_CHECK_H_

#include <string_view>
#include <vector>

#include "policies/judge.h"
#include "registry/base/document.h"
#include "registry/base/result.h"
#include "registry/identity/values.h"

namespace truce {

// "truce.dev", "OwnershipCheck".
const GroupKind& OwnershipCheckKind();

// An object, and the asker; views.
struct AskedObject {
  std::string_view review;  // names the question: the uid of a review
  std::string_view group;
  std::string_view kind;
  std::string_view ns;    // of an object that names none, where its kind has one
  std::string_view user;  // empty: nobody, an existing object is looked at
  Value object;
};

// As a question about `asked`: an OwnershipCheck acts for the party of its namespace, with the
// declarations of spec.declarations and spec.values (by the mapping rule spec.mapping, else the
// configuration's), in this order; anything else is a manifest. Errors: kInvalidArgument: an object
// that concerns the registry without uid or name, or a check that cannot be understood:
// "spec.declarations[0].type: what is wrong; how to mend it".
Result<ReviewCase> QuestionOf(const AskedObject& asked, const AdmissionPolicy& policy);

// The questions of the OwnershipCheck `check`: first about its declarations and values, then about
// each of its manifests that concerns the registry: the creation of that object, in the namespace
// of the check where it names none and its kind has one. Errors: kInvalidArgument, as one line.
Result<std::vector<ReviewCase>> QuestionsOf(const AskedObject& check,
                                            const AdmissionPolicy& policy);

}  // namespace truce

#endif  // TRUCE_POLICIES_OWNERSHIP_CHECK_H_
