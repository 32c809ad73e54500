// UseFaults: what the rules about other owners' resources say of objects that exist: attachments
// that write into another's resource, observers without a share.
#ifndef TRUCE_WEBHOOK_FINDINGS_USE_FAULTS_H_
#define TRUCE_WEBHOOK_FINDINGS_USE_FAULTS_H_

#include <string>
#include <vector>

#include "policies/policy.h"
#include "registry/base/clock.h"
#include "registry/identity/document.h"
#include "registry/identity/values.h"

namespace truce {

class Store;

struct UseFault {
  std::string rule;
  std::string mode;    // of the rule for this object
  std::string object;  // for people: BucketPolicy files
  std::string cause;
  std::string remedy;

  bool operator==(const UseFault&) const = default;
};

// The pointees must live during the call only.
struct UseRules {
  const AdmissionPolicy& policy;
  const Store& store;
  Timestamp now{};
};

// Judges `object`, a whole one of `kind`, as if it asked now for what it has; changes nothing. A
// registry that does not answer before `deadline` gives none.
std::vector<UseFault> UseFaultsOf(Value object, const GroupKind& kind, const UseRules& rules,
                                  Deadline deadline);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_USE_FAULTS_H_
