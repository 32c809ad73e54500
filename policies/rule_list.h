// RuleList: every rule, in the order in which findings are told and modes are printed.
#ifndef TRUCE_POLICIES_RULE_LIST_H_
#define TRUCE_POLICIES_RULE_LIST_H_

#include <span>
#include <string_view>

#include "policies/finding.h"

namespace truce {

// What holds for one rule, whatever the object. The rule itself is the file `policies/<id>.cc` with
// '_' for '-': its head has spec, parameters and vectors.
struct RuleSpec {
  Rule rule;
  std::string_view id;     // "naming-convention": stable, in metrics, logs and configuration
  std::string_view about;  // one line, for people
  bool opt_in;             // off until configuration names it
  bool exemptible;         // an exemption that names no rule means it too
};

// Ordered as the enumerators of Rule.
std::span<const RuleSpec> RuleList();

}  // namespace truce

#endif  // TRUCE_POLICIES_RULE_LIST_H_
