#include "policies/mode.h"

#include <algorithm>

namespace truce {
namespace {

bool Names(const Override& rule, const ModeSubject& subject) {
  const Slot& object = *subject.object;
  if (!rule.name.empty()) {
    return rule.name == subject.resource_name || rule.name == object.name ||
           (subject.root != nullptr && rule.name == subject.root->name);
  }
  if (!rule.ns.empty()) {
    return rule.ns == object.ns || (subject.root != nullptr && rule.ns == subject.root->ns);
  }
  return !rule.group.empty() && rule.group == object.group;
}

Mode ConfiguredMode(const ModeRules& rules, const ModeSubject& subject) {
  const auto type = rules.types.find(subject.type);
  const Mode mode = type == rules.types.end() ? rules.global : type->second;
  if (subject.sure) return mode;
  const auto unsure = rules.unsure_types.find(subject.type);
  const UnsureAction action = unsure == rules.unsure_types.end() ? rules.unsure : unsure->second;
  return action == UnsureAction::kDeny ? mode : std::min(mode, Mode::kWarn);
}

}  // namespace

const Override* OverrideFor(const ModeRules& rules, const ModeSubject& subject, Timestamp now) {
  for (const Override& rule : rules.overrides) {
    if (now < rule.until && Names(rule, subject)) return &rule;
  }
  return nullptr;
}

Mode ModeFor(const ModeRules& rules, const ModeSubject& subject, Timestamp now) {
  const Mode mode = ConfiguredMode(rules, subject);
  if (mode <= Mode::kAudit || OverrideFor(rules, subject, now) == nullptr) return mode;
  return Mode::kAudit;
}

}  // namespace truce
