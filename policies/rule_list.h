// RuleList: every rule, in the order of findings in texts and of modes in prints.
#ifndef TRUCE_POLICIES_RULE_LIST_H_
#define TRUCE_POLICIES_RULE_LIST_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "policies/finding.h"
#include "registry/identity/values.h"

namespace truce {

struct RuleCase;

// Which reviews a rule is asked about; each kind has an entry of its own in the webhook
// configuration; updates that change only names of composed resources, and creations of claims and
// composites, come with the declarations.
enum class Entry : std::uint8_t {
  kDeclarations,
  kDeletions,
  kStatuses,
  kRerolls,
  kCompositions,
  kCreations
};

// Of its entry, which a rule is asked about.
enum class When : std::uint8_t {
  kAlways,
  kNew,      // without an old version: creations, and questions before one
  kChanged,  // updates
};

// Properties of one rule, whatever the object. The rule itself is the file `policies/<id>.cc` with
// '_' for '-': its head has spec, parameters and vectors.
struct RuleSpec {
  Rule rule;
  std::string_view id;     // "naming-convention": stable, in metrics, logs and configuration
  std::string_view about;  // one line, for people
  std::string_view settings = {};  // its parameters, "`quotas`"; its mode and exemptions aside
  Entry entry = Entry::kDeclarations;
  When when = When::kAlways;
  // Pure, without the registry: whether the rule has anything to say of this case. Null: it may.
  bool (*concerns)(const RuleCase&) = nullptr;
  // Pure: the findings of the rule, in the mode that configuration has for it. Null: the registry
  // finds it while it decides, and the rule has the words for it alone.
  std::vector<Finding> (*judge)(const RuleCase&) = nullptr;
  // Pure: objects that must be looked at before the rule may refuse. Null: none ever.
  std::vector<Slot> (*look_at)(const RuleCase&) = nullptr;
  bool configurable = true;  // `rules` may give it a mode, an exemption may name it
  bool opt_in = false;       // off until configuration names it
  bool exemptible = false;   // an exemption that names no rule means it too
  bool warns = false;        // at most, until configuration names it
  bool added = false;    // refuses only pairs that a request adds, of a terminating object too (E6)
  bool forbids = false;  // a denial by it has code 403, for every user
  bool explains = false;  // if it refuses an owned name, only its text is shown
};

// Ordered as the enumerators of Rule.
std::span<const RuleSpec> RuleList();
inline const RuleSpec& SpecOf(Rule rule) { return RuleList()[static_cast<std::size_t>(rule)]; }

}  // namespace truce

#endif  // TRUCE_POLICIES_RULE_LIST_H_
