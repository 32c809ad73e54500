// Rule status-names: only the provider writes the names of a cloud resource into a status.
//
// Spec: an update of the status of a catalogued kind that changes a field which names are read from
// (registry/identity/evidence.h) is refused, unless its user matches `providers` or
// `restorers`. Of an object that terminates too: its end frees the resources that its last version
// shows.
// Parameters: none; mode of the type. Vectors: tests/unit/status_guard_test.cc (a status is no part
// of a declaration).
#include <string>

#include "policies/people.h"
#include "policies/policy.h"
#include "policies/rule_case.h"

namespace truce {

std::vector<Finding> JudgeStatusNames(const RuleCase& c) {
  std::vector<Finding> out;
  const Slot& slot = c.object->slot;
  const KindEntry* kind = c.policy->catalogue->FindKind(slot.group, slot.kind);
  const bool may_write = c.requester->provider || c.requester->restorer;
  if (kind == nullptr || c.status_field.empty() || may_write) return out;
  Keep(c, StatusNameChanged({c.status_field, c.requester->user}, WordingOf(c)),
       {.type = kind->type->name}, out);
  return out;
}

Finding StatusNameChanged(const StatusWrite& write, const Wording& wording) {
  const std::string user = Quoted(write.user);
  Finding out{.rule = Rule::kStatusNames};
  out.resource = OneLine(ObjectForPeople(wording.object->slot), kShownTextBytesMax);
  out.cause = "User " + user + " may not change " + std::string(write.field) + " of " +
              out.resource +
              ": it tells which cloud resource the object has, and only its provider knows that.";
  out.remedy =
      "Leave it to the provider, which writes it at its next look. If the user is a provider or "
      "restores backups, an operator adds it to the setting providers or restorers.";
  out.warning = OneLine(
      "truce: " + std::string(write.field) + " of " + out.resource + " is its provider's to write",
      kWarningBytesMax);
  return out;
}

}  // namespace truce
