// RuleCase: one object under one policy, as every rule sees it; and the handling of its findings.
#ifndef TRUCE_POLICIES_RULE_CASE_H_
#define TRUCE_POLICIES_RULE_CASE_H_

#include <string_view>
#include <vector>

#include "policies/finding.h"
#include "policies/lifecycle/restore_rules.h"
#include "policies/mode.h"
#include "policies/rule_list.h"
#include "policies/rules.h"
#include "registry/base/clock.h"
#include "registry/identity/identity.h"
#include "registry/ownership/terms.h"

namespace truce {

struct AdmissionPolicy;
struct CompositionCase;
struct Decision;
struct NameEvidence;
struct Question;
class Facts;

// Pointees must live during the call only.
struct RuleCase {
  const AdmissionPolicy* policy = nullptr;  // never null
  const ObjectFacts* object = nullptr;      // never null; on DELETE the old version
  const ObjectFacts* old_object = nullptr;  // UPDATE: its resources are no news
  const NameEvidence* evidence = nullptr;   // null: nothing was read beside the facts
  const Slot* root = nullptr;               // never null: top of the lineage as far as known
  const Requester* requester = nullptr;     // null: nobody asks, an existing object is looked at
  Timestamp now{};
  const Facts* facts = nullptr;         // the state that decides; null: the registry is not asked
  const Decision* decision = nullptr;   // null: the registry decides nothing about it
  const Question* question = nullptr;   // null: an admission
  std::string_view status_field = {};   // that changes, and that names are read from
  const RefusedAgain* again = nullptr;  // of the composite that is only renamed in
  const CompositionCase* composition = nullptr;  // an update of one; null: it is none
  const LiveObjects* live = nullptr;             // that were looked at; null: none were
  std::string_view composed_as = {};  // annotation crossplane.io/composition-resource-name
  bool rewrites = false;              // an UPDATE changes what the object has written into AWS
  bool names_pass = false;            // the rules about names were asked, and found nothing
};

// The wording for the reader of findings about `c`.
Wording WordingOf(const RuleCase& c);

// The service that configuration binds to the namespace of the root, or of the object where the
// root has none; empty when there is none.
std::string_view BoundService(const RuleCase& c);

// A rule's mode depends on these, beside the object.
struct ModeTopic {
  std::string_view type;          // "s3/Bucket"
  std::string_view name;          // of the resource
  bool sure = true;               // the facts that the rule needs are researched for this type
  std::string_view service = {};  // whose it is; empty: as the object says
  bool marked = false;            // somebody marked the resource as protected
};

// The mode of `rule` as configured. The one place where modes are asked.
AppliedMode ModeIn(const RuleCase& c, Rule rule, const ModeTopic& topic);

// The strictest mode in which `rule` may find anything: no denial for what would only do harm, an
// object that is going (I10) unless the rule refuses what that adds alone (E6), a registry that may
// be behind.
Mode StrictestMode(const RuleCase& c, Rule rule);

// Adds `finding`, whose mode is the strictest that the rule itself asks for, in the mode that
// configuration has for it; nothing where that is off.
void Keep(const RuleCase& c, Finding finding, const ModeTopic& topic, std::vector<Finding>& out);
// The same where the mode was asked for already.
void Keep(const RuleCase& c, Finding finding, const AppliedMode& applied,
          std::vector<Finding>& out);

// Whether the resource exists already: a provider binds its name late, and refusing that would leak
// the cloud resource; or a restorer brings back what was admitted once.
bool BringsWhatExists(const RuleCase& c);

// Whether the party or the chain of the object has the resource called `name` already, by a
// declaration or a record: rules about new names do not apply to it again. False without a
// registry, and for a name that only a status shows: anyone who may write that could take it.
bool IsHeld(const RuleCase& c, const KeyText& name);

// The findings of all rules of `entry`, in the order of RuleList.
std::vector<Finding> JudgeByRules(Entry entry, const RuleCase& c);

// Whether a rule of `entry` that configuration names may apply, which only the registry shows.
bool WaitsForRegistry(Entry entry, const RuleCase& c);

// Objects that must be looked at before one of these rules may refuse, at most kLookedAtMax. None
// where nothing was restored and no rule enforces. Pure.
std::vector<Slot> ToLookAt(Entry entry, const RuleCase& c);

}  // namespace truce

#endif  // TRUCE_POLICIES_RULE_CASE_H_
