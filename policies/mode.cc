#include "policies/mode.h"

#include <algorithm>

#include "policies/rule_list.h"
#include "registry/base/text.h"

namespace truce {
namespace {

bool Names(const Override& rule, const ModeSubject& subject) {
  const Slot& object = *subject.object;
  if (!rule.name.empty()) return rule.name == subject.resource_name;
  if (!rule.object.empty()) {
    return rule.object == object.name ||
           (subject.root != nullptr && rule.object == subject.root->name);
  }
  if (!rule.ns.empty()) {
    return rule.ns == object.ns || (subject.root != nullptr && rule.ns == subject.root->ns);
  }
  return !rule.group.empty() && rule.group == object.group;
}

Mode Capped(const ModeRules& rules, const ModeSubject& subject, Mode mode) {
  // The spelling of a name needs no certainty about its scope of uniqueness.
  if (subject.sure || subject.rule == Rule::kNamingConvention) return mode;
  const auto unsure = rules.unsure_types.find(subject.type);
  const UnsureAction action = unsure == rules.unsure_types.end() ? rules.unsure : unsure->second;
  return action == UnsureAction::kDeny ? mode : std::min(mode, Mode::kWarn);
}

// Levels of an entry, from the widest.
enum Level : std::size_t { kEverything, kType, kObject, kLabels, kService, kLevelCount };

Level LevelOf(const RuleScope& scope) {
  if (!scope.service.empty()) return kService;
  if (!scope.selector.empty()) return kLabels;
  if (!scope.ns.empty() || !scope.kind.empty() || !scope.object.empty()) return kObject;
  return scope.type.empty() && scope.name.empty() ? kEverything : kType;
}

bool IsKind(const Slot& slot, std::string_view wanted) {
  if (slot.kind == wanted) return true;
  const std::size_t dot = wanted.find('.');
  return dot != std::string_view::npos && slot.kind == wanted.substr(0, dot) &&
         slot.group == wanted.substr(dot + 1);
}

bool Holds(const RuleScope& scope, const ModeSubject& subject) {
  const auto on_either = [&](auto test) {
    return test(*subject.object) || (subject.root != nullptr && test(*subject.root));
  };
  if (!scope.type.empty() && scope.type != subject.type) return false;
  if (!scope.ns.empty()) {
    // Objects composed for a claim may lie in no namespace: the claim's counts.
    const bool rooted = subject.root != nullptr && !subject.root->ns.empty();
    if (!MatchesGlob(rooted ? subject.root->ns : subject.object->ns, scope.ns)) return false;
  }
  if (!scope.kind.empty() && !on_either([&](const Slot& s) { return IsKind(s, scope.kind); })) {
    return false;
  }
  if (!scope.object.empty() &&
      !on_either([&](const Slot& s) { return MatchesGlob(s.name, scope.object); })) {
    return false;
  }
  if (!scope.name.empty() && !MatchesGlob(subject.resource_name, scope.name)) return false;
  for (const auto& label : scope.selector) {
    if (std::find(subject.labels.begin(), subject.labels.end(), label) == subject.labels.end()) {
      return false;
    }
  }
  return scope.service.empty() || scope.service == subject.service ||
         scope.service == subject.bound_service;
}

// Labels are anybody's to write, and with them the name of the service: an entry by labels may
// relax a rule only where configuration ties them to a namespace.
bool IsTrusted(const RuleScope& scope, const ModeSubject& subject) {
  const Level level = LevelOf(scope);
  if (level < kLabels) return true;
  if (!scope.ns.empty() && scope.ns.find_first_not_of('*') != std::string::npos) return true;
  if (subject.bound_service.empty()) return false;
  return level == kService ? scope.service == subject.bound_service
                           : subject.service == subject.bound_service;
}

bool IsInForce(const ModeEntry& entry, Timestamp now) {
  return (!entry.from || *entry.from <= now) && (!entry.until || now < *entry.until);
}

void ApplyEntries(const ModeRules& rules, const ModeSubject& subject, Timestamp now,
                  AppliedMode& out) {
  const std::vector<ModeEntry>& entries = rules.rules[static_cast<std::size_t>(subject.rule)];
  if (entries.empty()) return;
  std::array<const ModeEntry*, kLevelCount> last{};
  for (const ModeEntry& entry : entries) {
    if (IsInForce(entry, now) && Holds(entry.scope, subject)) last[LevelOf(entry.scope)] = &entry;
  }
  for (std::size_t level = 0; level < kLevelCount; ++level) {
    const ModeEntry* entry = last[level];
    if (entry == nullptr) continue;
    if (entry->mode < out.mode && !IsTrusted(entry->scope, subject)) {
      out.distrusted = true;
      continue;
    }
    // An entry for one type or object holds as it is; one for everything is capped for unsure
    // types.
    out.mode = level == kEverything ? Capped(rules, subject, entry->mode) : entry->mode;
    out.origin = entry->location;
  }
}

bool IsExemptible(Rule rule) { return SpecOf(rule).exemptible; }

void ApplyExemptions(const ModeRules& rules, const ModeSubject& subject, Timestamp now,
                     AppliedMode& out) {
  if (out.mode == Mode::kOff) return;
  for (const Exemption& exemption : rules.exemptions) {
    const bool is_named =
        exemption.rule ? *exemption.rule == subject.rule : IsExemptible(subject.rule);
    if (!is_named || !Holds(exemption.scope, subject)) continue;
    if (!IsTrusted(exemption.scope, subject)) {
      out.distrusted = true;
    } else if (exemption.until && *exemption.until <= now) {
      out.expired = &exemption;
    } else {
      out.exempt = &exemption;
      out.mode = Mode::kOff;
      out.origin = exemption.location;
      return;
    }
  }
}

// Everything but overrides.
AppliedMode Configured(const ModeRules& rules, const ModeSubject& subject, Timestamp now) {
  AppliedMode out;
  out.at_most = Capped(rules, subject, Mode::kEnforce);
  if (!IsOptIn(subject.rule)) {
    const auto type = rules.types.find(subject.type);
    out.origin = type == rules.types.end() ? "mode" : "typeModes";
    out.mode = Capped(rules, subject, type == rules.types.end() ? rules.global : type->second);
    if (OnlyWarns(subject.rule)) out.mode = std::min(out.mode, Mode::kWarn);
  }
  ApplyEntries(rules, subject, now, out);
  // The owner's word about one resource: no mode of the rule weakens it.
  if (subject.marked) {
    out.mode = Mode::kEnforce;
    out.origin = "mark";
  }
  if (!rules.exemptions.empty()) ApplyExemptions(rules, subject, now, out);
  return out;
}

// The override in force that names `subject`; null when there is none.
const Override* OverrideFor(const ModeRules& rules, const ModeSubject& subject, Timestamp now) {
  for (const Override& rule : rules.overrides) {
    if (now < rule.until && Names(rule, subject)) return &rule;
  }
  return nullptr;
}

}  // namespace

bool IsOptIn(Rule rule) { return SpecOf(rule).opt_in; }

bool OnlyWarns(Rule rule) { return SpecOf(rule).warns; }

bool IsConfigured(const ModeRules& rules, Rule rule) {
  return !rules.rules[static_cast<std::size_t>(rule)].empty();
}

AppliedMode ModeFor(const ModeRules& rules, const ModeSubject& subject, Timestamp now) {
  AppliedMode out = Configured(rules, subject, now);
  if (out.mode <= Mode::kAudit || rules.overrides.empty()) return out;
  out.overridden = OverrideFor(rules, subject, now);
  if (out.overridden != nullptr) out.mode = Mode::kAudit;
  return out;
}

std::string TargetText(const Override& what) {
  if (!what.name.empty()) return "name " + what.name;
  if (!what.object.empty()) return "object " + what.object;
  if (!what.ns.empty()) return "namespace " + what.ns;
  return "group " + what.group;
}

std::string_view Name(UnsureAction action) {
  return action == UnsureAction::kWarn ? "warn" : "deny";
}

bool MatchesAny(std::string_view text, std::span<const std::string> patterns) {
  // No user name of Kubernetes is longer; a longer text could make many stars slow.
  constexpr std::size_t kUserBytesMax = 512;
  if (text.size() > kUserBytesMax) return false;
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return MatchesGlob(text, pattern); });
}

}  // namespace truce
