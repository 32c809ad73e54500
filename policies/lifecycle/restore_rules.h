// Rules about objects that were restored from a backup: orphaning-update, restored-delete,
// restored-twin. A restore strips owner references; until Crossplane has adopted an object again,
// a changed Composition loses it (before Crossplane 1.17) or deletes it (1.17 to 2.3).
#ifndef TRUCE_POLICIES_LIFECYCLE_RESTORE_RULES_H_
#define TRUCE_POLICIES_LIFECYCLE_RESTORE_RULES_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/finding.h"
#include "policies/rules.h"
#include "registry/base/document.h"
#include "registry/identity/identity.h"
#include "registry/identity/values.h"

namespace truce {

// An object that exists, as a consistent read showed it.
struct LiveObject {
  bool terminating = false;
  bool controlled = false;  // an owner reference says that it has a controller
  bool kept = false;        // annotation truce.dev/orphan: "true": to let go of it is meant
  std::string composed_as;  // annotation crossplane.io/composition-resource-name
  std::optional<ObjectRef> claim = {};  // spec.claimRef

  bool operator==(const LiveObject&) const = default;
};
LiveObject ReadLiveObject(Value object);

// The slots that were looked at; nothing: no object exists there. A slot that could not be read is
// missing here.
using LiveObjects = std::map<Slot, std::optional<LiveObject>>;

// More objects are not looked at for one review: of them is only warned.
inline constexpr std::size_t kLookedAtMax = 16;

// The objects to look at before orphaning-update and restored-twin may refuse (RuleSpec::look_at),
// each once: those that a composite controller drops; restored ones with a resource that it
// creates.
std::vector<Slot> DroppedToLookAt(const RuleCase& c);
std::vector<Slot> EldersToLookAt(const RuleCase& c);

// Whether rule restored-delete is about a deletion (RuleSpec::concerns).
bool IsRestoredDeletion(const RuleCase& c);

// Their judges (RuleSpec::judge). Without RuleCase::live they warn at most.
std::vector<Finding> JudgeOrphanings(const RuleCase& c);
std::vector<Finding> JudgeTwins(const RuleCase& c);
std::vector<Finding> JudgeRestoredDeletions(const RuleCase& c);

// S3 bucket "orders-files"
std::string DeclaredInWords(const DeclaredResource& resource);

// The texts, each in mode enforce.

// The composite under review drops `dropped`, which has no controller.
Finding OrphaningUpdate(const Slot& dropped, const Wording& wording);
// The object under review, whose names `declared` people know it by, was restored and is deleted by
// a composite controller. `composite`: that it was composed by; nothing: not known.
Finding RestoredDelete(std::string_view declared, const std::optional<Slot>& composite,
                       const Wording& wording);
// The object under review would be a second one of `resource`, which the restored `elder` has.
Finding RestoredTwin(const DeclaredResource& resource, const Slot& elder, const Wording& wording);

}  // namespace truce

#endif  // TRUCE_POLICIES_LIFECYCLE_RESTORE_RULES_H_
