// Whom a finding concerns: the namespaces and services of the owners and objects in it.
#ifndef TRUCE_WEBHOOK_FINDINGS_CONCERNED_H_
#define TRUCE_WEBHOOK_FINDINGS_CONCERNED_H_

#include <string_view>

#include "webhook/findings/findings_book.h"

namespace truce {

class Facts;

// Sets `namespaces` and `services`: of the owner of its key, and for each object of the root that
// the registry has on record for it, else of the object itself. Cluster-scoped objects under a
// claim belong to the claim's namespace.
void AddConcerned(LiveFinding& finding, const Facts& facts);

// Whether it concerns `ns`, which is not empty, among others.
bool Concerns(const LiveFinding& finding, std::string_view ns);

// The part of a finding for a reader of `ns` who may not read all other namespaces that it
// concerns, while owners are not named to everybody (I8): its existence, the objects of `ns`, no
// text that names others.
LiveFinding DiscreetOf(const LiveFinding& finding, std::string_view ns);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_CONCERNED_H_
