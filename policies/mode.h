// How strongly a rule is applied to one resource of one object: the global mode,
// the mode of the type, the caution for types that are not researched, then what configuration says
// of this rule globally, by type, by namespace, by labels and by service, with dates; exemptions;
// and timed overrides.
#ifndef TRUCE_POLICIES_MODE_H_
#define TRUCE_POLICIES_MODE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/finding.h"
#include "registry/base/clock.h"
#include "registry/identity/values.h"
#include "registry/ownership/terms.h"

namespace truce {

// The answer to a conflict of a type whose scope of uniqueness is not researched.
enum class UnsureAction : std::uint8_t { kWarn, kDeny };
std::string_view Name(UnsureAction action);  // "warn", "deny"

// A timed override (break-glass): conflicts about its subject are audited instead of denied or
// warned about, until `until`. Exactly one of name, object, ns and group is set.
struct Override {
  std::string name;    // of the resource, never of an object (W8)
  std::string object;  // name of the declaration's object or of its root
  std::string ns;      // of the declaration or of its root
  std::string group;   // API group of the declaration
  Timestamp until{};   // first moment at which it no longer holds
  std::string reason;

  bool operator==(const Override&) const = default;
};

// "namespace team-a", "name prod-artifacts", "group s3.aws.upbound.io".
std::string TargetText(const Override& what);

// Labels that must all be there with these values; sorted by key.
using Labels = std::vector<std::pair<std::string, std::string>>;

// The limits of an entry of a rule's modes, or of an exemption. All conditions that are set must
// hold. A pattern is a text in which '*' matches any run of characters.
struct RuleScope {
  std::string type;     // "s3/Bucket"
  std::string ns;       // pattern: namespace of the root, or of the object while it has none
  std::string kind;     // "Bucket" or "Bucket.s3.aws.upbound.io": of the object or its root
  std::string object;   // pattern: name of the object or of its root
  std::string name;     // pattern: name of the resource
  Labels selector;      // labels of the object
  std::string service;  // owning service

  bool operator==(const RuleScope&) const = default;
};

// One step of a rule's roll-out.
struct ModeEntry {
  Mode mode = Mode::kEnforce;
  RuleScope scope;                 // empty: everything
  std::optional<Timestamp> from;   // first moment at which it holds; none: since ever
  std::optional<Timestamp> until;  // first moment at which it no longer holds; none: for ever
  std::string location;            // its place, "truce.yaml:12"; no part of its meaning

  bool operator==(const ModeEntry& other) const {
    return mode == other.mode && scope == other.scope && from == other.from && until == other.until;
  }
};

// Resources to which a rule does not apply. An exemption whose time is over exempts nothing any
// more, and says so.
struct Exemption {
  std::optional<Rule> rule;  // none: all rules about names and attachments
  RuleScope scope;           // not empty
  std::optional<Timestamp> until;
  std::string reason;
  std::string location;  // as above

  bool operator==(const Exemption& other) const {
    return rule == other.rule && scope == other.scope && until == other.until &&
           reason == other.reason;
  }
};

struct ModeRules {
  Mode global = Mode::kEnforce;
  std::map<std::string, Mode, std::less<>> types;  // "s3/Bucket" → mode; wins over `global`
  UnsureAction unsure = UnsureAction::kWarn;
  std::map<std::string, UnsureAction, std::less<>> unsure_types;  // wins over `unsure`
  std::vector<Override> overrides;
  // Per rule, in the order of configuration. Among entries of one level the last that holds wins;
  // levels: everything < type < namespace or object < labels < service.
  std::array<std::vector<ModeEntry>, kRuleCount> rules;
  std::vector<Exemption> exemptions;

  bool operator==(const ModeRules&) const = default;
};

// The subject that a mode is asked for. The views need to live during the call only.
struct ModeSubject {
  Rule rule = Rule::kDuplicateOwnership;
  std::string_view type;           // "s3/Bucket"
  bool sure = true;                // the facts that the rule needs are researched for this type
  std::string_view resource_name;  // "prod-artifacts"
  const Slot* object = nullptr;    // never null when a mode is asked for
  const Slot* root = nullptr;      // top of the object's lineage; null while not known
  std::string_view service;        // as the object says
  std::string_view bound_service;  // that configuration binds to the namespace; empty: none
  bool marked = false;             // somebody marked the resource as protected: see ModeFor
  std::span<const std::pair<std::string, std::string>> labels;  // at least those that scopes name
};

// A mode and where it comes from.
struct AppliedMode {
  Mode mode = Mode::kOff;
  Mode at_most = Mode::kEnforce;         // warn where "enforce" would not refuse: an unsure type
  std::string origin;                    // "mode", "typeModes", "truce.yaml:12"
  const Exemption* exempt = nullptr;     // mode is off because of it
  const Exemption* expired = nullptr;    // would have exempted, but its time is over
  const Override* overridden = nullptr;  // lowered the mode to audit
  // A laxer mode or an exemption was left aside because it goes by service or labels, which anyone
  // may write, and configuration does not bind the service to the namespace.
  bool distrusted = false;
};

// Whether a rule is off until configuration names it.
bool IsOptIn(Rule rule);
// Whether a rule at most warns until configuration names it.
bool OnlyWarns(Rule rule);
// Whether configuration names it.
bool IsConfigured(const ModeRules& rules, Rule rule);

// The mode for `subject` at `now`, and why. An override or exemption never makes a mode stricter;
// an entry or exemption by labels or service never makes one laxer, unless it names a namespace too
// or configuration binds the service to the request's namespace. A mark is enforced whatever the
// mode of the rule; only exemptions and overrides are above it. Of overrides the first listed wins.
AppliedMode ModeFor(const ModeRules& rules, const ModeSubject& subject, Timestamp now);

// True when `text`, the name of a user, matches one of `patterns`. Linear in the length of `text`
// per pattern.
bool MatchesAny(std::string_view text, std::span<const std::string> patterns);

}  // namespace truce

#endif  // TRUCE_POLICIES_MODE_H_
