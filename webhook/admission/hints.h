// The things that a review probably reads and writes, for stores that lock or fetch them
// beforehand.
#ifndef TRUCE_WEBHOOK_ADMISSION_HINTS_H_
#define TRUCE_WEBHOOK_ADMISSION_HINTS_H_

#include "policies/judge.h"
#include "policies/policy.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/review.h"
#include "webhook/admission/codec.h"

namespace truce {

// LocksOf, and the reads of the rules of `policy` beside it: owners of attachments' parents, counts
// of quotas, whether names that a denial proposes are taken. Pure.
Locks HintsOf(const Judgement& judgement, const AdmissionPolicy& policy);

// A creation none of whose keys has an owner: deciding it beforehand would be done twice, and on a
// snapshot, whose caches each commit empties. Reads only what a store of this process keeps in
// memory.
bool ProbablyWrites(const AdmissionRequest& review, const ReviewRequest& request,
                    const Facts& facts);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_HINTS_H_
